"""A user's program, run and type-checked where the package is installed: nothing in it is cast."""

from __future__ import annotations

import httpx

from tallystick import (
    AsyncClient,
    AsyncReceiptTransport,
    CallReport,
    Client,
    ForeignVerification,
    ReceiptTransport,
    Session,
    SessionVerification,
    Verification,
    create_signer,
    generate_secret_key,
    issue,
    open_session,
    verify,
    verify_call,
    verify_foreign,
    verify_session,
)
from tallystick.documents import Balance, Model


def facts(client: Client) -> tuple[str | None, str, int, str]:
    """Reads fields of the receipts that a service answers."""
    minted = client.mint_free("hello", "demo")
    request_hash: str | None = minted.receipt["request"]["hash"]
    nano = client.emit(profile="nano", payload={"order": 42}).receipt
    standard = client.emit(payload={"order": 42}).receipt
    return request_hash, nano["h"], nano["ts"], standard["receipt"]["id"]


def more_facts(client: Client) -> tuple[str, str, list[str], int]:
    """Reads fields of what else a service answers."""
    balance: Balance = client.get_balance()
    models: list[Model] = client.list_models()["data"]
    prices = [model["svc"]["price_per_million_tokens"]["input"]["usdc"] for model in models]
    estimate = client.estimate_chat_completion({"messages": [{"role": "user", "content": "x"}]})
    verdict = verify(client.get_status(), trust=client.fetch_trust())
    return balance["available"]["usdc"], verdict.verified_at, prices, estimate["tokens"]["prompt"]


async def facts_asynchronously(client: AsyncClient) -> tuple[str, int]:
    """Reads some likewise."""
    receipt = (await client.emit(profile="pq", payload={"order": 42})).receipt
    usage = await client.get_usage("did:key:z6Mk", from_="2026-01-01")
    return receipt["receipt"]["id"], usage["total"]["calls"]


def on_call(report: CallReport) -> None:
    """Is told of a call."""
    again = verify_call(**report.call, receipt=report.receipt)
    print(report.verdict.protocol, again.valid)


async def on_call_asynchronously(report: CallReport) -> None:
    """Is told of a call."""
    on_call(report)


def http_clients() -> tuple[httpx.Client, httpx.AsyncClient]:
    """Makes HTTP clients that verify calls."""
    transport = AsyncReceiptTransport(on_call=on_call_asynchronously)
    return (
        httpx.Client(transport=ReceiptTransport(on_call=on_call)),
        httpx.AsyncClient(transport=transport),
    )


def record(session: Session) -> str:
    """Records a call of a tool."""
    begun = session.begin(
        tool="read",
        server={"name": "f", "version": None, "transport": "stdio", "identity_sha256": None},
        arguments={"path": "/a"},
    )
    return session.end(begun, outcome="completed", result=["text"])


def verdicts() -> tuple[SessionVerification, ForeignVerification | None]:
    """Records a session in memory, and judges it."""
    key = generate_secret_key()
    lines: list[str] = []
    with open_session(key=key, keep=lines.append) as session:
        record(session)
    file = "\n".join(lines)
    return verify_session(file, key=create_signer(key).key_id), verify_foreign(file)


def main() -> None:
    """Signs a receipt, and verifies it as of now."""
    recipient = "0x00000000000000000000000000000000000000aa"
    issued = issue("ACME", 25, 1250.5, recipient, generate_secret_key())
    units: int = issued.receipt["units"]
    verdict: Verification = verify(issued.text)
    forged = verify(issued.text.replace("ACME", "ACNE"))
    session, foreign = verdicts()
    print(units, verdict.valid, forged.valid, session.trusted, foreign is None)
    http_clients()[0].close()


if __name__ == "__main__":
    main()
