"""Signed tokens with an expiry."""

import base64
import hashlib
import hmac
import json
import time

ALGORITHM = "sha256"
MIN_KEY_BYTES = 32
LEEWAY_SECONDS = 30


class TokenError(Exception):
    """A token cannot be used."""


class TokenExpired(TokenError):
    """A token was good once."""


class BadSignature(TokenError):
    """A token was not made with this key."""


def _sign(key: bytes, body: bytes) -> str:
    if len(key) < MIN_KEY_BYTES:
        raise ValueError(f"key must have at least {MIN_KEY_BYTES} bytes")
    return hmac.new(key, body, ALGORITHM).hexdigest()


def issue(key: bytes, subject: str, lifetime: int = 3600, *, scopes: list[str] | None = None) -> str:
    """Make a token."""
    if lifetime <= 0:
        raise ValueError("lifetime must be positive")
    claims = {"sub": subject, "exp": int(time.time()) + lifetime, "scopes": scopes or []}
    body = base64.urlsafe_b64encode(json.dumps(claims).encode())
    return f"{body.decode()}.{_sign(key, body)}"


def verify(key: bytes, token: str, leeway: int = LEEWAY_SECONDS) -> dict[str, object]:
    """Check a token and return its claims."""
    body, dot, signature = token.partition(".")
    if not dot:
        raise TokenError("token has no signature")
    if not hmac.compare_digest(_sign(key, body.encode()), signature):
        raise BadSignature("signature does not match")
    claims: dict[str, object] = json.loads(base64.urlsafe_b64decode(body))
    if int(str(claims["exp"])) + leeway < time.time():
        raise TokenExpired(f"token expired at {claims['exp']}")
    return claims


def fingerprint(key: bytes, length: int = 8) -> str:
    """Return a short name for a key."""
    return hashlib.new(ALGORITHM, key).hexdigest()[:length]
