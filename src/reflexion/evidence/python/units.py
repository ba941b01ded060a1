"""What one function's body does, as far as exceptions go: the records that ``walk.py`` fills and ``reach.py`` joins."""

import ast
from dataclasses import dataclass, field

from reflexion.evidence.python.hierarchy import ClassInfo
from reflexion.evidence.python.messages import Message, Value
from reflexion.evidence.python.syntax import FunctionNode


@dataclass(slots=True, eq=False)
class Catcher:
    """One ``except`` clause. ``types`` is None where it catches all; an empty name is a type that cannot be told."""

    types: tuple[str, ...] | None
    reraises: bool = False


@dataclass(slots=True, eq=False)
class Guard:
    """The clauses of one ``try`` around a statement, or what a context manager of this file catches."""

    catchers: list[Catcher]


Guards = tuple[Guard, ...]  # outermost first


@dataclass(slots=True, eq=False)
class Site:
    """One exception that one statement raises. ``sure`` is False where it may not come to that."""

    type: str
    message: Message | None
    line: int
    cause: str | None
    guards: Guards
    sure: bool


@dataclass(slots=True, eq=False)
class Use:
    """A call, or with ``called`` False a mention, of something that may be a function of this file.

    ``receiver`` is the class call that the object came from, where the function's own text tells.
    """

    func: ast.expr
    guards: Guards
    sure: bool
    called: bool
    receiver: ast.expr | None = None


@dataclass(slots=True, eq=False)
class SelfField:
    """An attribute that a method gives its object."""

    name: str
    node: ast.Assign | ast.AnnAssign
    value: ast.expr | None


Environment = dict[str, tuple[Value, ...]]


@dataclass(slots=True, eq=False)
class Unit:
    """One function or method. ``nested`` are the functions defined in it, ``outer`` the one that it is defined in."""

    name: str
    node: FunctionNode
    owner: ClassInfo | None
    outer: "Unit | None" = None
    public: bool = False
    self_name: str | None = None
    bound: set[str] = field(default_factory=set)
    nested: dict[str, "Unit"] = field(default_factory=dict)
    sites: list[Site] = field(default_factory=list)
    uses: list[Use] = field(default_factory=list)
    managers: list[tuple[Guard, ast.expr]] = field(default_factory=list)
    yields: list[Guards] = field(default_factory=list)
    returns: list[ast.expr | None] = field(default_factory=list)
    self_fields: list[SelfField] = field(default_factory=list)
    base_calls: list[tuple[ast.Call, Environment]] = field(default_factory=list)
    is_generator: bool = False
    falls_through: bool = False
    unknown: bool = False

    @property
    def is_stub(self) -> bool:
        """True where the body does nothing but raise ``NotImplementedError``: a hook for subclasses."""
        body = [statement for statement in self.node.body if not isinstance(statement, ast.Expr)]
        return len(body) == 1 and isinstance(body[0], ast.Raise) and bool(self.sites) and _not_implemented(self.sites)


def _not_implemented(sites: list[Site]) -> bool:
    return all(site.type == "NotImplementedError" for site in sites)


def parameter_names(node: FunctionNode | ast.Lambda) -> list[str]:
    """Return the names of all parameters in the order of the signature."""
    arguments = node.args
    every = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
    return [each.arg for each in (*every, arguments.vararg, arguments.kwarg) if each is not None]
