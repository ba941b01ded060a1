"""The words of a report that depend on the pipeline."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Words:
    """What a report calls things. ``bar`` and ``curve`` are sentences; ``%g`` in them is the bar.

    ``score`` is also what tables are about, ``round`` one attempt, ``result`` what was written, ``nothing`` what
    is said of a round without a draft.
    """

    bar: str
    curve: str
    scores: str
    score: str
    round: str
    result: str
    nothing: str


_CURVE = "A curve shows {} of each {}; the dashed line is the bar, and filled points reach it."
DOCS = Words(
    bar="The bar is %g of 100.",
    curve=_CURVE.format("the score", "round"),
    scores="Scores by round, from 0 to 100; the bar is %g.",
    score="Score",
    round="round",
    result="Page",
    nothing="none that could be used",
)
CODE = Words(
    bar="A module is accepted when all its tests pass.",
    curve=_CURVE.format("the share of tests that pass, in percent,", "candidate"),
    scores="Candidates, and the share of tests that pass, in percent.",
    score="Tests passed, %",
    round="candidate",
    result="Result",
    nothing="no module that could be tested",
)
