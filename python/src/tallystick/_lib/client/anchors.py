"""Anchor hashes: their forms, batches of them, and when to ask for an anchor again."""

from __future__ import annotations

import random
import re
from collections.abc import Iterable, Iterator
from typing import TypeAlias

from ..countersign import anchored_hash
from ..encoding import from_base64url, from_hex, to_base64url
from ..errors import TallyError
from ..json_types import Document, JsonValue
from ..log.anchored import PendingAnchor
from .retry import may_pass

HashOrReceipt: TypeAlias = Document
"""A receipt as text, bytes or object, which stands for its anchored hash; or any SHA-256.

A hash is 32 bytes, 64 hex as ``anchored_hash`` gives, or 43 characters of base64url.
"""

_MAX_HASHES = 10_000
"""Most hashes that the service accepts in one request."""

_HEX = re.compile("[0-9a-f]{64}")
_LONGEST_WAIT = 300.0
_LONGEST_OVERDUE_WAIT = 30.0


def canonical_sha256(given: HashOrReceipt) -> str:
    """Returns the hash as it is sent: base64url.

    A text that does not begin with ``{`` is a hash, and so are 32 bytes. Raises ``not_a_receipt``,
    ``json_*``, ``invalid_base64url``.
    """
    if isinstance(given, bytes) and len(given) == 32:
        return to_base64url(given)
    if isinstance(given, str) and not given.lstrip().startswith("{"):
        hexadecimal = _HEX.fullmatch(given) is not None
        return to_base64url(from_hex(given) if hexadecimal else from_base64url(given, 32))
    return to_base64url(from_hex(anchored_hash(given)))


def hash_batches(hashes: Iterable[HashOrReceipt]) -> Iterator[list[JsonValue]]:
    """Yields the hashes as they are sent, in batches for one request each."""
    batch: list[JsonValue] = []
    for given in hashes:
        batch.append(canonical_sha256(given))
        if len(batch) == _MAX_HASHES:
            yield batch
            batch = []
    if batch:
        yield batch


class Waiting:
    """The state of a wait for an anchor."""

    def __init__(self, timeout: float, started: float) -> None:
        """Both are seconds; ``started`` and each later time are readings of one monotonic clock."""
        self._timeout = timeout
        self._deadline = started + timeout
        self._known: PendingAnchor | None = None
        self._overdue = 0

    def pause(self, pending: PendingAnchor, now: float) -> float:
        """Returns the seconds to wait before the next request.

        Raises ``unavailable`` at the timeout.
        """
        left = self._deadline - now
        eta = pending["eta_seconds"]
        if left <= 0:
            due = f"due in {eta} s" if eta > 0 else "overdue"
            ref = pending["anchor_ref"]
            message = f"{ref} is still pending after {self._timeout} s: its posting is {due}."
            raise TallyError("unavailable", message, retry_after=eta)
        delay = poll_delay(eta, self._overdue)
        self._overdue = 0 if eta > 0 else self._overdue + 1
        self._known = pending
        return min(delay, left)

    def outlast(self, failure: TallyError) -> PendingAnchor:
        """Returns the last known anchor if a failure is temporary; raises the failure otherwise."""
        if self._known is None or not may_pass(failure):
            raise failure
        eta = int(failure.retry_after or 0)
        return {**self._known, "eta_seconds": eta}


def poll_delay(eta_seconds: int, overdue: int) -> float:
    """Returns the seconds to wait before the next request, from 1 s to 5 min.

    That is until the batch is due, and afterwards a time that doubles up to 30 s; ``overdue`` is
    the number of earlier requests for an overdue batch. Up to a tenth is added at random, so that
    clients which wait for one batch do not all ask at once.
    """
    due = min(_LONGEST_OVERDUE_WAIT, float(2 ** min(overdue, 5)))
    if eta_seconds > 0:
        due = min(_LONGEST_WAIT, float(eta_seconds))
    return due * random.uniform(1, 1.1)
