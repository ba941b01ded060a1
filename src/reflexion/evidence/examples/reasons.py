"""Why an exception says nothing about the document: a network, a file or a package that is not there. Pure."""

import ast
import errno
import re
import sys
from collections.abc import Iterator

from reflexion.evidence.examples.imports import SourceNames
from reflexion.evidence.examples.plan import Plan
from reflexion.evidence.examples.protocol import Raised
from reflexion.patterns import regex

_NETWORK_TYPES = frozenset(
    {"gaierror", "herror", "URLError", "ConnectError", "ConnectTimeout", "NewConnectionError", "MaxRetryError",
     "ConnectionRefusedError", "ConnectionResetError", "NetworkError", "ServerNotFoundError", "ClientConnectorError"}
)  # fmt: skip
_NETWORK_NUMBERS = frozenset(
    {errno.ENETUNREACH, errno.EHOSTUNREACH, errno.ECONNREFUSED, errno.EADDRNOTAVAIL, errno.ENETDOWN, errno.ETIMEDOUT,
     errno.ECONNRESET, errno.EAFNOSUPPORT, errno.EPROTONOSUPPORT, errno.EDESTADDRREQ, errno.EHOSTDOWN}
)  # fmt: skip
_FILE_TYPES = frozenset(
    {"FileNotFoundError", "IsADirectoryError", "NotADirectoryError", "FileExistsError", "PermissionError"}
)
_LIMIT_NUMBERS = {
    errno.EFBIG: "it prints or writes more than is kept",
    errno.ENOSPC: "it fills its private folder",
    errno.EDQUOT: "it fills its private folder",
    errno.EAGAIN: "it starts more processes than are allowed",
    errno.ENOMEM: "it needs more memory than is allowed",
    errno.EMFILE: "it opens more files than are allowed",
}
# Names that pages use for what readers have themselves.
_PLACEHOLDER = regex(r"^_*(?:my|your|some|any)_|^(?:My|Your|Some)[A-Z]|^do_(?:some_?thing|work|stuff|things)")
_FILE = regex(r"^[\w.~/\\-]*(?:/[\w.~-]+|[\w-]\.[A-Za-z]\w{0,4})$")


def why_not_run(raised: Raised, plan: Plan, source: SourceNames) -> str | None:
    """Return why an unannounced exception is no fault of the document, or None where it is one."""
    checks = (_of_limits, _of_streams, _of_network, _of_files)
    for check in checks:
        reason = check(raised, plan)
        if reason is not None:
            return reason
    if raised.is_a("ModuleNotFoundError"):
        return _of_package(raised, source)
    if raised.types[0] == "builtins.NameError" and raised.origin == "example":
        return _of_name(raised.name, plan, source)
    return None


def _of_limits(raised: Raised, plan: Plan) -> str | None:
    if raised.is_a("MemoryError"):
        return "it needs more memory than is allowed"
    if raised.is_a("SystemExit", "KeyboardInterrupt"):
        return f"it ended the interpreter ({raised.last_line})"
    if raised.is_a("SyntaxError") and raised.origin == "example":
        return "the sandbox's Python cannot read it"
    if "can't start new thread" in raised.message:
        return "it starts more processes than are allowed"
    return next((_LIMIT_NUMBERS[number] for _, number in raised.causes if number in _LIMIT_NUMBERS), None)


def _of_streams(raised: Raised, plan: Plan) -> str | None:
    asks = (
        "reading a line" in raised.message
        or raised.message.startswith("input():")
        or "lost sys.stdin" in raised.message
    )
    return "it reads standard input" if asks else None


def _of_network(raised: Raised, plan: Plan) -> str | None:
    for name, number in raised.causes:
        last = name.rpartition(".")[2]
        # What the source raises itself has no number: that is its own word, not the network's.
        own = last.startswith("Connection") and number is None and raised.origin == "source"
        if (last in _NETWORK_TYPES and not own) or number in _NETWORK_NUMBERS:
            return "it needs a network"
        if number in (errno.EPERM, errno.EACCES) and last == "PermissionError" and _uses_sockets(plan):
            return "it needs a network"
    return None


def _uses_sockets(plan: Plan) -> bool:
    return any(re.search(r"\b(?:socket|http|urllib|requests|httpx|server|connect)", step.code) for step in plan.steps)


def _of_files(raised: Raised, plan: Plan) -> str | None:
    for name, number in raised.causes:
        if name.rpartition(".")[2] in _FILE_TYPES and number is not None:
            return f"it needs a file that is not there ({raised.last_line[:160]})"
    named = next((name for name in _files_named(plan) if name in raised.message), None)
    return f"it needs the file {name_of(named)}" if named and _is_about_absence(raised.message) else None


def name_of(text: str) -> str:
    """Return a file's name short enough to be told."""
    return text if len(text) <= 80 else f"...{text[-77:]}"


def _is_about_absence(message: str) -> bool:
    return (
        re.search(
            r"not found|no such|does(?:n't| not) exist|missing|cannot (?:be )?(?:open|read)", message, re.IGNORECASE
        )
        is not None
    )


def _files_named(plan: Plan) -> Iterator[str]:
    for node in ast.walk(plan.tree) if plan.tree else ():
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and _FILE.match(node.value):
            yield node.value


def _of_package(raised: Raised, source: SourceNames) -> str | None:
    root = raised.name.partition(".")[0]
    own = source.module.partition(".")[0]
    if root == own and raised.message.endswith("is not a package"):
        return None
    if root in sys.stdlib_module_names:
        # A module of another system (winreg) or an older Python; a part of one that nobody has is a fault.
        return f"it needs the module {root}, which this Python lacks" if root == raised.name else None
    return f"it needs the package {raised.name}, which is not installed here"


def _of_name(name: str, plan: Plan, source: SourceNames) -> str | None:
    called = name in _called(plan)
    if called and name not in source.all and name not in plan.page_names and not _PLACEHOLDER.match(name):
        return None
    return f"it needs `{name}`, which the page does not define before it"


def _called(plan: Plan) -> frozenset[str]:
    return frozenset(
        node.func.id
        for node in (ast.walk(plan.tree) if plan.tree else ())
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
    )
