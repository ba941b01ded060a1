"""What of the standard library a candidate may use: nothing that leads to the interpreter, to files or to processes.

A module lets nothing through but its public names (its ``__all__``, else what has no underscore and is no module), less
what is refused below. Some have a list of their own, since most of their names lead further than a solution needs.
"""

import functools
import importlib
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import ModuleType

# Everything public, but for what is named.
_WHOLE: dict[str, frozenset[str]] = {
    **dict.fromkeys(
        [
            *("math", "cmath", "re", "collections", "collections.abc", "itertools", "heapq"),
            *("bisect", "decimal", "fractions", "statistics", "random", "abc", "hashlib", "textwrap"),
            *("unicodedata", "json", "queue", "datetime", "calendar", "zoneinfo", "base64", "binascii", "struct"),
            *("zlib", "hmac", "secrets", "array", "difflib", "graphlib", "html", "urllib.parse", "ipaddress"),
            *("fnmatch", "colorsys", "keyword", "contextvars", "errno", "stat", "sched", "copy", "__future__"),
        ],
        frozenset(),
    ),
    # eval(): the texts of annotations.
    "typing": frozenset(
        {
            "get_origin",
            "get_args",
            "get_type_hints",
            "ForwardRef",
            "evaluate_forward_ref",
            "get_overloads",
            "clear_overloads",
        }
    ),
    # Attributes by computed names.
    "operator": frozenset({"attrgetter", "methodcaller"}),
    "string": frozenset({"Formatter"}),
    "dataclasses": frozenset({"make_dataclass"}),
    "functools": frozenset({"WRAPPER_ASSIGNMENTS", "WRAPPER_UPDATES"}),
    # Code that runs at each call of everybody's, and other threads of this process.
    "threading": frozenset(
        {"settrace", "setprofile", "gettrace", "getprofile", "excepthook", "ExceptHookArgs", "enumerate"}
        | {"settrace_all_threads", "setprofile_all_threads", "__excepthook__"}
    ),
    # Standard output and the working folder of the whole process.
    "contextlib": frozenset({"redirect_stdout", "redirect_stderr", "chdir"}),
    "csv": frozenset({"__doc__", "__version__"}),
    "shlex": frozenset({"shlex"}),
    "concurrent.futures": frozenset({"ProcessPoolExecutor"}),
    "time": frozenset({"clock_settime", "clock_settime_ns", "tzset", "pthread_getcpuclockid"}),
    "uuid": frozenset({"getnode", "uuid1", "bytes_", "int_", "main"}),
}
_SOME: dict[str, frozenset[str]] = {
    "ast": frozenset({"literal_eval"}),
    "asyncio": frozenset(
        {"run", "sleep", "gather", "wait", "wait_for", "as_completed", "create_task", "Task", "Future", "Lock", "Event"}
        | {"Condition", "Semaphore", "BoundedSemaphore", "Barrier", "Queue", "PriorityQueue", "LifoQueue", "QueueEmpty"}
        | {"QueueFull", "TimeoutError", "CancelledError", "InvalidStateError", "timeout", "timeout_at", "TaskGroup"}
        | {"shield", "get_running_loop", "current_task", "iscoroutine", "iscoroutinefunction", "to_thread"}
        | {"FIRST_COMPLETED", "FIRST_EXCEPTION", "ALL_COMPLETED", "ensure_future", "run_coroutine_threadsafe"}
        | {"get_event_loop", "new_event_loop", "AbstractEventLoop", "BrokenBarrierError", "Runner"}
    ),
    # Not global_enum, which writes into a module that it is told the name of.
    "enum": frozenset(
        {
            "Enum",
            "IntEnum",
            "StrEnum",
            "Flag",
            "IntFlag",
            "auto",
            "unique",
            "EnumMeta",
            "EnumType",
            "member",
            "nonmember",
        }
        | {"verify", "UNIQUE", "CONTINUOUS", "NAMED_FLAGS", "FlagBoundary", "STRICT", "CONFORM", "EJECT", "KEEP"}
    ),
    "http": frozenset({"HTTPStatus", "HTTPMethod"}),
    "io": frozenset({"StringIO", "BytesIO"}),
    "logging": frozenset(
        {"getLogger", "Logger", "LoggerAdapter", "LogRecord", "Formatter", "Filter", "Handler", "NullHandler"}
        | {"StreamHandler", "basicConfig", "debug", "info", "warning", "error", "exception", "critical", "log"}
        | {"DEBUG", "INFO", "WARNING", "WARN", "ERROR", "CRITICAL", "FATAL", "NOTSET", "getLevelName"}
    ),
    "pathlib": frozenset({"PurePath", "PurePosixPath", "PureWindowsPath"}),
    "pprint": frozenset({"pformat"}),
    "reprlib": frozenset({"recursive_repr"}),
    "sys": frozenset({"maxsize", "maxunicode", "byteorder", "float_info", "int_info", "version_info", "getsizeof"}),
    "tomllib": frozenset({"loads", "TOMLDecodeError"}),
    "types": frozenset(
        {"MappingProxyType", "SimpleNamespace", "TracebackType", "NoneType", "MethodType", "GeneratorType"}
        | {"UnionType", "EllipsisType", "NotImplementedType", "GenericAlias", "CoroutineType"}
    ),
    "warnings": frozenset({"warn"}),
    "weakref": frozenset({"ref", "WeakValueDictionary", "WeakKeyDictionary", "WeakSet", "WeakMethod"}),
}
DEFAULT = frozenset(_WHOLE) | frozenset(_SOME)


@dataclass(frozen=True, slots=True)
class Policy:
    """What may be imported: the list here, and more. ``allowed`` modules are so as a whole, with all that they lead to;
    ``more`` are further names, by module.
    """

    allowed: frozenset[str] = frozenset()
    more: Mapping[str, frozenset[str]] = field(default_factory=dict)

    def may_import(self, module: str) -> bool:
        """Say whether a module may be imported."""
        return module in DEFAULT or module in self.more or self._is_allowed(module)

    def is_module(self, name: str) -> bool:
        """Say whether a full name is one of the modules that are listed by name."""
        return name in DEFAULT or name in self.more or name in self.allowed

    def may_use(self, module: str, name: str) -> bool:
        """Say whether a name of a module may be used."""
        if self._is_allowed(module):
            return not name.startswith("_")
        if name in self.more.get(module, ()):
            return True
        if module in _SOME:
            return name in _SOME[module]
        return module in _WHOLE and name in public_names(module)

    def _is_allowed(self, module: str) -> bool:
        parts = module.split(".")
        return any(".".join(parts[:end]) in self.allowed for end in range(1, len(parts) + 1))


@functools.cache
def public_names(module: str) -> frozenset[str]:
    """Return the public names of one of the listed modules, as this interpreter has it; empty when it has none."""
    if module.partition(".")[0] not in sys.stdlib_module_names:
        return frozenset()
    try:
        found = importlib.import_module(module)
    except ImportError:
        return frozenset()
    listed = getattr(found, "__all__", None) or [name for name in vars(found) if not name.startswith("_")]
    names = {name for name in listed if not isinstance(getattr(found, name, None), ModuleType)}
    if module == "__future__":
        names = set(found.all_feature_names)
    return frozenset(names) - _WHOLE[module]
