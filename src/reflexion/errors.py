"""Every error that reflexion raises on purpose, and the exit code that it maps to.

::

    ReflexionError
    ├── UsageError ................ 2  what was asked for cannot be used
    │   ├── ConfigError                the configuration or a prompt file
    │   ├── InputError                 a source, a document or an output path
    │   └── SandboxUnavailable         the sandbox that was asked for does not work here
    ├── SandboxError .............. 4  the sandbox itself failed, which says nothing about the code in it
    ├── ServerError ............... 3  the model server
    │   ├── ServerUnreachable          refused, reset, or never answered a connection
    │   ├── NotOllama                  something answered that does not speak the protocol
    │   ├── ModelMissing               a role's model is not installed
    │   └── PullBroken                 fetching a model ended early; asked again, the server goes on where it was
    ├── Cancelled ................. 130  asked to stop; what was not finished can be taken up again
    ├── BudgetSpent ............... 4  the run's seconds or tokens are used up; a higher limit takes up the rest
    └── CallFailed ................ 4  one model call, and so one file
        ├── ServerFault                the server answered with an error (out of memory, bad option, ...)
        ├── DeadlineExceeded           first token, idle gap or total time
        ├── ReplyRejected              a reply came, and must not be used
        │   ├── ReplyCut               the token limit ended it (done_reason "length")
        │   ├── ReplyEmpty             no text outside of thinking
        │   ├── ReplyRunaway           endless repetition, ended by us
        │   └── StreamBroken           it ended without its final record
        └── PromptTooLarge             does not fit the window, or the server cut it

An error's text is one line that says what, where and what to do.
"""

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar


class ReflexionError(Exception):
    """Base of the tree. ``exit_code`` is what the command line ends with (docs/architecture.md, Outcomes)."""

    exit_code: ClassVar[int] = 4
    rounds: Sequence[Mapping[str, Any]] = ()
    """Rounds of drafting that were finished before the error, for the record; work is never thrown away."""


class UsageError(ReflexionError):
    """What was asked for cannot be used: command line, configuration or input."""

    exit_code = 2


class ConfigError(UsageError):
    """A configuration or prompt file that cannot be used; the text names the file and the key."""


class InputError(UsageError):
    """A source, document or output path that cannot be used; the text names the path."""


class SandboxUnavailable(UsageError):
    """The sandbox that was asked for does not work on this machine, or is switched off; the text says why."""


class SandboxError(ReflexionError):
    """The sandbox itself failed. That says nothing about the code that it was to run: no finding, and no pass."""


class ServerError(ReflexionError):
    """The model server is not there, went away for good, or lacks a model."""

    exit_code = 3


class ServerUnreachable(ServerError):
    """No connection to the server, after the retries that a passing fault is worth."""


class NotOllama(ServerError):
    """Something answered that does not speak Ollama's protocol, such as a proxy's HTML page."""


class ModelMissing(ServerError):
    """A role's model is not installed; the text holds the command that installs it."""


class PullBroken(ServerError):
    """Fetching a model ended early in a way that asking again may mend."""


class Cancelled(ReflexionError):
    """The run was asked to stop, so this file was not finished; it can be taken up again."""

    exit_code = 130


class BudgetSpent(ReflexionError):
    """The run's seconds or tokens are used up in the middle; what is finished stays, and the rest can be taken up."""


class CallFailed(ReflexionError):
    """One model call failed, which fails one file and nothing else."""


class ServerFault(CallFailed):
    """The server answered with an error that a retry cannot mend."""


class DeadlineExceeded(CallFailed):
    """A call overran its first-token, idle or total deadline and was ended by us."""


class ReplyRejected(CallFailed):
    """A reply came that must not be used. ``text`` is what had arrived of it."""

    def __init__(self, message: str, text: str = "") -> None:
        super().__init__(message)
        self.text = text


class ReplyCut(ReplyRejected):
    """The token limit ended the reply: ``done_reason`` was "length"."""


class ReplyEmpty(ReplyRejected):
    """The reply holds no text outside of thinking."""


class ReplyRunaway(ReplyRejected):
    """The reply repeated itself without end and was cut by us."""


class StreamBroken(ReplyRejected):
    """The stream ended without its final record, so nothing says that the text is whole."""


class PromptTooLarge(CallFailed):
    """The prompt does not fit the model's window with room for a reply, or the server cut it in silence."""
