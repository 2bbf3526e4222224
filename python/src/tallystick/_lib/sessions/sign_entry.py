"""Signing one receipt of a session, by a key of the recorder's own or by another signer."""

from __future__ import annotations

import secrets
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timezone
from typing import Literal, TypeAlias, cast

from ..canonical import canonical_bytes, canonicalize
from ..ed25519 import Signer
from ..encoding import to_base64url
from ..errors import TallyError
from ..json_types import JsonObject
from ..receipts.family import SCHEMA_VERSION
from ..receipts.profiles import PROFILES
from ..timestamps import format_timestamp, unix_ms
from .session_call import SessionCall

_COUNTER_SIGNATURES = 2 * 84
"""Bytes that two counter-signatures add: each is 86 characters in quotes in place of ``null``."""


def _this_moment() -> datetime:
    return datetime.now(timezone.utc)


@dataclass(frozen=True)
class SessionEntryToSign:
    """What one receipt of a session says."""

    call: SessionCall
    purpose: Literal["tool_call", "reference", "session"]
    request: str | None = None
    """``request.hash``."""
    response: str | None = None
    """``response.hash``."""


SessionSigner: TypeAlias = Callable[[SessionEntryToSign], str]
"""Signs one receipt of a session and returns its JCS text."""


def own_key_signer(
    signer: Signer,
    *,
    now: Callable[[], datetime] = _this_moment,
    random: Callable[[int], bytes] = secrets.token_bytes,
    agent_did: str | None = None,
) -> SessionSigner:
    """Signs the receipts of a session with a key of the recorder's own.

    ``now`` returns the present time, with a time zone, and ``random`` so many random bytes.
    ``agent_did`` is the DID of the agent that is recorded, as it says itself. The signer raises
    ``receipt_too_large``.
    """

    def sign(entry: SessionEntryToSign) -> str:
        return _mint(entry, signer, now=now(), random=random, agent_did=agent_did)

    return sign


def _mint(
    entry: SessionEntryToSign,
    signer: Signer,
    *,
    now: datetime,
    random: Callable[[int], bytes],
    agent_did: str | None,
) -> str:
    ms = unix_ms(now)
    sealed = None if entry.response is None else False
    unsigned: JsonObject = {
        "call": cast(JsonObject, entry.call),
        "hardware": {"attestation": None, "class": None},
        "issued_at": format_timestamp(ms),
        "issuer_pubkey": to_base64url(signer.public_key),
        "issuer_verified": False,
        "key_id": signer.key_id,
        "operator": {"entity": None, "region": None, "training_region": None},
        "receipt_id": f"r_env_{ms // 1_000}_{random(6).hex()}",
        "receipt_profile": "standard",
        "receipt_schema_version": SCHEMA_VERSION,
        "request": {
            "hash": entry.request,
            "origin": agent_did,
            "policy_hash": None,
            "purpose": entry.purpose,
        },
        "response": {"hash": entry.response, "sealed": sealed},
        "settlement": {"asset": None, "chain": None, "tx": None},
        "v": "svc-receipt-v1",
    }
    svc = to_base64url(signer.sign(canonical_bytes(unsigned)))
    signatures: JsonObject = {"operator": None, "requester": None, "svc": svc}
    text = canonicalize({**unsigned, "signatures": signatures})
    size, limit = len(text.encode()) + _COUNTER_SIGNATURES, PROFILES["standard"].max_bytes
    if limit is not None and size > limit:
        message = f"The receipt would take {size} bytes; the limit is {limit} bytes."
        raise TallyError("receipt_too_large", message)
    return text
