"""Metering receipts ``sls.metering``: evidence, commitments, bills (spec/metering.md)."""

from .bill import MeteringBill, Rate, SettlementBinding, build_bill
from .commitments import (
    CommitmentLabel,
    check_opening,
    commit,
    new_salt,
    opening_key,
    salt_commitment,
)
from .derive import ServiceUnit, SettlementClass, coverage_class, coverage_ratio
from .evidence import EvidenceSummary, EvidenceTally, evidence_leaf, evidence_receipt
from .intake import EvidenceClass, EvidenceCounts
from .issued_bill import IssuedBill

__all__ = [
    "CommitmentLabel",
    "EvidenceClass",
    "EvidenceCounts",
    "EvidenceSummary",
    "EvidenceTally",
    "IssuedBill",
    "MeteringBill",
    "Rate",
    "ServiceUnit",
    "SettlementBinding",
    "SettlementClass",
    "build_bill",
    "check_opening",
    "commit",
    "coverage_class",
    "coverage_ratio",
    "evidence_leaf",
    "evidence_receipt",
    "new_salt",
    "opening_key",
    "salt_commitment",
]
