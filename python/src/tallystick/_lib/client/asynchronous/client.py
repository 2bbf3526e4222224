"""The client for asyncio."""

from __future__ import annotations

from dataclasses import replace
from types import TracebackType
from typing import TYPE_CHECKING

import httpx

from ...errors import TallyError
from ...issue import AnchorError, IssuedByIssuer, sign_issue
from ...sessions.session import Session
from ...trust_store import MemoryTrustStore, TrustStore
from ..agent_auth import AgentAuth, CallerAuth
from ..calls import anchors
from ..http_bases import limits_of_model_clients, newest_library
from ..params import IssueParams, ModelClientOptions
from ..receipt_transport import AsyncOnCall, AsyncReceiptTransport
from ..retry import RetryPolicy
from ..service import Service
from .anchors import AsyncAnchorMethods
from .call_content import AsyncCallContentMethods
from .calls import AsyncCallMethods
from .compute import AsyncComputeMethods
from .keys import AsyncKeyMethods
from .lists import AsyncListMethods
from .money import AsyncMoneyMethods
from .partners import AsyncPartnerMethods
from .receipts import AsyncReceiptMethods
from .sessions import AsyncSessionMethods
from .trust import AsyncTrustMethods
from .webhooks import AsyncWebhookMethods

if TYPE_CHECKING:
    from typing_extensions import Unpack


class AsyncClient(
    AsyncReceiptMethods,
    AsyncSessionMethods,
    AsyncAnchorMethods,
    AsyncListMethods,
    AsyncTrustMethods,
    AsyncComputeMethods,
    AsyncCallContentMethods,
    AsyncKeyMethods,
    AsyncWebhookMethods,
    AsyncMoneyMethods,
    AsyncPartnerMethods,
    AsyncCallMethods,
):
    """A client of one service, for asyncio. Close it, or use it in an ``async with`` block.

    Its methods raise ``TallyError``: with the service's own code, or with ``unavailable`` if
    nothing answered in time or the answer was not the service's. ``idempotency_key`` is 1 to 255
    visible ASCII characters: the same key with the same parameters gets the same answer for 72
    hours. It is a fresh random one when absent, so that the client's own retries never act twice.
    """

    def __init__(
        self,
        base_url: str | None = None,
        *,
        api_url: str | None = None,
        site_url: str | None = None,
        api_key: str | None = None,
        agent_did: str | None = None,
        agent: AgentAuth | None = None,
        accept_charge: str | None = None,
        trust: TrustStore | None = None,
        timeout: float = 30.0,
        retry: RetryPolicy | None = None,
        http_client: httpx.AsyncClient | None = None,
    ) -> None:
        """Makes a client. No request is sent before a method is called.

        - ``base_url``: URL of the receipts, and of all else that has no address of its own. When
          absent: the environment variable ``TALLY_URL``, else ``http://127.0.0.1:8787``.
        - ``api_url``: URL of anchors, log, balances, keys, inference and issuer registration;
          ``base_url`` when absent.
        - ``site_url``: URL of issuer records, trust bundles and DID document; ``base_url`` when
          absent. No credential is sent there.
        - ``api_key``: API key of a tier, a tenant or a partner, sent as ``Authorization: Bearer``.
        - ``agent_did``: the DID of the calling agent, sent as ``X-Agent-DID``.
        - ``agent``: the calling agent with its key, in place of ``agent_did``. Each request is
          signed, except a streamed one. The addresses must then be the service's public ones.
        - ``accept_charge``: most USDC, as decimal text, that one read of ``/v1/compute`` may take
          from the balance of the agent that signs. Nothing is taken when absent.
        - ``trust``: where ``fetch_trust`` keeps the trust bundle; in memory when absent.
        - ``timeout``: seconds, for each step of an attempt.
        - ``http_client``: sends the requests in place of a client of its own. It has its own
          timeout, and is not closed.

        Raises ``invalid_field`` for an invalid address.
        """
        self._service = Service.at(
            base_url,
            api_url,
            site_url,
            api_key=api_key,
            agent_did=agent.did if agent else agent_did,
            accept_charge=accept_charge,
        )
        self._agent = agent
        self._trust = trust or MemoryTrustStore()
        self._retry = retry or RetryPolicy()
        self._own = http_client is None
        self._http = http_client or httpx.AsyncClient(timeout=timeout)

    async def __aenter__(self) -> AsyncClient:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        await self.aclose()

    async def aclose(self) -> None:
        """Closes the connections. Closing twice does nothing."""
        if self._own:
            await self._http.aclose()

    def client_options(
        self, *, on_call: AsyncOnCall | None = None, session: Session | None = None
    ) -> ModelClientOptions:
        """What ``openai.AsyncOpenAI`` and ``anthropic.AsyncAnthropic`` take to call as this client.

        ``AsyncOpenAI(**client.client_options())`` sends its requests with this client's API key or
        agent's signature, in place of credentials of its own. ``on_call`` is told of each call with
        a verdict, by the trust in this client's store, which ``fetch_trust`` fills, and ``session``
        gets a reference to the receipt of each: see ``AsyncReceiptTransport``.
        """
        is_observed = on_call is not None or session is not None
        transport = (
            AsyncReceiptTransport(on_call=on_call, trust=self._trust, session=session)
            if is_observed
            else None
        )
        library = newest_library()
        http_client = library.AsyncClient(
            auth=CallerAuth(self._service, self._agent),
            transport=transport,
            limits=limits_of_model_clients(library),
        )
        return {
            "base_url": self._service.compute_url,
            "api_key": self._service.api_key or "unused",
            "http_client": http_client,
        }

    async def issue(
        self,
        *,
        api_key: str | None = None,
        anchor: bool = False,
        idempotency_key: str | None = None,
        **params: Unpack[IssueParams],
    ) -> IssuedByIssuer:
        """Issues a receipt as ``tallystick.issue`` does, with this client's service.

        ``api_key`` is this client's when absent. Raises ``AnchorError``, which has the signed
        receipt, if it can't be anchored.
        """
        issued = sign_issue(**params)
        if not anchor:
            return IssuedByIssuer(issued.receipt, issued.text)
        try:
            service = replace(self._service, api_key=api_key or self._service.api_key)
            result = await self._send(anchors.anchor(service, issued.text, idempotency_key))
        except TallyError as refused:
            raise AnchorError(refused, issued) from refused
        return IssuedByIssuer.anchored(issued, result, service.api_key)
