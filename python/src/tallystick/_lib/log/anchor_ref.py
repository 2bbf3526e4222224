"""The grammar of ``urn:anchor:...`` (specification 2.9)."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TypeAlias

from .._json.rules import MAX_SAFE_INTEGER
from ..errors import TallyError
from ..timestamps import parse_timestamp

_PENDING = re.compile("urn:anchor:pending:([0-9-]{10}T[0-9:]{5})Z:([^:]+)")
_ANCHORED = re.compile(
    "urn:anchor:(?!pending:)([a-z0-9][a-z0-9-]{0,31}):(0|[1-9][0-9]{0,15}):(0x[0-9a-f]{64}):([^:]+)"
)
_SHORT_ID = re.compile("0|[1-9a-z][0-9a-z]{0,10}")


@dataclass(frozen=True)
class PendingRef:
    """A reference to a leaf that will be posted."""

    batch_id: str
    """The scheduled time, to the minute: ``YYYY-MM-DDThh:mmZ``. Its colon is part of it."""
    index: int
    """The leaf's place in the log, from 0."""


@dataclass(frozen=True)
class AnchoredRef:
    """A reference to a leaf that was posted."""

    network: str
    """The chain's name."""
    block_height: int
    tx_hash: str
    """``0x`` and 64 hex."""
    index: int


AnchorRef: TypeAlias = PendingRef | AnchoredRef


def parse_anchor_ref(text: str) -> AnchorRef:
    """Raises ``anchor_ref_invalid`` for every text that is not exactly a reference."""
    pending = _PENDING.fullmatch(text)
    if pending is not None and parse_timestamp(f"{pending[1]}:00Z") is not None:
        return PendingRef(f"{pending[1]}Z", _parse_short_id(pending[2]))
    anchored = _ANCHORED.fullmatch(text)
    if anchored is None or int(anchored[2]) > MAX_SAFE_INTEGER:
        raise TallyError(
            "anchor_ref_invalid",
            "Expected urn:anchor:pending:<batch_id>:<short_id> or "
            "urn:anchor:<network>:<block_height>:<tx_hash>:<short_id>.",
        )
    network, height, tx_hash, short_id = anchored.groups()
    return AnchoredRef(network, int(height), tx_hash, _parse_short_id(short_id))


def _parse_short_id(text: str) -> int:
    index = int(text, 36) if _SHORT_ID.fullmatch(text) is not None else MAX_SAFE_INTEGER + 1
    if index > MAX_SAFE_INTEGER:
        message = "A short id is a leaf index in lower-case base 36."
        raise TallyError("anchor_ref_invalid", message)
    return index
