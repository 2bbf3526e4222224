"""The anchor of a receipt: the one that was given beside it, or else the one in it."""

from __future__ import annotations

from ..canonical import canonical_bytes
from ..errors import TallyError
from ..hashes import sha256
from ..json_types import JsonObject, JsonValue
from ..receipts.family import Check, Family, failed, unchecked
from ..shape import is_object
from .anchor_checks import AnchorFacts, AnchorVerdict, check_anchor
from .anchor_ref import PendingRef, parse_anchor_ref
from .anchored import read_anchored_result


def assess_anchor(
    family: Family, receipt: JsonObject, given: JsonValue, facts: AnchorFacts
) -> AnchorVerdict:
    """Judges the anchor that was given, or else the one in the receipt.

    No signature covers the one in the receipt: if it can't be read, nothing is proved and nothing
    is contradicted.
    """
    anchor = receipt.get("anchor") if given is None else given
    batch = _pending_batch(receipt if anchor is None else anchor)
    if batch is not None:
        return _still_pending(batch)
    if anchor is None:
        return _unproved(unchecked("anchor", "No anchor proof was given."))
    anchored_hash = sha256(canonical_bytes(family.anchored(receipt)))
    return _assess_result(anchor, anchored_hash, facts, is_given=given is not None)


def assess_anchor_of(anchored_hash: bytes, given: JsonValue, facts: AnchorFacts) -> AnchorVerdict:
    """Judges the anchored result that was given for a hash.

    One that is pending proves nothing and contradicts nothing.
    """
    batch = _pending_batch(given)
    if batch is not None:
        return _still_pending(batch)
    return _assess_result(given, anchored_hash, facts, is_given=True)


def _assess_result(
    anchor: JsonValue, anchored_hash: bytes, facts: AnchorFacts, *, is_given: bool
) -> AnchorVerdict:
    try:
        result, ref = read_anchored_result(anchor)
    except TallyError as error:
        if not is_given:
            return _unproved(unchecked("anchor", error.message))
        detail = "Not reached: the anchor is not an anchored result."
        return _unproved(
            failed("anchor", error.message),
            unchecked("anchor_checkpoint", detail),
            unchecked("anchor_transaction", detail),
        )
    return check_anchor(result, ref, anchored_hash, facts)


def _still_pending(batch: str) -> AnchorVerdict:
    detail = f"Still pending: its root will be posted at {batch}."
    return _unproved(unchecked("anchor", detail))


def _unproved(*checks: Check) -> AnchorVerdict:
    return AnchorVerdict(checks)


def _pending_batch(value: JsonValue) -> str | None:
    """The batch that a pending result, or a receipt by its own reference, waits for."""
    reference = value.get("anchor_ref") if is_object(value) else None
    if not isinstance(reference, str):
        return None
    try:
        ref = parse_anchor_ref(reference)
    except TallyError:
        return None
    return ref.batch_id if isinstance(ref, PendingRef) else None
