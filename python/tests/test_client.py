"""Both clients against a real service."""

from __future__ import annotations

import asyncio
import hashlib
import json
import secrets
import socket
from collections.abc import AsyncIterator, Iterator
from dataclasses import replace
from datetime import datetime, timedelta, timezone
from pathlib import Path
from threading import Thread
from typing import Any, Literal

import httpx
import pytest
from clients import KINDS, Kind, opened
from support import code_of, tally, with_node

from tallystick import (
    AgentAuth,
    AsyncClient,
    Client,
    EvidenceCounts,
    JsonValue,
    TallyError,
    anchored_hash,
    build_bill,
    canonical_bytes,
    canonicalize,
    countersign,
    create_signer,
    evidence_leaf,
    evidence_receipt,
    generate_secret_key,
    new_salt,
    seal,
    seal_reference,
    verify,
)
from tallystick._lib.encoding import from_base64url

pytestmark = with_node


@pytest.fixture(params=KINDS)
def client(request: pytest.FixtureRequest, service: str) -> Iterator[Client]:
    with opened(request.param, service) as client:
        yield client


def now() -> datetime:
    return datetime.now(timezone.utc)


def bill(billed: int, **changes: Any) -> Any:
    made: dict[str, Any] = {
        **build_bill(
            salt=new_salt(),
            machine_serial="SN-1",
            customer_account="C-1",
            rate_reference="contract 1",
            window_start=now() - timedelta(days=2),
            window_end=now() - timedelta(days=1),
            service_unit="pick",
            billed_unit_count=billed,
            unit_rate_minor=3,
            currency="EUR",
        ),
        **changes,
    }
    return made


def leaf(unit: int) -> JsonValue:
    return evidence_leaf(unit, hashlib.sha256(str(unit).encode()).hexdigest())


def test_a_minted_receipt_is_trusted_offline(client: Client) -> None:
    issued = client.mint_free("hello", "greeting")
    trust = client.fetch_trust()
    verdict = verify(issued.text, now=now(), trust=trust)
    assert verdict.issuer.trusted
    assert issued.text == canonicalize(issued.receipt)
    receipt_id: str = issued.receipt["receipt_id"]
    assert receipt_id == verdict.receipt_id
    assert issued.receipt["request"]["hash"] == f"sha256:{hashlib.sha256(b'hello').hexdigest()}"
    assert client.get_receipt(verdict.receipt_id or "") == issued


@pytest.mark.parametrize("profile", ["nano", "standard", "pq"])
def test_emit(client: Client, profile: Any) -> None:
    payload: JsonValue = {"order": 42, "total": "19.90", "ratio": 1.0}
    issued = client.emit(profile=profile, payload=payload, agent_did="did:web:a.example")
    verdict = client.verify(issued.text)
    assert (verdict.valid, verdict.profile) == (True, profile)
    assert verdict.checks == verify(issued.text, now=now(), trust=client.fetch_trust()).checks
    assert ("subject" in issued.receipt) == (profile != "nano")
    if "subject" in issued.receipt:
        subject = issued.receipt["subject"]
        assert subject["sha256"] == hashlib.sha256(canonical_bytes(payload)).hexdigest()


def test_emit_takes_null_as_a_payload_and_all_that_a_caller_may_say(client: Client) -> None:
    sealed = seal(b"secret", generate_secret_key())
    issued = client.emit(
        profile="pq",
        payload=None,
        purpose="order",
        content_type="application/json",
        ok=False,
        settlement_reference={"rail": "x402", "chain_id": 8453, "asset": "USDC", "tx": "0xab"},
        seal=seal_reference(sealed),
        sealed_evidence_ref=None,
        auditor_verifier=True,
    )
    assert client.verify(issued.receipt).valid
    assert "auditor_verifier" in issued.receipt
    assert issued.receipt["auditor_verifier"] is True


def test_the_same_idempotency_key_gives_the_same_receipt(client: Client) -> None:
    key = secrets.token_hex(8)
    first = client.mint_free("a", "b", idempotency_key=key)
    assert client.mint_free("a", "b", idempotency_key=key) == first
    assert client.mint_free("a", "b") != first
    again = code_of(lambda: client.mint_free("other", "b", idempotency_key=key))
    assert again == "idempotency_key_reused"


def test_a_refusal_says_what_and_where(client: Client) -> None:
    with pytest.raises(TallyError) as caught:
        client.mint_free("", "b")
    error = caught.value
    assert (error.code, error.field, error.status) == ("empty_input", "input", 422)
    assert error.request_id
    assert str(error).startswith("empty_input: ")
    assert code_of(lambda: client.get_receipt("r_env_1_../x")) == "receipt_not_found"
    assert code_of(lambda: client.verify({"a": 1})) == "not_a_receipt"
    assert code_of(lambda: client.verify("{")) == "json_syntax"
    assert code_of(lambda: client.emit(input="a", payload=1)) == "conflicting_fields"


def test_verify_many_keeps_the_order(client: Client) -> None:
    issued = client.mint_free("a", "b")
    changed = issued.text.replace('"purpose":"b"', '"purpose":"c"')
    verdicts = client.verify_many([issued.text, changed, issued.receipt] * 200)
    assert [one.valid for one in verdicts] == [True, False, True] * 200
    assert client.verify_many([]) == []


def test_what_to_choose(client: Client) -> None:
    assert client.pricing()["currency"] == "USD"
    chosen = client.select_profile(amount="0.001", counterparty={"regulated": False})
    assert chosen["recommended_profile"] == "nano"
    assert client.select_profile(intent="medical record")["recommended_profile"] == "pq"


def test_issuers(client: Client) -> None:
    handle, key = f"py-{secrets.token_hex(6)}", generate_secret_key()
    record = client.register_issuer(handle, key)
    assert record["did"] == f"did:svc:{handle}"
    assert client.issuer(record["did"]) == record
    receipt = client.issue(
        symbol="ACME",
        units=1,
        amount_usd=2.5,
        recipient="did:web:b",
        issuer_sk=key,
        issuer_did=record["did"],
    )
    verdict = client.verify(receipt.text)
    assert (verdict.valid, verdict.issuer.status) == (True, "registered")
    now = datetime.now(timezone.utc)
    assert verify(receipt.text, now=now).issuer.status == "unknown"
    assert verify(receipt.text, now=now, issuer=record).issuer == verdict.issuer
    forged: Any = {**record, "did": "did:svc:another"}
    assert code_of(lambda: verify(receipt.text, now=now, issuer=forged)) == "issuer_proof_invalid"
    stranger = client.issue(
        symbol="ACME",
        units=1,
        amount_usd=2.5,
        recipient="did:web:b",
        issuer_sk=generate_secret_key(),
        issuer_did=record["did"],
    )
    assert client.verify(stranger.text).issuer.status == "contradicted"
    assert verify(stranger.text, now=now, issuer=record).issuer.status == "contradicted"
    assert code_of(lambda: client.register_issuer(handle, key)) == "issuer_exists"
    assert code_of(lambda: client.issuer("did:svc:nobody-at-all")) == "issuer_not_found"


def test_trust_is_pinned(client: Client) -> None:
    checked = client.fetch_trust()
    pinned = client.fetch_trust(pin=checked.pin, root=checked.pin.root).pin
    # Issuers that tests register make newer bundles within seconds.
    assert pinned.root == checked.pin.root
    assert pinned.version >= checked.pin.version
    newer = replace(pinned, version=pinned.version + 1_000)
    assert code_of(lambda: client.fetch_trust(pin=newer)) == "trust_rollback"
    other = "sha256:" + "0" * 64
    assert code_of(lambda: client.fetch_trust(root=other)) == "trust_root_mismatch"
    assert code_of(lambda: client.fetch_trust(pin=checked.pin, root=other)) == "trust_root_mismatch"


@pytest.mark.parametrize("count", [0, 3, 2_500])
def test_metering_takes_a_list(client: Client, count: int) -> None:
    evidence = [leaf(unit) for unit in range(1, count + 1)]
    issued = client.meter(bill(2_500), evidence)
    verdict = verify(issued.text, now=now(), trust=client.fetch_trust(), evidence=evidence)
    assert verdict.issuer.trusted, verdict.checks
    assert verdict.profile == "sls.metering"
    assert client.verify(issued.receipt, evidence=evidence[:3]).valid is (count <= 3)


def test_what_the_caller_says_of_a_response_is_declared(client: Client) -> None:
    digest = "sha256:" + "ab" * 32
    issued = client.mint_free(
        "x", "p", policy_hash=digest, response_hash=digest, response_sealed=True
    )
    receipt: Any = issued.receipt
    assert receipt["declared"] == ["request.policy_hash", "response.hash", "response.sealed"]
    assert receipt["response"] == {"hash": digest, "sealed": True}
    assert client.verify(issued.text).valid


def test_whole_receipts_are_verified_and_counted(client: Client) -> None:
    minted = client.mint_free("pallet 2", "unit")
    evidence = [evidence_receipt(2, minted.receipt), leaf(1)]
    counts = EvidenceCounts(verified=1, hashed=1, trusted=1)
    issued = client.meter(bill(3), evidence)
    assert issued.evidence == counts
    verdict = verify(issued.text, now=now(), trust=client.fetch_trust(), evidence=evidence)
    assert verdict.issuer.trusted, verdict.checks
    assert verdict.evidence == counts
    assert client.verify(issued.receipt, evidence=evidence).evidence == counts
    with pytest.raises(TallyError) as less:
        client.meter(bill(3), evidence, evidence_policy="verified")
    assert (less.value.code, less.value.field) == ("metering_evidence_policy", "line 3")
    forged = evidence_receipt(2, {**minted.receipt, "issued_at": "2026-01-01T00:00:00Z"})
    with pytest.raises(TallyError, match="signature: ") as refused:
        client.meter(bill(3), [leaf(1), forged])
    assert (refused.value.code, refused.value.field) == (
        "metering_evidence_invalid",
        "line 3.receipt",
    )


def test_a_bill_compiled_before_the_key_was_made_is_trusted(client: Client) -> None:
    said = bill(1)
    issued = client.meter({**said, "compiled_at": said["window_end"]}, [leaf(1)])
    verdict = verify(issued.text, now=now(), trust=client.fetch_trust(), evidence=[leaf(1)])
    assert verdict.issuer.trusted, verdict.checks
    window = next(check for check in verdict.checks if check.name == "key_window")
    assert "signed later than compiled" in window.detail
    time = next(check for check in verdict.checks if check.name == "issued_at")
    assert time.detail.startswith("Compiled at ")


def test_metering_streams_what_is_made_on_the_way(client: Client) -> None:
    count = 20_000
    issued = client.meter(bill(count), (leaf(unit) for unit in range(1, count + 1)))
    body: Any = issued.receipt["signed_body"]
    assert body["coverage_class"] == "fully_evidence_backed"
    twice = (leaf(unit % 9_000 + 1) for unit in range(count))
    assert code_of(lambda: client.meter(bill(count), twice)) == "metering_unit_twice"


def test_what_the_evidence_raises_reaches_the_caller(client: Client) -> None:
    def broken() -> Iterator[JsonValue]:
        yield leaf(1)
        raise RuntimeError("the file ended early")

    with pytest.raises(RuntimeError, match="ended early"):
        client.meter(bill(5), broken())


def test_asynchronous_evidence(service: str) -> None:
    async def leaves() -> AsyncIterator[JsonValue]:
        for unit in range(1, 1_201):
            yield leaf(unit)

    async def minted() -> bool:
        async with AsyncClient(service) as client:
            issued = await client.meter(bill(1_200), leaves())
            return (await client.verify(issued.text)).valid

    assert asyncio.run(minted())
    with Client(service) as client, pytest.raises(TypeError, match="AsyncClient"):
        client.meter(bill(1_200), leaves())  # type: ignore[arg-type]


@pytest.mark.parametrize("kind", KINDS)
def test_the_tier_of_a_proved_member_is_signed(kind: Kind, service: str) -> None:
    agent = AgentAuth(generate_secret_key())

    def signed_tier(profile: Literal["standard", "pq"]) -> JsonValue:
        with opened(kind, service, agent=agent) as client:
            receipt: Any = client.emit(profile=profile, payload={"x": 1}).receipt
        assert receipt["agent_proved"] is True
        tier: JsonValue = receipt["reputation_context"]["reputation_tier"]
        return tier

    assert signed_tier("standard") == "unregistered"
    registered = httpx.post(f"{service}/v1/compute/member/register", json={"did": agent.did})
    assert registered.status_code == 200
    assert [signed_tier("standard"), signed_tier("pq")] == ["member", "member"]


def test_the_command_line_and_this_package_agree(service: str, tmp_path: Path) -> None:
    assert tally("trust", "fetch", service, home=tmp_path).returncode == 0
    generated = tally("keys", "generate", "--out", "me.json", home=tmp_path).stdout.strip()
    secret = json.loads((tmp_path / "me.json").read_text())["secret"]
    with Client(service, agent_did=generated) as client:
        ours = client.mint_free("from python", "exchange")
        trust = client.fetch_trust()
    signer = create_signer(from_base64url(secret, 32))
    assert signer.key_id == generated
    countersigned = countersign(ours.text, "requester", signer)
    (tmp_path / "ours.json").write_text(countersigned.text)
    done = tally("verify", "ours.json", "--json", home=tmp_path)
    theirs = json.loads(done.stdout)
    assert done.returncode == 0, done.stdout
    here = verify(countersigned.text, now=now(), trust=trust)
    assert [(c.name, c.ok) for c in here.checks] == [(c["name"], c["ok"]) for c in theirs["checks"]]
    minted = tally("mint", "--text", "hello", "--url", service, "--agent", generated, home=tmp_path)
    (tmp_path / "theirs.json").write_text(minted.stdout)
    signed = tally(
        "countersign", "theirs.json", "--role", "requester", "--key", "me.json", home=tmp_path
    )
    verdict = verify(signed.stdout, now=now(), trust=trust)
    assert verdict.issuer.trusted
    assert [c.ok for c in verdict.checks if c.name == "signature_requester"] == [True]
    assert anchored_hash(signed.stdout) == anchored_hash(minted.stdout)


@pytest.mark.parametrize("kind", KINDS)
def test_an_event_ends_at_a_line_feed_only(kind: Kind) -> None:
    tag = "a\u2028b\u0085c\u001cd\re"
    events = [f"data: {json.dumps({'tag': tag}, ensure_ascii=False)}\n\n"] * 2
    events[1] = events[1].replace("\n", "\r\n")
    body = ": hello\n" + "".join(events)

    def answer(_: httpx.Request) -> httpx.Response:
        return httpx.Response(200, content=body.encode())

    def following(kind: Kind) -> list[Any]:
        transport = httpx.MockTransport(answer)
        http: Any = (
            httpx.Client(transport=transport)
            if kind == "sync"
            else httpx.AsyncClient(transport=transport)
        )
        with opened(kind, "http://a.example", http_client=http) as client:
            return list(client.follow_calls())

    assert following(kind) == [{"tag": tag}] * 2
    for event in ('{"tag"', "[]", "{}{}"):
        body = f"data: {event}\n\n"
        with pytest.raises(TallyError) as caught:
            following(kind)
        assert (caught.value.code, caught.value.status) == ("unavailable", 200)


@pytest.mark.parametrize("kind", KINDS)
def test_a_live_list_ends_where_nothing_comes_any_more(
    kind: Kind, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("asynchronous", "synchronous"):
        monkeypatch.setattr(f"tallystick._lib.client.{name}.sender._QUIET", 0.2)
    held: list[socket.socket] = []

    def answer(server: socket.socket) -> None:
        held.append(server.accept()[0])
        held[0].recv(65_536)
        held[0].sendall(b"HTTP/1.1 200 OK\r\n\r\ndata: {}\n\n")

    calls: list[Any] = []
    with socket.create_server(("127.0.0.1", 0)) as server:
        answering = Thread(target=answer, args=(server,))
        answering.start()
        url = f"http://127.0.0.1:{server.getsockname()[1]}"
        with opened(kind, url) as client, pytest.raises(TallyError) as caught:
            calls.extend(client.follow_calls())
        answering.join()
    held[0].close()
    assert calls == [{}]
    assert (caught.value.code, caught.value.status) == ("unavailable", None)


@pytest.mark.parametrize("kind", KINDS)
def test_what_no_request_can_carry_is_refused(kind: Kind) -> None:
    lone = "\ud800"
    url = "http://127.0.0.1:9"
    with opened(kind, url) as client:
        refused: list[tuple[Any, str]] = [
            (lambda: client.get_receipt(lone), "receipt_id"),
            (lambda: client.get_call(lone), "call_id"),
            (lambda: client.issuer(f"did:web:{lone}"), "did"),
            (lambda: client.get_anchor_proof(f"urn:{lone}"), "ref_or_hash"),
            (lambda: client.get_tile(lone), "path"),
            (lambda: client.list_receipts(model=lone), "model"),
            (lambda: client.get_usage("did:web:a.example", from_=lone), "from"),
            (lambda: client.mint_free("x", "p", idempotency_key="é"), "idempotency_key"),
            (lambda: client.mint_free("x", "p", idempotency_key="a\n"), "idempotency_key"),
            (lambda: client.mint_free("x", "p", idempotency_key="a b"), "idempotency_key"),
            (lambda: client.mint_free("x", "p", idempotency_key="a" * 256), "idempotency_key"),
            (lambda: client.mint_free("x", "p", idempotency_key=""), "idempotency_key"),
        ]
        for call, field in refused:
            with pytest.raises(TallyError) as caught:
                call()
            assert (caught.value.code, caught.value.field) == ("invalid_field", field)
    refused_options: list[dict[str, Any]] = [
        {"api_key": "é"},
        {"api_key": "a\n"},
        {"agent_did": "did:web:é"},
        {"accept_charge": "ü"},
        {"base_url": f"http://{lone}"},
        {"api_url": "http://a\n"},
    ]
    for options in refused_options:
        with pytest.raises(TallyError) as caught:
            Client(**{"base_url": url, **options})
        assert (caught.value.code, caught.value.field) == ("invalid_field", *options)
