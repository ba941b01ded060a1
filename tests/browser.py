"""A real Chromium, driven over the pipe that it offers for that (``--remote-debugging-pipe``).

The protocol is one JSON object after another, each ended by a zero byte, so this needs no package: the packages there
are bring a browser of their own, or need a second program beside it.
"""

import base64
import contextlib
import fcntl
import json
import os
import select
import shutil
import signal
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NoReturn

import pytest

# The protocol's own numbers of the descriptors from which Chromium reads and to which it writes.
BROWSER_READS, BROWSER_WRITES = 3, 4
FLAGS = (
    "--headless",
    "--remote-debugging-pipe",
    "--no-first-run",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--disable-extensions",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--hide-scrollbars",
)
Sizes = tuple[int, int]


def missing(reason: str) -> NoReturn:
    """End the test: failed where CI is "true", skipped elsewhere."""
    if os.environ.get("CI") == "true":
        pytest.fail(reason)
    pytest.skip(reason)


def find_chromium() -> str:
    """The program, or the end of the test."""
    found = shutil.which("chromium") or shutil.which("chromium-browser")
    return found or missing("no Chromium on PATH (Debian: apt-get install chromium)")


class Chromium:
    """One browser process. Commands are those of the Chrome DevTools Protocol."""

    def __init__(self, program: str, folder: Path, deadline_s: float = 60.0) -> None:
        """Start ``program`` with its profile in ``folder``. A command that takes longer than the deadline fails."""
        self._deadline_s = deadline_s
        self._last_id = 0
        self._buffer = b""
        self.events: list[dict[str, Any]] = []
        command_out, self._out = _pipe()
        self._in, reply_in = _pipe()
        as_root = ["--no-sandbox"] if os.geteuid() == 0 else []
        arguments = [program, *FLAGS, *as_root, f"--user-data-dir={folder / 'profile'}", "about:blank"]
        log = str(folder / "chromium.log")
        self._pid = os.posix_spawn(
            program,
            arguments,
            os.environ | {"HOME": str(folder)},
            file_actions=[
                (os.POSIX_SPAWN_OPEN, 1, log, os.O_WRONLY | os.O_CREAT, 0o600),
                (os.POSIX_SPAWN_DUP2, 1, 2),
                (os.POSIX_SPAWN_DUP2, command_out, BROWSER_READS),
                (os.POSIX_SPAWN_DUP2, reply_in, BROWSER_WRITES),
            ],
            setsid=True,
        )
        os.close(command_out)
        os.close(reply_in)

    def close(self) -> None:
        """End the browser and every process that it started."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self._pid, signal.SIGKILL)
        os.waitpid(self._pid, 0)
        os.close(self._in)
        os.close(self._out)

    def ask(self, method: str, session: str = "", **parameters: object) -> dict[str, Any]:
        """Send a command and return its result; events that come before it are kept. Fails the test on an error."""
        self._last_id += 1
        message = {"id": self._last_id, "method": method, "params": parameters}
        if session:
            message["sessionId"] = session
        self._send(json.dumps(message).encode() + b"\0")
        until = time.monotonic() + self._deadline_s
        while True:
            answer = self._receive(until)
            if answer.get("id") == self._last_id:
                assert "error" not in answer, f"{method}: {answer['error']}"
                result: dict[str, Any] = answer["result"]
                return result
            self.events.append(answer)

    def wait_for(self, method: str, session: str) -> None:
        """Return when the session has had this event."""
        until = time.monotonic() + self._deadline_s
        while not any(item["method"] == method and item.get("sessionId") == session for item in self.events):
            self.events.append(self._receive(until))

    def _send(self, data: bytes) -> None:
        while data:
            data = data[os.write(self._out, data) :]

    def _receive(self, until: float) -> dict[str, Any]:
        while b"\0" not in self._buffer:
            ready, _, _ = select.select([self._in], [], [], max(0.0, until - time.monotonic()))
            assert ready, f"Chromium said nothing for {self._deadline_s} s"
            piece = os.read(self._in, 1 << 20)
            assert piece, "Chromium has ended"
            self._buffer += piece
        line, _, self._buffer = self._buffer.partition(b"\0")
        message: dict[str, Any] = json.loads(line)
        return message


def _pipe() -> tuple[int, int]:
    """A pipe whose ends are far from the numbers that the browser wants to have."""
    ends = os.pipe()
    moved = [fcntl.fcntl(end, fcntl.F_DUPFD_CLOEXEC, 10) for end in ends]
    for end in ends:
        os.close(end)
    return moved[0], moved[1]


class Tab:
    """One page in the browser, as large and as light or dark as was asked for."""

    def __init__(self, browser: Chromium, address: str, size: Sizes, scheme: str, *, scripts: bool = True) -> None:
        self._browser = browser
        self._target = browser.ask("Target.createTarget", url="about:blank")["targetId"]
        self.session = browser.ask("Target.attachToTarget", targetId=self._target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.ask(f"{domain}.enable")
        self.resize(size)
        self.ask("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])
        self.ask("Emulation.setScriptExecutionDisabled", value=not scripts)
        started = time.monotonic()
        self.ask("Page.navigate", url=address)
        browser.wait_for("Page.loadEventFired", self.session)
        self.load_s = time.monotonic() - started

    def ask(self, method: str, **parameters: object) -> dict[str, Any]:
        return self._browser.ask(method, self.session, **parameters)

    def resize(self, size: Sizes) -> None:
        width, height = size
        self.ask(
            "Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=width < 600
        )

    def value(self, expression: str) -> Any:  # noqa: ANN401  # Whatever JavaScript has.
        """The value of a JavaScript expression in the page."""
        answer = self.ask("Runtime.evaluate", expression=expression, returnByValue=True)
        assert "exceptionDetails" not in answer, answer["exceptionDetails"]
        return answer["result"].get("value")

    def press(self, *keys: str) -> None:
        """Press keys, one after another, as a person does."""
        for key in keys:
            text = {"text": "\r"} if key == "Enter" else {}
            self.ask("Input.dispatchKeyEvent", type="keyDown", key=key, code=key, **KEY_CODES[key], **text)
            self.ask("Input.dispatchKeyEvent", type="keyUp", key=key, code=key, **KEY_CODES[key])

    def screenshot(self, path: Path) -> None:
        """What is in view, as a PNG image."""
        path.write_bytes(base64.b64decode(self.ask("Page.captureScreenshot", format="png")["data"]))

    def print(self, path: Path) -> None:
        answer = self.ask("Page.printToPDF", printBackground=False)
        path.write_bytes(base64.b64decode(answer["data"]))

    @property
    def requests(self) -> list[str]:
        """Addresses that the page asked for, its own included."""
        return [item["params"]["request"]["url"] for item in self._events("Network.requestWillBeSent")]

    @property
    def answered(self) -> list[str]:
        """Addresses from which something came."""
        return [item["params"]["response"]["url"] for item in self._events("Network.responseReceived")]

    @property
    def complaints(self) -> list[str]:
        """What a developer would see in the console: messages, exceptions, refusals by the policy."""
        said = self._events("Runtime.consoleAPICalled", "Runtime.exceptionThrown", "Log.entryAdded")
        return [json.dumps(item["params"])[:1_000] for item in said]

    def _events(self, *methods: str) -> list[dict[str, Any]]:
        # A command sent now is answered after everything that happened before.
        self.ask("Runtime.evaluate", expression="0")
        events = self._browser.events
        return [item for item in events if item.get("sessionId") == self.session and item["method"] in methods]

    def close(self) -> None:
        self._browser.ask("Target.closeTarget", targetId=self._target)


KEY_CODES: dict[str, dict[str, int]] = {
    "Tab": {"windowsVirtualKeyCode": 9},
    "Enter": {"windowsVirtualKeyCode": 13},
}


@contextlib.contextmanager
def running_chromium(folder: Path) -> Iterator[Chromium]:
    """A browser whose profile lies in ``folder``; the end of the test where there is none."""
    browser = Chromium(find_chromium(), folder)
    try:
        yield browser
    finally:
        browser.close()
