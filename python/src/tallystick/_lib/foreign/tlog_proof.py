"""Inclusion proofs of any log (C2SP tlog-proof), each with the checkpoint that it leads to."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from ..authority import is_within, logs_of
from ..encoding import from_base64url
from ..errors import TallyError
from ..log.checkpoint import Checkpoint, parse_checkpoint_text
from ..log.note import ED25519, NoteSignature, note_key_hash, parse_note
from ..log.tlog_proof import TlogProof, parse_tlog_proof
from ..merkle import leaf_hash, root_from_inclusion
from ..receipts.family import Check, check, unchecked
from ..trust import Trust
from .family import (
    ForeignDocument,
    ForeignFacts,
    ForeignFormError,
    ForeignReceipt,
    ForeignSignature,
    or_fault,
)
from .keys import ForeignKey, ed25519_key


class TlogProofs:
    """The family."""

    name: Final = "tlog_proof"

    def recognises(self, document: ForeignDocument) -> bool:
        return isinstance(document, str) and document.startswith("c2sp.org/tlog-proof@")

    def read(self, document: ForeignDocument, facts: ForeignFacts) -> list[ForeignReceipt]:
        text = document if isinstance(document, str) else ""
        proof = or_fault(lambda: parse_tlog_proof(text), "It is no tlog-proof of version 1.")
        note = parse_note(proof.checkpoint)
        checkpoint = parse_checkpoint_text(note.text)
        lines = {(line.name, line.key_hash) for line in note.signatures}
        if len(lines) < len(note.signatures):
            raise ForeignFormError("The checkpoint has two signatures of one key.")
        missing = "Without the entry, nothing shows what the proof is about: give the entry."
        receipt = ForeignReceipt(
            profile=f"index {proof.index} of {checkpoint.size}",
            id=None,
            issued_at=None,
            signatures=[_signature_of(line, checkpoint, note.text) for line in note.signatures],
            document=document,
            checks=[_inclusion_check(proof, checkpoint, facts.entry)],
            undecided=missing if facts.entry is None else None,
        )
        return [receipt]

    def together(self, receipts: Sequence[ForeignReceipt]) -> Sequence[Check]:  # noqa: ARG002
        return ()

    def contradictions(self, receipts: Sequence[ForeignReceipt]) -> Sequence[Check]:  # noqa: ARG002
        return ()

    def notes(self, receipts: Sequence[ForeignReceipt]) -> Sequence[str]:  # noqa: ARG002
        return (
            (
                "It proves that the log contains the entry, not that what the entry says is true, "
                "nor when it was added."
            ),
            (
                "It does not prove that others see the same log: that takes witnesses, whose "
                "cosignatures are not looked at here."
            ),
        )


def _signature_of(line: NoteSignature, checkpoint: Checkpoint, text: str) -> ForeignSignature:
    origin = checkpoint.origin

    def fits(key: ForeignKey) -> bool:
        """Under the name that the key was given with, else under the log's own."""
        if key.kind != "Ed25519" or line.name != (key.log or origin):
            return False
        return note_key_hash(line.name, ED25519, key.public_key) == line.key_hash

    def vouched(trust: Trust) -> list[ForeignKey]:
        logs = [log for log in logs_of(trust.anchors) if log["origin"] == origin]
        own = [log for log in logs if is_within(log, checkpoint.size)]
        return [ed25519_key(from_base64url(log["public_key"], 32)) for log in own]

    return ForeignSignature(
        "EdDSA", text.encode(), line.signature, key_id=line.name, fits=fits, vouched=vouched
    )


def _inclusion_check(proof: TlogProof, checkpoint: Checkpoint, entry: bytes | None) -> Check:
    if entry is None:
        return unchecked("inclusion", "No entry was given whose inclusion could be checked.")
    try:
        reached = root_from_inclusion(proof.index, checkpoint.size, leaf_hash(entry), proof.path)
    except TallyError:
        reached = None
    return check(
        "inclusion",
        reached == checkpoint.root,
        f"The entry is number {proof.index} of the {checkpoint.size} in the log.",
        "The path does not lead from the entry to the root of the checkpoint.",
    )
