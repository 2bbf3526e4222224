"""Retries, errors, headers and anchors, against a small server that answers what it is told."""

from __future__ import annotations

import base64
import hashlib
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime, timedelta, timezone
from email.utils import format_datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import httpx
import pytest
from clients import KINDS, Kind, opened
from support import VECTORS, code_of

from tallystick import (
    AgentAuth,
    AnchorError,
    Client,
    RetryPolicy,
    TallyError,
    anchored_hash,
    canonicalize,
    issue,
    verify,
)
from tallystick._lib.client.wire import _retry_after
from tallystick._lib.encoding import to_base64url

FAST = RetryPolicy(first_delay=0.001, longest_delay=0.002)
PRICING: Any = {"currency": "USD"}


@dataclass(frozen=True)
class Reply:
    status: int = 200
    body: object = field(default_factory=lambda: PRICING)
    headers: dict[str, str] = field(default_factory=dict)


BUSY = Reply(503, {"code": "unavailable", "detail": "busy"})
DROPPED = Reply(0)


class Told:
    """Answers the replies in order, the last one for ever; keeps what was asked."""

    def __init__(self, *replies: Reply) -> None:
        self.replies = list(replies)
        self.asked: list[tuple[str, dict[str, str], bytes]] = []

    def answer(self, handler: BaseHTTPRequestHandler) -> None:
        headers = {name.lower(): value for name, value in handler.headers.items()}
        self.asked.append((handler.path, headers, _body(handler, headers)))
        reply = self.replies.pop(0) if len(self.replies) > 1 else self.replies[0]
        if reply is DROPPED:
            handler.close_connection = True
            return
        text = reply.body if isinstance(reply.body, str) else json.dumps(reply.body)
        handler.send_response(reply.status)
        for name, value in {**reply.headers, "content-length": str(len(text))}.items():
            handler.send_header(name, value)
        handler.end_headers()
        handler.wfile.write(text.encode())


def _body(handler: BaseHTTPRequestHandler, headers: dict[str, str]) -> bytes:
    if headers.get("transfer-encoding") != "chunked":
        return handler.rfile.read(int(headers.get("content-length", 0)))
    body = b""
    while (size := int(handler.rfile.readline(), 16)) > 0:
        body += handler.rfile.read(size)
        handler.rfile.readline()
    handler.rfile.readline()
    return body


@contextmanager
def serving(told: Told) -> Iterator[str]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            told.answer(self)

        do_POST = do_GET  # noqa: N815

        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        server.daemon_threads = True
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_address[1]}"
        finally:
            server.shutdown()
            thread.join()


@contextmanager
def asking(kind: Kind, *replies: Reply, **options: Any) -> Iterator[tuple[Client, Told]]:
    told = Told(*replies)
    with serving(told) as url, opened(kind, url, **{"retry": FAST, **options}) as client:
        yield client, told


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("failure", [BUSY, DROPPED, Reply(429, "slow down"), Reply(502, "<html>")])
def test_a_passing_failure_is_not_noticed(kind: Kind, failure: Reply) -> None:
    with asking(kind, failure, failure, Reply()) as (client, told):
        assert client.select_profile(amount=1) == PRICING
    keys = {headers["idempotency-key"] for _, headers, _ in told.asked}
    assert (len(told.asked), len(keys)) == (3, 1)
    assert {body for _, _, body in told.asked} == {b'{"amount":1}'}


@pytest.mark.parametrize("kind", KINDS)
def test_an_agent_signs_each_attempt_anew(kind: Kind) -> None:
    agent = AgentAuth(bytes(32))
    with asking(kind, BUSY, Reply(), agent=agent) as (client, told):
        client.select_profile(amount=1)
        client.pricing()
    (first, second), read = [headers for _, headers, _ in told.asked[:2]], told.asked[2][1]
    assert {one["x-agent-did"] for one in (first, second, read)} == {agent.did}
    assert first["signature"] != second["signature"]
    digest = hashlib.sha256(b'{"amount":1}').digest()
    assert first["content-digest"] == f"sha-256=:{base64.b64encode(digest).decode()}:"
    assert "content-digest" not in read
    assert '"@target-uri" "x-agent-did")' in read["signature-input"]


@pytest.mark.parametrize("kind", KINDS)
def test_a_lasting_failure_is_told_after_the_last_attempt(kind: Kind) -> None:
    with asking(kind, BUSY) as (client, told), pytest.raises(TallyError) as caught:
        client.pricing()
    assert (caught.value.code, caught.value.status) == ("unavailable", 503)
    assert len(told.asked) == 3


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    ("reply", "code"),
    [
        (Reply(500, {"code": "internal", "detail": "x"}), "internal"),
        (Reply(422, {"code": "a_code_of_tomorrow", "field": "a.b"}), "a_code_of_tomorrow"),
        (Reply(404, "<html>"), "not_found"),
        (Reply(302, "", {"location": "https://elsewhere.example"}), "unavailable"),
        (Reply(200, "<html>"), "unavailable"),
        (Reply(200, "[]"), "unavailable"),
        (Reply(429, {"code": "rate_limited"}, {"retry-after": "31"}), "rate_limited"),
        (Reply(429, {"code": "budget_exceeded"}, {"x-should-retry": "false"}), "budget_exceeded"),
    ],
)
def test_what_will_not_pass_is_told_at_once(kind: Kind, reply: Reply, code: str) -> None:
    with asking(kind, reply) as (client, told):
        assert code_of(client.pricing) == code
    assert len(told.asked) == 1


@pytest.mark.parametrize("kind", KINDS)
def test_nothing_answers(kind: Kind) -> None:
    with serving(Told(Reply())) as url:
        pass
    with opened(kind, url, retry=FAST) as client, pytest.raises(TallyError) as caught:
        client.pricing()
    assert (caught.value.code, caught.value.status) == ("unavailable", None)
    assert isinstance(caught.value.__cause__, httpx.ConnectError)


@pytest.mark.parametrize("kind", KINDS)
def test_streams_are_tried_again_only_where_they_can_be_read_again(kind: Kind) -> None:
    bill: Any = {"a": 1}
    leaves: list[Any] = [{"unit": n} for n in range(1_001)]
    with asking(kind, BUSY, Reply()) as (client, told):
        client.meter(bill, leaves)
        assert told.asked[0][2] == told.asked[1][2]
        assert told.asked[1][1]["content-type"] == "application/x-ndjson"
        assert told.asked[1][2].count(b"\n") == 1_002
    with asking(kind, BUSY, Reply()) as (client, told):
        assert code_of(lambda: client.meter(bill, iter(leaves))) == "unavailable"
        assert len(told.asked) == 1


@pytest.mark.parametrize("kind", KINDS)
def test_the_key_goes_to_receipts_and_anchors_only(kind: Kind) -> None:
    who: dict[str, Any] = {"api_key": "k_pro_x", "agent_did": "did:web:a.example"}
    with asking(kind, Reply(), **who) as (client, told):
        client.pricing()
        code_of(lambda: client.issuer("did:svc:a/b"))
    pricing, issuer = told.asked
    assert pricing[1]["authorization"] == "Bearer k_pro_x"
    assert pricing[1]["x-agent-did"] == "did:web:a.example"
    assert issuer[0] == "/.well-known/issuers/did%3Asvc%3Aa%2Fb.json"
    assert "authorization" not in issuer[1]


REF = "urn:anchor:pending:x:1"
PENDING = {"anchor_ref": REF, "batch_id": "x", "eta_seconds": 60}
ISSUE: dict[str, Any] = {"symbol": "A", "units": 1, "amount_usd": 1, "recipient": "did:web:b"}


@pytest.mark.parametrize("kind", KINDS)
def test_only_the_hash_of_an_issued_receipt_is_anchored(kind: Kind) -> None:
    with asking(kind, Reply(body=PENDING), api_key="k_pro_x") as (client, told):
        issued = client.issue(**ISSUE, issuer_sk=bytes(32), anchor=True)
    ((path, headers, body),) = told.asked
    digest = to_base64url(bytes.fromhex(anchored_hash(issued.text)))
    assert (path, json.loads(body)) == ("/v1/anchor", {"canonical_sha256": digest})
    assert headers["authorization"] == "Bearer k_pro_x"
    assert issued.anchor == PENDING
    assert (issued.receipt["anchor_ref"], issued.receipt["tier"]) == (REF, "pro")
    assert issued.text == canonicalize(issued.receipt)
    assert verify(issued.text, now=datetime.now(timezone.utc)).valid


@pytest.mark.parametrize("kind", KINDS)
def test_an_anchor_that_is_refused_leaves_a_good_receipt(kind: Kind) -> None:
    headers = {"retry-after": "99", "x-should-retry": "false"}
    refused = Reply(429, {"code": "quota_exceeded", "detail": "No more."}, headers)
    with asking(kind, refused) as (client, _), pytest.raises(AnchorError) as caught:
        client.issue(**ISSUE, issuer_sk=bytes(32), anchor=True)
    assert (caught.value.code, caught.value.retry_after) == ("quota_exceeded", 99)
    assert caught.value.final
    assert "anchor_ref" not in caught.value.issued.receipt
    now = datetime.now(timezone.utc)
    assert verify(caught.value.issued.text, now=now).valid


def test_issue_by_itself_asks_the_service_that_it_is_given() -> None:
    told = Told(Reply(body=PENDING))
    with serving(told) as url:
        issued = issue("A", 1, 1, "did:web:b", bytes(32), "k_ent_x", True, base_url=url)
    assert issued.anchor == PENDING
    assert issued.receipt["tier"] == "enterprise"
    assert told.asked[0][1]["authorization"] == "Bearer k_ent_x"


@pytest.mark.parametrize("kind", KINDS)
def test_the_record_of_another_issuer_is_refused(kind: Kind) -> None:
    cases = json.loads((VECTORS / "statements.json").read_text())
    record = cases[0]["expected"]["record"]
    with asking(kind, Reply(body=record)) as (client, _):
        assert client.issuer("did:svc:acme") == record
        assert code_of(lambda: client.issuer("did:svc:other")) == "issuer_proof_invalid"


def test_the_wait_grows_and_is_never_shorter_than_asked() -> None:
    policy = RetryPolicy(retries=20, first_delay=1, longest_delay=4)
    busy = TallyError("unavailable", "", status=503)
    for attempt, ceiling in enumerate([1, 2, 4, 4]):
        waits = [policy.delay(busy, attempt) or 0 for _ in range(200)]
        assert max(waits) <= ceiling
        assert max(waits) > ceiling / 2
    asked = TallyError("unavailable", "", status=503, retry_after=30)
    wait = policy.delay(asked, 0)
    assert wait is not None
    assert 30 <= wait <= 31
    assert policy.delay(busy, 20) is None


def test_retry_after_is_seconds_or_a_date() -> None:
    later = datetime.now(timezone.utc) + timedelta(seconds=60)
    assert _retry_after("7") == 7
    assert 50 < (_retry_after(format_datetime(later, usegmt=True)) or 0) <= 60
    assert _retry_after("Wed, 21 Oct 2015 07:28:00 GMT") == 0
    assert _retry_after("soon") is _retry_after(None) is None


@pytest.mark.parametrize(
    "url", ["", "example.com", "ftp://a", "https://", "https://u@a", "https://a?b", "https://a#b"]
)
def test_an_address_that_is_none_is_refused(url: str) -> None:
    assert code_of(lambda: Client(url)) == "invalid_field"


def test_a_client_that_is_given_stays_open() -> None:
    with httpx.Client() as http:
        with Client("https://a.example", http_client=http):
            pass
        assert not http.is_closed
