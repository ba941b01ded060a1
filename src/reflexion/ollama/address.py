"""The address of a model server, in every form that people write it."""

import ipaddress
import re
from urllib.parse import quote, unquote, urlsplit

DEFAULT_PORT = 11434
DEFAULT_URL = f"http://127.0.0.1:{DEFAULT_PORT}"


def normalise(value: str) -> str:
    """Return ``value`` as a base URL with scheme, host and port, without a trailing slash.

    No scheme means http; no port means 11434, or 443 for https. The wildcard addresses that servers bind to
    (0.0.0.0, ::) become loopback, since nobody can connect to them everywhere. A path and credentials are kept.
    Raises ValueError with one line for what is no address.
    """
    text = value.strip().strip("\"'").strip()
    if "://" not in text:
        text = f"http://{_bracketed(text)}"
    if re.search(r"\s", text):
        raise ValueError(f'"{value}" is not a server address: it has a space in it')
    try:
        parts = urlsplit(text)
        port = parts.port
    except ValueError as error:
        raise ValueError(f'"{value}" is not a server address: {error}') from error
    if parts.scheme not in ("http", "https"):
        raise ValueError(f'"{value}" is not a server address: the scheme should be http or https')
    if parts.query or parts.fragment:
        raise ValueError(f'"{value}" is not a server address: it has a query or a fragment')
    try:
        (parts.hostname or "").encode("idna")
    except UnicodeError as error:
        raise ValueError(f'"{value}" is not a server address: {error}') from error
    host = _client_host(parts.hostname or "127.0.0.1")
    port = port or (443 if parts.scheme == "https" else DEFAULT_PORT)
    return f"{parts.scheme}://{_credentials(parts.username, parts.password)}{host}:{port}{parts.path.rstrip('/')}"


def is_loopback(url: str) -> bool:
    """Return whether a base URL can only lead to this machine."""
    host = urlsplit(url).hostname or ""
    if host.casefold() == "localhost":
        return True
    try:
        address = ipaddress.ip_address(host.partition("%")[0])
    except ValueError:
        return False
    mapped = getattr(address, "ipv4_mapped", None)
    return bool((mapped or address).is_loopback)


def ollama_command(words: str, url: str) -> str:
    """Return ``ollama WORDS`` as it is typed for the server at a base URL, and not for that at the default address."""
    parts = urlsplit(url)
    place = parts.netloc.rpartition("@")[2]
    where = f"{parts.scheme}://{place}{parts.path}".removeprefix("http://")
    elsewhere = "" if where in (f"127.0.0.1:{DEFAULT_PORT}", f"localhost:{DEFAULT_PORT}") else f"OLLAMA_HOST={where} "
    return f"{elsewhere}ollama {words}"


def without_credentials(url: str) -> str:
    """Return the URL as it may be shown: user and password replaced."""
    return re.sub(r"//[^@/]*@", "//***@", url)


def _bracketed(text: str) -> str:
    """Put a bare IPv6 address into brackets, so that its colons are not read as a port."""
    host, slash, path = text.partition("/")
    try:
        ipaddress.IPv6Address(host.partition("%")[0])
    except ValueError:
        return text
    return f"[{host}]{slash}{path}"


def _client_host(host: str) -> str:
    try:
        address = ipaddress.ip_address(host.partition("%")[0])
    except ValueError:
        return host
    if address.is_unspecified:
        return "127.0.0.1" if address.version == 4 else "[::1]"
    return f"[{host}]" if address.version == 6 else host


def _credentials(user: str | None, password: str | None) -> str:
    if user is None:
        return ""
    secret = f":{quote(unquote(password), safe='')}" if password is not None else ""
    return f"{quote(unquote(user), safe='')}{secret}@"
