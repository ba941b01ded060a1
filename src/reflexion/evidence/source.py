"""From source text to Facts. Nothing of the user's is imported or run: the syntax alone is read."""

import ast

from reflexion.errors import InputError
from reflexion.evidence.facts import Facts, Import
from reflexion.evidence.python.constructed import constructed_messages, made_exceptions
from reflexion.evidence.python.hierarchy import ClassIndex
from reflexion.evidence.python.notebook import notebook_source
from reflexion.evidence.python.objects import rebound_names
from reflexion.evidence.python.parse import parse_module, too_deep
from reflexion.evidence.python.scopes import Scope, read_scope
from reflexion.evidence.python.symbols import SymbolBuilder
from reflexion.evidence.python.thrown import Thrower


def facts_of_python(text: str, module: str, path: str = "<source>") -> Facts:
    """Return what a Python source says.

    :param text: the whole source, decoded
    :param module: the module's dotted name, as the facts state it
    :param path: how errors name the source
    :raises InputError: in one line, with path and line: a syntax error, Python 2, a NUL, or nesting too deep to read
    """
    tree = parse_module(text.removeprefix("\ufeff"), path)
    try:
        return _facts(tree, text, module)
    except (RecursionError, MemoryError):
        raise too_deep(path) from None
    except ValueError as error:
        said = " ".join(str(error).split())[:200]
        raise InputError(f"{path}: its values cannot be read ({said}); shorten them, or document it as text") from None


def facts_of_notebook(text: str, module: str, path: str = "<notebook>") -> Facts:
    """Return what the code cells of a notebook say; ``Facts.text`` and all lines are those of the joined cells.

    :raises InputError: as for a Python source, and for what is not a notebook in Python
    """
    return facts_of_python(notebook_source(text, path), module, path)


def _facts(tree: ast.Module, text: str, module: str) -> Facts:
    scope = read_scope(tree.body)
    classes = ClassIndex(scope)
    thrower = Thrower(scope, classes, constructed_messages, made_exceptions, rebound_names(tree))
    return Facts(
        module=module,
        symbols=SymbolBuilder(scope, classes, thrower).symbols(),
        docstring=ast.get_docstring(tree),
        text=text,
        exports=None if scope.exports is None else tuple(dict.fromkeys(scope.exports)),
        imports=tuple(_imports(scope)),
        star_imports=tuple(scope.star_imports),
    )


def _imports(scope: Scope) -> list[Import]:
    exports = scope.exports or ()
    return [
        Import(each.name, each.target, each.line, each.explicit or each.name in exports)
        for each in scope.imports.values()
    ]
