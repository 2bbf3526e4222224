"""Minting a metering receipt with a key of one's own, without a service."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import cast

from .canonical import canonical_bytes, canonicalize
from .ed25519 import Signer
from .encoding import to_base64url
from .errors import TallyError
from .hashes import sha256_hex
from .json_types import JsonLike, JsonObject, JsonValue
from .metering.bill import MeteringBill, check_bill
from .metering.derive import (
    BOUNDARY,
    coverage_class,
    coverage_ratio,
    metering_id,
    metering_receipt_id,
    verdict_of,
)
from .metering.evidence import EvidenceSummary
from .metering.intake import EvidenceClass, take_evidence
from .metering.issued_bill import IssuedBill
from .metering.shapes import DERIVED, DERIVED_METERED, METERING_SCHEMA, METERING_TYPE
from .receipts.documents import MeteringReceipt
from .receipts.family import integer_at, object_at, text_at
from .shape import is_object
from .timestamps import seconds_of, unix_ms
from .trust_store import KnownTrust
from .verify import evidence_verifier

_SAID = (
    "machine_commitment",
    "customer_commitment",
    "window_start",
    "window_end",
    "compiled_at",
    "service_unit",
    "rate",
    "settlement_binding",
    "salt_commitment",
)


def mint_metering(
    bill: MeteringBill | JsonObject,
    evidence: Iterable[JsonLike],
    signer: Signer,
    *,
    now: datetime,
    evidence_policy: EvidenceClass = "hashed",
    trust: KnownTrust | None = None,
) -> IssuedBill:
    """Mints a metering receipt, and derives all that follows from the bill and its evidence.

    ``evidence`` are its items in order: leaves (``evidence_leaf``), or whole receipts
    (``evidence_receipt``), which are verified by ``trust``. ``evidence_policy`` is the least class
    that is accepted of each item. The bill may also hold derived members, which are compared.
    Raises ``metering_derived_mismatch``, and what ``check_bill`` and ``take_evidence`` do.
    """
    checked = check_bill(bill, unix_ms(now))
    billed = integer_at(checked, "billed_unit_count")
    verifier = evidence_verifier(now, trust)
    summary, counts = take_evidence(checked, billed, evidence, verifier, evidence_policy)
    body = _signed_body(checked, summary)
    _require_agreement(checked, body)
    message = canonical_bytes(body)
    digest = sha256_hex(message)
    ts = seconds_of(text_at(body, "compiled_at"))
    receipt: JsonObject = {
        "receipt_id": metering_receipt_id(ts, digest),
        "payload_sha256": digest,
        "sig_b64u": to_base64url(signer.sign(message)),
        "key_id": signer.key_id,
        "algorithm": "Ed25519",
        "ts": ts,
        "signed_body": body,
    }
    return IssuedBill(cast(MeteringReceipt, receipt), canonicalize(receipt), counts)


def _signed_body(bill: JsonObject, evidence: EvidenceSummary) -> JsonObject:
    billed = integer_at(bill, "billed_unit_count")
    unit_rate = integer_at(object_at(bill, "rate"), "unit_rate_minor")
    coverage = coverage_class(evidence.backed, billed)
    return {
        "receipt_type": METERING_TYPE,
        "schema": METERING_SCHEMA,
        "metering_id": metering_id(bill, evidence.digest),
        **{name: bill[name] for name in _SAID if name in bill},
        "metered": {
            "billed_unit_count": billed,
            "evidence_backed_unit_count": evidence.backed,
            "unbacked_unit_count": billed - evidence.backed,
            "receipt_set_digest": evidence.digest,
        },
        "evidence_coverage_ratio": coverage_ratio(evidence.backed, billed),
        "coverage_class": coverage,
        "amount_minor": billed * unit_rate,
        "evidence_backed_amount_minor": evidence.backed * unit_rate,
        "verdict": verdict_of(coverage),
        "boundary": BOUNDARY,
    }


def _require_agreement(bill: JsonObject, body: JsonObject) -> None:
    """Compares what the biller states of derived members with what was derived."""
    metered = object_at(body, "metered")
    claimed = bill.get("metered")
    _compare(bill, DERIVED, body)
    _compare(bill, DERIVED_METERED, metered)
    _compare(claimed if is_object(claimed) else {}, metered, metered, prefix="metered.")


def _compare(
    claimed: JsonObject, names: Iterable[str], derived: Mapping[str, JsonValue], prefix: str = ""
) -> None:
    for name in names:
        if name in claimed and not _same(claimed[name], derived[name]):
            field = prefix + name
            message = f"{field}: {derived[name]} follows from the bill and its evidence."
            raise TallyError("metering_derived_mismatch", message, field=field)


def _same(claimed: JsonValue, derived: JsonValue) -> bool:
    # True == 1 in Python, but not in JSON.
    return claimed == derived and isinstance(claimed, bool) == isinstance(derived, bool)
