"""Finding the family of a document."""

from __future__ import annotations

from ..canonical import copy_json, parse_json
from ..errors import TallyError
from ..json_types import JsonObject, JsonValue
from ..metering.family import METERING
from ..shape import is_object
from .benchmark import BENCHMARK
from .envelope import ENVELOPE
from .family import Family
from .issue import ISSUE
from .profiles import FULL, LEGACY, NANO
from .status import STATUS

_FAMILIES = (ENVELOPE, NANO, FULL, METERING, ISSUE, LEGACY, BENCHMARK, STATUS)


def family_of(document: JsonObject) -> Family | None:
    """Finds the family that a document says it belongs to: the first that fits."""
    return next((family for family in _FAMILIES if family.recognises(document)), None)


def read_json(document: object) -> JsonValue:
    """Parses JSON text (``str``, or UTF-8 ``bytes``), or copies a value in memory.

    Raises ``json_*``.
    """
    if isinstance(document, str):
        return parse_json(_utf8(document))
    return parse_json(document) if isinstance(document, bytes) else copy_json(document)


def _utf8(text: str) -> bytes:
    try:
        return text.encode()
    except UnicodeEncodeError as cause:
        message = "The text holds half of a surrogate pair, which has no UTF-8."
        raise TallyError("json_lone_surrogate", message) from cause


def read_receipt(document: object) -> tuple[Family, JsonObject]:
    """Reads a receipt of a known family, and checks its shape.

    Raises ``not_a_receipt``, ``json_*``.
    """
    receipt = read_json(document)
    family = family_of(receipt) if is_object(receipt) else None
    if not is_object(receipt) or family is None:
        raise TallyError("not_a_receipt", "This is not a receipt of a known family.")
    fault = family.shape(receipt)
    if fault is not None:
        raise TallyError("not_a_receipt", str(fault), field=fault.field)
    return family, receipt
