"""A session that is being recorded: calls begin, end, and each receipt is kept in order."""

from __future__ import annotations

import secrets
from collections.abc import Callable
from dataclasses import dataclass
from threading import RLock
from types import TracebackType
from typing import Literal, Protocol, TypeAlias, TypeVar

from ..errors import TallyError
from ..issue import SigningKey
from .recorder import RecorderOptions, SessionHead, SessionRecorder
from .salted import SessionValue, salt_of, salted_hash
from .session_call import (
    ContinuedSession,
    ParentReceipt,
    ToolOutcome,
    ToolServer,
    is_closing,
    require_tool,
    short_name,
)
from .session_issuer import SessionService, session_issuer
from .session_receipt import SessionReceipt, read_session_receipt
from .session_value import session_value

_Session = TypeVar("_Session", bound="Session")
_Ends: TypeAlias = int | Literal["closing"] | None
"""What a receipt ends: the call of this number, the session, or nothing."""


@dataclass(frozen=True)
class _Unsure:
    """A receipt that was asked for and may have been signed."""

    ends: _Ends


@dataclass(frozen=True)
class BegunCall:
    """A tool call that has begun and not ended."""

    number: int
    """Counts the calls of this recorder; it is not the place in the session."""
    tool: str
    server: ToolServer
    arguments: SessionValue | None


class ReceiptStore(Protocol):
    """Where a session's receipts are kept. Its methods are called one at a time."""

    def begin(self, begun: BegunCall) -> None:
        """Notes a call before it goes on."""

    def add(self, text: str, seq: int, ends: int | None) -> None:
        """Keeps the receipt ``seq``. ``ends`` is the number of the call that it ends, if any."""


class _Handed:
    """Hands each receipt to a function."""

    def __init__(self, keep: Callable[[str], object]) -> None:
        self._keep = keep

    def begin(self, begun: BegunCall) -> None:
        pass

    def add(self, text: str, seq: int, ends: int | None) -> None:  # noqa: ARG002
        self._keep(text)


class Session:
    """Records what an agent does, a receipt for each tool call: ``open_session`` makes one.

    Threads may share it; calls may run at the same time and are numbered as they end. Each method
    that records returns the JCS text of its receipt once that is kept. A program on asyncio calls
    them by ``asyncio.to_thread``, because they may wait for a disk or a service. They raise
    ``session_closed`` after ``close``, and ``invalid_field`` and ``receipt_too_large``, after which
    the session goes on; so it does if the service did not answer. When a receipt could not be kept,
    every later call raises the same error.

    As a context manager it is closed in the end.
    """

    def __init__(
        self,
        recorder: SessionRecorder,
        options: RecorderOptions,
        signed: Callable[[str], str] | None,
        store: ReceiptStore,
    ) -> None:
        self._recorder = recorder
        self._options = options
        self._signed = signed
        self._unsure: _Unsure | None = None
        """What the receipt ends that a service may have signed and that did not come back."""
        self._store = store
        self._lock = RLock()
        self._unanswered: dict[int, BegunCall] = {}
        self._begun = 0
        self._is_closed = False
        self._failure: BaseException | None = None

    @property
    def id(self) -> str:
        """32 lower-case hex characters."""
        return self._recorder.head.id

    @property
    def head(self) -> SessionHead:
        """The newest receipt."""
        return self._recorder.head

    @property
    def salt(self) -> bytes:
        """``session_salt``, 32 bytes. Whoever has it can open every value: keep it secret."""
        return self._options.salt

    def begin(self, *, tool: str, server: ToolServer, arguments: object = None) -> BegunCall:
        """Notes that a tool is about to be called. ``end`` must follow.

        ``arguments`` is any value, which is hashed as JavaScript's ``JSON.stringify`` writes it, a
        model of Pydantic as its members, and anything else that JSON lacks as its ``repr``; or
        bytes, for JSON that is no I-JSON, as it came; or ``None`` if there are none. Raises
        ``invalid_field`` for a name of a member that is not a text.
        """
        require_tool(tool, server)
        with self._lock:
            self._require_open()
            self._begun += 1
            begun = BegunCall(self._begun, tool, server, session_value(arguments, "arguments"))
            self._store.begin(begun)
            self._unanswered[begun.number] = begun
            return begun

    def end(self, begun: BegunCall, *, outcome: ToolOutcome, result: object = None) -> str:
        """Records how a call has ended. ``result`` is as ``arguments`` of ``begin``."""
        with self._lock:
            self._require_open()
            if begun.number not in self._unanswered:
                raise TallyError("invalid_field", "This call has ended already.", field="begun")
            text = self._kept(
                lambda: self._recorder.tool(
                    tool=begun.tool,
                    server=begun.server,
                    outcome=outcome,
                    arguments=begun.arguments,
                    result=session_value(result, "result"),
                ),
                ends=begun.number,
            )
            self._unanswered.pop(begun.number, None)
            return text

    def record(
        self,
        *,
        tool: str,
        server: ToolServer,
        outcome: ToolOutcome,
        arguments: object = None,
        result: object = None,
    ) -> str:
        """Records a call that has ended: ``begin`` and ``end`` in one."""
        with self._lock:
            begun = self.begin(tool=tool, server=server, arguments=arguments)
            return self.end(begun, outcome=outcome, result=result)

    def reference(self, *, receipt_id: str, receipt_sha256: str, child: str | None = None) -> str:
        """Records that a receipt of somebody else belongs here.

        ``receipt_sha256`` is its anchored hash as ``sha256:<hex>``, and ``child`` the id of the
        session that it opens, if it opens one.
        """
        with self._lock:
            self._require_open()
            return self._kept(
                lambda: self._recorder.reference(
                    receipt_id=receipt_id, receipt_sha256=receipt_sha256, child=child
                )
            )

    def close(self) -> str:
        """Ends the session. Calls that have not ended are recorded as ``unknown`` before."""
        with self._lock:
            self._require_open()
            while self._unanswered:
                self.end(next(iter(self._unanswered.values())), outcome="unknown")
            text = self._kept(lambda: self._recorder.close(), ends="closing")
            self._is_closed = True
            return text

    def __enter__(self: _Session) -> _Session:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        try:
            if not self._is_closed and self._failure is None:
                self.close()
        finally:
            self._let_go()

    def _let_go(self) -> None:
        """Gives back what the session holds besides its receipts."""

    def _require_open(self) -> None:
        if self._is_closed:
            raise TallyError("session_closed", "This session is closed. Open a new one.")
        if self._failure is not None:
            raise self._failure

    def _kept(self, sign: Callable[[], str], ends: _Ends = None) -> str:
        for text, ended in self._catch_up() if self._unsure is not None else ():
            if ends is not None and ended == ends:
                return text
        self._unsure = None if self._signed is None else _Unsure(ends)
        text = sign()
        self._unsure = None
        self._keep(text, ends)
        return text

    def _keep(self, text: str, ends: _Ends) -> None:
        try:
            self._store.add(text, self.head.seq, None if ends == "closing" else ends)
        except BaseException as error:
            # What was not kept has taken its number all the same, so nothing may follow it.
            self._failure = error
            raise

    def _catch_up(self) -> list[tuple[str, _Ends]]:
        """Keeps receipts that the service has and this session lacks: their answers were lost.

        Returns each with what it ends. Raises ``session_unusable`` if they do not follow.
        """
        found: list[tuple[str, _Ends]] = []
        lines = [] if self._signed is None else self._signed(self.id).split("\n")
        for text in filter(None, lines):
            read, head = read_session_receipt(text), self.head
            place = read.call["session"]
            if read.seq <= head.seq:
                continue
            if (place["id"], read.seq, place["prev"]) != (head.id, head.seq + 1, head.hash):
                message = f"The service has another receipt than number {head.seq}."
                raise TallyError("session_unusable", message)
            ends: _Ends = "closing" if is_closing(read.call) else self._number_of(read)
            following = SessionHead(head.id, read.seq, read.hash)
            self._recorder = SessionRecorder.resume(self._options, following)
            self._keep(text, ends)
            if ends == "closing":
                self._is_closed = True
            elif ends is not None:
                self._unanswered.pop(ends)
            found.append((text, ends))
        self._unsure = None
        return found

    def _number_of(self, read: SessionReceipt) -> int | None:
        """The call that has not ended and that a receipt is of.

        Of calls that are alike, it is the one whose receipt did not come back.
        """
        call = read.call
        if call["kind"] != "tool":
            return None
        salt = salt_of(self.salt, call["session"]["seq"], "arguments")
        alike: list[int] = []
        for begun in self._unanswered.values():
            value = begun.arguments
            digest = None if value is None else salted_hash(salt, value)
            if short_name(begun.tool) == call["tool"] and digest == read.request_hash:
                alike.append(begun.number)
        lost = None if self._unsure is None else self._unsure.ends
        return next((number for number in alike if number == lost), next(iter(alike), None))


def open_session(
    *,
    key: SigningKey | None = None,
    client: SessionService | None = None,
    agent_did: str | None = None,
    continues: ContinuedSession | None = None,
    parent: ParentReceipt | None = None,
    keep: Callable[[str], object] = lambda _: None,
) -> Session:
    """Begins a session.

    - ``key`` or ``client``: signs every receipt of it: a key of your own, or the service of a
      ``Client``, which gets the hashes and neither arguments nor results.
    - ``agent_did``: DID of the agent that is recorded, as it says itself; only with a key.
    - ``continues``: the closed session that this one goes on from.
    - ``parent``: the receipt of another session that this one was begun from.
    - ``keep``: is given each receipt's text, in order and one at a time, the opening first. What
      it has kept in its order, a line each, is the session's file.
    """
    issuer = session_issuer(key, client, agent_did)
    options = RecorderOptions(issuer.sign, secrets.token_bytes(32))
    recorder, opening = SessionRecorder.open(options, continues=continues, parent=parent)
    keep(opening)
    return Session(recorder, options, issuer.signed, _Handed(keep))
