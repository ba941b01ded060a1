"""The message of a raise: exact, as a template, through variables, and through exceptions of the same file."""

from textwrap import dedent

import pytest

from reflexion.evidence.facts import Raise
from reflexion.evidence.source import facts_of_python


def raises(source: str) -> tuple[Raise, ...]:
    facts = facts_of_python(dedent(source), "m")
    return next(each for each in facts.symbols if each.name == "f").raises


EXPRESSIONS = {
    "constant": ("'a b'", "a b"),
    "implicit concatenation": ("'a ' 'b'", "a b"),
    "sum": ("'a ' + 'b'", "a b"),
    "f-string": ("f'no {x}'", "no {x}"),
    "conversion and format": ("f'{x!r} of {n:>10.2f}'", "{x} of {n}"),
    "expression": ("f'{x.name} has {len(x)}'", "{x.name} has {len(x)}"),
    "f-string without parts": ("f'plain'", "plain"),
    "escaped braces": ("f'{{x}} is {x}'", "{x} is {x}"),
    "mixed concatenation": ("'a ' f'{x}' ' b'", "a {x} b"),
    "sum with a value": ("'a ' + str(x)", "a {x}"),
    "sum of three": ("'a ' + x + ' b'", "a {x} b"),
    "percent": ("'a %s' % x", "a {x}"),
    "percent with a tuple": ("'%d of %s, 100%%' % (n, x)", "{n} of {x}, 100%"),
    "percent with names": ("'%(n)s of %(x)r' % {'n': 1 + n, 'x': x}", "{1 + n} of {x}"),
    "percent with a mapping": ("'%(n)s' ' left' % x", "{n} left"),
    "format": ("'a {} b {}'.format(x, n)", "a {x} b {n}"),
    "format by number": ("'{1} {0}!'.format(x, n)", "{n} {x}!"),
    "format by name": ("'{a!r:>4}, {a.b}!'.format(a=x)", "{x}, {x.b}!"),
    "format with attributes": ("'{0.name}!'.format(x)", "{x.name}!"),
    "format with escapes": ("'{{}} {}'.format(x)", "{} {x}"),
    "format of a sum": ("('a ' + '{}').format(x)", "a {x}"),
    "translated": ("_('a b')", "a b"),
    "module constant": ("TEXT", "the text"),
    "template in a constant": ("TEXT + ': ' + x", "the text: {x}"),
    "format of a constant": ("TEMPLATE % x", "no {x} here"),
    "class constant": ("Texts.ONE", "one"),
    "name alone": ("x", None),
    "call": ("describe(x)", None),
    "str of a value": ("str(x)", None),
    "number": ("42", None),
    "nothing constant": ("f'{x}'", None),
    "unreadable format": ("'{'.format(x)", None),
    "too few values": ("'%s %s' % (x,)", None),
}


@pytest.mark.parametrize(("expression", "message"), EXPRESSIONS.values(), ids=EXPRESSIONS.keys())
def test_message_of_an_expression(expression: str, message: str | None) -> None:
    source = f"""
TEXT = "the text"
TEMPLATE = "no %s here"
class Texts:
    ONE = "one"
def f(x, n):
    raise ValueError({expression})
"""
    (found,) = raises(source)
    assert found.message == message
    assert found.template is (message is not None and len(found.literals) > 1)


@pytest.mark.parametrize(
    ("expression", "literals", "template"),
    [
        ("'a'", ("a",), False),
        ("f'a {x} b'", ("a ", " b"), True),
        ("f'{x}: {n}'", ("", ": ", ""), True),
        ("f'{x} {{n}}'", ("", " {n}"), True),
        ("x", (), False),
    ],
)
def test_literals_stand_around_the_computed_parts(expression: str, literals: tuple[str, ...], template: bool) -> None:
    (found,) = raises(f"def f(x, n):\n    raise ValueError({expression})")
    assert (found.literals, found.template) == (literals, template)


CALLS = {
    "no argument": ("raise ValueError()", [None]),
    "second argument": ("raise ConfigError(x, 'bad')", ["bad"]),
    "error number": ("raise OSError(2, 'gone')", ["gone"]),
    "keyword": ("raise HTTPException(status_code=404, detail='gone')", ["gone"]),
    "variable": ("msg = 'a'\n    raise ValueError(msg)", ["a"]),
    "variable used twice": (
        "if x:\n        msg = 'a'\n        raise KeyError(msg)\n    msg = f'b {x}'\n    raise OSError(msg)",
        ["a", "b {x}"],
    ),
    "variable of two branches": (
        "if x:\n        m = 'a'\n    else:\n        m = 'b'\n    raise ValueError(m)",
        ["a", "b"],
    ),
    "variable grown": ("m = 'a'\n    m += ' b'\n    raise ValueError(m)", ["a b"]),
    "variable from itself": ("m = 'a'\n    m = m + ' b'\n    raise ValueError(m)", ["a b"]),
    "variable grown in a branch": ("m = 'a'\n    if x: m += ' b'\n    raise ValueError(m)", ["a b", "a"]),
    "variable of a loop": ("for m in x:\n        raise ValueError(m)", [None]),
    "variable lost": ("m = 'a'\n    m = x()\n    raise ValueError(m)", [None]),
    "variable of a with": ("m = 'a'\n    with x as m:\n        raise ValueError(m)", [None]),
    "parameter hides constant": ("raise ValueError(x)", [None]),
    "conditional": ("raise ValueError('a' if x else 'b')", ["a", "b"]),
    "exception held in a variable": ("e = ValueError('a')\n    raise e from None", ["a"]),
}


@pytest.mark.parametrize(("body", "messages"), CALLS.values(), ids=CALLS.keys())
def test_message_of_a_call(body: str, messages: list[str | None]) -> None:
    assert [each.message for each in raises(f"x = 'hidden'\ndef f(x):\n    {body}")] == messages


def test_nested_function_knows_the_names_around_it() -> None:
    (found,) = raises("def f():\n    msg = 'a'\n    def inner():\n        raise ValueError(msg)\n    inner()")
    assert found.message == "a"


CLASSES = """
class Default(Exception):
    def __init__(self, message="by default"):
        super().__init__(message)

class Fixed(Exception):
    def __init__(self):
        super().__init__("always this")

class Named(Exception):
    def __init__(self, name, kind="user", *, code=None):
        self.name = name
        self.text = f"{kind} {name} not found"
        super().__init__(self.text)

class Child(Named):
    pass

class Grandchild(Child):
    def __init__(self, name):
        super().__init__(name, kind="group")

class ByName(Exception):
    def __init__(self, name):
        Exception.__init__(self, "no " + name)

class OnDemand(Exception):
    default = "class default"
    def __init__(self, message=None):
        super().__init__(message or self.default)

class Branching(Exception):
    def __init__(self, message=None):
        if message is None:
            message = "nothing given"
        super().__init__(message)

class Conditional(Exception):
    def __init__(self, message=None):
        super().__init__(message if message is not None else "nothing given")

class Told(Exception):
    def __init__(self, name):
        self.name = name
    def __str__(self):
        return f"told of {self.name}"

class Kept(Exception):
    def __init__(self, message):
        self.message = message

class Plain(ValueError):
    pass

class Counted(Exception):
    def __init__(self, what, count):
        text = "%s is %d" % (what, count)
        super().__init__("{}, {extra!r}".format(text, extra=what))

class Strict(Exception):
    def __init__(self, message):
        def check():
            raise Strict("nested")
        if not message:
            raise Strict("none given")
        super().__init__(message)

class Maker:
    @classmethod
    def _bad(cls, what):
        return Named(what, kind="made")
    @staticmethod
    def _worse(what):
        message = f"worse: {what}"
        return ValueError(message)
    def f(self, x):
        raise self._bad(x)
    def g(self):
        raise self._worse("all")
"""


@pytest.mark.parametrize(
    ("statement", "message"),
    [
        ("raise Default", "by default"),
        ("raise Default()", "by default"),
        ("raise Default('other')", "other"),
        ("raise Default(f'other {x}')", "other {x}"),
        ("raise Default(message='other')", "other"),
        ("raise Default(*x)", None),
        ("raise Fixed()", "always this"),
        ("raise Named('bob')", "user bob not found"),
        ("raise Named(x)", "user {x} not found"),
        ("raise Named(x.id, kind='group')", "group {x.id} not found"),
        ("raise Named(3)", "user 3 not found"),
        ("raise Child('bob', 'guest')", "guest bob not found"),
        ("raise Grandchild('bob')", "group bob not found"),
        ("raise ByName(x)", "no {x}"),
        ("raise OnDemand", "class default"),
        ("raise OnDemand('given')", "given"),
        ("raise Branching", "nothing given"),
        ("raise Branching('given')", "given"),
        ("raise Conditional()", "nothing given"),
        ("raise Conditional('given')", "given"),
        ("raise Told('bob')", "told of bob"),
        ("raise Told(x)", "told of {x}"),
        ("raise Kept('given')", "given"),
        ("raise Plain('given')", "given"),
        ("raise Plain", None),
        ("raise Counted('n', 3)", "n is 3, n"),
        ("raise Counted(x, x.size)", "{x} is {x.size}, {x}"),
        ("raise Strict('given')", "given"),
    ],
)
def test_message_of_an_exception_of_this_file(statement: str, message: str | None) -> None:
    found = raises(f"{CLASSES}\ndef f(x):\n    {statement}\n")
    assert [each.message for each in found if not each.via] == [message]


@pytest.mark.parametrize(("name", "message"), [("f", "made {x} not found"), ("g", "worse: all")])
def test_message_of_an_exception_made_by_a_method(name: str, message: str) -> None:
    found = next(each for each in facts_of_python(CLASSES, "m").walk() if each.qualname == f"Maker.{name}")
    assert [each.message for each in found.raises] == [message]


HELD = {
    "field": ("@dataclass\nclass C:\n    balance: int = 0\n", "self.balance", "need {amount}, have {self.balance}"),
    "field of a base": (
        "class C(Model):\n    balance: int = 0\n",
        "self.balance",
        "need {amount}, have {self.balance}",
    ),
    "set elsewhere": (
        "class C:\n    balance = 0\n    def add(self, n):\n        self.balance += n\n",
        "self.balance",
        "need {amount}, have {self.balance}",
    ),
    "counter of the module": (
        "have = 0\ndef add():\n    global have\n    have += 1\nclass C:\n    pass\n",
        "have",
        "need {amount}, have {have}",
    ),
    "constant of the class": ("class C:\n    LIMIT = 3\n", "self.LIMIT", "need {amount}, have 3"),
    "class variable": ("@dataclass\nclass C:\n    top: ClassVar[int] = 3\n", "self.top", "need {amount}, have 3"),
    "constant of the module": ("TOP = 3\nclass C:\n    pass\n", "TOP", "need {amount}, have 3"),
}


def raised_by_method(source: str) -> tuple[Raise, ...]:
    members = next(each for each in facts_of_python(source, "m").symbols if each.name == "C").members
    return next(each for each in members if each.name == "f").raises


@pytest.mark.parametrize(("owner", "held", "message"), HELD.values(), ids=HELD.keys())
def test_only_what_cannot_change_is_put_into_a_message(owner: str, held: str, message: str) -> None:
    low = "class Low(ValueError):\n    def __init__(self, needed, have):\n"
    low += '        super().__init__(f"need {needed}, have {have}")\n'
    method = f"    def f(self, amount):\n        raise Low(amount, {held})\n"
    (found,) = raised_by_method(low + owner + method)
    assert found.message == message


@pytest.mark.parametrize("first", ["have", "self.have"])
def test_what_one_branch_sets_is_not_what_the_message_says(first: str) -> None:
    source = f"""
class Low(ValueError):
    def __init__(self, have):
        super().__init__(f"have {{have}}")
class C:
    def f(self, have, again):
        if again:
            {first} = 0
        raise Low({first})
"""
    (found,) = raised_by_method(source)
    assert found.message == f"have {{{first}}}"
