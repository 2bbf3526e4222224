"""Canonical JSON: JCS (RFC 8785) over I-JSON (RFC 7493)."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from decimal import Decimal

from ._json.copy import copy_json
from ._json.parse import parse_json
from ._json.rules import MAX_DEPTH, MAX_SAFE_INTEGER, rule_error
from .errors import TallyError
from .json_types import JsonLike

__all__ = ["canonical_bytes", "canonicalize", "copy_json", "format_number", "parse_json", "quote"]

_MUST_ESCAPE = re.compile('["\\\\\x00-\x1f\ud800-\udfff]')
_SHORT_ESCAPES = {
    '"': '\\"',
    "\\": "\\\\",
    "\b": "\\b",
    "\t": "\\t",
    "\n": "\\n",
    "\f": "\\f",
    "\r": "\\r",
}


def canonicalize(value: JsonLike) -> str:
    """The canonical text of a JSON value (RFC 8785).

    Members are sorted by UTF-16 code units, and numbers are written as ECMAScript does (``1.0`` is
    ``1``). Raises ``json_not_plain`` for what is no JSON value, ``json_integer_range`` for an
    ``int`` past 2^53-1, ``json_lone_surrogate``, and ``json_depth`` past 64 levels, also for a
    value that contains itself.
    """
    return _write(value, 0)


def canonical_bytes(value: JsonLike) -> bytes:
    """The UTF-8 bytes of ``canonicalize(value)``: what is hashed and signed."""
    return _write(value, 0).encode()


def format_number(value: float) -> str:
    """A finite double as ECMAScript writes it (ECMA-262, Number::toString; RFC 8785, 3.2.2.3)."""
    if value == 0:
        return "0"
    sign = "-" if value < 0 else ""
    # repr gives the shortest digits that round-trip, the nearest of them: the same as ECMAScript.
    _, digits, exponent = Decimal(repr(abs(value))).normalize().as_tuple()
    assert isinstance(exponent, int)
    return sign + _place(digits="".join(map(str, digits)), point=len(digits) + exponent)


def _place(digits: str, point: int) -> str:
    """``0.digits`` times ten to the ``point``; k and n of ECMA-262 are its length and ``point``."""
    if len(digits) <= point <= 21:
        return digits + "0" * (point - len(digits))
    if 0 < point <= 21:
        return f"{digits[:point]}.{digits[point:]}"
    if -6 < point <= 0:
        return "0." + "0" * -point + digits
    mantissa = digits[0] if len(digits) == 1 else f"{digits[0]}.{digits[1:]}"
    return f"{mantissa}e{point - 1:+d}"


def _write(value: object, depth: int) -> str:
    kind = type(value)
    if isinstance(value, str) and kind is str:
        return _write_text(value)
    if value is None:
        return "null"
    if kind is bool:
        return "true" if value else "false"
    if isinstance(value, int) and kind is int:
        if abs(value) > MAX_SAFE_INTEGER:
            raise rule_error("json_integer_range", [])
        return str(value)
    if isinstance(value, float) and kind is float:
        if not math.isfinite(value):
            raise _not_plain(str(value))
        return format_number(value)
    if isinstance(value, dict) and kind is dict:
        return _write_object(value, _deeper(depth))
    if isinstance(value, list) and kind is list:
        inner = _deeper(depth)
        return "[" + ",".join([_write(item, inner) for item in value]) + "]"
    raise _not_plain(f"a value of type {kind.__name__}")


def _deeper(depth: int) -> int:
    if depth == MAX_DEPTH:
        raise rule_error("json_depth", [])
    return depth + 1


def _write_object(members: Mapping[str, object], depth: int) -> str:
    for name in members:
        if type(name) is not str:
            raise _not_plain(f"a member name of type {type(name).__name__}")
    names = sorted(members, key=_utf16_units)
    return (
        "{"
        + ",".join([f"{_write_text(name)}:{_write(members[name], depth)}" for name in names])
        + "}"
    )


def _utf16_units(name: str) -> bytes:
    return name.encode("utf-16-be", "surrogatepass")


def _write_text(text: str) -> str:
    if not text.isascii():
        try:
            text.encode()
        except UnicodeEncodeError:
            raise rule_error("json_lone_surrogate", []) from None
    return quote(text)


def quote(text: str) -> str:
    """A text as ``JSON.stringify`` of ECMAScript writes it: a surrogate is escaped."""
    return f'"{_MUST_ESCAPE.sub(_escape, text)}"'


def _escape(match: re.Match[str]) -> str:
    character = match.group()
    return _SHORT_ESCAPES.get(character) or f"\\u{ord(character):04x}"


def _not_plain(what: str) -> TallyError:
    return TallyError("json_not_plain", f"Only JSON values have a canonical form; found {what}.")
