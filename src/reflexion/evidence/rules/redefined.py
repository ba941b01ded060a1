"""Code blocks that show the source's own functions with a body: what they show has to have the source's signature."""

import ast
from collections.abc import Iterator

from reflexion.evidence.claims import SignatureClaim
from reflexion.evidence.rules.context import Page
from reflexion.evidence.signatures import read_definitions
from reflexion.evidence.syntax import parse_module

_PYTHON = frozenset({"", "python", "py", "python3"})


def redefinitions(page: Page) -> Iterator[SignatureClaim]:
    """Yield the functions and methods of the source that a code block defines.

    Only of blocks that hold definitions and imports and nothing else. One that imports from the module is code of a
    user, who may well call something by a name that is there too; so is a function whose class is another one.
    """
    for example in page.claims.examples:
        tree = parse_module(example.code) if example.language in _PYTHON else None
        if tree is None or not _only_defines(tree) or _uses_module(page, tree):
            continue
        for claim in read_definitions(tree, example.code_line):
            if _is_of_source(page, claim):
                yield claim


def _only_defines(tree: ast.Module) -> bool:
    kinds = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Import, ast.ImportFrom)
    return all(isinstance(node, kinds) or _is_text(node) for node in tree.body)


def _is_text(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)


def _uses_module(page: Page, tree: ast.Module) -> bool:
    last = page.source.facts.module.rpartition(".")[2]
    for node in tree.body:
        named = [node.module or "."] if isinstance(node, ast.ImportFrom) else []
        named += [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
        if any(last in name.split(".") or name.startswith(".") for name in named):
            return True
    return False


def _is_of_source(page: Page, claim: SignatureClaim) -> bool:
    """Return whether the source has just this function at its top, or this method in a class of this name."""
    symbol = page.source.symbols.get(f"{claim.subject}.{claim.name}" if claim.subject else claim.name)
    return symbol is not None and symbol.public and symbol.kind in {"function", "method"}
