"""Sign messages with HMAC-SHA256 and check signatures in constant time."""

import hashlib
import hmac

MIN_KEY_LENGTH = 32


class SignatureMismatchError(Exception):
    """The signature does not belong to the message."""


def sign(message: bytes, key: bytes) -> str:
    """Return the signature of the message as 64 hexadecimal digits."""
    _check_key(key)
    return hmac.new(key, message, hashlib.sha256).hexdigest()


def verify(message: bytes, signature: str, key: bytes) -> None:
    """Return nothing when the signature is right."""
    if not hmac.compare_digest(sign(message, key), signature):
        raise SignatureMismatchError("signature does not match the message")


def _check_key(key: bytes) -> None:
    if not isinstance(key, bytes):
        raise TypeError("key must be bytes")
    if len(key) < MIN_KEY_LENGTH:
        raise ValueError(f"key must be at least {MIN_KEY_LENGTH} bytes")
