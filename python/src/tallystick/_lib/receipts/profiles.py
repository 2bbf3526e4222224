"""Family B: the receipt profiles; and older receipts, which sign the same way.

All that this package knows about profiles is here; spec/profiles.json has the same facts.
"""

from __future__ import annotations

from typing import Final, Literal, NamedTuple, TypeAlias, TypedDict, cast, final

from ..json_types import JsonObject
from ..shape import (
    Fault,
    Rule,
    boolean,
    bytes32,
    constant,
    did,
    hex64,
    integer,
    is_object,
    key_id,
    members,
    non_empty_text,
    nullable,
    one_of,
    pattern,
    signature,
    text,
    timestamp,
)
from ..timestamps import seconds_of
from .documents import (
    EnvelopeReceipt,
    IssueReceipt,
    MeteringReceipt,
    ReceiptReference,
    UnsignedMembers,
)
from .family import (
    SCHEMA_VERSION,
    Claims,
    Family,
    NamedSettlement,
    bool_or_none,
    integer_at,
    object_at,
    text_at,
    text_or_none,
    without,
    without_unsigned,
)
from .named_settlement import named_settlement


def _reference(kind: str) -> Rule:
    return members(
        {
            "id": pattern(f"r_{kind}_[0-9]{{10,}}_[0-9a-f]{{12}}", f"r_{kind}_<seconds>_<12 hex>"),
            "sig_b64u": signature,
            "verify_uri": non_empty_text,
        }
    )


@final
class NanoReceipt(TypedDict):
    """Profile nano: ``a`` is the agent, ``h`` the subject's SHA-256 (base64url), ``t`` its type."""

    profile: Literal["nano"]
    v: str
    a: str
    h: str
    t: str
    ok: bool
    ts: int
    """Unix seconds."""
    k: str
    receipt: ReceiptReference


_nano_shape = members(
    {
        "profile": constant("nano"),
        "v": constant(SCHEMA_VERSION),
        "a": did,
        "h": bytes32,
        "t": non_empty_text,
        "ok": boolean,
        "ts": integer(1_000_000_000),
        "k": key_id,
        "receipt": _reference("nano"),
    }
)


class Subject(TypedDict):
    sha256: str
    """64 hex."""
    content_type: str
    ok: bool


class _Settled(TypedDict):
    rail: str
    chain_id: int
    asset: str
    status: Literal["none", "declared", "confirmed"]
    tx: str | None


class Settlement(_Settled, total=False):
    amount: str
    """What the transaction moved: decimal text, in the asset."""


class _Sealed(TypedDict):
    sealed: bool
    declaration: str


class Seal(_Sealed, total=False):
    seal_id: str
    ciphertext_sha256: str
    key_commitment: str


class Reputation(TypedDict):
    reputation_tier: str


class _FullOptional(UnsignedMembers, total=False):
    purpose: str | None


class _FullReceipt(_FullOptional):
    receipt_schema_version: str
    agent_did: str
    agent_proved: bool
    subject: Subject
    settlement_reference: Settlement
    seal: Seal
    reputation_context: Reputation
    issued_at: str
    issuer_did: str
    issuer_pubkey: str
    issuer_verified: bool
    key_id: str
    receipt: ReceiptReference


_common: dict[str, Rule] = {
    "receipt_schema_version": constant(SCHEMA_VERSION),
    "agent_did": did,
    "agent_proved": boolean,
    "subject": members({"sha256": hex64, "content_type": non_empty_text, "ok": boolean}),
    "settlement_reference": members(
        {"rail": non_empty_text, "chain_id": integer(0), "asset": non_empty_text}
    ),
    "seal": members(
        {"sealed": boolean, "declaration": non_empty_text},
        optional={
            "seal_id": non_empty_text,
            "ciphertext_sha256": hex64,
            "key_commitment": hex64,
        },
    ),
    "reputation_context": members({"reputation_tier": non_empty_text}),
    "issued_at": timestamp,
    "issuer_did": did,
    "issuer_pubkey": bytes32,
    "issuer_verified": boolean,
    "key_id": key_id,
}


@final
class StandardReceipt(_FullReceipt):
    """Profile standard (specification 2.8)."""

    receipt_profile: Literal["standard"]


_standard_shape = members(
    {"receipt_profile": constant("standard"), **_common, "receipt": _reference("standard")},
    optional={"purpose": nullable(text)},
)


_SIGNED = ("ml_dsa_65_signed_experimental", "ed25519_and_ml_dsa_65_experimental")
"""What a receipt with the second signature says in ``pq_posture`` and ``signature_posture``."""
_UNSIGNED = ("declared_not_post_quantum_signed", "classical_only")
"""What a receipt without the second signature says in ``pq_posture`` and ``signature_posture``."""


class PqSignature(TypedDict):
    """The experimental second signature, which the first one covers too."""

    alg: str
    key_id: str
    """``sha256:<hex>`` of the public key."""
    sig_b64u: str


class _PqOptional(_FullReceipt, total=False):
    pq_signature: PqSignature


class CryptoAgileMetadata(TypedDict):
    current_alg: Literal["Ed25519"]
    signature_posture: str
    envelope_posture: str


@final
class PqReceipt(_PqOptional):
    """Profile pq: signed with Ed25519, and by ML-DSA too where ``pq_signature`` is there."""

    receipt_profile: Literal["pq"]
    crypto_agile_metadata: CryptoAgileMetadata
    sealed_evidence_ref: str | None
    pq_posture: str
    auditor_verifier: bool


_pq_shape = members(
    {
        "receipt_profile": constant("pq"),
        **_common,
        "receipt": _reference("pq"),
        "crypto_agile_metadata": members(
            {
                "current_alg": constant("Ed25519"),
                "signature_posture": non_empty_text,
                "envelope_posture": non_empty_text,
            }
        ),
        "sealed_evidence_ref": nullable(text),
        "pq_posture": non_empty_text,
        "auditor_verifier": boolean,
    },
    optional={
        "purpose": nullable(text),
        "pq_signature": members(
            {"alg": non_empty_text, "key_id": non_empty_text, "sig_b64u": text}
        ),
    },
)

Profile: TypeAlias = Literal["nano", "standard", "pq"]
DEFAULT_PROFILE: Final = "standard"
ProfileReceipt: TypeAlias = NanoReceipt | StandardReceipt | PqReceipt
"""A member tells them apart: ``"subject" in receipt`` is false only for nano."""


StoredReceipt: TypeAlias = EnvelopeReceipt | ProfileReceipt | MeteringReceipt
"""Receipts that the service stores and returns by id."""
AnyReceipt: TypeAlias = StoredReceipt | IssueReceipt


class ProfileForm(NamedTuple):
    """What is known of a profile."""

    shape: Rule
    max_bytes: int | None
    """Most bytes of a receipt, in JCS without the unsigned members; ``None`` is no limit."""


PROFILES: Final[dict[Profile, ProfileForm]] = {
    "nano": ProfileForm(_nano_shape, 600),
    "standard": ProfileForm(_standard_shape, 3072),
    "pq": ProfileForm(_pq_shape, None),
}


def form_of(profile: str) -> ProfileForm:
    """A profile that is not known is held to the default one, whose shape refuses it."""
    return PROFILES.get(cast(Profile, profile), PROFILES[DEFAULT_PROFILE])


_legacy_shape = members(
    {
        "proof_tier": one_of("standard", "svc_pq"),
        "key_id": key_id,
        "issued_at": timestamp,
        "receipt": members({"id": non_empty_text, "sig_b64u": signature}),
    },
    optional={"issuer_did": did, "issuer_pubkey": bytes32, "issuer_verified": boolean},
)


def _signed(document: JsonObject) -> JsonObject:
    reference = without(object_at(document, "receipt"), "sig_b64u")
    return {**without_unsigned(document), "receipt": reference}


def _nano_claims(document: JsonObject) -> Claims:
    reference = object_at(document, "receipt")
    return Claims(
        receipt_id=text_at(reference, "id"),
        profile=text_at(document, "profile"),
        max_bytes=form_of(text_at(document, "profile")).max_bytes,
        key_id=text_at(document, "k"),
        issuer_public_key=None,
        issuer_did=None,
        issuer_verified=None,
        issued_at=integer_at(document, "ts"),
        signature=text_at(reference, "sig_b64u"),
    )


def _full_claims(document: JsonObject, profile: str, max_bytes: int | None) -> Claims:
    reference = object_at(document, "receipt")
    return Claims(
        receipt_id=text_at(reference, "id"),
        profile=profile,
        max_bytes=max_bytes,
        key_id=text_at(document, "key_id"),
        issuer_public_key=text_or_none(document, "issuer_pubkey"),
        issuer_did=text_or_none(document, "issuer_did"),
        issuer_verified=bool_or_none(document, "issuer_verified"),
        issued_at=seconds_of(text_at(document, "issued_at")),
        signature=text_at(reference, "sig_b64u"),
    )


def _full_fault(document: JsonObject) -> Fault | None:
    profile = document["receipt_profile"]
    full = profile if isinstance(profile, str) and profile != "nano" else DEFAULT_PROFILE
    return form_of(full).shape(document, "")


def _profile_claims(document: JsonObject) -> Claims:
    profile = text_at(document, "receipt_profile")
    return _full_claims(document, profile, form_of(profile).max_bytes)


NANO = Family(
    name="profile",
    recognises=lambda document: document.get("profile") == "nano",
    shape=lambda document: _nano_shape(document, ""),
    claims=_nano_claims,
    signed=_signed,
    anchored=without_unsigned,
)


def _settlement(document: JsonObject) -> NamedSettlement | None:
    reference = object_at(document, "settlement_reference")
    # What the caller only declared was not checked, so it does not prove who was paid.
    if reference.get("status") != "confirmed":
        return None
    chain_id, asset = integer_at(reference, "chain_id"), text_at(reference, "asset")
    return named_settlement(chain_id, asset, reference)


def _says_pq(document: JsonObject) -> bool | None:
    if document["receipt_profile"] != "pq":
        return None
    is_signed = "pq_signature" in document
    said = (
        document["pq_posture"],
        text_at(object_at(document, "crypto_agile_metadata"), "signature_posture"),
    )
    if any(one in said for one in (_UNSIGNED if is_signed else _SIGNED)):
        return False
    return True if is_signed else None


FULL = Family(
    name="profile",
    recognises=lambda document: (
        "receipt_profile" in document and is_object(document.get("receipt"))
    ),
    shape=_full_fault,
    claims=_profile_claims,
    signed=_signed,
    anchored=without_unsigned,
    settlement=_settlement,
    says_pq=_says_pq,
)

LEGACY = Family(
    name="legacy",
    recognises=lambda document: "proof_tier" in document and "receipt_profile" not in document,
    shape=lambda document: _legacy_shape(document, ""),
    claims=lambda document: _full_claims(document, text_at(document, "proof_tier"), None),
    signed=_signed,
    anchored=without_unsigned,
)
