# Written by scripts/unasync.py from ../asynchronous/webhooks.py; do not edit.
"""Methods about the caller's webhooks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ....documents import NewWebhook, Webhook, WebhookDeliveries, Webhooks, WebhookTest
from ..calls import lists, webhooks
from .sender import Sender

if TYPE_CHECKING:
    from typing_extensions import Unpack


class WebhookMethods(Sender):
    """Messages to a URL of the caller's when something has happened: docs/webhooks.md."""

    def list_webhooks(self) -> Webhooks:
        """Lists the caller's webhooks, newest first. There are at most ten."""
        return self._send(webhooks.list_webhooks(self._service))

    def create_webhook(self, url: str, events: Sequence[str]) -> NewWebhook:
        """Makes a webhook. Its ``secret`` is shown this once."""
        members = {"url": url, "events": list(events)}
        return self._send(webhooks.create_webhook(self._service, members))

    def update_webhook(self, webhook_id: str, **members: object) -> Webhook:
        """Changes the given members: ``url``, ``events`` and ``enabled``."""
        return self._send(webhooks.update_webhook(self._service, webhook_id, members))

    def delete_webhook(self, webhook_id: str) -> None:
        """Deletes a webhook with its deliveries."""
        return self._send(webhooks.delete_webhook(self._service, webhook_id))

    def test_webhook(self, webhook_id: str) -> WebhookTest:
        """Has a message of type ``webhook.test`` sent."""
        return self._send(webhooks.test_webhook(self._service, webhook_id))

    def list_webhook_deliveries(
        self, webhook_id: str, **page: Unpack[lists.Page]
    ) -> WebhookDeliveries:
        """Lists the messages of the last 30 days, and what became of each."""
        call = webhooks.list_webhook_deliveries(self._service, webhook_id, page)
        return self._send(call)

    def rotate_webhook_secret(
        self, webhook_id: str, *, grace_seconds: int | None = None
    ) -> NewWebhook:
        """Gives a webhook a new secret, which is shown this once.

        Messages are signed with the secret before as well for ``grace_seconds``, a day when absent
        and a week at most.
        """
        return self._send(webhooks.rotate_webhook_secret(self._service, webhook_id, grace_seconds))
