"""The form in which a session hashes a value, the same as in TypeScript."""

from __future__ import annotations

import math

from ..canonical import copy_json, format_number, parse_json, quote
from ..errors import TallyError
from .salted import SaltedPart, SessionValue

_ARRAY_INDICES = 2**32 - 1
"""JavaScript puts members that are named by an integer below this in front, by size."""


def session_value(value: object, part: SaltedPart) -> SessionValue | None:
    """The value as a receipt hashes it; ``None`` for none.

    Plain JSON is hashed as it is, bytes as bytes, and any other value as ``JSON.stringify`` of
    JavaScript writes it: as JSON, or as those bytes where they are no I-JSON. Raises
    ``invalid_field`` with ``part`` for a value that can't be written.
    """
    if value is None:
        return None
    if isinstance(value, (bytes, bytearray, memoryview)):
        return {"raw": bytes(value)}
    try:
        return {"json": copy_json(value)}
    except TallyError:
        pass
    try:
        data = _written(value).encode()
    except _NotWritableError as error:
        raise TallyError("invalid_field", str(error), field=part) from None
    except RecursionError as error:
        message = "The value is nested too deeply, or contains itself."
        raise TallyError("invalid_field", message, field=part) from error
    try:
        return {"json": parse_json(data)}
    except TallyError:
        return {"raw": data}


class _NotWritableError(Exception):
    """A value that can't be written."""


def _written(value: object) -> str:
    """The text of ``JSON.stringify`` (ECMA-262), which has no lone surrogates."""
    if value is None:
        return "null"
    if isinstance(value, str):
        return quote(_joined(value))
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (int, float)):
        return _number(value)
    if isinstance(value, (list, tuple)):
        items = []
        for item in value:
            items.append(_written(item))
        return f"[{','.join(items)}]"
    if isinstance(value, (bytes, bytearray, memoryview)):
        return _written({str(index): byte for index, byte in enumerate(bytes(value))})
    if isinstance(value, dict):
        return _object(value)
    dump = None if isinstance(value, type) else getattr(value, "model_dump", None)
    return _written(dump(mode="json") if callable(dump) else repr(value))


def _object(members: dict[object, object]) -> str:
    named: dict[str, object] = {}
    for name, member in members.items():
        if not isinstance(name, str):
            raise _NotWritableError(f"A name of a member is not a text, but {type(name).__name__}.")
        named[_joined(name)] = member
    written = []
    for name in sorted(named, key=_place):
        written.append(f"{quote(name)}:{_written(named[name])}")
    return f"{{{','.join(written)}}}"


def _place(name: str) -> int:
    is_index = name.isascii() and name.isdigit() and str(int(name[:10])) == name
    return min(int(name), _ARRAY_INDICES) if is_index else _ARRAY_INDICES


def _number(value: float) -> str:
    try:
        number = float(value)
    except OverflowError:
        return "null"
    return format_number(number) if math.isfinite(number) else "null"


def _joined(text: str) -> str:
    """JavaScript takes the halves of a surrogate pair as the one character."""
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")
