"""How a client sends its requests."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterable
from itertools import count
from typing import TypeVar

import httpx

from ...errors import TallyError
from ...json_types import JsonObject
from ..agent_auth import AgentAuth, proof
from ..retry import RetryPolicy
from ..service import Service
from ..wire import Call, Lines, event_in, refusal, unreached

T = TypeVar("T")

_QUIET = 60.0
"""Seconds in which an answer that says every 15 s that it goes on may say nothing."""


class AsyncSender:
    """Sends requests to one service, with retries and the agent's proof."""

    _service: Service
    _agent: AgentAuth | None
    _retry: RetryPolicy
    _http: httpx.AsyncClient

    async def _send(self, call: Call[T]) -> T:
        for attempt in count():
            failure: TallyError | None
            try:
                response = await self._http.request(
                    call.method,
                    call.url,
                    headers=call.headers,
                    content=_content(call),
                    auth=proof(self._agent, call),
                )
            except httpx.RequestError as error:
                failure = unreached(call.url, error)
            else:
                failure = refusal(response)
                if failure is None:
                    return call.read(response)
            delay = self._retry.delay(failure, attempt) if call.repeatable else None
            if delay is None:
                raise failure
            await asyncio.sleep(delay)
        raise AssertionError("count() does not end")

    async def _events(self, call: Call[str]) -> AsyncGenerator[JsonObject, None]:
        """The events of an answer as they come. It is asked for once, and its reader may pause."""
        auth = proof(self._agent, call)
        usual = self._http.timeout
        timeout = httpx.Timeout(
            connect=usual.connect, read=_QUIET, write=usual.write, pool=usual.pool
        )
        try:
            async with self._http.stream(
                call.method, call.url, headers=call.headers, auth=auth, timeout=timeout
            ) as response:
                if not response.is_success:
                    await response.aread()
                    raise refusal(response) or AssertionError("An answer is refused or not.")
                rest = b""
                async for chunk in response.aiter_bytes():
                    *lines, rest = (rest + chunk).split(b"\n")
                    for line in lines:
                        if line.startswith(b"data: "):
                            yield event_in(line, response)
        except httpx.RequestError as error:
            raise unreached(call.url, error) from error


def _content(call: Call[T]) -> bytes | AsyncIterable[bytes] | None:
    return call.body.async_chunks() if isinstance(call.body, Lines) else call.body
