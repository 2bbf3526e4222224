"""A user's program, run and type-checked where the package is installed: nothing in it is cast."""

from __future__ import annotations

from tallystick import AsyncClient, Client, Verification, generate_secret_key, issue, verify


def facts(client: Client) -> tuple[str | None, str, int, str]:
    """Reads fields of the receipts that a service answers."""
    minted = client.mint_free("hello", "demo")
    request_hash: str | None = minted.receipt["request"]["hash"]
    nano = client.emit(profile="nano", payload={"order": 42}).receipt
    standard = client.emit(payload={"order": 42}).receipt
    return request_hash, nano["h"], nano["ts"], standard["receipt"]["id"]


async def facts_asynchronously(client: AsyncClient) -> str:
    """Reads one likewise."""
    return (await client.emit(profile="pq", payload={"order": 42})).receipt["receipt"]["id"]


def main() -> None:
    """Signs a receipt, and verifies it as of now."""
    recipient = "0x00000000000000000000000000000000000000aa"
    issued = issue("ACME", 25, 1250.5, recipient, generate_secret_key())
    units: int = issued.receipt["units"]
    verdict: Verification = verify(issued.text)
    forged = verify(issued.text.replace("ACME", "ACNE"))
    print(units, verdict.valid, forged.valid)


if __name__ == "__main__":
    main()
