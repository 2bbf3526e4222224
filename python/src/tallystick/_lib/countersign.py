"""Counter-signatures and anchors of a signed receipt, and its anchored hash (spec/receipts.md)."""

from __future__ import annotations

from .canonical import canonical_bytes
from .ed25519 import Signer
from .encoding import to_base64url
from .errors import TallyError
from .hashes import sha256_hex
from .json_types import Document, JsonObject
from .log.anchored import Anchor
from .receipts.documents import EnvelopeReceipt
from .receipts.envelope import ENVELOPE
from .receipts.family import Role, object_at
from .receipts.issued import Issued
from .receipts.profiles import AnyReceipt
from .receipts.read import read_json, read_receipt


def countersign(document: Document, role: Role, signer: Signer) -> Issued[EnvelopeReceipt]:
    """Adds the requester's or the operator's signature, and changes nothing else.

    Raises ``not_a_receipt``, ``json_*``, and ``countersign_mismatch`` when the receipt names nobody
    in that role, or another did:key.
    """
    family, receipt = read_receipt(document)
    if family is not ENVELOPE:
        message = "Only an envelope (svc-receipt-v1) can be counter-signed."
        raise TallyError("not_a_receipt", message)
    party = next(one for one in family.counter_signatures(receipt) if one.role == role)
    member = "request.origin" if role == "requester" else "operator.entity"
    if party.did is None:
        message = f"The receipt names no {role} ({member} is null)."
        raise TallyError("countersign_mismatch", message, field=member)
    if party.did.startswith("did:key:") and party.did != signer.key_id:
        message = f"The receipt's {role} is {party.did}, but the key is {signer.key_id}."
        raise TallyError("countersign_mismatch", message, field=member)
    signature = to_base64url(signer.sign(canonical_bytes(family.signed(receipt))))
    signatures = {**object_at(receipt, "signatures"), role: signature}
    return Issued.of({**receipt, "signatures": signatures})


def anchored_hash(document: Document) -> str:
    """Computes the hash that an anchor of this receipt proves, as 64 hex.

    SHA-256 over the JCS of the receipt with the issuer's own signature, without unsigned members,
    counter-signatures null. Raises ``not_a_receipt``, ``json_*``.
    """
    family, receipt = read_receipt(document)
    return sha256_hex(canonical_bytes(family.anchored(receipt)))


def with_anchor(document: Document, anchor: Anchor) -> Issued[AnyReceipt]:
    """Adds its anchor to a receipt: ``anchor_ref`` and, once it is anchored, ``anchor``.

    One file then holds the receipt and its proof. No signature covers these members, and the
    anchored hash stays the same. Raises ``json_*``, and ``not_a_receipt`` also for nano and
    metering receipts, which have no such members: keep their anchor beside them.
    """
    _, receipt = read_receipt(document)
    added: JsonObject = {"anchor_ref": anchor["anchor_ref"]}
    if "batch_id" not in anchor:
        added["anchor"] = read_json(anchor)
    _, carrying = read_receipt({**receipt, **added})
    return Issued.of(carrying)
