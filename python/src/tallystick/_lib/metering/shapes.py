"""The members of a metering receipt and of a bill (spec/metering.md); nothing else is allowed."""

from __future__ import annotations

from ..shape import (
    Rule,
    constant,
    hex64,
    integer,
    key_id,
    members,
    number,
    one_of,
    pattern,
    signature,
    timestamp,
)
from .derive import BOUNDARY, COVERAGE_CLASSES, SERVICE_UNITS, SETTLEMENT_CLASSES, VERDICTS

METERING_TYPE = "sls.metering"
METERING_SCHEMA = "r1.0.0"

DERIVED = (
    "receipt_type",
    "schema",
    "metering_id",
    "evidence_coverage_ratio",
    "coverage_class",
    "amount_minor",
    "evidence_backed_amount_minor",
    "verdict",
    "boundary",
)
DERIVED_METERED = ("evidence_backed_unit_count", "unbacked_unit_count", "receipt_set_digest")
"""Members that are derived from the rest of a bill. If a biller states them, they must agree."""

_units = integer(0, 10_000_000)
_settlement_binding = members(
    {"settlement_class": one_of(*SETTLEMENT_CLASSES), "settlement_commitment": hex64}, closed=True
)

# What the biller says.
_said: dict[str, Rule] = {
    "machine_commitment": hex64,
    "customer_commitment": hex64,
    "window_start": timestamp,
    "window_end": timestamp,
    "service_unit": one_of(*SERVICE_UNITS),
    "rate": members(
        {
            "unit_rate_minor": integer(0, 100_000_000),
            "currency": pattern("[A-Z]{3}", "three upper-case letters"),
            "rate_commitment": hex64,
        },
        closed=True,
    ),
    "salt_commitment": hex64,
}

receipt_shape = members(
    {
        "receipt_id": pattern(
            "r_sls[.]metering_[0-9]{10,}_[0-9a-f]{12}", "r_sls.metering_<seconds>_<12 hex>"
        ),
        "payload_sha256": hex64,
        "sig_b64u": signature,
        "key_id": key_id,
        "algorithm": constant("Ed25519"),
        "ts": integer(1_000_000_000),
        "signed_body": members(
            {
                "receipt_type": constant(METERING_TYPE),
                "schema": constant(METERING_SCHEMA),
                "metering_id": pattern("sm_[0-9a-f]{16,64}", "sm_ and 16 to 64 hex"),
                **_said,
                "compiled_at": timestamp,
                "metered": members(
                    {
                        "billed_unit_count": _units,
                        "evidence_backed_unit_count": _units,
                        "unbacked_unit_count": _units,
                        "receipt_set_digest": hex64,
                    },
                    closed=True,
                ),
                "evidence_coverage_ratio": number(0, 1),
                "coverage_class": one_of(*COVERAGE_CLASSES),
                "amount_minor": integer(0),
                "evidence_backed_amount_minor": integer(0),
                "verdict": one_of(*VERDICTS),
                "boundary": constant(BOUNDARY),
            },
            optional={"settlement_binding": _settlement_binding},
            closed=True,
        ),
    },
    closed=True,
)


def _anything(_: object, __: str) -> None:
    return None


# Derived members may be there too: minting compares them.
bill_shape = members(
    {**_said, "billed_unit_count": _units},
    optional={
        "compiled_at": timestamp,
        "settlement_binding": _settlement_binding,
        **dict.fromkeys((*DERIVED, *DERIVED_METERED), _anything),
        "metered": members(
            {},
            optional=dict.fromkeys(("billed_unit_count", *DERIVED_METERED), _anything),
            closed=True,
        ),
    },
    closed=True,
)
