"""Family B: the profiles nano, standard and pq; and older receipts, which sign the same way."""

from __future__ import annotations

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
from .family import (
    SCHEMA_VERSION,
    Claims,
    Family,
    bool_or_none,
    integer_at,
    object_at,
    text_at,
    text_or_none,
    transaction_or_none,
    without,
    without_unsigned,
)


def _reference(kind: str) -> Rule:
    return members(
        {
            "id": pattern(f"r_{kind}_[0-9]{{10,}}_[0-9a-f]{{12}}", f"r_{kind}_<seconds>_<12 hex>"),
            "sig_b64u": signature,
            "verify_uri": non_empty_text,
        }
    )


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

_standard_shape = members(
    {"receipt_profile": constant("standard"), **_common, "receipt": _reference("standard")},
    optional={"purpose": nullable(text)},
)

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
    optional={"purpose": nullable(text)},
)

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
        profile="nano",
        key_id=text_at(document, "k"),
        issuer_public_key=None,
        issuer_did=None,
        issuer_verified=None,
        issued_at=integer_at(document, "ts"),
        signature=text_at(reference, "sig_b64u"),
    )


def _full_claims(document: JsonObject, profile: str) -> Claims:
    reference = object_at(document, "receipt")
    return Claims(
        receipt_id=text_at(reference, "id"),
        profile=profile,
        key_id=text_at(document, "key_id"),
        issuer_public_key=text_or_none(document, "issuer_pubkey"),
        issuer_did=text_or_none(document, "issuer_did"),
        issuer_verified=bool_or_none(document, "issuer_verified"),
        issued_at=seconds_of(text_at(document, "issued_at")),
        signature=text_at(reference, "sig_b64u"),
    )


def _full_fault(document: JsonObject) -> Fault | None:
    shape = _pq_shape if document["receipt_profile"] == "pq" else _standard_shape
    return shape(document, "")


NANO = Family(
    name="profile",
    recognises=lambda document: document.get("profile") == "nano",
    shape=lambda document: _nano_shape(document, ""),
    claims=_nano_claims,
    signed=_signed,
    anchored=without_unsigned,
)


def _settlement(document: JsonObject) -> str | None:
    reference = object_at(document, "settlement_reference")
    # What the caller has declared was checked by nobody, and says nothing of who was paid.
    confirmed = reference.get("status") == "confirmed"
    return transaction_or_none(reference, "tx") if confirmed else None


FULL = Family(
    name="profile",
    recognises=lambda document: (
        "receipt_profile" in document and is_object(document.get("receipt"))
    ),
    shape=_full_fault,
    claims=lambda document: _full_claims(document, text_at(document, "receipt_profile")),
    signed=_signed,
    anchored=without_unsigned,
    settlement=_settlement,
)

LEGACY = Family(
    name="legacy",
    recognises=lambda document: "proof_tier" in document and "receipt_profile" not in document,
    shape=lambda document: _legacy_shape(document, ""),
    claims=lambda document: _full_claims(document, text_at(document, "proof_tier")),
    signed=_signed,
    anchored=without_unsigned,
)
