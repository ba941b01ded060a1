"""The words by which documents mark what a heading, a lead-in or a column is about."""

import re
from typing import Literal

from reflexion.patterns import regex

Role = Literal[
    "parameters", "attributes", "returns", "yields", "raises", "functions", "methods", "classes", "properties",
    "symbols", "constants", "members", "bases", "examples", "output", "signature", "changelog", "license", "author",
    "version", "date", "foreign", "module",
]  # fmt: skip

_TITLES: dict[Role, tuple[str, ...]] = {
    "parameters": (
        "parameters", "parameter", "params", "param", "args", "arguments", "argument", "arg", "inputs", "input",
        "kwargs", "parameter list", "other parameters", "keyword args", "options and parameters",
        "parameter details", "parameter descriptions", "parameters explained", "argument list",
    ),
    "attributes": (
        "attributes", "attribute", "fields", "field", "instance variables", "class variables", "data members",
        "instance attributes", "class attributes", "dataclass fields", "public attributes", "instance fields",
    ),
    "returns": (
        "returns", "return", "return value", "return values", "return type", "returned value", "output", "outputs",
        "result", "returned values", "return data", "returned dictionary",
    ),
    "yields": (
        "yields", "yield", "yielded values",
    ),
    "raises": (
        "raises", "raise", "exceptions", "exception", "errors", "error", "throws", "exceptions raised",
        "errors raised", "raised exceptions", "possible exceptions", "possible errors", "potential exceptions",
        "exceptions thrown", "error conditions", "exceptions and errors", "errors and exceptions", "raised errors",
        "error handling", "exception handling",
    ),
    "functions": (
        "functions", "function", "public functions", "module functions", "key functions", "main functions",
        "helper functions", "utility functions", "function reference", "functions reference", "function list",
        "coroutines", "async functions", "function details", "function summary", "available functions",
        "core functions", "decorators",
    ),
    "methods": (
        "methods", "method", "public methods", "instance methods", "class methods", "static methods",
        "method reference", "method summary", "key methods", "async methods", "method details", "special methods",
        "magic methods", "dunder methods", "available methods",
    ),
    "classes": (
        "classes", "public classes", "class reference", "key classes", "class summary", "enums", "enumerations",
        "dataclasses", "data classes", "custom exceptions", "exception classes", "main classes", "core classes",
        "available classes", "exception hierarchy",
    ),
    "properties": (
        "properties", "property", "public properties",
    ),
    "symbols": (
        "api", "api reference", "public api", "module contents", "functions and classes", "classes and functions",
        "exports", "public interface", "module members", "api overview", "api summary", "reference", "module api",
        "module reference", "api documentation", "summary of functions", "exported symbols", "public symbols",
        "contents", "name",
    ),
    "constants": (
        "constants", "constant", "module constants", "global constants", "configuration constants",
        "module-level constants", "module level constants", "global variables", "variables", "module variables",
        "class constants", "public constants", "module attributes",
    ),
    "members": (
        "members", "member", "values", "enum values", "enum members", "enumeration members", "enumeration values",
        "possible values", "enum member",
    ),
    "bases": (
        "bases", "base", "base class", "base classes", "inherits from", "inherits", "inheritance", "superclass",
        "superclasses", "parent class", "parent classes", "extends", "subclass of",
    ),
    "examples": (
        "example", "examples", "usage", "usage example", "usage examples", "basic usage", "quick start",
        "quickstart", "getting started", "tutorial", "example usage", "sample usage", "how to use",
        "advanced usage", "code example", "code examples", "sample code", "use cases", "cookbook", "recipes",
        "typical usage", "basic example", "full example", "complete example", "simple example",
    ),
    "output": (
        "expected output", "sample output", "example output", "console output", "prints", "this prints",
        "this will print", "this outputs", "which prints", "printed output", "this will output",
        "output of the example", "this produces", "produces", "will output", "expected result",
    ),
    "signature": (
        "signature", "syntax", "function signature", "method signature", "definition", "declaration", "prototype",
        "class definition", "synopsis", "function definition", "class signature", "constructor signature",
        "signatures",
    ),
    "changelog": (
        "changelog", "change log", "version history", "revision history", "history", "release notes", "changes",
        "document history", "revisions", "release history", "document revision history",
    ),
    "license": (
        "license", "licence", "licensing", "copyright",
    ),
    "author": (
        "author", "authors", "contributors", "maintainer", "maintainers", "credits", "written by", "created by",
        "about the author", "acknowledgements", "acknowledgments", "maintained by",
    ),
    "version": (
        "version", "module version", "document version", "current version", "api version", "since", "since version",
        "version added", "added in", "versionadded",
    ),
    "date": (
        "date", "last updated", "last modified", "updated", "created", "release date", "date created",
        "last revised", "last update", "created on", "updated on", "publication date", "creation date", "modified",
    ),
    "foreign": (
        "dependencies", "requirements", "prerequisites", "imports", "installation", "install", "configuration",
        "environment variables", "environment", "cli", "command line", "command-line", "command line options",
        "options", "cli options", "command-line options", "command line arguments", "command-line arguments",
        "cli arguments", "command line interface", "command-line interface", "glossary", "see also", "references",
        "related", "external links", "third-party libraries", "files", "file structure", "endpoints",
        "related functions", "external dependencies", "standard library", "libraries", "packages",
        "further reading", "resources", "faq", "troubleshooting", "commands", "alternatives", "limitations",
        "project structure", "table of contents", "testing", "tests",
    ),
    "module": (
        "module", "overview", "introduction", "description", "summary", "notes", "note", "details", "purpose",
        "remarks", "about", "features", "key features", "behavior", "behaviour", "warnings", "warning",
        "best practices", "performance", "edge cases", "tips", "important", "security", "conclusion", "background",
        "how it works", "validation", "tip", "attention", "caution", "concurrency", "thread safety", "complexity",
        "time complexity", "design", "type", "types", "default", "default value", "required", "message",
        "condition", "when", "algorithm", "formula", "steps", "logic", "implementation", "implementation details",
        "processing", "workflow", "todo", "caveats", "rationale", "constraints", "constructor", "initialization",
        "side effects",
    ),
}  # fmt: skip

_QUALIFIERS = (
    "function method constructor input required optional keyword positional initialization init class keyword-only "
    "positional-only additional optional/keyword instance main key public"
)
_QUALIFIED = regex(rf"^(?:(?:{'|'.join(_QUALIFIERS.split())})\s+)+(?=(?:parameters?|params|args|arguments?)$)")
_LABEL = regex(r"^[^\w(`]*(?:\d+(?:\.\d+)*[.)]?\s+)?|[\s:\uff1a.\-\u2013\u2014]+$")
_ROLES: dict[str, Role] = {title: role for role, titles in _TITLES.items() for title in titles}
_OF = regex(r"^(?P<role>[\w\s/-]+?)\s+(?:of|for|to)\s+(?:the\s+)?(?P<name>[A-Za-z_][\w.]*)(?:\(\))?(?:\s+\w+)?$")

KIND_WORDS = (
    "function", "method", "class", "property", "constant", "exception", "enum", "enumeration", "dataclass", "coroutine",
    "constructor", "attribute", "variable", "decorator", "generator", "field", "protocol", "namedtuple", "named tuple",
    "data class", "error", "type alias", "context manager", "interface", "def", "procedure", "subroutine", "macro",
    "classmethod", "staticmethod", "exception class", "enum class", "helper",
)  # fmt: skip
KIND_PREFIXES = (
    "async", "asynchronous", "static", "abstract", "public", "private", "helper", "utility", "instance", "main",
    "class", "module-level", "internal", "cached", "read-only", "frozen", "generic", "custom", "synchronous", "base",
    "special",
)  # fmt: skip
# What no heading or entry of one bare word means as a name.
NO_NAMES = frozenset({"none", "true", "false", "n/a", "yes", "no", "and", "or", "if", "the"})
# What a method is bound to; elsewhere these are names of parameters like any other.
BOUND_NAMES = frozenset({"self", "cls"})
FILE_ENDINGS = (
    ".py",
    ".md",
    ".json",
    ".toml",
    ".txt",
    ".yaml",
    ".yml",
    ".cfg",
    ".ini",
    ".rst",
    ".csv",
    ".sh",
    ".ipynb",
)


# ``summary(xs)`` is a function; "Parameter(s)", "Returns (int)" and "Returns(int)" are titles.
_CALL = regex(r"(?:[a-z_]\w*\((?!s\)|optional\)|required\))|[A-Z]\w*\((?=\)|[^()]*[=:])).*\)\s*:?$")


def title_of(text: str) -> str:
    """Return a heading or lead-in in lower case, without numbering, emoji, anchors and a closing colon."""
    bare = re.sub(r"\s*\{#[^}]*\}\s*$", "", text)
    return " ".join(_LABEL.sub("", bare).replace("&", "and").replace("_", " ").lower().split())


def role_of(text: str) -> Role | None:
    """Return what a heading, lead-in or column header of these words is about, or None."""
    title = title_of(text)
    if len(title) > 60 or _CALL.match(text.strip()):
        return None
    title = _QUALIFIED.sub("", title)
    return _ROLES.get(title) or _ROLES.get(re.sub(r"\s*\(.*\)$|\s+table$|\s+section$", "", title))


def role_with_name(text: str) -> tuple[Role, str] | None:
    """Return role and symbol of "Parameters for foo", "Raises (foo)" or "foo parameters", or None."""
    bare = " ".join(_LABEL.sub("", text).split())
    if len(bare) > 100:
        return None
    if found := _OF.match(bare):
        role = role_of(found.group("role"))
        return (role, found.group("name")) if role and _names_symbol(found.group("name")) else None
    name, _, rest = bare.partition(" ")
    name = name.removesuffix("()").removesuffix("'s")
    role = role_of(rest) if rest and _names_symbol(name) else None
    return (role, name) if role and role not in ("module", "foreign", "symbols") else None


def _names_symbol(name: str) -> bool:
    """Say whether a word in a title can only be a name: underscore, dot, or capitals inside."""
    inner = re.search(r"[_.]|[a-z][A-Z]", name)
    return inner is not None and re.fullmatch(r"[A-Za-z_][\w.]*", name) is not None
