"""Every file of spec/vectors, read as spec/README.md says, with the verdicts of the core."""

from __future__ import annotations

import base64
import hashlib
import itertools
import json
import string
from dataclasses import asdict, replace
from typing import Any, get_args

import pytest
from support import (
    STORES,
    VECTORS,
    Case,
    core,
    instant,
    outcome,
    payment_of,
    transaction_of,
    vectors,
    with_node,
)

from tallystick import (
    NOT_ASKED,
    CorrectionVerdict,
    SessionValue,
    SessionVerification,
    TallyError,
    Trust,
    Verification,
    WitnessPolicyError,
    anchored_hash,
    apply_statement,
    canonicalize,
    check_cosignature,
    check_issuer_document,
    check_opened_value,
    check_opening,
    check_trust,
    commit,
    commit_salt,
    create_signer,
    open_checkpoint,
    opening_key,
    parse_anchor_ref,
    parse_json,
    parse_tlog_proof,
    parse_witness_key,
    parse_witness_policy,
    public_key_of_did_key,
    read_signed_statement,
    salt_commitment,
    salt_of,
    salted_hash,
    sign_request,
    verify,
    verify_corrections,
    verify_ed25519,
    verify_session,
    verify_stream,
    verify_trust_fork,
)
from tallystick._lib.corrections import JudgedReceipt, judge_corrections
from tallystick._lib.encoding import from_base64url, from_hex, from_multibase, to_base64url
from tallystick._lib.issuers import IssuerDocument
from tallystick._lib.log import witness_policy
from tallystick._lib.log.checkpoint import parse_checkpoint_text
from tallystick._lib.log.note import parse_note
from tallystick._lib.merkle import leaf_hash, verify_inclusion
from tallystick._lib.metering.currencies import is_currency
from tallystick._lib.receipts.profiles import DEFAULT_PROFILE, PROFILES, Profile
from tallystick._lib.recipient import is_recipient
from tallystick._lib.trust import read_pin
from tallystick._lib.vanished import vanished

RECEIPT_FILES = [
    "anchors.json",
    "countersignatures.json",
    "envelope.json",
    "issue.json",
    "benchmark.json",
    "issuers.json",
    "legacy.json",
    "metering.json",
    "nano.json",
    "pq.json",
    "raw.json",
    "settlements.json",
    "standard.json",
    "status.json",
]
OTHER_FILES = [
    "anchor-refs.json",
    "anchored-hash.json",
    "calls-chat.json",
    "calls-completions.json",
    "calls-messages.json",
    "calls-responses.json",
    "checkpoints.json",
    "commitments.json",
    "corrections.json",
    "currencies.json",
    "ed25519.json",
    "encodings.json",
    "foreign-acta.json",
    "foreign-dsse.json",
    "foreign-others.json",
    "foreign-tlog-proof.json",
    "foreign-x402.json",
    "issuer-stores.json",
    "json-gate.json",
    "keys.json",
    "message-signatures.json",
    "ml-dsa-cosignatures.json",
    "recipients.json",
    "session-hashes.json",
    "session-openings.json",
    "sessions.json",
    "statements.json",
    "streams.json",
    "tlog-proofs.json",
    "trust-changes.json",
    "trust-forks.json",
    "trust.json",
    "witness-policies.json",
]
SEEDS = {key["name"]: key["seed"] for key in json.loads((VECTORS / "keys.json").read_text())}


def test_all_files_are_read() -> None:
    # Evidence of hardware has a folder of its own: only `tally` judges it.
    known = [*RECEIPT_FILES, *OTHER_FILES, "attestation"]
    assert sorted(file.name for file in VECTORS.iterdir()) == sorted(known)


def verdict_on(case: Case) -> Verification:
    raw, authority = case.get("raw_base64"), case.get("authority")
    return verify(
        case["document"] if raw is None else base64.b64decode(raw),
        now=instant(case["now"]),
        trust=Trust(STORES.get(case["trust"], []), [] if authority is None else [authority]),
        evidence=case.get("evidence"),
        anchor=json.dumps(case.get("anchor")),
        transaction=transaction_of(case["transaction"]) if "transaction" in case else NOT_ASKED,
        settlement=payment_of(case["settlement"]) if "settlement" in case else NOT_ASKED,
    )


def summary(verdict: Verification, expected: Case) -> Case:
    """The verdict in the terms of ``expected``."""
    names = {ok: sorted(c.name for c in verdict.checks if c.ok is ok) for ok in (False, None)}
    nulls = {"null_checks": names[None]} if "null_checks" in expected else {}
    counts = {"evidence": counted(verdict)} if "evidence" in expected else {}
    return {
        "valid": verdict.valid,
        "integrity": verdict.integrity,
        "trusted": verdict.issuer.trusted,
        "family": verdict.family,
        "failed_checks": names[False],
        **nulls,
        **counts,
    }


@with_node
@pytest.mark.parametrize("file", RECEIPT_FILES)
def test_the_core_gives_the_same_verdict_in_every_word(file: str) -> None:
    cases = [one.values[0] for one in vectors(file) if "code" not in one.values[0]["expected"]]
    theirs = core(
        """
        const transactionOf = (facts) => facts && {
          chainId: facts.chain_id,
          txHash: facts.tx_hash,
          blockHeight: facts.block_height,
          blockTime: facts.block_time,
          from: facts.from,
          data: facts.data,
          transfers: facts.transfers?.map((one) => ({ ...one, amount: BigInt(one.amount) })),
        };
        const documentOf = ({ document, raw_base64: raw }) =>
          raw === undefined ? document : core.parseJson(Buffer.from(raw, 'base64'));
        return Promise.all(value.cases.map((one) => core.verify(documentOf(one), {
          now: Date.parse(one.now),
          trust: core.trustOf(value.stores[one.trust] ?? [], one.authority ? [one.authority] : []),
          evidence: one.evidence,
          anchor: one.anchor,
          transaction: transactionOf(one.transaction),
          settlement: transactionOf(one.settlement),
        })));
        """,
        {"cases": cases, "stores": STORES},
    )
    assert [verdict_on(case).to_json() for case in cases] == theirs


def counted(verdict: Verification) -> Case | None:
    return None if verdict.evidence is None else asdict(verdict.evidence)


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


def test_currencies() -> None:
    letters = string.ascii_uppercase
    texts = ("".join(text) for text in itertools.product(letters, repeat=3))
    codes = [case["name"] for case in json.loads((VECTORS / "currencies.json").read_text())]
    assert [text for text in texts if is_currency(text)] == codes


@pytest.mark.parametrize("case", vectors("recipients.json"))
def test_recipients(case: Case) -> None:
    assert is_recipient(case["text"]) is case["valid"]


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


SIGNED = [one for one in vectors("message-signatures.json") if "signed" in one.values[0]]


@pytest.mark.parametrize("case", SIGNED)
def test_message_signatures(case: Case) -> None:
    signed = case["signed"]
    seed = bytes.fromhex(SEEDS[signed["key"]])
    did, signer = signed["did"], create_signer(seed)
    if did.startswith("did:svc:"):
        signer = replace(signer, key_id=f"{did}:k1")
    body = case["body"].encode() or None
    proof = sign_request(
        case["method"],
        signed["url"],
        body,
        did=did,
        signer=signer,
        created=signed["created"],
        nonce=signed["nonce"],
    )
    assert proof == case["headers"]


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


@pytest.mark.parametrize("case", vectors("anchor-refs.json"))
def test_anchor_refs(case: Case) -> None:
    def found() -> Case:
        ref = vars(parse_anchor_ref(case["text"])).copy()
        kind = "pending" if "batch_id" in ref else "anchored"
        return {"kind": kind, "leaf_index": ref.pop("index"), **ref}

    assert outcome(found) == case["expected"]


@pytest.mark.parametrize("case", vectors("checkpoints.json"))
def test_checkpoints(case: Case) -> None:
    def found() -> Case:
        note, log, witness = case["note"], case["log"], case["witness"]
        key = from_base64url(log["public_key"], 32)
        checkpoint = open_checkpoint(note, origin=log["origin"], public_key=key)
        key = from_base64url(witness["public_key"], 32)
        cosigned_at = check_cosignature(note, name=witness["name"], public_key=key)
        root = checkpoint.root.hex()
        return {"size": checkpoint.size, "root": root, "cosigned_at": cosigned_at}

    assert outcome(found) == case["expected"]


@pytest.mark.parametrize("case", vectors("witness-policies.json"))
def test_witness_policies(case: Case) -> None:
    def found() -> Case:
        try:
            policy = parse_witness_policy(base64.b64decode(case["policy_base64"]))
        except WitnessPolicyError as fault:
            return {"code": fault.code, "reason": fault.reason, "line": fault.line}
        witnessed, _ = policy.judge(case["checkpoint"])
        judged = {**vars(witnessed), "by": list(witnessed.by)}
        return {"witnessed": judged, "unknown_keys": len(policy.findings)}

    assert found() == case["expected"]


def test_a_policy_without_ml_dsa(monkeypatch: pytest.MonkeyPatch) -> None:
    cases = {case.id: case.values[0] for case in vectors("witness-policies.json")}
    case = cases["a witness by ML-DSA-44"]
    monkeypatch.setattr(witness_policy, "has_ml_dsa", lambda: False)
    policy = parse_witness_policy(base64.b64decode(case["policy_base64"]))
    (finding,) = policy.findings
    assert "takes cryptography 47 or later, so it never counts" in finding
    witnessed, _ = policy.judge(case["checkpoint"])
    assert (witnessed.satisfied, witnessed.by, witnessed.of) == (False, (), 1)


def test_a_policy_with_half_of_a_surrogate_pair_is_read_as_by_the_core() -> None:
    with pytest.raises(WitnessPolicyError) as raised:
        parse_witness_policy("witness \ud800 nokey\n")
    same = "witness \N{REPLACEMENT CHARACTER} nokey\n"
    with pytest.raises(WitnessPolicyError) as other:
        parse_witness_policy(same)
    assert str(raised.value) == str(other.value)


def test_no_other_log_counts_in_the_place_of_one_of_an_unknown_type() -> None:
    cases = {case.id: case.values[0] for case in vectors("witness-policies.json")}
    known = parse_witness_policy(base64.b64decode(cases["one of two logs"]["policy_base64"])).logs
    case = cases["no log"]
    rules = base64.b64decode(case["policy_base64"]).decode()
    key = bytes([0x77]) + bytes(40)
    key_id = hashlib.sha256(b"only.example\n" + key).hexdigest()[:8]
    line = f"log only.example+{key_id}+{base64.b64encode(key).decode()}\n"
    for policy, satisfied in ((rules, True), (line + rules, False)):
        witnessed, _ = parse_witness_policy(policy.encode()).judge(case["checkpoint"], known)
        assert witnessed.satisfied is satisfied


@pytest.mark.parametrize("case", vectors("ml-dsa-cosignatures.json"))
def test_ml_dsa_cosignatures(case: Case) -> None:
    name, public_key = parse_witness_key(case["witness"])
    found = check_cosignature(case["note"], name=name, public_key=public_key)
    assert found == case["expected"]
    with pytest.raises(TallyError, match="whose id matches"):
        parse_witness_key(case["witness"][:-4] + "AAAA")


@pytest.mark.parametrize("case", vectors("tlog-proofs.json"))
def test_tlog_proofs(case: Case) -> None:
    def found() -> Case:
        proof = parse_tlog_proof(case["text"])
        head = parse_checkpoint_text(parse_note(proof.checkpoint).text)
        return {
            "index": proof.index,
            "path": [sibling.hex() for sibling in proof.path],
            "extra": None if proof.extra is None else proof.extra.hex(),
            "included": verify_inclusion(
                index=proof.index,
                size=head.size,
                leaf=leaf_hash(bytes.fromhex(case["entry"])),
                path=proof.path,
                root=head.root,
            ),
        }

    assert outcome(found) == case["expected"]


@pytest.mark.parametrize("case", vectors("trust.json"))
def test_trust(case: Case) -> None:
    def pinned() -> Case:
        checked = check_trust(
            case["bundle"],
            now=instant(case["now"]),
            pin=read_pin(case["pin"]) if "pin" in case else None,
            root=case.get("root"),
        )
        return {"pin": vars(checked.pin)}

    assert outcome(pinned) == case["expected"]


@pytest.mark.parametrize("case", vectors("trust-changes.json"))
def test_trust_change(case: Case) -> None:
    assert vanished(case["earlier"], case["later"]) == case["expected"]


@pytest.mark.parametrize("case", vectors("trust-forks.json"))
def test_trust_fork(case: Case) -> None:
    def proven() -> Case:
        fork = verify_trust_fork(case["file"])
        return {
            "root": fork.root,
            "kind": fork.kind,
            "versions": [pin.version for pin in fork.bundles],
        }

    assert outcome(proven) == case["expected"]


def test_what_is_wrong_in_a_fork_file_is_named() -> None:
    proof = next(
        case["file"]
        for case in json.loads((VECTORS / "trust-forks.json").read_text())
        if case["expected"].get("kind") == "version"
    )
    texts = [canonicalize(bundle) for bundle in proof["bundles"]]
    wrong: list[tuple[Any, str | None]] = [
        ({**proof, "bundles": texts}, "bundles[0]"),
        ({**proof, "bundles": [proof["bundles"][0], texts[1]]}, "bundles[1]"),
        ({**proof, "bundles": proof["bundles"] * 2}, "bundles"),
        ({**proof, "bundles": {}}, "bundles"),
        ({**proof, "bundles": proof["bundles"][:1]}, None),
        ({**proof, "type": "svc-trust"}, "type"),
        ({**proof, "more": 1}, "more"),
        ({"type": proof["type"]}, "bundles"),
        ([proof], "(document)"),
    ]
    for file, field in wrong:
        for document in (file, canonicalize(file)):
            with pytest.raises(TallyError) as caught:
                verify_trust_fork(document)
            assert (caught.value.code, caught.value.field) == ("trust_fork_invalid", field)


@pytest.mark.parametrize("case", vectors("streams.json"))
def test_stream(case: Case) -> None:
    def judged() -> Case:
        given = [(one["sha256"], one["issued_at"]) for one in case["given"]]
        trust = Trust(case["issuers"]) if "issuers" in case else None
        verdict = verify_stream(
            case["heads"], case["hashes"], given, first=case["first"], trust=trust
        )
        faults = [
            {"kind": fault.kind, "index": fault.index, "sha256": fault.sha256}
            for fault in verdict.faults
        ]
        return {
            "complete": verdict.complete,
            "faults": faults,
            "given": verdict.given,
            "uncounted": verdict.uncounted,
        }

    assert outcome(judged) == case["expected"]


def test_between_heads_out_of_order_no_change_is_looked_for() -> None:
    case = next(one.values[0] for one in vectors("streams.json") if one.id == "from the start")
    low, high, *_ = case["heads"]
    # So many that a search among them would not end.
    hashes = [*case["hashes"][: high["count"]], *["ab" * 32] * 20_000]
    verdict = verify_stream([high, low], hashes, [(one, None) for one in hashes])
    assert [(fault.kind, fault.index) for fault in verdict.faults] == [("heads", 2), ("chain", 2)]


def session_verdict_on(case: Case) -> SessionVerification:
    authority = case.get("authority")
    return verify_session(
        case["file"],
        now=instant(case["now"]),
        trust=Trust(STORES.get(case["trust"], []), [] if authority is None else [authority]),
        key=case.get("key"),
        referenced=case.get("referenced", []),
    )


@pytest.mark.parametrize("case", vectors("sessions.json"))
def test_sessions(case: Case) -> None:
    verdict: Case = session_verdict_on(case).to_json()
    found = {name: verdict[name] for name in case["expected"]}
    for fault in found["faults"]:
        del fault["detail"]
    assert found == case["expected"]


@with_node
def test_the_core_gives_the_same_verdict_on_sessions_in_every_word() -> None:
    cases = [one.values[0] for one in vectors("sessions.json")]
    theirs = core(
        """
        return Promise.all(value.cases.map((one) => core.verifySession(one.file, {
          now: Date.parse(one.now),
          trust: core.trustOf(value.stores[one.trust], one.authority ? [one.authority] : []),
          key: one.key,
          referenced: one.referenced,
        })));
        """,
        {"cases": cases, "stores": STORES},
    )
    assert [session_verdict_on(case).to_json() for case in cases] == theirs


def corrections_in(case: Case) -> list[CorrectionVerdict]:
    trust = Trust(STORES.get(case["trust"], []))
    return verify_corrections(case["documents"], now=instant(case["now"]), trust=trust)


@pytest.mark.parametrize("case", vectors("corrections.json"))
def test_corrections(case: Case) -> None:
    found = [
        {
            "receipt_id": one.receipt_id,
            "valid": one.valid,
            "trusted": one.trusted,
            "corrects": one.corrects.state,
            "correction": one.correction.state,
            "faults": len(one.faults),
        }
        for one in corrections_in(case)
    ]
    assert found == case["expected"]


def test_a_long_chain_of_corrections_is_judged_in_time_for_its_length() -> None:
    case = next(one.values[0] for one in vectors("corrections.json") if one.id == "an envelope")
    *_, signed = case["documents"]
    verdict = verify(signed, now=instant(case["now"]), trust=Trust(STORES[case["trust"]]))

    def link(index: int) -> JudgedReceipt:
        key = replace(verdict.issuer, key_id=str(index))
        ends = (
            {"receipt_id": f"r_env_{at}", "receipt_sha256": f"{at}"} for at in (index, index + 1)
        )
        says: Case = dict(zip(("corrects", "correction"), ends, strict=True))
        return JudgedReceipt(f"{index}", f"link {index}", replace(verdict, issuer=key), says, True)

    # So many that a look at the others, or at all keys of the issuer, for each one would not end.
    found = judge_corrections([link(index) for index in range(50_000)])
    assert {one.faults for one in found} == {()}


@with_node
def test_the_core_gives_the_same_verdict_on_corrections_in_every_word() -> None:
    cases = [one.values[0] for one in vectors("corrections.json")]
    theirs = core(
        """
        return Promise.all(value.cases.map((one) => core.verifyCorrections(one.documents, {
          now: Date.parse(one.now),
          trust: core.trustOf(value.stores[one.trust]),
        })));
        """,
        {"cases": cases, "stores": STORES},
    )
    ours = [[one.to_json() for one in corrections_in(case)] for case in cases]
    assert ours == theirs


@pytest.mark.parametrize("case", vectors("session-hashes.json"))
def test_session_hashes(case: Case) -> None:
    session_salt, value = bytes.fromhex(case["session_salt"]), case["value"]
    salt = salt_of(session_salt, case["seq"], case["part"])
    hashed: SessionValue = {"raw": bytes.fromhex(value["raw"])} if "raw" in value else value
    assert commit_salt(session_salt) == case["salt_commitment"]
    assert [salt.hex(), salted_hash(salt, hashed)] == [case["salt"], case["hash"]]


@pytest.mark.parametrize("case", vectors("session-openings.json"))
def test_session_openings(case: Case) -> None:
    verdict = verify_session(case["file"], now=instant(case["now"]))
    found = outcome(lambda: {"code": check_opened_value(case["opening"], verdict)})
    assert found == {"code": case["expected"]}


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


def test_the_profiles_are_those_of_the_specification() -> None:
    said = json.loads((VECTORS.parent / "profiles.json").read_text())
    known = {one["name"]: one["max_bytes"] for one in said["profiles"]}
    assert {name: form.max_bytes for name, form in PROFILES.items()} == known
    assert (DEFAULT_PROFILE, set(get_args(Profile))) == (said["default"], set(known))
