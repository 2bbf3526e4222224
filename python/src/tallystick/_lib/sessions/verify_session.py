"""Verifying a session: its receipts, their order and their one key (spec/sessions.md)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime, timezone
from typing import Final, Literal, TypeAlias

from ..canonical import copy_json
from ..countersign import anchored_hash
from ..did import public_key_of_did_key
from ..encoding import to_base64url
from ..errors import TallyError
from ..json_types import Document, JsonObject, JsonValue
from ..receipts.envelope import ENVELOPE
from ..receipts.family import object_at, text_at, text_or_none
from ..receipts.read import read_json, read_receipt
from ..shape import is_object
from ..timestamps import format_timestamp, unix_ms
from ..trust import Trust
from ..trust_store import KnownTrust, issuers_in
from ..verify import Verification, verify
from .session_call import (
    ContinuedSession,
    ParentReceipt,
    SessionCall,
    is_closing,
    is_opening,
    is_reference,
    is_session_call,
    root_of,
)

SessionFaultName: TypeAlias = Literal[
    "gap", "fork", "duplicate", "reordered", "edited", "foreign_key", "count_mismatch", "torn"
]
"""Faults of a session (spec/sessions.md)."""

ReferenceState: TypeAlias = Literal["valid", "not_given", "contradicts"]
"""What became of the receipt that a reference names."""

SessionState: TypeAlias = Literal["open", "closed", "none"]
"""An open session may have lost its newest receipts without a trace."""


@dataclass(frozen=True)
class SessionFault:
    """One fault. ``detail`` is for people and may change."""

    name: SessionFaultName
    line: int | None
    """Line of the file, from 1; ``None`` where no line has it."""
    seq: int | None
    detail: str


@dataclass(frozen=True)
class SessionEntry:
    """One receipt of a session, in the order of the file."""

    line: int
    seq: int
    receipt_id: str
    issued_at: str
    call: SessionCall
    request_hash: str | None
    response_hash: str | None
    sha256: str
    """``sha256:<hex>``, its anchored hash."""
    anchored: bool
    reference: ReferenceState | None = None
    """``None`` unless it is a reference."""


@dataclass(frozen=True)
class RecordedBy:
    """Who signed a session: the service, or whoever held the key."""

    key_id: str
    public_key: str
    issuer_did: str | None
    by: Literal["own_key", "service"]


@dataclass(frozen=True)
class SessionVerification:
    """The verdict on a session."""

    valid: bool
    """No fault was found, every receipt is valid, and none that was given contradicts a
    reference."""
    integrity: bool
    """Every receipt is intact, in its place, and of one key."""
    trusted: bool
    """The verifier trusts the key: it is pinned, or of a trusted issuer."""
    state: SessionState
    id: str | None
    continues: ContinuedSession | None
    parent: ParentReceipt | None
    recorder: RecordedBy | None
    count: int
    head: str | None
    """Anchored hash of the newest receipt."""
    anchored_up_to: int | None
    """The newest place that an anchor covers; ``None`` if none does. Nothing up to there can be
    changed without contradicting it."""
    witnessed: None
    """No policy of witnesses is given yet."""
    references: Mapping[ReferenceState, int]
    faults: tuple[SessionFault, ...]
    notes: tuple[str, ...]
    """What the verdict does not cover, in sentences."""
    entries: tuple[SessionEntry, ...]
    verified_at: str

    def to_json(self) -> JsonObject:
        """The verdict as JSON, with the members that it has in TypeScript."""
        entries = [asdict(entry) for entry in self.entries]
        for entry in entries:
            if entry["reference"] is None:
                del entry["reference"]
        faults = [asdict(fault) for fault in self.faults]
        listed = {"entries": entries, "faults": faults, "notes": list(self.notes)}
        document = copy_json({**asdict(self), **listed})
        assert is_object(document)
        return document


def verify_session(
    file: bytes | str,
    *,
    trust: KnownTrust | None = None,
    key: str | None = None,
    referenced: Iterable[Document] = (),
    now: datetime | None = None,
) -> SessionVerification:
    """Verifies the receipts of one session: each of them, their order, and their one key.

    - ``file``: JSON Lines, a receipt a line.
    - ``trust``: as ``verify`` takes it. When absent, nobody is trusted but by ``key``.
    - ``key``: the key that the session must have: a did:key, or 32 bytes in base64url.
    - ``referenced``: receipts that the session refers to, whole. What is no receipt is left out.
    - ``now``: the time to judge at, with a time zone; this moment when absent.

    Nothing that the file holds is an error. Raises ``invalid_did`` for a ``key`` that is none,
    and ``trust_expired`` and ``trust_unavailable`` as ``verify`` does.
    """
    now = now or datetime.now(timezone.utc)
    pinned = None if key is None else _public_key_text(key)
    reading = _Reading(now, issuers_in(trust, now), pinned, _by_id(referenced))
    for number, (text, is_whole) in enumerate(_lines_of(file), 1):
        reading.take(number, text, is_whole=is_whole)
    return reading.verdict()


@dataclass(frozen=True)
class _Line:
    """A line as it was read: an envelope whose form was checked."""

    number: int
    receipt: JsonObject
    verdict: Verification
    call: SessionCall
    seq: int
    hash: str

    @property
    def session_id(self) -> str:
        return self.call["session"]["id"]

    @property
    def key(self) -> str:
        return text_at(self.receipt, "issuer_pubkey")

    @property
    def has_path(self) -> bool:
        """Whether an anchor's path leads to its root, which anybody can make up."""
        return self._holds("anchor")

    @property
    def is_anchored(self) -> bool:
        """Whether a log that is trusted signed the root too."""
        return self.has_path and self._holds("anchor_checkpoint")

    def _holds(self, name: str) -> bool:
        return any(check.name == name and check.ok for check in self.verdict.checks)

    def entry(self, reference: ReferenceState | None) -> SessionEntry:
        return SessionEntry(
            line=self.number,
            seq=self.seq,
            receipt_id=text_at(self.receipt, "receipt_id"),
            issued_at=text_at(self.receipt, "issued_at"),
            call=self.call,
            request_hash=text_or_none(object_at(self.receipt, "request"), "hash"),
            response_hash=text_or_none(object_at(self.receipt, "response"), "hash"),
            sha256=self.hash,
            anchored=self.is_anchored,
            reference=reference,
        )

    def signer(self) -> RecordedBy:
        issuer_did = text_or_none(self.receipt, "issuer_did")
        return RecordedBy(
            key_id=self.verdict.issuer.key_id or "",
            public_key=self.key,
            issuer_did=issuer_did,
            by="own_key" if issuer_did is None else "service",
        )


_UNNUMBERED: Final = float("inf")
"""Sorts what no line has behind every line."""


class _Reading:
    def __init__(
        self, now: datetime, trust: Trust, pinned: str | None, referenced: Mapping[str, str]
    ) -> None:
        self._now = now
        self._trust = trust
        self._pinned = pinned
        self._referenced = referenced
        self._lines: list[_Line] = []
        self._faults: list[SessionFault] = []
        self._notes: list[str] = []
        self._places: dict[int, _Line] = {}
        """The first line of each number."""

    def take(self, number: int, text: str, *, is_whole: bool) -> None:
        try:
            document = read_json(text)
        except TallyError:
            if is_whole:
                self._fault("torn", number, None, f"Line {number} is not JSON.")
            else:
                self._notes.append(f"Line {number} was cut before its end, and is left out.")
            return
        # Parsed already: a copy is cheaper than parsing it again.
        parsed = document if is_object(document) else text
        verdict = verify(parsed, now=self._now, trust=self._trust)
        call = document.get("call") if is_object(document) else None
        known = call if is_session_call(call) else None
        seq = None if known is None else int(known["session"]["seq"])
        if not verdict.integrity:
            broken = next((check.detail for check in verdict.checks if check.ok is False), "")
            self._fault("edited", number, seq, broken)
        elif (
            not is_object(document)
            or verdict.family != ENVELOPE.name
            or known is None
            or seq is None
        ):
            self._fault("edited", number, seq, "It is no receipt of a session.")
        else:
            digest = _hash_of(document)
            self._lines.append(_Line(number, document, verdict, known, seq, digest))

    def verdict(self) -> SessionVerification:
        # The session and the key that most lines are of, so that a line of another is the fault.
        session_id = _most_frequent(line.session_id for line in self._lines)
        own = [line for line in self._lines if self._belongs(line, session_id)]
        most = _most_frequent(line.key for line in own)
        key = most if self._pinned is None else self._pinned
        ordered = [line for line in own if self._is_of_key(line, key)]
        self._check_order(ordered)
        closed = self._check_closing(ordered)
        openings = (line.call for line in ordered if line.seq == 0)
        opening = next((call for call in openings if is_opening(call)), None)
        states = [self._reference_of(line.call) for line in ordered]
        references: dict[ReferenceState, int] = {"valid": 0, "not_given": 0, "contradicts": 0}
        for state in states:
            if state is not None:
                references[state] += 1
        unsigned = sum(line.has_path and not line.is_anchored for line in ordered)
        if unsigned:
            self._notes.append(
                f"{unsigned} of the anchors do not count: "
                "no log that the given trust lists signed them."
            )
        if ordered and not closed:
            self._notes.append(
                "The session is open: nobody can see whether receipts after number "
                f"{ordered[-1].seq} were cut off."
            )
        integrity = not self._faults and bool(ordered)
        agrees = integrity and references["contradicts"] == 0
        valid = agrees and all(line.verdict.valid for line in ordered)
        trusted = self._pinned is not None or all(line.verdict.issuer.trusted for line in ordered)
        return SessionVerification(
            valid=valid,
            integrity=integrity,
            trusted=valid and trusted,
            state="none" if not ordered else "closed" if closed else "open",
            id=session_id,
            continues=None if opening is None else opening.get("continues"),
            parent=None if opening is None else opening.get("parent"),
            recorder=ordered[0].signer() if ordered else None,
            count=len(ordered),
            head=ordered[-1].hash if ordered else None,
            anchored_up_to=max((line.seq for line in ordered if line.is_anchored), default=None),
            witnessed=None,
            references=references,
            faults=tuple(sorted(self._faults, key=lambda fault: fault.line or _UNNUMBERED)),
            notes=tuple(self._notes),
            entries=tuple(line.entry(state) for line, state in zip(ordered, states, strict=True)),
            verified_at=format_timestamp(unix_ms(self._now)),
        )

    def _fault(
        self, name: SessionFaultName, line: int | None, seq: int | None, detail: str
    ) -> None:
        self._faults.append(SessionFault(name, line, seq, detail))

    def _belongs(self, line: _Line, session_id: str | None) -> bool:
        if line.session_id == session_id:
            return True
        detail = f"Line {line.number} is a receipt of the session {line.session_id}."
        self._fault("edited", line.number, line.seq, detail)
        return False

    def _is_of_key(self, line: _Line, key: str | None) -> bool:
        if line.key == key:
            return True
        detail = f"Another key than the session's signed line {line.number}."
        self._fault("foreign_key", line.number, line.seq, detail)
        return False

    def _check_order(self, lines: Sequence[_Line]) -> None:
        known = {fault.seq for fault in self._faults if fault.seq is not None}
        highest = -1
        for line in lines:
            self._check_place(line, highest)
            highest = max(highest, line.seq)
        self._check_gaps(sorted(self._places.keys() | {seq for seq in known if seq < highest}))
        for line in self._places.values():
            self._check_link(line)

    def _check_place(self, line: _Line, highest: int) -> None:
        number, seq = line.number, line.seq
        earlier = self._places.setdefault(seq, line)
        if earlier is line:
            if seq < highest:
                detail = f"Line {number} is number {seq}, and comes after number {highest}."
                self._fault("reordered", number, seq, detail)
        elif earlier.hash == line.hash:
            self._fault("duplicate", number, seq, f"Line {number} is line {earlier.number} again.")
        else:
            detail = f"Lines {earlier.number} and {number} are two receipts of number {seq}."
            self._fault("fork", number, seq, detail)

    def _check_gaps(self, present: Sequence[int]) -> None:
        """A run of missing numbers is one fault: a number may claim to be the 10^15th."""
        following = 0
        for seq in present:
            if seq - following == 1:
                self._fault("gap", None, following, f"Number {following} is missing.")
            elif seq > following:
                detail = f"Numbers {following} to {seq - 1} are missing."
                self._fault("gap", None, following, detail)
            following = seq + 1

    def _check_link(self, line: _Line) -> None:
        number, seq, call = line.number, line.seq, line.call
        if seq == 0 and not is_opening(call):
            detail = f"Line {number} is number 0, and does not open the session."
            self._fault("gap", number, seq, detail)
        if seq > 0 and is_opening(call):
            self._fault("fork", number, seq, f"Line {number} opens the session again.")
        before = self._places.get(seq - 1)
        expected = root_of(line.session_id) if seq == 0 else before and before.hash
        if expected is not None and expected != call["session"]["prev"]:
            detail = (
                f"Line {number} follows another receipt than the one given as number {seq - 1}."
            )
            self._fault("fork", number, seq, detail)

    def _check_closing(self, lines: Sequence[_Line]) -> bool:
        """Returns whether a receipt closes the session."""
        for line in lines:
            call, number, seq = line.call, line.number, line.seq
            if not is_closing(call):
                continue
            if call["count"] != str(seq + 1) or call["head"] != call["session"]["prev"]:
                detail = f"Line {number} closes {call['count']} receipts as number {seq}."
                self._fault("count_mismatch", number, seq, detail)
            after = next((other for other in lines if other.seq > seq), None)
            if after is not None:
                detail = f"Line {after.number} comes after the session was closed."
                self._fault("count_mismatch", after.number, after.seq, detail)
            return True
        return False

    def _reference_of(self, call: SessionCall) -> ReferenceState | None:
        if not is_reference(call):
            return None
        found = self._referenced.get(call["receipt_id"])
        if found is None:
            return "not_given"
        return "valid" if found == call["receipt_sha256"] else "contradicts"


def _lines_of(file: bytes | str) -> list[tuple[str, bool]]:
    """The lines of a file, and of each whether it is whole: the last may have been cut."""
    # A line that is no UTF-8 is a fault of that line alone.
    text = file if isinstance(file, str) else file.decode("utf-8-sig", "replace")
    *lines, last = text.split("\n")
    return [*((line, True) for line in lines), *([(last, False)] if last else [])]


def _hash_of(receipt: JsonValue) -> str:
    return f"sha256:{anchored_hash(receipt)}"


def _by_id(receipts: Iterable[Document]) -> dict[str, str]:
    """The anchored hashes of receipts by their ids; what is no receipt is left out."""
    found: dict[str, str] = {}
    for document in receipts:
        try:
            family, receipt = read_receipt(document)
        except TallyError:
            continue
        found[family.claims(receipt).receipt_id] = _hash_of(receipt)
    return found


def _public_key_text(key: str) -> str:
    """The key in base64url."""
    return to_base64url(public_key_of_did_key(key)) if key.startswith("did:key:") else key


def _most_frequent(values: Iterable[str]) -> str | None:
    """The most frequent of the values, of equally frequent ones the first."""
    counted = Counter(values).most_common(1)
    return counted[0][0] if counted else None
