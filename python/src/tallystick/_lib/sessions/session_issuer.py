"""Who signs a session's receipts: a key of the recorder's own, or a service."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from ..encoding import to_base64url
from ..errors import TallyError
from ..issue import SigningKey, signer_of
from ..receipts.documents import EnvelopeReceipt
from ..receipts.issued import Issued
from .session_call import ContinuedSession, ParentReceipt, SessionCall, is_opening
from .sign_entry import SessionEntryToSign, SessionSigner, own_key_signer


class SessionService(Protocol):
    """What a service does for a session. ``Client`` has it."""

    def open_service_session(
        self,
        session_id: str,
        salt_commitment: str,
        *,
        continues: ContinuedSession | None = None,
        parent: ParentReceipt | None = None,
    ) -> Issued[EnvelopeReceipt]:
        """Signs an opening."""

    def add_session_receipt(
        self,
        session_id: str,
        call: SessionCall,
        *,
        request_hash: str | None,
        response_hash: str | None,
    ) -> Issued[EnvelopeReceipt]:
        """Signs the next receipt; the same one again for the same call."""

    def get_session(self, session_id: str) -> str:
        """Returns the receipts that were signed, a line each."""


@dataclass(frozen=True)
class SessionIssuer:
    """What signs for a session."""

    sign: SessionSigner
    public_key: str | None
    """The recorder's own key in base64url; ``None`` if a service signs."""
    signed: Callable[[str], str] | None
    """Returns the receipts that a service has of a session, a line each; ``None`` if none signs."""


def session_issuer(
    key: SigningKey | None, client: SessionService | None, agent_did: str | None
) -> SessionIssuer:
    """Raises ``invalid_field`` unless one of key and client is given, ``invalid_secret_key``."""
    if client is not None and key is None:
        return SessionIssuer(_service_signer(client), None, client.get_session)
    if client is not None or key is None:
        raise TallyError("invalid_field", "Give a key or a client, and not both.", field="key")
    signer = signer_of(key)
    sign = own_key_signer(signer, agent_did=agent_did)
    return SessionIssuer(sign, to_base64url(signer.public_key), None)


def _service_signer(client: SessionService) -> SessionSigner:
    """Has a service sign. It gets the hashes, and neither arguments nor results."""

    def sign(entry: SessionEntryToSign) -> str:
        call = entry.call
        session_id = call["session"]["id"]
        if is_opening(call):
            return client.open_service_session(
                session_id,
                call["salt_commitment"],
                continues=call.get("continues"),
                parent=call.get("parent"),
            ).text
        return client.add_session_receipt(
            session_id, call, request_hash=entry.request, response_hash=entry.response
        ).text

    return sign
