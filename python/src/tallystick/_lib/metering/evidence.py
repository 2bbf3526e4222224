"""The evidence leaves behind a bill (spec/metering.md)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from ..canonical import canonical_bytes, copy_json
from ..errors import TallyError
from ..json_types import JsonObject, JsonValue
from ..merkle import CompactRange, leaf_hash
from ..receipts.family import integer_at, text_at
from ..shape import hex64, integer, is_object, members


def evidence_leaf(unit: int, receipt_sha256: str) -> JsonObject:
    """Makes the leaf of one backed unit from the anchored hash of its receipt (hex)."""
    return {"unit": unit, "receipt_sha256": receipt_sha256}


def evidence_receipt(
    unit: int, receipt: Mapping[str, object], anchor: Mapping[str, object] | None = None
) -> JsonObject:
    """Makes evidence of a whole receipt, and optionally its anchored result.

    Whoever gets it can verify it, and derives the leaf from it.
    """
    item: JsonObject = {"unit": unit, "receipt": copy_json(receipt)}
    return item if anchor is None else {**item, "anchor": copy_json(anchor)}


class EvidenceSummary(NamedTuple):
    backed: int
    """Units that carry evidence."""
    digest: str
    """RFC 6962 root over the leaves in the order supplied, hex."""


class EvidenceTally:
    """Takes the leaves of one bill, in order, and summarises them.

    It keeps the unit and the receipt's 32-byte hash of each leaf, to recognise duplicates.
    """

    def __init__(self, billed: int) -> None:
        """``billed`` is billed_unit_count: units are 1 to that."""
        self._billed = billed
        self._shape = members({"unit": integer(1, billed), "receipt_sha256": hex64}, closed=True)
        self._tree = CompactRange()
        self._units: set[int] = set()
        self._receipts: set[bytes] = set()

    def add(self, leaf: JsonValue) -> None:
        """Takes one leaf ``{"unit": n, "receipt_sha256": "<64 hex>"}``; its bytes are its JCS.

        Raises ``invalid_field`` for a malformed one, ``metering_unit_range`` for a unit beyond the
        bill or more leaves than units, ``metering_unit_twice`` and ``metering_receipt_twice`` for
        a duplicate.
        """
        path = f"evidence[{len(self._units)}]"
        if len(self._units) >= self._billed:
            message = f"{path} is one leaf too many: {self._billed} units were billed."
            raise TallyError("metering_unit_range", message, field=path)
        fault = self._shape(leaf, path)
        if fault is not None:
            unit = leaf.get("unit") if is_object(leaf) and fault.field.endswith(".unit") else None
            code = "metering_unit_range" if type(unit) is int else "invalid_field"
            raise TallyError(code, str(fault), field=fault.field)
        assert is_object(leaf)
        unit, receipt = integer_at(leaf, "unit"), text_at(leaf, "receipt_sha256")
        if unit in self._units:
            message = f"{path}.unit is {unit}, which already has evidence."
            raise TallyError("metering_unit_twice", message, field=f"{path}.unit")
        if bytes.fromhex(receipt) in self._receipts:
            field = f"{path}.receipt_sha256"
            message = f"{field} is {receipt}, which already backs another unit."
            raise TallyError("metering_receipt_twice", message, field=field)
        self._units.add(unit)
        self._receipts.add(bytes.fromhex(receipt))
        self._tree.append(leaf_hash(canonical_bytes(leaf)))

    def summary(self) -> EvidenceSummary:
        return EvidenceSummary(len(self._units), self._tree.root().hex())
