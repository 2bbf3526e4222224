"""Receipts signed here: issue, metering, counter-signatures; and what the core says of them."""

from __future__ import annotations

import json
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support import NOW, VECTORS, code_of, core, tally, with_node

from tallystick import (
    AnchorError,
    EvidenceClass,
    EvidenceCounts,
    JsonObject,
    JsonValue,
    MeteringBill,
    anchored_hash,
    build_bill,
    canonicalize,
    commit,
    countersign,
    create_signer,
    evidence_leaf,
    evidence_receipt,
    issue,
    mint_metering,
    new_salt,
    verify,
    verify_corrections,
)
from tallystick._lib.encoding import to_base64url
from tallystick._lib.json_types import Document
from tallystick._lib.metering.intake import EVIDENCE_CLASSES

SEED = bytes(range(32))
SIGNER = create_signer(SEED)
SALT = bytes(32)


def failures(document: Document, **options: Any) -> list[str]:
    verdict = verify(document, now=options.pop("now", datetime.now(timezone.utc)), **options)
    return [check.name for check in verdict.checks if check.ok is False]


def bill(*, billed: int = 7, **changes: Any) -> Any:
    made: dict[str, Any] = {
        **build_bill(
            salt=SALT,
            machine_serial="SN-000117",
            customer_account="C-42",
            rate_reference="contract 7",
            window_start=NOW - timedelta(days=14),
            window_end=NOW - timedelta(hours=1),
            service_unit="pallet_moved",
            billed_unit_count=billed,
            unit_rate_minor=250,
            currency="EUR",
            settlement=("none", ""),
        ),
        **changes,
    }
    return made


def leaves(*units: int) -> list[JsonValue]:
    return [evidence_leaf(unit, f"{unit:064x}") for unit in units]


def test_issue_signs_without_a_network() -> None:
    issued = issue("ACME", 25, 1250.5, "did:web:b", SEED, issuer_did="did:svc:acme")
    assert issued.anchor is None
    assert failures(issued.text) == failures(issued.receipt) == []
    assert issued.text == canonicalize(issued.receipt)
    assert failures({**issued.receipt, "units": 26}) == ["signature"]
    assert failures({**issued.receipt, "tier": "pro", "anchor_ref": "urn:anchor:x"}) == []


def test_an_anchor_that_is_pending_says_until_when_and_how_to_get_it_afterwards() -> None:
    issued = issue("ACME", 25, 1250.5, "did:web:b", SEED, issuer_did="did:svc:acme")
    ref = "urn:anchor:pending:2026-06-01T13:00Z:1"
    due = datetime(2026, 6, 1, 13, tzinfo=timezone.utc)

    def detail(now: datetime) -> str:
        checks = verify({**issued.receipt, "anchor_ref": ref}, now=now).checks
        return next(check.detail for check in checks if check.name == "anchor")

    pending = "Still pending: its root will be posted at 2026-06-01T13:00Z."
    assert detail(due + timedelta(seconds=59)) == pending
    fetch = f"Its root was due at 2026-06-01T13:00Z. Fetch /v1/anchor/{ref}."
    assert detail(due + timedelta(seconds=60)) == fetch


@pytest.mark.parametrize("key", [SEED, to_base64url(SEED), SIGNER])
def test_issue_takes_a_seed_its_text_or_a_signer(key: Any) -> None:
    receipt = issue("ACME", 1, 1, "did:web:b", key).receipt
    assert receipt["issuer_pubkey"] == to_base64url(SIGNER.public_key)


@pytest.mark.parametrize(
    "change",
    [
        {"symbol": ""},
        {"units": -1},
        {"units": 1.5},
        {"units": True},
        {"amount_usd": -0.01},
        {"amount_usd": float("nan")},
        {"recipient": ""},
        {"recipient": "bob"},
        {"issuer_did": "acme"},
    ],
)
def test_issue_refuses_wrong_parameters(change: dict[str, Any]) -> None:
    good: dict[str, Any] = {"symbol": "A", "units": 1, "amount_usd": 1, "recipient": "did:web:b"}
    assert code_of(lambda: issue(**{**good, "issuer_sk": SEED, **change})) == "invalid_field"


def test_issue_with_an_anchor_that_fails_keeps_the_receipt(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    params: dict[str, Any] = {"symbol": "A", "units": 1, "amount_usd": 1, "recipient": "did:web:b"}
    params |= {"issuer_sk": SEED, "anchor": True}
    monkeypatch.setenv("TALLY_URL", "http://127.0.0.1:9")
    for address in (None, "http://127.0.0.1:1"):
        with pytest.raises(AnchorError) as caught:
            issue(**params, base_url=address)
        assert caught.value.code == "unavailable"
        assert failures(caught.value.issued.text) == []


def test_metering() -> None:
    evidence = leaves(1, 2, 3, 5, 7)
    minted = mint_metering(bill(), evidence, SIGNER, now=NOW)
    assert failures(minted.text, now=NOW, evidence=evidence) == []
    assert failures(minted.text, now=NOW, evidence=evidence[1:]) == ["evidence"]
    body = minted.receipt["signed_body"]
    assert body["evidence_coverage_ratio"] == 0.714286
    assert body["coverage_class"] == "majority_evidence_backed"
    assert (body["amount_minor"], body["evidence_backed_amount_minor"]) == (1750, 1250)
    assert body["machine_commitment"] == commit(SALT, "machine", "SN-000117")


@given(st.integers(0, 30), st.data())
def test_whatever_is_minted_verifies(billed: int, data: st.DataObject) -> None:
    units = data.draw(st.permutations(range(1, billed + 1)))
    evidence = leaves(*units[: data.draw(st.integers(0, billed))])
    minted = mint_metering(bill(billed=billed), iter(evidence), SIGNER, now=NOW)
    assert failures(minted.receipt, now=NOW, evidence=iter(evidence)) == []


@pytest.mark.parametrize(
    ("change", "evidence", "code"),
    [
        ({"window_end": "2025-01-01T00:00:00Z"}, [], "metering_window"),
        ({"compiled_at": "2026-01-15T10:59:59Z"}, [], "metering_compiled_early"),
        ({"compiled_at": "2026-01-15T12:05:00.000000001Z"}, [], "metering_compiled_late"),
        ({"amount_minor": 1}, [], "metering_derived_mismatch"),
        ({"unbacked_unit_count": 6}, [], "metering_derived_mismatch"),
        ({"metered": {"billed_unit_count": True}}, [], "metering_derived_mismatch"),
        ({"machine_serial": "SN"}, [], "invalid_field"),
        ({}, [evidence_leaf(8, "0" * 64)], "metering_unit_range"),
        ({}, leaves(1, 1), "metering_unit_twice"),
        ({}, [evidence_leaf(1, "0" * 64), evidence_leaf(2, "0" * 64)], "metering_receipt_twice"),
        ({}, [{"unit": 1}], "invalid_field"),
        ({}, ["leaf"], "invalid_field"),
    ],
)
def test_metering_refuses(change: dict[str, Any], evidence: list[JsonValue], code: str) -> None:
    assert code_of(lambda: mint_metering(bill(**change), evidence, SIGNER, now=NOW)) == code


def test_metering_verifies_whole_receipts() -> None:
    vectors = json.loads((VECTORS / "standard.json").read_text())
    receipt = next(one["document"] for one in vectors if one["name"] == "minimal")
    forged: JsonObject = {**receipt, "purpose": "another"}

    def mint(policy: EvidenceClass, *evidence: JsonValue) -> EvidenceCounts | None:
        return mint_metering(bill(), evidence, SIGNER, now=NOW, evidence_policy=policy).evidence

    whole = evidence_receipt(1, receipt)
    assert mint("hashed", whole, *leaves(2)) == EvidenceCounts(verified=1, hashed=1)
    assert mint("verified", whole) == EvidenceCounts(verified=1)
    assert code_of(lambda: mint("verified", whole, *leaves(2))) == "metering_evidence_policy"
    assert code_of(lambda: mint("logged", *leaves(2))) == "metering_evidence_policy"
    for policy in EVIDENCE_CLASSES:
        nothing: JsonObject = {"note": 1}
        for broken in (forged, nothing):
            bad = evidence_receipt(1, broken)
            assert code_of(lambda: mint(policy, bad)) == "metering_evidence_invalid"  # noqa: B023


def test_derived_members_that_agree_are_taken() -> None:
    minted = mint_metering(bill(), leaves(1), SIGNER, now=NOW)
    derived: dict[str, Any] = {"amount_minor": 1750, "metered": {"unbacked_unit_count": 6}}
    again = mint_metering(bill(**derived), leaves(1), SIGNER, now=NOW)
    assert again.text == minted.text


def test_a_clock_a_little_behind_compiles_at_the_end_of_the_window() -> None:
    late = bill(window_end="2026-01-15T12:01:00Z")
    body = mint_metering(late, [], SIGNER, now=NOW).receipt["signed_body"]
    assert isinstance(body, dict)
    assert body["compiled_at"] == "2026-01-15T12:01:00Z"


def test_salts() -> None:
    assert len({new_salt(), new_salt()}) == 2
    assert code_of(lambda: commit(b"short", "rate", "")) == "invalid_field"
    assert code_of(lambda: commit(SALT, "rate", "\ud800")) == "invalid_field"


def envelope(origin: str | None) -> JsonObject:
    cases = json.loads((VECTORS / "envelope.json").read_text())
    document: JsonObject = cases[0]["document"]
    request = document["request"]
    assert isinstance(request, dict)
    return {**document, "request": {**request, "origin": origin}}


def test_countersign() -> None:
    receipt = envelope(SIGNER.key_id)
    signed = countersign(receipt, "requester", SIGNER)
    assert "signature_requester" not in failures(signed.text, now=NOW)
    assert anchored_hash(signed.text) == anchored_hash(receipt)
    signatures: Any = {**receipt, **signed.receipt}["signatures"]
    assert signatures["svc"] == receipt["signatures"]["svc"]  # type: ignore[index,call-overload]


def test_countersign_refuses() -> None:
    stranger = create_signer(bytes(32))
    mismatch = "countersign_mismatch"
    assert code_of(lambda: countersign(envelope(None), "requester", SIGNER)) == mismatch
    receipt = envelope(SIGNER.key_id)
    assert code_of(lambda: countersign(receipt, "requester", stranger)) == mismatch
    other = issue("A", 1, 1, "did:web:b", SEED).receipt
    assert code_of(lambda: countersign(other, "requester", SIGNER)) == "not_a_receipt"
    assert code_of(lambda: anchored_hash({"v": "svc-receipt-v1"})) == "not_a_receipt"
    assert code_of(lambda: anchored_hash("[1,]")) == "json_syntax"


@with_node
def test_the_core_mints_the_same_metering_receipt_to_the_byte() -> None:
    said: MeteringBill = bill()
    ours = mint_metering(said, leaves(3, 1, 2), SIGNER, now=NOW)
    theirs = core(
        """
        const signer = await core.createSigner(core.fromHex(value.seed));
        const now = Date.parse(value.now);
        return core.mintMetering(value.bill, value.evidence, { now }, signer);
        """,
        {"seed": SEED.hex(), "bill": said, "evidence": leaves(3, 1, 2), "now": NOW.isoformat()},
    )
    assert theirs == ours.text


@with_node
def test_the_command_line_verifies_what_is_signed_here(tmp_path: Path) -> None:
    now = datetime.now(timezone.utc)
    window: dict[str, Any] = {
        "window_start": "2026-01-01T00:00:00Z",
        "window_end": "2026-01-02T00:00:00Z",
    }
    evidence = leaves(1, 2)
    (tmp_path / "leaves.ndjson").write_text("".join(canonicalize(one) + "\n" for one in evidence))
    (tmp_path / "issue.json").write_text(issue("ACME", 25, 0.1, "did:web:b", SEED).text)
    (tmp_path / "metering.json").write_text(
        mint_metering(bill(**window), evidence, SIGNER, now=now).text
    )
    runs = {
        "issue.json": [],
        "metering.json": ["--evidence", "leaves.ndjson"],
    }
    for file, options in runs.items():
        done = tally("verify", file, "--json", *options, home=tmp_path)
        verdict = json.loads(done.stdout)
        assert (done.returncode, verdict["valid"]) == (3, True), done.stdout
        assert verdict["checks"] is not None
    changed = (tmp_path / "issue.json").read_text().replace("ACME", "ACMF")
    (tmp_path / "issue.json").write_text(changed)
    assert tally("verify", "issue.json", home=tmp_path).returncode == 1


def test_corrections_pass_over_what_is_no_json() -> None:
    documents: list[Any] = ["not json", b"\xff", '{"a":1,"a":2}', "\ud800"]
    documents += [{"a": float("nan")}, object()]
    assert verify_corrections(documents) == []
