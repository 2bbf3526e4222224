"""Commitments to the values that a bill hides (spec/metering.md)."""

from __future__ import annotations

import hmac
import secrets
from typing import Literal, TypeAlias

from ..encoding import from_hex
from ..errors import TallyError
from ..hashes import hkdf_sha256, hmac_sha256, sha256_hex

CommitmentLabel: TypeAlias = Literal["machine", "customer", "rate", "settlement"]

_LENGTH = 32


def new_salt() -> bytes:
    """Makes a salt, 32 random bytes, for the commitments of one bill.

    Keep it: without the salt no commitment can be opened.
    """
    return secrets.token_bytes(_LENGTH)


def salt_commitment(salt: bytes) -> str:
    """SHA-256 of the salt, as 64 hex. Raises ``invalid_field`` unless the salt is 32 bytes."""
    return sha256_hex(_with_length(salt, "salt"))


def commit(salt: bytes, label: CommitmentLabel, value: str) -> str:
    """The commitment to a text under a label, as 64 hex.

    For a settlement of class ``none`` the value is empty. Raises ``invalid_field`` for a salt that
    is not 32 bytes or a value with half of a surrogate pair.
    """
    return _commitment(opening_key(salt, label), value).hex()


def opening_key(salt: bytes, label: CommitmentLabel) -> bytes:
    """Derives the key of a label's commitment, 32 bytes, by HKDF-SHA256 from the salt.

    Whoever gets it and the value can check that commitment, and learns nothing about the salt and
    the other keys. Raises ``invalid_field`` unless the salt is 32 bytes.
    """
    salt = _with_length(salt, "salt")
    return hkdf_sha256(salt, salt=None, info=f"svc-metering-v1/{label}".encode(), length=_LENGTH)


def check_opening(*, subkey: bytes, value: str, commitment: str) -> bool:
    """Returns whether the commitment (64 hex) is to this value under this key.

    Raises ``invalid_field`` for a key that is not 32 bytes (HMAC would pad a shorter one, and two
    keys could open one commitment), ``invalid_hex``.
    """
    expected = from_hex(commitment, _LENGTH)
    return hmac.compare_digest(_commitment(_with_length(subkey, "subkey"), value), expected)


def _commitment(subkey: bytes, value: str) -> bytes:
    try:
        message = value.encode()
    except UnicodeEncodeError as cause:
        text = "The value contains an unpaired surrogate, which UTF-8 cannot encode."
        raise TallyError("invalid_field", text, field="value") from cause
    return hmac_sha256(subkey, message)


def _with_length(data: bytes, field: str) -> bytes:
    if len(data) != _LENGTH:
        message = f"{field} is {_LENGTH} bytes, not {len(data)}."
        raise TallyError("invalid_field", message, field=field)
    return data
