"""Takes the evidence of a bill, and finds the class of each leaf (spec/metering.md)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal, NamedTuple, Protocol, TypeAlias, get_args

from ..canonical import copy_json
from ..errors import TallyError
from ..json_types import JsonLike, JsonObject, JsonValue
from ..receipts.family import text_at
from ..shape import is_object
from ..timestamps import Instant, instant_of
from .evidence import EvidenceSummary, EvidenceTally

EvidenceClass: TypeAlias = Literal["verified", "logged", "hashed"]
"""From the most to the least.

``verified``: the whole receipt was given and is valid; ``logged``: an anchor of its hash was given
that a trusted log has signed, or a service has the hash in its log; ``hashed``: 32 bytes that say
nothing.
"""

EVIDENCE_CLASSES: tuple[EvidenceClass, ...] = get_args(EvidenceClass)

_MEMBERS = {"unit", "receipt", "receipt_sha256", "anchor"}


@dataclass(frozen=True)
class EvidenceCounts:
    """Number of leaves by class. Each leaf counts once, in its best class."""

    verified: int = 0
    logged: int = 0
    hashed: int = 0
    trusted: int = 0
    """Number of the verified leaves whose issuer is trusted."""
    issued_in_window: int = 0
    """Number of the verified leaves that state a time of issue in the window of the bill."""

    def __str__(self) -> str:
        known = f" ({self.trusted} trusted, {self.issued_in_window} issued in the window)"
        receipts = known if self.verified else ""
        return f"{self.verified} verified{receipts}, {self.logged} logged, {self.hashed} hashed"


class AssessedReceipt(NamedTuple):
    sha256: str
    """The anchored hash, hex."""
    issued_at: int
    """Unix seconds."""
    fault: str | None
    """Why it is not valid."""
    trusted: bool


class AssessedAnchor(NamedTuple):
    fault: str | None
    logged: bool


class EvidenceVerifier(Protocol):
    """Checks the receipts and anchors that are given as evidence."""

    def receipt(self, receipt: JsonObject, anchor: JsonObject | None) -> AssessedReceipt:
        """Raises ``not_a_receipt``."""

    def anchor(self, receipt_sha256: str, anchor: JsonObject) -> AssessedAnchor: ...


class AssessedEvidence(NamedTuple):
    summary: EvidenceSummary
    counts: EvidenceCounts


def take_evidence(
    bill: JsonObject,
    billed: int,
    items: Iterable[JsonLike],
    verifier: EvidenceVerifier,
    policy: EvidenceClass = "hashed",
) -> AssessedEvidence:
    """Takes the items of a bill in order: leaves, or whole receipts with ``unit`` and ``receipt``.

    ``bill`` has ``window_start`` and ``window_end``. Raises what ``EvidenceTally.add`` does;
    ``metering_evidence_invalid`` for a receipt or an anchor that does not hold, under each policy;
    ``metering_evidence_policy`` for less than the policy asks for.
    """
    if policy not in EVIDENCE_CLASSES:
        message = f"The evidence policy is one of {', '.join(EVIDENCE_CLASSES)}."
        raise TallyError("invalid_field", message, field="evidence_policy")
    tally, counts = EvidenceTally(billed), Counter[str]()
    for index, given in enumerate(items):
        path = f"evidence[{index}]"
        found, assessed = _take(tally, copy_json(given), verifier, path)
        if EVIDENCE_CLASSES.index(found) > EVIDENCE_CLASSES.index(policy):
            lack = "without its receipt" if policy == "verified" else "that is in no known log"
            message = f"{path} is a hash {lack}; the policy is “{policy}”."
            raise TallyError("metering_evidence_policy", message, field=path)
        counts[found] += 1
        if assessed is not None:
            counts["trusted"] += assessed.trusted
            counts["issued_in_window"] += _in_window(assessed.issued_at, bill)
    return AssessedEvidence(tally.summary(), EvidenceCounts(**counts))


def _take(
    tally: EvidenceTally, item: JsonValue, verifier: EvidenceVerifier, path: str
) -> tuple[EvidenceClass, AssessedReceipt | None]:
    if not is_object(item) or not ({"receipt", "anchor"} & item.keys()):
        tally.add(item)
        return "hashed", None
    _require_members(item, path)
    receipt, anchor = item.get("receipt"), item.get("anchor")
    assert anchor is None or is_object(anchor)
    if receipt is None:
        tally.add({name: value for name, value in item.items() if name != "anchor"})
        assert anchor is not None
        verdict = verifier.anchor(text_at(item, "receipt_sha256"), anchor)
        if verdict.fault is not None:
            raise _invalid(f"{path}.anchor", verdict.fault)
        return ("logged" if verdict.logged else "hashed"), None
    assert is_object(receipt)
    try:
        assessed = verifier.receipt(receipt, anchor)
    except TallyError as error:
        if error.code != "not_a_receipt":
            raise
        raise _invalid(f"{path}.receipt", error.message) from error
    if assessed.fault is not None:
        raise _invalid(f"{path}.receipt", assessed.fault)
    tally.add({"unit": item.get("unit"), "receipt_sha256": assessed.sha256})
    return "verified", assessed


def _require_members(item: JsonObject, path: str) -> None:
    stray = next((name for name in item if name not in _MEMBERS), None)
    if stray is not None:
        raise _malformed(f"{path}.{stray}", "is not known")
    if "receipt" in item and "receipt_sha256" in item:
        raise _malformed(
            f"{path}.receipt_sha256", "is computed from receipt: give only one of the two"
        )
    for name in ("receipt", "anchor"):
        if name in item and not is_object(item[name]):
            raise _malformed(f"{path}.{name}", "must be an object")


def _in_window(issued_at: int, bill: JsonObject) -> bool:
    """Receipts state whole seconds: the start of the window is cut to them."""
    start, end = (instant_of(text_at(bill, name)) for name in ("window_start", "window_end"))
    return issued_at >= start.seconds and Instant(issued_at, 0) < end


def _malformed(field: str, what: str) -> TallyError:
    return TallyError("invalid_field", f"{field} {what}.", field=field)


def _invalid(field: str, why: str) -> TallyError:
    message = f"{field} is not valid: {why}"
    return TallyError("metering_evidence_invalid", message, field=field)
