"""What follows from the signed facts of a metering receipt (spec/metering.md)."""

from __future__ import annotations

from typing import Literal, TypeAlias

from .._json.rules import as_number
from ..canonical import canonical_bytes
from ..hashes import sha256_hex
from ..json_types import JsonObject

ServiceUnit: TypeAlias = Literal[
    "machine_hour",
    "task_completion",
    "pick",
    "kilometre_travelled",
    "pallet_moved",
    "inspection_pass",
]
SERVICE_UNITS = (
    "machine_hour",
    "task_completion",
    "pick",
    "kilometre_travelled",
    "pallet_moved",
    "inspection_pass",
)
SettlementClass: TypeAlias = Literal["x402_offer", "invoice_reference", "none"]
SETTLEMENT_CLASSES = ("x402_offer", "invoice_reference", "none")
COVERAGE_CLASSES = (
    "fully_evidence_backed",
    "majority_evidence_backed",
    "minority_evidence_backed",
    "not_evidence_backed",
)
VERDICTS = (
    "metered_units_fully_evidence_backed",
    "metered_units_partially_evidence_backed",
    "metered_units_not_evidence_backed",
)

BOUNDARY = (
    "This receipt records the machine service units metered for a stated window, the per-unit "
    "evidence behind them, and the fraction of the billed units that carries evidence. It does "
    "not prove the quality of the work or that the customer accepted it, and it does not settle "
    "payment."
)
"""The statement that every metering receipt carries."""

_IDENTITY = (
    "machine_commitment",
    "customer_commitment",
    "service_unit",
    "window_start",
    "window_end",
)


def coverage_ratio(backed: int, billed: int) -> float:
    """Divides backed by billed, rounded half up to six places; 0 if nothing was billed."""
    if billed == 0:
        return 0
    return as_number((2_000_000 * backed + billed) // (2 * billed) / 1_000_000)


def coverage_class(backed: int, billed: int) -> str:
    """Returns the class by the exact quotient, so that rounding never raises it."""
    if backed == 0:
        return "not_evidence_backed"
    if backed == billed:
        return "fully_evidence_backed"
    return "majority_evidence_backed" if 2 * backed >= billed else "minority_evidence_backed"


def verdict_of(coverage: str) -> str:
    if coverage == "fully_evidence_backed":
        return "metered_units_fully_evidence_backed"
    if coverage == "not_evidence_backed":
        return "metered_units_not_evidence_backed"
    return "metered_units_partially_evidence_backed"


def metering_id(body: JsonObject, receipt_set_digest: str) -> str:
    """``sm_`` and the first 32 hex of SHA-256 over the JCS of the bill's identity.

    ``body`` has the commitments, the unit and the window; other members do not count.
    """
    identity: JsonObject = {name: body[name] for name in _IDENTITY}
    identity["receipt_set_digest"] = receipt_set_digest
    return f"sm_{sha256_hex(canonical_bytes(identity))[:32]}"


def metering_receipt_id(ts: int, payload_sha256: str) -> str:
    """``r_sls.metering_<ts>_<first 12 hex of payload_sha256>``."""
    return f"r_sls.metering_{ts}_{payload_sha256[:12]}"
