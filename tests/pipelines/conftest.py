"""The command line of pipeline tests: a double behind it and one source beside it."""

from pathlib import Path

import pytest

from tests.ollama_double import OllamaDouble
from tests.support import CommandLine


@pytest.fixture
def cli(tmp_path: Path, capsys: pytest.CaptureFixture[str], ollama_double: OllamaDouble) -> CommandLine:
    """``reflexion`` in a folder with a config.json for the double and the source add.py."""
    line = CommandLine(tmp_path, capsys)
    line.configure(ollama_double.base_url)
    line.source()
    return line
