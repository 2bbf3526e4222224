"""Methods about the caller's calls of models."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from typing import TYPE_CHECKING, cast

from ....documents import CallCounts, CallDetail, CallRow, Calls
from ..calls import model_calls
from .sender import AsyncSender

if TYPE_CHECKING:
    from typing_extensions import Unpack


class AsyncCallMethods(AsyncSender):
    """The calls of models that were made as this caller."""

    async def list_calls(self, **page: Unpack[model_calls.CallPage]) -> Calls:
        """Lists calls, newest first, failed ones too, a second or two after they end."""
        return await self._send(model_calls.list_calls(self._service, page))

    async def count_calls(self, **counting: Unpack[model_calls.Counting]) -> CallCounts:
        """Sums calls by ``bucket`` of time: ``minute``, ``hour`` (when absent) or ``day``."""
        return await self._send(model_calls.count_calls(self._service, counting))

    async def get_call(self, call_id: str) -> CallDetail:
        """Reads one call with its timeline, routing and bill."""
        return await self._send(model_calls.get_call(self._service, call_id))

    async def follow_calls(
        self, **filters: Unpack[model_calls.CallFilters]
    ) -> AsyncGenerator[CallRow, None]:
        """Yields each call as it ends, from now on.

        The service ends the answer after 15 minutes: ask again then. Closing the generator ends
        it earlier.
        """
        async for event in self._events(model_calls.follow_calls(self._service, filters)):
            yield cast(CallRow, event)
