"""The protocols in which a service answers inference calls."""

from __future__ import annotations

from typing import Literal, TypeAlias

from ..json_types import JsonValue
from ..shape import is_object

CallProtocol: TypeAlias = Literal["chat", "completions", "responses", "messages"]
"""OpenAI's chat, completions and responses, and Anthropic's messages."""

_OBJECTS: dict[JsonValue, CallProtocol] = {
    "chat.completion": "chat",
    "chat.completion.chunk": "chat",
    "text_completion": "completions",
    "response": "responses",
}


def protocol_of(document: JsonValue) -> CallProtocol | None:
    """Returns the protocol that an answer in one piece, or an event's payload, says it is in."""
    if not is_object(document):
        return None
    named, kind = document.get("object"), document.get("type")
    if isinstance(named, str) and named in _OBJECTS:
        return _OBJECTS[named]
    if not isinstance(kind, str):
        return None
    if kind.startswith("response."):
        return "responses"
    return "messages" if kind == "message" or kind.startswith("message_") else None
