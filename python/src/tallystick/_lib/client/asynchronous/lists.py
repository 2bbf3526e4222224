"""Methods that list what a caller issued, paid for or anchored, and the log."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ....documents import (
    LeafList,
    ListedAnchors,
    ListedReceipts,
    ListedSessions,
    Postings,
    TenantReceipts,
)
from ...streams import StreamHead, StreamPart
from ..calls import lists
from .sender import AsyncSender

if TYPE_CHECKING:
    from typing_extensions import Unpack


class AsyncListMethods(AsyncSender):
    """Lists, newest first.

    All take ``limit`` (1 to 1,000; 50 when absent), ``cursor`` (``next_cursor`` of the page
    before), ``from_`` and ``to`` (RFC 3339 or Unix seconds; ``to`` is exclusive).
    """

    async def list_receipts(self, **filters: Unpack[lists.ReceiptFilters]) -> ListedReceipts:
        """Lists the caller's receipts: of the API key, the tenant key, or the agent that signs."""
        return await self._send(lists.list_receipts(self._service, filters))

    async def read_stream(
        self, *, first: int | None = None, limit: int | None = None
    ) -> StreamPart:
        """Reads the caller's stream from a place on; at most 5,000 hashes."""
        return await self._send(lists.read_stream(self._service, first, limit))

    async def sign_stream_head(self) -> StreamHead:
        """Has a head of the caller's stream signed.

        The first one opens the stream of an API key or a DID.
        """
        return await self._send(lists.sign_stream_head(self._service))

    async def list_tenant_receipts(
        self, tenant_id: str, **filters: Unpack[lists.ReceiptFilters]
    ) -> TenantReceipts:
        """Lists a tenant's receipts. The client's API key is one of the tenant's."""
        return await self._send(lists.list_tenant_receipts(self._service, tenant_id, filters))

    async def list_anchors(self, **filters: Unpack[lists.AnchorFilters]) -> ListedAnchors:
        """Lists the hashes that the caller anchored."""
        return await self._send(lists.list_anchors(self._service, filters))

    async def list_sessions(
        self, *, key: str | None = None, **page: Unpack[lists.Page]
    ) -> ListedSessions:
        """Lists the caller's sessions by their beginning.

        These are the sessions of its calls of models and those that the service signs. ``key`` is
        the id of the API key whose calls and receipts alone count.
        """
        return await self._send(lists.list_sessions(self._service, key, page))

    async def list_leaves(
        self, *, from_index: int | None = None, **page: Unpack[lists.Page]
    ) -> LeafList:
        """Lists the hashes in the log from ``from_index`` on to lower indexes."""
        return await self._send(lists.list_leaves(self._service, from_index, page))

    async def list_postings(self, **filters: Unpack[lists.PostingFilters]) -> Postings:
        """Lists the roots posted to the chain."""
        return await self._send(lists.list_postings(self._service, filters))
