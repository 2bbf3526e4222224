"""Issuers' own receipts ``svc-issue-v1`` (spec/receipts.md)."""

from __future__ import annotations

from .._json.rules import MAX_SAFE_INTEGER
from ..json_types import JsonObject
from ..shape import (
    boolean,
    bytes32,
    constant,
    did,
    integer,
    key_id,
    members,
    non_empty_text,
    number,
    pattern,
    signature,
    timestamp,
)
from ..timestamps import seconds_of
from .family import (
    Claims,
    Family,
    bool_or_none,
    text_at,
    text_or_none,
    without,
    without_unsigned,
)

ISSUE_TYPE = "svc-issue-v1"

_shape = members(
    {
        "type": constant(ISSUE_TYPE),
        "receipt_id": pattern("r_issue_[0-9]{10,}_[0-9a-f]{12}", "r_issue_<seconds>_<12 hex>"),
        "symbol": non_empty_text,
        "units": integer(0),
        "amount_usd": number(0, MAX_SAFE_INTEGER),
        "recipient": non_empty_text,
        "issued_at": timestamp,
        "issuer_pubkey": bytes32,
        "issuer_verified": boolean,
        "sig_b64u": signature,
    },
    optional={"issuer_did": did, "key_id": key_id},
)


def _claims(document: JsonObject) -> Claims:
    return Claims(
        receipt_id=text_at(document, "receipt_id"),
        profile="issue",
        key_id=text_or_none(document, "key_id"),
        issuer_public_key=text_at(document, "issuer_pubkey"),
        issuer_did=text_or_none(document, "issuer_did"),
        issuer_verified=bool_or_none(document, "issuer_verified"),
        issued_at=seconds_of(text_at(document, "issued_at")),
        signature=text_at(document, "sig_b64u"),
    )


ISSUE = Family(
    name="issue",
    recognises=lambda document: document.get("type") == ISSUE_TYPE,
    shape=lambda document: _shape(document, ""),
    claims=_claims,
    signed=lambda document: without(without_unsigned(document), "sig_b64u"),
    anchored=without_unsigned,
)
