"""What a corpus source really says, read with ``ast`` alone so that the benchmark does not lean on what it measures."""

import ast
from dataclasses import dataclass
from pathlib import Path

CORPUS = Path(__file__).parent / "truth_corpus"
FunctionNode = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True, slots=True)
class Param:
    """One parameter or field: texts of annotation and default as written in the source."""

    name: str
    annotation: str | None
    default: str | None


@dataclass(frozen=True, slots=True)
class Thing:
    """One symbol of a source. ``raises`` holds (type, message as a document writes it or None)."""

    qualname: str
    kind: str
    params: tuple[Param, ...] = ()
    raises: tuple[tuple[str, str | None], ...] = ()
    bases: tuple[str, ...] = ()
    value: str | None = None
    returns: str | None = None
    keys: tuple[str, ...] = ()
    is_async: bool = False
    open_ended: bool = False

    @property
    def name(self) -> str:
        """The last part of the qualname."""
        return self.qualname.rpartition(".")[2]

    @property
    def owner(self) -> str:
        """The class around the symbol, or an empty text."""
        return self.qualname.rpartition(".")[0]


class SourceReader:
    """Reads one source text into things."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._tree = ast.parse(text)
        self._helpers: dict[str, FunctionNode] = {}
        for node in ast.walk(self._tree):
            if isinstance(node, FunctionNode) and node.name.startswith("_"):
                self._helpers[node.name] = node

    def things(self) -> list[Thing]:
        """Return all public symbols in source order."""
        found: list[Thing] = []
        for node in self._tree.body:
            found.extend(self._of(node, ""))
        return [thing for thing in found if not _hidden(thing.name)]

    def _of(self, node: ast.stmt, owner: str) -> list[Thing]:
        if isinstance(node, FunctionNode):
            return [] if _is_overload(node) else [self._function(node, owner)]
        if isinstance(node, ast.ClassDef):
            return self._class(node)
        if isinstance(node, ast.Assign | ast.AnnAssign) and node.value is not None:
            return self._constant(node, owner)
        return []

    def _constant(self, node: ast.Assign | ast.AnnAssign, owner: str) -> list[Thing]:
        target = node.targets[0] if isinstance(node, ast.Assign) else node.target
        if not isinstance(target, ast.Name) or node.value is None:
            return []
        if not target.id.isupper() and not owner:
            return []
        return [Thing(f"{owner}.{target.id}".lstrip("."), "constant", value=self._segment(node.value))]

    def _class(self, node: ast.ClassDef) -> list[Thing]:
        init = next((n for n in node.body if isinstance(n, FunctionNode) and n.name == "__init__"), None)
        post = next((n for n in node.body if isinstance(n, FunctionNode) and n.name == "__post_init__"), None)
        bases = tuple(self._segment(base) for base in node.bases)
        fields = _is_dataclass(node) or "NamedTuple" in bases
        params = self._params(init) if init else self._fields(node) if fields else ()
        start = init or post
        raises = self._raises(start) if start else ()
        things = [Thing(node.name, "class", params, raises, bases)]
        members = [n for n in node.body if not (fields and isinstance(n, ast.AnnAssign))]
        for member in members:
            things.extend(self._of(member, node.name))
        return things

    def _fields(self, node: ast.ClassDef) -> tuple[Param, ...]:
        fields = [n for n in node.body if isinstance(n, ast.AnnAssign) and isinstance(n.target, ast.Name)]
        return tuple(
            Param(ast.unparse(n.target), self._segment(n.annotation), self._segment(n.value) if n.value else None)
            for n in fields
        )

    def _function(self, node: FunctionNode, owner: str) -> Thing:
        return Thing(
            f"{owner}.{node.name}".lstrip("."),
            _kind(node, owner),
            self._params(node),
            self._raises(node),
            returns=self._segment(node.returns) if node.returns else None,
            keys=_returned_keys(node),
            is_async=isinstance(node, ast.AsyncFunctionDef),
            open_ended=node.args.kwarg is not None or node.args.vararg is not None,
        )

    def _params(self, node: FunctionNode) -> tuple[Param, ...]:
        args = node.args
        plain = [*args.posonlyargs, *args.args]
        defaults: list[ast.expr | None] = [None] * (len(plain) - len(args.defaults)) + list(args.defaults)
        pairs = list(zip(plain, defaults, strict=True))
        pairs += [(args.vararg, None)] if args.vararg else []
        pairs += list(zip(args.kwonlyargs, args.kw_defaults, strict=True))
        pairs += [(args.kwarg, None)] if args.kwarg else []
        return tuple(self._param(arg, default) for arg, default in pairs if arg.arg not in ("self", "cls"))

    def _param(self, arg: ast.arg, default: ast.expr | None) -> Param:
        annotation = self._segment(arg.annotation) if arg.annotation else None
        return Param(arg.arg, annotation, self._segment(default) if default else None)

    def _raises(self, node: FunctionNode) -> tuple[tuple[str, str | None], ...]:
        """Own ``raise`` statements and those of private helpers, transitively."""
        found: list[tuple[str, str | None]] = []
        seen: set[str] = set()
        todo = [node]
        while todo:
            for inner in ast.walk(todo.pop()):
                if isinstance(inner, ast.Raise) and isinstance(inner.exc, ast.Call):
                    found.append((ast.unparse(inner.exc.func), self._message(inner.exc)))
                called = _called_name(inner)
                if called in self._helpers and called not in seen:
                    seen.add(called)
                    todo.append(self._helpers[called])
        return tuple(dict.fromkeys(found))

    def _message(self, call: ast.Call) -> str | None:
        first = call.args[0] if call.args else None
        if isinstance(first, ast.Constant) and isinstance(first.value, str):
            return first.value
        if isinstance(first, ast.JoinedStr):
            return self._segment(first)[2:-1]
        return None

    def _segment(self, node: ast.AST) -> str:
        return ast.get_source_segment(self._text, node) or ""


def _hidden(name: str) -> bool:
    return name.startswith("_") or name in ("T", "log", "logger")


def _is_overload(node: FunctionNode) -> bool:
    return any(ast.unparse(decorator) == "overload" for decorator in node.decorator_list)


def _is_dataclass(node: ast.ClassDef) -> bool:
    return any(ast.unparse(decorator).startswith("dataclass") for decorator in node.decorator_list)


def _kind(node: FunctionNode, owner: str) -> str:
    names = {ast.unparse(decorator) for decorator in node.decorator_list}
    for decorator, kind in (("property", "property"), ("classmethod", "classmethod"), ("staticmethod", "static")):
        if decorator in names:
            return kind
    return "method" if owner else "function"


def _returned_keys(node: FunctionNode) -> tuple[str, ...]:
    returns = [inner.value for inner in ast.walk(node) if isinstance(inner, ast.Return)]
    if len(returns) != 1 or not isinstance(returns[0], ast.Dict):
        return ()
    return tuple(key.value for key in returns[0].keys if isinstance(key, ast.Constant) and isinstance(key.value, str))


def _called_name(node: ast.AST) -> str:
    if not isinstance(node, ast.Call):
        return ""
    if isinstance(node.func, ast.Attribute):
        return node.func.attr
    return node.func.id if isinstance(node.func, ast.Name) else ""


def read_things(text: str) -> list[Thing]:
    """Read a source text; raises SyntaxError where it is none."""
    return SourceReader(text).things()
