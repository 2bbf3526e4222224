"""Recording a session: signing the receipts of an agent's tool calls, in order."""

from __future__ import annotations

import secrets
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timezone
from threading import Lock
from typing import cast

from ..canonical import canonical_bytes, canonicalize
from ..countersign import anchored_hash
from ..ed25519 import Signer
from ..encoding import to_base64url
from ..errors import TallyError
from ..json_types import JsonObject
from ..receipts.family import SCHEMA_VERSION
from ..receipts.profiles import PROFILES
from ..timestamps import format_timestamp, unix_ms
from .salted import SaltedPart, SessionValue, commit_salt, is_raw, salt_of, salted_hash
from .session_call import (
    ContinuedSession,
    ParentReceipt,
    SessionCall,
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

_COUNTER_SIGNATURES = 2 * 84
"""Bytes that two counter-signatures add: each is 86 characters in quotes in place of ``null``."""


def _this_moment() -> datetime:
    return datetime.now(timezone.utc)


@dataclass(frozen=True)
class RecorderOptions:
    """What a recorder works with."""

    signer: Signer
    """The key of the whole session."""
    salt: bytes
    """``session_salt``: 32 random bytes. Whoever has it can open every value: keep it secret."""
    now: Callable[[], datetime] = _this_moment
    """Returns the present time, with a time zone."""
    random: Callable[[int], bytes] = secrets.token_bytes
    """Returns so many random bytes."""
    issuer_did: str | None = None
    """The service that signs, where it is not the recorder's own key; what the recorder says is
    then ``declared``."""
    agent_did: str | None = None
    """DID of the agent that is recorded, as it says itself."""


@dataclass(frozen=True)
class SessionHead:
    """The newest receipt of a session."""

    id: str
    seq: int
    hash: str
    """``sha256:<hex>``, its anchored hash."""


@dataclass(frozen=True)
class _Entry:
    """What one receipt of a session says."""

    call: SessionCall
    purpose: str
    request: str | None = None
    response: str | None = None


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
        continues: ContinuedSession | None = None,
        parent: ParentReceipt | None = None,
    ) -> tuple[SessionRecorder, str]:
        """Begins a session. Returns its recorder and its opening.

        ``continues`` is the closed session that this one goes on from under another key, and
        ``parent`` the receipt of another session that this one was begun from.
        """
        session_id = options.random(16).hex()
        recorder = cls(options, SessionHead(session_id, -1, root_of(session_id)))

        def opening(session: SessionPlace) -> _Entry:
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
            return _Entry(call, "session")

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

        def ended(session: SessionPlace) -> _Entry:
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
            return _Entry(call, "tool_call", hash_of("arguments"), hash_of("result"))

        return self._sign(ended)

    def reference(self, *, receipt_id: str, receipt_sha256: str, child: str | None = None) -> str:
        """Records that a receipt of somebody else belongs here.

        ``receipt_sha256`` is its anchored hash as ``sha256:<hex>``, and ``child`` the id of the
        session that it opens, if it opens one.
        """

        def referred(session: SessionPlace) -> _Entry:
            call: SessionReference = {
                "kind": "reference",
                "receipt_id": receipt_id,
                "receipt_sha256": receipt_sha256,
                "session": session,
            }
            if child is not None:
                call["child"] = child
            return _Entry(call, "reference")

        return self._sign(referred)

    def close(self) -> str:
        """Ends the session. Nothing can be recorded after it."""

        def closing(session: SessionPlace) -> _Entry:
            call: SessionClosing = {
                "count": str(int(session["seq"]) + 1),
                "event": "close",
                "head": session["prev"],
                "kind": "session",
                "session": session,
            }
            return _Entry(call, "session")

        return self._sign(closing, is_last=True)

    def _sign(self, entry_at: Callable[[SessionPlace], _Entry], *, is_last: bool = False) -> str:
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
            text = _mint(self._options, entry_at(place))
            self._head = SessionHead(self._head.id, seq, f"sha256:{anchored_hash(text)}")
            self._closed = is_last
            return text


def _mint(options: RecorderOptions, entry: _Entry) -> str:
    shape = session_call_shape_of(entry.call)
    fault = shape(entry.call, "call") if shape is not None else None
    if fault is not None:
        raise TallyError("invalid_field", str(fault), field=fault.field)
    signer, issuer = options.signer, options.issuer_did
    now = unix_ms(options.now())
    sealed = None if entry.response is None else False
    unsigned: JsonObject = {
        "call": cast(JsonObject, entry.call),
        "hardware": {"attestation": None, "class": None},
        "issued_at": format_timestamp(now),
        "issuer_pubkey": to_base64url(signer.public_key),
        "issuer_verified": issuer is not None,
        "key_id": signer.key_id,
        "operator": {"entity": None, "region": None, "training_region": None},
        "receipt_id": f"r_env_{now // 1_000}_{options.random(6).hex()}",
        "receipt_profile": "standard",
        "receipt_schema_version": SCHEMA_VERSION,
        "request": {
            "hash": entry.request,
            "origin": options.agent_did,
            "policy_hash": None,
            "purpose": entry.purpose,
        },
        "response": {"hash": entry.response, "sealed": sealed},
        "settlement": {"asset": None, "chain": None, "tx": None},
        "v": "svc-receipt-v1",
    }
    if issuer is not None:
        unsigned["declared"] = ["call", "request", "response"]
        unsigned["issuer_did"] = issuer
    svc = to_base64url(signer.sign(canonical_bytes(unsigned)))
    signatures: JsonObject = {"operator": None, "requester": None, "svc": svc}
    text = canonicalize({**unsigned, "signatures": signatures})
    size, limit = len(text.encode()) + _COUNTER_SIGNATURES, PROFILES["standard"].max_bytes
    if limit is not None and size > limit:
        message = f"The receipt would take {size} bytes; the limit is {limit} bytes."
        raise TallyError("receipt_too_large", message)
    return text
