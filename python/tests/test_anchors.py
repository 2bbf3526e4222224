"""Anchors: what is sent, how long is waited, and the whole path against a real service."""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Callable, Iterator
from datetime import datetime, timezone
from itertools import pairwise
from pathlib import Path
from random import Random
from typing import Any

import httpx
import pytest
from clients import KINDS, Kind, opened
from hypothesis import given
from hypothesis import strategies as st
from support import api_key, code_of, instant, outcome, transaction_of, vectors, with_node

from tallystick import (
    AnchoredResult,
    Client,
    JsonValue,
    RetryPolicy,
    TallyError,
    Verification,
    anchored_hash,
    build_bill,
    generate_secret_key,
    issue,
    new_salt,
    parse_anchor_ref,
    verify,
    with_anchor,
)
from tallystick._lib.client.anchors import poll_delay
from tallystick._lib.encoding import to_base64url
from tallystick._lib.log.note import parse_note
from tallystick._lib.log.posting import decode_posting
from tallystick._lib.trust import Trust

REF = "urn:anchor:pending:2026-11-21T10:00Z:1z"
TX = "0x" + "ab" * 32
ANCHORED: AnchoredResult = {
    "anchor_ref": f"urn:anchor:devnet:7:{TX}:0",
    "network": "devnet",
    "block_height": 7,
    "tx_hash": TX,
    "merkle_root": "sha256:" + "00" * 32,
    "merkle_path": [],
    "verified_at": "2026-11-21T10:00:05Z",
}
BUSY = {"status": 503, "code": "unavailable"}
UNKNOWN = {"status": 404, "code": "anchor_not_found"}


def pending(eta: int, ref: str = REF) -> dict[str, Any]:
    return {"anchor_ref": ref, "batch_id": "2026-11-21T10:00Z", "eta_seconds": eta}


def digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


Answering = Callable[[httpx.Request], httpx.Response]


def answering(kind: Kind, answer: Answering) -> Any:
    """The client, whose requests go to ``answer``."""
    transport = httpx.MockTransport(answer)
    http = httpx.Client if kind == "sync" else httpx.AsyncClient
    options: dict[str, Any] = {"http_client": http(transport=transport), "api_key": "k_pro_x"}
    return opened(kind, "https://anchors.example", retry=RetryPolicy(retries=0), **options)


@pytest.mark.parametrize("kind", KINDS)
def test_a_hash_in_any_form_or_that_of_a_receipt_is_sent(kind: Kind) -> None:
    issued = issue("A", 1, 1, "did:web:b", generate_secret_key())
    sha256 = anchored_hash(issued.text)
    raw = bytes.fromhex(sha256)
    text = issued.text
    forms = [sha256, to_base64url(raw), raw, text, f" \n{text}", text.encode(), issued.receipt]
    seen: list[tuple[str, str, bytes]] = []

    def answer(request: httpx.Request) -> httpx.Response:
        seen.append((request.url.path, request.headers["authorization"], request.content))
        return httpx.Response(200, json=pending(60))

    with answering(kind, answer) as client:
        assert [client.anchor(form) for form in forms] == [pending(60)] * len(forms)
    body = json.dumps({"canonical_sha256": to_base64url(raw)}, separators=(",", ":")).encode()
    assert set(seen) == {("/v1/anchor", "Bearer k_pro_x", body)}


@pytest.mark.parametrize(
    ("wrong", "code"),
    [
        ("A" * 43 + "=", "invalid_base64url"),
        ("A" * 42, "invalid_base64url"),
        ("A" * 42 + "B", "invalid_base64url"),
        ("AB" * 32, "invalid_base64url"),
        ("", "invalid_base64url"),
        (bytes(31), "json_syntax"),
        ("{}", "not_a_receipt"),
    ],
)
def test_what_is_no_hash_is_refused_here(wrong: JsonValue | bytes, code: str) -> None:
    with Client("http://127.0.0.1:9") as client:
        assert code_of(lambda: client.anchor(wrong)) == code
        assert code_of(lambda: client.anchor_batch([wrong])) == code
        assert code_of(lambda: client.get_anchor_by_hash(wrong)) == code


@pytest.mark.parametrize("kind", KINDS)
def test_a_batch_is_split_and_keeps_its_order(kind: Kind) -> None:
    sizes: list[int] = []

    def answer(request: httpx.Request) -> httpx.Response:
        hashes = json.loads(request.content)["canonical_sha256"]
        sizes.append(len(hashes))
        return httpx.Response(200, json={"results": [pending(1, one) for one in hashes]})

    hashes = [to_base64url(hashlib.sha256(str(n).encode()).digest()) for n in range(20_001)]
    with answering(kind, answer) as client:
        assert [one["anchor_ref"] for one in client.anchor_batch(iter(hashes))] == hashes
        assert client.anchor_batch([]) == []
    assert sizes == [10_000, 10_000, 1]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("body", [{}, {"results": {}}, {"results": [pending(1, "a")]}])
def test_an_answer_without_a_result_for_each_item_is_none(kind: Kind, body: Any) -> None:
    def answer(_: httpx.Request) -> httpx.Response:
        return httpx.Response(200, json=body)

    with answering(kind, answer) as client:
        hashes = [to_base64url(bytes([one]) * 32) for one in (1, 2)]
        assert code_of(lambda: client.anchor_batch(hashes)) == "unavailable"
        assert code_of(lambda: client.verify_many(["{}", "{}"])) == "unavailable"


@given(st.integers(1, 1_000_000), st.integers(0, 2_000))
def test_it_is_asked_again_when_the_batch_is_due(eta: int, overdue: int) -> None:
    due = min(300, eta)
    assert due <= poll_delay(eta, overdue) <= 1.1 * due
    late = min(30, 2**overdue)
    assert late <= poll_delay(0, overdue) <= 1.1 * late


class Clock:
    """Time that passes only while somebody sleeps."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now = 0.0

        async def sleep(seconds: float) -> None:
            self.now += seconds

        def block(seconds: float) -> None:
            self.now += seconds

        synchronous = "tallystick._lib.client.synchronous.anchors.time"
        monkeypatch.setattr(f"{synchronous}.sleep", block)
        monkeypatch.setattr(f"{synchronous}.monotonic", lambda: self.now)
        monkeypatch.setattr("tallystick._lib.client.asynchronous.anchors.asyncio.sleep", sleep)


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    return Clock(monkeypatch)


def in_turn(clock: Clock, answers: list[Any], asked: list[float]) -> Answering:
    """Gives the answers in order, the last one for ever; notes when each was asked for."""

    def answer(_: httpx.Request) -> httpx.Response:
        chosen = answers[min(len(asked), len(answers) - 1)]
        asked.append(clock.now)
        return httpx.Response(chosen.get("status", 200), json=chosen)

    return answer


@pytest.mark.parametrize("kind", KINDS)
def test_waiting_until_it_is_anchored(kind: Kind, clock: Clock) -> None:
    asked: list[float] = []
    answers = [pending(60), pending(0), BUSY, pending(0), ANCHORED]
    with answering(kind, in_turn(clock, answers, asked)) as client:
        assert client.wait_for_anchor(REF) == ANCHORED
    assert [60 <= asked[1] <= 66, len(asked)] == [True, 5]
    gaps = [later - earlier for earlier, later in pairwise(asked[1:])]
    assert [1 <= gaps[0] <= 1.1, 2 <= gaps[1] <= 2.2, 4 <= gaps[2] <= 4.4] == [True, True, True]


@pytest.mark.parametrize("kind", KINDS)
def test_waiting_ends_in_time_after_one_more_look(kind: Kind, clock: Clock) -> None:
    asked: list[float] = []
    with (
        answering(kind, in_turn(clock, [pending(3_000)], asked)) as client,
        pytest.raises(TallyError) as caught,
    ):
        client.wait_for_anchor(REF, timeout=10)
    assert (caught.value.code, caught.value.retry_after) == ("unavailable", 3_000)
    assert asked == [0, 10]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    ("answers", "code"),
    [
        ([BUSY], "unavailable"),
        ([UNKNOWN], "anchor_not_found"),
        ([pending(1), UNKNOWN], "anchor_not_found"),
        ([{}], "unavailable"),
        ([{"anchor_ref": REF, "batch_id": "x"}], "unavailable"),
    ],
)
def test_waiting_in_vain_is_told_at_once(
    kind: Kind, clock: Clock, answers: list[Any], code: str
) -> None:
    asked: list[float] = []
    with answering(kind, in_turn(clock, answers, asked)) as client:
        assert code_of(lambda: client.wait_for_anchor(digest("x"))) == code
    assert len(asked) == len(answers)


def test_with_anchor() -> None:
    issued = issue("A", 1, 1, "did:web:b", generate_secret_key())
    early = with_anchor(issued.text, {"anchor_ref": REF, "batch_id": "x", "eta_seconds": 1})
    assert early.receipt == {**issued.receipt, "anchor_ref": REF}
    late = with_anchor(early.text, ANCHORED)
    ref = ANCHORED["anchor_ref"]
    assert late.receipt == {**issued.receipt, "anchor_ref": ref, "anchor": ANCHORED}
    assert anchored_hash(late.text) == anchored_hash(issued.text)
    assert code_of(lambda: with_anchor("{}", ANCHORED)) == "not_a_receipt"


@given(st.text() | st.text("urn:achopedig0123456789-TZxab", min_size=20))
def test_no_text_breaks_the_readers(text: str) -> None:
    def read(parse: Callable[[str], object]) -> dict[str, Any]:
        return outcome(lambda: {"code": parse(text) and None})

    assert read(parse_anchor_ref)["code"] in (None, "anchor_ref_invalid")
    assert read(parse_note)["code"] in (None, "note_invalid")


@given(st.binary(max_size=90))
def test_only_a_posting_is_read_as_one(data: bytes) -> None:
    assert decode_posting(data) is None
    posting = b"svc-anchor-v1" + bytes(32) + (5).to_bytes(8, "big") + b"\x01" * 32
    head = decode_posting(posting)
    assert head is not None
    assert (head.size, head.root) == (5, b"\x01" * 32)
    assert decode_posting(posting + b"\x00") is None
    assert decode_posting(posting[:45] + (2**53).to_bytes(8, "big") + posting[53:]) is None


def test_a_log_beside_a_key_that_is_not_its_own_is_refused() -> None:
    log: Any = {"origin": "a", "key_id": "did:key:zAny", "public_key": to_base64url(b"\x07" * 32)}
    assert code_of(lambda: Trust([], [{"log": log, "chain": None}])) == "trust_invalid"
    log = {**log, "key_id": "did:web:a", "public_key": to_base64url(bytes(32))}
    assert code_of(lambda: Trust([], [{"log": log, "chain": None}])) == "trust_invalid"


ANCHORED_CASES: list[Any] = [
    case.values[0] for case in vectors("anchors.json") if str(case.id).startswith("leaf ")
]
HEX = "0123456789abcdef"


def edited(value: Any, random: Random) -> Any:
    """One least change of a member."""
    if isinstance(value, list):
        return random.choice([value[::-1], value[1:], [*value, *value[:1]], [], None])
    if isinstance(value, int):
        return random.choice([value + 1, value - 1, -value, str(value), value + 0.5])
    at = random.randrange(len(value))
    other = random.choice([*HEX, "A", "+", "=", "\n", " ", ":", "é"])
    texts = [value[:at] + other + value[at + 1 :], value[:at] + value[at + 1 :], value.upper()]
    return random.choice([*texts, value[:at] + other + value[at:], None, [value]])


def mutant(anchor: dict[str, Any], random: Random) -> dict[str, Any]:
    changed = dict(anchor)
    for name in random.sample(sorted(anchor), random.choice([1, 1, 2])):
        if random.random() < 0.1:
            del changed[name]
        else:
            other = random.choice(ANCHORED_CASES)["anchor"][name]
            changed[name] = random.choice([other, edited(anchor[name], random)])
    path = changed.get("merkle_path")
    if path and random.random() < 0.2:
        at = random.randrange(len(path))
        changed["merkle_path"] = [*path[:at], edited(path[at], random), *path[at + 1 :]]
    return changed


@pytest.mark.parametrize("seed", range(4))
def test_no_changed_result_is_proved(seed: int) -> None:
    random = Random(seed)
    counts = {"proved": 0, "refused": 0}
    for number in range(500):
        case = random.choice(ANCHORED_CASES)
        changed = mutant(case["anchor"], random)
        try:
            valid = verify(
                case["document"],
                now=instant(case["now"]),
                trust=Trust([], [case["authority"]]),
                anchor=json.dumps(changed),
                transaction=transaction_of(case["transaction"]),
            ).valid
        except TallyError as error:
            # A tree of 2^53 leaves can't be written.
            if error.code != "json_integer_range":
                raise
            valid = False
        counts["proved" if valid else "refused"] += 1
        # The last three may be absent, and nobody signs verified_at.
        meant = {**case["anchor"], "verified_at": changed.get("verified_at")}
        assert not valid or {**meant, **changed} == meant, (number, changed)
    assert min(counts.values()) > 20, counts


OFFLINE = {"anchor": True, "anchor_checkpoint": True, "anchor_transaction": None}
PROVED = {**OFFLINE, "anchor_transaction": True}


def anchor_checks(verdict: Verification) -> dict[str, bool | None]:
    return {one.name: one.ok for one in verdict.checks if one.name.startswith("anchor")}


@pytest.fixture(params=KINDS)
def client(request: pytest.FixtureRequest, service: str, pro_key: str) -> Iterator[Client]:
    with opened(request.param, service, api_key=pro_key) as client:
        yield client


def now() -> datetime:
    return datetime.now(timezone.utc)


@with_node
def test_from_a_hash_to_a_proof(client: Client) -> None:
    issued = client.emit(profile="nano", input="unit 1", anchor=True)
    first = client.get_anchor_by_hash(issued.text)
    anchor = client.wait_for_anchor(first["anchor_ref"])
    assert client.anchor(issued.text) == client.get_anchor(anchor["anchor_ref"]) == anchor
    assert client.wait_for_anchor(issued.receipt) == anchor
    trust = client.fetch_trust()
    for form in (anchor, json.dumps(anchor), json.dumps(anchor).encode()):
        verdict = verify(issued.text, now=now(), trust=trust, anchor=form)
        assert verdict.issuer.trusted
        assert anchor_checks(verdict) == OFFLINE
    assert anchor_checks(client.verify(issued.text, anchor=anchor)) == PROVED
    other = client.emit(profile="nano", input="unit 2")
    assert not verify(other.text, now=now(), trust=trust, anchor=anchor).valid


@with_node
def test_what_receipts_carry(client: Client) -> None:
    minted = client.mint_free("x", "p", anchor=True)
    assert str(minted.receipt["anchor_ref"]).startswith("urn:anchor:pending:")
    assert minted.receipt["tier"] == "pro"
    key = generate_secret_key()
    issued = client.issue(
        symbol="A", units=1, amount_usd=1, recipient="did:web:b", issuer_sk=key, anchor=True
    )
    assert issued.anchor is not None
    assert issued.receipt["anchor_ref"] == issued.anchor["anchor_ref"]
    whole = with_anchor(issued.text, client.wait_for_anchor(issued.text))
    trust = client.fetch_trust()
    assert anchor_checks(verify(whole.text, now=now(), trust=trust)) == OFFLINE
    assert anchor_checks(client.verify(whole.text)) == PROVED


@with_node
def test_many_at_once_and_a_bill(client: Client) -> None:
    hashes: list[JsonValue] = [digest(f"{time.time()} {n}") for n in range(300)]
    refs = [one["anchor_ref"] for one in client.anchor_batch([*hashes, *hashes])]
    assert len(set(refs)) == 300
    assert refs[300:] == refs[:300]
    bill = build_bill(
        salt=new_salt(),
        machine_serial="SN-1",
        customer_account="C-1",
        rate_reference="contract 1",
        window_start=datetime(2026, 1, 1, tzinfo=timezone.utc),
        window_end=datetime(2026, 1, 2, tzinfo=timezone.utc),
        service_unit="pick",
        billed_unit_count=1,
        unit_rate_minor=3,
        currency="EUR",
    )
    billed = client.meter(bill, (), anchor=True)
    anchor = client.get_anchor_by_hash(billed.text)
    assert anchor["anchor_ref"].startswith("urn:anchor:")
    assert code_of(lambda: with_anchor(billed.text, anchor)) == "not_a_receipt"


@with_node
def test_refusals_have_their_codes(service: str, data_dir: Path) -> None:
    with Client(service) as stranger:
        assert code_of(lambda: stranger.anchor(digest("x"))) == "api_key_missing"
        assert code_of(lambda: stranger.mint_free("x", "p", anchor=True)) == "api_key_missing"
        assert (
            code_of(lambda: stranger.get_anchor_by_hash(digest("nobody's"))) == "anchor_not_found"
        )
        assert code_of(lambda: stranger.wait_for_anchor("urn:anchor:x")) == "anchor_ref_invalid"
    with Client(service, api_key="k_pro_x") as wrong:
        assert code_of(lambda: wrong.anchor(digest("x"))) == "api_key_invalid"
    with Client(service, api_key=api_key(data_dir, "scale")) as scale:
        assert "anchor_ref" in scale.emit(input="x").receipt
