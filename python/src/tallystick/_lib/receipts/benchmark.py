"""A service's own benchmark: ``svc-benchmark-v1`` (spec/benchmark.md)."""

from __future__ import annotations

from ..json_types import JsonObject
from ..shape import bytes32, constant, did, key_id, members, one_of, signature, timestamp
from ..timestamps import seconds_of
from .family import Claims, Family, text_at, without, without_unsigned

BENCHMARK_TYPE = "svc-benchmark-v1"

_shape = members(
    {
        "type": constant(BENCHMARK_TYPE),
        "node": one_of("benchmark", "semantic", "temporal", "modality"),
        "issued_at": timestamp,
        "issuer_did": did,
        "issuer_pubkey": bytes32,
        "key_id": key_id,
        "sig_b64u": signature,
    },
)


def _claims(document: JsonObject) -> Claims:
    node = text_at(document, "node")
    return Claims(
        receipt_id=f"benchmark/{node}",
        profile=node,
        key_id=text_at(document, "key_id"),
        issuer_public_key=text_at(document, "issuer_pubkey"),
        issuer_did=text_at(document, "issuer_did"),
        issuer_verified=None,
        issued_at=seconds_of(text_at(document, "issued_at")),
        signature=text_at(document, "sig_b64u"),
    )


BENCHMARK = Family(
    name="benchmark",
    key_purpose="benchmark",
    recognises=lambda document: document.get("type") == BENCHMARK_TYPE,
    shape=lambda document: _shape(document, ""),
    claims=_claims,
    signed=lambda document: without(without_unsigned(document), "sig_b64u"),
    anchored=without_unsigned,
)
