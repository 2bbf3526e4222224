"""LlamaIndex with only a base URL and a key; a transport checks its calls."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from support import front, with_node

from tallystick import CallReport, Client, ReceiptTransport

llms = pytest.importorskip("llama_index.core.llms")
tools = pytest.importorskip("llama_index.core.tools")
openai_like = pytest.importorskip("llama_index.llms.openai_like")
pytestmark = with_node

SAID = "Grüße from the upstream 🌍."
SCRIPTED = """
    (body.tools && body.messages.at(-1).role === 'user'
      ? { toolCalls: [{ id: 'call_1', name: 'weather', pieces: ['{"ci', 'ty":"Zürich"}'] }] } : {})
"""


@pytest.fixture(scope="module")
def base_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    yield from front(tmp_path_factory.mktemp("front"), SCRIPTED)


@pytest.fixture
def reports() -> list[CallReport]:
    return []


@pytest.fixture
def llm(base_url: str, reports: list[CallReport]) -> Iterator[Any]:
    httpx = pytest.importorskip("httpx")
    with Client(base_url.removesuffix("/v1/compute")) as service:
        transport = ReceiptTransport(trust=service.fetch_trust(), on_call=reports.append)
    with httpx.Client(transport=transport) as http_client:
        yield openai_like.OpenAILike(
            model="gpt-4o-mini",
            api_base=base_url,
            api_key="sk-of-somewhere-else",
            is_chat_model=True,
            is_function_calling_model=True,
            max_retries=0,
            http_client=http_client,
        )


def question() -> list[Any]:
    return [llms.ChatMessage(role="user", content="Say it.")]


def assert_checked(reports: list[CallReport], count: int) -> None:
    assert len(reports) == count
    for report in reports:
        assert report.verdict.valid
        assert report.verdict.issuer.trusted


def test_chat(llm: Any, reports: list[CallReport]) -> None:
    answer = llm.chat(question())
    assert answer.message.content == SAID
    assert answer.raw.svc["receipt"]["call"]["complete"] is True
    assert llm.complete("Say it.").text == SAID
    assert_checked(reports, 2)


def test_stream(llm: Any, reports: list[CallReport]) -> None:
    pieces = list(llm.stream_chat(question()))
    assert "".join(piece.delta or "" for piece in pieces) == SAID
    assert pieces[-1].raw.svc["receipt"]["call"]["stream"] is True
    assert_checked(reports, 1)


def test_tools(llm: Any, reports: list[CallReport]) -> None:
    def weather(city: str) -> str:
        """The weather of a city."""
        return f"9 °C in {city}"

    tool = tools.FunctionTool.from_defaults(weather)
    asked = llm.chat_with_tools([tool], chat_history=question())
    (call,) = llm.get_tool_calls_from_response(asked)
    assert (call.tool_name, call.tool_kwargs) == ("weather", {"city": "Zürich"})
    result = llms.ChatMessage(
        role="tool", content=weather("Zürich"), additional_kwargs={"tool_call_id": call.tool_id}
    )
    answer = llm.chat_with_tools([tool], chat_history=[*question(), asked.message, result])
    assert answer.message.content == SAID
    assert_checked(reports, 2)


def test_errors_are_those_of_the_client_beneath_it(llm: Any, reports: list[CallReport]) -> None:
    openai = pytest.importorskip("openai")
    llm.model = "gpt-99"
    with pytest.raises(openai.NotFoundError) as unknown:
        llm.chat(question())
    assert unknown.value.code == "model_not_found"
    assert reports == []
