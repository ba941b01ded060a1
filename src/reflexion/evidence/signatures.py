"""Signatures as documents write them: in headings and code spans, and stubs in fences."""

import ast
import re
import textwrap

from reflexion.evidence.claims import BaseClaim, ClaimedParameter, ConstantClaim, SignatureClaim
from reflexion.evidence.expressions import parse_expression
from reflexion.evidence.facts import ParameterKind
from reflexion.evidence.syntax import parse_module, source_of
from reflexion.evidence.words import BOUND_NAMES
from reflexion.patterns import regex

NAME = r"[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*"
_CALL = regex(rf"^(?P<lead>(?:(?:async|def|class)\s+)*)(?P<name>{NAME})\s*\((?P<rest>.*)$", re.DOTALL)
_ELLIPSIS = regex(r"(^|,)\s*(?:\.\.\.|\u2026)\s*(?=,|$)")
_LONGEST = 4000
_STUB_START = regex(r"^\s*(?:@|(?:async\s+)?def\s|class\s)")
_DEFINITION = regex(r"^\s*(?:async\s+def|def|class)\s")


def read_signature(text: str, line: int, subject: str | None = None) -> SignatureClaim | None:
    """Return the signature that a text is as a whole (``foo(a, b=1) -> int``), or None where it is none."""
    found = _CALL.match(text.strip().replace("\u2192", "->").rstrip(":; "))
    if found is None or len(text) > _LONGEST:
        return None
    inside, tail = balanced(found.group("rest"))
    returns = _returns(tail)
    cleaned, abridged, optional = _cleaned(inside or "")
    parsed = read_parameters(cleaned)
    if inside is None or returns is None or parsed is None:
        return None
    bound, parameters = split_bound(parsed)
    lead = found.group("lead").split()
    claim = SignatureClaim(
        line,
        found.group("name"),
        subject,
        tuple(one._replace(optional=one.name in optional) for one in parameters),
        returns or None,
        is_async="async" in lead,
        is_class="class" in lead,
        bound=bound,
        abridged=abridged or (not inside.strip() and not lead and not returns),
        text=" ".join(text.split()),
    )
    return _with_bases(claim) if claim.is_class else claim


def _with_bases(claim: SignatureClaim) -> SignatureClaim:
    """Take what stands in the brackets of ``class Savings(Account)`` for bases, unless it looks like parameters."""
    names = tuple(one.name for one in claim.parameters)
    if any(one.annotation or one.default for one in claim.parameters) or not all(name[0].isupper() for name in names):
        return claim
    return claim._replace(parameters=(), bases=names, abridged=True)


def balanced(rest: str) -> tuple[str | None, str]:
    """Split after an opening bracket into what it holds and what follows its closing one."""
    depth, quote = 1, ""
    for index, char in enumerate(rest):
        if quote:
            quote = "" if char == quote else quote
        elif char in "\"'":
            quote = char
        elif char in "([{":
            depth += 1
        elif char in ")]}":
            depth -= 1
        if depth == 0:
            return rest[:index], rest[index + 1 :]
    return None, ""


def _returns(tail: str) -> str | None:
    """Return the type after the arrow, "" where nothing follows, None where something else does."""
    tail = tail.strip().removesuffix("...").strip().rstrip(":").strip()
    arrow, typed = tail[:2], tail[2:].strip()
    if not tail or arrow != "->" or not typed:
        return None if tail else ""
    node = parse_expression(typed)
    if node is not None:
        return source_of(node) or typed
    return " ".join(typed.split()) if re.fullmatch(r"[\w\s.\[\]|,]+", typed) else None


def _cleaned(inside: str) -> tuple[str, bool, frozenset[str]]:
    """Return the parameters in Python's form, whether some are left out, and the names in ``[...]``."""
    optional = frozenset(re.findall(r"\[\s*,\s*\**(\w+)", inside)) if re.search(r"\[\s*,", inside) else frozenset()
    if optional:
        inside = re.sub(r"\]+\s*$", "", re.sub(r"\[\s*,", ",", inside)).replace("],", ",")
    shortened = _ELLIPSIS.sub(r"\1", inside)
    abridged = shortened != inside
    if abridged:
        shortened = re.sub(r",\s*(?:,\s*)+", ", ", shortened).strip().strip(",")
    return shortened, abridged, optional


def read_parameters(inside: str) -> list[ClaimedParameter] | None:
    """Parse what stands between the brackets of a definition."""
    # The line break closes a comment that the text may end with.
    module = parse_module(f"def f({inside}\n): ...")
    if module is None:
        return None
    function = module.body[0]
    return parameters_of(function.args) if isinstance(function, ast.FunctionDef) and len(module.body) == 1 else None


def parameters_of(arguments: ast.arguments) -> list[ClaimedParameter]:
    """Return the parameters of a parsed definition, in order."""
    plain = [*arguments.posonlyargs, *arguments.args]
    defaults: list[ast.expr | None] = [None] * (len(plain) - len(arguments.defaults)) + list(arguments.defaults)
    found: list[ClaimedParameter] = []
    for index, (argument, default) in enumerate(zip(plain, defaults, strict=True)):
        kind: ParameterKind = "positional-only" if index < len(arguments.posonlyargs) else "positional"
        found.append(ClaimedParameter(argument.arg, kind, source_of(argument.annotation), source_of(default)))
    if star := arguments.vararg:
        found.append(ClaimedParameter(star.arg, "var-positional", source_of(star.annotation)))
    for argument, default in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True):
        found.append(ClaimedParameter(argument.arg, "keyword-only", source_of(argument.annotation), source_of(default)))
    if stars := arguments.kwarg:
        found.append(ClaimedParameter(stars.arg, "var-keyword", source_of(stars.annotation)))
    return found


def split_bound(parameters: list[ClaimedParameter]) -> tuple[str | None, list[ClaimedParameter]]:
    """Take ``self`` or ``cls`` off the front, unless it has a type or a default of its own."""
    if parameters and parameters[0].name in BOUND_NAMES and not (parameters[0].annotation or parameters[0].default):
        return parameters[0].name, parameters[1:]
    return None, parameters


Stub = tuple[list[SignatureClaim], list[ConstantClaim], list[BaseClaim], list[tuple[ast.AST, str | None]]]


def read_stub(code: str, line: int, subject: str | None) -> Stub | None:
    """Return what a fence that only shows signatures claims, or None where it holds other code.

    ``line`` is that of the first line of ``code``. The last list holds the definitions with docstrings, each with its
    dotted name, for the docstring reader; their own ``lineno`` counts from 1 in ``code``.
    """
    if not _STUB_START.match(code):
        return None
    tree = parse_module(textwrap.dedent(code)) or parse_module(_with_bodies(textwrap.dedent(code)))
    if tree is None or not tree.body or not all(_is_stub(node) for node in tree.body):
        return None
    stub: Stub = ([], [], [], [])
    for node in tree.body:
        _collect(node, line, _owner(node, subject), stub)
    return stub


def _owner(node: ast.stmt, subject: str | None) -> str | None:
    """Return the class that a definition under the heading of ``subject`` belongs to, or None."""
    if subject is None or not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        return None
    head, _, last = subject.rpartition(".")
    if last == node.name:
        return head or None
    bound = not isinstance(node, ast.ClassDef) and split_bound(parameters_of(node.args))[0]
    if bound and not last[:1].isupper():
        return head or None
    return subject if bound or (last[:1].isupper() and not isinstance(node, ast.ClassDef)) else None


def _with_bodies(code: str) -> str:
    """Give definitions without a body one, so that a bare ``def foo(a) -> int`` parses."""
    lines = code.split("\n")
    indents = _next_indents(lines)
    depth, head = 0, -1
    for index, text in enumerate(lines):
        if head < 0 and _DEFINITION.match(text):
            head = len(text) - len(text.lstrip())
        depth += sum(map(text.count, "([{")) - sum(map(text.count, ")]}"))
        if head >= 0 and depth <= 0:
            lines[index] = text.rstrip().removesuffix(":") + (":" if indents[index] > head else ": ...")
            head = -1
    return "\n".join(lines)


def _next_indents(lines: list[str]) -> list[int]:
    """Return for each line the indentation of the next line with text, -1 where there is none."""
    indents, following = [], -1
    for text in reversed(lines):
        indents.append(following)
        following = len(text) - len(text.lstrip()) if text.strip() else following
    return indents[::-1]


def read_definitions(tree: ast.Module, line: int) -> list[SignatureClaim]:
    """Return the functions at the top of a fence, and the methods of its classes, as the signatures that they have.

    ``line`` is that of the fence's first line of code. What is decorated is left out: nobody knows what comes of it.
    """
    found = []
    for node in tree.body:
        inner, name = (node.body, node.name) if isinstance(node, ast.ClassDef) else ([node], None)
        plain = (one for one in inner if isinstance(one, ast.FunctionDef | ast.AsyncFunctionDef))
        found += [_function(one, line, name) for one in plain if not one.decorator_list]
    return found


def _is_stub(node: ast.stmt) -> bool:
    """Say whether a statement only shows a definition."""
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
        return all(_is_empty(one) for one in node.body)
    if isinstance(node, ast.ClassDef):
        return all(_is_empty(one) or isinstance(one, ast.AnnAssign | ast.Assign) or _is_stub(one) for one in node.body)
    return False


def _is_empty(node: ast.stmt) -> bool:
    """Say whether a statement is ``...``, ``pass`` or a docstring."""
    return isinstance(node, ast.Pass) or (
        isinstance(node, ast.Expr)
        and isinstance(node.value, ast.Constant)
        and (node.value.value is Ellipsis or isinstance(node.value.value, str))
    )


def _collect(node: ast.stmt, line: int, subject: str | None, stub: Stub) -> None:
    """Add the claims of one definition and of what it holds."""
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
        stub[0].append(_function(node, line, subject))
        stub[3].append((node, _joined(subject, node.name)))
    elif isinstance(node, ast.ClassDef):
        name = _joined(subject, node.name)
        stub[0].append(_class(node, line, subject))
        stub[3].append((node, name))
        if bases := tuple(text for base in node.bases if (text := source_of(base))):
            stub[2].append(BaseClaim(line + node.lineno - 1, name, bases, f"class {node.name}({', '.join(bases)})"))
        for one in node.body:
            _value(one, line, name, stub)
            _collect(one, line, name, stub)


def _joined(subject: str | None, name: str) -> str:
    """Return the dotted name of a definition inside a subject."""
    return f"{subject}.{name}" if subject else name


def _value(node: ast.stmt, line: int, name: str, stub: Stub) -> None:
    """Add a value that a class stub gives."""
    if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
        claim = ConstantClaim(line + node.lineno - 1, node.targets[0].id, name, source_of(node.value))
        stub[1].append(claim._replace(text=f"{claim.name} = {claim.value}"))


def _function(node: ast.FunctionDef | ast.AsyncFunctionDef, line: int, subject: str | None) -> SignatureClaim:
    """Return the claim of a function stub."""
    bound, parameters = split_bound(parameters_of(node.args))
    return SignatureClaim(
        line + node.lineno - 1,
        node.name,
        subject,
        tuple(parameters),
        source_of(node.returns),
        is_async=isinstance(node, ast.AsyncFunctionDef),
        decorators=tuple(text for one in node.decorator_list if (text := source_of(one))),
        bound=bound,
        text=f"def {node.name}({_source_of_arguments(node.args)})",
    )


def _source_of_arguments(arguments: ast.arguments) -> str:
    """Return the parameters as source text."""
    return source_of(arguments) or "..."


def _class(node: ast.ClassDef, line: int, subject: str | None) -> SignatureClaim:
    """Return the claim of a class stub, with its constructor's parameters or its annotated fields."""
    starts = [one for one in node.body if isinstance(one, ast.FunctionDef) and one.name == "__init__"]
    fields = [one for one in node.body if isinstance(one, ast.AnnAssign)]
    decorators = tuple(text for one in node.decorator_list if (text := source_of(one)))
    record = any("dataclass" in one for one in decorators)
    parameters = split_bound(parameters_of(starts[-1].args))[1] if starts else []
    if not starts and record:
        parameters = [_field(one) for one in fields if isinstance(one.target, ast.Name)]
    return SignatureClaim(
        line + node.lineno - 1,
        node.name,
        subject,
        tuple(parameters),
        None,
        is_class=True,
        decorators=decorators,
        bases=tuple(text for base in node.bases if (text := source_of(base))),
        abridged=not starts and not (record and fields),
        text=f"class {node.name}",
    )


def _field(node: ast.AnnAssign) -> ClaimedParameter:
    """Return the constructor parameter that a dataclass field makes."""
    name = node.target.id if isinstance(node.target, ast.Name) else ""
    return ClaimedParameter(name, "positional", source_of(node.annotation), source_of(node.value))
