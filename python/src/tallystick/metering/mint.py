"""Minting a metering receipt with a key of one's own, without a service."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime

from ..canonical import canonical_bytes, copy_json
from ..ed25519 import Signer
from ..encoding import to_base64url
from ..errors import TallyError
from ..hashes import sha256_hex
from ..json_types import JsonObject, JsonValue
from ..receipts.family import integer_at, object_at, text_at
from ..receipts.issued import Issued
from ..shape import is_object
from ..timestamps import seconds_of, unix_ms
from .bill import MeteringBill, check_bill
from .derive import (
    BOUNDARY,
    coverage_class,
    coverage_ratio,
    metering_id,
    metering_receipt_id,
    verdict_of,
)
from .evidence import EvidenceSummary, EvidenceTally
from .shapes import DERIVED, DERIVED_METERED, METERING_SCHEMA, METERING_TYPE

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
    evidence: Iterable[JsonValue],
    signer: Signer,
    *,
    now: datetime,
) -> Issued:
    """Mints a metering receipt; everything that follows from bill and evidence is derived here.

    ``evidence`` are the leaves (``evidence_leaf``) in order. The bill may also hold derived
    members, which are compared. Raises ``metering_derived_mismatch``, and what ``check_bill`` and
    ``EvidenceTally.add`` do.
    """
    checked = check_bill(bill, unix_ms(now))
    tally = EvidenceTally(integer_at(checked, "billed_unit_count"))
    for leaf in evidence:
        tally.add(copy_json(leaf))
    body = _signed_body(checked, tally.summary())
    _require_agreement(checked, body)
    message = canonical_bytes(body)
    digest = sha256_hex(message)
    ts = seconds_of(text_at(body, "compiled_at"))
    return Issued.of(
        {
            "receipt_id": metering_receipt_id(ts, digest),
            "payload_sha256": digest,
            "sig_b64u": to_base64url(signer.sign(message)),
            "key_id": signer.key_id,
            "algorithm": "Ed25519",
            "ts": ts,
            "signed_body": body,
        }
    )


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
    """What the biller says of derived members must be what was derived."""
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
