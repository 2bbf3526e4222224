"""A bill as the biller states it, before anything is derived from it."""

from __future__ import annotations

from datetime import datetime
from typing import TypedDict

from ..canonical import copy_json
from ..errors import TallyError
from ..json_types import JsonObject
from ..receipts.family import text_at
from ..shape import is_object
from ..timestamps import Instant, format_timestamp, instant_of, unix_ms
from .commitments import commit, salt_commitment
from .currencies import is_currency
from .derive import ServiceUnit, SettlementClass
from .shapes import bill_shape

_MAX_AHEAD_MS = 300_000
"""Most milliseconds that ``compiled_at`` may be ahead of the clock; a verifier allows as many."""

_MIN_TS = 1_000_000_000


class Rate(TypedDict):
    unit_rate_minor: int
    """Minor units of the currency, 0 to 100,000,000."""
    currency: str
    rate_commitment: str


class SettlementBinding(TypedDict):
    settlement_class: SettlementClass
    settlement_commitment: str


class _BillRequired(TypedDict):
    machine_commitment: str
    customer_commitment: str
    salt_commitment: str
    window_start: str
    window_end: str
    service_unit: ServiceUnit
    billed_unit_count: int
    """0 to 10,000,000."""
    rate: Rate


class MeteringBill(_BillRequired, total=False):
    """Commitments are 64 hex; ``build_bill`` makes them."""

    compiled_at: str
    """When the bill was compiled; now when absent."""
    settlement_binding: SettlementBinding


def build_bill(
    *,
    salt: bytes,
    machine_serial: str,
    customer_account: str,
    rate_reference: str,
    window_start: datetime,
    window_end: datetime,
    service_unit: ServiceUnit,
    billed_unit_count: int,
    unit_rate_minor: int,
    currency: str,
    settlement: tuple[SettlementClass, str] | None = None,
) -> MeteringBill:
    """Makes a bill, and computes its commitments: serial number and salt stay on the machine.

    ``salt`` is ``new_salt()``, kept by the biller; ``rate_reference`` names the agreed rate;
    ``settlement`` is a class and its reference, empty for ``none``. Raises ``invalid_field``.
    """
    bill: MeteringBill = {
        "machine_commitment": commit(salt, "machine", machine_serial),
        "customer_commitment": commit(salt, "customer", customer_account),
        "salt_commitment": salt_commitment(salt),
        "window_start": format_timestamp(unix_ms(window_start)),
        "window_end": format_timestamp(unix_ms(window_end)),
        "service_unit": service_unit,
        "billed_unit_count": billed_unit_count,
        "rate": {
            "unit_rate_minor": unit_rate_minor,
            "currency": currency,
            "rate_commitment": commit(salt, "rate", rate_reference),
        },
    }
    if settlement is not None:
        settlement_class, reference = settlement
        bill["settlement_binding"] = {
            "settlement_class": settlement_class,
            "settlement_commitment": commit(salt, "settlement", reference),
        }
    return bill


def check_bill(bill: MeteringBill | JsonObject, now_ms: int) -> JsonObject:
    """Checks form, window and ``compiled_at`` of a bill, and returns a copy with ``compiled_at``.

    If the bill does not say it, it is now; or the end of the window, if a clock that is a little
    behind has not reached it yet. ``now_ms`` is Unix milliseconds. Raises ``invalid_field``,
    ``metering_window``, ``metering_compiled_early``, ``metering_compiled_late``, ``json_*``.
    """
    copy = copy_json(bill)
    fault = bill_shape(copy, "")
    if fault is not None:
        raise TallyError("invalid_field", str(fault), field=fault.field)
    assert is_object(copy)
    _require_currency(copy)
    window_end = text_at(copy, "window_end")
    end = instant_of(window_end)
    if end <= instant_of(text_at(copy, "window_start")):
        message = "window_end must be later than window_start."
        raise TallyError("metering_window", message, field="window_end")
    latest = _instant(now_ms + _MAX_AHEAD_MS)
    if "compiled_at" not in copy:
        a_little_behind = _instant(now_ms) < end <= latest
        copy["compiled_at"] = window_end if a_little_behind else format_timestamp(now_ms)
    _require_time(instant_of(text_at(copy, "compiled_at")), end, latest)
    return copy


def _require_currency(bill: JsonObject) -> None:
    rate = bill["rate"]
    assert is_object(rate)
    if not is_currency(text_at(rate, "currency")):
        message = "rate.currency must be a currency code of ISO 4217, in use or withdrawn."
        raise TallyError("invalid_field", message, field="rate.currency")


def _require_time(compiled: Instant, end: Instant, latest: Instant) -> None:
    field = "compiled_at"
    if compiled < end:
        message = "A bill is compiled after its window has closed, not before window_end."
        raise TallyError("metering_compiled_early", message, field=field)
    if compiled > latest:
        message = f"compiled_at may be at most {_MAX_AHEAD_MS // 1_000} seconds ahead of the clock."
        raise TallyError("metering_compiled_late", message, field=field)
    if compiled.seconds < _MIN_TS:
        message = f"compiled_at must not be before {format_timestamp(_MIN_TS * 1_000)}."
        raise TallyError("invalid_field", message, field=field)


def _instant(ms: int) -> Instant:
    return Instant(ms // 1_000, ms % 1_000 * 1_000_000)
