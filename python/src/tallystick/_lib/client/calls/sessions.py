"""Requests about sessions that the service signs."""

from __future__ import annotations

from ...receipts.documents import EnvelopeReceipt
from ...receipts.issued import Issued
from ...sessions.session_call import ContinuedSession, ParentReceipt, SessionCall
from ..service import Service, segment
from ..wire import Call, text_in
from .receipts import issued_in


def open_service_session(
    service: Service,
    session_id: str,
    salt_commitment: str,
    continues: ContinuedSession | None,
    parent: ParentReceipt | None,
    anchor: bool,
    key: str | None,
) -> Call[Issued[EnvelopeReceipt]]:
    body = {
        "session_id": session_id,
        "salt_commitment": salt_commitment,
        "continues": continues,
        "parent": parent,
        "anchor": anchor or None,
    }
    return service.post("/v1/sessions", body, issued_in, key=key)


def add_session_receipt(
    service: Service,
    session_id: str,
    call: SessionCall,
    request_hash: str | None,
    response_hash: str | None,
    anchor: bool,
    key: str | None,
) -> Call[Issued[EnvelopeReceipt]]:
    body = {
        "call": call,
        "request_hash": request_hash,
        "response_hash": response_hash,
        **({"anchor": True} if anchor else {}),
    }
    path = f"{_path_of(session_id)}/receipts"
    return service.post(path, body, issued_in, key=key, keep_none=True)


def get_session(service: Service, session_id: str) -> Call[str]:
    return service.get(_path_of(session_id), text_in, accept="application/jsonl")


def _path_of(session_id: str) -> str:
    return f"/v1/sessions/{segment(session_id, 'session_id')}"
