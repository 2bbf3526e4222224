"""Ed25519 (RFC 8032) under one profile, stricter than any one library (spec/signatures.md)."""

from __future__ import annotations

import secrets
from dataclasses import dataclass, field
from typing import Protocol

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

from .encoding import to_multibase
from .errors import TallyError

_FIELD_PRIME = 2**255 - 19
_GROUP_ORDER = 2**252 + 27742317777372353535851937790883648493
_SIGN_BIT = 1 << 255

# y of the eight points of small order, little-endian: two share each of the last three.
_SMALL_ORDER_YS = frozenset(
    int.from_bytes(bytes.fromhex(y), "little")
    for y in (
        "0100000000000000000000000000000000000000000000000000000000000000",
        "ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
        "0000000000000000000000000000000000000000000000000000000000000000",
        "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05",
        "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a",
    )
)


class Signer(Protocol):
    """A signing key, whose secret may be held elsewhere (an HSM, a key management service)."""

    @property
    def key_id(self) -> str:
        """The key's name in what it signs: its did:key unless it is published under another."""

    @property
    def public_key(self) -> bytes:
        """32 bytes."""

    def sign(self, message: bytes) -> bytes:
        """The 64-byte Ed25519 signature of exactly these bytes (RFC 8032, section 5.1.6)."""


@dataclass(frozen=True)
class SecretKeySigner:
    """A signer that holds its secret in memory; see ``create_signer``."""

    key_id: str
    public_key: bytes
    _secret: Ed25519PrivateKey = field(repr=False)

    def sign(self, message: bytes) -> bytes:
        return self._secret.sign(message)


def generate_secret_key() -> bytes:
    """Makes a secret key, the 32-byte seed of RFC 8032, by the system's random generator."""
    return secrets.token_bytes(32)


def create_signer(secret_key: bytes) -> SecretKeySigner:
    """The signer of a 32-byte seed (RFC 8032). Raises ``invalid_secret_key``."""
    if len(secret_key) != 32:
        message = f"An Ed25519 secret key is 32 bytes, not {len(secret_key)}."
        raise TallyError("invalid_secret_key", message)
    secret = Ed25519PrivateKey.from_private_bytes(secret_key)
    public_key = secret.public_key().public_bytes(
        serialization.Encoding.Raw, serialization.PublicFormat.Raw
    )
    return SecretKeySigner(f"did:key:{to_multikey(public_key)}", public_key, secret)


def verify_ed25519(public_key: bytes, message: bytes, signature: bytes) -> bool:
    """Returns whether a signature is valid: the same on every runtime, false for malformed input.

    The public key is 32 bytes and the signature 64, A and R are canonical and not of small order,
    S < L, and the cofactorless equation holds, which OpenSSL checks.
    """
    if public_key_fault(public_key) is not None or signature_fault(signature) is not None:
        return False
    try:
        Ed25519PublicKey.from_public_bytes(public_key).verify(signature, message)
    except (InvalidSignature, ValueError):
        return False
    return True


def check_public_key(public_key: bytes) -> None:
    """Raises ``invalid_public_key`` for an encoding that the profile refuses.

    It does not check that the key is on the curve: if it is not, no signature verifies.
    """
    fault = public_key_fault(public_key)
    if fault is not None:
        raise TallyError("invalid_public_key", f"The Ed25519 public key {fault}.")


def public_key_fault(public_key: bytes) -> str | None:
    """Returns what is wrong with a public key's encoding, as the end of a sentence."""
    if len(public_key) != 32:
        return f"has {len(public_key)} bytes, not 32"
    return _point_fault(public_key)


def signature_fault(signature: bytes) -> str | None:
    """Returns what is wrong with a signature's encoding, as the end of a sentence."""
    if len(signature) != 64:
        return f"has {len(signature)} bytes, not 64"
    if int.from_bytes(signature[32:], "little") >= _GROUP_ORDER:
        return "has an S that is not below the group order"
    fault = _point_fault(signature[:32])
    return None if fault is None else f"has an R that {fault}"


def to_multikey(public_key: bytes) -> str:
    """Multibase over the multicodec 0xed and the key. Raises ``invalid_public_key``."""
    check_public_key(public_key)
    return to_multibase(b"\xed\x01" + public_key)


def _point_fault(point: bytes) -> str | None:
    # RFC 8032, 5.1.3 also refuses x = 0 with the sign bit set: then y is 1 or -1, of small order.
    y = int.from_bytes(point, "little") & ~_SIGN_BIT
    if y >= _FIELD_PRIME:
        return "is not canonical"
    return "is of small order" if y in _SMALL_ORDER_YS else None
