"""What tests of the doctor have in common: its report, read back, and models that answer its two calls."""

import json
from collections.abc import Iterable

from pydantic import TypeAdapter

from reflexion.doctor.report import Check, Report
from tests.ollama_double import OllamaDouble, reply
from tests.support import MODELS, CommandLine

READER = TypeAdapter(Report)
NUMBER = '{"number": 7}'


def script_calls(double: OllamaDouble, names: Iterable[str] = tuple(MODELS.values())) -> None:
    """What a healthy model says: one token of more (asked for twice, as it was cut), then an answer in the schema."""
    for name in names:
        double.script(name, reply("Yes", done_reason="length"), reply("Yes!", done_reason="length"), reply(NUMBER))


def report_of(command: CommandLine, *args: str) -> Report:
    """The report of ``reflexion doctor``, read as strictly as its schema says."""
    ended = command.run("doctor", "--format", "json", *args)
    assert ended.err == ""
    report = READER.validate_json(ended.out, strict=True)
    assert report.exit_code == ended.code
    assert json.loads(ended.out).keys() == Report.__dataclass_fields__.keys()
    assert "this is a bug" not in ended.out
    return report


def found(report: Report, check: str, subject: str = "") -> Check:
    """The check of that name that is worst."""
    order = ("error", "warning", "note", "ok")
    same = [one for one in report.checks if (one.check, one.subject) == (check, subject)]
    return min(same, key=lambda one: order.index(one.level))
