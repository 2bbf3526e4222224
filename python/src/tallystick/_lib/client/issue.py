"""Issuing a receipt of one's own, by the parameters of the specification (2.9)."""

from __future__ import annotations

from ..issue import IssuedByIssuer, SigningKey, sign_issue
from .params import IssueParams
from .synchronous.client import Client


def issue(
    symbol: str,
    units: int,
    amount_usd: float,
    recipient: str,
    issuer_sk: SigningKey,
    api_key: str | None = None,
    anchor: bool = False,
    *,
    base_url: str | None = None,
    issuer_did: str | None = None,
    issuer_verified: bool = False,
) -> IssuedByIssuer:
    """Issues a receipt ``svc-issue-v1``, signed on this machine with the issuer's key.

    - ``symbol``: the asset's symbol, such as ``USDC``.
    - ``units``: number of units, a whole number from 0.
    - ``amount_usd``: US dollars, from 0.
    - ``recipient``: a DID, an EVM or Solana address, or an account of another chain in CAIP-10
      form.
    - ``issuer_sk``: the issuer's signing key, which is not sent anywhere.
    - ``api_key``: API key, needed for anchoring.
    - ``anchor``: whether to have the receipt's hash anchored. Nothing else is ever sent.
    - ``base_url``: URL of the service that anchors. When absent: the environment variable
      ``TALLY_URL``, else ``http://127.0.0.1:8787``.
    - ``issuer_did``: the DID that the key is registered under.
    - ``issuer_verified``: whether to claim that the service has verified that DID. Verifiers check
      this claim themselves.

    Raises ``invalid_field``, ``invalid_secret_key``, ``invalid_base64url`` before anything is
    signed, and ``AnchorError``, which has the signed receipt.
    """
    params: IssueParams = {
        "symbol": symbol,
        "units": units,
        "amount_usd": amount_usd,
        "recipient": recipient,
        "issuer_sk": issuer_sk,
        "issuer_did": issuer_did,
        "issuer_verified": issuer_verified,
    }
    if not anchor:
        issued = sign_issue(**params)
        return IssuedByIssuer(issued.receipt, issued.text)
    with Client(base_url, api_key=api_key) as client:
        return client.issue(anchor=True, **params)
