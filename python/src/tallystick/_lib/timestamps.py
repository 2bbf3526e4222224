"""UTC timestamps ``YYYY-MM-DDThh:mm:ss[.f]Z`` (spec/signatures.md, Encodings)."""

from __future__ import annotations

import re
from datetime import datetime, timedelta, timezone
from typing import NamedTuple

_TIMESTAMP = re.compile(
    r"([0-9]{4})-([0-9]{2})-([0-9]{2})T([0-9]{2}):([0-9]{2}):([0-9]{2})(?:\.([0-9]{1,9}))?Z"
)
_EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)
_DAYS_IN_MONTH = (31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)


class Instant(NamedTuple):
    """A point in time: whole Unix seconds, and the nanoseconds past them. Compares in order."""

    seconds: int
    nanos: int


def parse_timestamp(text: str) -> Instant | None:
    """The instant of a timestamp; ``None`` for another form or a date that the calendar lacks.

    Years 0000 to 9999; no leap seconds.
    """
    match = _TIMESTAMP.fullmatch(text)
    if match is None:
        return None
    year, month, day, hour, minute, second = map(int, match.groups()[:6])
    if not 1 <= month <= 12 or not 1 <= day <= _days_in_month(year, month):
        return None
    if hour > 23 or minute > 59 or second > 59:
        return None
    seconds = _days_from_epoch(year, month, day) * 86_400 + hour * 3_600 + minute * 60 + second
    return Instant(seconds, int((match[7] or "").ljust(9, "0")))


def instant_of(timestamp: str) -> Instant:
    """The instant of a timestamp whose form was checked before."""
    instant = parse_timestamp(timestamp)
    if instant is None:
        raise ValueError("The timestamp was not checked before it was read.")
    return instant


def seconds_of(timestamp: str) -> int:
    """The whole Unix seconds of a timestamp whose form was checked before."""
    return instant_of(timestamp).seconds


def format_timestamp(unix_ms: int) -> str:
    """Unix milliseconds as ``YYYY-MM-DDThh:mm:ss.mmmZ``; without the fraction when it is zero."""
    seconds, ms = divmod(unix_ms, 1_000)
    days, rest = divmod(seconds, 86_400)
    year, month, day = _civil_from_days(days)
    time = f"{rest // 3_600:02}:{rest // 60 % 60:02}:{rest % 60:02}"
    fraction = "" if ms == 0 else f".{ms:03}"
    return f"{year:04}-{month:02}-{day:02}T{time}{fraction}Z"


def unix_ms(moment: datetime) -> int:
    """The whole Unix milliseconds of an aware datetime. Raises ``ValueError`` for a naive one."""
    if moment.tzinfo is None or moment.utcoffset() is None:
        raise ValueError("Give a datetime with a time zone, such as datetime.now(timezone.utc).")
    return (moment - _EPOCH) // timedelta(milliseconds=1)


def _days_in_month(year: int, month: int) -> int:
    leap = year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)
    return 29 if month == 2 and leap else _DAYS_IN_MONTH[month - 1]


# Days are counted in 400-year eras of years that start in March, so that the leap day comes last.
# ``datetime`` has neither the year 0 nor years past 9999, which a receipt may name.
def _days_from_epoch(year: int, month: int, day: int) -> int:
    era, year_of_era = divmod(year if month > 2 else year - 1, 400)
    day_of_year = (153 * ((month + 9) % 12) + 2) // 5 + day - 1
    day_of_era = year_of_era * 365 + year_of_era // 4 - year_of_era // 100 + day_of_year
    return era * 146_097 + day_of_era - 719_468


def _civil_from_days(days: int) -> tuple[int, int, int]:
    era, day_of_era = divmod(days + 719_468, 146_097)
    year_of_era = (
        day_of_era - day_of_era // 1_460 + day_of_era // 36_524 - day_of_era // 146_096
    ) // 365
    day_of_year = day_of_era - (365 * year_of_era + year_of_era // 4 - year_of_era // 100)
    shifted = (5 * day_of_year + 2) // 153
    month = shifted + 3 if shifted < 10 else shifted - 9
    year = year_of_era + era * 400 + (month <= 2)
    return year, month, day_of_year - (153 * shifted + 2) // 5 + 1
