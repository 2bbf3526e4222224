"""The anchor of a receipt: the one that was given beside it, or else the one in it."""

from __future__ import annotations

from ..canonical import canonical_bytes
from ..errors import TallyError
from ..hashes import sha256
from ..json_types import JsonObject, JsonValue
from ..receipts.family import Check, Family, failed, unchecked
from ..shape import is_object
from ..timestamps import format_timestamp
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
    pending = _pending_check(receipt if anchor is None else anchor, facts.now)
    if pending is not None:
        return _unproved(pending)
    if anchor is None:
        return _unproved(unchecked("anchor", "No anchor proof was given."))
    anchored_hash = sha256(canonical_bytes(family.anchored(receipt)))
    return _assess_result(anchor, anchored_hash, facts, is_given=given is not None)


def assess_anchor_of(anchored_hash: bytes, given: JsonValue, facts: AnchorFacts) -> AnchorVerdict:
    """Judges the anchored result that was given for a hash.

    One that is pending proves nothing and contradicts nothing.
    """
    pending = _pending_check(given, facts.now)
    if pending is not None:
        return _unproved(pending)
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


def _unproved(*checks: Check) -> AnchorVerdict:
    return AnchorVerdict(checks)


def _pending_check(value: JsonValue, now: int) -> Check | None:
    """Says what a pending result, or a receipt by its own reference, waits for."""
    reference = value.get("anchor_ref") if is_object(value) else None
    if not isinstance(reference, str):
        return None
    try:
        ref = parse_anchor_ref(reference)
    except TallyError:
        return None
    if not isinstance(ref, PendingRef):
        return None
    at = ref.batch_id
    # A batch is named to the minute, and is past once that minute is.
    if format_timestamp(now) < at:
        return unchecked("anchor", f"Still pending: its root will be posted at {at}.")
    return unchecked("anchor", f"Its root was due at {at}. Fetch /v1/anchor/{reference}.")
