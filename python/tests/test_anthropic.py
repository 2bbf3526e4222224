"""The stock clients ``anthropic`` and ``langchain-anthropic`` with only a base URL and a key."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from datetime import datetime, timezone
from typing import Any

import pytest
from support import serve, upstream, with_node

from tallystick import Client, canonical_bytes, verify
from tallystick._lib.hashes import sha256_hex

anthropic = pytest.importorskip("anthropic")
pytestmark = with_node

MODELS = ["gpt-4o-mini", "claude-haiku-4-5"]
SAID = "Grüße from the upstream 🌍."
MESSAGES: Any = [{"role": "user", "content": "Say it."}]
SCHEMA: Any = {"type": "object", "properties": {"city": {"type": "string"}}}
TOOLS: Any = [{"name": "weather", "input_schema": SCHEMA}]
# Answers with a call of a tool until there is a tool's result, and thinks where it is asked to.
SCRIPTED = """
    (JSON.stringify(body).includes('busy')
      ? { fault: { kind: 'status', status: 429, retryAfter: '3600' } }
      : { ...(body.thinking && { thinking: 'Hm.' }),
          ...(body.tools && body.messages.length === 1 && {
            toolCalls: [{ id: 'toolu_1', name: 'weather', pieces: ['{"ci', 'ty":"Zürich"}'] }] }) })
"""


@pytest.fixture(scope="module")
def base_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    for url in upstream(SCRIPTED):
        settings = {
            "OPENAI_BASE_URL": f"{url}/v1",
            "OPENAI_API_KEY": "sk-op",
            "ANTHROPIC_BASE_URL": url,
            "ANTHROPIC_API_KEY": "sk-op",
            "TALLY_DEVNET": "off",
        }
        for service in serve(tmp_path_factory.mktemp("front"), **settings):
            yield f"{service}/v1/compute"


@pytest.fixture
def client(base_url: str) -> Iterator[Any]:
    key = "sk-of-somewhere-else"
    with anthropic.Anthropic(base_url=base_url, api_key=key, max_retries=0) as client:
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


@pytest.mark.parametrize("model", MODELS)
class TestMessages:
    def test_create(self, client: Any, base_url: str, model: str) -> None:
        params: Any = {"model": model, "max_tokens": 100, "messages": MESSAGES}
        raw = client.messages.with_raw_response.create(**params)
        message = raw.parse()
        assert message.content[0].text == SAID
        assert (message.stop_reason, message.usage.output_tokens) == ("end_turn", 8)
        body = json.loads(raw.text())
        check_receipt(base_url, body["svc"], hash_of(params), hash_of(body))

    def test_stream_to_the_byte(self, client: Any, base_url: str, model: str) -> None:
        params: Any = {"model": model, "max_tokens": 100, "messages": MESSAGES, "stream": True}
        with client.messages.with_streaming_response.create(**params) as response:
            lines = list(response.iter_lines())
        payloads = [line.removeprefix("data: ") for line in lines if line.startswith("data: ")]
        last = json.loads(payloads[-1])
        svc = last.pop("svc")
        assert last == {"type": "message_stop"}
        covered = "".join(f"{payload}\n" for payload in payloads[:-1]).encode()
        digest = sha256_hex(covered + canonical_bytes(last) + b"\n")
        receipt = check_receipt(base_url, svc, hash_of(params), f"sha256:{digest}")
        assert receipt["call"]["complete"] is True

    def test_tools_streamed_called_and_answered(self, client: Any, model: str) -> None:
        params: Any = {"model": model, "max_tokens": 100, "tools": TOOLS}
        with client.messages.stream(**params, messages=MESSAGES) as stream:
            asked = stream.get_final_message()
        (call,) = asked.content
        assert (asked.stop_reason, call.id, call.input) == (
            "tool_use",
            "toolu_1",
            {"city": "Zürich"},
        )
        result = {"type": "tool_result", "tool_use_id": call.id, "content": "9 °C"}
        turns = [
            *MESSAGES,
            {"role": "assistant", "content": asked.content},
            {"role": "user", "content": [result]},
        ]
        assert client.messages.create(**params, messages=turns).content[0].text == SAID

    def test_asyncio(self, base_url: str, model: str) -> None:
        async def chat() -> str:
            async with (
                anthropic.AsyncAnthropic(base_url=base_url, api_key="sk-x") as client,
                client.messages.stream(model=model, max_tokens=100, messages=MESSAGES) as stream,
            ):
                text: str = await stream.get_final_text()
                return text

        assert asyncio.run(chat()) == SAID

    def test_langchain(self, base_url: str, model: str) -> None:
        langchain = pytest.importorskip("langchain_anthropic")
        chat = langchain.ChatAnthropic(
            model=model, base_url=base_url, api_key="sk-x", max_tokens=100, max_retries=0
        )
        message = chat.invoke("Say it.")
        assert message.text == SAID
        assert message.usage_metadata["output_tokens"] == 8
        assert "".join(chunk.text for chunk in chat.stream("Say it.")) == SAID
        asked = chat.bind_tools(TOOLS).invoke("Weather?")
        (call,) = asked.tool_calls
        assert (call["name"], call["args"]) == ("weather", {"city": "Zürich"})


def test_thinking(client: Any) -> None:
    thinking: Any = {"type": "enabled", "budget_tokens": 2000}
    params: Any = {"model": MODELS[1], "max_tokens": 4000, "messages": MESSAGES}
    with client.messages.stream(**params, thinking=thinking) as stream:
        thought, said = stream.get_final_message().content
    assert (thought.thinking, thought.signature, said.text) == ("Hm.", "c2ln", SAID)


def test_counts_and_models(client: Any) -> None:
    assert client.messages.count_tokens(model=MODELS[1], messages=MESSAGES).input_tokens > 0
    ids = [model.id for model in client.models.list(limit=3)]
    assert {"anthropic/claude-haiku-4-5", "openai/gpt-4o-mini"} <= set(ids)
    assert client.models.retrieve(ids[0]).id == ids[0]


def test_errors_are_those_of_the_client(client: Any) -> None:
    params: Any = {"model": "gpt-4.1", "max_tokens": 100}
    with pytest.raises(anthropic.BadRequestError) as bad:
        client.messages.create(**params, messages=[])
    assert bad.value.body["error"]["details"]["error_code"] == "invalid_request"
    with pytest.raises(anthropic.NotFoundError):
        client.messages.create(model="claude-99", max_tokens=9, messages=MESSAGES)
    with pytest.raises(anthropic.RateLimitError) as limited:
        client.messages.create(**params, messages=[{"role": "user", "content": "busy"}])
    assert limited.value.response.headers["retry-after"] == "3600"
