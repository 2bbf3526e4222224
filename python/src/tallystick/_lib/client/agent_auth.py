"""The credentials of each request that an HTTP client sends."""

from __future__ import annotations

import secrets
import time
from collections.abc import Generator
from typing import Any

import httpx

from ..errors import TallyError
from ..issue import SigningKey, signer_of
from ..message_signature import sign_request
from .http_bases import Auth
from .service import Service
from .wire import Call, Lines

_KEY_HEADERS = ("authorization", "x-api-key", "api-key")
"""Headers in which clients of models send a key, perhaps one that they found in the environment."""


class AgentAuth(Auth):
    """Signs every request as an agent, also those of ``httpx`` and ``httpx2`` clients of your own.

    The body is read into memory for it.
    """

    requires_request_body = True

    def __init__(self, key: SigningKey, did: str | None = None) -> None:
        """``did`` is the key's did:key when absent, else the did:svc that the key belongs to."""
        self._signer = signer_of(key)
        self.did = did or self._signer.key_id

    def auth_flow(self, request: Any) -> Generator[Any, Any, None]:
        """Adds the signature to a request."""
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


class CallerAuth(Auth):
    """Puts a caller's credentials in place of those that a client of models sends."""

    requires_request_body = True

    def __init__(self, service: Service, agent: AgentAuth | None) -> None:
        self._service = service
        self._agent = agent

    def auth_flow(self, request: Any) -> Generator[Any, Any, None]:
        """Replaces the credentials. Raises ``invalid_field`` for another service's address."""
        if not str(request.url).startswith(f"{self._service.compute_url}/"):
            message = f"The credentials are for {self._service.compute_url} only."
            raise TallyError("invalid_field", message, field="url")
        for name in _KEY_HEADERS:
            request.headers.pop(name, None)
        request.headers.update(self._service.identity())
        if self._agent is None:
            yield request
        else:
            yield from self._agent.auth_flow(request)


def proof(agent: AgentAuth | None, call: Call[object]) -> Any:
    """Returns what signs a call, if the client has an agent and the call is not streamed.

    The result has no type, since httpx keeps the type of its default private.
    """
    if agent is None or "x-agent-did" not in call.headers or isinstance(call.body, Lines):
        return httpx.USE_CLIENT_DEFAULT
    return agent
