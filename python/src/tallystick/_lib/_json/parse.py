"""Parses untrusted JSON bytes (RFC 8259, RFC 7493) in one pass."""

from __future__ import annotations

import re

from ..errors import TallyError
from ..json_types import JsonObject, JsonValue
from .rules import (
    MAX_DEPTH,
    PathStep,
    as_number,
    broken_number_rule,
    broken_text_rule,
    format_path,
    rule_error,
)

_SPACE = re.compile(r"[ \t\n\r]*")
_STRING_RUN = re.compile(r'[^"\\\x00-\x1f]*')
_ESCAPE = re.compile(r'\\(?:u([0-9A-Fa-f]{4})|(["\\/bfnrt]))')
_INTEGER = re.compile(r"-?(?:0|[1-9][0-9]*)")
_FRACTION = re.compile(r"\.[0-9]+")
_EXPONENT = re.compile(r"[eE][+-]?[0-9]+")
_SHORT_ESCAPES = {"b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}
_LITERALS: dict[str, tuple[str, bool | None]] = {
    "t": ("true", True),
    "f": ("false", False),
    "n": ("null", None),
}

_EXACT_DIGITS = 15
"""Integer literals of at most this many characters are exact and in range."""


def parse_json(data: bytes) -> JsonValue:
    """Parses untrusted JSON bytes strictly by RFC 8259, with the rules of I-JSON.

    A number that is a safe integer is an ``int``, however it was written; every other is a
    ``float``. Raises ``json_empty``, ``json_bom``, ``json_not_utf8``, ``json_syntax`` with the
    offset in characters, and ``json_duplicate_member``, ``json_lone_surrogate``,
    ``json_noncharacter``, ``json_number_range``, ``json_integer_range`` and ``json_depth`` with
    the path in ``field``. The first rule broken gives the code.
    """
    if data[:3] == b"\xef\xbb\xbf":
        raise TallyError("json_bom", "Remove the byte order mark (EF BB BF) at the start.")
    try:
        text = str(data, "utf-8")
    except UnicodeDecodeError as cause:
        raise TallyError("json_not_utf8", "JSON must be UTF-8; these bytes are not.") from cause
    return _Parser(text).document()


class _Parser:
    def __init__(self, text: str) -> None:
        self._text = text
        self._offset = 0
        self._path: list[PathStep] = []

    def document(self) -> JsonValue:
        self._peek()
        if self._offset == len(self._text):
            raise TallyError("json_empty", "Send a JSON value.")
        value = self._value()
        if self._peek() != "":
            raise self._syntax("the end")
        return value

    def _value(self) -> JsonValue:
        first = self._peek()
        if first == '"':
            return self._string()
        if first == "{":
            return self._object()
        if first == "[":
            return self._array()
        if first in _LITERALS:
            return self._literal(*_LITERALS[first])
        return self._number()

    def _object(self) -> JsonObject:
        self._enter()
        members: JsonObject = {}
        first = self._peek()
        while first != "}" or members:
            if first != '"':
                raise self._syntax("a member name in double quotes")
            name = self._string()
            self._path.append(name)
            if name in members:
                raise self._duplicate()
            if self._peek() != ":":
                raise self._syntax('":"')
            self._offset += 1
            members[name] = self._value()
            self._path.pop()
            if self._closes("}"):
                break
            first = self._peek()
        self._leave()
        return members

    def _array(self) -> list[JsonValue]:
        self._enter()
        items: list[JsonValue] = []
        while self._peek() != "]" or items:
            self._path.append(len(items))
            items.append(self._value())
            self._path.pop()
            if self._closes("]"):
                break
        self._leave()
        return items

    def _closes(self, bracket: str) -> bool:
        """Returns whether the container ends here; otherwise reads a comma."""
        following = self._peek()
        if following == bracket:
            return True
        if following != ",":
            raise self._syntax(f'"," or "{bracket}"')
        self._offset += 1
        return False

    def _enter(self) -> None:
        if len(self._path) == MAX_DEPTH:
            raise rule_error("json_depth", self._path)
        self._offset += 1

    def _leave(self) -> None:
        self._offset += 1

    def _string(self) -> str:
        """Reads a string or member name, whose opening quote is next."""
        text = self._text
        at = self._offset + 1
        pieces: list[str] = []
        escaped_unicode = False
        while True:
            run = _STRING_RUN.match(text, at)
            assert run is not None
            pieces.append(run.group())
            at = run.end()
            ending = text[at : at + 1]
            if ending == '"':
                break
            if ending != "\\":
                raise self._syntax("the rest of a string, without raw control characters,", at)
            escape = _ESCAPE.match(text, at)
            if escape is None:
                raise self._syntax("an escape sequence of JSON", at)
            digits, letter = escape.groups()
            escaped_unicode = escaped_unicode or digits is not None
            pieces.append(_SHORT_ESCAPES.get(letter, letter) if letter else chr(int(digits, 16)))
            at = escape.end()
        self._offset = at + 1
        value = "".join(pieces)
        if escaped_unicode:
            value = _joined_surrogates(value)
        code = broken_text_rule(value)
        if code is not None:
            raise rule_error(code, self._path)
        return value

    def _number(self) -> int | float:
        text = self._text
        start = self._offset
        integer = _INTEGER.match(text, start)
        if integer is None:
            negative = text.startswith("-", start)
            raise self._syntax("a digit" if negative else "a value", start + negative)
        end = integer.end()
        following = text[end : end + 1]
        if following == ".":
            end = self._part(_FRACTION, end)
            following = text[end : end + 1]
        if following == "e" or following == "E":
            end = self._part(_EXPONENT, end)
        self._offset = end
        literal = text[start:end]
        written_as_integer = end == integer.end()
        if written_as_integer and len(literal) <= _EXACT_DIGITS:
            return int(literal)
        value = float(literal)
        code = broken_number_rule(value, written_as_integer=written_as_integer)
        if code is not None:
            raise rule_error(code, self._path)
        return as_number(value)

    def _part(self, pattern: re.Pattern[str], at: int) -> int:
        part = pattern.match(self._text, at)
        if part is None:
            raise self._syntax("a digit", at + 1)
        return part.end()

    def _literal(self, word: str, value: bool | None) -> bool | None:
        if not self._text.startswith(word, self._offset):
            raise self._syntax("a value")
        self._offset += len(word)
        return value

    def _peek(self) -> str:
        """Skips white space, and returns the character that follows, or nothing at the end."""
        space = _SPACE.match(self._text, self._offset)
        assert space is not None
        self._offset = space.end()
        return self._text[self._offset : self._offset + 1]

    def _duplicate(self) -> TallyError:
        field = format_path(self._path)
        message = "Each member of an object may appear once."
        return TallyError("json_duplicate_member", message, field=field)

    def _syntax(self, expected: str, at: int | None = None) -> TallyError:
        offset = self._offset if at is None else at
        return TallyError("json_syntax", f"Expected {expected} at offset {offset}.")


def _joined_surrogates(text: str) -> str:
    """Joins each escaped surrogate pair to its one character; lone surrogates stay."""
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")
