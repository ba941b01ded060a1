"""Which exceptions leave which function: from one function's body to all that it calls inside the file."""

import ast
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from reflexion.evidence.facts import Raise
from reflexion.evidence.python.hierarchy import ClassIndex, ClassInfo
from reflexion.evidence.python.scopes import Scope
from reflexion.evidence.python.syntax import (
    DEFINITIONS,
    FUNCTIONS,
    FunctionNode,
    accessor_of,
    decorator_names,
    dotted_name,
    is_property,
)
from reflexion.evidence.python.thrown import Thrower
from reflexion.evidence.python.units import Guard, Guards, Site, Unit, Use
from reflexion.evidence.python.walk import Walker

_LONGEST_CHAIN = 40


class Path(NamedTuple):
    """How a raise comes to a function: whether for sure, whether through public functions, and through which."""

    sure: bool = True
    through_public: bool = False
    via: tuple[str, ...] = ()

    @property
    def rank(self) -> tuple[bool, bool, int]:
        """The smaller, the more there is to document."""
        return (not self.sure, self.through_public, len(self.via))


@dataclass(slots=True, eq=False)
class Edge:
    """``target`` runs when ``source`` does. ``via`` is "" where documentation takes the two for one."""

    target: "Node"
    via: str = ""
    public: bool = False
    guards: Guards = ()
    sure: bool = True


@dataclass(slots=True, eq=False)
class Node:
    """A function as its callers see it, or the constructor of a class."""

    owner: ClassInfo | None
    sites: list[Site] = field(default_factory=list)
    edges: list[Edge] = field(default_factory=list)
    callers: list[tuple["Node", Edge]] = field(default_factory=list)
    reached: dict[int, tuple[Site, ClassInfo | None, Path]] = field(default_factory=dict)
    unknown: bool = False


class Reach:
    """The exceptions of every function and class of one file.

    ``public`` are the qualnames of what counts as public.
    """

    def __init__(self, module: Scope, classes: ClassIndex, thrower: Thrower, public: frozenset[str]) -> None:
        self._module = module
        self._classes = classes
        self._thrower = thrower
        self._public = public
        self._units: dict[int, Unit] = {}
        self._nodes: dict[int, Node] = {}
        self._inner: list[Node] = []
        self._escapes: dict[tuple[str, int, Guards], bool | None] = {}
        self._walk_all()
        self._link_all()
        self._spread()

    def unit(self, node: FunctionNode) -> Unit:
        """Return what one function's own body does."""
        return self._units[id(node)]

    def raises(self, definition: FunctionNode | ast.ClassDef) -> tuple[list[Raise], list[Raise], bool]:
        """Return a definition's certain raises, its possible ones, and whether there are any of unknown type."""
        node = self._nodes[id(definition)]
        certain: list[Raise] = []
        possible: list[Raise] = []
        for site, owner, path in node.reached.values():
            (certain if path.sure else possible).append(self._raise(site, owner, path))
        certain.sort(key=_reading_order)
        possible.sort(key=_reading_order)
        return certain, possible, node.unknown

    def _raise(self, site: Site, owner: ClassInfo | None, path: Path) -> Raise:
        message = site.message
        return Raise(
            type=site.type,
            message=message.text if message else None,
            line=site.line,
            template=bool(message and message.template),
            via=path.via,
            bases=self._classes.ancestors(site.type, owner)[0],
            literals=message.literals if message else (),
            through_public=path.through_public,
            cause=site.cause,
        )

    # Every function's own body

    def _walk_all(self) -> None:
        self._walk_scope(self._module, None)
        for info in self._classes:
            self._walk_scope(info.scope, info)

    def _walk_scope(self, scope: Scope, owner: ClassInfo | None) -> None:
        for name, definitions in scope.names.items():
            for definition in definitions:
                if isinstance(definition.node, FUNCTIONS):
                    self._walk(name, definition.node, owner)

    def _walk(self, name: str, node: FunctionNode, owner: ClassInfo | None) -> None:
        qualname = f"{owner.qualname}.{name}" if owner else name
        unit = Unit(qualname, node, owner, public=qualname in self._public)
        arguments = [*node.args.posonlyargs, *node.args.args]
        if owner and arguments and "staticmethod" not in decorator_names(node):
            unit.self_name = arguments[0].arg
        Walker(unit, self._module, self._thrower).run()
        self._add(unit)

    def _add(self, unit: Unit) -> None:
        self._units[id(unit.node)] = unit
        self._nodes[id(unit.node)] = Node(unit.owner, unit.sites, unknown=unit.unknown)
        for inner in unit.nested.values():
            self._add(inner)

    # Who calls whom

    def _link_all(self) -> None:
        for info in self._classes:
            self._nodes[id(info.node)] = self._constructor(info)
        for unit in list(self._units.values()):
            for guard, func in unit.managers:
                self._fill(guard, unit, func)
            node = self._nodes[id(unit.node)]
            node.edges += [edge for use in unit.uses for edge in self._edges(unit, use)]
            node.edges += [self._edge(inner.node, sure=False) for inner in unit.nested.values()]
        for unit in list(self._units.values()):
            self._decorate(unit)
        for node in (*self._nodes.values(), *self._inner):
            for edge in node.edges:
                edge.target.callers.append((node, edge))

    def _constructor(self, info: ClassInfo) -> Node:
        node = Node(info)
        for name in ("__new__", "__init__", "__post_init__"):
            owner = info.owner_of(name)
            for function in owner.scope.functions(name) if owner else ():
                via = "" if owner is info or owner is None else owner.qualname
                public = via in self._public
                node.edges.append(Edge(self._nodes[id(function)], via, public))
        return node

    def _fill(self, guard: Guard, unit: Unit, func: ast.expr) -> None:
        """Let a ``with`` catch what the ``try`` around the ``yield`` of its context manager catches."""
        for target in self._targets(unit, func, None):
            if isinstance(target, FUNCTIONS):
                for guards in self._units[id(target)].yields:
                    guard.catchers += [catcher for each in guards for catcher in each.catchers]

    def _edges(self, unit: Unit, use: Use) -> Iterator[Edge]:
        for target in self._targets(unit, use.func, use.receiver):
            if isinstance(target, ast.ClassDef):
                if use.called:
                    yield self._edge(target, use.guards, sure=use.sure)
                continue
            wanted = "setter" if isinstance(use.func, ast.Attribute) and isinstance(use.func.ctx, ast.Store) else ""
            if accessor_of(target) == wanted:
                runs = use.called or is_property(target) or bool(wanted)
                yield self._edge(target, use.guards, sure=use.sure and runs)

    def _edge(self, target: FunctionNode | ast.ClassDef, guards: Guards = (), *, sure: bool) -> Edge:
        if isinstance(target, ast.ClassDef):
            name = self._classes.of(target).qualname
        else:
            unit = self._units[id(target)]
            name = unit.name
            sure = sure and not unit.is_stub
        return Edge(self._nodes[id(target)], name, name in self._public, guards, sure)

    def _targets(self, unit: Unit, func: ast.expr, receiver: ast.expr | None) -> list[FunctionNode | ast.ClassDef]:
        if isinstance(func, ast.Name):
            return self._named(unit, func.id)
        if not isinstance(func, ast.Attribute):
            return []
        name = dotted_name(func.value)
        if name is not None and name in {unit.self_name, "self", "cls"} and unit.owner and unit.self_name:
            return self._members(unit.owner, func.attr)
        if isinstance(func.value, ast.Call):
            return self._through_call(unit, func.value, func.attr)
        info = self._classes.find(name, unit.owner) if name and name.partition(".")[0] not in unit.bound else None
        if info is not None:
            return self._members(info, func.attr)
        return self._through_call(unit, receiver, func.attr) if isinstance(receiver, ast.Call) else []

    def _through_call(self, unit: Unit, call: ast.Call, attribute: str) -> list[FunctionNode | ast.ClassDef]:
        """Resolve ``super().name``, ``type(self).name`` and ``Class(...).name``."""
        name = dotted_name(call.func)
        if name == "super" and unit.owner:
            after = unit.owner.mro[1:]
            owner = next((info for info in after if attribute in info.scope.names), None)
            return list(owner.scope.functions(attribute)) if owner else []
        if name == "type" and unit.owner and call.args and dotted_name(call.args[0]) == unit.self_name:
            return self._members(unit.owner, attribute)
        info = self._classes.find(name, unit.owner)
        return self._members(info, attribute) if info else []

    def _named(self, unit: Unit, name: str) -> list[FunctionNode | ast.ClassDef]:
        if unit.owner and name == unit.self_name == "cls":
            return [unit.owner.node]
        place: Unit | None = unit
        while place is not None:
            if name in place.nested:
                return [place.nested[name].node]
            if name in place.bound:
                return []
            place = place.outer
        return _callables(self._module, name)

    def _members(self, info: ClassInfo, name: str) -> list[FunctionNode | ast.ClassDef]:
        owner = info.owner_of(name)
        return _callables(owner.scope, name) if owner else []

    def _decorate(self, unit: Unit) -> None:
        """Let a decorator of this file add what its wrapper raises, and take away what that may catch."""
        for decorator in unit.node.decorator_list:
            func = decorator.func if isinstance(decorator, ast.Call) else decorator
            outer = unit.outer or Unit("", unit.node, unit.owner)
            for target in self._targets(outer, func, None):
                if isinstance(target, FUNCTIONS) and target is not unit.node:
                    self._wrap(unit, self._units[id(target)])

    def _wrap(self, unit: Unit, decorator: Unit) -> None:
        node = self._nodes[id(unit.node)]
        for wrapper, guards in _wrappers(decorator):
            if guards:
                bare = Node(node.owner, node.sites, node.edges, unknown=node.unknown)
                self._inner.append(bare)
                node.sites, node.edges = [], [Edge(bare, guards=guards)]
            node.edges.append(Edge(self._nodes[id(wrapper.node)], decorator.name, decorator.name in self._public))

    # From callee to caller

    def _spread(self) -> None:
        """Carry every raise to every caller that it can reach, until nothing changes."""
        nodes = _callees_first([*self._nodes.values(), *self._inner])
        for node in nodes:
            for site in node.sites:
                escapes = self._escape(site.type, node.owner, site.guards)
                if escapes is not False:
                    node.reached[id(site)] = (site, node.owner, Path(sure=site.sure and escapes is True))
        waiting = deque(nodes)
        queued = {id(node) for node in nodes}
        while waiting:
            node = waiting.popleft()
            queued.discard(id(node))
            for caller, edge in node.callers:
                if self._carry(node, caller, edge) and id(caller) not in queued:
                    queued.add(id(caller))
                    waiting.append(caller)

    def _carry(self, node: Node, caller: Node, edge: Edge) -> bool:
        """Take what leaves ``node`` over to a caller; tell whether that was news."""
        news = node.unknown and not caller.unknown
        caller.unknown = caller.unknown or node.unknown
        for key, (site, owner, path) in list(node.reached.items()):
            if len(path.via) >= _LONGEST_CHAIN:
                continue
            escapes = self._escape(site.type, owner, edge.guards)
            if escapes is False:
                continue
            via = (edge.via, *path.via) if edge.via else path.via
            new = Path(path.sure and edge.sure and escapes is True, path.through_public or edge.public, via)
            known = caller.reached.get(key)
            if known is None or new.rank < known[2].rank:
                caller.reached[key] = (site, owner, new)
                news = True
        return news

    def _escape(self, raised: str, owner: ClassInfo | None, guards: Guards) -> bool | None:
        """Tell whether an exception gets out of the clauses around a statement; None where it may."""
        if not guards:
            return True
        key = (raised, id(owner), guards)
        if key not in self._escapes:
            verdicts = [self._passes(raised, owner, guard) for guard in guards]
            self._escapes[key] = False if False in verdicts else None if None in verdicts else True
        return self._escapes[key]

    def _passes(self, raised: str, owner: ClassInfo | None, guard: Guard) -> bool | None:
        passes: bool | None = True
        for catcher in guard.catchers:
            caught = [self._classes.catches(name, raised, owner) for name in catcher.types or ()]
            if catcher.types is None or True in caught:
                return passes if catcher.reraises else False
            if None in caught and not catcher.reraises:
                passes = None
        return passes


def _callables(scope: Scope, name: str) -> list[FunctionNode | ast.ClassDef]:
    nodes = [definition.node for definition in scope.names.get(name, ())]
    return [node for node in nodes if isinstance(node, DEFINITIONS)]


def _wrappers(decorator: Unit) -> Iterator[tuple[Unit, Guards]]:
    """Yield the functions inside a decorator that call what it decorates, and the clauses around that call."""
    handed_in = decorator.bound - decorator.nested.keys()
    for inner in decorator.nested.values():
        yield from _wrappers(inner)
        calls = (use for use in inner.uses if use.called and isinstance(use.func, ast.Name))
        known = handed_in - inner.bound
        found = next((use for use in calls if isinstance(use.func, ast.Name) and use.func.id in known), None)
        if found is not None:
            yield inner, found.guards


def _reading_order(each: Raise) -> tuple[bool, int]:
    return bool(each.via), each.line


def _callees_first(nodes: list[Node]) -> list[Node]:
    """Order nodes so that, cycles apart, each stands behind all that it calls."""
    order: list[Node] = []
    seen: set[int] = set()
    for root in nodes:
        stack = [(root, iter(root.edges))]
        if id(root) in seen:
            continue
        seen.add(id(root))
        while stack:
            edges = stack[-1][1]
            target = next((edge.target for edge in edges if id(edge.target) not in seen), None)
            if target is None:
                order.append(stack.pop()[0])
            else:
                seen.add(id(target))
                stack.append((target, iter(target.edges)))
    return order
