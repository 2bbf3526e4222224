"""SHA-256 and what is built on it."""

from __future__ import annotations

import hashlib
import hmac

from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.kdf.hkdf import HKDF


def sha256(data: bytes) -> bytes:
    """SHA-256 (FIPS 180-4): 32 bytes."""
    return hashlib.sha256(data).digest()


def sha256_hex(data: bytes) -> str:
    """SHA-256 as 64 lower-case hex characters."""
    return hashlib.sha256(data).hexdigest()


def hmac_sha256(key: bytes, message: bytes) -> bytes:
    """HMAC-SHA-256 (RFC 2104): 32 bytes."""
    return hmac.digest(key, message, "sha256")


def hkdf_sha256(input_key: bytes, *, salt: bytes | None, info: bytes, length: int) -> bytes:
    """HKDF-SHA-256 (RFC 5869), extract and expand. No salt is 32 zero bytes."""
    return HKDF(hashes.SHA256(), length, salt, info).derive(input_key)
