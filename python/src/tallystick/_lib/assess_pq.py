"""The experimental second signature of pq receipts (spec/receipts.md)."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from .assess_issuer import key_window
from .canonical import canonical_bytes
from .encoding import from_base64url
from .errors import TallyError
from .hashes import sha256_hex
from .json_types import JsonObject, JsonValue
from .ml_dsa import verify_ml_dsa_65
from .receipts.family import Check, Claims, check, failed, text_at, unchecked, without
from .shape import is_object
from .trust import PqKey, Trust

PQ_ALGORITHM: Final = "ML-DSA-65"

_NAME = "pq_signature"


def assess_pq(
    given: JsonValue, signed: JsonObject, claims: Claims, trust: Trust, existed_at: int | None
) -> list[Check]:
    """Judges the ML-DSA signature; ``given`` is ``None`` if the receipt says otherwise than is so.

    Returns the check of the signature, which counts for integrity; if it was made, also that of
    the key's window.
    """
    if not is_object(given):
        return [failed(_NAME, "What its postures say of a signature is not so.")]
    alg, key_id = text_at(given, "alg"), text_at(given, "key_id")
    if alg != PQ_ALGORITHM:
        return [unchecked(_NAME, f"The algorithm {alg} is not known here.")]
    key = _key_of(key_id, claims, trust)
    if key is None:
        return [unchecked(_NAME, f"The given trust does not list the ML-DSA key {key_id}.")]
    public_key = _bytes_of(key["public_key"])
    if f"sha256:{sha256_hex(public_key)}" != key_id:
        detail = f"The public key of {key_id} is another one than its id says."
        return [failed(_NAME, detail)]
    covered = canonical_bytes(without(signed, "pq_signature"))
    good = verify_ml_dsa_65(public_key, covered, _bytes_of(text_at(given, "sig_b64u")))
    if good is None:
        detail = "The cryptography that is installed has no ML-DSA; release 47 or later has it."
        return [unchecked(_NAME, detail)]
    signature = check(
        _NAME,
        good,
        "Experimental: the issuer's ML-DSA-65 signature covers exactly these contents.",
        "The ML-DSA-65 signature does not match: "
        "the contents were changed, or another key signed them.",
    )
    window = key_window(key, claims, existed_at)
    return [signature, replace(window, name="pq_key_window")]


def _key_of(key_id: str, claims: Claims, trust: Trust) -> PqKey | None:
    issuer = None if claims.issuer_did is None else trust.issuer(claims.issuer_did)
    listed = [] if issuer is None else issuer.get("pq_keys", [])
    same = (key for key in listed if key["key_id"] == key_id and key["alg"] == PQ_ALGORITHM)
    return next(same, None)


def _bytes_of(text: str) -> bytes:
    """The bytes of base64url; none if it is something else."""
    try:
        return from_base64url(text)
    except TallyError:
        return b""
