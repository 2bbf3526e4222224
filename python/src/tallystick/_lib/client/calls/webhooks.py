"""Requests about the caller's webhooks."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import httpx

from ....documents import NewWebhook, Webhook, WebhookDeliveries, Webhooks, WebhookTest
from ..service import Service, segment
from ..wire import Call
from .lists import Page

_PATH = "/v1/webhooks"


def list_webhooks(service: Service) -> Call[Webhooks]:
    return service.get(_PATH)


def create_webhook(service: Service, members: Mapping[str, object]) -> Call[NewWebhook]:
    return service.post(_PATH, members)


def update_webhook(
    service: Service, webhook_id: str, members: Mapping[str, object]
) -> Call[Webhook]:
    return service.patch(f"{_PATH}/{segment(webhook_id, 'webhook_id')}", members)


def delete_webhook(service: Service, webhook_id: str) -> Call[None]:
    return service.delete(f"{_PATH}/{segment(webhook_id, 'webhook_id')}", _nothing_in)


def test_webhook(service: Service, webhook_id: str) -> Call[WebhookTest]:
    return replace(service.get(f"{_PATH}/{segment(webhook_id, 'webhook_id')}/test"), method="POST")


def list_webhook_deliveries(
    service: Service, webhook_id: str, page: Page
) -> Call[WebhookDeliveries]:
    query = {name.rstrip("_"): value for name, value in page.items()}
    return service.get(f"{_PATH}/{segment(webhook_id, 'webhook_id')}/deliveries", query=query)


def rotate_webhook_secret(
    service: Service, webhook_id: str, grace_seconds: int | None
) -> Call[NewWebhook]:
    path = f"{_PATH}/{segment(webhook_id, 'webhook_id')}/rotate"
    return service.post(path, {"grace_seconds": grace_seconds})


def _nothing_in(_response: httpx.Response) -> None:
    return None
