"""What a job that runs pytest tells, record by record; see ``reporter.py``, which writes it."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from reflexion.sandbox import Completed


@dataclass(frozen=True, slots=True)
class TestRecord:
    """How a test ended: ``outcome`` is passed, failed, error, skipped, xfailed, swallowed or incomplete."""

    __test__ = False

    name: str
    outcome: str
    raised: str
    lines: frozenset[int]
    why: str


@dataclass(slots=True)
class Told:
    """What one folder's run told. ``strange`` says what the candidate did that the scan cannot see; ``forged`` what
    cannot be from our reporter. Both are "" when there is nothing of the kind.
    """

    collected: tuple[str, ...] | None = None
    uncollected: str = ""
    """Why something could not be collected, the first of ``broken``."""
    broken: dict[str, str] = field(default_factory=dict)
    """What could not be collected, by pytest's name for it, and why."""
    begun: list[str] = field(default_factory=list)
    tests: dict[str, TestRecord] = field(default_factory=dict)
    end: int | None = None
    forged: str = ""
    strange: str = ""
    missing: str = ""
    """Why pytest cannot be used; of a project's own tests only, and so are the next."""
    deselected: tuple[str, ...] = ()
    imported: bool = False
    """Code of a module under test was run."""


def read_records(token: str, folders: Sequence[str], completed: Completed) -> dict[str, Told]:
    """Return what each folder's run told. A line that is not as our reporter writes it marks all of them."""
    told = {folder: Told() for folder in folders}
    text = completed.result.decode("ascii", "replace")
    whole = not text or text.endswith("\n")
    for line in text.splitlines():
        said, _, rest = line.partition(" ")
        folder, _, record = rest.partition(" ")
        if said != token or folder not in told:
            whole = False
            break
        try:
            _read(told[folder], record.split(" "))
        except (ValueError, IndexError):
            whole = False
            break
    if not whole and not completed.timed_out:
        for one in told.values():
            one.forged = "the report was written to by something else"
    return told


def _read(told: Told, words: list[str]) -> None:
    kind, values = words[0], words[1:]
    if told.end is not None:
        told.forged = "the report goes on after its end"
    if kind == "collected":
        told.forged = told.forged or ("" if told.collected is None else "two collections are reported")
        told.collected = tuple(_text(one) for one in values)
    elif kind == "uncollected":
        why = _text(values[1]) or _text(values[0])
        told.uncollected = told.uncollected or why
        told.broken[_text(values[2])] = why
    elif kind == "begin":
        told.begun.append(_text(values[0]))
    elif kind == "test":
        _read_test(told, values)
    elif kind == "strange":
        told.strange = _text(values[0])
    elif kind == "end":
        told.end = int(values[0])
    else:
        _read_of_project(told, kind, values)


def _read_of_project(told: Told, kind: str, values: list[str]) -> None:
    if kind == "imported":
        told.imported = True
    elif kind == "deselected":
        told.deselected += tuple(_text(one) for one in values)
    elif kind == "missing":
        told.missing = _text(values[0])
    else:
        raise ValueError(kind)


def _read_test(told: Told, values: list[str]) -> None:
    name = _text(values[0])
    if name in told.tests or told.begun[-1] != name:
        told.forged = "a test is reported twice, or out of its turn"
    lines = frozenset(int(one) for one in values[3].split(",") if one != "-")
    told.tests[name] = TestRecord(name, values[1], _text(values[2]), lines, _text(values[4]))


def _text(word: str) -> str:
    return "" if word == "-" else bytes.fromhex(word).decode("utf-8", "replace")
