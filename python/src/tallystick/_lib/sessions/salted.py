"""Salted hashes of the arguments and results of tool calls (spec/sessions.md)."""

from __future__ import annotations

from typing import Literal, TypeAlias, TypedDict, TypeGuard, cast

from ..canonical import canonical_bytes
from ..hashes import hmac_sha256, sha256_hex
from ..json_types import JsonLike

_LABEL = "svc-session-arg-v1"

SaltedPart: TypeAlias = Literal["arguments", "result"]
"""The two values that a tool's receipt covers."""


class JsonSessionValue(TypedDict):
    """A value that a tool got or gave, as JSON."""

    json: JsonLike


class RawSessionValue(TypedDict):
    """A value that a tool got or gave and that is no I-JSON, as the bytes in which it came."""

    raw: bytes


SessionValue: TypeAlias = JsonSessionValue | RawSessionValue
"""A value that a tool got or gave: ``{"json": value}``, or ``{"raw": bytes}`` if no I-JSON."""


def is_raw(value: SessionValue) -> TypeGuard[RawSessionValue]:
    return "raw" in value


def commit_salt(session_salt: bytes) -> str:
    """Returns ``salt_commitment`` of an opening: ``sha256:<hex>`` of the salt (32 bytes)."""
    return f"sha256:{sha256_hex(session_salt)}"


def salt_of(session_salt: bytes, seq: str, part: SaltedPart) -> bytes:
    """Derives the salt of one value, 32 bytes, from the salt of the session (32 random bytes).

    ``seq`` is the number of the receipt in decimal digits. Whoever has this salt and the value can
    check that value's hash, and learns nothing of any other.
    """
    return hmac_sha256(session_salt, f"{_LABEL}\n{seq}\n{part}".encode())


def salted_hash(salt: bytes, value: SessionValue) -> str:
    """Hashes a value as it stands in a receipt: ``sha256:<hex>``.

    It is HMAC-SHA-256 over the JCS bytes of JSON, or over the bytes themselves. Raises as
    ``canonicalize`` does.
    """
    data = value["raw"] if is_raw(value) else canonical_bytes(cast(JsonSessionValue, value)["json"])
    return f"sha256:{hmac_sha256(salt, data).hex()}"
