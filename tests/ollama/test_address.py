"""Server addresses, in every form that people write them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reflexion.ollama.address import is_loopback, normalise, without_credentials


@pytest.mark.parametrize(
    ("written", "url"),
    [
        ("", "http://127.0.0.1:11434"),
        ("localhost", "http://localhost:11434"),
        ("box", "http://box:11434"),
        ("box:8080", "http://box:8080"),
        (":8080", "http://127.0.0.1:8080"),
        ("  box:8080 ", "http://box:8080"),
        ('"box:8080"', "http://box:8080"),
        ("http://box", "http://box:11434"),
        ("https://box", "https://box:443"),
        ("HTTP://Box:80", "http://box:80"),
        ("http://box:8080/", "http://box:8080"),
        ("http://box/ollama/", "http://box:11434/ollama"),
        ("http://user:p%40ss@box:1", "http://user:p%40ss@box:1"),
        ("0.0.0.0", "http://127.0.0.1:11434"),
        ("http://0.0.0.0:8080", "http://127.0.0.1:8080"),
        ("::", "http://[::1]:11434"),
        ("::1", "http://[::1]:11434"),
        ("[::1]", "http://[::1]:11434"),
        ("[::1]:8080", "http://[::1]:8080"),
        ("http://[::]:8080", "http://[::1]:8080"),
        ("192.168.1.5", "http://192.168.1.5:11434"),
    ],
)
def test_every_form_becomes_one_url(written: str, url: str) -> None:
    assert normalise(written) == url
    assert normalise(url) == url


@pytest.mark.parametrize(
    "written", ["box:port", "box:99999", "ftp://box", "http://bo x", "box?x=1", "http://[::1", "http://a..b"]
)
def test_what_is_no_address_is_said_in_one_line(written: str) -> None:
    with pytest.raises(ValueError, match="is not a server address") as error:
        normalise(written)
    assert written in str(error.value)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("url", "loopback"),
    [
        ("http://127.0.0.1:1", True),
        ("http://127.8.9.1:1", True),
        ("http://[::1]:1", True),
        ("http://[::ffff:127.0.0.1]:1", True),
        ("http://localhost:1", True),
        ("http://localhost.example.com:1", False),
        ("http://127.0.0.1.example.com:1", False),
        ("http://192.168.1.5:1", False),
        ("http://[fe80::1]:1", False),
    ],
)
def test_loopback_is_only_this_machine(url: str, loopback: bool) -> None:
    assert is_loopback(url) is loopback


def test_credentials_are_never_shown() -> None:
    assert without_credentials("http://user:secret@box:1/x") == "http://***@box:1/x"


@given(st.text(max_size=60))
def test_any_text_is_an_address_or_a_value_error(text: str) -> None:
    try:
        url = normalise(text)
    except ValueError:
        return
    assert normalise(url) == url
