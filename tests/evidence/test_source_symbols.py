"""Symbols of a source: kinds, signatures, constructors, members, constants, and what counts as public."""

from textwrap import dedent

import pytest

from reflexion.evidence.facts import Facts, Signature, Symbol
from reflexion.evidence.source import facts_of_python


def facts(source: str) -> Facts:
    return facts_of_python(dedent(source), "m")


def symbol(source: str, name: str) -> Symbol:
    found = [each for each in facts(source).walk() if each.qualname == name]
    assert len(found) == 1, f"{name} is there {len(found)} times"
    return found[0]


def written(signature: Signature) -> str:
    """The signature as a person would write it, with the marks of each kind spelled out."""
    marks = {"positional-only": "/", "positional": "", "var-positional": "*", "keyword-only": "=", "var-keyword": "**"}
    parts = []
    for each in signature.parameters:
        annotation = "" if each.annotation is None else f": {each.annotation}"
        default = "" if each.default is None else f" {'->' if each.factory else ''}{each.default}"
        parts.append(f"{marks[each.kind]}{each.name}{annotation}{default}")
    return f"({', '.join(parts)})" + ("" if signature.returns is None else f" {signature.returns}")


FUNCTIONS = {
    "plain": ("def f(a, b=1): pass", "(a, b 1)"),
    "annotated": ("def f(a: int = 3) -> str: pass", "(a: int 3) str"),
    "all kinds": (
        "def f(a, /, b, *c, d, e=None, **g): pass",
        "(/a, b, *c, =d, =e None, **g)",
    ),
    "bare star": ("def f(*, a, b='x'): pass", "(=a, =b 'x')"),
    "async": ("async def f(a) -> None: pass", "(a) None"),
    "quoted annotation": ("def f(a: 'Account') -> 'list[Account]': pass", "(a: Account) list[Account]"),
    "half quoted annotation": ("def f(a: Optional['Account']): pass", "(a: Optional[Account])"),
    "quoted union": ("def f(a: 'int' | None): pass", "(a: int | None)"),
    "literal stays quoted": ("def f(a: Literal['x', 'y']): pass", "(a: Literal['x', 'y'])"),
    "metadata stays quoted": ("def f(a: Annotated['int', 'the size']): pass", "(a: Annotated[int, 'the size'])"),
    "callable": ("def f(a: Callable[['A'], None]): pass", "(a: Callable[[A], None])"),
    "unreadable quotes": ("def f(a: 'not an annotation'): pass", "(a: 'not an annotation')"),
    "default texts": (
        'def f(a="x", b=-1, c=(1, 2), d=MAX, e=m.X, g=[]): pass',
        "(a 'x', b -1, c (1, 2), d MAX, e m.X, g [])",
    ),
    "float": ("def f(a=1e3, b=.5): pass", "(a 1000.0, b 0.5)"),
    "ellipsis": ("def f(a=...): pass", "(a ...)"),
    "lambda": ("f = lambda a, b=2: a", "(a, b 2)"),
}


@pytest.mark.parametrize(("source", "expected"), FUNCTIONS.values(), ids=FUNCTIONS.keys())
def test_signature(source: str, expected: str) -> None:
    found = symbol(source, "f")
    assert found.kind == "function"
    assert [written(each) for each in found.signatures] == [expected]


CONSTRUCTORS = {
    "none": ("class A: pass", ["()"]),
    "init": ("class A:\n def __init__(self, a, *, b=1): pass", ["(a, =b 1)"]),
    "init with star": ("class A:\n def __init__(*args): pass", ["(*args)"]),
    "new": ("class A:\n def __new__(cls, a): pass", ["(a)"]),
    "init before new": ("class A:\n def __new__(cls, *a): pass\n def __init__(self, b): pass", ["(b)"]),
    "overloaded": (
        """
class A:
    @overload
    def __init__(self, a: int): ...
    @overload
    def __init__(self): ...
    def __init__(self, a=None): pass
""",
        ["(a: int)", "()"],
    ),
    "inherited": ("class B:\n def __init__(self, a): pass\nclass A(B): pass", ["(a)"]),
    "inherited twice": ("class C:\n def __init__(self, a): pass\nclass B(C): pass\nclass A(B): pass", ["(a)"]),
    "from outside": ("import m\nclass A(m.B): pass", []),
    "decorated outside": ("@define\nclass A:\n x: int", []),
    "metaclass": ("class A(metaclass=Meta): pass", []),
    "abstract": ("class A(ABC): pass", ["()"]),
    "abstract by metaclass": ("class A(metaclass=ABCMeta): pass", ["()"]),
    "exception": ("class A(ValueError): pass", []),
    "protocol": ("class A(Protocol): pass", []),
    "enum": ("class A(Enum):\n X = 1", []),
    "typed dict": ("class A(TypedDict):\n x: int", []),
    "generic": ("class A(Generic[T]):\n def __init__(self, a: T): pass", ["(a: T)"]),
    "named tuple": ("class A(NamedTuple):\n x: int\n y: str = 'a'", ["(x: int, y: str 'a')"]),
    "functional base": ("class A(namedtuple('A', 'x y')): pass", ["(x, y)"]),
    "functional": ("A = namedtuple('A', ['x', 'y'], defaults=[0])", ["(x, y 0)"]),
    "functional and typed": ("A = NamedTuple('A', [('x', int), ('y', 'str')])", ["(x: int, y: str)"]),
    "dataclass": ("@dataclass\nclass A:\n x: int\n y: str = 'a'", ["(x: int, y: str 'a')"]),
    "dataclass with options": ("@dataclasses.dataclass(frozen=True)\nclass A:\n x: 'int'", ["(x: int)"]),
    "default of a field": ("@dataclass\nclass A:\n x: int = field(default=3, repr=False)", ["(x: int 3)"]),
    "factory": ("@dataclass\nclass A:\n x: list = field(default_factory=list)", ["(x: list ->list)"]),
    "factory by lambda": (
        "@dataclass\nclass A:\n x: list = field(default_factory=lambda: [1])",
        ["(x: list ->lambda: [1])"],
    ),
    "not in the constructor": ("@dataclass\nclass A:\n x: int = field(init=False)\n y: int", ["(y: int)"]),
    "keyword only class": (
        "@dataclass(kw_only=True)\nclass A:\n x: int\n y: int = field(kw_only=False)",
        ["(y: int, =x: int)"],
    ),
    "keyword only field": ("@dataclass\nclass A:\n x: int = field(kw_only=True)\n y: int = 0", ["(y: int 0, =x: int)"]),
    "keyword only mark": ("@dataclass\nclass A:\n x: int\n _: KW_ONLY\n y: int", ["(x: int, =y: int)"]),
    "init variable": ("@dataclass\nclass A:\n x: InitVar[int] = 3", ["(x: int 3)"]),
    "class variable": ("@dataclass\nclass A:\n x: ClassVar[int] = 3\n y: 'typing.ClassVar' = 4", ["()"]),
    "no annotation": ("@dataclass\nclass A:\n x = 3", ["()"]),
    "own constructor": ("@dataclass\nclass A:\n x: int\n def __init__(self, a): pass", ["(a)"]),
    "no constructor": ("@dataclass(init=False)\nclass A:\n x: int", ["()"]),
    "dataclass of a dataclass": (
        "@dataclass\nclass B:\n x: int\n y: int = 0\n@dataclass\nclass A(B):\n x: str\n z: int = 1",
        ["(x: str, y: int 0, z: int 1)"],
    ),
    "child of a dataclass": ("@dataclass\nclass B:\n x: int\nclass A(B):\n y: int = 1", ["(x: int)"]),
    "dataclass of an unknown": ("import m\n@dataclass\nclass A(m.B):\n x: int", []),
    "dataclass exception": ("@dataclass\nclass A(Exception):\n x: int", ["(x: int)"]),
}


@pytest.mark.parametrize(("source", "expected"), CONSTRUCTORS.values(), ids=CONSTRUCTORS.keys())
def test_constructor(source: str, expected: list[str]) -> None:
    found = symbol(source, "A")
    assert found.kind == "class"
    assert [written(each) for each in found.signatures] == expected


def test_overloads_are_one_symbol_with_its_implementation() -> None:
    found = symbol(
        """
        import typing
        @typing.overload
        def f(a: int) -> int: ...
        @typing.overload
        async def f(a: str) -> str: ...
        async def f(a):
            '''Does it.'''
            return a
        """,
        "f",
    )
    assert [written(each) for each in found.signatures] == ["(a: int) int", "(a: str) str"]
    assert found.implementation is not None
    assert written(found.implementation) == "(a)"
    assert (found.is_async, found.docstring, found.line, found.end_line) == (True, "Does it.", 4, 9)


def test_overloads_of_a_method_in_a_stub() -> None:
    source = "class A:\n @overload\n def f(self, a: int): ...\n @overload\n def f(self, b: str): ..."
    found = symbol(source, "A.f")
    assert [written(each) for each in found.signatures] == ["(a: int)", "(b: str)"]
    assert found.implementation is None


ALTERNATIVES = {
    "if": "if x:\n def f(a): pass\nelse:\n def f(b): pass",
    "elif": "if x:\n def f(a): pass\nelif y:\n def f(b): pass",
    "try": "try:\n import q\n def f(a): pass\nexcept ImportError:\n def f(b): pass",
    "type checking": "if TYPE_CHECKING:\n def f(a): pass\nelse:\n def f(b): pass",
}


@pytest.mark.parametrize("source", ALTERNATIVES.values(), ids=ALTERNATIVES.keys())
def test_conditional_definitions_are_one_symbol(source: str) -> None:
    assert [written(each) for each in symbol(source, "f").signatures] == ["(a)", "(b)"]


def test_a_later_definition_replaces_an_earlier_one() -> None:
    assert [written(each) for each in symbol("def f(a): pass\ndef f(b): pass", "f").signatures] == ["(b)"]
    assert [written(each) for each in symbol("if x:\n def f(a): pass\ndef f(b): pass", "f").signatures] == ["(b)"]


def test_conditional_classes_are_one_symbol_with_all_members() -> None:
    found = symbol("if x:\n class A:\n  def a(self): pass\nelse:\n class A:\n  def b(self): pass", "A")
    assert [each.name for each in found.members] == ["a", "b"]


MEMBERS = '''
class A(Base):
    """A class."""
    limit: int = 3
    plain = "x"
    _hidden = 1
    declared: "str"
    def __init__(self, a):
        self.a = a
        self.count = 0
        self.name: str = "n"
        self._private = 1
        self.left, self.right = 1, 2
    def open(self):
        self.handle = None
    async def go(self, b) -> int: ...
    @staticmethod
    def static(c): ...
    @classmethod
    def make(cls, d): ...
    @property
    def size(self) -> "int":
        """The size."""
    @size.setter
    def size(self, value): ...
    @size.deleter
    def size(self): ...
    @functools.cached_property
    def cost(self) -> float: ...
    old = property(go)
    class Inner:
        def deep(self): ...
'''


def test_members_in_source_order() -> None:
    found = symbol(MEMBERS, "A")
    assert [(each.name, each.kind) for each in found.members] == [
        ("limit", "field"),
        ("plain", "field"),
        ("_hidden", "field"),
        ("declared", "field"),
        ("__init__", "method"),
        ("a", "field"),
        ("count", "field"),
        ("name", "field"),
        ("_private", "field"),
        ("left", "field"),
        ("right", "field"),
        ("open", "method"),
        ("handle", "field"),
        ("go", "method"),
        ("static", "method"),
        ("make", "method"),
        ("size", "property"),
        ("cost", "property"),
        ("old", "property"),
        ("Inner", "class"),
    ]
    assert (found.docstring, found.bases, found.open_bases, found.line, found.end_line) == (
        "A class.",
        ("Base",),
        True,
        2,
        32,
    )
    assert symbol(MEMBERS, "A.Inner.deep").kind == "method"


@pytest.mark.parametrize(
    ("name", "value", "annotation", "public"),
    [
        ("limit", "3", "int", True),
        ("plain", "'x'", None, True),
        ("_hidden", "1", None, False),
        ("declared", None, "str", True),
        ("a", None, None, True),
        ("count", "0", None, True),
        ("name", "'n'", "str", True),
        ("_private", "1", None, False),
        ("left", None, None, True),
        ("handle", "None", None, False),
    ],
)
def test_fields(name: str, value: str | None, annotation: str | None, public: bool) -> None:
    found = symbol(MEMBERS, f"A.{name}")
    assert (found.value, found.annotation, found.public) == (value, annotation, public)


def test_methods_and_properties() -> None:
    by_name = {each.name: each for each in symbol(MEMBERS, "A").members}
    assert [written(by_name[name].signatures[0]) for name in ("go", "static", "make")] == ["(b) int", "(c)", "(d)"]
    assert [by_name[name].binding for name in ("go", "static", "make")] == ["instance", "static", "class"]
    assert by_name["go"].is_async
    size = by_name["size"]
    assert (size.annotation, size.docstring, size.writable, size.deletable) == ("int", "The size.", True, True)
    assert size.signatures == ()
    cost = by_name["cost"]
    assert (cost.writable, cost.decorators) == (False, ("functools.cached_property",))


def test_inheritance_inside_the_file() -> None:
    source = """
        class Base:
            limit = 3
            def __init__(self, a): ...
            def run(self): ...
            def stop(self): ...
            def _hidden(self): ...
        class Middle(Base):
            def stop(self): ...
        class Child(Middle):
            def own(self): ...
    """
    found = symbol(source, "Child")
    assert found.inherited == ("Middle.stop", "Base.limit", "Base.run")
    assert not found.open_bases


FLAVOURS = {
    "class A: pass": "",
    "class A(Enum): pass": "enum",
    "class B(enum.IntFlag): pass\nclass A(B): pass": "enum",
    "class A(typing.Protocol): pass": "protocol",
    "class P(Protocol): pass\nclass A(P): pass": "",
    "class A(TypedDict, total=False): pass": "typeddict",
    "class A(NamedTuple): pass": "namedtuple",
    "@dataclass\nclass A: pass": "dataclass",
    "class A(Exception): pass": "exception",
    "class B(KeyError): pass\nclass A(B): pass": "exception",
    "import m\nclass A(m.ApiError): pass": "exception",
    "class A(dict): pass": "",
}


@pytest.mark.parametrize(("source", "flavour"), FLAVOURS.items())
def test_flavour(source: str, flavour: str) -> None:
    assert symbol(source, "A").flavour == flavour


def test_enum_members() -> None:
    source = "class A(Enum):\n RED = 1\n BLUE = auto()\n _ignore_ = ['x']\n label: str\n def m(self): pass"
    kinds = [(each.name, each.kind, each.value) for each in symbol(source, "A").members]
    assert kinds == [
        ("RED", "enum member", "1"),
        ("BLUE", "enum member", "auto()"),
        ("_ignore_", "field", "['x']"),
        ("label", "field", None),
        ("m", "method", None),
    ]


@pytest.mark.parametrize(
    ("source", "members"),
    [
        ("A = Enum('A', 'RED BLUE')", [("RED", "enum member", None, None), ("BLUE", "enum member", None, None)]),
        ("A = enum.IntEnum('A', {'RED': 1})", [("RED", "enum member", "1", None)]),
        ("A = TypedDict('A', {'x': int, 'y': 'str'})", [("x", "field", None, "int"), ("y", "field", None, "str")]),
        ("A = namedtuple('A', 'x, y', defaults=(0,))", [("x", "field", None, None), ("y", "field", "0", None)]),
        (
            "class A(namedtuple('A', 'x')):\n def f(self): pass",
            [("x", "field", None, None), ("f", "method", None, None)],
        ),
    ],
)
def test_classes_made_by_calls(source: str, members: list[tuple[str, str, str | None, str | None]]) -> None:
    found = symbol(source, "A")
    assert (found.kind, found.public) == ("class", True)
    assert [(each.name, each.kind, each.value, each.annotation) for each in found.members] == members
    assert all(each.public for each in found.members)
