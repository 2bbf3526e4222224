"""Methods about anchors and the anchor log."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterable

from ....documents import LogStatus
from ...errors import TallyError
from ...log.anchored import Anchor, AnchoredResult
from ..anchors import HashOrReceipt, Waiting
from ..calls import anchors
from .sender import AsyncSender


class AsyncAnchorMethods(AsyncSender):
    """Anchoring hashes, and reading the log in the C2SP formats."""

    async def anchor(
        self, hash_or_receipt: HashOrReceipt, *, idempotency_key: str | None = None
    ) -> Anchor:
        """Has a hash, or the hash of a receipt, anchored. Nothing else of the receipt is sent.

        It needs an API key. The same hash has the same place again, at no cost. When the monthly
        quota is used up the code is ``quota_exceeded``, and ``retry_after`` is the number of
        seconds until the next month.
        """
        return await self._send(anchors.anchor(self._service, hash_or_receipt, idempotency_key))

    async def anchor_batch(self, hashes: Iterable[HashOrReceipt]) -> list[Anchor]:
        """Has any number of hashes anchored. Returns their anchors in the same order.

        Each request has 10,000 of them, and the service accepts all or none of a request. If a
        later request is refused, give all of them again: those that have a place cost nothing.
        """
        found: list[Anchor] = []
        for call in anchors.anchor_batch(self._service, hashes):
            found += await self._send(call)
        return found

    async def get_anchor(self, anchor_ref: str) -> Anchor:
        """Reads the present state of a reference, pending or anchored. Needs no key."""
        return await self._send(anchors.get_anchor(self._service, anchor_ref))

    async def get_anchor_by_hash(self, hash_or_receipt: HashOrReceipt) -> Anchor:
        """Reads the present state of a hash, whoever had it anchored. Needs no key."""
        return await self._send(anchors.get_anchor_by_hash(self._service, hash_or_receipt))

    async def get_anchor_proof(self, ref_or_hash: HashOrReceipt) -> str:
        """Reads the proof of an anchored hash as a C2SP tlog-proof. Needs no key.

        The proof is there once a checkpoint covers the hash. ``parse_tlog_proof`` reads it.
        """
        return await self._send(anchors.get_anchor_proof(self._service, ref_or_hash))

    async def wait_for_anchor(
        self, ref_or_hash: HashOrReceipt, *, timeout: float = 7_200.0
    ) -> AnchoredResult:
        """Waits until a hash is anchored. Give its reference, or what ``anchor`` takes.

        It asks again when the root is due, and then at growing intervals. Once the hash is known to
        be pending, it also waits while the service is busy or out of reach. ``timeout`` is in
        seconds, for the whole wait. Raises ``unavailable`` if the hash is still pending then, with
        ``eta_seconds`` as ``retry_after``.
        """
        waiting = Waiting(timeout, time.monotonic())
        while True:
            try:
                anchor = await self._send(anchors.find_anchor(self._service, ref_or_hash))
            except TallyError as failure:
                anchor = waiting.outlast(failure)
            if "batch_id" not in anchor:
                return anchor
            await asyncio.sleep(waiting.pause(anchor, time.monotonic()))

    async def get_cose_receipt(self, ref_or_hash: HashOrReceipt) -> bytes:
        """Reads the COSE Receipt (RFC 9942) of an anchored hash.

        There is none until a checkpoint covers the hash. Needs no key.
        """
        return await self._send(anchors.get_cose_receipt(self._service, ref_or_hash))

    async def get_log_status(self) -> LogStatus:
        """Reads the log's name, key and size, and the time of its next posting, all unsigned."""
        return await self._send(anchors.get_log_status(self._service))

    async def get_checkpoint(self) -> str:
        """Reads the newest checkpoint, a C2SP signed note, which ``open_checkpoint`` checks."""
        return await self._send(anchors.get_checkpoint(self._service))

    async def get_tile(self, path: str) -> bytes:
        """Reads a tile of the log (C2SP tlog-tiles), which never changes.

        256 hashes are at ``<level>/<index>``, such as ``0/000``; entries are at
        ``entries/<index>``. The path of a partial tile ends in ``.p/<width>``.
        """
        return await self._send(anchors.get_tile(self._service, path))
