"""Recording a session: signing the receipts of an agent's tool calls, in order."""

from __future__ import annotations

import secrets
from collections.abc import Callable
from dataclasses import dataclass
from threading import Lock

from ..errors import TallyError
from .salted import SaltedPart, SessionValue, commit_salt, is_raw, salt_of, salted_hash
from .session_call import (
    ContinuedSession,
    ParentReceipt,
    SessionClosing,
    SessionOpening,
    SessionPlace,
    SessionReference,
    ToolCall,
    ToolOutcome,
    ToolServer,
    root_of,
    session_call_shape_of,
    short_name,
)
from .session_receipt import read_session_receipt
from .sign_entry import SessionEntryToSign, SessionSigner


@dataclass(frozen=True)
class RecorderOptions:
    """What a recorder works with."""

    sign: SessionSigner
    """Signs each receipt: with a key of one's own (``own_key_signer``), or by a service."""
    salt: bytes
    """``session_salt``: 32 random bytes. Whoever has it can open every value: keep it secret."""
    random: Callable[[int], bytes] = secrets.token_bytes
    """Returns so many random bytes."""


@dataclass(frozen=True)
class SessionHead:
    """The newest receipt of a session."""

    id: str
    seq: int
    hash: str
    """``sha256:<hex>``, its anchored hash."""


class SessionRecorder:
    """Signs the receipts of one session, in order. Each method returns the JCS text of a receipt.

    Threads may share a recorder: calls are numbered one after the other. It keeps nothing: the
    caller writes each text down, a line each. Each method raises ``session_closed`` after
    ``close``, ``invalid_field`` for a value that a receipt can't have, and ``receipt_too_large``;
    a receipt that could not be signed has taken no place.
    """

    def __init__(self, options: RecorderOptions, head: SessionHead) -> None:
        self._options = options
        self._head = head
        self._closed = False
        self._lock = Lock()

    @classmethod
    def open(
        cls,
        options: RecorderOptions,
        *,
        session_id: str | None = None,
        continues: ContinuedSession | None = None,
        parent: ParentReceipt | None = None,
    ) -> tuple[SessionRecorder, str]:
        """Begins a session. Returns its recorder and its opening.

        ``session_id`` is 32 lower-case hex characters, 128 random bits; drawn when absent.
        ``continues`` is the closed session that this one goes on from under another key, and
        ``parent`` the receipt of another session that this one was begun from.
        """
        session_id = session_id or options.random(16).hex()
        recorder = cls(options, SessionHead(session_id, -1, root_of(session_id)))

        def opening(session: SessionPlace) -> SessionEntryToSign:
            call: SessionOpening = {
                "event": "open",
                "kind": "session",
                "salt_commitment": commit_salt(options.salt),
                "session": session,
            }
            if continues is not None:
                call["continues"] = continues
            if parent is not None:
                call["parent"] = parent
            return SessionEntryToSign(call, "session")

        return recorder, recorder._sign(opening)

    @classmethod
    def resume(cls, options: RecorderOptions, head: SessionHead) -> SessionRecorder:
        """Goes on with a session that is open; ``head`` is its newest receipt."""
        return cls(options, head)

    @property
    def head(self) -> SessionHead:
        """The newest receipt."""
        return self._head

    def tool(
        self,
        *,
        tool: str,
        server: ToolServer,
        outcome: ToolOutcome,
        arguments: SessionValue | None,
        result: SessionValue | None,
    ) -> str:
        """Records a call of a tool that has ended.

        A value that is absent, as the result after a refusal, is ``None``. Raises as
        ``canonicalize`` does for a value that is no JSON.
        """
        values: dict[SaltedPart, SessionValue | None] = {"arguments": arguments, "result": result}

        def ended(session: SessionPlace) -> SessionEntryToSign:
            def hash_of(part: SaltedPart) -> str | None:
                value = values[part]
                salt = salt_of(self._options.salt, session["seq"], part)
                return None if value is None else salted_hash(salt, value)

            call: ToolCall = {
                "kind": "tool",
                "outcome": outcome,
                "server": {**server, "name": short_name(server["name"])},
                "session": session,
                "tool": short_name(tool),
            }
            raw = [part for part, value in values.items() if value is not None and is_raw(value)]
            if raw:
                call["raw"] = raw
            return SessionEntryToSign(call, "tool_call", hash_of("arguments"), hash_of("result"))

        return self._sign(ended)

    def reference(self, *, receipt_id: str, receipt_sha256: str, child: str | None = None) -> str:
        """Records that a receipt of somebody else belongs here.

        ``receipt_sha256`` is its anchored hash as ``sha256:<hex>``, and ``child`` the id of the
        session that it opens, if it opens one.
        """

        def referred(session: SessionPlace) -> SessionEntryToSign:
            call: SessionReference = {
                "kind": "reference",
                "receipt_id": receipt_id,
                "receipt_sha256": receipt_sha256,
                "session": session,
            }
            if child is not None:
                call["child"] = child
            return SessionEntryToSign(call, "reference")

        return self._sign(referred)

    def close(self) -> str:
        """Ends the session. Nothing can be recorded after it."""

        def closing(session: SessionPlace) -> SessionEntryToSign:
            call: SessionClosing = {
                "count": str(int(session["seq"]) + 1),
                "event": "close",
                "head": session["prev"],
                "kind": "session",
                "session": session,
            }
            return SessionEntryToSign(call, "session")

        return self._sign(closing, is_last=True)

    def _sign(
        self, entry_at: Callable[[SessionPlace], SessionEntryToSign], *, is_last: bool = False
    ) -> str:
        """Signs the next receipt after all that were asked for before."""
        with self._lock:
            if self._closed:
                raise TallyError("session_closed", "This session is closed. Open a new one.")
            seq = self._head.seq + 1
            place: SessionPlace = {
                "id": self._head.id,
                "prev": self._head.hash,
                "seq": str(seq),
            }
            text = self._options.sign(_checked(entry_at(place)))
            self._head = SessionHead(self._head.id, seq, read_session_receipt(text).hash)
            self._closed = is_last
            return text


def _checked(entry: SessionEntryToSign) -> SessionEntryToSign:
    shape = session_call_shape_of(entry.call)
    fault = shape(entry.call, "call") if shape is not None else None
    if fault is not None:
        raise TallyError("invalid_field", str(fault), field=fault.field)
    return entry
