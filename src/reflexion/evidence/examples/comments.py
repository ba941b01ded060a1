"""Runs of comments: which lines belong together, literals over several of them, and their words for a swap. Pure."""

from collections.abc import Sequence

from reflexion.evidence.examples.places import Comment
from reflexion.evidence.examples.readings import Reading, read_comment


def runs_of(comments: Sequence[Comment]) -> list[list[Comment]]:
    """Join comment lines that follow each other; a trailing one goes on only where it is left open or aligned."""
    runs: list[list[Comment]] = []
    for comment in comments:
        last = runs[-1][-1] if runs else None
        follows = last is not None and last.line == comment.line - 1 and not comment.trailing
        if follows and _goes_on(runs[-1], comment):
            runs[-1].append(comment)
        else:
            runs.append([comment])
    return runs


def _goes_on(run: Sequence[Comment], comment: Comment) -> bool:
    first = run[0]
    if not first.trailing or comment.column == first.column:
        return True
    text = " ".join(one.text for one in run)
    return first.text.endswith(":") or _left_open(text)


def _left_open(text: str) -> bool:
    return sum(map(text.count, "[{(")) > sum(map(text.count, "]})"))


def literal_over(texts: Sequence[str], printing: bool) -> Reading | None:
    """Return a literal that begins in a comment and ends in a later one, or None."""
    below = len(texts) > 1 and texts[0].endswith(":") and texts[1][:1] in "[{("
    if not below and not _left_open(texts[0]):
        return None
    for end in range(2, min(len(texts), 60) + 1):
        reading = read_comment("\n".join(texts[:end]), printing=printing)
        if reading is not None and reading.certainty in ("sure", "bare") and not reading.open:
            text = " ".join(reading.text.split()) if reading.text[:1] in "[{(" else reading.text
            return Reading(text, reading.kind, reading.certainty, reading.loose, reading.subject)
    return None


def words_of(reading: Reading, comment: Comment, run: Sequence[Comment]) -> tuple[str, str]:
    """Return the document's words that a real output could replace, and what further lines begin with."""
    lines = [one.whole for one in run]
    if len(lines) < 2:
        return (reading.text if reading.text in comment.whole else ""), ""
    prefix = lines[1][: len(lines[1]) - len(lines[1].lstrip("# \t"))]
    bracket = reading.text[:1] in "[{(" and reading.text not in lines[0] and "\n" not in reading.text
    begun = lines[0].find(reading.text[:1] if bracket else reading.text.partition("\n")[0])
    if reading.open or begun < 0:
        return "\n".join([lines[1].removeprefix(prefix), *lines[2:]]), prefix
    return "\n".join([lines[0][begun:], *lines[1:]]), prefix
