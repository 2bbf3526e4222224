"""A tree head as calldata: ``svc-anchor-v1`` || SHA-256(origin) || size (8 bytes) || root."""

from __future__ import annotations

from dataclasses import dataclass

from .._json.rules import MAX_SAFE_INTEGER

_TAG = b"svc-anchor-v1"
_SIZE_AT = len(_TAG) + 32
_ROOT_AT = _SIZE_AT + 8


@dataclass(frozen=True)
class PostedHead:
    """A tree head in a transaction."""

    origin_sha256: bytes
    size: int
    root: bytes


def decode_posting(data: bytes) -> PostedHead | None:
    """Reads the tree head in calldata; ``None`` if there is none."""
    if len(data) != _ROOT_AT + 32 or not data.startswith(_TAG):
        return None
    size = int.from_bytes(data[_SIZE_AT:_ROOT_AT], "big")
    if size > MAX_SAFE_INTEGER:
        return None
    return PostedHead(data[len(_TAG) : _SIZE_AT], size, data[_ROOT_AT:])
