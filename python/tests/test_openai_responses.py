"""OpenAI's Responses by the stock client ``openai``, with only a base URL and a key."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from typing import Any

import pytest
from support import serve, upstream, with_node
from test_openai import check_receipt, hash_of

from tallystick import canonical_bytes
from tallystick._lib.hashes import sha256_hex

openai = pytest.importorskip("openai")
pytestmark = with_node

# The provider of the first has the same API, so that calls pass as they came; that of the second
# has another.
DIRECT = "direct/gpt-x"
MODELS = [DIRECT, "claude-haiku-4-5"]
SAID = "Grüße from the upstream 🌍."
PARAMETERS = {
    "type": "object",
    "properties": {"city": {"type": "string"}},
    "required": ["city"],
    "additionalProperties": False,
}
TOOLS: Any = [{"type": "function", "name": "weather", "parameters": PARAMETERS, "strict": True}]
# Answers with a call of a tool until there is a tool's result; in JSON, or broken off, where asked.
SCRIPTED = """
    (body.tools && !/function_call_output|tool_result/.test(JSON.stringify(body))
      ? { toolCalls: [{ id: 'call_1', name: 'weather', pieces: ['{"ci', 'ty":"Zü', 'rich"}'] }] }
      : JSON.stringify(body).includes('Break off.')
        ? { fault: { kind: 'cut', after: 7 } }
        : body.text ? { pieces: ['{"city":', '"Zürich"}'] } : {})
"""
ABILITIES = ["tools", "vision", "json", "stream"]
MODEL = {
    "id": DIRECT,
    "context": 128_000,
    "max_output": 16_384,
    "abilities": ABILITIES,
    "price": {"input": "0.15", "output": "0.60"},
    "prior": {"general": 0.5},
}


@pytest.fixture(scope="module")
def base_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    for url in upstream(SCRIPTED):
        provider = {
            "name": "direct",
            "kind": "openai",
            "base_url": f"{url}/v1",
            "speaks": ["responses"],
        }
        config = tmp_path_factory.mktemp("config") / "providers.json"
        config.write_text(
            json.dumps(
                {
                    "providers": [provider],
                    "models": [MODEL, {**MODEL, "id": "anthropic/claude-haiku-4-5"}],
                }
            )
        )
        settings = {
            "TALLY_CONFIG": str(config),
            "ANTHROPIC_BASE_URL": url,
            "ANTHROPIC_API_KEY": "ak-op",
            "TALLY_DEVNET": "off",
        }
        for service in serve(tmp_path_factory.mktemp("front"), **settings):
            yield f"{service}/v1/compute"


@pytest.fixture
def client(base_url: str) -> Iterator[Any]:
    with openai.OpenAI(base_url=base_url, api_key="sk-of-somewhere-else") as client:
        yield client


@pytest.mark.parametrize("model", MODELS)
def test_create(client: Any, base_url: str, model: str) -> None:
    params: Any = {"model": model, "input": "Say it."}
    raw = client.responses.with_raw_response.create(**params)
    answer = raw.parse()
    assert (answer.output_text, answer.status) == (SAID, "completed")
    assert (answer.usage.input_tokens, answer.usage.output_tokens) == (12, 8)
    check_receipt(base_url, answer.svc, hash_of(params), hash_of(json.loads(raw.text)))


@pytest.mark.parametrize("model", MODELS)
def test_stream(client: Any, model: str) -> None:
    events = list(client.responses.create(model=model, input="Say it.", stream=True))
    assert [event.sequence_number for event in events] == list(range(len(events)))
    deltas = [event.delta for event in events if event.type == "response.output_text.delta"]
    assert "".join(deltas) == SAID
    assert events[-1].response.output_text == SAID
    assert events[-1].svc["receipt"]["call"]["complete"] is True


@pytest.mark.parametrize("model", MODELS)
def test_stream_to_the_byte(client: Any, base_url: str, model: str) -> None:
    params: Any = {"model": model, "input": "Say it.", "stream": True}
    with client.responses.with_streaming_response.create(**params) as response:
        lines = [line for line in response.iter_lines() if line.startswith("data: ")]
    *covered, last = [line.removeprefix("data: ") for line in lines]
    end = json.loads(last)
    svc = end.pop("svc")
    texts = [*(text.encode() for text in covered), canonical_bytes(end)]
    response_hash = sha256_hex(b"".join(text + b"\n" for text in texts))
    check_receipt(base_url, svc, hash_of(params), f"sha256:{response_hash}")


@pytest.mark.parametrize("model", MODELS)
def test_tools_called_and_answered(client: Any, model: str) -> None:
    first = client.responses.create(model=model, input="Weather?", tools=TOOLS)
    (call,) = first.output
    assert (call.type, call.call_id, json.loads(call.arguments)) == (
        "function_call",
        "call_1",
        {"city": "Zürich"},
    )
    result = {"type": "function_call_output", "call_id": call.call_id, "output": "9 °C"}
    question = {"role": "user", "content": "Weather?"}
    second = client.responses.create(
        model=model, input=[question, *first.output, result], tools=TOOLS
    )
    assert second.output_text == SAID


@pytest.mark.parametrize("model", MODELS)
def test_tools_streamed(client: Any, model: str) -> None:
    with client.responses.stream(model=model, input="Weather?", tools=TOOLS) as stream:
        stream.until_done()
        (call,) = stream.get_final_response().output
    assert json.loads(call.arguments) == {"city": "Zürich"}


def test_structured_output(client: Any) -> None:
    class Place(openai.BaseModel):  # type: ignore[misc, name-defined]
        city: str

    answer = client.responses.parse(model=DIRECT, input="Where?", text_format=Place)
    assert answer.output_parsed.city == "Zürich"


def test_asyncio(base_url: str) -> None:
    async def respond() -> str:
        async with openai.AsyncOpenAI(base_url=base_url, api_key="sk-x") as client:
            stream = await client.responses.create(
                model="claude-haiku-4-5", input="Say it.", stream=True
            )
            return "".join([e.delta async for e in stream if e.type.endswith("text.delta")])

    assert asyncio.run(respond()) == SAID


def test_errors_are_those_of_the_client(base_url: str) -> None:
    with openai.OpenAI(base_url=base_url, api_key="sk-x", max_retries=0) as client:
        with pytest.raises(openai.BadRequestError) as kept:
            client.responses.create(model=DIRECT, input="x", previous_response_id="resp_1")
        assert (kept.value.code, kept.value.param) == ("state_not_kept", "previous_response_id")
        with pytest.raises(openai.NotFoundError) as unknown:
            client.responses.create(model="gpt-99", input="x")
        assert unknown.value.code == "model_not_found"


@pytest.mark.parametrize("model", MODELS)
def test_a_stream_that_breaks_off_raises(base_url: str, model: str) -> None:
    with openai.OpenAI(base_url=base_url, api_key="sk-x", max_retries=0) as client:
        stream = client.responses.create(model=model, input="Break off.", stream=True)
        got: list[str] = []
        with pytest.raises(openai.APIError) as broken:
            got.extend(e.delta for e in stream if e.type == "response.output_text.delta")
        assert broken.value.code == "provider_failed"
        assert "".join(got) != ""
        assert SAID.startswith("".join(got))
