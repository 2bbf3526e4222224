"""The stock client ``openai`` works with only a base URL and a key; its receipts verify here."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Iterator
from datetime import datetime, timezone
from typing import Any

import pytest
from support import serve, upstream, with_node

from tallystick import Client, TallyError, canonical_bytes, verify
from tallystick._lib.hashes import sha256_hex

openai = pytest.importorskip("openai")
pytestmark = with_node

MODEL = "gpt-4o-mini"
SAID = "Grüße from the upstream 🌍."
MESSAGES: Any = [{"role": "user", "content": "Say it."}]
TOOLS: Any = [
    {
        "type": "function",
        "function": {
            "name": "weather",
            "parameters": {"type": "object", "properties": {"city": {"type": "string"}}},
        },
    }
]
# Answers with a call of a tool until there is a tool's result; slowly, or with 429, where asked to.
SCRIPTED = """
    (body.tools && body.messages.at(-1).role === 'user'
      ? { toolCalls: [{ id: 'call_1', name: 'weather', pieces: ['{"ci', 'ty":"Zü', 'rich"}'] }] }
      : body.user === 'slow'
        ? { pieces: Array.from({ length: 500 }, () => 'word '), everyMs: 10 }
        : body.user === 'busy'
          ? { fault: { kind: 'status', status: 429, retryAfter: '3600' } }
          : body.response_format ? { pieces: ['{"city":', '"Zürich"}'] } : {})
"""


@pytest.fixture(scope="module")
def base_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    for url in upstream(SCRIPTED):
        settings = {
            "OPENAI_BASE_URL": f"{url}/v1",
            "OPENAI_API_KEY": "sk-op",
            "TALLY_DEVNET": "off",
        }
        for service in serve(tmp_path_factory.mktemp("front"), **settings):
            yield f"{service}/v1/compute"


@pytest.fixture
def client(base_url: str) -> Iterator[Any]:
    with openai.OpenAI(base_url=base_url, api_key="sk-of-somewhere-else") as client:
        yield client


def hash_of(body: dict[str, Any]) -> str:
    covered = {name: value for name, value in body.items() if name != "svc"}
    return f"sha256:{sha256_hex(canonical_bytes(covered))}"


def check_receipt(base_url: str, svc: Any, request: str, response: str) -> dict[str, Any]:
    with Client(base_url.removesuffix("/v1/compute")) as service:
        trust = service.fetch_trust()
    receipt: dict[str, Any] = svc["receipt"]
    verdict = verify(json.dumps(receipt), now=datetime.now(timezone.utc), trust=trust)
    assert verdict.valid
    assert verdict.issuer.trusted
    assert receipt["request"]["hash"] == request
    assert receipt["response"]["hash"] == response
    return receipt


def receipt_once_billed(service: Client, receipt_id: str) -> dict[str, Any]:
    deadline = time.monotonic() + 10
    while True:
        try:
            return dict(service.get_receipt(receipt_id).receipt)
        except TallyError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.02)


def test_chat(client: Any, base_url: str) -> None:
    params: Any = {"model": MODEL, "messages": MESSAGES}
    raw = client.chat.completions.with_raw_response.create(**params)
    answer = raw.parse()
    assert answer.choices[0].message.content == SAID
    assert answer.usage.total_tokens == 20
    check_receipt(base_url, answer.svc, hash_of(params), hash_of(json.loads(raw.text)))


def test_the_usage_of_a_stream_that_the_client_gathers(client: Any) -> None:
    usage = {"include_usage": True}
    with client.chat.completions.stream(
        model=MODEL, messages=MESSAGES, stream_options=usage
    ) as stream:
        answer = stream.get_final_completion()
    assert answer.choices[0].message.content == SAID
    assert answer.usage.total_tokens == 20


def test_stream(client: Any) -> None:
    chunks = list(client.chat.completions.create(model=MODEL, messages=MESSAGES, stream=True))
    assert "".join(c.choices[0].delta.content or "" for c in chunks if c.choices) == SAID
    assert chunks[-1].svc["receipt"]["call"]["complete"] is True


def test_stream_to_the_byte(client: Any, base_url: str) -> None:
    params: Any = {"model": MODEL, "messages": MESSAGES, "stream": True}
    with client.chat.completions.with_streaming_response.create(**params) as response:
        lines = [line for line in response.iter_lines() if line]
    payloads = [line.removeprefix("data: ") for line in lines]
    *covered, last, done = payloads
    assert done == "[DONE]"
    response_hash = sha256_hex("".join(f"{payload}\n" for payload in covered).encode())
    svc = json.loads(last)["svc"]
    receipt = check_receipt(base_url, svc, hash_of(params), f"sha256:{response_hash}")
    assert receipt["call"]["stream"] is True


def test_tools_called_and_answered(client: Any) -> None:
    first = client.chat.completions.create(model=MODEL, messages=MESSAGES, tools=TOOLS)
    message = first.choices[0].message
    (call,) = message.tool_calls
    assert (call.id, json.loads(call.function.arguments)) == ("call_1", {"city": "Zürich"})
    result = {"role": "tool", "tool_call_id": call.id, "content": "9 °C"}
    second = client.chat.completions.create(
        model=MODEL, messages=[*MESSAGES, message, result], tools=TOOLS
    )
    assert second.choices[0].message.content == SAID


def test_tools_streamed(client: Any) -> None:
    with client.chat.completions.stream(model=MODEL, messages=MESSAGES, tools=TOOLS) as stream:
        stream.until_done()
        message = stream.get_final_completion().choices[0].message
    assert json.loads(message.tool_calls[0].function.arguments) == {"city": "Zürich"}


def test_json_mode(client: Any) -> None:
    answer = client.chat.completions.create(
        model=MODEL, messages=MESSAGES, response_format={"type": "json_object"}
    )
    assert json.loads(answer.choices[0].message.content) == {"city": "Zürich"}


def test_embeddings(client: Any, base_url: str) -> None:
    params: Any = {"model": "text-embedding-3-small", "input": ["a", "b"]}
    answer = client.embeddings.create(**params)
    assert [item.embedding for item in answer.data] == [[0.5, -0.25, 0.125]] * 2
    local = client.embeddings.create(model="local/embed-512", input="a")
    assert len(local.data[0].embedding) == 512
    raw = client.embeddings.with_raw_response.create(**params, encoding_format="float")
    body = json.loads(raw.text)
    request = hash_of({**params, "encoding_format": "float"})
    check_receipt(base_url, body["svc"], request, hash_of(body))


def test_models(client: Any) -> None:
    assert {"openai/gpt-4o-mini", "local/extract-1"} <= {model.id for model in client.models.list()}
    assert client.models.retrieve("openai/gpt-4o-mini").id == "openai/gpt-4o-mini"


def test_asyncio(base_url: str) -> None:
    async def chat() -> str:
        async with openai.AsyncOpenAI(base_url=base_url, api_key="sk-x") as client:
            stream = await client.chat.completions.create(
                model=MODEL, messages=MESSAGES, stream=True
            )
            return "".join([c.choices[0].delta.content or "" async for c in stream if c.choices])

    assert asyncio.run(chat()) == SAID


def test_a_stream_that_is_left_is_billed_for_what_came(client: Any, base_url: str) -> None:
    stream = client.chat.completions.create(
        model=MODEL, messages=MESSAGES, stream=True, user="slow"
    )
    for _ in range(5):
        next(stream)
    receipt_id = stream.response.headers["x-receipt-id"]
    stream.close()
    with Client(base_url.removesuffix("/v1/compute")) as service:
        call = receipt_once_billed(service, receipt_id)["call"]
    assert call["complete"] is False
    assert 0 < call["completion_tokens"] < 100


def test_errors_are_those_of_the_client(base_url: str) -> None:
    with openai.OpenAI(base_url=base_url, api_key="sk-x", max_retries=0) as client:
        with pytest.raises(openai.BadRequestError) as bad:
            client.chat.completions.create(model=MODEL, messages=[])
        assert (bad.value.code, bad.value.param) == ("invalid_request", "messages")
        with pytest.raises(openai.NotFoundError) as unknown:
            client.chat.completions.create(model="gpt-99", messages=MESSAGES)
        assert unknown.value.code == "model_not_found"
        with pytest.raises(openai.RateLimitError):
            client.chat.completions.create(model=MODEL, messages=MESSAGES, user="busy")
