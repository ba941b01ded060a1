"""What tests that run suites have in common: hostile candidates, limits, and what a refusal looks like."""

from reflexion.suite.result import SuiteRun
from reflexion.suite.run import SUMMARY_LENGTH
from tests.suite.corpus import ENDLESS, hostile

HOSTILE = hostile()
LIMIT_S = 60.0  # of what ends by itself, on a machine that is busy
SHORT_S = 2.0
# In one process with the tests these pass, whatever canaries, counts and tokens say: only the scan stops them there.
ONLY_THE_SCAN = ("equal_to_all", "lying_dict")


def limit(name: str) -> float:
    return SHORT_S if name in ENDLESS else LIMIT_S


def refused(run: SuiteRun) -> None:
    assert not run.passed
    assert run.reason
    assert run.summary
    assert "\n" not in run.reason
    assert "/job" not in run.summary
    assert "\x1b" not in run.summary
    assert len(run.summary) <= SUMMARY_LENGTH + 100
