"""Hex, base64, base64url, base58 and multibase, each with exactly one text for given bytes."""

from __future__ import annotations

import base64
import re

from .errors import TallyError

_HEX = re.compile("(?:[0-9a-f]{2})*")
_BASE64URL = re.compile("[A-Za-z0-9_-]*")
_BASE58 = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"
_BASE58_VALUES = {character: value for value, character in enumerate(_BASE58)}

_MAX_BASE58 = 128
"""Longest base58 that is decoded: the work grows with its square, and keys are short."""


def to_hex(data: bytes) -> str:
    """Lower-case hex, two characters a byte."""
    return data.hex()


def from_hex(text: str, length: int | None = None) -> bytes:
    """The bytes that ``text`` spells in lower-case hex; exactly ``length`` of them, where given.

    Raises ``invalid_hex``.
    """
    if length is not None and len(text) != 2 * length:
        raise TallyError("invalid_hex", f"Expected {2 * length} hex characters, got {len(text)}.")
    if _HEX.fullmatch(text) is None:
        raise TallyError("invalid_hex", "Not lower-case hex, two characters a byte.")
    return bytes.fromhex(text)


def to_base64url(data: bytes) -> str:
    """Base64url without padding (RFC 4648, section 5)."""
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode("ascii")


def from_base64url(text: str, length: int | None = None) -> bytes:
    """The bytes of unpadded base64url, which must be exactly what ``to_base64url`` writes for them.

    Raises ``invalid_base64url`` for padding, other characters, spare bits that are not zero, or
    another number of bytes than ``length``, where given.
    """
    if _BASE64URL.fullmatch(text) is None or len(text) % 4 == 1:
        raise TallyError("invalid_base64url", "Not base64url without padding.")
    data = base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))
    if length is not None and len(data) != length:
        raise TallyError(
            "invalid_base64url",
            f"{len(text)} characters of base64url do not encode {length} bytes.",
        )
    if to_base64url(data) != text:
        raise TallyError("invalid_base64url", "The unused bits of the last character must be zero.")
    return data


def from_base64(text: str) -> bytes | None:
    """The bytes of padded base64 (RFC 4648, section 4), as signed notes have it.

    ``None`` unless the text is exactly what is written for them.
    """
    try:
        data = base64.b64decode(text, validate=True)
    except ValueError:
        return None
    return data if base64.b64encode(data).decode("ascii") == text else None


def to_base58(data: bytes) -> str:
    """Base58 in Bitcoin's alphabet; every leading zero byte is a leading ``1``."""
    number = int.from_bytes(data, "big")
    digits = ""
    while number > 0:
        number, digit = divmod(number, 58)
        digits = _BASE58[digit] + digits
    return "1" * _leading(data, 0) + digits


def from_base58(text: str) -> bytes:
    """The bytes of base58 text of at most 128 characters. Raises ``invalid_multibase``."""
    if len(text) > _MAX_BASE58:
        raise TallyError("invalid_multibase", f"Base58 is at most {_MAX_BASE58} characters here.")
    digits: list[int] = []
    for index, character in enumerate(text):
        if character not in _BASE58_VALUES:
            raise TallyError("invalid_multibase", f"Not base58btc at character {index}.")
        digits.append(_BASE58_VALUES[character])
    number = 0
    for digit in digits:
        number = number * 58 + digit
    return bytes(_leading(digits, 0)) + number.to_bytes((number.bit_length() + 7) // 8, "big")


def to_multibase(data: bytes) -> str:
    """Multibase in base58btc: ``z`` and the digits (Controlled Identifiers 1.0, section 2.4)."""
    return "z" + to_base58(data)


def from_multibase(text: str) -> bytes:
    """The bytes of multibase text; base58btc is the only base. Raises ``invalid_multibase``."""
    if not text.startswith("z"):
        raise TallyError(
            "invalid_multibase", 'Expected base58btc multibase, which starts with "z".'
        )
    return from_base58(text[1:])


def _leading(values: bytes | list[int], leading: int) -> int:
    count = 0
    while count < len(values) and values[count] == leading:
        count += 1
    return count
