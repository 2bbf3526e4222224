"""Each method of the clients beside the OpenAPI document of a running service.

``TALLY_WRITE_SDK_TYPES=1`` writes ``tallystick/documents.py`` anew.
"""

from __future__ import annotations

import asyncio
import copy
import hashlib
import inspect
import json
import os
import re
import secrets
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, field
from datetime import datetime, timezone
from pathlib import Path
from typing import Any, cast

import httpx
import openai
import pytest
from clients import KINDS, Kind, opened
from support import ROOT, api_key, code_of, operate, serve, with_node

import tallystick
from tallystick import (
    AgentAuth,
    AsyncClient,
    Client,
    RetryPolicy,
    TallyError,
    anchored_hash,
    build_bill,
    create_signer,
    generate_secret_key,
    new_salt,
    open_checkpoint,
    parse_tlog_proof,
    sign_statement,
    verify,
    verify_corrections,
    verify_session,
)
from tallystick._lib.canonical import canonical_bytes
from tallystick._lib.encoding import from_base64url
from tallystick._lib.hashes import sha256_hex

pytestmark = with_node


def because(reason: str, *operations: str) -> dict[str, str]:
    return dict.fromkeys(operations, reason)


WITHOUT_METHOD = {
    **because("An MCP client calls it.", "callMcp", "endMcpSession"),
    **because(
        "It is a page for people.",
        "getLandingPage",
        "getVerifyPage",
        "getBenchmarkPage",
        "getReceiptsPage",
        "getEvidencePage",
        "getLogPage",
        "getUsagePage",
        "getLeaderboardPage",
        "getActivityPage",
        "getCallPage",
        "getSessionsPage",
        "getSessionPage",
        "getKeysPage",
        "getBalancePage",
        "getWebhooksPage",
        "getMembersPage",
        "getOperatorPage",
        "getEvidenceBuildPage",
        "getAsset",
        "getReference",
        "getIconPicture",
        "getSvgPicture",
        "getSocialPicture",
        "getRobots",
        "getSitemap",
        "getLlmsText",
        "getSecurityText",
        "getErrorReference",
    ),
    **because("It is for the operator's probes.", "getHealth", "getReadiness", "getMetrics"),
    **because("It is for generators of code.", "getOpenApiDocument"),
    **because(
        "Tools that speak SCITT call it.",
        "registerStatement",
        "getStatementReceipt",
        "listCoseKeys",
        "getCoseKey",
    ),
    **because(
        "It is for operators, whose page calls it.",
        "getOperatorOverview",
        "restProvider",
        "resumeProvider",
        "restModel",
        "resumeModel",
    ),
    **because(
        "It is for plots.",
        "countReceipts",
        "countTenantReceipts",
        "countAnchors",
        "countLeaves",
        "countPostings",
    ),
    **because("The page of the status shows it.", "getStatusHistory"),
    **because(
        "The page of the balance shows it; get_balance_statement gives the same.",
        "listBalanceEntries",
    ),
    **because(
        "The page of webhooks does it, for a person who sees that a delivery failed.",
        "repeatWebhookDelivery",
    ),
}
"""Operations that no method calls, with the reason."""


@dataclass
class Given:
    """Clients of one service with different credentials, and what is there for them."""

    kind: Kind
    client: Client
    """With an enterprise key."""
    key_id: str
    agent: Client
    """Signs as a DID that has a balance."""
    did: str
    tenant: Client
    tenant_id: str
    partner: Client
    receipt: str
    model_call: str
    """Id of the receipt of a call of a model with the enterprise key."""
    call_model: Callable[..., str]
    """Makes another such call, with these members too, and returns the id of its receipt."""
    secret: bytes = field(default_factory=generate_secret_key)

    @property
    def handle(self) -> str:
        return f"acme-{self.kind}"


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, Path]]:
    """The URL of a service that is paid by x402, and its data."""
    data = tmp_path_factory.mktemp("operations")
    settings = {
        "TALLY_PAYMENTS": "x402",
        "TALLY_HARDWARE_ATTESTATION": ATTESTATION,
        "TALLY_ATTESTATION_DIR": str(EVIDENCE.parent),
        "TALLY_ANCHOR_PERIOD_SECONDS": "1",
        "TALLY_KEEP_CONTENT_DAYS": "1",
    }
    for url in serve(data, **settings):
        yield url, data


@pytest.fixture(scope="module")
def operations(place: tuple[str, Path]) -> dict[str, tuple[str, re.Pattern[str]]]:
    """Method and path of each operation."""
    return {
        operation["operationId"]: (method.upper(), pattern_of(path))
        for path, methods in document_of(place[0])["paths"].items()
        for method, operation in methods.items()
    }


def document_of(url: str) -> Any:
    return httpx.get(f"{url}/openapi.json").json()


def pattern_of(path: str) -> re.Pattern[str]:
    # The parameter of a tile's path takes the rest of it.
    rest = ".+" if path == "/tile/{path}" else "[^/]+"
    return re.compile(re.sub(r"\\{\w+\\}", rest, re.escape(path)))


def is_for_models(path: str) -> bool:
    """Whether clients of models make these requests, with ``client_options()``."""
    ours = r"/v1/compute/(estimate|models|usage|compression|benchmark|member|feedback|calls)\b"
    return path.startswith("/v1/compute/") and re.match(ours, path) is None


@pytest.fixture(scope="module")
def answered() -> set[tuple[str, str]]:
    """Method and path of each request that the service answered with success, or asks pay for."""
    return set()


@pytest.fixture(scope="module", params=KINDS)
def given(
    request: pytest.FixtureRequest, place: tuple[str, Path], answered: set[tuple[str, str]]
) -> Iterator[Given]:
    (url, data), kind = place, request.param
    agent = AgentAuth(generate_secret_key())
    key = api_key(data, "enterprise")
    key_id = json.loads(operate(data, "apikey", "list", "--json"))[-1]["id"]
    for caller in (agent.did, key_id):
        operate(data, "ledger", "credit", caller, "50")
    tenant_id = operate(data, "tenant", "create")
    tenant_key = operate(data, "tenant", "key", tenant_id)
    partner_key = operate(data, "apikey", "create", "--scope", "partner")

    def note(response: httpx.Response) -> None:
        if response.is_success or response.status_code == 402:
            target = response.request.url.raw_path.decode().partition("?")[0]
            answered.add((response.request.method, target))

    async def note_later(response: httpx.Response) -> None:
        note(response)

    def http() -> Any:
        if kind == "sync":
            return httpx.Client(timeout=30, event_hooks={"response": [note]})
        return httpx.AsyncClient(timeout=30, event_hooks={"response": [note_later]})

    with (
        opened(kind, url, api_key=key, http_client=http()) as client,
        opened(kind, url, agent=agent, http_client=http()) as signing,
        opened(kind, url, api_key=tenant_key, http_client=http()) as tenant,
        opened(kind, url, api_key=partner_key, http_client=http()) as partner,
    ):
        receipt = client.mint_free("x", "p").text

        def call_model(**more: object) -> str:
            call = httpx.post(
                f"{url}/v1/compute/chat/completions",
                headers={"authorization": f"Bearer {key}"},
                json={"model": "local/extract-1", **CHAT, **more},
            )
            return call.headers["x-receipt-id"]

        yield Given(
            kind,
            client,
            key_id,
            signing,
            agent.did,
            tenant,
            tenant_id,
            partner,
            receipt,
            call_model(),
            call_model,
        )


HASH = hashlib.sha256(b"a file").hexdigest()
EVIDENCE = ROOT / "spec" / "vectors" / "attestation" / "nvidia.json"
ATTESTATION = "nvidia:sha256:cea50a20d2261b339c3090c889c9af37b0f5ce8f58f74420d5a971b93e3a8f96"
CHAT: Any = {"messages": [{"role": "user", "content": "Who holds the stock?"}]}
BILL = build_bill(
    salt=new_salt(),
    machine_serial="SN-1",
    customer_account="C-1",
    rate_reference="contract 1",
    window_start=datetime(2026, 1, 1, tzinfo=timezone.utc),
    window_end=datetime(2026, 1, 2, tzinfo=timezone.utc),
    service_unit="pick",
    billed_unit_count=1,
    unit_rate_minor=1,
    currency="EUR",
)


def issue(given: Given) -> None:
    issued = given.client.issue(
        symbol="USDC",
        units=1,
        amount_usd=1,
        recipient="did:web:b.example",
        issuer_sk=given.secret,
        anchor=True,
    )
    assert issued.receipt["tier"] == "enterprise"


def session(given: Given) -> None:
    """Opens a session, adds a reference, and reads both."""
    session_id = secrets.token_hex(16)
    commitment = f"sha256:{HASH}"
    opening = given.client.open_service_session(session_id, commitment)
    assert given.client.open_service_session(session_id, commitment).text == opening.text
    place = {"id": session_id, "seq": "1", "prev": f"sha256:{anchored_hash(opening.text)}"}
    call: Any = {
        "kind": "reference",
        "receipt_id": json.loads(given.receipt)["receipt_id"],
        "receipt_sha256": f"sha256:{anchored_hash(given.receipt)}",
        "session": place,
    }
    hashes: Any = {"request_hash": None, "response_hash": None}
    added = given.client.add_session_receipt(session_id, call, **hashes, anchor=True)
    later: Any = {**call, "session": {**place, "seq": "2"}}
    with pytest.raises(TallyError) as caught:
        given.client.add_session_receipt(session_id, later, **hashes)
    assert caught.value.problem is not None
    expected = {"id": session_id, "seq": "2", "prev": f"sha256:{anchored_hash(added.text)}"}
    assert caught.value.problem["session"] == expected
    verdict = verify_session(given.client.get_session(session_id))
    assert (verdict.valid, verdict.state, verdict.count) == (True, "open", 2)


def stream(given: Given) -> None:
    head = given.client.sign_stream_head()
    assert given.client.read_stream(first=1, limit=5)["stream"] == head["stream"]


def cose_receipt(given: Given) -> None:
    given.client.wait_for_anchor(HASH)
    receipt = given.client.get_cose_receipt(HASH)
    # A COSE_Sign1 with its tag, an array of four.
    assert receipt[:2] == b"\xd2\x84"


def attestation(given: Given) -> None:
    named = json.loads(given.client.mint_free("x", "p").text)["hardware"]["attestation"]
    assert named == ATTESTATION
    assert given.client.get_attestation(named) == EVIDENCE.read_bytes()
    with pytest.raises(TallyError) as caught:
        given.client.get_attestation("tdx:sha256:abc")
    assert (caught.value.code, caught.value.field) == ("invalid_field", "attestation")


def corrected(given: Given) -> None:
    first, second = (given.client.mint_free("x", "p") for _ in range(2))
    ids = [one.receipt["receipt_id"] for one in (first, second)]
    link = given.client.correct_receipt(*ids, reason="Counted twice.")
    (found,) = verify_corrections([first.text, second.text, link.text])
    assert (found.valid, found.reason) == (True, "Counted twice.")


def anchor_proof(given: Given) -> None:
    anchored = given.client.wait_for_anchor(HASH)
    proof = parse_tlog_proof(given.client.get_anchor_proof(anchored["anchor_ref"]))
    # The log may grow between the two, and then they end at different checkpoints.
    assert proof.index == parse_tlog_proof(given.client.get_anchor_proof(HASH)).index


def submit_statement(given: Given) -> None:
    names = given.client.get_did_document()["alsoKnownAs"]
    second = create_signer(generate_secret_key())
    statement = sign_statement(
        create_signer(given.secret),
        audience=names[0],
        did=f"did:svc:{given.handle}",
        sequence=2,
        action="add_key",
        key_id=second.key_id,
        at=datetime.now(timezone.utc),
        incoming=second,
    )
    record = given.client.submit_issuer_statement(statement)
    assert [key["key_id"] for key in record["keys"]][1:] == [second.key_id]


def checkpoint(given: Given) -> None:
    status = given.client.get_log_status()
    public_key = given.client.fetch_trust().bundle["log"]
    assert public_key is not None
    head = open_checkpoint(
        given.client.get_checkpoint(),
        origin=status["origin"],
        public_key=from_base64url(public_key["public_key"], 32),
    )
    assert head.size <= given.client.get_log_status()["tree_size"]


def tile(given: Given) -> None:
    size = given.client.get_log_status()["tree_size"]
    assert len(given.client.get_tile(f"0/000.p/{size}")) == 32 * size
    assert len(given.client.get_tile(f"entries/000.p/{size}")) == 34 * size


def key_order(given: Given) -> None:
    quote = given.client.quote_key(tier="scale", months=12, contact="example.com")
    order = given.client.get_key_order(quote["order_id"])
    assert (order["tier"], order["state"]) == ("scale", "open")


def must_pay(act: Callable[[], object]) -> None:
    with pytest.raises(TallyError) as caught:
        act()
    assert (caught.value.code, caught.value.status) == ("payment_required", 402)
    assert caught.value.problem is not None
    assert "payment" in caught.value.problem


def statement(given: Given) -> None:
    lines = given.agent.get_balance_statement(after=0, limit=1)["lines"]
    assert [line["amount"]["usdc"] for line in lines] == ["50.000000000"]
    assert given.key_id in given.client.get_balance_statement()["account"]


def withdrawals(given: Given) -> None:
    page = given.agent.list_withdrawals(limit=5, from_=0)
    assert [one["amount"]["usdc"] for one in page["data"]] == ["2.500000000"]
    assert (page["withdrawals"], page["next_cursor"]) == (page["data"], None)


def model(given: Given) -> None:
    assert given.client.get_model("local/extract-1")["svc"]["kind"] == "chat"


def usage(given: Given) -> None:
    assert given.client.get_usage(given.key_id, from_="2026-01-01")["days"] is not None
    assert given.agent.get_usage(given.did)["did"] == given.did


def benchmark(given: Given) -> None:
    assert verify(given.client.get_benchmark()).valid


def members(given: Given) -> None:
    dids = [one["did"] for one in given.client.get_leaderboard(limit=5)["members"]]
    assert given.did in dids


def membership(given: Given) -> None:
    assert given.client.verify_member(given.did)["registered"] is True
    assert given.client.verify_member("did:web:nobody.example")["registered"] is False


def tenant_receipt(given: Given) -> None:
    issued = given.tenant.emit_tenant_receipt(given.tenant_id, profile="pq", input="x")
    assert issued.receipt["receipt_profile"] == "pq"


def evidence(given: Given) -> None:
    assert given.tenant.export_evidence(given.tenant_id, from_="2026-01-01")[:2] == b"PK"


def manifest(given: Given) -> None:
    signed = given.tenant.get_evidence_manifest(given.tenant_id)
    assert json.loads(signed.text) == signed.manifest
    assert signed.manifest["tenant"] == given.tenant_id


def tenant_receipts(given: Given) -> None:
    issued = given.tenant.emit_tenant_receipt(given.tenant_id, input="listed")
    receipt_id = issued.receipt["receipt"]["id"]
    listed = given.tenant.list_tenant_receipts(given.tenant_id, receipt_id=receipt_id)["data"]
    assert [row["receipt_id"] for row in listed] in ([], [receipt_id])


def exports(given: Given) -> None:
    assert len(given.tenant.list_evidence_exports(given.tenant_id)["exports"]) == 2


def policy(given: Given) -> None:
    given.partner.normalize_policy(
        jurisdiction="eu", policy=[{"concept": "retention", "days": 400}], targets=["uk"]
    )


def models_of_openai(given: Given) -> None:
    if given.kind == "async":
        return
    for caller in (given.client, given.agent):
        with openai.OpenAI(**caller.client_options()) as client:
            answer = client.chat.completions.create(model="local/extract-1", **CHAT)
            assert answer.choices[0].message.content


def rating(given: Given) -> None:
    rated = given.client.rate_call(given.model_call, label="good", comment="Right.")
    assert rated["score"] == 100


def account_keys(given: Given) -> None:
    made = given.client.create_key(name="nightly", limits={"day_usdc": "5"})
    changed = given.client.update_key(made["id"], name=None, limits={"requests_per_minute": 9})
    assert changed["name"] is None
    assert changed["limits"] == {"day_usdc": "5", "requests_per_minute": 9}
    rotated = given.client.rotate_key(made["id"], grace_seconds=60)
    assert rotated["key"] != made["key"]
    page = given.client.list_keys(limit=1)
    assert len(page["data"]) == 1
    assert page["next_cursor"] is not None
    assert given.client.list_keys(cursor=page["next_cursor"])["data"]
    limits = given.client.get_limits()["data"]
    assert [one["limits"] for one in limits] == [{}]
    assert given.client.revoke_key(made["id"])["revoked_at"] is not None


def call_content(given: Given) -> None:
    call = given.call_model(svc={"keep": True})
    content = given.client.get_call_content(call)
    assert content["answer"] is not None
    given.client.delete_call_content(call)
    with pytest.raises(TallyError) as refused:
        given.client.get_call_content(call)
    assert refused.value.code == "content_not_kept"


def webhooks(given: Given) -> None:
    # Nothing listens there.
    made = given.client.create_webhook("http://127.0.0.1:9/", ["key.revoked"])
    assert made["secret"].startswith("whsec_")
    assert given.client.list_webhooks()["data"][0]["id"] == made["id"]
    message = given.client.test_webhook(made["id"])["id"]
    listed = given.client.list_webhook_deliveries(made["id"], limit=5)["data"]
    assert [delivery["id"] for delivery in listed] == [message]
    rotated = given.client.rotate_webhook_secret(made["id"], grace_seconds=60)
    assert rotated["secret"] != made["secret"]
    assert given.client.update_webhook(made["id"], enabled=False)["enabled"] is False
    given.client.delete_webhook(made["id"])
    assert given.client.list_webhooks()["data"] == []


def model_calls(given: Given) -> None:
    def of(call_id: str) -> list[str]:
        return [call["id"] for call in given.client.list_calls(receipt_id=call_id)["data"]]

    eventually(lambda: of(given.model_call) == [given.model_call])
    assert given.client.list_calls(min_cost="1000")["data"] == []
    counted = given.client.count_calls(bucket="day", by="model")["data"]
    assert any(sums["by"] == "local/extract-1" for sums in counted)
    assert given.client.get_call(given.model_call)["id"] == given.model_call


def followed(given: Given) -> None:
    made: list[str] = []
    got = threading.Event()

    def calling() -> None:
        while not got.wait(0.5):
            made.append(given.call_model())

    caller = threading.Thread(target=calling)
    caller.start()
    calls = given.client.follow_calls(model="local/extract-1")
    try:
        assert next(calls)["model"] == "local/extract-1"
    finally:
        got.set()
        caller.join()
        calls.close()
    assert made


def eventually(holds: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 60
    while not holds():
        assert time.monotonic() < deadline
        time.sleep(0.1)


CALLS: dict[str, Callable[[Given], object]] = {
    "mint_free": lambda given: given.client.mint_free("x", "p"),
    "emit": lambda given: given.client.emit(payload={"order": 42}),
    "meter": lambda given: given.client.meter(BILL),
    "issue": issue,
    "open_service_session": session,
    "add_session_receipt": session,
    "get_session": session,
    "anchor": lambda given: given.client.anchor(given.receipt),
    "anchor_batch": lambda given: given.client.anchor_batch([HASH]),
    "get_anchor": lambda given: given.client.get_anchor(given.client.anchor(HASH)["anchor_ref"]),
    "get_anchor_by_hash": lambda given: given.client.get_anchor_by_hash(HASH),
    "wait_for_anchor": lambda given: given.client.wait_for_anchor(HASH),
    "get_anchor_proof": anchor_proof,
    "get_cose_receipt": cose_receipt,
    "get_attestation": attestation,
    "get_receipt": lambda given: given.client.get_receipt(json.loads(given.receipt)["receipt_id"]),
    "correct_receipt": corrected,
    "get_corrections": lambda given: given.client.get_corrections(
        json.loads(given.receipt)["receipt_id"]
    ),
    "verify": lambda given: given.client.verify(given.receipt),
    "verify_many": lambda given: given.client.verify_many([given.receipt]),
    "pricing": lambda given: given.client.pricing(),
    "select_profile": lambda given: given.client.select_profile(amount="12.50"),
    "register_issuer": lambda given: given.client.register_issuer(given.handle, given.secret),
    "submit_issuer_statement": submit_statement,
    "issuer": lambda given: given.client.issuer(f"did:svc:{given.handle}"),
    "fetch_trust": lambda given: given.client.fetch_trust(),
    "trust_version": lambda given: given.client.trust_version(1),
    "get_did_document": lambda given: given.client.get_did_document(),
    "get_status": lambda given: verify(given.client.get_status()),
    "list_payable_resources": lambda given: given.client.list_payable_resources(),
    "get_log_status": lambda given: given.client.get_log_status(),
    "list_postings": lambda given: given.client.list_postings(limit=5),
    "sign_stream_head": lambda given: given.client.sign_stream_head(),
    "read_stream": stream,
    "list_leaves": lambda given: given.client.list_leaves(from_index=0, limit=5),
    "list_anchors": lambda given: given.client.list_anchors(from_=0, limit=5),
    "list_receipts": lambda given: given.client.list_receipts(
        profile="nano", status="ok", min_cost="0", to=1
    ),
    "list_sessions": lambda given: given.client.list_sessions(from_=0, limit=5),
    "list_tenant_receipts": tenant_receipts,
    "get_checkpoint": checkpoint,
    "get_tile": tile,
    "quote_key": lambda given: given.client.quote_key(tier="pro", contact="example.com"),
    "get_key_order": key_order,
    "buy_key": lambda given: must_pay(lambda: given.agent.buy_key(tier="pro")),
    "get_balance": lambda given: given.agent.get_balance(),
    "get_balance_statement": statement,
    "quote_top_up": lambda given: given.agent.quote_top_up("25"),
    "top_up_balance": lambda given: must_pay(lambda: given.agent.top_up_balance("1.50")),
    "request_withdrawal": lambda given: given.agent.request_withdrawal(
        address="0x52908400098527886E0F7030069857D2E4169EE7", amount="2.5"
    ),
    "list_withdrawals": withdrawals,
    "list_keys": account_keys,
    "create_key": account_keys,
    "update_key": account_keys,
    "revoke_key": account_keys,
    "rotate_key": account_keys,
    "get_limits": account_keys,
    "list_calls": model_calls,
    "count_calls": model_calls,
    "get_call": model_calls,
    "follow_calls": followed,
    "get_call_content": call_content,
    "delete_call_content": call_content,
    **dict.fromkeys(
        (
            "list_webhooks",
            "create_webhook",
            "update_webhook",
            "delete_webhook",
            "test_webhook",
            "list_webhook_deliveries",
            "rotate_webhook_secret",
        ),
        webhooks,
    ),
    "get_compute_descriptor": lambda given: given.client.get_compute_descriptor(),
    "list_models": lambda given: given.client.list_models(),
    "get_model": model,
    "estimate_chat_completion": lambda given: given.client.estimate_chat_completion(CHAT),
    "get_usage": usage,
    "rate_call": rating,
    "get_compression_stats": lambda given: given.client.get_compression_stats(),
    "get_benchmark": benchmark,
    "get_semantic_benchmark": lambda given: given.client.get_semantic_benchmark(),
    "get_temporal_benchmark": lambda given: given.client.get_temporal_benchmark(),
    "get_modality_benchmark": lambda given: given.client.get_modality_benchmark(),
    "register_member": lambda given: given.client.register_member(
        given.did, handle=f"quipu-{given.kind}"
    ),
    "get_leaderboard": members,
    "verify_member": membership,
    "emit_tenant_receipt": tenant_receipt,
    "export_evidence": evidence,
    "get_evidence_manifest": manifest,
    "list_evidence_exports": exports,
    "normalize_policy": policy,
    "get_crosswalk": lambda given: given.client.get_crosswalk(),
    "qualify_origin": lambda given: given.partner.qualify_origin(origin="http://127.0.0.1:1"),
    "client_options": models_of_openai,
}
"""A call of each method that the service answers with success."""


@pytest.mark.parametrize("name", CALLS)
def test_method(name: str, given: Given) -> None:
    CALLS[name](given)


def test_every_operation_has_a_method_or_a_reason_to_have_none(
    operations: dict[str, tuple[str, re.Pattern[str]]], answered: set[tuple[str, str]]
) -> None:
    if len(answered) < len(CALLS) / 2:
        pytest.skip("The methods were not called before.")
    lacking = {
        name: pattern.pattern
        for name, (method, pattern) in operations.items()
        if not any(asked == method and pattern.fullmatch(path) for asked, path in answered)
    }
    handed_over = {name for name, path in lacking.items() if is_for_models(path)}
    assert lacking.keys() - handed_over == WITHOUT_METHOD.keys()


def methods_of(kind: type) -> dict[str, Any]:
    found = inspect.getmembers(kind, inspect.isfunction)
    return {name: method for name, method in found if not name.startswith("_")}


def test_both_clients_have_the_same_methods_and_all_are_called_here() -> None:
    sync, asynchronous = methods_of(Client), methods_of(AsyncClient)
    assert sync.keys() - {"close"} == asynchronous.keys() - {"aclose"} == CALLS.keys()
    for name in CALLS.keys() - {"meter", "client_options", "follow_calls"}:
        assert inspect.signature(sync[name]) == inspect.signature(asynchronous[name])


def test_the_names_are_those_of_docs_sdk() -> None:
    page = ROOT / "docs" / "sdk.md"
    listed = re.findall(r"^\| .* \| `\w+` +\| `(\w+)` +\|$", page.read_text(), re.MULTILINE)
    assert set(listed) == CALLS.keys()


def test_what_is_generated_is_up_to_date(
    place: tuple[str, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(ROOT / "python" / "scripts")
    documents, unasync = map(__import__, ("documents", "unasync"))
    types = documents.documents_of(document_of(place[0]))
    if os.environ.get("TALLY_WRITE_SDK_TYPES") == "1":
        documents.FILE.write_text(types)
    assert documents.FILE.read_text() == types, "run this test with TALLY_WRITE_SDK_TYPES=1"
    for name, text in unasync.synchronous().items():
        written = (unasync.CLIENT / "synchronous" / name).read_text()
        assert written == text, "run python scripts/unasync.py"


def test_an_address_of_its_own_for_each_part(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[tuple[str, str | None, str | None]] = []

    def answer(request: httpx.Request) -> httpx.Response:
        headers = request.headers
        asked.append(
            (request.url.host, headers.get("authorization"), headers.get("x-accept-charge"))
        )
        return httpx.Response(200, json={})

    monkeypatch.setenv("TALLY_URL", "https://receipts.example")
    http = httpx.Client(transport=httpx.MockTransport(answer))
    with Client(
        api_url="https://api.example",
        site_url="https://site.example",
        api_key="k_pro_x",
        accept_charge="0.001",
        http_client=http,
    ) as client:
        client.pricing()
        client.get_status()
        client.list_models()
        client.get_balance()
        client.get_checkpoint()
        client.list_payable_resources()
        client.list_anchors()
        client.get_limits()
        client.get_did_document()
        with pytest.raises(TallyError, match="trust_invalid"):
            client.trust_version(1)
    credentials = ("Bearer k_pro_x", "0.001")
    receipts, api = ("receipts.example", *credentials), ("api.example", *credentials)
    site = ("site.example", None, None)
    assert asked == [receipts, receipts, api, api, api, api, api, api, site, site]


def test_an_empty_address_in_the_environment_stands_for_none(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked: list[str] = []

    def answer(request: httpx.Request) -> httpx.Response:
        asked.append(str(request.url))
        return httpx.Response(200, json={})

    monkeypatch.setenv("TALLY_URL", "")
    with Client(http_client=httpx.Client(transport=httpx.MockTransport(answer))) as client:
        client.get_status()
    assert asked == ["http://127.0.0.1:8787/status"]


def test_what_pays_has_one_key_for_all_attempts_and_an_error_tells_all() -> None:
    keys: list[str] = []

    def answer(request: httpx.Request) -> httpx.Response:
        keys.append(request.headers["idempotency-key"])
        problem = {"code": "unavailable", "detail": "x"}
        return httpx.Response(503, json=problem, headers={"x-receipt-id": "r_env_1"})

    http = httpx.Client(transport=httpx.MockTransport(answer))
    retry = RetryPolicy(first_delay=0)
    with Client("https://a.example", http_client=http, retry=retry) as client:
        for pay in (
            lambda: client.buy_key(tier="pro", idempotency_key="a"),
            lambda: client.top_up_balance("1", idempotency_key="b"),
        ):
            with pytest.raises(TallyError) as caught:
                pay()
            assert caught.value.receipt_id == "r_env_1"
            assert caught.value.problem == {"code": "unavailable", "detail": "x"}
    assert keys == ["a", "a", "a", "b", "b", "b"]


def test_what_newer_trust_takes_back_is_named(place: tuple[str, Path]) -> None:
    with Client(place[0]) as client:
        newest = client.fetch_trust()
    assert newest.taken_back == ()
    earlier = copy.deepcopy(newest.bundle)
    # Other tests register issuers, which the operator has not verified.
    issuer = next(record for record in earlier["issuers"] if record["status"] == "verified")
    key, at = issuer["keys"][0], earlier["issued_at"]
    key["revoked"] = {"at": at, "reason": "compromised"}
    # As if the earlier bundle had been seen and saved: its pin is given below, and not the store's.
    seen = {**asdict(newest.pin), "bundle_sha256": sha256_hex(canonical_bytes(earlier))}
    store = tallystick.MemoryTrustStore()
    store.save(cast(tallystick.SavedTrust, {"pin": seen, "bundle": earlier}))
    named = f"The revocation of the key {key['key_id']} of {issuer['did']}, at {at}, "
    with Client(place[0], trust=store) as deceived:
        fetched = deceived.fetch_trust(pin=newest.pin)
        assert fetched.taken_back == (named + "was taken back or weakened.",)
        assert deceived.fetch_trust().taken_back == ()


DAMAGED = (
    "The bundle that was kept is damaged, so nothing shows what the newer one takes back of it."
)


@pytest.mark.parametrize(
    "bundle", [None, "{", "\ud800", {}, {"type": "svc-trust-v1", "issuers": None}, float("nan")]
)
def test_a_damaged_bundle_in_a_store_is_replaced_and_named(
    place: tuple[str, Path], bundle: object
) -> None:
    with Client(place[0]) as client:
        pin = client.fetch_trust().pin
    store = tallystick.MemoryTrustStore()
    store.save(cast(tallystick.SavedTrust, {"pin": asdict(pin), "bundle": bundle}))
    with Client(place[0], trust=store) as client:
        fetched = client.fetch_trust()
        assert fetched.taken_back == (DAMAGED,)
        assert store.load() == {"pin": asdict(fetched.pin), "bundle": fetched.bundle}
        assert client.fetch_trust().taken_back == ()


def test_a_damaged_bundle_in_a_store_does_not_let_an_older_one_pass(
    place: tuple[str, Path],
) -> None:
    with Client(place[0]) as client:
        pin = client.fetch_trust().pin
    saved = {"pin": {**asdict(pin), "version": pin.version + 1000}, "bundle": {}}
    store = tallystick.MemoryTrustStore()
    store.save(cast(tallystick.SavedTrust, saved))
    with Client(place[0], trust=store) as client:
        assert code_of(client.fetch_trust) == "trust_rollback"
    assert store.load() == saved


@pytest.mark.parametrize(
    ("saved", "field"),
    [
        ({}, "pin"),
        ([], "pin"),
        ({"pin": None, "bundle": {}}, "pin"),
        ({"pin": {"version": 1}, "bundle": {}}, "pin.root"),
        ({"pin": {"root": f"sha256:{'0' * 64}", "version": "1"}, "bundle": {}}, "pin.version"),
    ],
)
def test_a_store_whose_pin_is_damaged_does_not_count_as_empty(
    place: tuple[str, Path], saved: object, field: str
) -> None:
    store = tallystick.MemoryTrustStore()
    store.save(cast(tallystick.SavedTrust, saved))
    with Client(place[0]) as client:
        pin = client.fetch_trust().pin
    with Client(place[0], trust=store) as client:
        for act in (
            client.fetch_trust,
            lambda: client.fetch_trust(root=pin.root),
            lambda: client.trust_version(1),
            lambda: verify({}, trust=store),
        ):
            with pytest.raises(TallyError) as caught:
                act()
            assert (caught.value.code, caught.value.field) == ("trust_invalid", field)
        assert store.load() is saved
        # A pin that was kept elsewhere too makes the store whole again.
        fetched = client.fetch_trust(pin=pin)
        assert fetched.taken_back == (DAMAGED,)
        assert store.load() == {"pin": asdict(fetched.pin), "bundle": fetched.bundle}


def test_the_trust_of_a_store_is_kept(place: tuple[str, Path]) -> None:
    store = tallystick.MemoryTrustStore()
    assert code_of(lambda: verify({}, trust=store)) == "trust_unavailable"

    async def fetch() -> None:
        async with AsyncClient(place[0], trust=store) as client:
            await client.fetch_trust()

    asyncio.run(fetch())
    saved = store.load()
    assert saved is not None
    with Client(place[0], trust=store) as client:
        issued = client.mint_free("a", "b")
        assert verify(issued.text, trust=store).issuer.trusted
        store.save({**saved, "pin": {**saved["pin"], "version": 9_999}})
        assert code_of(client.fetch_trust) == "trust_rollback"
    assert code_of(lambda: verify(issued.text, trust=store)) == "trust_rollback"
    checked = tallystick.check_trust(saved["bundle"])
    later = datetime(2100, 1, 1, tzinfo=timezone.utc)
    assert code_of(lambda: verify(issued.text, trust=checked, now=later)) == "trust_expired"
