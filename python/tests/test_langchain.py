"""The callback handler for LangChain: receipts by run, with ChatOpenAI as it is."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from typing import Any
from uuid import UUID

import pytest
from langchain_anthropic import ChatAnthropic
from langchain_core.messages import HumanMessage
from langchain_core.prompts import ChatPromptTemplate
from langchain_core.runnables import RunnableConfig
from langchain_core.tools import tool
from langchain_openai import ChatOpenAI, OpenAIEmbeddings
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.prebuilt import ToolNode, tools_condition
from pydantic import SecretStr
from support import front, with_node

from tallystick import (
    CallReport,
    Client,
    SessionEntry,
    SessionVerification,
    TallyError,
    create_signer,
    open_session,
    salt_of,
    salted_hash,
    verify_session,
)
from tallystick.langchain import (
    RunReceipt,
    SessionCallbackHandler,
    TallystickCallbackHandler,
)

pytestmark = with_node

MODEL = "gpt-4o-mini"
KEY = bytes([1]) * 32
# Says again what it was asked, the later words the slower; calls a tool where it has one.
SCRIPTED = """
    (!body.messages ? {} : body.tools && body.messages.at(-1).role === 'user'
      ? { toolCalls: [{ id: 'call_1', name: 'weather', pieces: ['{"city":"Zürich"}'] }] }
      : body.messages.at(-1).content === 'cut'
        ? { fault: { kind: 'cut', after: 3 } }
        : { pieces: ['You said: ', body.messages.at(-1).content], everyMs: body.messages.length })
"""


@pytest.fixture(scope="module")
def base_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    yield from front(tmp_path_factory.mktemp("front"), SCRIPTED)


class Watched:
    """A handler, what it reported, and models that it watches."""

    def __init__(self, base_url: str) -> None:
        with Client(base_url.removesuffix("/v1/compute")) as service:
            trust = service.fetch_trust()
        self.runs: list[RunReceipt] = []
        self.calls: list[CallReport] = []
        self.handler = TallystickCallbackHandler(
            trust=trust, on_receipt=self.runs.append, on_call=self.calls.append
        )
        self._client: dict[str, Any] = {
            "base_url": base_url,
            "api_key": "sk-of-somewhere-else",
            "http_client": self.handler.http_client,
            "http_async_client": self.handler.http_async_client,
        }
        self.chat = ChatOpenAI(model=MODEL, callbacks=[self.handler], max_retries=0, **self._client)

    def embeddings(self) -> OpenAIEmbeddings:
        return OpenAIEmbeddings(
            model="text-embedding-3-small", check_embedding_ctx_length=False, **self._client
        )

    def run_of(self, message: Any) -> UUID:
        """The run that has the receipt of this message."""
        receipt_id = message.response_metadata["tallystick"]["receipt_id"]
        (run,) = (run for run in self.runs if run.call.receipt_id == receipt_id)
        return run.run_id


@pytest.fixture
def watched(base_url: str) -> Iterator[Watched]:
    watched = Watched(base_url)
    yield watched
    watched.handler.close()


def assert_checked(call: CallReport, *, stream: bool = False) -> None:
    assert call.verdict.valid
    assert call.verdict.issuer.trusted
    receipt: Any = call.receipt
    assert receipt["call"]["stream"] is stream


def test_invoke(watched: Watched) -> None:
    message = watched.chat.invoke("hello")
    assert message.content == "You said: hello"
    (run,) = watched.runs
    assert message.id == f"lc_run--{run.run_id}-0"
    assert_checked(run.call)
    shown = message.response_metadata["tallystick"]
    assert shown["receipt"]["receipt_id"] == run.call.receipt_id == shown["receipt_id"]
    assert shown["verdict"]["valid"] is True
    assert {"routing", "billing"} <= shown["svc"].keys()


def test_stream(watched: Watched) -> None:
    text = "".join(str(chunk.content) for chunk in watched.chat.stream("hello"))
    assert text == "You said: hello"
    (run,) = watched.runs
    assert_checked(run.call, stream=True)


def test_batch_in_parallel_each_run_its_own(watched: Watched) -> None:
    messages = watched.chat.batch([f"word {number}" for number in range(6)])
    assert [message.id for message in messages] == [
        f"lc_run--{watched.run_of(message)}-0" for message in messages
    ]
    assert len(watched.runs) == 6
    for run in watched.runs:
        assert_checked(run.call)


def test_streams_that_are_read_in_turns(watched: Watched) -> None:
    streams = [watched.chat.stream(f"word {number}") for number in range(3)]
    ids = [next(stream).id for stream in streams]
    for stream in streams:
        list(stream)
    assert {f"lc_run--{run.run_id}" for run in watched.runs} == set(ids)


def test_asyncio(watched: Watched) -> None:
    async def stream(number: int) -> str | None:
        chunks = [chunk async for chunk in watched.chat.astream(f"word {number}")]
        return chunks[0].id

    async def main() -> None:
        messages = await asyncio.gather(*(watched.chat.ainvoke(f"{n}") for n in range(4)))
        for message in messages:
            assert message.id == f"lc_run--{watched.run_of(message)}-0"
        watched.runs.clear()
        ids = await asyncio.gather(*(stream(number) for number in range(4)))
        assert {f"lc_run--{run.run_id}" for run in watched.runs} == set(ids)

        await watched.handler.aclose()

    asyncio.run(main())


def test_a_chain(watched: Watched) -> None:
    chain = ChatPromptTemplate.from_messages([("user", "{what}")]) | watched.chat
    run_id = UUID("018f4e2a-0000-7000-8000-000000000001")
    chain.invoke({"what": "it"}, {"run_id": run_id})
    assert [run.parent_run_id for run in watched.runs] == [run_id]


def test_tools(watched: Watched) -> None:
    @tool
    def weather(city: str) -> str:
        """The weather of a city."""
        return f"9 °C in {city}"

    model = watched.chat.bind_tools([weather])
    asked = model.invoke("weather?")
    result = weather.invoke(asked.tool_calls[0])
    model.invoke([HumanMessage("weather?"), asked, result])
    assert len({run.run_id for run in watched.runs}) == 2


def test_a_stream_that_breaks_off_has_a_receipt_for_what_came(watched: Watched) -> None:
    with pytest.raises(Exception, match="provider"):
        list(watched.chat.stream("cut"))
    (run,) = watched.runs
    assert run.call.receipt_id.startswith("r_")


# LangChain adds the tokens of several prompts up, and wonders about details that are null.
@pytest.mark.filterwarnings("ignore:Unexpected type for token usage")
def test_what_belongs_to_no_run_is_reported_as_a_call(watched: Watched) -> None:
    watched.chat.invoke("hello")
    watched.embeddings().embed_query("a")
    watched.chat.generate([[HumanMessage("one")], [HumanMessage("two")]])
    assert len(watched.runs) == 1
    assert len(watched.calls) == 4


@pytest.fixture
def claude(base_url: str, watched: Watched) -> ChatAnthropic:
    chat = ChatAnthropic(
        model_name=MODEL,
        base_url=base_url,
        api_key=SecretStr("sk-of-somewhere-else"),
        callbacks=[watched.handler],
        timeout=None,
        stop=None,
    )
    return watched.handler.watch(chat)


def test_anthropic(claude: ChatAnthropic, watched: Watched) -> None:
    message = claude.invoke("hello")
    assert message.content == "You said: hello"
    text = "".join(str(chunk.content) for chunk in claude.stream("again"))
    assert text == "You said: again"
    whole, streamed = watched.runs
    assert_checked(whole.call)
    assert_checked(streamed.call, stream=True)
    assert whole.call.protocol == "messages"
    assert watched.run_of(message) == whole.run_id


def test_anthropic_for_asyncio(claude: ChatAnthropic, watched: Watched) -> None:
    async def main() -> None:
        messages = await asyncio.gather(*(claude.ainvoke(f"{number}") for number in range(3)))
        for message in messages:
            assert message.id == f"lc_run--{watched.run_of(message)}-0"
        await watched.handler.aclose()

    asyncio.run(main())


@tool
def weather(city: str) -> str:
    """The weather of a city."""
    if city == "nowhere":
        raise ValueError("There is no such city.")
    return f"9 °C in {city}"


class Recorded:
    """A session in memory, with the handler that records tools in it."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.session = open_session(key=KEY, keep=self.lines.append)
        self.config: RunnableConfig = {"callbacks": [SessionCallbackHandler(self.session)]}

    def closed(self, *receipts: Any) -> SessionVerification:
        """The verdict on the session, once it is closed."""
        self.session.close()
        file = "".join(f"{line}\n" for line in self.lines)
        verdict = verify_session(file, key=create_signer(KEY).key_id, referenced=receipts)
        assert verdict.trusted
        return verdict

    def covers(self, entry: SessionEntry, arguments: Any, result: Any) -> bool:
        """Whether a receipt covers these arguments and this result."""

        def digest(part: Any, value: Any) -> str:
            return salted_hash(salt_of(self.session.salt, str(entry.seq), part), {"json": value})

        found = (entry.request_hash, entry.response_hash)
        return found == (digest("arguments", arguments), digest("result", result))


def outcomes(verdict: SessionVerification) -> list[tuple[str, str]]:
    calls = (entry.call for entry in verdict.entries)
    return [(call["tool"], call["outcome"]) for call in calls if call["kind"] == "tool"]


def test_tool_calls_are_recorded() -> None:
    recorded = Recorded()
    weather.invoke({"city": "Bern"}, recorded.config)
    with pytest.raises(ValueError, match="no such city"):
        weather.invoke({"city": "nowhere"}, recorded.config)

    async def main() -> None:
        cities = ("Basel", "Genf", "Lugano")
        await asyncio.gather(*(weather.ainvoke({"city": one}, recorded.config) for one in cities))

    asyncio.run(main())
    verdict = recorded.closed()
    assert outcomes(verdict) == [
        ("weather", "completed"),
        ("weather", "error"),
        *[("weather", "completed")] * 3,
    ]
    assert recorded.covers(verdict.entries[1], {"city": "Bern"}, "9 °C in Bern")
    assert recorded.covers(verdict.entries[2], {"city": "nowhere"}, "There is no such city.")


def test_a_tool_that_cannot_be_recorded_does_not_run() -> None:
    recorded = Recorded()
    recorded.session.close()
    ran: list[str] = []

    @tool
    def send(text: str) -> None:
        """Sends a text."""
        ran.append(text)

    with pytest.raises(TallyError, match="session_closed"):
        send.invoke({"text": "hello"}, recorded.config)
    assert ran == []


def test_an_agent_of_langgraph_with_its_model_calls(base_url: str) -> None:
    recorded = Recorded()
    calls: list[CallReport] = []
    handler = TallystickCallbackHandler(on_call=calls.append, session=recorded.session)
    model = ChatOpenAI(
        model=MODEL,
        base_url=base_url,
        api_key=SecretStr("sk-of-somewhere-else"),
        http_client=handler.http_client,
        http_async_client=handler.http_async_client,
    ).bind_tools([weather])
    graph = StateGraph(MessagesState)
    graph.add_node("model", lambda state: {"messages": [model.invoke(state["messages"])]})
    graph.add_node("tools", ToolNode([weather]))
    graph.add_edge(START, "model")
    graph.add_conditional_edges("model", tools_condition)
    graph.add_edge("tools", "model")
    question: Any = {"messages": [HumanMessage("weather?")]}
    answer = graph.compile().invoke(question, recorded.config)
    handler.close()
    assert answer["messages"][-1].content == "You said: 9 °C in Zürich"
    verdict = recorded.closed(*(call.receipt for call in calls))
    kinds = [entry.call["kind"] for entry in verdict.entries]
    assert kinds == ["session", "reference", "tool", "reference", "session"]
    assert verdict.references["valid"] == 2
    assert recorded.covers(verdict.entries[2], {"city": "Zürich"}, "9 °C in Zürich")
