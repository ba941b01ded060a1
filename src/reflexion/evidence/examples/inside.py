"""What runs an example, in a child of ``driver.py`` inside the sandbox. It is sent there, and never imported here.

The code of an example has calls of a recorder in it (see ``plan.py``), which notes values and outputs as records.
"""

# It has to outlive whatever the code in it raises, to run that code, and to do without pathlib and contextlib.
# ruff: noqa: BLE001, S102, S112, S307

import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from importlib.machinery import ModuleSpec
    from types import ModuleType as Module
    from typing import Any

    Plan = dict[str, Any]

EXAMPLE = "<example>"
# The frames of this file and of the driver tell nothing of where an exception came from.
OWN = ("driver.py", "inside.py")
# Longer texts are not compared by anybody.
MAX_TEXT = 20_000
MAX_OUTPUT = 200_000
MAX_RECORDS = 2_000
MAX_CAUSES = 6
# As they are before an example can put others in their place.
REPR, STR = repr, str
COROUTINE = 0x80
TOP_LEVEL_AWAIT = 0x2000


def hexed(text: str) -> str:
    """Return a text's bytes in hexadecimal, "-" for none."""
    return text[:MAX_TEXT].encode("utf-8", "backslashreplace").hex() or "-"


def shown(make: "Callable[[object], str]", value: object) -> str:
    """Return ``repr`` or ``str`` of a value, whatever its methods do."""
    try:
        text = make(value)
        return text if isinstance(text, str) else "?"
    except Exception as error:
        return f"<{type(error).__name__} in {make.__name__}>"


class Recorder:
    """What the example's instrumented code calls: notes values and where in the output they were worked out."""

    def __init__(self, output: int) -> None:
        self.output = output
        self.base = 0
        self.base = self.place()
        self.records: list[str] = []
        self.begun: dict[int, int] = {}

    def place(self) -> int:
        """Return how many bytes were printed since this recorder was made."""
        for stream in {id(sys.stdout): sys.stdout, id(sys.__stdout__): sys.__stdout__}.values():
            try:
                stream.flush()  # type: ignore[union-attr]
            except Exception:  # The example may have put anything there; what it cannot flush it did not print.
                continue
        return os.fstat(self.output).st_size - self.base

    def note(self, *words: object) -> None:
        """Keep a record; more than anybody reads are dropped."""
        if len(self.records) < MAX_RECORDS:
            self.records.append(" ".join(map(str, words)))

    def begin(self, number: int) -> None:
        """Note that a statement begins."""
        self.begun[number] = self.place()
        self.note("begin", number)

    def end(self, number: int) -> None:
        """Note that a statement has ended, and what it printed."""
        self.note("ended", number, self.begun.get(number, 0), self.place())

    def value(self, number: int, value: object) -> object:
        """Note a statement's end and its value."""
        self.end(number)
        self.look(number, lambda: value)
        return value

    def shown(self, step: int, value: object) -> None:
        """Note the value of a bare expression that an output block may show."""
        self.place()
        self.note("shown", step, *self.texts(value))

    def look(self, number: int, get: "Callable[[], object]") -> None:
        """Note what an expression is now, if it is anything."""
        try:
            value = get()
        except Exception:  # It is nothing here, so there is nothing to compare: no record, and no pass either.
            return
        self.note("value", number, *self.texts(value))

    def texts(self, value: object) -> tuple[str, str, str, int]:
        """Return a value's texts and whether they are cut."""
        first, second = shown(REPR, value), shown(STR, value)
        cut = max(len(first), len(second)) > MAX_TEXT
        return hexed(first), hexed(second), hexed(type(value).__name__), int(cut)


def raised_words(error: BaseException, source_folder: str) -> tuple[object, ...]:
    """Return what is told of an exception: line, where it came from, types, message, what it names, and its causes."""
    line, origin, trace = 0, "other", error.__traceback__
    while trace is not None:
        name = trace.tb_frame.f_code.co_filename
        if name == EXAMPLE:
            line = trace.tb_lineno
            origin = "example"
        elif name.startswith(source_folder):
            origin = "source"
        elif name.rpartition(os.sep)[2] not in OWN:
            origin = "other"
        trace = trace.tb_next
    if isinstance(error, SyntaxError) and error.filename == EXAMPLE:
        line, origin = error.lineno or 0, "example"
    types = ",".join(f"{one.__module__}.{one.__qualname__}" for one in type(error).__mro__)
    causes: list[str] = []
    step: BaseException | None = error
    while step is not None and len(causes) < MAX_CAUSES:
        number = getattr(step, "errno", None) if isinstance(step, OSError) else None
        causes.append(f"{type(step).__module__}.{type(step).__qualname__}:{number if isinstance(number, int) else ''}")
        step = step.__cause__ or step.__context__
    told = getattr(error, "name", None) if isinstance(error, (NameError, ImportError)) else None
    told = told if isinstance(told, str) else ""
    return line, origin, hexed(types), hexed(shown(str, error)), hexed(told), hexed(",".join(causes))


class Aliases:
    """The last of the import system's finders: modules of other names that stand for the source."""

    def __init__(self, names: list[str], source: "Module") -> None:
        self.names = set(names)
        self.packages = {name.rpartition(".")[0] for name in names if "." in name}
        self.packages |= {".".join(name.split(".")[:end]) for name in names for end in range(1, name.count(".") + 1)}
        self.source = source

    def find_spec(self, name: str, path: object = None, target: object = None) -> "ModuleSpec | None":
        """Return a spec for a name that stands for the source, or for a package around one."""
        if name not in self.names and name not in self.packages:
            return None
        make: Any = type(os.__spec__)
        spec: ModuleSpec = make(name, self, is_package=name in self.packages)
        return spec

    def create_module(self, spec: "ModuleSpec") -> None:
        """Leave the making of the module to the import system."""

    def exec_module(self, module: "Module") -> None:
        """Put the source in the module's place, or let a package around it have the source's names as well."""
        name, source = module.__name__, self.source
        if name in self.packages:
            vars(module)["__getattr__"] = lambda wanted: getattr(source, wanted)
            for key in getattr(source, "__all__", None) or [one for one in vars(source) if not one.startswith("_")]:
                vars(module).setdefault(key, getattr(source, key, None))
        else:
            sys.modules[name] = source


class Runner:
    """Runs examples in this process, which is a child of the driver."""

    def __init__(self, plan: "Plan", source: "Module", source_folder: str, recorder: Recorder) -> None:
        self.source_folder = source_folder
        self.recorder = recorder
        self.loop: Any = None
        self.module = type(sys)("__main__")
        self.names = vars(self.module)
        sys.modules["__main__"] = self.module
        sys.meta_path[:] = [one for one in sys.meta_path if not isinstance(one, Aliases)]
        sys.meta_path.append(Aliases(plan["aliases"], source))
        self.own = {key: value for key, value in vars(source).items() if not self.is_hidden(key, value, source)}
        self.names.update(self.own)
        self.names.setdefault(source.__name__.rpartition(".")[2], source)
        self.names["__builtins__"] = __builtins__
        self.names["_reflexion_"] = recorder

    @staticmethod
    def is_hidden(key: str, value: object, source: "Module") -> bool:
        """Say whether a name is the import system's, or a module that lies in the source's package."""
        inside = isinstance(value, type(sys)) and value.__name__.startswith(source.__name__ + ".")
        return inside or (key[:2] == "__" and key[-2:] == "__")

    def restore(self) -> None:
        """Give names of the source back their values where earlier examples imported a module by that name."""
        for key, value in self.own.items():
            if isinstance(self.names.get(key), type(sys)) and not isinstance(value, type(sys)):
                self.names[key] = value

    def prefill(self, wanted: "Iterable[tuple[str, str, str]]") -> None:
        """Give the namespace what the example forgot to import."""
        for name, module, attribute in wanted:
            try:
                __import__(module)
                found = sys.modules[module]
                if not name:
                    continue
                self.names[name] = getattr(found, attribute) if attribute else found
            except Exception:  # The example then meets the same failure itself, where it is recorded.
                continue

    def step(self, code: str, line: int, mode: str, flags: int) -> None:
        """Run one step, top-level ``await`` included."""
        text = "\n" * (line - 1) + code + ("\n" if mode == "single" else "")
        compiled = compile(text, EXAMPLE, mode, flags | TOP_LEVEL_AWAIT, dont_inherit=True)
        if not compiled.co_flags & COROUTINE:
            exec(compiled, self.names)
            return
        if self.loop is None:
            import asyncio

            self.loop = asyncio.new_event_loop()
            asyncio.set_event_loop(self.loop)
        self.loop.run_until_complete(eval(compiled, self.names))

    def run(self, example: "Plan", *, quiet: bool = False) -> bool:
        """Run an example's steps; returns whether it stopped at an unknown name. ``quiet``: nothing is noted."""
        self.prefill(example["prefill"])
        note = (lambda *words: None) if quiet else self.recorder.note
        if quiet:
            self.names["_reflexion_"] = Silence()
        for number, (line, code, may_raise) in enumerate(example["steps"]):
            start = 0 if quiet else self.recorder.place()
            try:
                self.step(code, line, example["mode"], example["flags"])
            except BaseException as error:
                note("raised", number, *raised_words(error, self.source_folder))
                if isinstance(error, (SystemExit, KeyboardInterrupt, MemoryError)):
                    break
                if isinstance(error, NameError) and not quiet and may_raise < 2:
                    return True
                if not (may_raise or quiet):
                    break
            if not quiet:
                note("step", number, start, self.recorder.place())
        self.names["_reflexion_"] = self.recorder
        return False


class Silence:
    """The recorder of an example that only runs for those after it."""

    def __getattr__(self, name: str) -> "Callable[..., object]":
        return lambda *given: given[1] if name in ("value", "shown") and len(given) > 1 else None


def in_child(
    plan: "Plan", source: "Module", folder: str, number: int, mode: str, before: list[int], *files: int
) -> None:
    """Run one example, note what it did, and end this process."""
    output, records = files
    own = os.getpid()
    runner = Runner(plan, source, folder, Recorder(output))
    for earlier in before:
        runner.run(plan["examples"][earlier], quiet=True)
    runner.restore()
    recorder = runner.recorder = Recorder(output)
    runner.names["_reflexion_"] = recorder
    unknown = runner.run(plan["examples"][number])
    # Code that forks comes here twice.
    if os.getpid() == own:
        write(records, told(plan, number, mode, "unknown" if unknown else "exit0", recorder))
    os._exit(0)


def all_in_child(plan: "Plan", source: "Module", folder: str, output: int, records: int) -> None:
    """Run all examples one after another, each in a fresh namespace, and end this process."""
    own = os.getpid()
    session: dict[str, object] = {}
    stream = sys.stdout
    for number in plan["together"]:
        sys.stdout = stream
        recorder = Recorder(output)
        runner = Runner(plan, source, folder, recorder)
        if runner.run(plan["examples"][number]) and session:
            recorder = Recorder(output)
            runner = Runner(plan, source, folder, recorder)
            runner.names.update(session)
            runner.restore()
            runner.names["_reflexion_"] = recorder
            runner.run(plan["examples"][number])
        if os.getpid() != own:
            os._exit(0)
        session.update({key: value for key, value in runner.names.items() if key[:2] != "__"})
        write(records, told(plan, number, "alone", "exit0", recorder))
    os._exit(0)


def told(plan: "Plan", number: int, mode: str, state: str, recorder: Recorder) -> str:
    """Return all records of an example that came to its end."""
    size = recorder.place()
    printed = os.pread(recorder.output, MAX_OUTPUT, recorder.base) if plan["examples"][number]["output"] else b""
    lines = [f"example {number} {mode} {state}", *recorder.records, "done"]
    return "\n".join([*lines, f"printed {size} {printed.hex() or '-'}", f"end {number}", ""])


def write(target: int, text: str) -> None:
    """Write all of a text."""
    data = text.encode("ascii", "backslashreplace")
    while data:
        data = data[os.write(target, data) :]
