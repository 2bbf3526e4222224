"""Family A: the envelope ``svc-receipt-v1`` (spec/receipts.md)."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from ..json_types import JsonObject
from ..shape import (
    Fault,
    boolean,
    bytes32,
    constant,
    did,
    key_id,
    members,
    nullable,
    pattern,
    sha256_text,
    signature,
    text,
    timestamp,
)
from ..timestamps import seconds_of
from .family import (
    SCHEMA_VERSION,
    Claims,
    CounterSignature,
    Family,
    NamedSettlement,
    bool_or_none,
    object_at,
    text_at,
    text_or_none,
    without,
    without_unsigned,
)
from .named_settlement import named_settlement
from .profiles import PROFILES

_VERSION = "svc-receipt-v1"
_PROFILE: Final = "standard"
_CAIP2 = re.compile("eip155:([1-9][0-9]{0,14})")

_shape = members(
    {
        "v": constant(_VERSION),
        "receipt_profile": constant(_PROFILE),
        "receipt_schema_version": constant(SCHEMA_VERSION),
        "receipt_id": pattern("r_env_[0-9]{10,}_[0-9a-f]{12}", "r_env_<seconds>_<12 hex>"),
        "request": members(
            {
                "hash": nullable(sha256_text),
                "origin": nullable(did),
                "purpose": nullable(text),
                "policy_hash": nullable(sha256_text),
            }
        ),
        "operator": members(
            {
                "entity": nullable(did),
                "region": nullable(text),
                "training_region": nullable(text),
            }
        ),
        "hardware": members({"class": nullable(text), "attestation": nullable(text)}),
        "response": members({"hash": nullable(sha256_text), "sealed": nullable(boolean)}),
        "settlement": members(
            {"chain": nullable(text), "asset": nullable(text), "tx": nullable(text)}
        ),
        "signatures": members(
            {
                "requester": nullable(signature),
                "operator": nullable(signature),
                "svc": signature,
            },
            closed=True,
        ),
        "issued_at": timestamp,
        "key_id": key_id,
        "issuer_pubkey": bytes32,
        "issuer_verified": boolean,
    },
    optional={"issuer_did": did},
)


def _recognises(document: JsonObject) -> bool:
    return document.get("v") == _VERSION


def _fault(document: JsonObject) -> Fault | None:
    return _shape(document, "")


def _claims(document: JsonObject) -> Claims:
    return Claims(
        receipt_id=text_at(document, "receipt_id"),
        profile=_PROFILE,
        max_bytes=PROFILES[_PROFILE].max_bytes,
        key_id=text_at(document, "key_id"),
        issuer_public_key=text_at(document, "issuer_pubkey"),
        issuer_did=text_or_none(document, "issuer_did"),
        issuer_verified=bool_or_none(document, "issuer_verified"),
        issued_at=seconds_of(text_at(document, "issued_at")),
        signature=text_at(object_at(document, "signatures"), "svc"),
    )


def _signed(document: JsonObject) -> JsonObject:
    return without(without_unsigned(document), "signatures")


def _anchored(document: JsonObject) -> JsonObject:
    svc = object_at(document, "signatures")["svc"]
    signatures: JsonObject = {"requester": None, "operator": None, "svc": svc}
    return {**without_unsigned(document), "signatures": signatures}


def _counter_signatures(document: JsonObject) -> Sequence[CounterSignature]:
    signatures = object_at(document, "signatures")
    origin = text_or_none(object_at(document, "request"), "origin")
    entity = text_or_none(object_at(document, "operator"), "entity")
    return (
        CounterSignature("requester", origin, text_or_none(signatures, "requester")),
        CounterSignature("operator", entity, text_or_none(signatures, "operator")),
    )


def _settlement(document: JsonObject) -> NamedSettlement | None:
    members = object_at(document, "settlement")
    chain = _CAIP2.fullmatch(text_or_none(members, "chain") or "")
    chain_id = None if chain is None else int(chain[1])
    return named_settlement(chain_id, text_or_none(members, "asset"), members)


ENVELOPE = Family(
    name="envelope",
    recognises=_recognises,
    shape=_fault,
    claims=_claims,
    signed=_signed,
    anchored=_anchored,
    counter_signatures=_counter_signatures,
    settlement=_settlement,
)
