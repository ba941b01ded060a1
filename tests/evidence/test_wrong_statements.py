"""Wrong statements in many wordings: each gives its finding, and the same words with the true value give none."""

import pytest

from reflexion.evidence.finding import Finding
from reflexion.evidence.source import facts_of_python
from reflexion.evidence.verify import verify

SIGNATURE = "connect(host: str, port: int = 80, *, timeout: float = 5.0, retry: bool = True) -> Client"
SOURCE = f'''"""Clients."""


class Client:
    """A client."""


def {SIGNATURE}:
    """Connect."""
    if port <= 0:
        raise ValueError("port must be positive")
    return Client()
'''
ITEMS = [
    "- `port` (int): The port (8080 by default).",
    "- `port` (int, 8080 by default): The port.",
    "- `port` (int): The port to use; default `8080`.",
    "- `port` (int): The port to use. If not provided, 8080 is used.",
    "- `port` (int): The port. If it is omitted, `8080` will be used.",
    "- `port` \u2013 int. The port; 8080 if omitted.",
    "- `port` \u2013 int. The port; `8080` if not given.",
    "- `port`: The port. When omitted, falls back to `8080`.",
    "- `port`: The port. Uses `8080` as default.",
    "- `port`: The port. Defaults to port 8080.",
    "- `port`, int, default 8080: the port.",
    "- `port` (int): The port.\n\n  Default: 8080",
    "- `port` (int): the port. Default `8080`",
    "- `port` (int): the port (default 8080)",
    "- **port** (int): The port. *Default: 8080*",
    "- `port` (int): The port. 8080 is the default.",
    "- port [int] (optional) The port. Default `8080`.",
]


def _codes(document: str, source: str = SOURCE) -> list[str]:
    return [f"{one.rule} {one.level}" for one in _findings(document, source)]


def _findings(document: str, source: str = SOURCE) -> list[Finding]:
    return [one for one in verify(document, facts_of_python(source, "net")) if one.rule not in QUIET]


QUIET = frozenset({"E301", "E305", "S101", "P201", "P202"})


def _item_page(item: str) -> str:
    others = "- `host`: The host.\n{}\n- `timeout`: The time limit.\n- `retry`: Whether to try again.\n"
    return f"# net\n\n## `connect`\n\nConnects.\n\n**Parameters**\n\n{others.format(item)}"


def _prose_page(sentence: str, signature: str = SIGNATURE) -> str:
    return f"# net\n\n## `{signature}`\n\nConnects to a host. {sentence}\n"


@pytest.mark.parametrize("item", ITEMS)
def test_a_wrong_default_in_an_item(item: str) -> None:
    assert _codes(_item_page(item)) == ["P204 error"]


@pytest.mark.parametrize("item", ITEMS)
def test_the_same_item_with_the_true_default(item: str) -> None:
    assert _codes(_item_page(item.replace("8080", "80"))) == []


@pytest.mark.parametrize("item", ITEMS)
@pytest.mark.parametrize("default", ["None", "_UNSET"])
def test_what_the_code_puts_in_for_none_is_no_wrong_default(item: str, default: str) -> None:
    source = SOURCE.replace("port: int = 80", f"port: int | None = {default}")
    softly = "(8080 by default" in item or "if " in item.lower() or "omitted" in item or "as default" in item
    assert not softly or "P204 error" not in _codes(_item_page(item), source)


def test_a_wrong_default_in_a_field_list() -> None:
    page = f"# net\n\n## `{SIGNATURE}`\n\n:param host: the host\n:param port: the port (default 8080)\n"
    assert "P204 error" in _codes(page)
    assert "P204 error" not in _codes(page.replace("8080", "80"))


@pytest.mark.parametrize("said", ["This parameter is required.", "Required."])
def test_required_with_a_default(said: str) -> None:
    assert _codes(_item_page(f"- `port` (int): The port. {said}")) == ["P204 error"]
    assert _codes(_item_page("- `port` (int): The port.").replace("The host.", f"The host. {said}")) == []


@pytest.mark.parametrize(
    "item",
    [
        "- `port` (int): The port. Raises `ValueError` if omitted.",
        "- `port` (int): The port, 8080 by default on other systems.",
        "- `port` (int): The port; a default `Client` uses its own.",
        "- `port` (int): The port. Of two, the one given first is used by default.",
        "- `port` (int): The port. This parameter is required if there is a proxy.",
        "- `port` (int): The port. The server listens on 8080 if not told otherwise.",
    ],
)
def test_other_values_near_the_word_default(item: str) -> None:
    assert _codes(_item_page(item)) == []


PROSE = [
    ("`timeout` is set to `30.0` by default.", "30.0", "5.0"),
    ("The `timeout` is 30.0 by default.", "30.0", "5.0"),
    ("By default, `timeout` is 30 seconds.", "30 ", "5 "),
    ("By default, the `timeout` is set to `30.0`.", "30.0", "5.0"),
    ("The default value of `timeout` is 60 seconds.", "60 ", "5 "),
    ("The default for `timeout` is `60`.", "60", "5"),
    ("The `port` parameter (default: 8080) selects the service.", "8080", "80"),
    ("The `port` parameter is optional and its default is 8080.", "8080", "80"),
    ("The default timeout is `30.0` seconds.", "30.0", "5.0"),
    ("The default port is 8080.", "8080", "80"),
    ("If `port` is not given, 8080 is used.", "8080", "80"),
    ("`port` is optional (default 8080).", "8080", "80"),
    ("Connects to `port` (by default `8080`) of it.", "8080", "80"),
    ("`timeout` has a default of `30.0`.", "30.0", "5.0"),
    ("The `port` defaults to 8080.", "8080", "80"),
]


@pytest.mark.parametrize(("sentence", "wrong", "true"), PROSE)
def test_a_wrong_default_in_prose(sentence: str, wrong: str, true: str) -> None:
    assert _codes(_prose_page(sentence)) == ["P204 error"]
    assert _codes(_prose_page(sentence.replace(wrong, true))) == []


@pytest.mark.parametrize(
    "sentence",
    [
        "By default, `timeout` is 30 seconds on a slow line.",
        "By default, `timeout` is 5000 milliseconds.",
        "By default, `port` is the one of the scheme, 8080 or 443.",
        "`port` is used by default, 8080 is not.",
        "The default proxy is `30.0` seconds away.",
        "The default timeout of the proxy is 30 seconds.",
        "The default port of the proxy is 8080.",
        "By default, `Client.timeout` is 30 seconds.",
        "`port` is 8080 by default if there is a proxy.",
    ],
)
def test_prose_that_is_not_about_the_default(sentence: str) -> None:
    assert _codes(_prose_page(sentence)) == []


@pytest.mark.parametrize(("sentence", "wrong", "true"), PROSE[:8])
def test_prose_on_what_stands_in_for_none(sentence: str, wrong: str, true: str) -> None:
    signature = SIGNATURE.replace("= 80", "= None").replace("= 5.0", "= None")
    source = SOURCE.replace(SIGNATURE, signature)
    softly = "y default" in sentence or "default value of" in sentence or "default for" in sentence
    assert not softly or _codes(_prose_page(sentence, signature), source) == []


RESULTS = [
    ("**Returns** `Socket`", "Socket", "Client"),
    ("**Returns**: A `Socket` object.", "Socket", "Client"),
    ("Returns a `Socket` object.", "Socket", "Client"),
    ("Returns `None`.", "`None`", "a `Client`"),
    ("**Returns:** True if connected, False otherwise.", "True if connected, False otherwise", "The client"),
    ("**Returns:** `True` if connected, `False` otherwise.", "`True` if connected, `False` otherwise", "The client"),
    ("Returns `True` on success.", "`True`", "the client"),
    ("### Returns\n\nTrue if connected.", "True", "The client"),
]


@pytest.mark.parametrize(("said", "wrong", "true"), RESULTS)
def test_a_wrong_result(said: str, wrong: str, true: str) -> None:
    assert _codes(_prose_page(f"\n\n{said}")) == ["R401 error"]
    assert _codes(_prose_page(f"\n\n{said.replace(wrong, true)}")) == []


@pytest.mark.parametrize("returns", ["bool", "bool | None", "TypeGuard[str]", "Any", "bool | Client"])
@pytest.mark.parametrize(("said", "_wrong", "_true"), RESULTS[4:])
def test_a_result_that_can_be_true(said: str, _wrong: str, _true: str, returns: str) -> None:
    signature = SIGNATURE.replace("-> Client", f"-> {returns}")
    assert _codes(_prose_page(f"\n\n{said}", signature), SOURCE.replace(SIGNATURE, signature)) == []


def test_true_where_nothing_is_returned() -> None:
    signature = SIGNATURE.replace("-> Client", "-> None")
    source = SOURCE.replace(SIGNATURE, signature).replace("return Client()", "return")
    assert _codes(_prose_page("Returns `True` on success.", signature), source) == ["R401 error"]
    assert _codes(_prose_page("Returns `None`.", signature), source) == []


@pytest.mark.parametrize(
    "said",
    [
        "**Returns:** True if cached, otherwise the client.",
        "Returns True for a cached host, or the client.",
        "Returns `None` if the host is down.",
        "Returns True on success. Returns the client in all other cases.",
        "Returns True-like clients.",
        "**Parameters**\n\n- `host`: The host. Returns `None`.\n- `port`: A.\n- `timeout`: B.\n- `retry`: C.",
        "**Returns** `host` in lower case.",
        "**Returns**: A `host` object.",
    ],
)
def test_words_that_leave_the_result_open(said: str) -> None:
    assert _codes(_prose_page(f"\n\n{said}")) == []


STATS = '''"""Stats."""


def stats(values: list[float]) -> dict[str, float]:
    """Return them."""
    return {"total": sum(values), "count": len(values), "mean": 0.0}
'''


@pytest.mark.parametrize(("last", "codes"), [("mean", []), ("average", ["R402 error", "R402 error"])])
def test_the_keys_of_the_returned_dictionary(last: str, codes: list[str]) -> None:
    said = f"The returned dictionary has the keys `total`, `count` and `{last}`."
    page = f"# net\n\n## `stats(values: list[float]) -> dict[str, float]`\n\nSums up. {said}\n"
    assert _codes(page, STATS) == codes
    assert _codes(page.replace("has the keys", "has, among others, the keys"), STATS) == []


JOBS = '''"""Jobs."""

import enum


class Priority(enum.IntEnum):
    """How urgent."""

    HIGH = 0
    NORMAL = 5
    LOW = 9
'''
MEMBERS = ["`{}`: {}", "**{}**: {}", "{}: {}", "`{}` ({})", "`{}` (value {}): words", "`{}` \u2013 {} \u2013 words"]


def _enum_page(form: str, lead: str = "How urgent a job is.", **values: int) -> str:
    items = "\n".join(f"- {form.format(*one)}" for one in values.items())
    return f"# jobs\n\n## `Priority`\n\nAn `IntEnum`. {lead}\n\n{items}\n"


@pytest.mark.parametrize("form", MEMBERS)
def test_wrong_members_in_a_list(form: str) -> None:
    wrong = _enum_page(form, HIGH=0, NORMAL=1, LOW=9, URGENT=3)
    assert _codes(wrong, JOBS) == ["S103 error", "S104 error"]
    assert _codes(_enum_page(form, HIGH=0, NORMAL=5, LOW=9), JOBS) == []


@pytest.mark.parametrize("form", MEMBERS)
def test_numbers_of_something_else_are_no_members(form: str) -> None:
    assert _codes(_enum_page(form, "The numbers of the log's own levels:", HIGH=1, NORMAL=2, LOW=3, OFF=4), JOBS) == []
