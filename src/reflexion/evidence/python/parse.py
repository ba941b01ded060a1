"""Source text to syntax tree, with every way in which that can fail turned into one line."""

import ast
import re
import sys
import warnings

from reflexion.errors import InputError
from reflexion.patterns import regex

_PYTHON_2_LINE = regex(
    r"^\s*(?:print\s+[^\s(=]|print\s*>>|exec\s+[\"'\w]|raise\s+[\w.]+\s*,|except\s+[\w.]+\s*,\s*\w+\s*:)"
    r"|<>|\bur[\"']|(?<![\w.])0[0-7]+\b|(?<![\w.])\d+[lL]\b|`[^`]+`"
)

# Type statements and parameters (3.12), quotes of the same kind inside f-strings (3.12), template strings (3.14).
_NEWER_LINE = regex(
    r"^\s*type\s+[A-Za-z_]\w*\s*(?:\[[^\]]*\]\s*)?=|^\s*(?:async\s+)?def\s+\w+\s*\[|^\s*class\s+\w+\s*\["
    r"|\b[fF]\"[^\"]*\{[^}\"]*\"|\b[fF]'[^']*\{[^}']*'|(?<![\w\"'])[tT][\"']"
)


def parse_module(text: str, path: str) -> ast.Module:
    """Parse a module.

    :raises InputError: with the path, the line and what is wrong, whatever the parser threw
    """
    try:
        with warnings.catch_warnings():
            # An invalid escape in the user's source is the user's business, not a warning of ours.
            warnings.simplefilter("ignore")
            return ast.parse(text)
    except SyntaxError as error:
        raise InputError(_syntax_line(error, text, path)) from None
    except (RecursionError, MemoryError):
        raise too_deep(path) from None
    except (ValueError, OverflowError, SystemError, UnicodeError) as error:
        raise InputError(f"{path}{_nul_line(text)}: {_plain(str(error))}; not a Python source") from None


def too_deep(path: str) -> InputError:
    """Return the error for a source whose expressions or blocks are nested more deeply than can be read."""
    return InputError(f"{path}: nested too deeply to be read; split its longest expressions or branches")


def _syntax_line(error: SyntaxError, text: str, path: str) -> str:
    line = error.lineno or 1
    if "null byte" in (error.msg or ""):
        return f"{path}{_nul_line(text)}: contains a NUL character; not a Python source"
    if _is_python_2(error, text, line):
        return f"{path}:{line}: not Python 3 ({_plain(error.msg)}); convert it, or document it as text"
    if _is_newer(text, line):
        version = f"{sys.version_info.major}.{sys.version_info.minor}"
        return f"{path}:{line}: not valid for Python {version} ({_plain(error.msg)}); run a newer Python to read it"
    return f"{path}:{line}: not valid Python ({_plain(error.msg)}); correct the syntax"


def _is_python_2(error: SyntaxError, text: str, line: int) -> bool:
    message = error.msg or ""
    if "in call to 'print'" in message or "in call to 'exec'" in message or "multiple exception types" in message:
        return True
    lines = re.split(r"\r\n|\r|\n", text)
    return 0 < line <= len(lines) and bool(_PYTHON_2_LINE.search(lines[line - 1]))


def _is_newer(text: str, line: int) -> bool:
    """Whether the line has a form that came with a later Python than the oldest that this runs on."""
    lines = re.split(r"\r\n|\r|\n", text)
    return 0 < line <= len(lines) and _NEWER_LINE.search(lines[line - 1]) is not None


def _nul_line(text: str) -> str:
    position = text.find("\0")
    return "" if position < 0 else f":{text.count(chr(10), 0, position) + 1}"


def _plain(message: str) -> str:
    return " ".join(message.split()) or "unknown error"
