"""Requests for lists."""

from __future__ import annotations

from typing import Literal, TypedDict

from ....documents import (
    LeafList,
    ListedAnchors,
    ListedReceipts,
    ListedSessions,
    Postings,
    TenantReceipts,
)
from ...streams import StreamHead, StreamPart
from ..service import Service, segment
from ..wire import Call


class Page(TypedDict, total=False):
    """What every list takes: ``from_`` and ``to`` are RFC 3339 texts or Unix seconds."""

    limit: int | None
    cursor: str | None
    from_: str | int | None
    to: str | int | None


class ReceiptFilters(Page, total=False):
    """What receipts are looked for by.

    Only the receipts of calls have a provider, a status and tags; ``tag`` is ``name:value``, and
    costs are USDC as decimal texts.
    """

    did: str | None
    key: str | None
    profile: str | None
    purpose: str | None
    model: str | None
    provider: str | None
    status: Literal["ok", "error"] | None
    tag: str | None
    min_cost: str | None
    max_cost: str | None
    receipt_id: str | None
    request_hash: str | None
    session: str | None


class AnchorFilters(Page, total=False):
    """What anchored hashes are looked for by; ``canonical_sha256`` is base64url."""

    canonical_sha256: str | None
    key: str | None
    receipt_id: str | None


class PostingFilters(Page, total=False):
    """What postings are looked for by; ``tree_size`` is the number of leaves of the root."""

    state: Literal["queued", "broadcast", "confirmed", "finalized"] | None
    tx_hash: str | None
    tree_size: int | None


def list_receipts(service: Service, filters: ReceiptFilters) -> Call[ListedReceipts]:
    return service.get("/v1/receipts", query=_query_of(filters))


def read_stream(service: Service, first: int | None, limit: int | None) -> Call[StreamPart]:
    return service.get("/v1/stream", query={"first": first, "limit": limit})


def sign_stream_head(service: Service) -> Call[StreamHead]:
    return service.post("/v1/stream/heads", {})


def list_tenant_receipts(
    service: Service, tenant_id: str, filters: ReceiptFilters
) -> Call[TenantReceipts]:
    return service.get(
        f"/tenants/{segment(tenant_id, 'tenant_id')}/receipts", query=_query_of(filters)
    )


def list_anchors(service: Service, filters: AnchorFilters) -> Call[ListedAnchors]:
    return service.get("/v1/anchors", query=_query_of(filters))


def list_sessions(service: Service, key: str | None, page: Page) -> Call[ListedSessions]:
    return service.get("/v1/sessions", query={**_query_of(page), "key": key})


def list_leaves(service: Service, from_index: int | None, page: Page) -> Call[LeafList]:
    query = {**_query_of(page), "from_index": from_index}
    return service.get("/v1/log/leaves", query=query)


def list_postings(service: Service, filters: PostingFilters) -> Call[Postings]:
    return service.get("/v1/log/postings", query=_query_of(filters))


def _query_of(page: Page) -> dict[str, object]:
    return {name.rstrip("_"): value for name, value in page.items()}
