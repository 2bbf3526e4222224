"""Issuers' own receipts ``svc-issue-v1``: signed here, with the issuer's key."""

from __future__ import annotations

import secrets
from dataclasses import dataclass
from datetime import datetime, timezone
from typing import TypeAlias

from ._json.rules import MAX_SAFE_INTEGER
from .canonical import canonical_bytes, canonicalize, copy_json
from .did import is_did
from .ed25519 import Signer, create_signer
from .encoding import from_base64url, to_base64url
from .errors import TallyError
from .log.anchored import Anchor
from .receipts.documents import IssueReceipt
from .receipts.issue import ISSUE_TYPE
from .receipts.issued import Issued
from .recipient import is_recipient
from .shape import is_object
from .timestamps import format_timestamp, unix_ms

SigningKey: TypeAlias = bytes | str | Signer
"""A 32-byte Ed25519 seed, as bytes or in base64url, or a ``Signer`` whose secret is elsewhere."""


_TIERS = {"k_pro": "pro", "k_scale": "scale", "k_ent": "enterprise"}
"""Tiers by the prefix of an API key (specification 2.10)."""


@dataclass(frozen=True)
class IssuedByIssuer(Issued[IssueReceipt]):
    """A receipt that its issuer signed, and its anchor.

    If an anchor was asked for, the receipt carries ``anchor_ref`` and the API key's ``tier``,
    which no signature covers.
    """

    anchor: Anchor | None = None
    """The pending or anchored result; ``None`` if no anchor was asked for."""

    @classmethod
    def anchored(
        cls, issued: Issued[IssueReceipt], anchor: Anchor, api_key: str | None
    ) -> IssuedByIssuer:
        """Adds the anchor to an issued receipt."""
        tier = _TIERS.get("_".join((api_key or "").split("_")[:2]))
        receipt = issued.receipt.copy()
        receipt["anchor_ref"] = anchor["anchor_ref"]
        if tier is not None:
            receipt["tier"] = tier
        return cls(receipt, canonicalize(receipt), anchor)


class AnchorError(TallyError):
    """The receipt was signed, but not anchored.

    ``issued`` is valid as it is: keep it, and try ``Client.anchor`` later. The code and the other
    members are those of the refusal, which is the cause.
    """

    def __init__(self, refusal: TallyError, issued: Issued[IssueReceipt]) -> None:
        super().__init__(
            refusal.code,
            f"The receipt is signed but not anchored. {refusal.message}",
            field=refusal.field,
            status=refusal.status,
            retry_after=refusal.retry_after,
            final=refusal.final,
            request_id=refusal.request_id,
            receipt_id=refusal.receipt_id,
            problem=refusal.problem,
        )
        self.issued = issued


def signer_of(key: SigningKey) -> Signer:
    """The signer of a key. Raises ``invalid_secret_key``, ``invalid_base64url``."""
    if isinstance(key, str):
        return create_signer(from_base64url(key, 32))
    return create_signer(key) if isinstance(key, bytes) else key


def sign_issue(
    *,
    symbol: str,
    units: int,
    amount_usd: float,
    recipient: str,
    issuer_sk: SigningKey,
    issuer_did: str | None = None,
    issuer_verified: bool = False,
) -> Issued[IssueReceipt]:
    """Signs a receipt without the network. The parameters are those of ``issue``.

    Raises ``invalid_field``, ``invalid_secret_key``, ``invalid_base64url``.
    """
    _require(_is_text(symbol), "symbol", "a non-empty string")
    _require(_is_number(units, int), "units", "a whole number from 0 to 2^53-1")
    _require(_is_number(amount_usd, int, float), "amount_usd", "a number from 0 to 2^53-1")
    _require(_is_text(recipient) and is_recipient(recipient), "recipient", _RECIPIENT)
    _require(issuer_did is None or is_did(issuer_did), "issuer_did", "a DID")
    signer = signer_of(issuer_sk)
    now = unix_ms(datetime.now(timezone.utc))
    body = copy_json(
        {
            "type": ISSUE_TYPE,
            "receipt_id": f"r_issue_{now // 1_000}_{secrets.token_hex(6)}",
            "symbol": symbol,
            "units": units,
            "amount_usd": amount_usd,
            "recipient": recipient,
            "issued_at": format_timestamp(now),
            **({} if issuer_did is None else {"issuer_did": issuer_did}),
            "issuer_pubkey": to_base64url(signer.public_key),
            "issuer_verified": issuer_verified,
        }
    )
    assert is_object(body)
    signature = to_base64url(signer.sign(canonical_bytes(body)))
    return Issued.of({**body, "sig_b64u": signature})


_RECIPIENT = "a DID, an EVM or Solana address, or an account in CAIP-10 form"


def _is_text(value: object) -> bool:
    return isinstance(value, str) and value != ""


def _is_number(value: object, *kinds: type) -> bool:
    return (
        type(value) in kinds and isinstance(value, (int, float)) and 0 <= value <= MAX_SAFE_INTEGER
    )


def _require(good: bool, field: str, expected: str) -> None:
    if not good:
        raise TallyError("invalid_field", f"{field} must be {expected}.", field=field)
