"""Corrections: receipts that supersede others (spec/corrections.md)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from datetime import datetime, timezone
from typing import Final, Literal, TypeAlias, cast

from .countersign import anchored_hash
from .errors import TallyError
from .json_types import JsonLike, JsonObject
from .receipts.envelope import ENVELOPE
from .receipts.family import object_at, text_at, text_or_none
from .receipts.read import read_json, read_receipt
from .shape import (
    constant,
    is_object,
    members,
    non_empty_text,
    nullable,
    pattern,
    sha256_text,
)
from .trust_store import KnownTrust, issuers_in
from .verify import Verification, verify

CorrectedState: TypeAlias = Literal["valid", "not_given", "contradicts", "other_signer"]
"""What was found of a receipt that a correction names. ``other_signer``: it is valid, but nothing
shows that the issuer of the correction issued it."""

_named = members(
    {
        "receipt_id": pattern(
            r"r_(?:env|sls\.metering)_[0-9]{10,}_[0-9a-f]{12}",
            "the id of an envelope or a metering receipt",
        ),
        "receipt_sha256": sha256_text,
    }
)
_shape: Final = members(
    {
        "kind": constant("correction"),
        "corrects": _named,
        "correction": _named,
        "reason": nullable(non_empty_text),
    }
)


@dataclass(frozen=True)
class CorrectedReceipt:
    """A receipt that a correction names, and what was found of it."""

    receipt_id: str
    receipt_sha256: str
    """``sha256:<hex>``, its anchored hash."""
    state: CorrectedState


@dataclass(frozen=True)
class CorrectionVerdict:
    """The verdict on one envelope that says that a receipt corrects another.

    Neither receipt's own verdict changes by it.
    """

    receipt_id: str
    """Id of that envelope."""
    valid: bool
    """It is valid, is about the receipts that are given, and nothing given contradicts it."""
    trusted: bool
    """It is valid, and its issuer trusted."""
    corrects: CorrectedReceipt
    """The receipt that is superseded."""
    correction: CorrectedReceipt
    """The receipt that supersedes it."""
    reason: str | None
    faults: tuple[str, ...]
    """What is wrong, in sentences."""

    def to_json(self) -> JsonObject:
        """The verdict as JSON, with the members that it has in TypeScript."""
        return cast(JsonObject, {**asdict(self), "faults": list(self.faults)})


@dataclass(frozen=True)
class JudgedReceipt:
    """A receipt or a link, the verdict on it, and what it says."""

    receipt_id: str
    sha256: str
    verdict: Verification
    says: JsonObject | None
    """What it says of a correction; ``None`` if it links no receipts."""
    is_for_correction: bool
    """Whether it links receipts, is of the purpose ``correction``, and is about nothing else."""


def verify_corrections(
    documents: Iterable[JsonLike],
    *,
    now: datetime | None = None,
    trust: KnownTrust | None = None,
) -> list[CorrectionVerdict]:
    """Finds which of the given receipts correct which, in the order in which these are given.

    ``documents`` are receipts, and the envelopes that link them, in any order; what is no receipt
    is passed over. Raises ``trust_expired`` and ``trust_unavailable`` as ``verify``.
    """
    now = now or datetime.now(timezone.utc)
    known = issuers_in(trust, now)
    read = (_read(document, now, known) for document in documents)
    return judge_corrections([one for one in read if one is not None])


def judge_corrections(given: list[JudgedReceipt]) -> list[CorrectionVerdict]:
    """As ``verify_corrections``, of documents that were judged already."""
    links = [one for one in given if one.says is not None]
    receipts = _ReceiptsByName([one for one in given if one.says is None], links)
    conflicts = _Conflicts(links)
    return [_judge(link, receipts, conflicts) for link in links]


def _read(given: JsonLike, now: datetime, trust: KnownTrust) -> JudgedReceipt | None:
    try:
        document = read_json(given)
        family, receipt = read_receipt(document)
        sha256 = f"sha256:{anchored_hash(document)}"
    except TallyError:
        return None
    verdict = verify(document, now=now, trust=trust)
    call = receipt.get("call") if family is ENVELOPE else None
    says = call if is_object(call) and _shape(call, "call") is None else None
    is_for_correction = says is not None and _is_for_correction(receipt)
    return JudgedReceipt(
        family.claims(receipt).receipt_id, sha256, verdict, says, is_for_correction
    )


def _is_for_correction(receipt: JsonObject) -> bool:
    request, response = object_at(receipt, "request"), object_at(receipt, "response")
    hashes = (request.get("hash"), response.get("hash"))
    return request.get("purpose") == "correction" and hashes == (None, None)


def _judge(
    link: JudgedReceipt, receipts: _ReceiptsByName, conflicts: _Conflicts
) -> CorrectionVerdict:
    says = link.says or {}
    corrects = receipts.find(object_at(says, "corrects"), link)
    correction = receipts.find(object_at(says, "correction"), link)
    faults: list[str] = []
    if not link.verdict.valid:
        details = (one.detail for one in link.verdict.checks if one.ok is False)
        faults.append(next(details, "It is not valid."))
    if not link.is_for_correction:
        faults.append("Its purpose is not correction, or it has hashes of its own.")
    if _is_envelope(corrects) != _is_envelope(correction):
        faults.append("An envelope and a metering receipt do not correct each other.")
    faults += [text for one in (corrects, correction) if (text := _fault_of(one)) is not None]
    faults += conflicts.of(link)
    return CorrectionVerdict(
        receipt_id=link.receipt_id,
        valid=not faults,
        trusted=not faults and link.verdict.issuer.trusted,
        corrects=corrects,
        correction=correction,
        reason=text_or_none(says, "reason"),
        faults=tuple(faults),
    )


def _is_envelope(receipt: CorrectedReceipt) -> bool:
    """Whether it is an envelope, and no metering receipt, as its id says."""
    return receipt.receipt_id.startswith("r_env_")


class _ReceiptsByName:
    """The receipts that are given, by what a link calls them."""

    def __init__(self, receipts: list[JudgedReceipt], links: list[JudgedReceipt]) -> None:
        self._links = {one.sha256 for one in links}
        self._by_hash: dict[str, JudgedReceipt] = {}
        for one in receipts:
            self._by_hash.setdefault(one.sha256, one)
        self._intact_ids = {one.receipt_id for one in receipts if one.verdict.integrity}

    def find(self, named: JsonObject, link: JudgedReceipt) -> CorrectedReceipt:
        receipt_id, sha256 = text_at(named, "receipt_id"), text_at(named, "receipt_sha256")
        return CorrectedReceipt(receipt_id, sha256, self._state_of(receipt_id, sha256, link))

    def _state_of(self, receipt_id: str, sha256: str, link: JudgedReceipt) -> CorrectedState:
        if sha256 in self._links:
            # What links two receipts is none that can be corrected.
            return "contradicts"
        found = self._by_hash.get(sha256)
        if found is None:
            return "contradicts" if receipt_id in self._intact_ids else "not_given"
        if found.receipt_id != receipt_id or not found.verdict.valid:
            return "contradicts"
        return "valid" if _is_same_issuer(found, link) else "other_signer"


def _is_same_issuer(one: JudgedReceipt, other: JudgedReceipt) -> bool:
    """One key signed both, or the trust given says that both keys are of one issuer."""
    a, b = one.verdict.issuer, other.verdict.issuer
    if a.key_id is not None and a.key_id == b.key_id:
        return True
    is_known = all(issuer.status in ("verified", "registered") for issuer in (a, b))
    return is_known and a.did is not None and a.did == b.did


def _fault_of(receipt: CorrectedReceipt) -> str | None:
    if receipt.state == "contradicts":
        return f"The receipt given as {receipt.receipt_id} is another one, or is not valid."
    if receipt.state == "other_signer":
        return f"Nothing shows that the issuer of {receipt.receipt_id} signed this."
    return None


@dataclass
class _Said:
    """Links of one issuer about one receipt: the first, and the first with another correction."""

    first: JudgedReceipt
    other: JudgedReceipt | None = None


class _Conflicts:
    """What an issuer says otherwise than in a link: another correction of a receipt, or a circle.

    Takes those of the given links that are valid.
    """

    def __init__(self, links: list[JudgedReceipt]) -> None:
        self._signers = _Signers(links)
        self._said: dict[str, _Said] = {}
        edges: dict[str, list[str]] = {}
        for link in links:
            if not link.verdict.valid:
                continue
            start, end = self._ends_of(link)
            said = self._said.setdefault(start, _Said(link))
            if said.other is None and self._ends_of(said.first)[1] != end:
                said.other = link
            edges.setdefault(start, []).append(end)
        self._circles = _circles_of(edges)

    def of(self, link: JudgedReceipt) -> list[str]:
        start, end = self._ends_of(link)
        corrected = text_at(object_at(link.says or {}, "corrects"), "receipt_id")
        faults = []
        said = self._said.get(start)
        if said is not None:
            another = said.first if self._ends_of(said.first)[1] != end else said.other
            if another is not None:
                faults.append(f"{another.receipt_id} names another correction of {corrected}.")
        circle = self._circles.get(start)
        if start == end or (circle is not None and circle == self._circles.get(end)):
            faults.append(f"In a circle, {corrected} corrects what corrects it.")
        return faults

    def _ends_of(self, link: JudgedReceipt) -> tuple[str, str]:
        """The receipt superseded and the one superseding it, each with the issuer who says so."""
        who, says = self._signers.name_of(link), link.says or {}
        ends = (object_at(says, "corrects"), object_at(says, "correction"))
        start, end = (f"{who} {text_at(one, 'receipt_sha256')}" for one in ends)
        return start, end


class _Signers:
    """Who signed links.

    One issuer has several names, by its keys and by the DIDs that the trust given knows as theirs.
    """

    def __init__(self, links: list[JudgedReceipt]) -> None:
        self._others: dict[str, str] = {}
        for link in links:
            names = [self._standing(one) for one in _names_of(link)]
            for other in names[1:]:
                if other != names[0]:
                    self._others[other] = names[0]

    def name_of(self, link: JudgedReceipt) -> str:
        """Returns the name that stands for all of whoever signed a link."""
        return self._standing(next(iter(_names_of(link)), ""))

    def _standing(self, name: str) -> str:
        last = name
        while last in self._others:
            last = self._others[last]
        # Each name on the way leads straight to the last from now on: long ways are gone once.
        while name != last:
            self._others[name], name = last, self._others[name]
        return last


def _names_of(link: JudgedReceipt) -> list[str]:
    issuer = link.verdict.issuer
    is_known = issuer.status in ("verified", "registered") and issuer.did is not None
    by_key = [] if issuer.key_id is None else [f"key {issuer.key_id}"]
    return [*by_key, f"DID {issuer.did}"] if is_known else by_key


def _circles_of(edges: dict[str, list[str]]) -> dict[str, str]:
    """Gives nodes one name if each leads to the other: Kosaraju's algorithm, in linear time."""
    left: list[str] = []
    seen: set[str] = set()
    back: dict[str, list[str]] = {}
    for start in edges:
        waiting = [(start, False)]
        while waiting:
            node, is_left = waiting.pop()
            if is_left:
                left.append(node)
            if is_left or node in seen:
                continue
            seen.add(node)
            waiting.append((node, True))
            for following in edges.get(node, []):
                back.setdefault(following, []).append(node)
                waiting.append((following, False))
    names: dict[str, str] = {}
    for name in reversed(left):
        reached = [name]
        while reached:
            node = reached.pop()
            if node not in names:
                names[node] = name
                reached += back.get(node, [])
    return names
