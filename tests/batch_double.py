"""Models for whole batches: their replies are pure functions of the request, so any order of calls gives one result.

As a process of its own, with the memory of a small machine: ``python -m tests.batch_double --help``. It prints its URL
as its first line, serves until SIGTERM, and then prints what it was asked as one line of JSON.
"""

import argparse
import json
import random
import re
import signal
import sys
from pathlib import Path
from typing import Any

from tests.ollama_double import Act, ModelInfo, OllamaDouble, Request, reply
from tests.support import MODELS, PAGE, SOURCE

Body = dict[str, Any]
MOST_ROUNDS = 4
PIECES = 5
_NAME = re.compile(r"Add numbers of (m\d+)\.")
_EDITION = re.compile(r"edition (I+)\.")


def write_sources(folder: Path, count: int, per_folder: int = 100) -> list[Path]:
    """Write ``count`` small modules, each with a name of its own in it, and return their paths in order."""
    paths = []
    for number in range(count):
        name = f"m{number:05d}"
        path = folder / f"part{number // per_folder:03d}" / f"{name}.py"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(SOURCE.replace("Add numbers.", f"Add numbers of {name}."), encoding="utf-8")
        paths.append(path)
    return paths


def rounds_of(name: str) -> int:
    """How many rounds the critic wants of a module: one to four, four most often."""
    return random.Random(name).choice((1, 2, 3, 4, 4))


def name_in(body: Body) -> str:
    """The module that a request is about, by the source in its prompt."""
    found = _NAME.search(_texts(body))
    assert found is not None
    return found[1]


class Replies:
    """What the three models say. ``call_s`` is what one call takes; the critic wants ``rounds_of`` rounds of a module,
    within ``least_rounds`` and ``most_rounds``. ``steadily``: they write all the time, as models do, and do not think
    all the time and then say all at once.
    """

    def __init__(
        self, call_s: float = 0.0, most_rounds: int = MOST_ROUNDS, least_rounds: int = 1, *, steadily: bool = False
    ) -> None:
        self.call_s = call_s
        self.steadily = steadily
        self.most_rounds = most_rounds
        self.least_rounds = least_rounds

    def script(self, double: OllamaDouble) -> None:
        """Give each model of the double its function, for any number of calls."""
        for model, say in zip(MODELS.values(), (self.generator, self.critic, self.adjudicator), strict=True):
            double.script(model, say)

    def generator(self, body: Body) -> Act:
        """A good page, another edition each round."""
        edition = "I" * (1 + sum(message["role"] == "assistant" for message in body["messages"]))
        return self._say(page_of(name_in(body), edition))

    def critic(self, body: Body) -> Act:
        """98 once there were rounds enough, else a little more than for the round before."""
        editions = _EDITION.findall(_texts(body))
        wanted = max(self.least_rounds, min(rounds_of(name_in(body)), self.most_rounds))
        number = len(editions[-1])
        score = 98 if number >= wanted else 60 + number
        fix = f"Say more about b, {number}."
        return self._say(json.dumps({"technical_accuracy": score, "completeness": score, "single_critical_fix": fix}))

    def adjudicator(self, body: Body) -> Act:
        """The page that it was given, as the last edition."""
        return self._say(page_of(name_in(body), "X"))

    def _say(self, text: str) -> Act:
        if not self.steadily:
            return reply(text, wait_s=self.call_s)
        return reply(text, gap_s=self.call_s / PIECES, chunk=-(-len(text) // PIECES))


def page_of(name: str, edition: str) -> str:
    """A good page that names its module."""
    return PAGE.replace("A module that adds numbers.", f"A module that adds numbers of {name}, edition {edition}.")


class BatchDouble(OllamaDouble):
    """A double that keeps counts of its requests instead of the requests: ten thousand files fill no memory."""

    asked = 0

    def note(self, request: Request) -> None:
        """Count a chat; its body is not kept."""
        if request.path == "/api/chat":
            with self._lock:
                self.asked += 1

    def told(self) -> Body:
        """What it was asked: chats, and loads."""
        return {"chats": self.asked, "loads": len(self.loads)}


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.batch_double", description=__doc__)
    parser.add_argument("--call-s", type=float, default=0.0, help="seconds that one call takes")
    parser.add_argument("--load-s", type=float, default=0.0, help="seconds that one load takes")
    parser.add_argument("--max-loaded", type=int, help="how many models fit in memory together")
    parser.add_argument("--most-rounds", type=int, default=MOST_ROUNDS, help="rounds that the critic wants at most")
    parser.add_argument("--least-rounds", type=int, default=1, help="rounds that the critic wants at least")
    asked = parser.parse_args()
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM, signal.SIGINT})
    models = {name: ModelInfo() for name in MODELS.values()}
    with BatchDouble(models, max_loaded=asked.max_loaded, load_s=asked.load_s, repeat_last=True) as double:
        Replies(asked.call_s, asked.most_rounds, asked.least_rounds).script(double)
        _print(double.base_url)
        signal.sigwait({signal.SIGTERM, signal.SIGINT})
        _print(json.dumps(double.told()))
        for failure in double.failures:
            sys.stderr.write(f"{failure}\n")
        return 1 if double.failures else 0


def _print(line: str) -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


def _texts(body: Body) -> str:
    return "\n".join(message["content"] for message in body["messages"])


if __name__ == "__main__":
    sys.exit(main())
