"""Shapes of documents: rules for their members. A rule returns the first fault, or ``None``."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from typing import Final, NamedTuple, TypeAlias, TypeGuard

from ._json.rules import MAX_SAFE_INTEGER
from .json_types import JsonObject
from .timestamps import parse_timestamp


class Fault(NamedTuple):
    """The path of the first member that breaks a shape, and what a valid document has there."""

    field: str
    expected: str

    def __str__(self) -> str:
        return f"{self.field} must be {self.expected}."


class _Missing:
    """The value of a member that is not there, as opposed to ``None``, which is JSON's null."""


MISSING: Final = _Missing()

Rule: TypeAlias = Callable[[object, str], Fault | None]
"""Checks the value at a path, and returns its fault or ``None``."""


def is_object(value: object) -> TypeGuard[JsonObject]:
    """Whether a JSON value is an object."""
    return isinstance(value, dict)


def rule(expected: str, holds: Callable[[object], bool]) -> Rule:
    """The rule that ``holds`` is true of the value; a missing member breaks it."""

    def check(value: object, path: str) -> Fault | None:
        return None if value is not MISSING and holds(value) else Fault(path, expected)

    return check


def constant(expected: str) -> Rule:
    return rule(f"the string {expected}", lambda value: value == expected)


def one_of(*expected: str) -> Rule:
    known = frozenset(expected)
    return rule(
        f"one of {', '.join(expected)}", lambda value: isinstance(value, str) and value in known
    )


def pattern(expression: str, expected: str) -> Rule:
    compiled = re.compile(expression)
    return rule(
        expected,
        lambda value: isinstance(value, str) and compiled.fullmatch(value) is not None,
    )


def integer(low: int, high: int = MAX_SAFE_INTEGER) -> Rule:
    """An integer in [low, high]."""
    return rule(
        f"an integer from {low} to {high}",
        # bool is a subclass of int.
        lambda value: type(value) is int and low <= value <= high,
    )


def number(low: float, high: float) -> Rule:
    """A number in [low, high]."""
    return rule(
        f"a number from {low} to {high}",
        lambda value: (type(value) is int or type(value) is float) and low <= value <= high,
    )


def nullable(inner: Rule) -> Rule:
    return lambda value, path: None if value is None else inner(value, path)


def list_of(inner: Rule, expected: str, most: float = math.inf) -> Rule:
    """A list of at most ``most`` items that all keep the rule; ``expected`` says what it is."""

    def check(value: object, path: str) -> Fault | None:
        if not isinstance(value, list) or len(value) > most:
            return Fault(path, expected)
        faults = (inner(item, f"{path}[{index}]") for index, item in enumerate(value))
        return next((fault for fault in faults if fault is not None), None)

    return check


def members(
    required: Mapping[str, Rule],
    *,
    optional: Mapping[str, Rule] | None = None,
    closed: bool = False,
) -> Rule:
    """An object with these members; members beyond them are allowed unless it is ``closed``."""
    optional = optional or {}

    def check(value: object, path: str) -> Fault | None:
        if not is_object(value):
            return Fault(path or "(document)", "an object")
        prefix = f"{path}." if path else ""
        for name, inner in required.items():
            fault = inner(value.get(name, MISSING), prefix + name)
            if fault is not None:
                return fault
        for name, inner in optional.items():
            fault = inner(value[name], prefix + name) if name in value else None
            if fault is not None:
                return fault
        if closed:
            for name in value:
                if name not in required and name not in optional:
                    return Fault(prefix + name, "absent")
        return None

    return check


boolean = rule("true or false", lambda value: isinstance(value, bool))
text = rule("a string", lambda value: isinstance(value, str))
non_empty_text = rule("a non-empty string", lambda value: isinstance(value, str) and value != "")
timestamp = rule(
    "a UTC timestamp YYYY-MM-DDThh:mm:ss[.fraction]Z",
    lambda value: isinstance(value, str) and parse_timestamp(value) is not None,
)
hex64 = pattern("[0-9a-f]{64}", "64 lower-case hex characters")
sha256_text = pattern("sha256:[0-9a-f]{64}", "sha256: and 64 lower-case hex characters")
# The last character's spare bits are zero: four of 64 bytes, two of 32.
signature = pattern("[A-Za-z0-9_-]{85}[AQgw]", "86 characters of canonical base64url")
bytes32 = pattern("[A-Za-z0-9_-]{42}[AEIMQUYcgkosw048]", "43 characters of canonical base64url")
did = pattern("did:[a-z0-9]+:[A-Za-z0-9._:%-]+", "a DID")
key_id = pattern("did:(?:svc|web|key):[A-Za-z0-9._:%-]+", "a did:svc, did:web or did:key")
