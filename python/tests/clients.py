"""Both clients behind one face, so that one suite runs on either."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import AsyncGenerator, Iterator
from contextlib import contextmanager
from typing import Any, Literal, TypeAlias, cast

from tallystick import AsyncClient, Client

Kind: TypeAlias = Literal["sync", "async"]
KINDS: list[Kind] = ["sync", "async"]


class _Awaited:
    """An ``AsyncClient`` whose methods are awaited at once."""

    def __init__(self, client: AsyncClient, loop: asyncio.AbstractEventLoop) -> None:
        self._client = client
        self._loop = loop

    def __getattr__(self, name: str) -> Any:
        method = getattr(self._client, name)
        if inspect.isasyncgenfunction(method):
            return lambda *args, **params: self._each(method(*args, **params))
        assert inspect.iscoroutinefunction(method)
        return lambda *args, **params: self._loop.run_until_complete(method(*args, **params))

    def _each(self, items: AsyncGenerator[Any, None]) -> Iterator[Any]:
        try:
            while True:
                yield self._loop.run_until_complete(anext(items))
        except StopAsyncIteration:
            return
        finally:
            self._loop.run_until_complete(items.aclose())


@contextmanager
def opened(kind: Kind, url: str, **options: Any) -> Iterator[Client]:
    """A client, which is closed in the end, and with it the ``http_client`` that it was given."""
    http = options.get("http_client")
    if kind == "sync":
        with Client(url, **options) as client:
            yield client
        if http is not None:
            http.close()
        return
    loop = asyncio.new_event_loop()
    try:
        asynchronous = AsyncClient(url, **options)
        yield cast(Client, _Awaited(asynchronous, loop))
        loop.run_until_complete(asynchronous.aclose())
        if http is not None:
            loop.run_until_complete(http.aclose())
    finally:
        loop.close()
