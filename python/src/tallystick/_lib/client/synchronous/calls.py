# Written by scripts/unasync.py from ../asynchronous/calls.py; do not edit.
"""Methods about the caller's calls of models."""

from __future__ import annotations

from collections.abc import Generator
from typing import TYPE_CHECKING, cast

from ....documents import CallCounts, CallDetail, CallRow, Calls
from ..calls import model_calls
from .sender import Sender

if TYPE_CHECKING:
    from typing_extensions import Unpack


class CallMethods(Sender):
    """The calls of models that were made as this caller."""

    def list_calls(self, **page: Unpack[model_calls.CallPage]) -> Calls:
        """Lists calls, newest first, failed ones too, a second or two after they end."""
        return self._send(model_calls.list_calls(self._service, page))

    def count_calls(self, **counting: Unpack[model_calls.Counting]) -> CallCounts:
        """Sums calls by ``bucket`` of time: ``minute``, ``hour`` (when absent) or ``day``."""
        return self._send(model_calls.count_calls(self._service, counting))

    def get_call(self, call_id: str) -> CallDetail:
        """Reads one call with its timeline, routing and bill."""
        return self._send(model_calls.get_call(self._service, call_id))

    def follow_calls(
        self, **filters: Unpack[model_calls.CallFilters]
    ) -> Generator[CallRow, None, None]:
        """Yields each call as it ends, from now on.

        The service ends the answer after 15 minutes: ask again then. Closing the generator ends
        it earlier.
        """
        for event in self._events(model_calls.follow_calls(self._service, filters)):
            yield cast(CallRow, event)
