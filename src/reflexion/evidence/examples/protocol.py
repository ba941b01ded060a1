"""What goes into the sandbox and what comes out of it, as texts. Pure; parsing is strict.

A record that is not of the agreed form makes its whole example "not run", and so does one that is missing: neither is a
pass. Everything is self-reported by the code that ran; what could be forged is said in ``driver.py``.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from reflexion.patterns import regex

# How an example ended that stopped at a name which nothing before it defines.
NAME_ERROR = "unknown"

# Numbers are short, so that none can be too long for int().
_RECORD = regex(
    r"begin \d{1,9}|(?:ended|step) \d{1,9} \d{1,9} \d{1,9}|(?:value|shown) \d{1,9} \S+ \S+ \S+ [01]"
    r"|raised \d{1,9} \d{1,9} (?:example|source|other) \S+ \S+ \S+ \S+|done"
)
_EXAMPLE = regex(r"example (\d{1,9}) (alone|after) (late|unknown|exit-?\d{1,9})")
_PRINTED = regex(r"printed (\d{1,9}) ([0-9a-f]+|-)")
_UNLOADED = regex(r"unloaded (\d{1,9}) (example|source|other) (\S+) (\S+) (\S+) (\S+)")
# Where an import failed: a path inside the sandbox that tells nobody anything.
_PATH = regex(r" \((?:/[^()\n]*|unknown location)\)$")
_HEX = regex(r"(?:[0-9a-f]{2})+|-")


@dataclass(frozen=True, slots=True)
class Shown:
    """A value as its ``repr`` and ``str``, with the name of its type; ``cut`` where they were longer than is told."""

    representation: str
    text: str
    type: str
    cut: bool = False


@dataclass(frozen=True, slots=True)
class Raised:
    """An exception that ended a step.

    ``line`` is that of the example, 0 where unknown; ``origin`` tells whose code raised it: "example", "source" or
    "other". ``types`` are its type and all bases, dotted, nearest first; ``causes`` pairs of type and error number, its
    own first.
    """

    line: int
    origin: str
    types: tuple[str, ...]
    message: str
    name: str
    causes: tuple[tuple[str, int | None], ...]

    @property
    def type(self) -> str:
        """The type's own name, without its module's."""
        return self.types[0].rpartition(".")[2]

    @property
    def last_line(self) -> str:
        """The last line of its traceback."""
        message = _PATH.sub("", self.message)
        return f"{self.type}: {message}" if message else self.type

    def is_a(self, *names: str) -> bool:
        """Say whether it is of one of these types, by their last names."""
        return any(one.rpartition(".")[2] in names for one in self.types)


@dataclass(slots=True)
class Outcome:
    """What one run of an example told.

    ``problem`` says why it cannot be judged: empty where every record is as agreed and the run came to its end.
    ``printed`` is all that the example itself printed, ``steps`` the extents of each step's output in it, in bytes.
    ``final`` is True where another run would tell no more.
    """

    problem: str = ""
    after: bool = False
    code: str = ""
    printed: bytes = b""
    printed_cut: bool = False
    steps: dict[int, tuple[int, int]] = field(default_factory=dict)
    raised: dict[int, Raised] = field(default_factory=dict)
    begun: set[int] = field(default_factory=set)
    ended: dict[int, list[tuple[int, int]]] = field(default_factory=dict)
    values: dict[int, list[Shown]] = field(default_factory=dict)
    displayed: dict[int, Shown] = field(default_factory=dict)
    done: bool = False
    final: bool = False

    def text(self, start: int, end: int) -> str:
        """Return what was printed between two places."""
        return self.printed[start:end].decode("utf-8", "replace")


@dataclass(frozen=True, slots=True)
class Told:
    """What a job told: outcomes by example and whether it ran after those before it, and how far the job came.

    ``running`` is the example that was running when the job ended too early; ``unloaded`` tells why the source could
    not be imported.
    """

    outcomes: Mapping[tuple[int, bool], Outcome]
    loaded: bool = False
    finished: bool = False
    running: int | None = None
    unloaded: Raised | None = None


def plan_text(
    module: str,
    aliases: Sequence[str],
    examples: Sequence[object],
    seconds: float,
    *,
    together: Sequence[int] = (),
    run: Sequence[tuple[int, bool, Sequence[int]]] = (),
) -> str:
    """Return the plan that ``driver.py`` reads: which examples there are, and which to run.

    Those of ``together`` run in one process; those of ``run`` in one each, alone or (True) after the ones that are
    listed.
    """
    return repr(
        {
            "module": module,
            "aliases": list(aliases),
            "examples": list(examples),
            "together": list(together),
            "run": [(number, after, list(before)) for number, after, before in run],
            "seconds": seconds,
        }
    )


def read_result(data: bytes) -> Told:
    """Return what a result file tells, whatever is in it."""
    lines = data.decode("ascii", "replace").split("\n")
    if not lines or lines[0] != "driver 1":
        return Told({})
    outcomes: dict[tuple[int, bool], Outcome] = {}
    running: int | None = None
    unloaded = next((found for found in map(_UNLOADED.fullmatch, lines[1:2]) if found), None)
    for name, block in _blocks(lines[1:]):
        if name == "begun":
            running = int(block[0])
        else:
            number, outcome = _outcome(block)
            outcomes[number, outcome.after] = outcome
            running = None if running == number else running
    finished = "finished" in lines[-2:]
    raised = _raised(unloaded.groups()) if unloaded else None
    return Told(outcomes, "loaded" in lines[1:2], finished, None if finished else running, raised)


def _blocks(lines: Sequence[str]) -> Iterator[tuple[str, list[str]]]:
    """Yield the numbers of examples that were begun, and the lines of each that was told to its end."""
    block: list[str] | None = None
    for line in lines:
        begun = re.fullmatch(r"begun (\d{1,9})", line)
        if begun:
            block = None
            yield "begun", [begun[1]]
        elif _EXAMPLE.fullmatch(line):
            block = [line]
        elif block is not None:
            block.append(line)
            if line == f"end {block[0].split()[1]}":
                yield "example", block
                block = None


def _outcome(block: Sequence[str]) -> tuple[int, Outcome]:
    head = _EXAMPLE.fullmatch(block[0])
    assert head is not None
    outcome = Outcome(after=head[2] == "after", code=head[3])
    printed = _PRINTED.fullmatch(block[-2])
    records = [line for line in block[1:-2] if line]
    try:
        if printed is None:
            raise ValueError("no output")
        outcome.printed = _bytes(printed[2])
        outcome.printed_cut = int(printed[1]) > len(outcome.printed)
        for line in records:
            _read(line, outcome)
    except ValueError:
        outcome.problem = "it told its results in a wrong form"
    outcome.problem = outcome.problem or _problem(outcome)
    outcome.final = outcome.code == "late"
    return int(head[1]), outcome


def _problem(outcome: Outcome) -> str:
    if outcome.code == "late":
        return "it did not end within its time limit"
    if outcome.done and outcome.code in ("exit0", NAME_ERROR):
        return ""
    if not outcome.code.startswith("exit"):
        return "it told nothing of its end"
    code = int(outcome.code.removeprefix("exit"))
    how = f"signal {-code}" if code < 0 else f"exit code {code}"
    return f"it ended the interpreter ({how})"


def _read(line: str, outcome: Outcome) -> None:
    if not _RECORD.fullmatch(line) or outcome.done:
        raise ValueError(line)
    kind, *words = line.split(" ")
    if kind == "value":
        outcome.values.setdefault(int(words[0]), []).append(_shown(words[1:]))
    elif kind == "shown":
        outcome.displayed[int(words[0])] = _shown(words[1:])
    elif kind == "raised":
        outcome.raised[int(words[0])] = _raised(words[1:])
    else:
        _read_place(kind, [int(word) for word in words], outcome)


def _read_place(kind: str, numbers: Sequence[int], outcome: Outcome) -> None:
    if kind == "begin":
        outcome.begun.add(numbers[0])
    elif kind == "ended":
        outcome.ended.setdefault(numbers[0], []).append((numbers[1], numbers[2]))
    elif kind == "step":
        outcome.steps[numbers[0]] = (numbers[1], numbers[2])
    else:
        outcome.done = True


def _shown(words: Sequence[str]) -> Shown:
    return Shown(_text(words[0]), _text(words[1]), _text(words[2]), words[3] == "1")


def _raised(words: Sequence[str]) -> Raised:
    types = tuple(_text(words[2]).split(","))
    causes = [one.rpartition(":") for one in _text(words[5]).split(",")]
    return Raised(
        int(words[0]),
        words[1],
        types,
        _text(words[3]),
        _text(words[4]),
        tuple((name, int(number) if re.fullmatch(r"-?\d{1,9}", number) else None) for name, _, number in causes),
    )


def _bytes(word: str) -> bytes:
    if not _HEX.fullmatch(word):
        raise ValueError(word)
    return b"" if word == "-" else bytes.fromhex(word)


def _text(word: str) -> str:
    return _bytes(word).decode("utf-8", "replace")
