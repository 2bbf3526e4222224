"""The journal beside a session's file: calls that have begun and have no receipt yet."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import cast

from ..canonical import canonicalize, parse_json
from ..encoding import from_base64url, to_base64url
from ..errors import TallyError
from ..json_types import JsonObject, JsonValue
from ..shape import is_object
from .salted import SessionValue, is_raw
from .session import BegunCall
from .session_call import ToolServer


class Journal:
    """Notes of calls (spec/sessions.md, *The file*).

    It is not flushed: what was written survives the process, not the machine. It holds arguments in
    clear, and is emptied whenever no call is open.
    """

    def __init__(self, path: Path, begun: Iterable[int]) -> None:
        self._file = open_to_append(path)
        self._open = set(begun)
        self._empty()

    def begin(self, call: BegunCall) -> None:
        """Notes a call before it goes on."""
        self._write(
            {
                "arguments": _written(call.arguments),
                "begin": call.number,
                "server": cast(JsonObject, call.server),
                "tool": call.tool,
            }
        )
        self._open.add(call.number)

    def end(self, number: int, seq: int) -> None:
        """Says which receipt ends a call, before it is written: the call has ended if it is."""
        self._write({"end": number, "seq": seq})

    def forget(self, number: int) -> None:
        """Forgets a call whose receipt is durable."""
        self._open.discard(number)
        self._empty()

    def close(self) -> None:
        """Closes the file."""
        os.close(self._file)

    def _empty(self) -> None:
        if not self._open:
            os.ftruncate(self._file, 0)

    def _write(self, note: JsonObject) -> None:
        size = os.fstat(self._file).st_size
        try:
            write_all(self._file, canonicalize(note))
        except OSError:
            # After half a note the next one could not be read.
            os.ftruncate(self._file, size)
            raise


def unanswered(path: Path, newest: int) -> dict[int, BegunCall]:
    """The calls that an earlier process began and did not end, by number.

    ``newest`` is the number of the newest receipt in the file.
    """
    begun: dict[int, BegunCall] = {}
    ended: dict[int, BegunCall] = {}
    for note in _notes_in(path.read_bytes() if path.exists() else b""):
        number, end, seq = note.get("begin"), note.get("end"), note.get("seq")
        if isinstance(number, int):
            server = cast(ToolServer, note.get("server"))
            value = _read(note.get("arguments"))
            begun[number] = BegunCall(number, str(note.get("tool")), server, value)
        elif isinstance(end, int) and isinstance(seq, int) and seq <= newest:
            # An earlier note of this receipt is of one that was not written.
            before = ended.pop(seq, None)
            if before is not None:
                begun[before.number] = before
            call = begun.pop(end, None)
            if call is not None:
                ended[seq] = call
    return dict(sorted(begun.items()))


def open_to_append(path: Path) -> int:
    """Opens a file of mode 0600 for ``write_all``, and makes it if there is none."""
    return os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)


def write_all(file: int, line: str) -> None:
    """Writes a line and its line feed."""
    rest = memoryview(f"{line}\n".encode())
    while rest:
        rest = rest[os.write(file, rest) :]


def _notes_in(journal: bytes) -> Iterator[JsonObject]:
    for line in journal.split(b"\n"):
        try:
            note = parse_json(line)
        except TallyError:
            # It was cut while it was written, so its call did not go on.
            continue
        if is_object(note):
            yield note


def _written(value: SessionValue | None) -> JsonValue:
    if value is None:
        return None
    return {"raw": to_base64url(value["raw"])} if is_raw(value) else cast(JsonObject, value)


def _read(value: JsonValue) -> SessionValue | None:
    if not is_object(value):
        return None
    raw = value.get("raw")
    return {"raw": from_base64url(raw)} if isinstance(raw, str) else {"json": value.get("json")}
