"""What a receipt covers of an answer, collected as its bytes pass (spec/compute.md)."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

from ..canonical import canonical_bytes, parse_json
from ..errors import TallyError
from ..hashes import sha256_hex
from ..json_types import JsonObject, JsonValue
from ..receipts.family import without
from ..shape import is_object
from .protocol import CallProtocol, protocol_of
from .sse_reader import SseReader

MAX_HELD_BYTES = 64 * 1_048_576
"""The most bytes that an answer in one piece, or one event of a stream, may have."""

_DONE = b"[DONE]"

_CHUNK_HEAD = {"id", "object", "created", "model", "choices", "svc"}
"""What may stand beside svc in a chunk of its own, which is not hashed."""


@dataclass(frozen=True)
class CollectedAnswer:
    """An answer of an inference call, as far as its receipt is concerned."""

    hash: str | None
    """``sha256:<hex>`` over what a receipt covers; ``None`` if the answer has a fault."""
    fault: str | None
    """Sentence that says why this is no answer of a call; ``None`` if it is one."""
    svc: JsonObject | None
    """The member ``svc``; ``None`` for a stream without its end."""
    answer_id: str | None
    """The answer's own id, as its client sees it: of a stream, that in its first event."""
    protocol: CallProtocol | None


class CallCollector:
    """Collects an answer as its bytes pass, and hashes what its receipt covers.

    The bytes decide whether it is a JSON body or a stream of server-sent events. Of a stream it
    holds one event in memory, of a body everything.
    """

    def __init__(self) -> None:
        self._body = bytearray()
        self._reader = SseReader(self._event, MAX_HELD_BYTES)
        self._hash = hashlib.sha256()
        self._is_stream: bool | None = None
        self._starts_blank = False
        self._held: list[bytes] = []
        """The last payload, and ``[DONE]`` after it: what comes next decides if they count."""
        self._protocol: CallProtocol | None = None
        self._answer_id: str | None = None
        self._has_named = False
        self._has_unnamed = False
        self._fault: str | None = None
        self._is_too_large = False
        self._collected: CollectedAnswer | None = None

    def push(self, data: bytes) -> None:
        """Takes the next bytes. Never raises for what they say: ``end`` reports it."""
        if self._is_too_large or self._collected is not None:
            return
        try:
            self._take(data)
        except TallyError as error:
            self._is_too_large = True
            self._fault = error.message

    def end(self) -> CollectedAnswer:
        """Ends the answer. Bytes pushed after it do not count."""
        if self._collected is None:
            is_body = self._is_stream is False and not self._is_too_large
            self._collected = _collect_body(bytes(self._body)) if is_body else self._end_stream()
        return self._collected

    def _take(self, data: bytes) -> None:
        if self._is_stream is None:
            self._is_stream = self._form_of(data)
        if self._is_stream:
            self._reader.push(data)
        elif self._is_stream is False:
            if len(self._body) + len(data) > MAX_HELD_BYTES:
                message = f"An answer may have at most {MAX_HELD_BYTES} bytes."
                raise TallyError("body_too_large", message)
            self._body += data

    def _form_of(self, data: bytes) -> bool | None:
        """Whether it is a stream, by the first byte after line breaks; ``None`` before that."""
        start = data.lstrip(b"\r\n")
        if not start:
            self._starts_blank = self._starts_blank or bool(data)
            return None
        # An object, or the white space that only JSON allows in front of it.
        if start[:1] in (b"{", b" ", b"\t"):
            return False
        # A byte order mark counts at the very start only.
        if self._starts_blank:
            self._reader.push(b"\n")
        return True

    def _event(self, payload: bytes, name: str | None) -> None:
        is_done = name is None and payload == _DONE
        if is_done and len(self._held) == 1:
            self._held.append(_DONE)
            return
        for held in self._held:
            self._cover(held)
        self._held = [payload]
        if is_done:
            return
        self._has_named = self._has_named or name is not None
        self._has_unnamed = self._has_unnamed or name is None
        is_of_lines = b"\n" in payload
        if name is None and self._protocol is not None and not is_of_lines:
            return
        document = _parsed(payload)
        # Two events without the blank line between them have the same hash, and are no JSON.
        if is_of_lines and document is None and self._fault is None:
            self._fault = "A payload of several data lines is not I-JSON."
        self._protocol = self._protocol or protocol_of(document)
        self._answer_id = self._answer_id or _answer_id_of(document)
        kind = _type_of(document)
        if name is not None and kind != name and self._fault is None:
            found = kind or "missing"
            self._fault = f"An event is named {name}, but the type in its payload is {found}."

    def _cover(self, payload: bytes) -> None:
        self._hash.update(payload + b"\n")

    def _end_stream(self) -> CollectedAnswer:
        last = next((payload for payload in self._held if payload != _DONE), None)
        document = None if last is None else _parsed(last)
        end = document if is_object(document) and _is_end(document) else None
        protocol = self._protocol or protocol_of(document)
        svc = None if end is None else _svc_of(end)
        answer_id = self._answer_id or _answer_id_of(document)
        fault = self._fault or self._fault_at_end(last, _type_of(end))
        if last is None or fault is not None:
            return CollectedAnswer(None, fault, svc, answer_id, protocol)
        if end is None:
            self._cover(last)
        elif _is_hashed(end):
            self._cover(canonical_bytes(without(end, "svc")))
        digest = f"sha256:{self._hash.hexdigest()}"
        return CollectedAnswer(digest, None, svc, answer_id, protocol)

    def _fault_at_end(self, last: bytes | None, kind: str | None) -> str | None:
        if last is None:
            return "This is neither a JSON object nor a stream of server-sent events."
        if self._has_named and self._has_unnamed:
            return "Some events of the stream are named, and others are not."
        if kind is not None and self._has_unnamed:
            return f"The events have no names, but the last one has the type {kind}."
        return None


def _collect_body(data: bytes) -> CollectedAnswer:
    try:
        return collect_document(parse_json(data))
    except TallyError as error:
        return unread(error.message)


def collect_document(body: JsonValue) -> CollectedAnswer:
    """Collects an answer in one piece from its parsed body."""
    if not is_object(body):
        return unread("It is not a JSON object.")
    digest = f"sha256:{sha256_hex(canonical_bytes(without(body, 'svc')))}"
    return CollectedAnswer(digest, None, _svc_of(body), _answer_id_of(body), protocol_of(body))


def unread(fault: str) -> CollectedAnswer:
    """An answer that can't be read, with the sentence that says why."""
    return CollectedAnswer(None, fault, None, None, None)


def _parsed(payload: bytes) -> JsonValue:
    try:
        return parse_json(payload)
    except TallyError:
        return None


def _answer_id_of(document: JsonValue) -> str | None:
    """The id of a body or chunk, or of the object in the first event of responses or messages."""
    if not is_object(document):
        return None
    inner = (one for one in (document.get("response"), document.get("message")) if is_object(one))
    answer_id = next(inner, document).get("id")
    return answer_id if isinstance(answer_id, str) else None


def _is_end(payload: JsonObject) -> bool:
    """Whether a last payload has svc, and is either hashed or tells a client nothing."""
    if "svc" not in payload:
        return False
    if _is_hashed(payload):
        return True
    return payload.keys() <= _CHUNK_HEAD and payload.get("choices", []) == []


def _is_hashed(payload: JsonObject) -> bool:
    """Whether the hash covers the last payload: it has contents beside ``svc``."""
    return _type_of(payload) is not None or "usage" in payload


def _svc_of(document: JsonObject) -> JsonObject | None:
    svc = document.get("svc")
    return svc if is_object(svc) else None


def _type_of(document: JsonValue) -> str | None:
    kind = document.get("type") if is_object(document) else None
    return kind if isinstance(kind, str) else None
