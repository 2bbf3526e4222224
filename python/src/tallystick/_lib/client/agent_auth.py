"""The proof of an agent's DID for each request that an ``httpx`` client sends."""

from __future__ import annotations

import secrets
import time
from collections.abc import Generator
from typing import Any

import httpx

from ..issue import SigningKey, signer_of
from ..message_signature import sign_request
from .wire import Call, Lines


class AgentAuth(httpx.Auth):
    """Signs every request as an agent; also for ``httpx`` clients of your own.

    The body is read into memory for it.
    """

    requires_request_body = True

    def __init__(self, key: SigningKey, did: str | None = None) -> None:
        """``did`` is the key's did:key when absent, else the did:svc that the key belongs to."""
        self._signer = signer_of(key)
        self.did = did or self._signer.key_id

    def auth_flow(self, request: httpx.Request) -> Generator[httpx.Request, httpx.Response, None]:
        proof = sign_request(
            request.method,
            str(request.url.copy_with(fragment=None)),
            request.content or None,
            did=self.did,
            signer=self._signer,
            created=int(time.time()),
            nonce=secrets.token_hex(16),
        )
        request.headers.update(proof)
        yield request


def proof(agent: AgentAuth | None, call: Call[object]) -> Any:
    """The agent's proof for a call that names it, unless the call is streamed.

    Untyped, since httpx keeps the type of its default private.
    """
    if agent is None or "x-agent-did" not in call.headers or isinstance(call.body, Lines):
        return httpx.USE_CLIENT_DEFAULT
    return agent
