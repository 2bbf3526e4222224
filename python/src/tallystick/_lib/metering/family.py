"""Family C: the metering receipt ``sls.metering`` (spec/metering.md)."""

from __future__ import annotations

from collections.abc import Iterable

from ..canonical import canonical_bytes, format_number
from ..errors import TallyError
from ..hashes import sha256_hex
from ..json_types import JsonObject
from ..receipts.family import (
    Check,
    Claims,
    Evidence,
    Family,
    check,
    failed,
    integer_at,
    object_at,
    text_at,
    unchecked,
)
from ..shape import is_object
from ..timestamps import instant_of
from .derive import (
    coverage_class,
    coverage_ratio,
    metering_id,
    metering_receipt_id,
    verdict_of,
)
from .intake import EvidenceCounts, EvidenceVerifier, take_evidence
from .shapes import METERING_TYPE, receipt_shape


def _recognises(document: JsonObject) -> bool:
    body = document.get("signed_body")
    return is_object(body) and body.get("receipt_type") == METERING_TYPE


def _claims(document: JsonObject) -> Claims:
    return Claims(
        receipt_id=text_at(document, "receipt_id"),
        profile=METERING_TYPE,
        key_id=text_at(document, "key_id"),
        issuer_public_key=None,
        issuer_did=None,
        issuer_verified=None,
        issued_at=integer_at(document, "ts"),
        signature=text_at(document, "sig_b64u"),
        may_be_signed_later=True,
    )


def _rules(document: JsonObject) -> Iterable[Check]:
    body = object_at(document, "signed_body")
    yield from _top_level_rules(document, body)
    yield from _bill_rules(body)


def _top_level_rules(document: JsonObject, body: JsonObject) -> Iterable[Check]:
    """Checks the top-level members, which no signature covers, against the signed body."""
    digest = sha256_hex(canonical_bytes(body))
    ts = integer_at(document, "ts")
    yield _matches("payload_sha256", document["payload_sha256"], digest)
    yield _matches("ts", ts, instant_of(text_at(body, "compiled_at")).seconds)
    yield _matches("receipt_id_derived", document["receipt_id"], metering_receipt_id(ts, digest))


def _bill_rules(body: JsonObject) -> Iterable[Check]:
    metered, rate = object_at(body, "metered"), object_at(body, "rate")
    billed = integer_at(metered, "billed_unit_count")
    backed = integer_at(metered, "evidence_backed_unit_count")
    unit_rate = integer_at(rate, "unit_rate_minor")
    coverage = coverage_class(backed, billed)
    digest = text_at(metered, "receipt_set_digest")
    derived: dict[str, object] = {
        "evidence_coverage_ratio": coverage_ratio(backed, billed),
        "coverage_class": coverage,
        "verdict": verdict_of(coverage),
        "amount_minor": billed * unit_rate,
        "evidence_backed_amount_minor": backed * unit_rate,
        "metering_id": metering_id(body, digest),
    }
    yield _matches("unbacked_unit_count", metered["unbacked_unit_count"], billed - backed)
    for name, value in derived.items():
        yield _matches(name, body[name], value)
    start, end, compiled = (
        instant_of(text_at(body, name)) for name in ("window_start", "window_end", "compiled_at")
    )
    yield check(
        "window",
        start < end <= compiled,
        "The window ends after it starts, and the bill was compiled after it closed.",
        "The window must end after it starts, and the bill be compiled no earlier than its end.",
    )


def _assess_evidence(
    document: JsonObject, evidence: Evidence | None, verifier: EvidenceVerifier
) -> tuple[Check, EvidenceCounts | None]:
    name, body = "evidence", object_at(document, "signed_body")
    if evidence is None:
        detail = (
            "No evidence leaves were given: the count of backed units is only the issuer's word."
        )
        return unchecked(name, detail), None
    metered = object_at(body, "metered")
    billed = integer_at(metered, "billed_unit_count")
    try:
        (backed, digest), counts = take_evidence(body, billed, evidence, verifier)
    except TallyError as error:
        return failed(name, error.message), None
    claimed, root = metered["evidence_backed_unit_count"], metered["receipt_set_digest"]
    signed = f"the receipt signs {claimed} and {root}"
    found = check(
        name,
        backed == claimed and digest == root,
        f"{backed} leaves give the signed digest and count: {counts}.",
        f"The {backed} leaves given have the digest {digest}; {signed}.",
    )
    return found, counts


def _shown(value: object) -> object:
    """A number as it stands in the document, which Python writes otherwise: ``1e-06``."""
    return format_number(value) if isinstance(value, float) else value


def _matches(name: str, found: object, derived: object) -> Check:
    return check(
        name,
        found == derived,
        "It follows from the signed facts.",
        f"It is {_shown(found)}, but {_shown(derived)} follows from the signed facts.",
    )


METERING = Family(
    name="metering",
    recognises=_recognises,
    shape=lambda document: receipt_shape(document, ""),
    claims=_claims,
    signed=lambda document: object_at(document, "signed_body"),
    anchored=lambda document: document,
    rules=_rules,
    assess_evidence=_assess_evidence,
)
