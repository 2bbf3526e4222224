"""The gate and the canonical form, beyond the vectors of spec/."""

from __future__ import annotations

import json
import math
import struct
from collections import OrderedDict

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support import SHARED, code_of, with_shared

from tallystick import JsonValue, TallyError, canonical_bytes, canonicalize, copy_json, parse_json
from tallystick._lib.canonical import format_number

texts = st.text(st.characters(exclude_categories=("Cs", "Cn")))
safe_integers = st.integers(-(2**53) + 1, 2**53 - 1)
doubles = st.floats(allow_nan=False, allow_infinity=False)
i_json_doubles = doubles.filter(lambda x: abs(x) < 2**53 or abs(x) >= 1e21)
values: st.SearchStrategy[JsonValue] = st.recursive(
    st.none() | st.booleans() | safe_integers | i_json_doubles | texts,
    lambda inner: st.lists(inner, max_size=5) | st.dictionaries(texts, inner, max_size=5),
    max_leaves=20,
)


@with_shared
@pytest.mark.parametrize("name", ["arrays", "french", "structures", "unicode", "values", "weird"])
def test_jcs_corpus(name: str) -> None:
    given, expected = (SHARED / "jcs" / kind / f"{name}.json" for kind in ("input", "output"))
    assert canonical_bytes(parse_json(given.read_bytes())) == expected.read_bytes()


@with_shared
def test_number_corpus() -> None:
    lines = (SHARED / "jcs" / "numbers-10000.txt").read_text().splitlines()
    wrong = []
    for line in lines:
        bits, expected = line.split(",")
        (value,) = struct.unpack(">d", bytes.fromhex(bits.zfill(16)))
        if canonicalize(value) != expected:
            wrong.append(line)
    assert (len(lines), wrong) == (10_000, [])


@pytest.mark.parametrize(
    ("value", "text"),
    [(1.0, "1"), (-0.0, "0"), (1e21, "1e+21"), (1e20, "100000000000000000000"), (5e-324, "5e-324")],
)
def test_floats_are_written_as_ecmascript_does(value: float, text: str) -> None:
    assert canonicalize(value) == text


@given(doubles)
def test_number_text_reads_back_as_the_same_double(value: float) -> None:
    assert float(format_number(value)) == value


@given(values)
def test_canonical_text_parses_to_the_same_value(value: JsonValue) -> None:
    text = canonicalize(value)
    assert canonicalize(parse_json(text.encode())) == text
    assert parse_json(text.encode()) == copy_json(value) == json.loads(text)


@given(values)
def test_order_and_white_space_do_not_count(value: JsonValue) -> None:
    pretty = json.dumps(value, indent=1, sort_keys=True).encode()
    assert canonicalize(parse_json(pretty)) == canonicalize(value)


@given(st.binary(max_size=40) | st.text('[]{},:"\\u0123456789eE+-. tfn').map(str.encode))
def test_bytes_are_read_as_the_standard_library_does_or_refused(data: bytes) -> None:
    try:
        value = parse_json(data)
    except TallyError:
        pass
    else:
        assert value == json.loads(data)


@pytest.mark.parametrize("text", ["1", "1.0", "10e-1", "1E0"])
def test_one_number_is_one_value(text: str) -> None:
    assert type(parse_json(text.encode())) is int


def test_a_long_integer_is_refused_and_not_converted() -> None:
    assert code_of(lambda: parse_json(b"9" * 10_000)) == "json_integer_range"


def test_the_path_leads_to_the_fault() -> None:
    with pytest.raises(TallyError) as caught:
        parse_json(b'{"a": [{"b c": {"x": 1, "x": 2}}]}')
    assert caught.value.field == 'a[0]["b c"].x'


class Text(str):
    pass


@pytest.mark.parametrize(
    ("value", "code"),
    [
        ((1,), "json_not_plain"),
        ({1: 2}, "json_not_plain"),
        ({"a": object()}, "json_not_plain"),
        (Text("a"), "json_not_plain"),
        (OrderedDict(a=1), "json_not_plain"),
        (b"a", "json_not_plain"),
        ("\ud800", "json_lone_surrogate"),
        ({"\udfff": 1}, "json_lone_surrogate"),
        ("\ufdd0", "json_noncharacter"),
        (2**53, "json_integer_range"),
        (2.0**53, "json_integer_range"),
        (math.inf, "json_number_range"),
        (math.nan, "json_number_range"),
    ],
)
def test_values_in_memory_are_held_to_the_same_rules(value: object, code: str) -> None:
    assert code_of(lambda: copy_json(value)) == code


def test_a_cycle_ends_in_an_error() -> None:
    cycle: list[JsonValue] = []
    cycle.append(cycle)
    assert code_of(lambda: copy_json(cycle)) == "json_depth"
    assert code_of(lambda: canonicalize(cycle)) == "json_depth"
    assert code_of(lambda: canonicalize(2**53)) == "json_integer_range"
    assert code_of(lambda: canonicalize(math.nan)) == "json_not_plain"
