"""Walks a function's body in the order in which it runs, and notes its raises, calls, returns and messages.

Names are followed from assignment to use (``msg = "..."`` and then ``raise ValueError(msg)``), branch by branch;
what stands behind a ``return`` or ``raise`` in the same block never runs and is not looked at.
"""

import ast
from collections.abc import Callable, Iterable, Iterator
from typing import ClassVar

from reflexion.evidence.python.messages import MessageReader, Value
from reflexion.evidence.python.scopes import Scope
from reflexion.evidence.python.syntax import FUNCTIONS, FunctionNode, dotted_name, is_constant
from reflexion.evidence.python.thrown import Thrower
from reflexion.evidence.python.units import Catcher, Environment, Guard, Guards, SelfField, Unit, Use, parameter_names

_MOST_VALUES = 8
_UNKNOWN = (Value(None),)
_LEAVES = (ast.Constant, ast.operator, ast.unaryop, ast.boolop, ast.cmpop, ast.expr_context)
_YIELDS = (ast.Yield, ast.YieldFrom)


class Walker:
    """Fills one unit. ``thrower`` knows the file's classes; ``module`` its top level."""

    notes_raises: ClassVar[bool] = True
    # Methods that are followed here, so that what they give the object is in the names already.
    own_writers: ClassVar[frozenset[str]] = frozenset()

    def __init__(self, unit: Unit, module: Scope, thrower: Thrower, environment: Environment | None = None) -> None:
        self.unit = unit
        self.module = module
        self.thrower = thrower
        self.guards: Guards = ()
        self.sure = True
        self.handlers: list[tuple[str | None, Catcher]] = []
        self.breaks: list[list[Environment]] = []
        self.start: Environment = dict.fromkeys(parameter_names(unit.node), _UNKNOWN) | (environment or {})
        self.end: Environment = {}

    def run(self) -> None:
        """Walk the whole body."""
        self.unit.bound.update(parameter_names(self.unit.node))
        end = self.block(self.unit.node.body, self.start)
        self.unit.falls_through = end is not None
        self.end = self.start if end is None else end

    def block(self, body: list[ast.stmt], names: Environment) -> Environment | None:
        """Walk statements; return the names at their end, or None where the end is never reached."""
        now: Environment | None = names
        for statement in body:
            visit = self.STATEMENTS.get(type(statement))
            now = visit(self, statement, names) if visit else self._plain(statement, names)
            if now is None:
                return None
            names = now
        return now

    # Statements that only hold expressions

    def _plain(self, node: ast.stmt, names: Environment) -> Environment | None:
        for child in _children(node):
            self.scan(child, names)
        return names

    def _assign(self, node: ast.stmt, names: Environment) -> Environment:
        assert isinstance(node, ast.Assign | ast.AnnAssign)
        if node.value is None:
            return names
        self.scan(node.value, names)
        for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
            if isinstance(target, ast.Name):
                self.unit.bound.add(target.id)
                names[target.id] = self._values(node.value, names)
            else:
                self._target(target, node, names)
        return names

    def _target(self, target: ast.expr, node: ast.Assign | ast.AnnAssign, names: Environment) -> None:
        if isinstance(target, ast.Attribute) and dotted_name(target.value) == self.unit.self_name:
            self.unit.self_fields.append(SelfField(target.attr, node, node.value))
            names[f"self.{target.attr}"] = self._values(node.value, names) if node.value else _UNKNOWN
            self._use(target, names, called=False)
        elif isinstance(target, ast.Tuple | ast.List) and node.value is not None:
            for element in target.elts:
                if isinstance(element, ast.Attribute) and dotted_name(element.value) == self.unit.self_name:
                    self.unit.self_fields.append(SelfField(element.attr, node, None))
            self._forget(target, names)
        else:
            self.scan(target, names)

    def _augment(self, node: ast.stmt, names: Environment) -> Environment:
        assert isinstance(node, ast.AugAssign)
        self.scan(node.value, names)
        name = dotted_name(node.target)
        if isinstance(node.target, ast.Name) and isinstance(node.op, ast.Add) and not self.breaks:
            longer = ast.BinOp(left=ast.Name(id=node.target.id, ctx=ast.Load()), op=node.op, right=node.value)
            names[node.target.id] = (Value(None, self.reader(names).texts(longer)),)
        elif name:
            names[name] = _UNKNOWN
        return names

    def _leave(self, node: ast.stmt, names: Environment) -> None:
        if isinstance(node, ast.Return):
            self.unit.returns.append(node.value)
            if node.value is not None:
                self.scan(node.value, names)
        elif isinstance(node, ast.Break) and self.breaks:
            self.breaks[-1].append(names)

    def _throw(self, node: ast.stmt, names: Environment) -> None:
        assert isinstance(node, ast.Raise)
        for part in (node.exc, node.cause):
            if part is not None:
                self.scan(part, names)
        if not self.notes_raises:
            return
        sites = self.thrower.sites(node, self.unit, names, self.reader(names), self.handlers)
        for site in sites:
            site.guards = self.guards
            site.sure = site.sure and self.sure
        self.unit.sites.extend(sites)

    def _claim(self, node: ast.stmt, names: Environment) -> Environment | None:
        assert isinstance(node, ast.Assert)
        self.scan(node.test, names)
        self.unit.sites.extend(self.thrower.asserted(node, self.reader(names), self.guards))
        return None if is_constant(node.test, False) else names

    def _define(self, node: ast.stmt, names: Environment) -> Environment:
        if isinstance(node, ast.ClassDef):
            for member in node.body:
                if isinstance(member, FUNCTIONS):
                    self._nested(member, f"{node.name}.{member.name}", names, is_method=True)
        elif isinstance(node, FUNCTIONS):
            for default in (*node.args.defaults, *node.args.kw_defaults, *node.decorator_list):
                if default is not None:
                    self.scan(default, names)
            self._nested(node, node.name, names, is_method=False)
        return names

    def _nested(self, node: FunctionNode, name: str, names: Environment, *, is_method: bool) -> None:
        if not self.notes_raises:
            return
        own = parameter_names(node)
        inner = Unit(f"{self.unit.name}.<locals>.{name}", node, self.unit.owner, self.unit)
        if is_method:
            inner.owner = None
        elif self.unit.self_name not in own:
            inner.self_name = self.unit.self_name
        self.unit.nested[name] = inner
        closure = {key: value for key, value in names.items() if key not in own}
        Walker(inner, self.module, self.thrower, closure).run()

    # Statements that branch

    def _branch(self, node: ast.stmt, names: Environment) -> Environment | None:
        assert isinstance(node, ast.If)
        ends: list[Environment | None] = []
        while True:
            self.scan(node.test, names)
            truth = self.truth(node.test, names)
            if truth is not False:
                ends.append(self.block(node.body, dict(names)))
            if truth is True:
                break
            if len(node.orelse) != 1 or not isinstance(node.orelse[0], ast.If):
                ends.append(self.block(node.orelse, dict(names)))
                break
            node = node.orelse[0]
        return merged(ends)

    def truth(self, test: ast.expr, names: Environment) -> bool | None:
        """Return what a condition always is, or None where it depends."""
        return bool(test.value) if isinstance(test, ast.Constant) else None

    def _loop(self, node: ast.stmt, names: Environment) -> Environment | None:
        assert isinstance(node, ast.For | ast.AsyncFor | ast.While)
        self.scan(node.test if isinstance(node, ast.While) else node.iter, names)
        inside = dict(names)
        if not isinstance(node, ast.While):
            self._forget(node.target, inside)
        self.breaks.append([])
        ends = [self.block(node.body, inside)]
        broken = self.breaks.pop()
        if not isinstance(node, ast.While) or self.truth(node.test, names) is not True:
            ends.append(self.block(node.orelse, merged([names, *ends]) or dict(names)))
            return merged([*ends, *broken])
        return merged(broken)

    def _attempt(self, node: ast.stmt, names: Environment) -> Environment | None:
        assert isinstance(node, ast.Try | ast.TryStar)
        catchers = [Catcher(self.thrower.caught_types(handler.type, self.unit)) for handler in node.handlers]
        outside = self.guards
        self.guards = (*outside, Guard(catchers))
        after = self.block(node.body, dict(names))
        self.guards = outside
        ends = [None if after is None else self.block(node.orelse, dict(after))]
        before = merged([names, after]) or names
        for handler, catcher in zip(node.handlers, catchers, strict=True):
            self.handlers.append((handler.name, catcher))
            known = {name: value for name, value in before.items() if name != handler.name}
            ends.append(self.block(handler.body, known))
            self.handlers.pop()
        end = merged(ends)
        if node.finalbody:
            final = self.block(node.finalbody, dict(before if end is None else end))
            end = None if end is None else final
        return end

    def _manage(self, node: ast.stmt, names: Environment) -> Environment | None:
        assert isinstance(node, ast.With | ast.AsyncWith)
        outside = self.guards
        for item in node.items:
            self.scan(item.context_expr, names)
            if item.optional_vars is not None:
                self._forget(item.optional_vars, names)
            if isinstance(item.context_expr, ast.Call):
                self.guards = (*self.guards, *self._manager_guard(item.context_expr))
        end = self.block(node.body, dict(names))
        may_swallow = len(self.guards) > len(outside)
        self.guards = outside
        return merged([names, end]) if may_swallow else end

    def _manager_guard(self, manager: ast.Call) -> Guards:
        """Return what ``suppress`` or a context manager of this file catches; the latter is filled in later."""
        name = dotted_name(manager.func) or ""
        if name in {"suppress", "contextlib.suppress"}:
            types = [name for each in manager.args for name in self.thrower.caught_types(each, self.unit) or ("",)]
            return (Guard([Catcher(tuple(types))]),)
        if name.partition(".")[0] not in self.module.names and not name.startswith("self."):
            return ()
        guard = Guard([])
        self.unit.managers.append((guard, manager.func))
        return (guard,)

    def _choose(self, node: ast.stmt, names: Environment) -> Environment | None:
        assert isinstance(node, ast.Match)
        self.scan(node.subject, names)
        ends: list[Environment | None] = []
        for case in node.cases:
            inside = dict(names)
            for part in ast.walk(case.pattern):
                name = getattr(part, "name", None) or getattr(part, "rest", None)
                if isinstance(name, str):
                    inside[name] = _UNKNOWN
            if case.guard is not None:
                self.scan(case.guard, inside)
            ends.append(self.block(case.body, inside))
        last = node.cases[-1]
        if last.guard is not None or not isinstance(last.pattern, ast.MatchAs) or last.pattern.pattern is not None:
            ends.append(names)
        return merged(ends)

    # Expressions

    def scan(self, root: ast.AST, names: Environment) -> None:
        """Note every call and mention in an expression, without recursion."""
        stack: list[ast.AST] = [root]
        while stack:
            node = stack.pop()
            if isinstance(node, ast.Name):
                self._name(node, names)
            elif isinstance(node, ast.Attribute):
                if isinstance(node.value, ast.Name) and node.value.id == self.unit.self_name:
                    self._use(node, names, called=False)
                stack.append(node.value)
            elif isinstance(node, ast.Call):
                self._call(node, names, stack)
            elif isinstance(node, ast.Lambda):
                self._later(node, names)
            elif not isinstance(node, _LEAVES):
                self._note_yield(node)
                stack.extend(_children(node))

    def _call(self, node: ast.Call, names: Environment, stack: list[ast.AST]) -> None:
        func = node.func
        self._use(func, names, called=True)
        stack.extend(node.args)
        stack.extend([keyword.value for keyword in node.keywords])
        if isinstance(func, ast.Attribute):
            if func.attr == "__init__":
                self.unit.base_calls.append((node, dict(names)))
            stack.append(func.value)
        elif not isinstance(func, ast.Name):
            stack.append(func)

    def _name(self, node: ast.Name, names: Environment) -> None:
        if isinstance(node.ctx, ast.Store):
            self.unit.bound.add(node.id)
            names[node.id] = _UNKNOWN
        elif node.id in self.module.names and node.id not in self.unit.bound:
            self._use(node, names, called=False)

    def _note_yield(self, node: ast.AST) -> None:
        if isinstance(node, _YIELDS):
            self.unit.is_generator = True
            self.unit.yields.append(self.guards)

    def _later(self, node: ast.Lambda, names: Environment) -> None:
        before, self.sure = self.sure, False
        self.scan(node.body, names)
        self.sure = before

    def _use(self, func: ast.expr, names: Environment, *, called: bool) -> None:
        receiver = None
        if isinstance(func, ast.Attribute):
            receiver = func.value
            if isinstance(receiver, ast.Name):
                values = names.get(receiver.id, ())
                receiver = values[0].node if len(values) == 1 else None
        self.unit.uses.append(Use(func, self.guards, self.sure, called, receiver))

    # Names

    def _forget(self, target: ast.expr, names: Environment) -> None:
        for node in ast.walk(target):
            if isinstance(node, ast.Name):
                self.unit.bound.add(node.id)
                names[node.id] = _UNKNOWN

    def _values(self, node: ast.expr, names: Environment) -> tuple[Value, ...]:
        texts = self.reader(names).texts(node)
        return (Value(node, texts),)

    def reader(self, names: Environment) -> MessageReader:
        """Return what reads messages with the names as they stand at this place."""
        return MessageReader(lambda name: self.lookup(name, names))

    def lookup(self, name: str, names: Environment) -> tuple[Value, ...]:
        """Return the values that a dotted name can have at this place, none where it is unknown."""
        head, _, rest = name.partition(".")
        if rest and head == self.unit.self_name and self.unit.owner:
            return names.get(f"self.{rest}") or self.thrower.object_values(self.unit.owner, rest, self.own_writers)
        if name in names:
            return names[name]
        if head in self.unit.bound:
            return ()
        return self.thrower.module_values(name, self.unit.owner)

    STATEMENTS: ClassVar[dict[type[ast.stmt], Callable[["Walker", ast.stmt, Environment], Environment | None]]] = {
        ast.Assign: _assign,
        ast.AnnAssign: _assign,
        ast.AugAssign: _augment,
        ast.Return: _leave,
        ast.Break: _leave,
        ast.Continue: _leave,
        ast.Raise: _throw,
        ast.Assert: _claim,
        ast.FunctionDef: _define,
        ast.AsyncFunctionDef: _define,
        ast.ClassDef: _define,
        ast.If: _branch,
        ast.For: _loop,
        ast.AsyncFor: _loop,
        ast.While: _loop,
        ast.Try: _attempt,
        ast.TryStar: _attempt,
        ast.With: _manage,
        ast.AsyncWith: _manage,
        ast.Match: _choose,
    }


def _children(node: ast.AST) -> Iterator[ast.AST]:
    """Yield the nodes directly below; ``ast.iter_child_nodes`` does so in twice the time."""
    for name in node._fields:
        value = getattr(node, name, None)
        if isinstance(value, list):
            yield from [each for each in value if isinstance(each, ast.AST)]
        elif isinstance(value, ast.AST):
            yield value


def merged(ends: Iterable[Environment | None]) -> Environment | None:
    """Return what names can hold after any of several branches; None where none of them ends."""
    reached = [end for end in ends if end is not None]
    if len(reached) < 2:
        return reached[0] if reached else None
    result: Environment = {}
    for name in dict.fromkeys(name for end in reached for name in end):
        # An attribute that a branch leaves alone keeps what it held, which nobody knows here.
        missing = _UNKNOWN if name.startswith("self.") else ()
        every = tuple(dict.fromkeys(value for end in reached for value in end.get(name, missing)))
        result[name] = every if len(every) <= _MOST_VALUES else _UNKNOWN
    return result
