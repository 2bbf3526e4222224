"""A service's report on its endpoints: ``svc-status-v1`` (spec/status.md)."""

from __future__ import annotations

from ..json_types import JsonObject
from ..shape import (
    bytes32,
    constant,
    did,
    hex64,
    integer,
    key_id,
    members,
    nullable,
    signature,
    timestamp,
)
from ..timestamps import seconds_of
from .family import Claims, Family, integer_at, text_at, without, without_unsigned

STATUS_TYPE = "svc-status-v1"

_shape = members(
    {
        "type": constant(STATUS_TYPE),
        "sequence": integer(1),
        "previous_sha256": nullable(hex64),
        "issued_at": timestamp,
        "valid_until": timestamp,
        "issuer_did": did,
        "issuer_pubkey": bytes32,
        "key_id": key_id,
        "sig_b64u": signature,
    },
)


def _claims(document: JsonObject) -> Claims:
    return Claims(
        receipt_id=f"status/{integer_at(document, 'sequence')}",
        profile="status",
        key_id=text_at(document, "key_id"),
        issuer_public_key=text_at(document, "issuer_pubkey"),
        issuer_did=text_at(document, "issuer_did"),
        issuer_verified=None,
        issued_at=seconds_of(text_at(document, "issued_at")),
        signature=text_at(document, "sig_b64u"),
    )


STATUS = Family(
    name="status",
    key_purpose="status",
    recognises=lambda document: document.get("type") == STATUS_TYPE,
    shape=lambda document: _shape(document, ""),
    claims=_claims,
    signed=lambda document: without(without_unsigned(document), "sig_b64u"),
    anchored=without_unsigned,
)
