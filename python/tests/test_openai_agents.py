"""The provider for the OpenAI Agents SDK: receipts by run."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from typing import Any

import agents
import pytest
from support import front, with_node

from tallystick import (
    CallReport,
    Client,
    SessionVerification,
    create_signer,
    open_session,
    salt_of,
    salted_hash,
    verify_session,
)
from tallystick.openai_agents import SessionHooks, TallystickProvider

pytestmark = with_node

KEY = bytes([1]) * 32
ARGUMENTS = {"city": "Bern", "input": "?"}
# Calls the tool once, then says again what it was asked.
SCRIPTED = """
    (body.tools && body.messages.at(-1).role === 'user'
      ? { toolCalls: [{ id: 'call_1', name: 'weather', pieces: ['{"city":"Bern","input":"?"}'] }] }
      : { pieces: ['You said: ', body.messages.findLast(({ role }) => role === 'user').content] })
"""


@pytest.fixture(scope="module")
def base_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    yield from front(tmp_path_factory.mktemp("front"), SCRIPTED)


@asynccontextmanager
async def opened(base_url: str) -> AsyncIterator[TallystickProvider]:
    with Client(base_url.removesuffix("/v1/compute")) as service:
        trust = service.fetch_trust()
    provider = TallystickProvider(base_url=base_url, api_key="k", use_responses=False, trust=trust)
    try:
        yield provider
    finally:
        await provider.aclose()


@agents.function_tool
def weather(city: str) -> str:
    """The weather of a city."""
    return f"9 °C in {city}"


plain = agents.Agent(name="Plain", model="gpt-4o-mini")
equipped = agents.Agent(name="Equipped", model="gpt-4o-mini", tools=[weather])


async def answer(
    provider: TallystickProvider, agent: agents.Agent, question: str, *, stream: bool = False
) -> tuple[str, list[CallReport]]:
    """What an agent answers, and the receipts of its run."""
    config = agents.RunConfig(model_provider=provider, tracing_disabled=True)
    with provider.receipts() as receipts:
        if not stream:
            result = await agents.Runner.run(agent, question, run_config=config)
            return str(result.final_output), receipts
        streamed = agents.Runner.run_streamed(agent, question, run_config=config)
        async for _ in streamed.stream_events():
            pass
        return str(streamed.final_output), receipts


def assert_checked(call: CallReport, *, stream: bool) -> None:
    assert call.verdict.valid
    assert call.verdict.issuer.trusted
    receipt: Any = call.receipt
    assert receipt["call"]["stream"] is stream


@pytest.mark.parametrize("stream", [False, True], ids=["one piece", "stream"])
def test_a_receipt_for_each_turn(base_url: str, *, stream: bool) -> None:
    async def main() -> None:
        async with opened(base_url) as provider:
            said, receipts = await answer(provider, equipped, "weather?", stream=stream)
        assert said == "You said: weather?"
        assert len(receipts) == 2
        for call in receipts:
            assert_checked(call, stream=stream)

    asyncio.run(main())


def test_runs_side_by_side_each_its_own(base_url: str) -> None:
    async def main() -> None:
        questions = [f"word {number}" for number in range(4)]
        async with opened(base_url) as provider:
            answers = await asyncio.gather(
                *(
                    answer(provider, plain, text, stream=number % 2 == 0)
                    for number, text in enumerate(questions)
                )
            )
        assert [said for said, _ in answers] == [f"You said: {text}" for text in questions]
        assert [len(receipts) for _, receipts in answers] == [1, 1, 1, 1]
        assert len({receipts[0].receipt_id for _, receipts in answers}) == 4

    asyncio.run(main())


def test_an_agent_as_a_tool_counts_in_the_run_around_it(base_url: str) -> None:
    async def main() -> None:
        async with opened(base_url) as provider:
            config = agents.RunConfig(model_provider=provider, tracing_disabled=True)
            inner = plain.as_tool("weather", "The weather of a city.", run_config=config)
            outer = agents.Agent(name="Outer", model="gpt-4o-mini", tools=[inner])
            _, receipts = await answer(provider, outer, "weather?")
        assert len(receipts) == 3

    asyncio.run(main())


def test_a_run_after_the_block_is_not_recorded(base_url: str) -> None:
    async def main() -> None:
        async with opened(base_url) as provider:
            _, receipts = await answer(provider, plain, "hello")
            config = agents.RunConfig(model_provider=provider, tracing_disabled=True)
            await agents.Runner.run(plain, "hello", run_config=config)
        assert len(receipts) == 1

    asyncio.run(main())


@agents.function_tool(name_override="weather")
def broken(city: str) -> str:
    """The weather of a city."""
    raise ValueError(city)


@agents.function_tool(name_override="weather", failure_error_function=lambda _, error: str(error))
def broken_in_its_own_words(city: str) -> str:
    """The weather of a city."""
    raise ValueError(city)


@agents.function_tool(name_override="weather", failure_error_function=None)
def fatal(city: str) -> str:
    """The weather of a city."""
    raise ValueError(city)


@agents.function_tool(name_override="weather", timeout=0.01)
async def endless(city: str) -> str:
    """The weather of a city."""
    await asyncio.Event().wait()
    return city


def recorded_with(
    base_url: str, tool: agents.Tool, *, traced: bool = False
) -> tuple[SessionVerification, bytes]:
    """The verdict on the session of one run, and its salt."""
    lines: list[str] = []
    session = open_session(key=KEY, keep=lines.append)

    async def main() -> None:
        provider = TallystickProvider(
            base_url=base_url, api_key="k", use_responses=False, session=session
        )
        config = agents.RunConfig(model_provider=provider, tracing_disabled=not traced)
        agent = agents.Agent(name="Equipped", model="gpt-4o-mini", tools=[tool])
        hooks = SessionHooks(session)
        with contextlib.suppress(agents.UserError):
            await agents.Runner.run(agent, "weather?", run_config=config, hooks=hooks)
        await provider.aclose()

    asyncio.run(main())
    session.close()
    verdict = verify_session("".join(f"{line}\n" for line in lines), key=create_signer(KEY).key_id)
    assert verdict.trusted
    return verdict, session.salt


def outcomes(verdict: SessionVerification) -> list[str]:
    calls = (entry.call for entry in verdict.entries)
    return [call["outcome"] if call["kind"] == "tool" else call["kind"] for call in calls]


def test_tool_calls_are_recorded_between_model_calls(base_url: str) -> None:
    verdict, salt = recorded_with(base_url, weather)
    assert outcomes(verdict) == ["session", "reference", "completed", "reference", "session"]
    entry = verdict.entries[2]
    assert entry.call["kind"] == "tool"
    assert (entry.call["tool"], entry.call["server"]["name"]) == ("weather", "openai-agents")
    arguments = salted_hash(salt_of(salt, "2", "arguments"), {"json": ARGUMENTS})
    result = salted_hash(salt_of(salt, "2", "result"), {"json": "9 °C in Bern"})
    assert (entry.request_hash, entry.response_hash) == (arguments, result)


@pytest.mark.parametrize(
    ("tool", "traced", "outcome"),
    [
        (broken, False, "error"),
        (endless, False, "error"),
        (broken_in_its_own_words, True, "error"),
        (broken_in_its_own_words, False, "completed"),
        (fatal, False, "unknown"),
    ],
    ids=[
        "by the text of the SDK",
        "by its text for a timeout",
        "by the span",
        "untraced",
        "without an end",
    ],
)
def test_a_failed_call(base_url: str, tool: agents.Tool, outcome: str, *, traced: bool) -> None:
    agents.set_trace_processors([])
    verdict, _ = recorded_with(base_url, tool, traced=traced)
    assert outcomes(verdict)[2] == outcome


@pytest.mark.parametrize(
    "text",
    [
        "An error occurred while running the tool. Please try again. Error: ",
        "An error occurred while parsing tool arguments. Please try again with valid JSON. Error: ",
    ],
)
def test_a_failed_call_in_the_words_of_earlier_releases(
    base_url: str, text: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def earlier(_: object, error: Exception) -> str:
        return f"An error occurred while running the tool. Please try again. Error: {error}"

    monkeypatch.setattr("tallystick.openai_agents.default_tool_error_function", earlier)

    @agents.function_tool(
        name_override="weather", failure_error_function=lambda _, error: f"{text}{error}"
    )
    def failing(city: str) -> str:
        """The weather of a city."""
        raise ValueError(city)

    verdict, _ = recorded_with(base_url, failing)
    assert outcomes(verdict)[2] == "error"


def test_a_tool_that_cannot_be_recorded_does_not_run(base_url: str) -> None:
    session = open_session(key=KEY)
    session.close()
    ran: list[str] = []

    @agents.function_tool(name_override="weather")
    def noted(city: str) -> str:
        """The weather of a city."""
        ran.append(city)
        return city

    async def main() -> None:
        async with opened(base_url) as provider:
            config = agents.RunConfig(model_provider=provider, tracing_disabled=True)
            agent = agents.Agent(name="Equipped", model="gpt-4o-mini", tools=[noted])
            hooks = SessionHooks(session)
            with pytest.raises(agents.UserError, match="session_closed"):
                await agents.Runner.run(agent, "weather?", run_config=config, hooks=hooks)

    asyncio.run(main())
    assert ran == []
