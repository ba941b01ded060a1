"""The candidate's side: imports the candidate and answers calls of its functions with plain data.

The candidate can take all of this over. It is here so that an honest one comes through exactly; nothing is
believed because of what is checked here.
"""

import builtins
import contextlib
import gc
import importlib.util
import json
import os
import sys
from collections.abc import Iterable
from pathlib import Path

from .frames import Data, Ended, packed, read_message
from .plain import Known, NotPlain, Reader, Writer

TARGET = "solution"
MANY = 32
TEXT_LENGTH = 300
# Rebuilt elsewhere they would do something else than be raised.
UNSENT = (BaseExceptionGroup,)


class Server:
    """Answers what comes over the channel, one message at a time."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._known = Known(first=1)
        self._functions: dict[str, Data] = {}
        self._iterators: dict[str, Data] = {}
        self._wanted: dict[type, str] = {}
        self._failed = ""
        self._many = MANY
        self._own = self._references_of_one()

    def load(self, path: Path) -> None:
        """Import the candidate as a module; how that fails is told to who asks for names."""
        spec = importlib.util.spec_from_file_location(TARGET, path)
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        sys.modules[TARGET] = module
        try:
            spec.loader.exec_module(module)
        except BaseException as error:  # noqa: BLE001 (SystemExit as well: no candidate may end its own judging)
            self._failed = f"cannot be imported: {_line_of(error)}"

    def serve(self) -> None:
        """Answer until the other side is gone, which raises Ended."""
        while True:
            message = read_message(lambda size: os.read(self._descriptor, size))
            answer = self._packed(message[0], self._answer(message))
            while answer:
                answer = answer[os.write(self._descriptor, answer) :]

    def _packed(self, token: str, answer: list[Data]) -> bytes:
        try:
            return packed([token, *answer])
        except (ValueError, RecursionError) as error:
            return packed([token, *self._trouble(f"returned {error}")])

    def _trouble(self, text: str) -> list[Data]:
        self._known.keep([])
        return ["trouble", text[:TEXT_LENGTH], [], []]

    def _answer(self, message: Data) -> list[Data]:
        _, operation, name, changed, forms, keywords = message
        reader = Reader(self._known)
        for number, content in changed:
            reader.content(content, self._known.objects[number])()
        arguments = [reader.value(form) for form in forms]
        named = {key: reader.value(form) for key, form in keywords}
        # The one reference to the result, so that those that the candidate keeps can be counted.
        results: list[Data] = []
        try:
            if operation == "names":
                return self._names(arguments)
            before = self._contents()
            answer = self._ask(operation, name, arguments, named, results)
            del arguments, named
            return [*answer, self._changed(before), self._kept(results)]
        except NotPlain as error:
            return self._trouble(f"returned {error}, which is no plain data")

    def _contents(self) -> dict[int, str]:
        writer = Writer(self._known)
        return {number: json.dumps(writer.content(item)) for number, item in list(self._known.objects.items())}

    def _ask(self, operation: str, name: str, arguments: list[Data], named: Data, results: list[Data]) -> list[Data]:
        writer = Writer(self._known)
        try:
            if operation == "next":
                results.append(next(self._iterators[name]))
            else:
                results.append(self._functions[name](*arguments, **named))
        except BaseException as error:  # noqa: BLE001 (all that a function can raise)
            if operation == "next" and type(error) is StopIteration:
                return ["stop", None]
            error.__traceback__ = None  # its frames hold the arguments
            return ["raise", self._exception(writer, error)]
        if _is_iterator(results[0]):
            number = str(len(self._iterators) + 1)
            self._iterators[number] = results[0]
            return ["iterator", int(number)]
        return ["value", writer.form(results[0])]

    def _changed(self, before: dict[int, str]) -> list[Data]:
        writer = Writer(self._known)
        changed = []
        for number, text in before.items():
            content = writer.content(self._known.objects[number])
            if json.dumps(content) != text:
                changed.append([number, content])
        return changed

    def _names(self, wanted: list[str]) -> list[Data]:
        if self._failed:
            return self._trouble(self._failed)
        module = sys.modules[TARGET]
        found = {name: getattr(module, name) for name in wanted if hasattr(module, name)}
        told: list[list[Data]] = []
        for name, item in sorted(found.items(), key=_depth):
            if not (isinstance(item, type) and issubclass(item, Exception)):
                told.append([name, "function", None])
                self._functions[name] = item
            elif item in self._wanted or _is_builtin(item):
                told.append([name, "also", self._class(item)])
            else:
                told.append([name, "class", self._bases(item)])
                self._wanted[item] = name
        return ["names", told, [], []]

    def _bases(self, kind: type) -> list[Data]:
        return [self._class(base) for base in kind.__bases__ if issubclass(base, BaseException)]

    def _class(self, kind: type) -> Data:
        if kind in self._wanted:
            return ["n", self._wanted[kind]]
        if issubclass(kind, UNSENT) or not issubclass(kind, Exception):
            raise NotPlain(f"a {kind.__name__}")
        if _is_builtin(kind):
            return kind.__name__
        return ["u", kind.__name__, self._bases(kind)]

    def _exception(self, writer: Writer, error: BaseException) -> list[Data]:
        try:
            form = self._class(type(error))
        except NotPlain as reason:
            raise NotPlain(f"or rather raised {reason}") from None
        message = str(error)
        arguments = _plain_forms(writer, error.args)
        if type(form) is str and (len(arguments) != len(error.args) or not _is_same(error, message)):
            form = ["u", form, [form]]
        attributes = []
        for name, value in vars(error).items():
            told = [] if name.startswith("_") else _plain_forms(writer, [value])
            attributes += [[name, item] for item in told]
        return [form, arguments, message if type(message) is str else "", attributes]

    def _kept(self, results: list[Data]) -> list[int]:
        """Return the containers that the candidate still holds after the call, and what can be reached from them."""
        kept = self._held(results)
        if len(kept) > self._many:
            # Functions that call themselves from within hold what they use until this.
            gc.collect()
            kept = self._held(results)
            self._many = max(MANY, 2 * len(kept))
        self._known.keep(kept)
        return kept

    def _held(self, results: list[Data]) -> list[int]:
        counts: dict[int, int] = {}
        composites: dict[int, Data] = {}
        for container in [results, *self._known.objects.values()]:
            _count(container, counts, composites)
        del container
        held: list[Data] = []
        for table in (self._known.objects, composites):
            held += [item for item in table.values() if _references(item) > self._own + counts.get(id(item), 0)]
        reached = _reached(held)
        return [number for number, item in self._known.objects.items() if id(item) in reached]

    def _references_of_one(self) -> int:
        """Return how many references a container has that nobody but this class knows."""
        self._known.add(0, [])
        (own,) = [_references(item) for item in self._known.objects.values()]
        self._known.keep([])
        return own


def _is_builtin(kind: type) -> bool:
    return vars(builtins).get(kind.__name__) is kind


def _references(item: object) -> int:
    return sys.getrefcount(item)


def _children(item: Data) -> Iterable[Data]:
    kind = type(item)
    if kind is tuple or kind is list or kind.__name__ == "deque":
        return item  # type: ignore[no-any-return]
    return item.values() if isinstance(item, dict) else ()


def _count(item: Data, counts: dict[int, int], composites: dict[int, Data]) -> None:
    """Count the references that a container holds; a tuple's only once, however often it stands somewhere."""
    for child in _children(item):
        counts[id(child)] = counts.get(id(child), 0) + 1
        if type(child) is tuple and id(child) not in composites:
            composites[id(child)] = child
            _count(child, counts, composites)


def _reached(held: list[Data]) -> set[int]:
    reached: set[int] = set()
    left = list(held)
    while left:
        item = left.pop()
        if id(item) not in reached:
            reached.add(id(item))
            left += _children(item)
    return reached


def _is_iterator(value: Data) -> bool:
    return hasattr(type(value), "__next__") and hasattr(type(value), "__iter__") and iter(value) is value


def _depth(item: tuple[str, Data]) -> int:
    return len(item[1].__mro__) if isinstance(item[1], type) else 0


def _plain_forms(writer: Writer, values: Iterable[Data]) -> list[Data]:
    """Return the forms of the values, none when one of them is not plain."""
    try:
        return [writer.form(value) for value in values]
    except NotPlain:
        return []


def _is_same(error: BaseException, message: str) -> bool:
    """Return whether the exception is what its class makes of its arguments."""
    try:
        other = type(error)(*error.args)
        return type(other) is type(error) and str(other) == message
    except Exception:  # noqa: BLE001 (a class that takes other arguments: then it is not the same)
        return False


def _line_of(error: BaseException) -> str:
    return f"{type(error).__name__}: {error}".splitlines()[0]


def main() -> None:
    """Serve the candidate that lies beside this package."""
    descriptor = int(os.environ.pop("REFLEXION_CHANNEL_FD"))
    os.set_inheritable(descriptor, False)
    server = Server(descriptor)
    server.load(Path(os.environ["REFLEXION_FILES"]) / f"{TARGET}.py")
    with contextlib.suppress(Ended):
        server.serve()
