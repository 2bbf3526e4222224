"""The receipt of a bill, with the classes of its evidence."""

from __future__ import annotations

from dataclasses import dataclass

from ..receipts.documents import MeteringReceipt
from ..receipts.issued import Issued
from .intake import EvidenceCounts


@dataclass(frozen=True)
class IssuedBill(Issued[MeteringReceipt]):
    """A signed metering receipt. ``evidence`` counts its evidence by class; that is not signed."""

    evidence: EvidenceCounts | None = None
    """``None`` if the service did not say it."""
