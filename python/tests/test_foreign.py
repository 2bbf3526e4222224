"""Foreign receipts: the vectors, and what the core says of them in every word."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support import NOW, ROOT, STORES, Case, code_of, core, instant, vectors, with_node

from tallystick import ForeignVerification, Trust, verify_foreign

MODULE = (ROOT / "packages/core/src/foreign/index.ts").as_uri()
FILES = ["acta", "x402", "dsse", "tlog-proof", "others"]
CASES = [case for name in FILES for case in vectors(f"foreign-{name}.json")]


def verdict_on(case: Case) -> ForeignVerification | None:
    log = case.get("log")
    authorities: list[Any] = [] if log is None else [{"log": log, "chain": None}]
    return verify_foreign(
        case["file"],
        keys=case["keys"],
        trust=Trust(STORES[case["trust"]], authorities),
        entry=bytes.fromhex(case["entry"]) if "entry" in case else None,
        now=instant(case["now"]),
    )


@pytest.mark.parametrize("case", CASES)
def test_vectors(case: Case) -> None:
    verdict = verdict_on(case)
    found = verdict and {
        "family": verdict.family,
        "valid": verdict.valid,
        "integrity": verdict.integrity,
        "trusted": verdict.issuer.trusted,
        "count": verdict.count,
        "signers": list(verdict.signers),
        "failed_checks": [one.name for one in verdict.checks if one.ok is False],
    }
    assert found == case["expected"]


ACTA = ROOT / "spec" / "acta"
GATEWAY = sorted((ACTA / "aps-gateway-enforcement").rglob("*/*.json"))
HEADERS = sorted((ACTA / "a2a-trust-header").glob("[a-z]*.json"))


def fixtures() -> list[Case]:
    """Acta's own files: receipts of a gateway under its key, and headers with what they are."""
    jwks = (ACTA / "aps-gateway-enforcement" / "jwks.json").read_text()
    headers = [json.loads(path.read_text()) for path in HEADERS]
    return [
        *({"file": path.read_text(), "keys": [jwks], "output": "valid"} for path in GATEWAY),
        *(
            {
                "file": json.dumps(one["header_value"]),
                "keys": [],
                "output": one["expected_verifier_output"],
            }
            for one in headers
        ),
    ]


def judged(file: str, keys: list[str]) -> Any:
    verdict = verify_foreign(file, keys=keys, now=instant("2026-11-01T00:00:00Z"))
    return verdict and verdict.to_json()


def test_actas_own_fixtures_are_as_they_say() -> None:
    assert (len(GATEWAY), len(HEADERS)) == (4, 6)
    for one in fixtures():
        verdict = judged(one["file"], one["keys"])
        output = one["output"]
        expected = (output == "valid", output != "invalid")
        assert (verdict["valid"], verdict["integrity"]) == expected, one["file"]


@with_node
def test_actas_fixtures_altered_or_not_are_judged_as_by_the_core() -> None:
    given = [(one["file"], one["keys"]) for one in fixtures()]
    given += [(alter(file, at), keys) for file, keys in given for at in range(3, len(file), 97)]
    theirs = core(
        """
        const { verifyForeign } = await import(value.module);
        const now = Date.parse('2026-11-01T00:00:00Z');
        return Promise.all(value.given.map(([one, keys]) => verifyForeign(one, { now, keys })));
        """,
        {"given": given, "module": MODULE},
    )
    for (file, keys), other in zip(given, theirs, strict=True):
        assert judged(file, keys) == other, file


def alter(file: str, at: int) -> str:
    return file[:at] + ("x" if file[at] != "x" else "y") + file[at + 1 :]


@with_node
def test_the_core_gives_the_same_verdict_in_every_word() -> None:
    cases = [one.values[0] for one in CASES]
    theirs = core(
        """
        const { verifyForeign } = await import(value.module);
        return Promise.all(value.cases.map((one) => verifyForeign(one.file, {
          now: Date.parse(one.now),
          keys: one.keys,
          entry: one.entry === undefined ? undefined : core.fromHex(one.entry),
          trust: core.trustOf(
            value.stores[one.trust], one.log === undefined ? [] : [{ log: one.log, chain: null }],
          ),
        })));
        """,
        {"cases": cases, "stores": STORES, "module": MODULE},
    )
    ours = [verdict and verdict.to_json() for verdict in map(verdict_on, cases)]
    for case, one, other in zip(cases, ours, theirs, strict=True):
        assert one == other, case["name"]


@given(st.one_of(st.binary(max_size=100), st.text(max_size=100)))
def test_no_file_is_an_error(file: bytes | str) -> None:
    verdict = verify_foreign(file, now=NOW)
    assert verdict is None or not verdict.valid


@given(st.data())
def test_no_changed_receipt_is_an_error(data: st.DataObject) -> None:
    case = data.draw(st.sampled_from(CASES)).values[0]
    text = case["file"]
    at = data.draw(st.integers(0, len(text)))
    changed = text[:at] + data.draw(st.text(max_size=3)) + text[at + 1 :]
    verdict = verdict_on({**case, "file": changed})
    assert verdict is None or json.dumps(verdict.to_json())


def test_a_text_that_is_no_key_is_refused() -> None:
    assert code_of(lambda: verify_foreign("", keys=["key"])) == "invalid_public_key"
