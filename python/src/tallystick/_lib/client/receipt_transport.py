"""Transports of ``httpx`` and ``httpx2`` that verify each call of a model while its answer passes.

For the clients of OpenAI, Anthropic and others whose base URL is the service's.
"""

from __future__ import annotations

import asyncio
import contextvars
import inspect
import threading
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from dataclasses import dataclass
from datetime import datetime, timezone
from typing import Any, TypeAlias, TypedDict
from urllib.request import getproxies

from ..call.collector import CallCollector
from ..call.protocol import CallProtocol
from ..call.verify_call import CallVerdict, verify_call
from ..countersign import anchored_hash
from ..errors import TallyError
from ..json_types import JsonObject, JsonValue
from ..sessions.session import Session
from ..trust import Trust
from ..trust_store import KnownTrust, issuers_in
from .http_bases import (
    AsyncBaseTransport,
    AsyncByteStream,
    BaseTransport,
    SyncByteStream,
    library_of,
    limits_of_model_clients,
)


class CollectedCall(TypedDict):
    """A call as ``verify_call`` takes it: ``verify_call(**report.call, receipt=receipt)``."""

    request: bytes
    """The request's body."""
    response: CallCollector


@dataclass(frozen=True)
class CallReport:
    """What is reported of one call."""

    receipt_id: str
    """The ``X-Receipt-Id`` of the answer."""
    receipt: JsonValue
    """The receipt in the answer; ``None`` if the answer was left, or broke off, before it.

    Then the service has it: ``Client.get_receipt(receipt_id)``.
    """
    svc: JsonObject | None
    """The answer's member ``svc``, which holds the receipt, routing, billing and compression."""
    answer_id: str | None
    """The answer's own id, as its client sees it; ``None`` if it has none."""
    call: CollectedCall
    protocol: CallProtocol | None
    verdict: CallVerdict
    """The verdict on the receipt, the request and the answer. Not valid if there is no receipt."""
    trust_error: TallyError | None
    """Why the trust given could not be used, so that nobody was trusted; ``None`` if it could."""


OnCall: TypeAlias = Callable[[CallReport], object]
"""Called once for each answer that has a receipt, before its reader learns of its end.

It is called with the context variables of the request.

An error that it raises becomes an error of the answer's body, so it can refuse an answer.
"""
AsyncOnCall: TypeAlias = Callable[[CallReport], "Awaitable[object] | object"]
"""The same; what it returns is awaited if it can be."""
GivenTrust: TypeAlias = "KnownTrust | Callable[[], KnownTrust] | None"
"""Whom to trust; a function is called for each answer."""
AsyncGivenTrust: TypeAlias = "KnownTrust | Callable[[], KnownTrust | Awaitable[KnownTrust]] | None"
"""The same; what a function returns is awaited if it can be."""


class _Observer:
    """Collects one answer, and reports it."""

    def __init__(self, request: Any, response: Any) -> None:
        self._request: bytes = request.content
        # Several streams may be read in turns: each is reported in the context of its own request.
        self.context = contextvars.copy_context()
        self._receipt_id: str = response.headers["x-receipt-id"]
        self._collector = CallCollector()
        self.has_ended = False
        # An inner transport may have read the answer already.
        if response.is_closed:
            self._collector.push(response.content)

    def push(self, chunk: bytes) -> None:
        """Takes the next bytes as the reader gets them."""
        self._collector.push(chunk)

    def ends(self) -> bool:
        """Ends the answer. Returns whether that is to be reported, which is so once."""
        has_ended, self.has_ended = self.has_ended, True
        return not has_ended

    def report(self, trust: Trust | None, trust_error: TallyError | None) -> CallReport:
        """Verifies the call."""
        call: CollectedCall = {"request": self._request, "response": self._collector}
        verdict = verify_call(**call, trust=trust)
        answer = self._collector.end()
        return CallReport(
            receipt_id=self._receipt_id,
            receipt=verdict.receipt,
            svc=answer.svc,
            answer_id=answer.answer_id,
            call=call,
            protocol=verdict.protocol,
            verdict=verdict,
            trust_error=trust_error,
        )


class ReceiptTransport(BaseTransport):
    """Passes requests and answers on, and verifies each call against its receipt meanwhile.

    A request's body is read whole before it is sent. Answers are not delayed. A compressed one that
    is verified passes decompressed, without ``Content-Encoding`` and ``Content-Length``, so that
    what is verified is what is read. Answers without ``X-Receipt-Id``, and those with status 400
    and above, pass unreported.
    """

    def __init__(
        self,
        inner: Any = None,
        *,
        on_call: OnCall | None = None,
        trust: GivenTrust = None,
        session: Session | None = None,
    ) -> None:
        """``inner`` sends the requests: a transport, or a client, which knows proxies too.

        Limits, HTTP/2, certificates, proxies and ``trust_env`` are those of ``inner``: a client
        that is given a transport uses none of its own, but for its timeouts. By default they are
        the library's, with proxies from the environment, and with 1,000 connections at most.

        ``session`` gets a reference to the receipt of each call whose verdict is valid, after
        ``on_call``, in the order in which the answers end.
        """
        self._inner = inner
        self._sender = inner
        self._session = session
        self._opening = threading.Lock()
        self._on_call = on_call
        self._trust = trust

    def handle_request(self, request: Any) -> Any:
        """Sends a request, and returns its answer with a stream that is observed."""
        # Threads share the transport.
        with self._opening:
            if self._sender is None:
                self._sender = _sender(library_of(request), "")
            sender = self._sender
        request.read()
        if hasattr(sender, "handle_request"):
            response = sender.handle_request(request)
        else:
            response = sender.send(request, **_as_it_is(request))
        if _has_receipt(response):
            observer = _Observer(request, response)
            if response.is_closed:
                self._report(observer)
            else:
                plain = _decompressed(request, response)
                response.stream = _ObservedStream(plain, observer, self._report)
        return response

    def close(self) -> None:
        """Closes what sends the requests."""
        # The own one is made anew if the transport is used again.
        sender, self._sender = self._sender, self._inner
        if sender is not None:
            sender.close()

    def _report(self, observer: _Observer) -> None:
        report = observer.report(*self._opened())
        if self._on_call is not None:
            observer.context.run(self._on_call, report)
        if self._session is not None:
            _refer(self._session, report)

    def _opened(self) -> tuple[Trust | None, TallyError | None]:
        try:
            return _issuers(self._trust() if callable(self._trust) else self._trust), None
        except Exception as error:
            return None, _unusable(error)


class AsyncReceiptTransport(AsyncBaseTransport):
    """``ReceiptTransport`` for asyncio."""

    def __init__(
        self,
        inner: Any = None,
        *,
        on_call: AsyncOnCall | None = None,
        trust: AsyncGivenTrust = None,
        session: Session | None = None,
    ) -> None:
        """``inner`` is as for ``ReceiptTransport``: a transport, or a client, for asyncio.

        ``session`` is as for ``ReceiptTransport``; another thread records in it.
        """
        self._inner = inner
        self._sender = inner
        self._session = session
        self._on_call = on_call
        self._trust = trust

    async def handle_async_request(self, request: Any) -> Any:
        """Sends a request, and returns its answer with a stream that is observed."""
        if self._sender is None:
            self._sender = _sender(library_of(request), "Async")
        sender = self._sender
        await request.aread()
        if hasattr(sender, "handle_async_request"):
            response = await sender.handle_async_request(request)
        else:
            response = await sender.send(request, **_as_it_is(request))
        if _has_receipt(response):
            observer = _Observer(request, response)
            if response.is_closed:
                await self._report(observer)
            else:
                plain = _decompressed(request, response)
                response.stream = _AsyncObservedStream(plain, observer, self._report)
        return response

    async def aclose(self) -> None:
        """Closes what sends the requests."""
        sender, self._sender = self._sender, self._inner
        if sender is not None:
            await sender.aclose()

    async def _report(self, observer: _Observer) -> None:
        opened = await self._opened()
        # Until here a reader may be cancelled: then closing the answer reports it.
        if not observer.ends():
            return
        report = observer.report(*opened)
        if self._on_call is not None:
            result = observer.context.run(self._on_call, report)
            if inspect.isawaitable(result):
                await result
        if self._session is not None:
            await asyncio.to_thread(_refer, self._session, report)

    async def _opened(self) -> tuple[Trust | None, TallyError | None]:
        try:
            trust = self._trust() if callable(self._trust) else self._trust
            return _issuers(await trust if inspect.isawaitable(trust) else trust), None
        except Exception as error:
            return None, _unusable(error)


class _ObservedStream(SyncByteStream):
    """The body of an answer, collected before it passes, and whose end is reported."""

    def __init__(
        self, answer: Any, observer: _Observer, report: Callable[[_Observer], None]
    ) -> None:
        self._answer = answer
        # A second reader goes on where the first one stopped.
        self._chunks = answer.iter_bytes()
        self._observer = observer
        self._report = report

    def __iter__(self) -> Iterator[bytes]:
        for chunk in self._chunks:
            self._observer.push(chunk)
            yield chunk
        self._end()

    def close(self) -> None:
        try:
            self._answer.close()
        finally:
            self._end()

    def _end(self) -> None:
        if self._observer.ends():
            self._report(self._observer)


class _AsyncObservedStream(AsyncByteStream):
    """The same for asyncio."""

    def __init__(
        self, answer: Any, observer: _Observer, report: Callable[[_Observer], Awaitable[None]]
    ) -> None:
        self._answer = answer
        self._chunks = answer.aiter_bytes()
        self._observer = observer
        self._report = report

    async def __aiter__(self) -> AsyncIterator[bytes]:
        async for chunk in self._chunks:
            self._observer.push(chunk)
            yield chunk
        await self._end()

    async def aclose(self) -> None:
        try:
            await self._answer.aclose()
        finally:
            await self._end()

    async def _end(self) -> None:
        if not self._observer.has_ended:
            await self._report(self._observer)


def _sender(library: Any, prefix: str) -> Any:
    """What sends requests as a client of OpenAI or Anthropic does that is given no transport."""
    # Only a client reads proxies from the environment. Without any, a transport does: a client
    # within another one logs each request a second time.
    kind = "Client" if getproxies() else "HTTPTransport"
    # A client does not tell its transport of its limits.
    return getattr(library, prefix + kind)(limits=limits_of_model_clients(library))


def _as_it_is(request: Any) -> dict[str, Any]:
    """The options with which the inner client sends a request as the outer one has made it.

    Credentials and redirects are the business of the outer client alone.
    """
    return {"stream": True, "auth": library_of(request).Auth(), "follow_redirects": False}


def _refer(session: Session, report: CallReport) -> None:
    if report.verdict.valid:
        digest = f"sha256:{anchored_hash(report.receipt)}"
        receipt_id = report.verdict.receipt_id or report.receipt_id
        session.reference(receipt_id=receipt_id, receipt_sha256=digest)


def _decompressed(request: Any, response: Any) -> Any:
    """An answer with the same body, which the library decompresses as ``response`` would have.

    From ``response`` it takes the headers that no longer hold.
    """
    plain = library_of(request).Response(
        response.status_code, headers=response.headers, stream=response.stream
    )
    if "content-encoding" in response.headers:
        for name in ("content-encoding", "content-length"):
            response.headers.pop(name, None)
    return plain


def _has_receipt(response: Any) -> bool:
    return "x-receipt-id" in response.headers and response.status_code < 400


def _unusable(error: Exception) -> TallyError:
    if isinstance(error, TallyError):
        return error
    failure = TallyError("trust_unavailable", "The trust store could not be read.")
    failure.__cause__ = error
    return failure


def _issuers(trust: KnownTrust | None) -> Trust:
    return issuers_in(trust, datetime.now(timezone.utc))
