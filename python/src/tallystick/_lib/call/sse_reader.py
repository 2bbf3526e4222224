"""Server-sent events (HTML Living Standard, section 9.2.6) in bytes that may be split anywhere."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TypeAlias

from ..errors import TallyError

_LINE_END = re.compile(rb"\r\n|\n|\r")
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"

TakeEvent: TypeAlias = Callable[[bytes, "str | None"], None]
"""Handles an event: its payload (its ``data:`` lines joined by newlines) and its name, if any."""


class SseReader:
    """Reads events and holds one at most. Payloads stay the bytes that they are.

    ``id``, ``retry`` and comments are ignored, and so is an event that no blank line ends.
    """

    def __init__(self, take: TakeEvent, max_bytes: int) -> None:
        """``max_bytes`` is the most that one event may have."""
        self._take = take
        self._max_bytes = max_bytes
        self._line = bytearray()
        self._data: bytearray | None = None
        self._name = ""
        self._is_first_line = True
        self._after_return = False

    def push(self, chunk: bytes) -> None:
        """Takes the next bytes. Raises ``body_too_large`` for an event that is too long."""
        if not chunk:
            return
        # A line feed after a carriage return belongs to the line end that was handled with that.
        start = 1 if self._after_return and chunk.startswith(b"\n") else 0
        self._after_return = chunk.endswith(b"\r")
        *ends, rest = _LINE_END.split(chunk[start:])
        for end in ends:
            self._keep(self._line, end)
            line = bytes(self._line)
            self._line.clear()
            self._take_line(line)
        self._keep(self._line, rest)

    def _take_line(self, line: bytes) -> None:
        if self._is_first_line:
            line = line.removeprefix(_BYTE_ORDER_MARK)
        self._is_first_line = False
        if not line:
            self._dispatch()
            return
        field, _, value = line.partition(b":")
        value = value.removeprefix(b" ")
        if field == b"event":
            self._name = value.decode("utf-8", "replace")
        if field != b"data":
            return
        if self._data is None:
            self._data = bytearray()
        else:
            self._data += b"\n"
        self._keep(self._data, value)

    def _dispatch(self) -> None:
        payload, name = self._data, self._name or None
        self._data, self._name = None, ""
        if payload is not None:
            self._take(bytes(payload), name)

    def _keep(self, buffer: bytearray, part: bytes) -> None:
        if len(self._line) + len(self._data or b"") + len(part) > self._max_bytes:
            message = f"An event may have at most {self._max_bytes} bytes."
            raise TallyError("body_too_large", message)
        buffer += part
