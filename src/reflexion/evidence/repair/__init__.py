"""Repair: code mends what code can prove wrong, keeps every true word, and says what it did.

Edits are proposed for each error, the most conservative first; ``verify`` decides which of them stay. A page without
errors comes back as it is, byte for byte.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from reflexion.evidence.assemble import assemble_page
from reflexion.evidence.facts import Facts
from reflexion.evidence.finding import Check, Finding
from reflexion.evidence.repair.search import State, search
from reflexion.evidence.rules.prose_catalogue import EMPTY
from reflexion.evidence.verify import by_gravity

__all__ = ["Repaired", "repair"]


@dataclass(frozen=True, slots=True)
class Repaired:
    """A page after repair.

    ``findings`` still stand in ``text``. ``mended`` has one line for each change, for people: where (the line in the
    page as it was) and what. ``assembled`` is True where no edit helped and the page was written anew from the facts
    and the prose that survives.
    """

    text: str
    findings: tuple[Finding, ...]
    mended: tuple[str, ...]
    assembled: bool = False


def repair(document: str, facts: Facts | None, check: Check) -> Repaired:
    """Mend the errors that ``check`` (``verify``, bound to a source) finds in a document.

    With ``facts`` no error is left. Without them only what rules about text find is mended, as far as that goes. A
    mended page has LF line ends and one at its end. Raises what ``check`` raises.
    """
    found = check(document)
    if not _errors(found):
        return Repaired(document, tuple(found), ())
    if facts is not None and any(finding.rule == EMPTY.code for finding in _errors(found)):
        return _assembled(document, facts, check, ())
    state = search(_normal(document), facts, check, by_gravity)
    if facts is not None and state.errors:
        return _assembled(state.draft.text, facts, check, _told(state))
    text = _normal(state.draft.text)
    return Repaired(text, tuple(state.findings if text == state.draft.text else check(text)), _told(state))


def _assembled(document: str, facts: Facts, check: Check, told: tuple[str, ...]) -> Repaired:
    text = assemble_page(document, facts, check)
    said = "the page was written anew from the source, with the prose that survives"
    return Repaired(text, tuple(check(text)), (*told, said), assembled=True)


def _told(state: State) -> tuple[str, ...]:
    ordered = sorted(state.mended, key=lambda one: one[0])
    return tuple(dict.fromkeys(f"line {line}: {what}" for line, what in ordered))


def _errors(findings: Sequence[Finding]) -> list[Finding]:
    return [finding for finding in findings if finding.level == "error"]


def _normal(document: str) -> str:
    text = document.replace("\r\n", "\n").replace("\r", "\n")
    return text.strip("\n") + "\n"
