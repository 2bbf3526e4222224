"""Requests about receipts: minting, emitting, metering, reading, verifying, choosing."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, cast

import httpx

from ....documents import Corrections, Pricing, Recommendation
from ...canonical import canonical_bytes, copy_json
from ...errors import TallyError
from ...json_types import Document, JsonLike, JsonObject, JsonValue
from ...metering import EvidenceClass, EvidenceCounts, IssuedBill, MeteringBill
from ...receipts.documents import EnvelopeReceipt
from ...receipts.issued import Issued
from ...receipts.profiles import Profile, ProfileReceipt, StoredReceipt
from ...receipts.read import read_json
from ...shape import is_object
from ...verify import Verification
from ..params import Counterparty, EmitParams
from ..service import Service, segment
from ..wire import (
    AsyncLeaves,
    Call,
    Leaves,
    bill_lines,
    content_in,
    json_in,
    not_understood,
    object_in,
    results_in,
)

# What the service takes in one request: 500 receipts, and 1 MiB.
_MAX_BATCH = 500
_MAX_BATCH_BYTES = 1_000_000

_MAX_JSON_LEAVES = 1_000
"""Up to this number leaves are sent in one JSON body; a leaf has about 100 bytes."""


def mint_free(
    service: Service, members: Mapping[str, object], anchor: bool, key: str | None
) -> Call[Issued[EnvelopeReceipt]]:
    body = {**members, "anchor": anchor or None}
    return service.post("/v1/receipt/free", body, issued_in, key=key)


def emit(
    service: Service,
    profile: Profile,
    params: EmitParams,
    key: str | None,
    path: str = "/v1/receipt/emit",
) -> Call[Issued[ProfileReceipt]]:
    path = f"{path}?profile={segment(profile, 'profile')}"
    return service.post(path, params, issued_in, key=key, keep_none=True)


def meter(
    service: Service,
    bill: MeteringBill | JsonObject,
    evidence: Leaves | AsyncLeaves,
    policy: EvidenceClass | None,
    anchor: bool,
    key: str | None,
) -> Call[IssuedBill]:
    options: JsonObject = {} if policy is None else {"evidence_policy": policy}
    billed = {**cast(JsonObject, bill), **options, **({"anchor": True} if anchor else {})}
    path = "/v1/receipt/metering"
    if isinstance(evidence, (list, tuple)) and _is_short(evidence):
        return service.post(path, {**billed, "evidence": list(evidence)}, _bill_in, key=key)
    lines, content_type = bill_lines(billed, evidence), "application/x-ndjson"
    return service.send(path, lines, _bill_in, key=key, content_type=content_type)


def get_attestation(service: Service, attestation: str) -> Call[bytes]:
    found = re.fullmatch(r"(?:[a-z0-9._-]+:sha256:)?([0-9a-f]{64})", attestation)
    if found is None:
        message = "An attestation is <type>:sha256:<64 hex characters>."
        raise TallyError("invalid_field", message, field="attestation")
    read = partial(_evidence_in, sha256=found[1])
    path = f"/v1/attestations/{found[1]}"
    return service.get(path, read, accept="application/octet-stream")


def _evidence_in(response: httpx.Response, sha256: str) -> bytes:
    evidence = content_in(response)
    if hashlib.sha256(evidence).hexdigest() != sha256:
        message = "The service answered with evidence of another SHA-256."
        raise TallyError("attestation_invalid", message)
    return evidence


def get_receipt(service: Service, receipt_id: str) -> Call[Issued[StoredReceipt]]:
    return service.get(f"/v1/receipt/{segment(receipt_id, 'receipt_id')}", issued_in)


def correct_receipt(
    service: Service, corrects: str, correction: str, reason: str | None, key: str | None
) -> Call[Issued[EnvelopeReceipt]]:
    body = {"corrects": corrects, "correction": correction, "reason": reason}
    return service.post("/v1/receipt/corrections", body, issued_in, key=key)


def get_corrections(service: Service, receipt_id: str) -> Call[Corrections]:
    return service.get(
        f"/v1/receipt/{segment(receipt_id, 'receipt_id')}/corrections", _corrections_in
    )


def _corrections_in(response: httpx.Response) -> Corrections:
    return cast(Corrections, object_in(response))


def verify(
    service: Service,
    receipt: Document,
    evidence: Iterable[JsonLike] | None,
    anchor: Document,
) -> Call[Verification]:
    body = {
        "receipt": read_json(receipt),
        "anchor": read_json(anchor),
        "evidence": None if evidence is None else [copy_json(one) for one in evidence],
    }
    return service.post("/v1/receipt/verify", body, _verdict_in)


def verify_many(
    service: Service, receipts: Iterable[Document]
) -> Iterator[Call[list[Verification]]]:
    for batch in _batches(receipts):
        read = partial(_verdicts_in, items=len(batch))
        yield service.post("/v1/receipts/verify", {"receipts": batch}, read)


def pricing(service: Service) -> Call[Pricing]:
    return service.get("/pricing")


def select_profile(
    service: Service,
    intent: str | None,
    amount: float | str | None,
    counterparty: str | Counterparty | None,
) -> Call[Recommendation]:
    body = {"intent": intent, "amount": amount, "counterparty": counterparty}
    return service.post("/v1/rubric/select", body)


def issued_in(response: httpx.Response) -> Issued[Any]:
    """The receipt in an answer, with its text."""
    return Issued(cast(Any, object_in(response)), response.content.decode())


def _batches(receipts: Iterable[Document]) -> Iterator[list[JsonValue]]:
    batch: list[JsonValue] = []
    size = 0
    for receipt in receipts:
        document = read_json(receipt)
        length = len(canonical_bytes(document)) + 1
        if batch and (len(batch) == _MAX_BATCH or size + length > _MAX_BATCH_BYTES):
            yield batch
            batch, size = [], 0
        batch.append(document)
        size += length
    if batch:
        yield batch


def _is_short(evidence: Sequence[JsonValue]) -> bool:
    """Returns whether the evidence is few leaves and no receipts, which are too large for JSON."""
    large = (is_object(one) and {"receipt", "anchor"} & one.keys() for one in evidence)
    return len(evidence) <= _MAX_JSON_LEAVES and not any(large)


def _bill_in(response: httpx.Response) -> IssuedBill:
    issued = issued_in(response)
    return IssuedBill(issued.receipt, issued.text, _counts_in(response.headers))


def _counts_in(headers: Mapping[str, str]) -> EvidenceCounts | None:
    names = ("verified", "logged", "hashed", "trusted", "in-window")
    found = [headers.get(f"x-evidence-{name}", "") for name in names]
    return EvidenceCounts(*map(int, found)) if all(text.isdecimal() for text in found) else None


def _verdict_in(response: httpx.Response) -> Verification:
    return _read_verdict(json_in(response), response)


def _verdicts_in(response: httpx.Response, items: int) -> list[Verification]:
    return [_read_verdict(result, response) for result in results_in(response, items)]


def _read_verdict(document: JsonValue, response: httpx.Response) -> Verification:
    try:
        return Verification.from_json(document)
    except (KeyError, TypeError) as cause:
        raise not_understood(response) from cause
