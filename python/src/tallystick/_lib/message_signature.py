"""Proof of an agent's DID by HTTP message signatures (RFC 9421; ``spec/identity.md``)."""

from __future__ import annotations

import base64
import hashlib

from .ed25519 import Signer


def sign_request(
    method: str,
    url: str,
    body: bytes | None,
    *,
    did: str,
    signer: Signer,
    created: int,
    nonce: str,
) -> dict[str, str]:
    """The headers that prove who sends a request: good once, within 300 seconds of ``created``.

    ``url`` is absolute, as it is sent, without a fragment; its origin is the service's public one.
    ``body`` is what is sent, or ``None``. ``did`` is the signer's did:key, or the did:svc of a
    registered issuer. ``created`` is in Unix seconds; ``nonce`` is 1 to 255 printable ASCII
    characters, never used before with this key.
    """
    headers = {"x-agent-did": did}
    if body is not None:
        headers["content-digest"] = f"sha-256=:{_base64(hashlib.sha256(body).digest())}:"
    key_id = signer.key_id if signer.key_id.startswith(f"{did}:") else did
    covered = {"@method": method, "@target-uri": url, **headers}
    names = " ".join(f'"{name}"' for name in covered)
    params = (
        f'({names});created={created};nonce={_quoted(nonce)};keyid={_quoted(key_id)};alg="ed25519"'
    )
    lines = [f'"{name}": {value}' for name, value in covered.items()]
    base = "\n".join([*lines, f'"@signature-params": {params}'])
    signature = _base64(signer.sign(base.encode()))
    return {**headers, "signature-input": f"agent={params}", "signature": f"agent=:{signature}:"}


def _quoted(text: str) -> str:
    """An RFC 9651 string."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def _base64(data: bytes) -> str:
    return base64.b64encode(data).decode()
