"""When to try again, and after how long."""

from __future__ import annotations

import random
from dataclasses import dataclass

from ..errors import TallyError

_RETRIED = frozenset({429, 502, 503, 504})
"""Busy, or a gateway that the request may not have passed."""


def may_pass(failure: TallyError) -> bool:
    """Whether the same request may fare better later: nothing answered, or one of those did."""
    return failure.status is None or failure.status in _RETRIED


@dataclass(frozen=True)
class RetryPolicy:
    """Exponential back-off with full jitter, so that clients that failed together do not return so.

    Tried again are answers 429, 502, 503 and 504 and requests that no answer came to. That is safe:
    reading changes nothing, and every POST carries an ``Idempotency-Key``.
    """

    retries: int = 2
    """Attempts after the first; 0 turns retrying off."""
    first_delay: float = 0.25
    """Seconds."""
    longest_delay: float = 8.0
    longest_retry_after: float = 30.0
    """A service that asks for a longer wait gets none: the caller is told at once."""

    def delay(self, failure: TallyError, attempt: int) -> float | None:
        """Seconds until the next attempt, or ``None`` when there is to be none.

        Never sooner than the service asked. ``attempt`` counts from 0.
        """
        if attempt >= self.retries:
            return None
        if not may_pass(failure):
            return None
        requested = failure.retry_after or 0.0
        if requested > self.longest_retry_after:
            return None
        ceiling = min(self.longest_delay, self.first_delay * 2**attempt)
        return requested + random.uniform(0, ceiling)
