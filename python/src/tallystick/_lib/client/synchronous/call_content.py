# Written by scripts/unasync.py from ../asynchronous/call_content.py; do not edit.
"""Methods about prompts and answers that the service keeps."""

from __future__ import annotations

from ....documents import CallContent
from ..calls import call_content
from .sender import Sender


class CallContentMethods(Sender):
    """Prompts and answers of calls with ``svc.keep``, where the service keeps them."""

    def get_call_content(self, call_id: str) -> CallContent:
        """Reads prompt and answer of a call, by the id of its receipt.

        A part that was too long is ``None``. Raises ``content_not_kept`` where nothing is kept.
        """
        return self._send(call_content.get_call_content(self._service, call_id))

    def delete_call_content(self, call_id: str) -> None:
        """Deletes prompt and answer of a call at once."""
        self._send(call_content.delete_call_content(self._service, call_id))
