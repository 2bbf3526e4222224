"""Middleware for servers of the official MCP SDK: a receipt for each tool call."""

from __future__ import annotations

import contextlib
import subprocess
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import anyio
import mcp_server
import pytest
from mcp import Client, StdioServerParameters, stdio_client
from mcp.shared.exceptions import MCPError

from tallystick import (
    Session,
    TallyError,
    anchored_hash,
    canonicalize,
    create_signer,
    open_session,
    salt_of,
    salted_hash,
    verify_session,
)
from tallystick.mcp import RECEIPT_META_KEY, SessionMiddleware, result_without_receipt

SERVER = Path(mcp_server.__file__)
KEY = bytes([1]) * 32


class Recorded:
    """A session in memory, and what was recorded in it."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.session = open_session(key=KEY, keep=self.lines.append)

    def calls(self) -> list[Any]:
        """The tool calls, after the session was verified."""
        file = "".join(f"{line}\n" for line in self.lines)
        verdict = verify_session(file, key=create_signer(KEY).key_id)
        assert verdict.trusted
        return [one for one in verdict.entries if one.call["kind"] == "tool"]

    def outcomes(self) -> list[tuple[str, str]]:
        return [(one.call["tool"], one.call["outcome"]) for one in self.calls()]


@pytest.fixture
def recorded() -> Recorded:
    return Recorded()


Act = Callable[[Client], Awaitable[None]]


def with_client(server: Any, act: Act) -> None:
    async def main() -> None:
        async with Client(server) as client:
            await act(client)

    anyio.run(main)


def receipt_in(result: Any) -> Any:
    return result.meta[RECEIPT_META_KEY]


def as_sent(result: Any) -> dict[str, Any]:
    sent: dict[str, Any] = result.model_dump(by_alias=True, mode="json", exclude_none=True)
    return sent


def covers(session: Session, result: Any, arguments: Any) -> bool:
    """Whether the receipt in a result covers it and these arguments."""
    receipt = receipt_in(result)
    seq = receipt["call"]["session"]["seq"]

    def digest(part: Any, value: Any) -> str:
        return salted_hash(salt_of(session.salt, seq, part), {"json": value})

    return (receipt["request"]["hash"], receipt["response"]["hash"]) == (
        digest("arguments", arguments),
        digest("result", result_without_receipt(as_sent(result))),
    )


def test_a_result_carries_the_receipt_that_covers_it(recorded: Recorded) -> None:
    async def act(client: Client) -> None:
        result = await client.call_tool("forecast", {"city": "Zürich"})
        assert result.structured_content == {"city": "Zürich", "weather": "9 °C"}
        assert covers(recorded.session, result, {"city": "Zürich"})
        assert canonicalize(receipt_in(result)) == recorded.lines[-1]

    with_client(mcp_server.high_level(recorded.session), act)
    (call,) = recorded.calls()
    assert call.call["server"] == {
        "name": "weather",
        "version": "1.2.0",
        "transport": "stdio",
        "identity_sha256": None,
    }


def test_what_is_in_meta_already_stays_and_is_covered(recorded: Recorded) -> None:
    async def act(client: Client) -> None:
        result = await client.call_tool("forecast", {"city": "Bern"})
        assert result.meta is not None
        assert result.meta["example/kept"] is True
        assert covers(recorded.session, result, {"city": "Bern"})
        without = receipt_in(await client.call_tool("forecast"))
        assert without["response"]["hash"].startswith("sha256:")

    with_client(mcp_server.low_level(recorded.session), act)
    assert [one.call["server"]["name"] for one in recorded.calls()] == ["low", "low"]


def test_errors_are_recorded_as_errors(recorded: Recorded) -> None:
    async def act(client: Client) -> None:
        failed = await client.call_tool("fail")
        assert failed.is_error
        assert receipt_in(failed)["call"]["outcome"] == "error"
        with pytest.raises(MCPError, match="not now"):
            await client.call_tool("refuse")

    with_client(mcp_server.high_level(recorded.session), act)
    assert recorded.outcomes() == [("fail", "error"), ("refuse", "error")]
    refused = recorded.calls()[1]
    error = {"code": -32050, "message": "not now", "data": {"again": "later"}}
    salt = salt_of(recorded.session.salt, str(refused.seq), "result")
    assert refused.response_hash == salted_hash(salt, {"json": error})


def test_a_call_that_is_given_up_is_recorded_as_cancelled(recorded: Recorded) -> None:
    begun = anyio.Event()

    async def act(client: Client) -> None:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(client.call_tool, "wait")
            await begun.wait()
            tasks.cancel_scope.cancel()
        await client.call_tool("forecast", {"city": "Bern"})

    with_client(mcp_server.high_level(recorded.session, begun.set), act)
    assert sorted(recorded.outcomes()) == [("forecast", "completed"), ("wait", "cancelled")]


def test_a_call_that_is_given_up_as_it_ends_is_recorded_as_it_ended(recorded: Recorded) -> None:
    middleware: Any = SessionMiddleware(recorded.session, name="files")

    async def main() -> None:
        for error in (None, ValueError("It failed.")):

            async def answer(
                _: Any, scope: anyio.CancelScope, error: Any = error
            ) -> dict[str, Any]:
                scope.cancel()
                if error is not None:
                    raise error
                return {"content": []}

            with anyio.CancelScope() as scope:
                called = SimpleNamespace(method="tools/call", params={"name": "read"}, request=None)
                with contextlib.suppress(ValueError):
                    await middleware(called, partial(answer, scope=scope))

    anyio.run(main)
    assert recorded.outcomes() == [("read", "completed"), ("read", "error")]


def test_calls_side_by_side_each_have_a_receipt(recorded: Recorded) -> None:
    async def act(client: Client) -> None:
        async def ask(city: str) -> None:
            assert covers(
                recorded.session,
                await client.call_tool("forecast", {"city": city}),
                {"city": city},
            )

        async with anyio.create_task_group() as tasks:
            for number in range(20):
                tasks.start_soon(ask, f"city {number}")

    with_client(mcp_server.high_level(recorded.session), act)
    assert len(recorded.calls()) == 20


def test_other_messages_and_calls_of_nothing_are_not_recorded(recorded: Recorded) -> None:
    async def act(client: Client) -> None:
        assert len((await client.list_tools()).tools) == 4
        assert (await client.call_tool("")).is_error

    with_client(mcp_server.high_level(recorded.session), act)
    assert recorded.calls() == []


def test_what_cannot_be_recorded_is_not_called(recorded: Recorded) -> None:
    async def act(client: Client) -> None:
        recorded.session.close()
        with pytest.raises((MCPError, TallyError)):
            await client.call_tool("forecast", {"city": "Bern"})

    with_client(mcp_server.high_level(recorded.session), act)


@asynccontextmanager
async def on_stdio(kind: str, path: Path) -> AsyncIterator[Client]:
    command = [str(SERVER), kind, "stdio", str(path)]
    parameters = StdioServerParameters(command=sys.executable, args=command)
    async with Client(stdio_client(parameters)) as client:
        yield client


@contextmanager
def port_of(kind: str, path: Path) -> Iterator[str]:
    command = [sys.executable, str(SERVER), kind, "http", str(path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            yield process.stdout.readline().strip()
        finally:
            process.terminate()


@pytest.mark.parametrize("kind", ["high", "low"])
@pytest.mark.parametrize("transport", ["stdio", "http"])
def test_in_a_process_of_its_own(
    kind: str, transport: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TALLY_HOME", str(tmp_path))
    path = tmp_path / "server.jsonl"
    seen: list[str] = []

    async def act(client: Client) -> None:
        for city in ("Bern", "Basel"):
            result = await client.call_tool("forecast", {"city": city})
            seen.append(f"sha256:{anchored_hash(receipt_in(result))}")

    async def by_stdio() -> None:
        async with on_stdio(kind, path) as client:
            await act(client)

    if transport == "stdio":
        anyio.run(by_stdio)
    else:
        with port_of(kind, path) as port:
            with_client(f"http://127.0.0.1:{port}/mcp", act)
    verdict = verify_session(path.read_bytes())
    assert verdict.valid
    calls = [one for one in verdict.entries if one.call["kind"] == "tool"]
    assert [one.sha256 for one in calls] == seen
    assert {one.call["server"]["transport"] for one in calls if one.call["kind"] == "tool"} == {
        transport
    }
