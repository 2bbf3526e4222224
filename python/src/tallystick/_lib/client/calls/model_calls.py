"""Requests about the caller's calls of models."""

from __future__ import annotations

from typing import Literal, TypedDict

from ....documents import CallCounts, CallDetail, Calls
from ..service import Service, segment
from ..wire import Call, text_in
from .lists import Page

_PATH = "/v1/compute/calls"


class CallFilters(TypedDict, total=False):
    """What calls are looked for by."""

    did: str | None
    key: str | None
    model: str | None
    provider: str | None
    status: int | Literal["ok", "error"] | None
    error_code: str | None
    min_cost: str | None
    max_cost: str | None
    tag: str | None
    session: str | None
    receipt_id: str | None
    request_hash: str | None
    purpose: str | None
    profile: str | None


class CallPage(CallFilters, Page, total=False):
    """A page of the calls that match."""


class Counting(CallFilters, total=False):
    """Which calls are counted, and what they are told apart by."""

    bucket: Literal["minute", "hour", "day"] | None
    by: Literal["none", "model", "provider", "status", "key"] | None
    from_: str | int | None
    to: str | int | None


def list_calls(service: Service, page: CallPage) -> Call[Calls]:
    return service.get(_PATH, query=_query_of(page))


def count_calls(service: Service, counting: Counting) -> Call[CallCounts]:
    return service.get(f"{_PATH}/counts", query=_query_of(counting))


def get_call(service: Service, call_id: str) -> Call[CallDetail]:
    return service.get(f"{_PATH}/{segment(call_id, 'call_id')}")


def follow_calls(service: Service, filters: CallFilters) -> Call[str]:
    query = _query_of(filters)
    return service.get(f"{_PATH}/live", text_in, query=query, accept="text/event-stream")


def _query_of(members: CallPage | CallFilters | Counting) -> dict[str, object]:
    return {name.rstrip("_"): value for name, value in members.items()}
