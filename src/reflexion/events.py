"""What a run tells about itself while it runs. Nodes emit events; ``report.py`` shows them; nothing else prints.

docs/events.md is made of the classes here and their docstrings.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Note:
    """Something the user should know, in one line."""

    text: str


@dataclass(frozen=True, slots=True)
class FileStarted:
    """Work on a source begins. ``index`` counts from 1 to ``count``, which is what is known by then."""

    source: str
    index: int
    count: int


@dataclass(frozen=True, slots=True)
class NodeStarted:
    """A step on a source begins: ``node`` is generate, verify, critique, adjudicate or settle.

    Of the code pipeline it is architect, vet, develop, test, debug or review. ``round`` counts from 1. ``model`` is ""
    for a step that is plain code. ``part`` names the lines of a large source that it is about, "" for a whole one.
    """

    source: str
    node: str
    round: int
    model: str = ""
    part: str = ""


@dataclass(frozen=True, slots=True)
class TokensReceived:
    """A model is answering: records so far, seconds since the call started, and the end of what it has written."""

    source: str
    node: str
    tokens: int
    elapsed_s: float
    tail: str = ""
    part: str = ""


@dataclass(frozen=True, slots=True)
class RoundScored:
    """A round was judged. ``score``, 0 to 100, is null when it is unscored, and ``trouble`` then says why.

    ``technical_accuracy`` and ``completeness`` are the critic's sub-scores, ``bar`` is what their average has to reach.
    ``contract`` and ``examples`` are code's own; null for what is not Python, and where no example ran. ``errors`` and
    ``warnings`` count what code found, ``fix`` is what the next round is asked to do.
    """

    source: str
    round: int
    technical_accuracy: int | None
    completeness: int | None
    contract: int | None
    score: int | None
    bar: int
    errors: int
    warnings: int
    fix: str
    trouble: str = ""
    examples: int | None = None
    part: str = ""


@dataclass(frozen=True, slots=True)
class Member:
    """A role of the code pipeline: its model, how it thinks ("" for a model that cannot), and what it is for."""

    role: str
    model: str
    thinking: str
    duty: str


@dataclass(frozen=True, slots=True)
class TeamAssembled:
    """Who works on the tasks of `reflexion code`, in the order of their work."""

    members: tuple[Member, ...]


@dataclass(frozen=True, slots=True)
class SuiteVetted:
    """Code judged the architect's tests. Where they are not ``sound``, ``reasons`` say why, and they are sent back."""

    source: str
    round: int
    sound: bool
    reasons: tuple[str, ...]
    specification: str
    tests: str


@dataclass(frozen=True, slots=True)
class CandidateProposed:
    """A developer or debugger answered with a module. ``trouble`` says why a reply could not be used, else it is ""."""

    source: str
    round: int
    role: str
    model: str
    diagnosis: str
    code: str
    trouble: str


@dataclass(frozen=True, slots=True)
class SuiteRan:
    """A candidate was tested: ``passes`` of ``total`` tests passed. Only ``passed`` is the verdict; ``reason`` says why
    not.

    ``mode`` is isolated (the tests ran in a process that never imported the candidate) or in-process. ``failing`` are
    the names of tests that did not pass, ``flags`` what the scan of the candidate does not let pass.
    """

    source: str
    round: int
    passed: bool
    reason: str
    total: int
    passes: int
    failing: tuple[str, ...]
    flags: tuple[str, ...]
    mode: str


@dataclass(frozen=True, slots=True)
class Reviewed:
    """The reviewer's words about the result, 150 at most; they change nothing. ``trouble`` says why there are none."""

    source: str
    text: str
    trouble: str = ""


@dataclass(frozen=True, slots=True)
class DiffShown:
    """What healing comes to: the unified diff from the module to its best candidate, "" when there is none.

    Where it is not ``verified``, the tests do not pass, and it is never written.
    """

    source: str
    diff: str
    verified: bool


@dataclass(frozen=True, slots=True)
class CodeFinished:
    """A task came to its end, just before its ``file_finished``.

    ``code`` is the best candidate, "" without any or where a diff was shown, and ``diagnosis`` why it is not verified.
    ``iterations`` counts the replies of developer and debuggers, ``seconds`` is the whole time, tokens are those of all
    calls.
    """

    source: str
    outcome: str
    code: str
    diagnosis: str
    iterations: int
    total: int
    passes: int
    failing: tuple[str, ...]
    mode: str
    seconds: float
    prompt_tokens: int
    reply_tokens: int


@dataclass(frozen=True, slots=True)
class FileFinished:
    """A source is done, or left for the next run: ``outcome`` is accepted, not accepted, failed or stopped.

    ``output`` is the page that was written, "" without one; ``detail`` says what else there is to say, such as why it
    failed. ``scores`` has one for each of the ``attempts`` rounds, null for a round without a score. ``stop`` says why
    there was no further round: approved, plateau, unscored, attempts spent, window too small or failed; of the code
    pipeline also tests pass, no gain in two rounds, the same code once more or unsound tests. ``model_s`` is the
    seconds and ``tokens`` the reply tokens of all calls.

    ``mended`` says line by line what code changed; ``repaired`` that it did, ``assembled`` that the page was put
    together from the facts and the prose that survived. ``examples`` says how many of the page's examples ran and why
    others did not ("" without any).
    """

    source: str
    outcome: str
    output: str
    scores: tuple[int | None, ...]
    attempts: int
    stop: str
    model_s: float
    tokens: int
    detail: str = ""
    mended: tuple[str, ...] = ()
    repaired: bool = False
    assembled: bool = False
    examples: str = ""


@dataclass(frozen=True, slots=True)
class RunFinished:
    """The run has ended; always the last line. ``exit_code`` is the command's own."""

    exit_code: int


CodeEvent = TeamAssembled | SuiteVetted | CandidateProposed | SuiteRan | Reviewed | DiffShown | CodeFinished
Event = Note | FileStarted | NodeStarted | TokensReceived | RoundScored | CodeEvent | FileFinished
Emit = Callable[[Event], None]


def name_of(kind: type) -> str:
    """Return what JSON lines call a kind of event: ``file_started`` for FileStarted."""
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "_", kind.__name__).lower()
