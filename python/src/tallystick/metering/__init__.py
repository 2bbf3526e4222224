"""Metering receipts ``sls.metering``: evidence, commitments, minting (spec/metering.md)."""

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
from .evidence import EvidenceSummary, EvidenceTally, evidence_leaf
from .mint import mint_metering

__all__ = [
    "CommitmentLabel",
    "EvidenceSummary",
    "EvidenceTally",
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
    "mint_metering",
    "new_salt",
    "opening_key",
    "salt_commitment",
]
