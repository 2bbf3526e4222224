"""Encodings, DIDs, timestamps: one text for one value."""

from __future__ import annotations

import json
from datetime import datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support import SHARED, code_of, with_shared

from tallystick import create_signer, did_svc, is_did, public_key_of_did_key
from tallystick._lib.encoding import (
    from_base58,
    from_base64url,
    from_hex,
    to_base58,
    to_base64url,
    to_hex,
)
from tallystick._lib.timestamps import format_timestamp, parse_timestamp, unix_ms


@given(st.binary(max_size=80))
def test_encodings_read_back(data: bytes) -> None:
    assert from_hex(to_hex(data), len(data)) == data
    assert from_base64url(to_base64url(data), len(data)) == data
    assert from_base58(to_base58(data)) == data


@given(st.text("AQgwBZ_-", max_size=6))
def test_no_two_base64url_texts_are_the_same_bytes(text: str) -> None:
    try:
        data = from_base64url(text)
    except Exception:
        return
    assert to_base64url(data) == text


@with_shared
def test_did_key_corpus() -> None:
    cases = json.loads((SHARED / "did-key" / "ed25519-x25519.json").read_text())
    for did, case in cases.items():
        signer = create_signer(bytes.fromhex(case["seed"]))
        assert signer.key_id == did
        assert public_key_of_did_key(did) == signer.public_key


@pytest.mark.parametrize(
    ("text", "good"),
    [
        ("did:web:example.com%3A8080", True),
        ("did:key:z6Mk", True),
        ("did:web:", False),
        ("did:web:a:", False),
        ("did:web:a\n", False),
        ("did:web:%zz", False),
        ("did:web:é", False),
        ("did:web:" + "a" * 2041, False),
    ],
)
def test_dids(text: str, good: bool) -> None:
    assert is_did(text) is good


def test_handles_are_labels() -> None:
    assert did_svc("acme-1") == "did:svc:acme-1"
    for handle in ("", "-a", "a-", "A", "a" * 64, "a\n"):
        assert code_of(lambda handle=handle: did_svc(handle)) == "invalid_did"  # type: ignore[misc]


@given(st.datetimes(timezones=st.just(timezone.utc)))
def test_timestamps_agree_with_the_standard_library(moment: datetime) -> None:
    text = format_timestamp(unix_ms(moment))
    whole = moment - timedelta(microseconds=moment.microsecond % 1_000)
    assert datetime.fromisoformat(text.replace("Z", "+00:00")) == whole
    instant = parse_timestamp(text)
    assert instant is not None
    assert instant.seconds * 1_000 + instant.nanos // 1_000_000 == unix_ms(moment)


@pytest.mark.parametrize(
    "text",
    [
        "2026-02-29T00:00:00Z",
        "2026-13-01T00:00:00Z",
        "2026-01-01T24:00:00Z",
        "2026-01-01T00:00:60Z",
        "2026-01-01T00:00:00.Z",
        "2026-01-01T00:00:00.1234567890Z",
        "2026-01-01T00:00:00+00:00",
        "2026-01-01T00:00:00Z\n",
        "\uff12026-01-01T00:00:00Z",
    ],
)
def test_other_times_are_refused(text: str) -> None:
    assert parse_timestamp(text) is None


def test_years_that_datetime_lacks() -> None:
    instant = parse_timestamp("0000-02-29T00:00:00.000000001Z")
    assert instant == (-62_162_121_600, 1)
    assert format_timestamp(-62_162_121_600_000) == "0000-02-29T00:00:00Z"
    assert format_timestamp(253_402_300_800_000) == "10000-01-01T00:00:00Z"


def test_a_naive_time_is_refused() -> None:
    with pytest.raises(ValueError, match="time zone"):
        unix_ms(datetime(2026, 1, 1))
