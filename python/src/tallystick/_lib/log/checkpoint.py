"""Checkpoints (C2SP tlog-checkpoint)."""

from __future__ import annotations

import re
from dataclasses import dataclass

from .._json.rules import MAX_SAFE_INTEGER
from ..ed25519 import verify_ed25519
from ..encoding import from_base64
from ..errors import TallyError
from .note import ED25519, note_key_hash, parse_note

# Origin, size and root, and whatever extension lines another log adds; no line is empty.
_TEXT = re.compile("([^\n]+)\n(0|[1-9][0-9]{0,15})\n([^\n]{44})\n(?:[^\n]+\n)*")


@dataclass(frozen=True)
class Checkpoint:
    """A tree head: the log's name, its number of leaves, the RFC 6962 root over them (32 bytes)."""

    origin: str
    size: int
    root: bytes


def parse_checkpoint_text(text: str) -> Checkpoint:
    """Extension lines are allowed and not read. Raises ``checkpoint_invalid``."""
    match = _TEXT.fullmatch(text)
    root = None if match is None else from_base64(match[3])
    if match is None or root is None or len(root) != 32 or int(match[2]) > MAX_SAFE_INTEGER:
        message = "A checkpoint is three lines: origin, tree size, base64 of the root."
        raise TallyError("checkpoint_invalid", message)
    return Checkpoint(match[1], int(match[2]), root)


def open_checkpoint(note: str, *, origin: str, public_key: bytes) -> Checkpoint:
    """Reads the checkpoint in a note, after checking the log's signature (key of 32 bytes).

    Signatures of unknown keys are ignored; each one that claims to be the log's must be valid.
    Raises ``note_invalid``, ``checkpoint_invalid``, ``checkpoint_signature_invalid``.
    """
    parsed = parse_note(note)
    checkpoint = parse_checkpoint_text(parsed.text)
    if checkpoint.origin != origin:
        raise _unsigned(f"The checkpoint is of the log {checkpoint.origin}, not of {origin}.")
    key_hash = note_key_hash(origin, ED25519, public_key)
    own = [line for line in parsed.signatures if line.is_by(origin, key_hash)]
    if not own:
        raise _unsigned(f"The checkpoint is not signed by {origin}.")
    signed = parsed.text.encode()
    if not all(verify_ed25519(public_key, signed, line.signature) for line in own):
        raise _unsigned(f"The signature of {origin} does not cover this checkpoint.")
    return checkpoint


def _unsigned(message: str) -> TallyError:
    return TallyError("checkpoint_signature_invalid", message)
