"""Cosignatures by ML-DSA-44 (C2SP tlog-cosignature), which are experimental."""

from __future__ import annotations

import re

from ..encoding import from_base64
from ..errors import TallyError
from ..ml_dsa import verify_ml_dsa_44
from .checkpoint import Checkpoint, parse_checkpoint_text
from .note import note_key_hash, parse_note

ML_DSA_COSIGNATURE = 0x06


def check_ml_dsa_cosignature(note: str, *, name: str, public_key: bytes) -> int | None:
    """As ``check_cosignature``, for a key of 1,312 bytes.

    A signature whose time is 0 does not say that the tree was the largest, and counts as none.
    Raises ``ImportError`` if the ``cryptography`` that is installed has no ML-DSA.
    """
    parsed = parse_note(note)
    checkpoint = parse_checkpoint_text(parsed.text)
    key_hash = note_key_hash(name, ML_DSA_COSIGNATURE, public_key)
    latest: int | None = None
    for line in parsed.signatures:
        if not line.is_by(name, key_hash):
            continue
        time = int.from_bytes(line.signature[:8], "big")
        if len(line.signature) <= 8 or time == 0:
            return None
        good = verify_ml_dsa_44(public_key, _message(name, time, checkpoint), line.signature[8:])
        if good is None:
            raise ImportError("ML-DSA takes cryptography 47 or later.")
        if not good:
            return None
        latest = max(latest or 0, time)
    return latest


def parse_ml_dsa_verifier_key(text: str) -> tuple[str, bytes]:
    """Reads ``<name>+<8 hex>+<base64 of 0x06 and 1,312 bytes>``. Raises ``note_invalid``."""
    matched = re.fullmatch(r"([^+\s]+)\+([0-9a-f]{8})\+(\S+)", text)
    if matched is not None:
        name, key_id, encoded = matched.groups()
        key = from_base64(encoded) or b""
        if (
            len(key) == 1313
            and key[0] == ML_DSA_COSIGNATURE
            and f"{note_key_hash(name, ML_DSA_COSIGNATURE, key[1:]):08x}" == key_id
        ):
            return name, key[1:]
    message = "Expected a key as <name>+<8 hex>+<base64 of 0x06 and 1,312 bytes>."
    raise TallyError("note_invalid", message)


def _message(name: str, time: int, checkpoint: Checkpoint) -> bytes:
    """The structure ``cosigned_message`` of a whole tree."""
    return b"".join(
        (
            b"subtree/v1\n\0",
            _short_text(name),
            time.to_bytes(8, "big"),
            _short_text(checkpoint.origin),
            (0).to_bytes(8, "big"),
            checkpoint.size.to_bytes(8, "big"),
            checkpoint.root,
        )
    )


def _short_text(text: str) -> bytes:
    data = text.encode()
    if not 1 <= len(data) <= 255:
        message = "ML-DSA cosignatures take names and origins of 1 to 255 bytes."
        raise TallyError("note_invalid", message)
    return bytes([len(data)]) + data
