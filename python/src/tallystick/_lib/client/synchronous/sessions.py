# Written by scripts/unasync.py from ../asynchronous/sessions.py; do not edit.
"""Methods about sessions that the service signs."""

from __future__ import annotations

from ...receipts.documents import EnvelopeReceipt
from ...receipts.issued import Issued
from ...sessions.session_call import ContinuedSession, ParentReceipt, SessionCall
from ..calls import sessions
from .sender import Sender


class SessionMethods(Sender):
    """Sessions whose receipts the service signs (spec/sessions.md).

    A session belongs to the client's API key, to its agent, or to the wallet that pays; each
    receipt costs as much as a standard one.
    """

    def open_service_session(
        self,
        session_id: str,
        salt_commitment: str,
        *,
        continues: ContinuedSession | None = None,
        parent: ParentReceipt | None = None,
        anchor: bool = False,
        idempotency_key: str | None = None,
    ) -> Issued[EnvelopeReceipt]:
        """Opens a session, and returns its opening receipt. The same id again returns the same one.

        ``session_id`` is 128 random bits as 32 lower-case hex characters, ``salt_commitment`` the
        SHA-256 (``sha256:<hex>``) of the salt that you keep. ``anchor`` anchors the closing
        receipt, whose hash covers every receipt before it; it needs an API key. Raises
        ``session_conflict`` for an id that is taken.
        """
        return self._send(
            sessions.open_service_session(
                self._service,
                session_id,
                salt_commitment,
                continues,
                parent,
                anchor,
                idempotency_key,
            )
        )

    def add_session_receipt(
        self,
        session_id: str,
        call: SessionCall,
        *,
        request_hash: str | None,
        response_hash: str | None,
        anchor: bool = False,
        idempotency_key: str | None = None,
    ) -> Issued[EnvelopeReceipt]:
        """Has the next receipt of a session signed. The same call again returns the same receipt.

        ``call`` is of kind ``tool`` or ``reference``, or the closing; the hashes are the salted
        ones of a tool's arguments and result, ``sha256:<hex>``, or None. ``anchor`` anchors this
        receipt, and with it every receipt before it; it needs an API key. Raises
        ``session_conflict``, with the place that is next in ``problem["session"]``;
        ``session_closed``; ``session_key_changed``, after which a new session continues this one;
        ``session_not_found``.
        """
        return self._send(
            sessions.add_session_receipt(
                self._service,
                session_id,
                call,
                request_hash,
                response_hash,
                anchor,
                idempotency_key,
            )
        )

    def get_session(self, session_id: str) -> str:
        """Reads a session as JSON Lines, as ``verify_session`` takes it.

        Raises ``session_not_found``, and ``receipt_purged`` where none of it is kept.
        """
        return self._send(sessions.get_session(self._service, session_id))
