"""Every file of spec/vectors, read as spec/README.md says, with the verdicts of the core."""

from __future__ import annotations

import base64
import json

import pytest
from support import VECTORS, Case, instant, outcome, vectors

from tallystick import (
    Trust,
    TrustPin,
    Verification,
    anchored_hash,
    apply_statement,
    canonicalize,
    check_issuer_document,
    check_opening,
    check_trust_bundle,
    commit,
    create_signer,
    opening_key,
    parse_json,
    public_key_of_did_key,
    read_signed_statement,
    salt_commitment,
    verify,
    verify_ed25519,
)
from tallystick.encoding import from_base64url, from_hex, from_multibase, to_base64url
from tallystick.issuers import IssuerDocument

RECEIPT_FILES = [
    "countersignatures.json",
    "envelope.json",
    "issue.json",
    "issuers.json",
    "legacy.json",
    "metering.json",
    "nano.json",
    "pq.json",
    "raw.json",
    "standard.json",
]
OTHER_FILES = [
    "anchored-hash.json",
    "commitments.json",
    "ed25519.json",
    "encodings.json",
    "issuer-stores.json",
    "json-gate.json",
    "keys.json",
    "statements.json",
    "trust.json",
]
STORES = json.loads((VECTORS / "issuer-stores.json").read_text())


def test_all_files_are_read() -> None:
    assert sorted(file.name for file in VECTORS.iterdir()) == sorted(RECEIPT_FILES + OTHER_FILES)


def verdict_on(case: Case) -> Verification:
    raw = case.get("raw_base64")
    anchored_at = case.get("anchored_at")
    return verify(
        case["document"] if raw is None else base64.b64decode(raw),
        now=instant(case["now"]),
        trust=Trust(STORES.get(case["trust"], [])),
        evidence=case.get("evidence"),
        anchored_at=None if anchored_at is None else instant(anchored_at),
    )


def summary(verdict: Verification, expected: Case) -> Case:
    """The verdict in the terms of ``expected``."""
    names = {ok: sorted(c.name for c in verdict.checks if c.ok is ok) for ok in (False, None)}
    nulls = {"null_checks": names[None]} if "null_checks" in expected else {}
    return {
        "valid": verdict.valid,
        "integrity": verdict.integrity,
        "trusted": verdict.issuer.trusted,
        "family": verdict.family,
        "failed_checks": names[False],
        **nulls,
    }


@pytest.mark.parametrize(
    "case",
    [
        pytest.param(*one.values, id=f"{file}: {one.id}")
        for file in RECEIPT_FILES
        for one in vectors(file)
    ],
)
def test_receipt(case: Case) -> None:
    expected = {
        name: sorted(value) if name.endswith("_checks") else value
        for name, value in case["expected"].items()
    }
    assert outcome(lambda: summary(verdict_on(case), expected)) == expected


@pytest.mark.parametrize("case", vectors("json-gate.json"))
def test_json_gate(case: Case) -> None:
    data = base64.b64decode(case["raw_base64"])
    assert outcome(lambda: {"canonical": canonicalize(parse_json(data))}) == case["expected"]


def decoded(encoding: str, text: str, length: int | None) -> bytes:
    if encoding == "multibase":
        return from_multibase(text)
    if encoding == "did:key":
        return public_key_of_did_key(text)
    return {"hex": from_hex, "base64url": from_base64url}[encoding](text, length)


@pytest.mark.parametrize("case", vectors("encodings.json"))
def test_encodings(case: Case) -> None:
    encoding, text, length = case["encoding"], case["text"], case.get("length")
    assert outcome(lambda: {"hex": decoded(encoding, text, length).hex()}) == case["expected"]


@pytest.mark.parametrize("case", vectors("ed25519.json"))
def test_ed25519(case: Case) -> None:
    key, message, signature = (
        bytes.fromhex(case[name]) for name in ("public_key", "message", "signature")
    )
    assert verify_ed25519(key, message, signature) is case["expected"]["valid"]


@pytest.mark.parametrize("case", vectors("keys.json"))
def test_keys(case: Case) -> None:
    signer = create_signer(bytes.fromhex(case["seed"]))
    found = [to_base64url(signer.public_key), signer.key_id]
    assert found == [case["public_key"], case["key_id"]]


@pytest.mark.parametrize("case", vectors("commitments.json"))
def test_commitments(case: Case) -> None:
    salt, label, value = bytes.fromhex(case["salt"]), case["label"], case["value"]
    found = {
        "key": opening_key(salt, label).hex(),
        "commitment": commit(salt, label, value),
        "salt_commitment": salt_commitment(salt),
    }
    assert found == case["expected"]
    opened = {"subkey": opening_key(salt, label), "commitment": case["expected"]["commitment"]}
    assert check_opening(value=value, **opened)
    assert not check_opening(value=value + " ", **opened)


@pytest.mark.parametrize("case", vectors("anchored-hash.json"))
def test_anchored_hash(case: Case) -> None:
    def found() -> Case:
        digest = anchored_hash(case["document"])
        return {"sha256": digest, "canonical_sha256": to_base64url(bytes.fromhex(digest))}

    assert outcome(found).items() <= case["expected"].items()


@pytest.mark.parametrize("case", vectors("trust.json"))
def test_trust(case: Case) -> None:
    def pinned() -> Case:
        checked = check_trust_bundle(
            case["bundle"],
            now=instant(case["now"]),
            pin=TrustPin(**case["pin"]) if case.get("pin") else None,
            root=case.get("root"),
        )
        return {"pin": vars(checked.pin)}

    assert outcome(pinned) == case["expected"]


@pytest.mark.parametrize("case", vectors("statements.json"))
def test_statements(case: Case) -> None:
    if "history" not in case:
        checked = outcome(lambda: {"record": check_issuer_document(case["document"])})
        assert checked == case["expected"]
        return
    *earlier, last = case["history"]
    record: IssuerDocument | None = None
    for signed in earlier:
        record = apply_statement(record, read_signed_statement(signed))
    after = outcome(lambda: {"record": apply_statement(record, read_signed_statement(last))})
    assert after == case["expected"]
