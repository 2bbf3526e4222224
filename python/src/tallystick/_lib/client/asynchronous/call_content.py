"""Methods about prompts and answers that the service keeps."""

from __future__ import annotations

from ....documents import CallContent
from ..calls import call_content
from .sender import AsyncSender


class AsyncCallContentMethods(AsyncSender):
    """Prompts and answers of calls with ``svc.keep``, where the service keeps them."""

    async def get_call_content(self, call_id: str) -> CallContent:
        """Reads prompt and answer of a call, by the id of its receipt.

        A part that was too long is ``None``. Raises ``content_not_kept`` where nothing is kept.
        """
        return await self._send(call_content.get_call_content(self._service, call_id))

    async def delete_call_content(self, call_id: str) -> None:
        """Deletes prompt and answer of a call at once."""
        await self._send(call_content.delete_call_content(self._service, call_id))
