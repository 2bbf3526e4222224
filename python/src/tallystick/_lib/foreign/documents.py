"""The documents of a file: a JSON object, a list of them, JSON Lines, or one text."""

from __future__ import annotations

from typing import NamedTuple

from ..canonical import parse_json
from ..errors import TallyError
from ..json_types import JsonObject, JsonValue
from ..shape import is_object
from .family import ForeignDocument
from .keys import or_none

_MAX_BYTES = 64 * 1024 * 1024
_MAX_DOCUMENTS = 100_000


class Documents(NamedTuple):
    """The documents of a file, and what is wrong with it as a list, if anything is."""

    documents: list[ForeignDocument]
    fault: str | None = None


def read_documents(file: bytes | str) -> Documents | None:
    """Returns ``None`` for what holds none."""
    if len(file) > _MAX_BYTES:
        return None
    try:
        data = file.encode() if isinstance(file, str) else file
        text = data.decode("utf-8-sig")
    except UnicodeError:
        return None
    whole = or_none(lambda: parse_json(text.encode()))
    if whole is not None:
        return _of_list(whole if isinstance(whole, list) else [whole])
    # White space is that of JSON (RFC 8259, section 2), and not all that Python calls so.
    lines = [line for line in text.split("\n") if line.strip(" \t\r") != ""]
    if not lines:
        return None
    is_json_lines = lines[0].startswith("{") and len(lines) > 1
    return _of_lines(lines) if is_json_lines else Documents([text])


def _of_list(values: list[JsonValue]) -> Documents | None:
    documents: list[ForeignDocument] = []
    for value in values[:_MAX_DOCUMENTS]:
        if not is_object(value):
            fault = f"Item {len(documents) + 1} is not a JSON object."
            return Documents(documents, fault) if documents else None
        documents.append(value)
    if not documents:
        return None
    more = len(values) > _MAX_DOCUMENTS
    return Documents(documents, f"It holds more than {_MAX_DOCUMENTS} items." if more else None)


def _of_lines(lines: list[str]) -> Documents | None:
    values: list[JsonValue] = []
    for number, line in enumerate(lines[:_MAX_DOCUMENTS], 1):
        try:
            values.append(parse_json(line.encode()))
        except TallyError as error:
            read = _of_list(values)
            fault = f"Line {number}: {error.message}"
            return None if read is None else Documents(read.documents, read.fault or fault)
    return _of_list([*values, None] if len(lines) > _MAX_DOCUMENTS else values)


def as_object(document: ForeignDocument) -> JsonObject:
    """The document as a JSON object, empty if it is none."""
    return document if is_object(document) else {}
