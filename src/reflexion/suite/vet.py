"""Whether a suite is sound, by code alone: what it says, and what it does to modules that do nothing."""

import ast
from collections import Counter
from collections.abc import Iterator, Sequence

from reflexion.sandbox import Limits, Sandbox
from reflexion.suite.jobs import SUITE_FILE, Plan, run_job, source_bytes
from reflexion.suite.records import TestRecord, Told
from reflexion.suite.run import base, collect
from reflexion.suite.source import TARGET, Function, Suite, Test, read_suite
from reflexion.suite.stubs import ANSWERS, stub
from reflexion.suite.suite_scan import scan_suite

SLEEP_S = 1.0
STUB_S = 10.0
MAX_REASONS = 12
_EXPECTING = frozenset({"raises", "warns", "fail", "deprecated_call", "RaisesExc", "RaisesGroup"})
_BY_MOCK = "assert_"


def vet(suite: str, sandbox: Sandbox, *, sleep_s: float = SLEEP_S, stub_s: float = STUB_S) -> tuple[str, ...]:
    """Return what has to change before a suite can judge anything, a sentence each; empty when it is sound.

    ``sleep_s`` is the longest that one call may sleep; ``stub_s`` how long the suite may take against each stub, both
    in seconds. Raises SandboxError when the sandbox fails.
    """
    facts = read_suite(suite)
    reasons = tuple(dict.fromkeys(_by_text(facts, sleep_s)))[:MAX_REASONS]
    if reasons:
        return reasons
    collected = collect(suite, sandbox)
    if collected.reason:
        return (f"Change the suite so that it can be collected: {collected.reason}.",)
    return tuple(_against_stubs(suite, facts, sandbox, stub_s))[:MAX_REASONS]


def _by_text(facts: Suite, sleep_s: float) -> Iterator[str]:
    if facts.error:
        yield f"Write the suite as valid Python: it cannot be read ({facts.error})."
        return
    yield from _of_target(facts)
    yield from (
        f"Change line {flag.line} of the suite: it {_said(flag.what)}." for flag in scan_suite(facts.tree, facts.target)
    )
    yield from _of_sleep(facts.tree, sleep_s)
    yield from _of_tests(facts)


def _said(what: str) -> str:
    first = what.partition(" ")[0]
    return what if first.endswith("s") and first != "class" else f"has {what}"


def _of_target(facts: Suite) -> Iterator[str]:
    if facts.target != TARGET:
        other = f", not from {facts.target}" if facts.target else ""
        yield f"Import what is tested from {TARGET}{other}."
    elif facts.star:
        yield f"Import what is tested by name, not by a star: from {TARGET} import NAME."
    elif not facts.names:
        yield f"Use something of {TARGET}: the suite imports nothing of it by name."


def _of_sleep(tree: ast.Module, sleep_s: float) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and node.args and _last(node.func) == "sleep":
            value = node.args[0].value if isinstance(node.args[0], ast.Constant) else None
            if isinstance(value, int | float) and value > sleep_s:
                yield f"Do not sleep {value:g} s in line {node.lineno}: at most {sleep_s:g} s."


def _of_tests(facts: Suite) -> Iterator[str]:
    if not facts.tests:
        yield "Write tests: functions named test_..., with assertions."
        return
    for name, count in Counter(test.name for test in facts.tests).items():
        if count > 1:
            yield f"Give the {count} tests named {name} names of their own: only the last of them would run."
    helpers = {node.name: node for node in ast.walk(facts.tree) if isinstance(node, Function)}
    nodes = {node.lineno: node for node in helpers.values()}
    nodes |= {node.lineno: node for node in ast.walk(facts.tree) if isinstance(node, Function)}
    for test in facts.tests:
        yield from _of_test(test, nodes[test.line], helpers)


def _of_test(test: Test, node: Function, helpers: dict[str, Function]) -> Iterator[str]:
    if test.is_async:
        yield f"Write {test.name} as an ordinary function that calls asyncio.run: async tests need a plugin."
    for one in ast.walk(node):
        if isinstance(one, ast.Assert) and (why := _is_empty(one.test)):
            yield f"Replace the assertion in line {one.lineno}, {why}."
        elif isinstance(one, ast.ExceptHandler) and _catches_assertions(one):
            yield f"Do not catch failed assertions in line {one.lineno}: catch the one exception that is meant."
    if not _asserts(node, helpers, set()):
        yield f"Give {test.name} an assertion that always runs: assert, or with pytest.raises(...)."


def _is_empty(test: ast.expr) -> str:
    """Return why an assertion says nothing, "" when it says something."""
    if isinstance(test, ast.Constant | ast.Lambda) or (isinstance(test, ast.Tuple) and test.elts):
        return "which is always the same"
    if isinstance(test, ast.Compare) and len(test.ops) == 1 and _is_pure(test.left):
        if ast.dump(test.left) == ast.dump(test.comparators[0]):
            return "which compares a value with itself"
        if all(isinstance(one, ast.Constant) for one in (test.left, test.comparators[0])):
            return "which compares constants"
    parts = test.values if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.Or) else []
    return "which is always true" if any(isinstance(one, ast.Constant) and one.value for one in parts) else ""


def _is_pure(node: ast.expr) -> bool:
    return isinstance(node, ast.Name | ast.Constant)


def _catches_assertions(node: ast.ExceptHandler) -> bool:
    kinds = node.type.elts if isinstance(node.type, ast.Tuple) else [node.type]
    return any(one is None or _last(one) in {"AssertionError", "Exception", "BaseException"} for one in kinds)


def _asserts(node: ast.AST, helpers: dict[str, Function], seen: set[str]) -> bool:
    """Say whether this, or a helper that it calls, has an assertion that is not under a constant condition."""
    for one in _reachable(node):
        if isinstance(one, ast.Assert) and not _is_empty(one.test):
            return True
        if isinstance(one, ast.Call):
            name = _last(one.func)
            if name in _EXPECTING or name.startswith(_BY_MOCK):
                return True
            if name in helpers and name not in seen and _asserts(helpers[name], helpers, seen | {name}):
                return True
    return False


def _reachable(node: ast.AST) -> Iterator[ast.AST]:
    """Walk without what a constant condition keeps from running."""
    todo: list[ast.AST] = [node]
    while todo:
        one = todo.pop()
        yield one
        if isinstance(one, ast.If | ast.While) and isinstance(one.test, ast.Constant | ast.UnaryOp):
            held = _constant(one.test)
            todo += [] if held is None else (one.body if held else one.orelse)
            todo += list(ast.iter_child_nodes(one)) if held is None else []
        else:
            todo += ast.iter_child_nodes(one)


def _constant(test: ast.expr) -> bool | None:
    if isinstance(test, ast.Constant):
        return bool(test.value)
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not) and isinstance(test.operand, ast.Constant):
        return not test.operand.value
    return None


def _against_stubs(suite: str, facts: Suite, sandbox: Sandbox, stub_s: float) -> Iterator[str]:
    plan = Plan(tuple(ANSWERS), seconds=stub_s)
    files = {f"{answer}/{TARGET}.py": stub(facts, answer) for answer in ANSWERS}
    files |= {f"{answer}/{SUITE_FILE}": source_bytes(suite) for answer in ANSWERS}
    completed, told = run_job(sandbox, plan, files, Limits(wall_s=stub_s * len(ANSWERS) + stub_s))
    if any(one.forged for one in told.values()) or completed.exit_code != plan.code:
        yield "Leave the process of the tests alone: against a module that does nothing, the suite ended it."
        return
    passing = [answer for answer, one in told.items() if _passes_all(facts, one)]
    if passing:
        yield f"Test more: a module whose functions all return {_in_words(passing[0])} passes the suite."
        return
    for name in facts.names:
        yield from _of_name(name, facts, list(told.items()))


def _of_name(name: str, facts: Suite, told: Sequence[tuple[str, Told]]) -> Iterator[str]:
    using = {test.name for test in facts.tests if name in test.uses}
    if not using:
        yield f"Test {name}, or do not import it: no test uses it."
        return
    for answer, one in told:
        records = [record for record in one.tests.values() if base(record.name) in using]
        if records and all(record.outcome == "passed" for record in records):
            yield f"Test {name} more: a module whose functions all return {_in_words(answer)} passes each test of it."
            return
    records = [record for _, one in told for record in one.tests.values() if base(record.name) in using]
    if not any(_is_by_assertion(record) for record in records):
        yield (
            f"Have a test of {name} fail by an assertion: against modules that do nothing, its tests end only by other"
            " errors."
        )


def _is_by_assertion(record: TestRecord) -> bool:
    return record.outcome == "failed" and record.raised in {"AssertionError", "Failed"}


def _passes_all(facts: Suite, told: Told) -> bool:
    return told.end == 0 and bool(told.tests) and all(one.outcome == "passed" for one in told.tests.values())


def _in_words(answer: str) -> str:
    return {
        "nothing": "an object that is equal to nothing",
        "none": "None",
        "first": "their first argument",
        "zero": "0",
        "text": "an empty text",
        "true": "True",
        "list": "an empty list",
    }[answer]


def _last(node: ast.AST) -> str:
    if isinstance(node, ast.Attribute):
        return node.attr
    return node.id if isinstance(node, ast.Name) else ""
