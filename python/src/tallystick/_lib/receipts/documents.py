"""Types of the signed documents, as a service answers them and ``json`` loads them.

They are plain ``dict`` when the program runs. Nothing but ``verify`` checks them.
"""

from __future__ import annotations

from typing import Literal, TypedDict, final

from ..log.anchored import AnchoredResult


class UnsignedMembers(TypedDict, total=False):
    """Members that no signature covers (spec/receipts.md): hints, never authority."""

    anchor_ref: str
    tier: str
    anchor: AnchoredResult


class ReceiptReference(TypedDict):
    """The member ``receipt`` of a profile receipt."""

    id: str
    sig_b64u: str
    verify_uri: str


class EnvelopeRequest(TypedDict):
    hash: str | None
    """``sha256:<64 hex>``."""
    origin: str | None
    purpose: str | None
    policy_hash: str | None


class EnvelopeOperator(TypedDict):
    entity: str | None
    region: str | None
    training_region: str | None


Hardware = TypedDict("Hardware", {"class": "str | None", "attestation": "str | None"})


class EnvelopeResponse(TypedDict):
    hash: str | None
    sealed: bool | None


class _Settled(TypedDict):
    chain: str | None
    asset: str | None
    tx: str | None


class EnvelopeSettlement(_Settled, total=False):
    amount: str
    """Decimal text, in the asset."""
    account: str
    payer: str
    payment: str
    receipt_id: str


class EnvelopeSignatures(TypedDict):
    """base64url, 64 bytes each."""

    requester: str | None
    operator: str | None
    svc: str


class _Call(TypedDict):
    provider: str
    model: str
    requested_model: str
    stream: bool
    complete: bool
    agent_proved: bool
    prompt_tokens: int
    completion_tokens: int
    cached_tokens: int
    cache_write_tokens: int
    usage_estimated: bool


class EnvelopeCall(_Call, total=False):
    """An inference call (spec/compute.md)."""

    tokens_before: int
    tokens_after: int
    saving: str


class _EnvelopeOptional(UnsignedMembers, total=False):
    issuer_did: str
    declared: list[str]
    call: EnvelopeCall


@final
class EnvelopeReceipt(_EnvelopeOptional):
    """An envelope ``svc-receipt-v1`` (specification 2.7)."""

    v: Literal["svc-receipt-v1"]
    receipt_profile: Literal["standard"]
    receipt_schema_version: str
    receipt_id: str
    request: EnvelopeRequest
    operator: EnvelopeOperator
    hardware: Hardware
    response: EnvelopeResponse
    settlement: EnvelopeSettlement
    signatures: EnvelopeSignatures
    issued_at: str
    key_id: str
    issuer_pubkey: str
    issuer_verified: bool


class Metered(TypedDict):
    billed_unit_count: int
    evidence_backed_unit_count: int
    unbacked_unit_count: int
    receipt_set_digest: str


class MeteringRate(TypedDict):
    unit_rate_minor: int
    currency: str
    rate_commitment: str


class SettlementBinding(TypedDict):
    settlement_class: Literal["x402_offer", "invoice_reference", "none"]
    settlement_commitment: str


class _MeteringOptional(TypedDict, total=False):
    settlement_binding: SettlementBinding


class MeteringBody(_MeteringOptional):
    """What a metering receipt signs. Hashes and commitments are 64 hex."""

    receipt_type: Literal["sls.metering"]
    schema: str
    metering_id: str
    machine_commitment: str
    customer_commitment: str
    window_start: str
    window_end: str
    compiled_at: str
    service_unit: str
    metered: Metered
    evidence_coverage_ratio: float
    coverage_class: str
    rate: MeteringRate
    amount_minor: int
    evidence_backed_amount_minor: int
    verdict: str
    salt_commitment: str
    boundary: str


@final
class MeteringReceipt(TypedDict):
    """A metering receipt ``sls.metering`` (specification 2.1 to 2.5)."""

    receipt_id: str
    payload_sha256: str
    sig_b64u: str
    key_id: str
    algorithm: Literal["Ed25519"]
    ts: int
    """Unix seconds."""
    signed_body: MeteringBody


class _IssueOptional(UnsignedMembers, total=False):
    issuer_did: str
    key_id: str


@final
class IssueReceipt(_IssueOptional):
    """An issuer's own receipt ``svc-issue-v1`` (spec/receipts.md)."""

    type: Literal["svc-issue-v1"]
    receipt_id: str
    symbol: str
    units: int
    amount_usd: float
    recipient: str
    issued_at: str
    issuer_pubkey: str
    issuer_verified: bool
    sig_b64u: str


class CheckDocument(TypedDict):
    name: str
    ok: bool | None
    detail: str


class IssuerVerdict(TypedDict):
    did: str | None
    key_id: str | None
    trusted: bool
    status: Literal["verified", "registered", "unknown", "contradicted"]
    key_state: Literal["pending", "active", "retired", "revoked", "compromised", "unknown"]


class EvidenceCountsDocument(TypedDict):
    verified: int
    logged: int
    hashed: int
    trusted: int
    issued_in_window: int


class WitnessedDocument(TypedDict):
    required: int
    satisfied: bool
    by: list[str]
    of: int


class _VerificationOptional(TypedDict, total=False):
    evidence: EvidenceCountsDocument
    witnessed: WitnessedDocument | None


@final
class VerificationDocument(_VerificationOptional):
    """A verdict as the service answers it (spec/verification.md)."""

    valid: bool
    integrity: bool
    issuer: IssuerVerdict
    family: str | None
    profile: str | None
    receipt_id: str | None
    checks: list[CheckDocument]
    verified_at: str
