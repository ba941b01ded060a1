"""The names that the scan of a candidate goes by: what nobody may touch, and what the language's protocols need."""

import builtins
from collections import Counter, OrderedDict, defaultdict, deque
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from fractions import Fraction

# Never, as a name.
REFUSED_NAMES = frozenset(
    {
        "exec",
        "eval",
        "compile",
        "open",
        "input",
        "breakpoint",
        "globals",
        "locals",
        "vars",
        "dir",
        "help",
        "exit",
        "quit",
    }
    | {"SystemExit", "__import__", "__builtins__"}
)
# Only called, with the attribute's name as a literal.
ATTRIBUTE_CALLS = frozenset({"getattr", "setattr", "delattr"})
# What the scan itself relies on: nowhere bound to something else.
RELIED_UPON = ATTRIBUTE_CALLS | {"isinstance", "issubclass", "super", "NotImplemented", "AssertionError", "hasattr"}
RELIED_UPON_AT_TOP = RELIED_UPON | {"type", "object", "property", "Exception", "BaseException", "int", "str", "bool"}

# Frames, code, tracebacks; what an event loop does with processes and sockets; an enum made out of a module.
REFUSED_ATTRIBUTES = frozenset(
    {f"{kind}_{what}" for kind in ("gi", "cr", "ag") for what in ("frame", "code", "await", "yieldfrom", "origin")}
    | {"f_back", "f_builtins", "f_code", "f_globals", "f_locals", "f_trace", "f_lineno", "f_generator"}
    | {"tb_frame", "tb_next", "tb_lasti", "tb_lineno", "func_globals", "func_code", "get_stack", "print_stack"}
    | {"co_code", "co_consts", "co_names", "co_filename", "co_varnames", "co_freevars", "co_cellvars"}
    | {"subprocess_exec", "subprocess_shell", "create_connection", "create_server", "create_unix_connection"}
    | {"create_unix_server", "create_datagram_endpoint", "connect_read_pipe", "connect_write_pipe", "sock_connect"}
    | {"add_signal_handler", "remove_signal_handler", "add_reader", "add_writer", "sendfile", "sock_sendfile"}
    | {"connect_accepted_socket", "set_exception_handler", "set_task_factory"}
    | {"_make_subprocess_transport", "_make_read_pipe_transport", "_make_write_pipe_transport"}
    | {"_make_socket_transport", "_make_datagram_transport", "_create_connection_transport", "_ssock", "_csock"}
    | {"_add_reader", "_add_writer", "_add_callback_signalsafe"}
    | {"_convert_", "_convert", "cell_contents", "mro", "with_traceback", "format_map", "get_field", "formatter_parser"}
)

_COMPARING = {"eq", "ne", "lt", "le", "gt", "ge"}
COMPARISONS = frozenset(f"__{name}__" for name in _COMPARING)
_NUMBERS = (
    *("add", "sub", "mul", "matmul", "truediv", "floordiv", "mod", "divmod", "pow", "lshift", "rshift", "and", "xor"),
    "or",
)
PROTOCOL = frozenset(
    f"__{name}__"
    for name in (
        *("init", "new", "post_init", "init_subclass", "set_name", "repr", "str", "bytes", "format", "hash", "bool"),
        *("len", "length_hint", "getitem", "setitem", "delitem", "missing", "iter", "next", "reversed", "contains"),
        *("call", "enter", "exit", "aenter", "aexit", "aiter", "anext", "await", "get", "set", "delete", "copy"),
        *("deepcopy", "neg", "pos", "abs", "invert", "int", "float", "complex", "index", "round", "trunc", "floor"),
        *("ceil", *_COMPARING, *_NUMBERS, *(f"r{name}" for name in _NUMBERS), *(f"i{name}" for name in _NUMBERS)),
    )
)
# Defined in a class as well, where what they do is looked at like all else; never called by name.
DEFINED = PROTOCOL | {"__getattr__", "__setattr__", "__delattr__", "__class_getitem__"}
# In the body of a class or module, on the left of an assignment.
ASSIGNED = PROTOCOL | {"__slots__", "__all__", "__version__", "__author__", "__match_args__", "__test__", "__hash__"}
READ = frozenset({"__name__", "__qualname__", "__doc__", "__cause__", "__context__", "__notes__"})
# Public though they begin with an underscore.
KNOWN_PRIVATE = frozenset(
    {"_replace", "_asdict", "_fields", "_make", "_field_defaults", "_value_", "_name_", "_missing_", "_ignore_"}
    | {"_generate_next_value_", "_order_", "_value2member_map_", "_member_map_", "_member_names_"}
)
_BUILT_IN = (int, str, bytes, float, complex, list, tuple, dict, set, frozenset, bool, type(None), range, slice)
_OF_MODULES = (bytearray, Decimal, Fraction, Counter, OrderedDict, defaultdict, deque, date, datetime, time, timedelta)
# What objects of built-in types answer to, and other plain data: reading it tells nothing about what an object is.
BUILTIN_ATTRIBUTES = frozenset(name for kind in (*_BUILT_IN, *_OF_MODULES) for name in dir(kind)) | {"args"}
# What the tests ask a mock.
OF_MOCKS = frozenset(
    {"called", "call_count", "call_args", "call_args_list", "method_calls", "mock_calls", "await_count", "awaited"}
    | {"await_args", "await_args_list", "await_calls"}
)
SCALARS = frozenset(
    {"int", "str", "bytes", "float", "complex", "bool", "Decimal", "Fraction", "UserString", "bytearray"}
)
# What a class of such values may define: nothing that says what the value is, or how it compares.
ON_SCALARS = frozenset(
    {"__new__", "__init__", "__repr__", "__str__", "__format__", "__init_subclass__", "__post_init__"}
)
ENUMS_OF_SCALARS = frozenset({"IntEnum", "StrEnum", "IntFlag"})
# What says which number an object is, or answers for it when it is on the other side of an operator.
NUMERIC = frozenset(f"__{kind}{name}__" for name in _NUMBERS for kind in ("", "r", "i")) | frozenset(
    f"__{name}__"
    for name in ("neg", "pos", "abs", "invert", "int", "float", "complex", "index", "round", "trunc", "floor", "ceil")
)
CONTAINERS = frozenset(
    {"list", "tuple", "dict", "set", "frozenset", "OrderedDict", "defaultdict", "Counter", "deque", "UserDict"}
    | {"UserList"}
)
EXCEPTIONS = frozenset(
    name for name in dir(builtins) if name.endswith(("Error", "Exception", "Interrupt", "Exit", "Iteration"))
)


def is_dunder(name: str) -> bool:
    """Say whether a name is one of the language's own, such as ``__init__``."""
    return name.startswith("__") and name.endswith("__") and len(name) > 4
