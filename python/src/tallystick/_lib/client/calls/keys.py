"""Requests about the API keys of an account."""

from __future__ import annotations

from collections.abc import Mapping

from ....documents import ApiKey, ApiKeyList, LimitsOfCaller, NewApiKey
from ..service import Service, segment
from ..wire import Call

_PATH = "/v1/keys"


def list_keys(service: Service, limit: int | None, cursor: str | None) -> Call[ApiKeyList]:
    return service.get(_PATH, query={"limit": limit, "cursor": cursor})


def create_key(service: Service, members: Mapping[str, object]) -> Call[NewApiKey]:
    return service.post(_PATH, members)


def update_key(service: Service, key_id: str, members: Mapping[str, object]) -> Call[ApiKey]:
    return service.patch(f"{_PATH}/{segment(key_id, 'key_id')}", members)


def revoke_key(service: Service, key_id: str) -> Call[ApiKey]:
    return service.delete(f"{_PATH}/{segment(key_id, 'key_id')}")


def get_limits(service: Service) -> Call[LimitsOfCaller]:
    return service.get("/v1/limits")


def rotate_key(service: Service, key_id: str, grace_seconds: int | None) -> Call[NewApiKey]:
    return service.post(
        f"{_PATH}/{segment(key_id, 'key_id')}/rotate", {"grace_seconds": grace_seconds}
    )
