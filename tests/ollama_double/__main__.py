"""``python -m tests.ollama_double --script FILE.json``: the double as a process of its own.

The file holds ``{"models": {NAME: {"context_length": 8192, ...}}, "replies": {NAME: [REPLY, ...]}}``. A reply is a
text, or an object whose ``kind`` names one of the package's reply kinds and whose other keys are its arguments.
Prints the URL as its first line, serves until SIGTERM, and ends with 1 when a script ran out.
"""

import argparse
import json
import signal
import sys
from pathlib import Path
from typing import Any

from tests.ollama_double import KINDS, Act, ModelInfo, OllamaDouble, reply


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.ollama_double", description=__doc__)
    parser.add_argument("--script", type=Path, required=True, help="the JSON file with models and replies")
    parser.add_argument("--port", type=int, default=0, help="loopback port; 0 takes a free one")
    parser.add_argument("--repeat-last", action="store_true", help="play the last reply of a script again and again")
    parser.add_argument("--record", type=Path, help="append every chat body to this file, one JSON line each")
    parser.add_argument("--max-loaded", type=int, help="how many models fit in memory together")
    parser.add_argument("--load-s", type=float, default=0.0, help="seconds that one load takes")
    return parser.parse_args()


def act_from(entry: str | dict[str, Any]) -> Act:
    """A reply of the script file."""
    if isinstance(entry, str):
        return reply(entry)
    rest = dict(entry)
    return KINDS[rest.pop("kind", "reply")](**rest)


def model_from(entry: dict[str, Any]) -> ModelInfo:
    """A model of the script file."""
    capabilities = tuple(entry.get("capabilities", ModelInfo.capabilities))
    return ModelInfo(**{**entry, "capabilities": capabilities})


def main() -> int:
    asked = arguments()
    wanted = json.loads(asked.script.read_text(encoding="utf-8"))
    models = {name: model_from(entry) for name, entry in wanted.get("models", {}).items()}
    models |= {name: ModelInfo() for name in wanted.get("replies", {}) if name not in models}
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM, signal.SIGINT})
    with OllamaDouble(
        models,
        port=asked.port,
        max_loaded=asked.max_loaded,
        load_s=asked.load_s,
        repeat_last=asked.repeat_last,
        record=asked.record,
    ) as double:
        for name, entries in wanted.get("replies", {}).items():
            double.script(name, *map(act_from, entries))
        sys.stdout.write(double.base_url + "\n")
        sys.stdout.flush()
        signal.sigwait({signal.SIGTERM, signal.SIGINT})
        for failure in double.failures:
            sys.stderr.write(f"{failure}\n")
        return 1 if double.failures else 0


if __name__ == "__main__":
    sys.exit(main())
