"""Which fences of a document are Python examples, and which only look like them. Pure functions."""

import ast
import re
import textwrap
import warnings
from dataclasses import dataclass

from reflexion.errors import InputError
from reflexion.evidence.claims import Example
from reflexion.evidence.expressions import parse_expression
from reflexion.evidence.python.parse import parse_module
from reflexion.evidence.signatures import read_signature, read_stub
from reflexion.patterns import regex

MARKED = frozenset({"python", "py", "python3", "py3", "pycon", "doctest"})
UNMARKED = ""
# Far beyond any example; such a fence is data.
MAX_CODE = 50_000

_PROMPT = regex(r"^[ \t]*>>>(?:[ \t]|$)", re.MULTILINE)
_SHELL = regex(
    r"^[ \t]*(?:[$%!#]?[ \t]*(?:pip3?|uv|poetry|conda|apt(?:-get)?|brew|python3?|pytest)[ \t]+[-\w./]+(?:[ \t]|$)(?!=)"
    r"|\$[ \t]|[%!]\w|In[ \t]?\[\d+\]:|Out\[\d+\]:)",
    re.MULTILINE,
)
_TRACEBACK = regex(r"^\s*Traceback \(most recent call last\)")
_LEFT_OUT = regex(r"^[ \t]*#[ \t]*(?:\.\.\.|…)|…", re.MULTILINE)
_PLACEHOLDER = regex(r"<[A-Za-z][\w .\-]*>")
_PLACEHOLDER_TEXT = regex(r"^<(?:your|my|path|insert|some|the)\b[^<>]*>$|^<[A-Z][A-Z_\- ]+>$", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Code:
    """The code of an example: ``tree`` is None for a doctest, whose pieces are parsed one by one.

    ``error`` is the syntax error of a fence that is marked as Python, with its line in the code, or None.
    """

    text: str
    tree: ast.Module | None
    doctest: bool = False
    error: str | None = None
    error_line: int = 1


def read_code(example: Example, names: frozenset[str], source: str) -> Code | None:
    """Return the code of a fence, or None where it is no example.

    :param names: the source's names and its module's: an unmarked fence is an example only where it uses one
    :param source: the source's text; a fence that quotes it is no example
    """
    text = textwrap.dedent(example.code.expandtabs(8) if "\t" in example.code else example.code)
    if example.language not in MARKED and example.language != UNMARKED:
        return None
    if not text.strip() or len(text) > MAX_CODE or "\0" in text or _TRACEBACK.match(text):
        return None
    if _PROMPT.search(text) and not _SHELL.search(_without_prompts(text)):
        return Code(text, None, doctest=True)
    if _SHELL.search(text):
        return None
    tree, error, line = parse(text)
    if tree is None:
        marked = example.language in MARKED and not _only_looks_like_code(text)
        return Code(text, None, error=error, error_line=line) if marked and error else None
    if _shows_only(tree, text) or is_elided(tree) or _LEFT_OUT.search(text) or _quotes(text, source):
        return None
    if example.language == UNMARKED and not names & _used(tree):
        return None
    return Code(text, tree)


def _without_prompts(text: str) -> str:
    return re.sub(r"^[ \t]*(?:>>>|\.\.\.) ?", "", text, flags=re.MULTILINE)


def parse(text: str) -> tuple[ast.Module | None, str, int]:
    """Return the tree of a piece of code, or what is wrong and in which line.

    An empty error stands for code that another Python may well read, or that is too deep to be read.
    """
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(text)
            compile(tree, "<example>", "exec", ast.PyCF_ALLOW_TOP_LEVEL_AWAIT, dont_inherit=True)
            return tree, "", 0
    except SyntaxError as error:
        return None, _explained(text, error), error.lineno or 1
    except (ValueError, RecursionError, MemoryError, OverflowError, SystemError):
        return None, "", 1


def _explained(text: str, error: SyntaxError) -> str:
    """Return the error's words; none for syntax of a later Python and for the inside of a function."""
    said = " ".join((error.msg or "invalid syntax").split())
    # A block with nothing but a comment in it: the code is left out for the reader to fill in.
    if said.startswith("expected an indented block") and re.search(r":[ \t]*(?:#[^\n]*)?\n\s*#", text):
        return ""
    if "outside function" in said or "outside loop" in said or "not properly in loop" in said:
        return ""
    try:
        parse_module(text, "example")
    except InputError as failure:
        return "" if "newer Python" in str(failure) else said
    return said


def _only_looks_like_code(text: str) -> bool:
    """Say whether text that does not parse shows how to call, leaves something out, or is a piece of a block."""
    if _LEFT_OUT.search(text) or _PLACEHOLDER.search(text) or re.search(r"\.\.\.", text):
        return True
    lines = [line.strip() for line in text.split("\n") if line.strip() and not line.strip().startswith("#")]
    if _is_signature(text.strip()) or read_stub(text, 1, None) is not None:
        return True
    # A method's head without its body, or several signatures, one a line.
    heads = [re.sub(r"^(?:async\s+)?def\s+", "", line).rstrip(":") for line in lines if not line.startswith("@")]
    return bool(heads) and all(_is_signature(head) or _is_head(head) for head in heads)


def _is_signature(text: str) -> bool:
    return len(text) < 2_000 and "\n\n" not in text and read_signature(text, 1) is not None


def _is_head(line: str) -> bool:
    return re.match(r"^class\s+\w+(?:\(.*\))?$|^[\w.]+\(.*\)\s*->\s*\S.*$", line) is not None


def _shows_only(tree: ast.Module, text: str) -> bool:
    """Say whether the code is nothing but stubs, a signature with types, or words in quotes."""
    if not tree.body or all(_is_stub(one) or _is_words(one) for one in tree.body):
        return True
    only = tree.body[0]
    if len(tree.body) == 1 and isinstance(only, ast.Expr) and isinstance(only.value, ast.Name | ast.Attribute):
        return True
    annotated = isinstance(only, ast.AnnAssign) and isinstance(only.target, ast.Call)
    return annotated or (len(tree.body) == 1 and isinstance(only, ast.AnnAssign) and only.value is None)


def _is_stub(node: ast.stmt) -> bool:
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
        return all(_is_words(one) or _is_dots(one) or isinstance(one, ast.Pass) for one in node.body)
    if isinstance(node, ast.ClassDef):
        return all(
            _is_words(one) or _is_dots(one) or isinstance(one, ast.Pass | ast.AnnAssign) or _is_stub(one)
            for one in node.body
        )
    return False


def _is_words(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)


def _is_dots(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and _is_ellipsis(node.value)


def _is_ellipsis(node: ast.AST | None) -> bool:
    return isinstance(node, ast.Constant) and node.value is Ellipsis


def is_elided(tree: ast.Module) -> bool:
    """Say whether ``...`` stands for code, an argument or a value that was left out, or a text for the reader's own."""
    return any(map(_is_dots, tree.body)) or any(map(_leaves_out, ast.walk(tree)))


def _leaves_out(node: ast.AST) -> bool:
    if isinstance(node, ast.Call):
        return any(map(_is_ellipsis, [*node.args, *(keyword.value for keyword in node.keywords)]))
    if isinstance(node, ast.List | ast.Set):
        return any(map(_is_ellipsis, node.elts))
    if isinstance(node, ast.Dict):
        return any(map(_is_ellipsis, [*node.keys, *node.values]))
    if isinstance(node, ast.Assign | ast.AnnAssign | ast.Return):
        return _is_ellipsis(node.value)
    if isinstance(node, ast.Constant):
        return isinstance(node.value, str) and _PLACEHOLDER_TEXT.match(node.value) is not None
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        return len(node.body) > 1 and any(map(_is_dots, node.body[:-1]))
    return any(map(_is_dots, getattr(node, "body", None) or [])) if isinstance(node, ast.stmt) else False


def _quotes(text: str, source: str) -> bool:
    """Say whether the code is a piece of the source, line for line."""
    lines = [line.strip() for line in text.split("\n") if line.strip()]
    if not lines or lines[0] not in source:
        return False
    bare = "\n".join(line.strip() for line in source.split("\n") if line.strip())
    return "\n".join(["", *lines, ""]) in f"\n{bare}\n"


def _used(tree: ast.Module) -> frozenset[str]:
    """Return the names that a piece of code reads or imports, each part of a dotted one."""
    found: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Name):
            found.add(node.id)
        elif isinstance(node, ast.Import):
            found.update(part for alias in node.names for part in alias.name.split("."))
        elif isinstance(node, ast.ImportFrom):
            found.update((node.module or "").split("."), (alias.name for alias in node.names))
    return frozenset(found)


def is_lone_value(text: str) -> bool:
    """Say whether a fence holds one value and nothing else: an output in a Python fence."""
    tree = parse_expression(text)
    try:
        ast.literal_eval(tree) if tree is not None else None
    except (ValueError, TypeError, SyntaxError, RecursionError, MemoryError):
        return False
    return tree is not None
