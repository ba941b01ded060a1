"""All checks in their order. The sandbox is tried while the server is asked: both are waiting, mostly."""

import contextlib
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from reflexion import __version__
from reflexion.config import LoadedConfig, SandboxSettings
from reflexion.doctor.machine import check_output, check_parts, check_program, check_sandbox
from reflexion.doctor.report import Check, Report, make_report
from reflexion.doctor.settings import check_address, check_config, check_prompts, other_addresses
from reflexion.errors import ReflexionError
from reflexion.prompts import Prompts
from reflexion.serving import server_for


class Asked(NamedTuple):
    """What the command line asks for. ``overrides`` returns settings in the nesting of config.json; it may raise
    UsageError.
    """

    config: Path | None = None
    overrides: Callable[[], Mapping[str, Any]] = dict
    output: Path = Path("output")
    calls: bool = True
    require_examples: bool = False


def examine(asked: Asked, environ: Mapping[str, str]) -> Report:
    """Look at everything. Raises nothing: whatever is wrong is a check of the report."""
    begun = time.monotonic()
    loaded, checks = check_config(asked.config, asked.overrides, environ)
    checks.insert(0, check_program())
    settings = loaded.config.sandbox if loaded else SandboxSettings()
    aside = _Aside("sandbox", lambda: check_sandbox(settings, required=asked.require_examples))
    if loaded is None:
        checks.append(Check("server", "note", "not asked: the configuration does not say where it is"))
    else:
        prompts, check = check_prompts(loaded)
        checks.append(check)
        checks += _guarded("server", lambda: _check_server(asked, loaded, prompts, environ))
    checks += aside.result()
    engine = loaded.config.server.engine if loaded else "ollama"
    checks += _guarded("package", lambda: check_parts(engine))
    checks += _guarded("output", lambda: check_output(asked.output))
    return make_report(__version__, checks, time.monotonic() - begun)


def _check_server(
    asked: Asked, loaded: LoadedConfig, prompts: Prompts | None, environ: Mapping[str, str]
) -> Iterator[Check]:
    from reflexion.doctor.served import check_served

    embedded = loaded.config.server.engine == "embedded"
    others = {} if embedded else other_addresses(loaded, environ)
    if not embedded:
        yield from check_address(loaded, environ)
    with contextlib.ExitStack() as held:
        try:
            config, base_url = held.enter_context(server_for(loaded, lambda _: None))
        except ReflexionError as error:
            yield Check("server", "error", str(error), "reflexion models pull --engine embedded", exit_code=3)
            return
        served = check_served(config, base_url, others, prompts)
        yield from served.checks
        if asked.calls and served.reached:
            from reflexion.doctor.calls import check_calls

            yield from check_calls(config, base_url, served.fits)


def _guarded(name: str, checks: Callable[[], Iterable[Check]]) -> list[Check]:
    """Return the checks, up to the first surprise, which is a check of its own."""
    found: list[Check] = []
    try:
        for check in checks():
            found.append(check)  # noqa: PERF402 (those before a surprise are kept)
    except Exception as error:  # noqa: BLE001 (a surprise in one part must not hide what the others have to say)
        message = f"this is a bug, please report it: {type(error).__name__}: {' '.join(str(error).split())}"
        code = error.exit_code if isinstance(error, ReflexionError) else 4
        found.append(Check(name, "error", message, "reflexion doctor --format json", exit_code=code))
    return found


class _Aside:
    """Checks that run in a thread of their own."""

    def __init__(self, name: str, checks: Callable[[], Iterable[Check]]) -> None:
        self._found: list[Check] = []
        self._thread = threading.Thread(target=lambda: self._found.extend(_guarded(name, checks)), daemon=True)
        self._thread.start()

    def result(self) -> list[Check]:
        """Wait for them, and return them."""
        self._thread.join()
        return self._found
