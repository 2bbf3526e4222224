"""JSON values as this package holds them: plain ``dict``, ``list`` and scalars."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeAlias

JsonValue: TypeAlias = bool | int | float | str | list["JsonValue"] | dict[str, "JsonValue"] | None
JsonObject: TypeAlias = dict[str, JsonValue]
JsonLike: TypeAlias = JsonValue | Mapping[str, object]
"""A JSON value in memory, or a ``dict`` whose type is a ``TypedDict``."""
Document: TypeAlias = JsonLike | bytes
"""JSON as text or UTF-8 bytes, or a value in memory."""
