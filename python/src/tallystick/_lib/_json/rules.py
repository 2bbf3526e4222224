"""The rules of I-JSON (RFC 7493, section 2) that go beyond JSON's grammar."""

from __future__ import annotations

import json
import math
import re

from ..errors import TallyError

MAX_DEPTH = 64
"""The deepest nesting of arrays and objects; a bare string or number is at depth 0."""

MAX_SAFE_INTEGER = 2**53 - 1

_MESSAGES = {
    "json_lone_surrogate": "A string contains an unpaired surrogate, which UTF-8 cannot encode.",
    "json_noncharacter": (
        "A string contains a Unicode noncharacter (U+FDD0 to U+FDEF, or U+xxFFFE or U+xxFFFF)."
    ),
    "json_number_range": "A number is not a finite double.",
    "json_integer_range": "An integer is larger than 2^53-1; send it as a string.",
    "json_depth": "Arrays and objects are nested too deeply.",
}

_SURROGATE = re.compile("[\ud800-\udfff]")
_NONCHARACTER = re.compile(
    "[\ufdd0-\ufdef"
    + "".join(chr(plane << 16 | 0xFFFE) + chr(plane << 16 | 0xFFFF) for plane in range(17))
    + "]"
)
_PLAIN_NAME = re.compile(r"[A-Za-z_$@][A-Za-z0-9_$@-]{0,63}")
_SHOWN_CHARACTERS = 64

PathStep = str | int


def broken_text_rule(text: str) -> str | None:
    """Returns the code of the rule that a string or member name breaks, if any."""
    if text.isascii():
        return None
    if _SURROGATE.search(text) is not None:
        return "json_lone_surrogate"
    return "json_noncharacter" if _NONCHARACTER.search(text) is not None else None


def broken_number_rule(value: float, *, written_as_integer: bool) -> str | None:
    """Returns the code of the rule that a number breaks, if any.

    From 1e21 on canonical text has an exponent, so such a double is refused only if it was
    written as an integer. Below that, its canonical text would be an integer.
    """
    size = abs(value)
    if size <= MAX_SAFE_INTEGER:
        return None
    if written_as_integer or size < 1e21:
        return "json_integer_range"
    return None if math.isfinite(value) else "json_number_range"


def rule_error(code: str, path: list[PathStep]) -> TallyError:
    """The error for a broken rule at ``path``."""
    return TallyError(code, _MESSAGES[code], field=format_path(path))


def format_path(steps: list[PathStep]) -> str | None:
    """``request.hash``, ``receipts[3].ts``, ``a["odd name"]``; ``None`` for the document itself."""
    text = ""
    for step in steps:
        if isinstance(step, int):
            text += f"[{step}]"
        elif _PLAIN_NAME.fullmatch(step):
            text += step if text == "" else f".{step}"
        else:
            text += f"[{_quoted(step[:_SHOWN_CHARACTERS])}]"
    return text or None


def _quoted(name: str) -> str:
    units = name.encode("utf-16-le", "surrogatepass")
    return json.dumps(units.decode("utf-16-le", "replace"), ensure_ascii=False)


def as_number(value: float) -> int | float:
    """Converts a double to ``int`` if it is a safe integer, which is how this package holds it.

    JSON has one kind of number, so that ``1``, ``1.0`` and ``-0.0`` must not differ later.
    """
    if abs(value) <= MAX_SAFE_INTEGER and value.is_integer():
        return int(value)
    return value
