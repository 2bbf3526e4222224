"""Reading one receipt of a session without verifying it."""

from __future__ import annotations

from dataclasses import dataclass

from ..canonical import canonical_bytes
from ..errors import TallyError
from ..hashes import sha256_hex
from ..receipts.envelope import ENVELOPE
from ..receipts.family import object_at, text_at, text_or_none
from ..receipts.read import read_receipt
from .session_call import SessionCall, is_session_call


@dataclass(frozen=True)
class SessionReceipt:
    """What a receipt of a session says of its place."""

    receipt_id: str
    call: SessionCall
    hash: str
    """``sha256:<hex>``, its anchored hash."""
    request_hash: str | None
    public_key: str
    """The key that signed it: 32 bytes in base64url."""

    @property
    def seq(self) -> int:
        """Its number."""
        return int(self.call["session"]["seq"])


def read_session_receipt(text: str | bytes) -> SessionReceipt:
    """Reads one line of a session's file. Raises ``json_*``, ``not_a_receipt``."""
    family, receipt = read_receipt(text)
    call = receipt.get("call")
    if family is not ENVELOPE or not is_session_call(call):
        raise TallyError("not_a_receipt", "The receipt is not of a session.")
    return SessionReceipt(
        receipt_id=text_at(receipt, "receipt_id"),
        call=call,
        hash=f"sha256:{sha256_hex(canonical_bytes(family.anchored(receipt)))}",
        request_hash=text_or_none(object_at(receipt, "request"), "hash"),
        public_key=text_at(receipt, "issuer_pubkey"),
    )
