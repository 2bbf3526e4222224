"""When a failed request is tried again, and after how long."""

from __future__ import annotations

import random
from dataclasses import dataclass

from ..errors import TallyError

_RETRIED = frozenset({429, 502, 503, 504})
"""Statuses of a service that is busy, or of a gateway that did not reach it."""


def may_pass(failure: TallyError) -> bool:
    """Returns whether a failure is temporary: nothing answered, or with one of those statuses."""
    return failure.status is None or failure.status in _RETRIED


@dataclass(frozen=True)
class RetryPolicy:
    """Exponential back-off with full jitter, so that clients do not all try again at once.

    A request is tried again after 429, 502, 503 and 504, and if no answer came. That is safe:
    reading changes nothing, and every POST carries an ``Idempotency-Key``. Nothing is tried again
    where the service says that it would not help.
    """

    retries: int = 2
    """Number of attempts after the first; 0 turns retries off."""
    first_delay: float = 0.25
    """Seconds."""
    longest_delay: float = 8.0
    longest_retry_after: float = 30.0
    """Most seconds that a service may ask to wait; if it asks for more, nothing is tried again."""

    def delay(self, failure: TallyError, attempt: int) -> float | None:
        """Returns the seconds until the next attempt, or ``None`` if there is none.

        It is never less than the service asked for. ``attempt`` counts from 0.
        """
        if attempt >= self.retries:
            return None
        if failure.final or not may_pass(failure):
            return None
        requested = failure.retry_after or 0.0
        if requested > self.longest_retry_after:
            return None
        ceiling = min(self.longest_delay, self.first_delay * 2**attempt)
        return requested + random.uniform(0, ceiling)
