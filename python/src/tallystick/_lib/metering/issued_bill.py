"""A bill's receipt, with what its evidence was found to be."""

from __future__ import annotations

from dataclasses import dataclass

from ..receipts.documents import MeteringReceipt
from ..receipts.issued import Issued
from .intake import EvidenceCounts


@dataclass(frozen=True)
class IssuedBill(Issued[MeteringReceipt]):
    """A signed metering receipt. What its evidence is worth is not signed: ``evidence`` says it."""

    evidence: EvidenceCounts | None = None
    """``None`` where the service did not say."""
