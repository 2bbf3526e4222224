"""ML-DSA (FIPS 204), pure and with the empty context: experimental signatures."""

from __future__ import annotations

from typing import Protocol

from cryptography.exceptions import InvalidSignature, UnsupportedAlgorithm


def has_ml_dsa() -> bool:
    """Returns whether the installed ``cryptography`` verifies ML-DSA: release 47 or later."""
    return verify_ml_dsa_44(bytes(1312), b"", bytes(2420)) is not None


def verify_ml_dsa_44(public_key: bytes, message: bytes, signature: bytes) -> bool | None:
    """As ``verify_ml_dsa_65``, with the smaller parameters."""
    try:
        from cryptography.hazmat.primitives.asymmetric.mldsa import MLDSA44PublicKey
    except ImportError:
        return None
    return _verify(MLDSA44PublicKey, public_key, message, signature)


def verify_ml_dsa_65(public_key: bytes, message: bytes, signature: bytes) -> bool | None:
    """Returns whether a signature is valid, false for malformed input.

    ``None`` if the ``cryptography`` that is installed has no ML-DSA: it takes release 47 or later.
    """
    try:
        from cryptography.hazmat.primitives.asymmetric.mldsa import MLDSA65PublicKey
    except ImportError:
        return None
    return _verify(MLDSA65PublicKey, public_key, message, signature)


class _Verifier(Protocol):
    def verify(self, signature: bytes, data: bytes) -> None: ...


class _PublicKey(Protocol):
    def from_public_bytes(self, data: bytes) -> _Verifier: ...


def _verify(kind: _PublicKey, public_key: bytes, message: bytes, signature: bytes) -> bool | None:
    try:
        kind.from_public_bytes(public_key).verify(signature, message)
    except UnsupportedAlgorithm:
        return None
    except (InvalidSignature, ValueError):
        return False
    return True
