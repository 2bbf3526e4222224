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
class _Given:
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
    given = [one for document in documents if (one := _read(document, now, known)) is not None]
    links = [one for one in given if one.says is not None]
    receipts = [one for one in given if one.says is None]
    signers = _Signers(links)
    return [_judge(link, receipts, links, signers) for link in links]


def _read(given: JsonLike, now: datetime, trust: KnownTrust) -> _Given | None:
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
    return _Given(family.claims(receipt).receipt_id, sha256, verdict, says, is_for_correction)


def _is_for_correction(receipt: JsonObject) -> bool:
    request, response = object_at(receipt, "request"), object_at(receipt, "response")
    hashes = (request.get("hash"), response.get("hash"))
    return request.get("purpose") == "correction" and hashes == (None, None)


def _judge(
    link: _Given, receipts: list[_Given], links: list[_Given], signers: _Signers
) -> CorrectionVerdict:
    says = link.says or {}
    corrects = _found(object_at(says, "corrects"), link, receipts, links)
    correction = _found(object_at(says, "correction"), link, receipts, links)
    faults: list[str] = []
    if not link.verdict.valid:
        details = (one.detail for one in link.verdict.checks if one.ok is False)
        faults.append(next(details, "It is not valid."))
    if not link.is_for_correction:
        faults.append("Its purpose is not correction, or it has hashes of its own.")
    if _is_envelope(corrects) != _is_envelope(correction):
        faults.append("An envelope and a metering receipt do not correct each other.")
    faults += [text for one in (corrects, correction) if (text := _fault_of(one)) is not None]
    faults += _conflicts_of(link, links, signers)
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


def _found(
    named: JsonObject, link: _Given, receipts: list[_Given], links: list[_Given]
) -> CorrectedReceipt:
    receipt_id, sha256 = text_at(named, "receipt_id"), text_at(named, "receipt_sha256")
    if any(one.sha256 == sha256 for one in links):
        # What links two receipts is none that can be corrected.
        return CorrectedReceipt(receipt_id, sha256, "contradicts")
    return CorrectedReceipt(receipt_id, sha256, _state_of(receipt_id, sha256, link, receipts))


def _state_of(receipt_id: str, sha256: str, link: _Given, receipts: list[_Given]) -> CorrectedState:
    found = next((one for one in receipts if one.sha256 == sha256), None)
    if found is None:
        another = any(one.receipt_id == receipt_id and one.verdict.integrity for one in receipts)
        return "contradicts" if another else "not_given"
    if found.receipt_id != receipt_id or not found.verdict.valid:
        return "contradicts"
    return "valid" if _is_same_issuer(found, link) else "other_signer"


def _is_same_issuer(one: _Given, other: _Given) -> bool:
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


class _Signers:
    """Who signed links.

    One issuer has several names, by its keys and by the DIDs that the trust given knows as theirs.
    """

    def __init__(self, links: list[_Given]) -> None:
        self._others: dict[str, str] = {}
        for link in links:
            names = [self._standing(one) for one in _names_of(link)]
            for other in names[1:]:
                if other != names[0]:
                    self._others[other] = names[0]

    def name_of(self, link: _Given) -> str:
        """Returns the name that stands for all of whoever signed a link."""
        return self._standing(next(iter(_names_of(link)), ""))

    def _standing(self, name: str) -> str:
        while name in self._others:
            name = self._others[name]
        return name


def _names_of(link: _Given) -> list[str]:
    issuer = link.verdict.issuer
    is_known = issuer.status in ("verified", "registered") and issuer.did is not None
    by_key = [] if issuer.key_id is None else [f"key {issuer.key_id}"]
    return [*by_key, f"DID {issuer.did}"] if is_known else by_key


def _conflicts_of(link: _Given, links: list[_Given], signers: _Signers) -> list[str]:
    """What the same issuer says otherwise: another correction of the same receipt, or a circle."""
    who = signers.name_of(link)
    others = [one for one in links if one.verdict.valid and signers.name_of(one) == who]
    corrects, correction = _hashes_of(link)
    first = text_at(object_at(link.says or {}, "corrects"), "receipt_id")
    another = next(
        (
            one
            for one in others
            if _hashes_of(one)[0] == corrects and _hashes_of(one)[1] != correction
        ),
        None,
    )
    edges: dict[str, list[str]] = {}
    for one in others:
        edges.setdefault(_hashes_of(one)[0], []).append(_hashes_of(one)[1])
    in_circle = _leads(edges, corrects, correction) and _leads(edges, correction, corrects)
    faults = []
    if another is not None:
        faults.append(f"{another.receipt_id} names another correction of {first}.")
    if in_circle:
        faults.append(f"In a circle, {first} corrects what corrects it.")
    return faults


def _leads(edges: dict[str, list[str]], start: str, end: str) -> bool:
    seen, waiting = {start}, [start]
    while waiting and end not in seen:
        fresh = [one for one in edges.get(waiting.pop(), []) if one not in seen]
        seen.update(fresh)
        waiting += fresh
    return end in seen


def _hashes_of(link: _Given) -> tuple[str, str]:
    says = link.says or {}
    return (
        text_at(object_at(says, "corrects"), "receipt_sha256"),
        text_at(object_at(says, "correction"), "receipt_sha256"),
    )
