"""Checks and copies values that are already in memory, by the rules of ``parse_json``."""

from __future__ import annotations

from ..errors import TallyError
from ..json_types import JsonObject, JsonValue
from .rules import (
    MAX_DEPTH,
    MAX_SAFE_INTEGER,
    PathStep,
    as_number,
    broken_number_rule,
    broken_text_rule,
    format_path,
    rule_error,
)


def copy_json(value: object) -> JsonValue:
    """A plain copy of an untrusted value, held to the rules of ``parse_json``.

    Accepted are exactly ``dict`` (with ``str`` keys), ``list``, ``str``, ``int``, ``float``,
    ``bool`` and ``None``: subclasses could answer one thing to a check and another to a signature.
    Raises ``json_not_plain`` for all else, and ``json_lone_surrogate``, ``json_noncharacter``,
    ``json_number_range``, ``json_integer_range`` and ``json_depth``, all with the path.
    """
    return _copy(value, [])


def _copy(value: object, path: list[PathStep]) -> JsonValue:
    kind = type(value)
    if value is None or kind is bool:
        return value  # type: ignore[return-value]
    if isinstance(value, str) and kind is str:
        return _copy_text(value, path)
    if isinstance(value, int) and kind is int:
        if abs(value) > MAX_SAFE_INTEGER:
            raise rule_error("json_integer_range", path)
        return value
    if isinstance(value, float) and kind is float:
        return _copy_float(value, path)
    if isinstance(value, list) and kind is list:
        _require_room(path)
        return _copy_list(value, path)
    if isinstance(value, dict) and kind is dict:
        _require_room(path)
        return _copy_dict(value, path)
    raise _not_plain(f"a value of type {kind.__name__}", path)


def _require_room(path: list[PathStep]) -> None:
    if len(path) == MAX_DEPTH:
        raise rule_error("json_depth", path)


def _copy_text(text: str, path: list[PathStep]) -> str:
    code = broken_text_rule(text)
    if code is not None:
        raise rule_error(code, path)
    return text


def _copy_float(value: float, path: list[PathStep]) -> int | float:
    code = broken_number_rule(value, written_as_integer=False)
    if code is not None:
        raise rule_error(code, path)
    return as_number(value)


def _copy_list(items: list[object], path: list[PathStep]) -> list[JsonValue]:
    copied: list[JsonValue] = []
    for index, item in enumerate(items):
        path.append(index)
        copied.append(_copy(item, path))
        path.pop()
    return copied


def _copy_dict(members: dict[object, object], path: list[PathStep]) -> JsonObject:
    copied: JsonObject = {}
    for name, member in members.items():
        if type(name) is not str:
            raise _not_plain(f"a member name of type {type(name).__name__}", path)
        _copy_text(name, path)
        path.append(name)
        copied[name] = _copy(member, path)
        path.pop()
    return copied


def _not_plain(what: str, path: list[PathStep]) -> TallyError:
    return TallyError(
        "json_not_plain", f"Expected plain JSON, found {what}.", field=format_path(path)
    )
