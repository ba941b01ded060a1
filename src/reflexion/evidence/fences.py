"""Fences of a document: signatures that only show how to call, constants, examples and their outputs."""

import ast
import re

from reflexion.evidence.claims import ConstantClaim, Example, SignatureClaim
from reflexion.evidence.collector import Collector, Scope
from reflexion.evidence.docstrings import block_lines, read_docstring
from reflexion.evidence.markup import Node
from reflexion.evidence.signatures import Stub, read_signature, read_stub
from reflexion.evidence.syntax import parse_module, source_of
from reflexion.evidence.titles import Named

PYTHON = frozenset({"", "python", "py", "python3", "pyi", "py3", "python2"})
OUTPUTS = frozenset(
    {"", "text", "txt", "plaintext", "plain", "output", "console", "none", "json", "log", "stdout", "bash", "sh"}
)


def language_of(info: str) -> str:
    """Return the first word of an info string in lower case, without braces and dots."""
    words = re.split(r"[\s,:{}=]+", info.strip().lower())
    return next((word.lstrip(".") for word in words if word), "")


def read_fence(node: Node, scope: Scope, base: Scope, lines: tuple[str, ...], out: Collector) -> Scope:
    """Add what a fence claims and return the scope after it; ``base`` is that of the section."""
    language = language_of(node.info)
    if scope.role == "output" and language in OUTPUTS and _follows_example(node, out):
        out.examples[-1] = out.examples[-1]._replace(output=node.code, output_line=node.line)
        return scope._replace(role=None)
    if _take_message(node, language, out):
        return scope
    if language in PYTHON and scope.role != "examples" and (node.fenced or scope.role == "signature"):
        owner = base if _other(node, scope) else scope
        after = _read_declaration(node, scope, owner, lines, out)
        if after is not None:
            return after
    out.examples.append(Example(node.line, node.end_line, node.code_line, language, node.code, scope.subject))
    return scope


def _follows_example(node: Node, out: Collector) -> bool:
    """Say whether the latest example is still without output."""
    return bool(out.examples) and out.examples[-1].output is None and out.examples[-1].end_line < node.line


def _take_message(node: Node, language: str, out: Collector) -> bool:
    """Give a raise whose words end in "with the message:" the one line of the fence after it."""
    last = out.raises[-1] if out.raises else None
    if last is None or last.message is not None or language not in OUTPUTS or not 0 < node.line - last.line <= 6:
        return False
    text = node.code.strip()
    if not re.search(r"\bmessage\b[^.]*:$", last.text) or "\n" in text or not text:
        return False
    out.raises[-1] = last._replace(message=text.removeprefix(f"{last.type}: "))
    return True


def _other(node: Node, scope: Scope) -> bool:
    """Say whether a fence declares another symbol than the scope's."""
    found = re.search(r"^\s*(?:async\s+def|def|class)\s+(\w+)", node.code, re.MULTILINE)
    return found is not None and scope.subject is not None and scope.subject.rpartition(".")[2] != found.group(1)


def _read_declaration(node: Node, scope: Scope, owner: Scope, lines: tuple[str, ...], out: Collector) -> Scope | None:
    """Add a stub, a signature or constants; return the scope after it, or None where the fence is an example."""
    stub = read_stub(node.code, node.code_line, owner.subject)
    if stub is not None:
        return _add_stub(stub, node, scope, lines, out)
    if _is_constants(scope) and (values := _constants(node, scope)):
        out.constants.extend(values)
        return scope
    lines_of = [line.strip() for line in node.code.split("\n") if line.strip()]
    if 1 < len(lines_of) <= 50 and _add_signatures(node, lines_of, scope, out):
        return scope
    text = node.code.strip()
    signature = read_signature(text, node.code_line) if "\n\n" not in text else None
    if signature is None or not _is_declaration(signature, scope):
        return None
    named = Named(signature.name, None, True, True, signature)
    out.add_symbol(
        named,
        scope if not scope.names(signature.name) else scope.outside(),
        node.code_line,
        "signature",
        signature.text,
    )
    return scope if scope.names(signature.name) else owner.about(named)


def _add_signatures(node: Node, texts: list[str], scope: Scope, out: Collector) -> bool:
    """Add the signatures of a fence that has nothing but one a line; say whether it was such a fence."""
    found = [read_signature(text, node.code_line) for text in texts]
    signatures = [one for one in found if one is not None and _is_declaration(one, scope)]
    if len(signatures) != len(texts):
        return False
    numbers = [node.code_line + index for index, line in enumerate(node.code.split("\n")) if line.strip()]
    for number, one in zip(numbers, signatures, strict=True):
        outer = scope.outside() if scope.names(one.name) else scope
        out.add_symbol(Named(one.name, None, True, True, one), outer, number, "signature", one.text)
    return True


def _is_declaration(signature: SignatureClaim, scope: Scope) -> bool:
    """Say whether a lone ``foo(a, b)`` declares: types, an arrow, a "Signature" lead, or its own section."""
    typed = signature.returns is not None or any(one.annotation for one in signature.parameters)
    return typed or scope.role == "signature"


def _add_stub(stub: Stub, node: Node, scope: Scope, lines: tuple[str, ...], out: Collector) -> Scope:
    """Add the claims of a stub and return the scope of its symbol."""
    signatures, constants, bases, documented = stub
    for signature in signatures:
        # Another definition in the section of a function may be anything, a callback for instance.
        sure = scope.subject is None or scope.names(signature.name) or signature.subject is not None
        kind = _kind(signature)
        inner = scope._replace(subject=signature.subject, kind_word="class")
        out.add_symbol(Named(signature.name, kind), inner, signature.line, "signature", signature.text, sure=sure)
        if sure:
            out.signatures.append(signature)
    out.constants.extend(constants)
    out.bases.extend(bases)
    for found, name in documented:
        _read_stub_docstring(found, name, node, lines, out)
    return _scope_after(signatures, scope)


def _kind(signature: SignatureClaim) -> str:
    """Return the kind word of a stub."""
    if signature.is_class:
        return "class"
    for decorator, kind in (
        ("property", "property"),
        ("staticmethod", "static method"),
        ("classmethod", "class method"),
    ):
        if decorator in signature.decorators:
            return kind
    word = "method" if signature.bound else "function"
    return f"async {word}" if signature.is_async else word


def _scope_after(signatures: list[SignatureClaim], scope: Scope) -> Scope:
    """Return the scope of the one symbol that a stub shows, or the scope as it was."""
    tops = {(one.subject, one.name, one.is_class) for one in signatures[:1]} | {
        (one.subject, one.name, one.is_class) for one in signatures if one.subject == signatures[0].subject
    }
    if len(tops) != 1:
        return scope
    subject, name, is_class = next(iter(tops))
    if scope.names(name):
        return scope._replace(kind_word=scope.kind_word or ("class" if is_class else None))
    dotted = f"{subject}.{name}" if subject else name
    return scope._replace(subject=dotted, kind_word="class" if is_class else "function", role=None, led=False)


def _read_stub_docstring(found: ast.AST, name: str | None, node: Node, lines: tuple[str, ...], out: Collector) -> None:
    """Read the docstring of a stub's definition by its raw lines."""
    body = getattr(found, "body", [])
    first = body[0] if body else None
    if not (
        isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant) and isinstance(first.value.value, str)
    ):
        return
    start, end = node.code_line + first.lineno - 1, node.code_line + (first.end_lineno or first.lineno) - 1
    found_lines = block_lines(lines, start, min(end, node.end_line))
    cleaned = [
        line._replace(text=re.sub(r"^[rRuU]?(?:\"\"\"|''')|(?:\"\"\"|''')$", "", line.text).strip())
        for line in found_lines
    ]
    kind = "class" if isinstance(found, ast.ClassDef) else "function"
    read_docstring(cleaned, Scope(subject=name, kind_word=kind), out)


def _is_constants(scope: Scope) -> bool:
    """Say whether the place is about constants or enum members."""
    last = (scope.subject or "").rpartition(".")[2]
    return scope.role in ("constants", "members") or (last.isupper() and len(last) > 1)


def _constants(node: Node, scope: Scope) -> list[ConstantClaim]:
    """Return the assignments of a fence that holds nothing else."""
    tree = parse_module(node.code)
    claims: list[ConstantClaim] = []
    same = (scope.subject or "").rpartition(".")[2].isupper()
    for one in tree.body if tree else []:
        target = (
            one.targets[0] if isinstance(one, ast.Assign) else one.target if isinstance(one, ast.AnnAssign) else None
        )
        if not isinstance(target, ast.Name) or not isinstance(one, ast.Assign | ast.AnnAssign) or one.value is None:
            return []
        typed = source_of(one.annotation) if isinstance(one, ast.AnnAssign) else None
        value = source_of(one.value) or ""
        subject = None if same else scope.subject
        claims.append(
            ConstantClaim(node.code_line + one.lineno - 1, target.id, subject, value, typed, f"{target.id} = {value}")
        )
    return claims
