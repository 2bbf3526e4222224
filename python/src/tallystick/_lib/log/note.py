"""Signed notes (C2SP signed-note). Reading one checks its form, not its signatures."""

from __future__ import annotations

import re
from dataclasses import dataclass

from ..encoding import from_base64
from ..errors import TallyError
from ..hashes import sha256

ED25519 = 0x01
"""The signature type of Ed25519 over the note text (C2SP signed-note, "Signature types")."""

_MAX_NOTE = 131_072
"""Longest note, in UTF-16 units."""

_LINE = re.compile("— ([^ ]+) ([^ ]+)")
_FORBIDDEN = re.compile("[\x00-\x09\x0b-\x1f\ud800-\udfff]")
# Not empty, no control character, no Unicode space, no plus.
_NAME = re.compile("[^\x00-\x20\x7f-\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000+]+")


@dataclass(frozen=True)
class NoteSignature:
    """One signature line: ``— <name> base64(key_hash || signature)``."""

    name: str
    key_hash: int
    """The key id, an unsigned 32-bit integer. Not a strong hash."""
    signature: bytes

    def is_by(self, name: str, key_hash: int) -> bool:
        """Returns whether the line names this key, by its name and its id."""
        return self.name == name and self.key_hash == key_hash


@dataclass(frozen=True)
class Note:
    text: str
    """Ends in a newline."""
    signatures: tuple[NoteSignature, ...]


def parse_note(note: str) -> Note:
    """Raises ``note_invalid`` for every text that is not exactly a note."""
    if utf16_length(note) > _MAX_NOTE:
        raise _invalid(f"A note is at most {_MAX_NOTE} characters here.")
    if _FORBIDDEN.search(note) is not None:
        raise _invalid("A note is UTF-8 text without control characters.")
    separator = note.rfind("\n\n")
    if separator < 0 or not note.endswith("\n"):
        raise _invalid("A note is text, an empty line and signatures.")
    lines = note[separator + 2 : -1].split("\n")
    return Note(note[: separator + 1], tuple(map(_parse_line, lines)))


def is_key_name(text: str) -> bool:
    """Returns whether a key may have this name."""
    return _NAME.fullmatch(text) is not None


def note_key_hash(name: str, algorithm: int, public_key: bytes) -> int:
    """The key id: the first 4 bytes of SHA-256(name || 0x0A || algorithm || public key)."""
    digest = sha256(name.encode() + b"\n" + bytes([algorithm]) + public_key)
    return int.from_bytes(digest[:4], "big")


def utf16_length(text: str) -> int:
    """The length in UTF-16 units, in which limits are counted."""
    return len(text) + sum(character > "\uffff" for character in text)


def _parse_line(line: str) -> NoteSignature:
    match = _LINE.fullmatch(line)
    data = None if match is None else from_base64(match[2])
    if match is None or data is None or len(data) < 5 or _NAME.fullmatch(match[1]) is None:
        raise _invalid('A signature line is "— <name> <base64 of key id and signature>".')
    return NoteSignature(match[1], int.from_bytes(data[:4], "big"), data[4:])


def _invalid(message: str) -> TallyError:
    return TallyError("note_invalid", message)
