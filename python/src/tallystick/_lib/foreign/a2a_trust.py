"""The header ``x-agent-trust``, version 0.1, as agent-governance-testvectors defines it for A2A.

It holds delegations, attestations and the signed refusal of an agent whose delegation was revoked.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final, Literal

from ..canonical import canonical_bytes
from ..encoding import from_hex
from ..hashes import sha256_hex
from ..json_types import JsonObject, JsonValue
from ..receipts.family import Check, check, failed, object_at, passed, text_at
from ..shape import constant, hex64, is_object, members, non_empty_text, pattern
from ..timestamps import parse_timestamp
from .family import (
    ForeignDocument,
    ForeignFacts,
    ForeignReceipt,
    ForeignSignature,
    or_fault,
    require_form,
)
from .keys import ed25519_key

_signed = members(
    {
        "signature": members(
            {
                "alg": constant("EdDSA"),
                "kid": non_empty_text,
                "pubkey": hex64,
                "sig": pattern("[0-9a-f]{128}", "128 lower-case hex characters"),
            }
        )
    }
)
_header = members({"trust_header_version": constant("0.1"), "subject_agent": non_empty_text})
_object = members({})


class A2aTrust:
    """The family."""

    name: Final = "a2a_trust"

    def recognises(self, document: ForeignDocument) -> bool:
        return is_object(document) and "trust_header_version" in document

    def read(self, document: ForeignDocument, facts: ForeignFacts) -> list[ForeignReceipt]:  # noqa: ARG002
        header = require_form(_header, document)
        card = header.get("agent_card")
        trust = card.get("trust") if is_object(card) else None
        signals = trust.get("signals") if is_object(trust) else None
        chain = header.get("delegation_chain")
        attested = [*_list_of(header.get("attestations")), *_list_of(signals)]
        payloads = [_payload_of(one) for one in attested]
        roots = [one["delegation_chain_root"] for one in payloads if _has_root(one)]
        checks = [
            _subject_check(header, payloads),
            _root_check([] if chain is None else chain, [header.get(_ROOT), *roots]),
        ]
        receipts = [
            *(_receipt_of("delegation", one) for one in _list_of(chain)),
            *(_receipt_of("attestation", one) for one in attested),
        ]
        if "deny_receipt" in header:
            receipts.append(_receipt_of("refusal", header["deny_receipt"]))
        return [replace(one, checks=checks) for one in receipts]

    def together(self, receipts: Sequence[ForeignReceipt]) -> Sequence[Check]:  # noqa: ARG002
        return ()

    def contradictions(self, receipts: Sequence[ForeignReceipt]) -> Sequence[Check]:
        revoked = any(
            one.profile == "delegation"
            and is_object(one.document)
            and one.document.get("status") == "revoked"
            for one in receipts
        )
        if revoked:
            detail = "A delegation in it was revoked: the agent may not act on it."
            return (failed("delegation", detail),)
        return (passed("delegation", "No delegation in it says that it was revoked."),)

    def notes(self, receipts: Sequence[ForeignReceipt]) -> Sequence[str]:  # noqa: ARG002
        return (
            (
                "The parts are signed, not the header: its card, and which parts it has, are "
                "whatever its sender chose."
            ),
            (
                "Each part is the word of who signed it: whether an attestation is deserved is "
                "not checked."
            ),
            (
                "It proves no order of the attestations, and any of them can be left out "
                "without a trace."
            ),
            (
                "Whether a delegation covers the call at hand, and whether it has expired by "
                "now, is for the one who is called to check."
            ),
        )


_ROOT: Final = "delegation_chain_root"


def _list_of(value: JsonValue) -> list[JsonValue]:
    return value if isinstance(value, list) else []


def _has_root(payload: JsonObject) -> bool:
    return payload.get(_ROOT) is not None


def _receipt_of(
    profile: Literal["delegation", "attestation", "refusal"], value: JsonValue
) -> ForeignReceipt:
    """A delegation signs its own members; an attestation and a refusal sign their payload."""
    document = require_form(_signed, value if is_object(value) else "")
    signature = object_at(document, "signature")
    if profile == "delegation":
        content = {name: one for name, one in document.items() if name != "signature"}
    else:
        payload = document.get("payload")
        content = require_form(_object, payload if is_object(payload) else "")
    said = content.get("issued_at")
    at = content.get("attempted_at") if said is None else said
    instant = parse_timestamp(at) if isinstance(at, str) else None
    public_key = from_hex(text_at(signature, "pubkey"), 32)
    key = or_fault(lambda: ed25519_key(public_key), "A public key is no acceptable Ed25519 key.")
    return ForeignReceipt(
        profile=profile,
        id=None,
        issued_at=None if instant is None else instant.seconds,
        signatures=[
            ForeignSignature(
                "EdDSA",
                canonical_bytes(content),
                from_hex(text_at(signature, "sig"), 64),
                key,
                text_at(signature, "kid"),
            )
        ],
        document=document,
    )


def _payload_of(attestation: JsonValue) -> JsonObject:
    payload = attestation.get("payload") if is_object(attestation) else None
    return payload if is_object(payload) else {}


def _subject_check(header: JsonObject, payloads: Sequence[JsonObject]) -> Check:
    """Nobody signs the header as a whole: an attestation about another agent could stand in it."""
    return check(
        "subject",
        all(one.get("agent_id") == header["subject_agent"] for one in payloads),
        "Every attestation is about the agent that the header names.",
        "An attestation is about another agent than the one that the header names.",
    )


def _root_check(chain: JsonValue, named: Sequence[JsonValue]) -> Check:
    """Delegations are signed one by one; only the root that is named holds them together."""
    root = f"sha256:{sha256_hex(canonical_bytes(chain))}"
    return check(
        "delegation_root",
        all(one == root for one in named),
        "Every root in it is that of these delegations.",
        "A root in it is another than that of these delegations, or of another algorithm than "
        "SHA-256.",
    )
