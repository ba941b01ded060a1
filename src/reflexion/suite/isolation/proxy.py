"""The trusted side: stands where the candidate would, asks the candidate's process, and believes nothing it says.

Runs in the process of pytest and the suite, with the standard library alone.
"""

import atexit
import builtins
import json
import os
import secrets
import socket
import sys
import threading
from collections.abc import Callable, Iterator
from typing import NoReturn

from .frames import Data, Ended, packed, read_message
from .plain import Irregular, Known, NotPlain, Reader, Writer

TARGET = "solution"
EXIT = 70
NAME_LENGTH = 100
TEXT_LENGTH = 400
BASES = 32
EXCEPTIONS = {
    name: kind
    for name, kind in vars(builtins).items()
    if isinstance(kind, type)
    and issubclass(kind, Exception)
    and not issubclass(kind, BaseExceptionGroup)
    and kind.__name__ == name
}


class Broken(BaseException):
    """The candidate's answer is none, or cannot be brought here. No test can expect it: it is no Exception."""


class Channel:
    """The one way to the candidate's process. Calls go one at a time."""

    def __init__(self, connection: socket.socket) -> None:
        self._connection = connection
        self._lock = threading.Lock()
        self._known = Known(first=2)
        self._sent: dict[int, str] = {}
        self._exceptions: dict[str, type[Exception]] = {}
        self._dead = ""
        self._trouble = ""

    def leave(self) -> None:
        """End the process at once, as failed, when there ever was trouble: a test may have caught it after all."""
        if self._trouble:
            sys.stdout.flush()
            os.write(2, f"\n{TARGET}: {self._trouble}\n".encode("utf-8", "replace"))
            os._exit(EXIT)

    def names(self, wanted: list[str]) -> dict[str, Data]:
        """Return what the candidate has of the wanted names: functions and classes of exceptions, made here."""
        __tracebackhide__ = True
        with self._lock:
            kind, payload = self._asked("names", "the candidate", wanted, {})
            made: dict[str, Data] = self._checked(self._made_names, wanted, kind, payload)
            return made

    def call(self, operation: str, name: str, arguments: tuple[Data, ...], keywords: dict[str, Data]) -> Data:
        """Return what the candidate's function returns, or raise what it raises. Raises Broken."""
        __tracebackhide__ = True
        with self._lock:
            kind, payload = self._asked(operation, name, list(arguments), keywords)
        if kind == "raise":
            raise payload
        if kind == "stop":
            raise StopIteration
        return payload

    def _asked(self, operation: str, name: str, arguments: list[Data], keywords: dict[str, Data]) -> tuple[str, Data]:
        __tracebackhide__ = True
        if self._dead:
            self._break(self._dead)
        token = secrets.token_hex(8)
        writer = Writer(self._known)
        try:
            changed = self._changes(writer)
            forms = [writer.form(item) for item in arguments], [[k, writer.form(v)] for k, v in keywords.items()]
            message = packed([token, operation, name, changed, *forms])
        except Exception as error:  # noqa: BLE001 (none of them may look like the candidate's own)
            told = str(error) if isinstance(error, (NotPlain, ValueError)) else type(error).__name__
            self._dead = f"an argument of {name} cannot be handed over ({told}): this suite cannot be isolated"
            self._break(self._dead)
        kind, payload = self._checked(self._exchanged, message, token, name)
        if (kind == "names") != (operation == "names"):
            self._checked(_no_answer)
        return kind, payload

    def _changes(self, writer: Writer) -> list[Data]:
        changed = []
        for number, container in list(self._known.objects.items()):
            content = writer.content(container)
            if json.dumps(content) != self._sent[number]:
                changed.append([number, content])
        return changed

    def _checked(self, read: Callable[..., Data], *arguments: Data) -> Data:
        """Return what ``read`` returns; when it raises anything, the candidate is believed nothing any more."""
        __tracebackhide__ = True
        try:
            return read(*arguments)
        except Broken:
            raise
        except (Ended, OSError):
            self._dead = "the candidate's process has ended, or closed its channel"
        except Exception as error:  # noqa: BLE001 (whatever goes wrong with what a hostile process wrote)
            self._dead = f"the candidate's process gave an answer that is none ({type(error).__name__})"
        return self._break(self._dead)

    def _break(self, trouble: str) -> NoReturn:
        __tracebackhide__ = True
        self._trouble = self._trouble or trouble
        raise Broken(trouble)

    def _exchanged(self, message: bytes, token: str, name: str) -> tuple[str, Data]:
        __tracebackhide__ = True
        self._nothing_waits()
        self._connection.sendall(message)
        said, kind, payload, changed, kept = read_message(self._connection.recv)
        if said != token:
            raise Irregular("an answer to something else")
        if kind == "trouble":
            self._known.keep([])
            self._break(f"{name} {_text(payload)}")
        reader = Reader(self._known)
        before = set(self._known.objects)
        result = self._read(reader, kind, payload)
        self._take(reader, changed, kept, before)
        self._nothing_waits()
        return kind, result

    def _nothing_waits(self) -> None:
        try:
            waiting = self._connection.recv(1, socket.MSG_PEEK | socket.MSG_DONTWAIT)
        except BlockingIOError:
            return
        if waiting:
            raise Irregular("an answer to nothing")
        raise Ended

    def _read(self, reader: Reader, kind: object, payload: Data) -> Data:
        if kind == "value":
            return reader.value(payload)
        if kind == "raise":
            return self._exception(reader, payload)
        if kind == "iterator" and type(payload) is int:
            return Remote(self, payload)
        if kind == "names" and type(payload) is list:
            return payload
        if kind == "stop" and payload is None:
            return None
        raise Irregular("an answer of no kind")

    def _take(self, reader: Reader, changed: Data, kept: Data, before: set[int]) -> None:
        """Do to the containers here what was done to them there; all is read before anything is done."""
        numbers = [number for number, _ in changed]
        if len(set(numbers)) != len(numbers) or not before.issuperset(numbers):
            raise Irregular("a change to a container that was not there")
        steps = [reader.content(forms, self._known.objects[number]) for number, forms in changed]
        if type(kept) is not list or any(type(number) is not int for number in kept):
            raise Irregular("no list of numbers")
        for step in steps:
            step()
        self._known.keep(set(kept))
        writer = Writer(self._known)
        self._sent = {n: json.dumps(writer.content(c)) for n, c in list(self._known.objects.items())}

    def _made_names(self, wanted: list[str], kind: object, payload: Data) -> dict[str, Data]:
        if kind != "names":
            raise Irregular("no names")
        made: dict[str, Data] = {}
        for name, sort, form in payload:
            if name not in wanted or name in made:
                raise Irregular("a name that is not wanted")
            if sort == "function":
                made[name] = _function(self, name)
            elif sort == "class":
                self._exceptions[name] = made[name] = self._class(name, form, BASES)
            elif sort == "also":
                made[name] = self._kind(form, BASES)
            else:
                raise Irregular("a name of no sort")
        return made

    def _class(self, name: Data, bases: Data, left: int) -> type[Exception]:
        if type(name) is not str or not name.isidentifier() or len(name) > NAME_LENGTH:
            raise Irregular("no name of a class")
        if type(bases) is not list or not 0 < len(bases) < left:
            raise Irregular("no bases")
        kinds = tuple(self._kind(base, left - len(bases)) for base in bases)
        return type(name, kinds, {"__module__": TARGET, "__init__": _refused, "__str__": _said, "_said": ""})

    def _kind(self, form: Data, left: int) -> type[Exception]:
        if type(form) is str:
            return EXCEPTIONS[form]
        tag, name, *rest = form
        if tag == "n" and not rest:
            return self._exceptions[name]
        if tag == "u":
            (bases,) = rest
            return self._class(name, bases, left)
        raise Irregular("no class")

    def _exception(self, reader: Reader, payload: Data) -> Exception:
        form, forms, message, attributes = payload
        kind = self._kind(form, BASES)
        arguments = [reader.value(item) for item in forms]
        if type(form) is str:
            error = kind(*arguments)
        else:
            error = kind.__new__(kind, *arguments)
            error.args = tuple(arguments)
            vars(error)["_said"] = _text(message, exact=True)
        if type(error) is not kind:
            raise Irregular("an exception that becomes another")
        for name, value in attributes:
            if type(name) is not str or name.startswith("_"):
                raise Irregular("no name of an attribute")
            vars(error)[name] = reader.value(value)
        return error


class Remote:
    """An iterator of the candidate's: each step is asked for when it is wanted."""

    def __init__(self, channel: Channel, number: int) -> None:
        self._channel, self._number = channel, number

    def __iter__(self) -> Iterator[Data]:
        return self

    def __next__(self) -> Data:
        __tracebackhide__ = True
        return self._channel.call("next", str(self._number), (), {})


def connect(wanted: list[str]) -> dict[str, Data]:
    """Return what stands in the candidate's place, over the descriptor that REFLEXION_CHANNEL_FD names."""
    descriptor = int(os.environ.pop("REFLEXION_CHANNEL_FD"))
    os.set_inheritable(descriptor, False)
    channel = Channel(socket.socket(socket.AF_UNIX, socket.SOCK_STREAM, fileno=descriptor))
    atexit.register(channel.leave)
    return channel.names(wanted)


def _function(channel: Channel, name: str) -> Callable[..., Data]:
    def function(*arguments: Data, **keywords: Data) -> Data:
        __tracebackhide__ = True
        return channel.call("call", name, arguments, keywords)

    function.__name__ = function.__qualname__ = name
    return function


def _refused(self: Exception, *arguments: object, **keywords: object) -> NoReturn:
    raise Broken(f"the suite makes a {type(self).__name__} of its own: it cannot be isolated")


def _no_answer() -> NoReturn:
    raise Irregular("an answer of another kind")


def _said(self: Exception) -> str:
    said: str = vars(self)["_said"]
    return said


def _text(value: object, *, exact: bool = False) -> str:
    if type(value) is not str:
        raise Irregular("no text")
    return value if exact else "".join(c if c.isprintable() else "?" for c in value[:TEXT_LENGTH])
