"""Witnesses' cosignatures of checkpoints (C2SP tlog-cosignature)."""

from __future__ import annotations

import re

from .._json.rules import MAX_SAFE_INTEGER
from ..ed25519 import public_key_fault, verify_ed25519
from ..encoding import from_base64
from ..errors import TallyError
from ..ml_dsa import verify_ml_dsa_44
from .checkpoint import Checkpoint, parse_checkpoint_text
from .note import note_key_hash, parse_note

COSIGNATURE = 0x04
"""The signature type of timestamped Ed25519 cosignatures."""
ML_DSA_COSIGNATURE = 0x06
"""The signature type of timestamped ML-DSA-44 cosignatures, which are experimental here."""

_ML_DSA_KEY_BYTES = 1312
_KEY = re.compile(r"([^+\s]+)\+([0-9a-f]{8})\+(\S+)")


def cosignature_type(public_key: bytes) -> int:
    """Returns the type of a witness's key, which its length tells."""
    return ML_DSA_COSIGNATURE if len(public_key) == _ML_DSA_KEY_BYTES else COSIGNATURE


def cosignature_key_hash(name: str, public_key: bytes) -> int:
    """Returns the id of a witness's key."""
    return note_key_hash(name, cosignature_type(public_key), public_key)


def parse_witness_key(text: str) -> tuple[str, bytes]:
    """Reads ``<name>+<8 hex>+<base64 of type || public key>`` as name and public key.

    The type is 0x04 for Ed25519 (32 bytes), 0x06 for ML-DSA-44 (1,312 bytes). Raises
    ``note_invalid``.
    """
    match = _KEY.fullmatch(text)
    data = (None if match is None else from_base64(match[3])) or b"\0"
    key = data[1:]
    if (
        match is None
        or cosignature_type(key) != data[0]
        or (data[0] == COSIGNATURE and public_key_fault(key) is not None)
        or f"{cosignature_key_hash(match[1], key):08x}" != match[2]
    ):
        message = "Expected a witness's key as <name>+<8 hex>+<base64> whose id matches."
        raise TallyError("note_invalid", message)
    return match[1], key


def check_cosignature(note: str, *, name: str, public_key: bytes) -> int | None:
    """Returns when a witness cosigned the checkpoint, in Unix seconds: the latest time of several.

    Returns ``None`` if it did not, or if a signature that claims to be the witness's is not valid.
    The key has 32 bytes for Ed25519, and 1,312 for ML-DSA-44, by which a signature whose time is 0
    does not say that the tree was the largest, and counts as none. Raises ``note_invalid``,
    ``checkpoint_invalid``, and ``ImportError`` for an ML-DSA-44 signature if the ``cryptography``
    that is installed has none.
    """
    parsed = parse_note(note)
    checkpoint = parse_checkpoint_text(parsed.text)
    key_hash = cosignature_key_hash(name, public_key)
    latest: int | None = None
    for line in parsed.signatures:
        if not line.is_by(name, key_hash):
            continue
        time = int.from_bytes(line.signature[:8], "big")
        if len(line.signature) <= 8 or time > MAX_SAFE_INTEGER:
            return None
        signature = line.signature[8:]
        if cosignature_type(public_key) == COSIGNATURE:
            signed = f"cosignature/v1\ntime {time}\n{parsed.text}".encode()
            good: bool | None = verify_ed25519(public_key, signed, signature)
        elif time == 0:
            return None
        else:
            signed = _ml_dsa_message(name, time, checkpoint)
            good = verify_ml_dsa_44(public_key, signed, signature)
        if good is None:
            raise ImportError("ML-DSA takes cryptography 47 or later.")
        if not good:
            return None
        latest = max(latest or 0, time)
    return latest


def _ml_dsa_message(name: str, time: int, checkpoint: Checkpoint) -> bytes:
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
