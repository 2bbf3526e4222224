"""Inclusion proofs that can be checked offline (C2SP tlog-proof)."""

from __future__ import annotations

import re
from dataclasses import dataclass

from .._json.rules import MAX_SAFE_INTEGER
from ..encoding import from_base64
from ..errors import TallyError
from .checkpoint import parse_checkpoint_text
from .note import parse_note, utf16_length

_MAX_PROOF = 262_144
"""Longest proof, in UTF-16 units."""

_PROOF = re.compile(
    r"c2sp\.org/tlog-proof@v1\n(?:extra (\S+)\n)?index (0|[1-9][0-9]{0,15})\n"
    r"((?:\S{44}\n){0,53})\n(.+)",
    re.DOTALL,
)


@dataclass(frozen=True)
class TlogProof:
    index: int
    """From 0."""
    path: tuple[bytes, ...]
    """Sibling hashes from the leaf to the root, 32 bytes each."""
    checkpoint: str
    """The log's signed note, as it stands: see ``open_checkpoint``."""
    extra: bytes | None
    """No signature covers it."""


def parse_tlog_proof(text: str) -> TlogProof:
    """Reads a proof and checks its form only. Raises ``tlog_proof_invalid``."""
    if utf16_length(text) > _MAX_PROOF:
        raise _invalid(f"A proof is at most {_MAX_PROOF} characters here.")
    match = _PROOF.fullmatch(text)
    if match is None or int(match[2]) > MAX_SAFE_INTEGER:
        raise _invalid(
            'A proof is "c2sp.org/tlog-proof@v1", the index, the path, an empty line '
            "and a checkpoint."
        )
    extra = None if match[1] is None else from_base64(match[1])
    if match[1] is not None and extra is None:
        raise _invalid("The extra data are not base64.")
    path = tuple(_hash_of(line) for line in match[3].split("\n")[:-1])
    try:
        parse_checkpoint_text(parse_note(match[4]).text)
    except TallyError as cause:
        raise _invalid("The proof does not end in a checkpoint.") from cause
    return TlogProof(int(match[2]), path, match[4], extra)


def _hash_of(line: str) -> bytes:
    sibling = from_base64(line)
    if sibling is None or len(sibling) != 32:
        raise _invalid("A line of the path is the base64 of a hash of 32 bytes.")
    return sibling


def _invalid(message: str) -> TallyError:
    return TallyError("tlog_proof_invalid", message)
