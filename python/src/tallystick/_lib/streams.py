"""Streams: whether receipts are all that signed heads count (spec/streams.md)."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256 as _sha256
from typing import Literal, TypeAlias, TypedDict, cast

from .assess_issuer import assess_issuer
from .canonical import canonical_bytes
from .did import did_key_of
from .ed25519 import verify_ed25519
from .encoding import from_base64url
from .errors import TallyError
from .hashes import sha256_hex
from .json_types import JsonObject, JsonValue
from .receipts.family import Claims, without
from .receipts.read import read_json
from .shape import (
    bytes32,
    constant,
    did,
    integer,
    is_object,
    key_id,
    members,
    non_empty_text,
    nullable,
    pattern,
    signature,
    timestamp,
)
from .timestamps import seconds_of
from .trust import Trust

_HEAD_TYPE = "svc-stream-head-v1"
_CLOCK_SKEW = 300
_SEARCHED = 64

_hex64 = pattern(r"[0-9a-f]{64}", "64 lower-case hex characters")

_head = members(
    {
        "type": constant(_HEAD_TYPE),
        "stream": non_empty_text,
        "count": integer(0),
        "head": _hex64,
        "since": timestamp,
        "at": timestamp,
        "previous_sha256": nullable(_hex64),
        "issuer_did": did,
        "issuer_pubkey": bytes32,
        "key_id": key_id,
        "sig_b64u": signature,
    }
)

StreamFaultKind: TypeAlias = Literal["left_out", "added", "moved", "chain", "heads"]


class StreamHead(TypedDict):
    """A signed statement of how many receipts a stream has, and which."""

    type: str
    stream: str
    count: int
    head: str
    """Hex."""
    since: str
    at: str
    previous_sha256: str | None
    issuer_did: str
    issuer_pubkey: str
    key_id: str
    sig_b64u: str


class StreamPart(TypedDict):
    """Part of the caller's stream, as the service answers it."""

    stream: str
    since: str
    count: int
    """Number of its receipts now."""
    first: int
    """Place of the first hash, counted from 1."""
    hashes: list[str]
    heads: list[StreamHead]


@dataclass(frozen=True)
class StreamFault:
    """What speaks against a stream. ``detail`` is for people and may change."""

    kind: StreamFaultKind
    index: int | None
    """Place in the stream, from 1; ``None`` where it is not known."""
    sha256: str | None
    """Anchored hash of the receipt, in hex."""
    detail: str


@dataclass(frozen=True)
class AbsentReceipt:
    """A receipt that is here as its hash alone, for a reason."""

    index: int
    sha256: str
    reason: str


@dataclass(frozen=True)
class StreamVerdict:
    stream: str
    complete: bool
    """Whether all that the heads count is here, or absent with a reason."""
    first: int
    last: int
    since: str
    at: str
    given: int
    """Number of the given receipts that the heads count."""
    uncounted: int
    """Number of the given receipts from before the first head or after the last one."""
    absent: tuple[AbsentReceipt, ...]
    faults: tuple[StreamFault, ...]


def stream_start(stream: str) -> bytes:
    """The head of a stream that counts nothing."""
    return _sha256(f"svc-stream-v1\n{stream}".encode()).digest()


def next_stream_head(head: bytes, anchored: bytes) -> bytes:
    """The head after one more receipt. Both are 32 bytes."""
    return _sha256(b"\x02" + head + anchored).digest()


def read_stream_head(
    document: JsonValue | bytes, trust: Trust | None = None, *, anchored_at: int | None = None
) -> StreamHead:
    """Reads a head and verifies its signature; given trust, its key must be the issuer's for heads.

    A key that was compromised counts only for heads that existed before its revocation, as
    ``anchored_at`` shows: Unix milliseconds, as by an anchor of the head's hash.
    Raises ``stream_invalid``, ``json_*``.
    """
    copy = read_json(document)
    fault = _head(copy, "")
    if fault is not None:
        raise TallyError("stream_invalid", str(fault), field=fault.field)
    assert is_object(copy)
    head = cast(StreamHead, copy)
    public_key = from_base64url(head["issuer_pubkey"], 32)
    signed = canonical_bytes(without(copy, "sig_b64u"))
    if not verify_ed25519(public_key, signed, from_base64url(head["sig_b64u"], 64)):
        raise _refused(head, "was changed after it was signed")
    if head["key_id"].startswith("did:key:") and head["key_id"] != did_key_of(public_key):
        raise _refused(head, "names another key than it was signed with")
    if trust is not None:
        _require_issuer(head, public_key, trust, anchored_at)
    return head


def _require_issuer(
    head: StreamHead, public_key: bytes, trust: Trust, anchored_at: int | None
) -> None:
    claims = Claims(
        receipt_id=head["stream"],
        profile=_HEAD_TYPE,
        key_id=head["key_id"],
        issuer_public_key=head["issuer_pubkey"],
        issuer_did=head["issuer_did"],
        issuer_verified=None,
        issued_at=seconds_of(head["at"]),
        signature=head["sig_b64u"],
    )
    verdict = assess_issuer(claims, public_key, trust, anchored_at, "head")
    if verdict.trusted:
        return
    detail = f"nobody vouches for {head['issuer_did']}"
    for check in verdict.checks:
        if check.ok is not True:
            detail = check.detail
            break
    raise _refused(head, f"does not count: {detail}")


def _refused(head: StreamHead, what: str) -> TallyError:
    message = f"The head of {head['stream']} at {head['count']} {what}."
    return TallyError("stream_invalid", message)


def verify_stream(
    heads: Iterable[JsonValue | bytes | StreamHead],
    hashes: Sequence[str],
    given: Iterable[tuple[str, int | None]],
    *,
    first: int = 1,
    trust: Trust | None = None,
    excuse: Callable[[int], str | None] | None = None,
) -> StreamVerdict:
    """Judges whether receipts are all that a stream's heads count; every receipt at fault is named.

    ``hashes`` are anchored hashes in hex, in the order of the stream, the first of them at the
    place ``first``; ``given`` has the anchored hash and the time of issue (Unix seconds) of each
    receipt that the caller has, ``None`` for a metering receipt, which does not say when it was
    issued. ``excuse`` says why the receipt at a place need not be given.
    Raises ``stream_invalid``.
    """
    read = [read_stream_head(cast(JsonValue, head), trust) for head in heads]
    if not read:
        raise TallyError("stream_invalid", "Without a head, nothing is known of a stream.")
    receipts = dict(given)
    for one in itertools.chain(hashes, receipts):
        if _hex64(one, "") is not None:
            raise TallyError("stream_invalid", "A hash must be 64 lower-case hex characters.")
    listed = set(hashes)
    strangers = _strangers(receipts, listed, read, first)
    faults = [*_head_faults(read), *_chain_faults(read, hashes, first - 1, strangers)]
    faults += [_added(one) for one in strangers]
    absent: list[AbsentReceipt] = []
    for index, one in enumerate(hashes, first):
        if one in receipts:
            continue
        reason = excuse(index) if excuse is not None else None
        if reason is None:
            faults.append(_left_out(index, one))
        else:
            absent.append(AbsentReceipt(index, one, reason))
    last = read[-1]
    counted = sum(1 for one in receipts if one in listed)
    return StreamVerdict(
        stream=last["stream"],
        complete=not faults,
        first=first,
        last=last["count"],
        since=last["since"],
        at=last["at"],
        given=counted,
        uncounted=len(receipts) - len(strangers) - counted,
        absent=tuple(absent),
        faults=_named(faults),
    )


def _strangers(
    receipts: dict[str, int | None], listed: set[str], heads: Sequence[StreamHead], first: int
) -> list[str]:
    if first == 1:
        begins = seconds_of(heads[0]["since"])
    else:
        begins = seconds_of(heads[0]["at"]) + _CLOCK_SKEW
    ends = seconds_of(heads[-1]["at"]) - _CLOCK_SKEW
    return [
        one
        for one, at in receipts.items()
        if one not in listed and at is not None and begins <= at < ends
    ]


def _head_faults(heads: Sequence[StreamHead]) -> Iterator[StreamFault]:
    for before, head in itertools.pairwise(heads):
        if (head["stream"], head["issuer_did"]) != (before["stream"], before["issuer_did"]):
            raise TallyError("stream_invalid", "The heads are not of one stream.")
        previous = sha256_hex(canonical_bytes(cast(JsonObject, before)))
        follows = (
            head["previous_sha256"] == previous
            and head["count"] >= before["count"]
            and head["since"] == before["since"]
            and seconds_of(head["at"]) >= seconds_of(before["at"])
        )
        if not follows:
            detail = (
                f"The head at {head['count']} does not follow from the one at {before['count']}."
            )
            yield StreamFault("heads", head["count"], None, detail)


def _chain_faults(
    heads: Sequence[StreamHead], hashes: Sequence[str], start: int, strangers: Sequence[str]
) -> list[StreamFault]:
    known = next((head for head in heads if head["count"] == start), None)
    if start == 0:
        state = stream_start(heads[0]["stream"])
    elif known is None:
        message = f"There is no head at {start}, where the hashes begin."
        raise TallyError("stream_invalid", message)
    else:
        state = bytes.fromhex(known["head"])
    chained = [bytes.fromhex(one) for one in hashes]
    at = start
    for head in heads:
        count = head["count"]
        if count < start:
            continue
        begin, begin_at = state, at
        for one in chained[at - start : count - start]:
            state = next_stream_head(state, one)
            at += 1
        if at == count and state.hex() == head["head"]:
            continue
        rest = chained[begin_at - start :]
        target = bytes.fromhex(head["head"])
        return [
            _change(begin, begin_at, count, target, rest, [bytes.fromhex(s) for s in strangers])
        ]
    end = heads[-1]["count"]
    return [
        replace(_added(one), index=index)
        for index, one in enumerate(hashes[end - start :], end + 1)
    ]


def _change(
    begin: bytes,
    begin_at: int,
    count: int,
    target: bytes,
    rest: Sequence[bytes],
    strangers: Sequence[bytes],
) -> StreamFault:
    length = count - begin_at
    # Where heads are out of order, a length is below 0.
    if 0 <= length <= _SEARCHED and len(rest) >= length - 1:
        for kind, offset, one, changed in _changes(length, rest, strangers):
            if len(changed) != length:
                continue
            state = begin
            for step in changed:
                state = next_stream_head(state, step)
            if state == target:
                index = begin_at + offset + 1
                if kind == "left_out":
                    return _left_out(index, one.hex())
                if kind == "added":
                    return replace(_added(one.hex()), index=index)
                detail = f"{one.hex()} stands at another place than {index}."
                return StreamFault("moved", index, one.hex(), detail)
    where = f"between {begin_at} and {count}"
    detail = f"The hashes {where} do not lead to the head at {count}."
    return StreamFault("chain", count, None, detail)


def _changes(
    length: int, rest: Sequence[bytes], strangers: Sequence[bytes]
) -> Iterator[tuple[StreamFaultKind, int, bytes, list[bytes]]]:
    same, longer, shorter = rest[:length], rest[: length + 1], rest[: max(0, length - 1)]
    for offset, one in enumerate(longer):
        yield "added", offset, one, [*longer[:offset], *longer[offset + 1 :]]
    for one in strangers[:_SEARCHED]:
        for offset in range(length):
            yield "left_out", offset, one, [*shorter[:offset], one, *shorter[offset:]]
    for at, one in enumerate(same):
        others = [*same[:at], *same[at + 1 :]]
        for offset in range(len(same)):
            if offset == at:
                continue
            yield "moved", offset, one, [*others[:offset], one, *others[offset:]]
            if offset > at:
                swapped = list(same)
                swapped[at], swapped[offset] = same[offset], one
                yield "moved", offset, one, swapped


def _left_out(index: int, sha256: str) -> StreamFault:
    detail = f"The receipt with the hash {sha256}, number {index} of the stream, is not here."
    return StreamFault("left_out", index, sha256, detail)


def _added(sha256: str) -> StreamFault:
    detail = f"The receipt with the hash {sha256} is not counted by the heads."
    return StreamFault("added", None, sha256, detail)


def _named(faults: Sequence[StreamFault]) -> tuple[StreamFault, ...]:
    """Each receipt once: a place that is known says more than none."""
    placed = {fault.sha256 for fault in faults if fault.index is not None}
    return tuple(
        fault
        for fault in faults
        if fault.index is not None or fault.sha256 is None or fault.sha256 not in placed
    )
