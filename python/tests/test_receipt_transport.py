"""Calls by stock clients are verified while their answers pass, against a real service."""

from __future__ import annotations

import asyncio
import gzip
import json
import struct
import threading
import zlib
from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack, ExitStack
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import anthropic
import httpx
import httpx2
import openai
import pytest
from support import VECTORS, serve, upstream, with_node

from tallystick import (
    AgentAuth,
    AsyncClient,
    AsyncReceiptTransport,
    CallReport,
    Client,
    ReceiptTransport,
    TallyError,
    create_signer,
    generate_secret_key,
    open_session,
    verify_call,
    verify_session,
)

pytestmark = with_node

MODEL = "gpt-4o-mini"
MESSAGES: Any = [{"role": "user", "content": "Say it."}]
SAID = "Grüße from the upstream 🌍."
SLOW = "({ pieces: Array.from({ length: 500 }, () => 'word '), everyMs: 10 })"
SCRIPTED = f"(body.user === 'slow' ? {SLOW} : {{}})"
LIBRARIES = pytest.mark.parametrize("library", [httpx, httpx2], ids=["httpx", "httpx2"])


@pytest.fixture(scope="module")
def front(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The URL of a service whose provider answers as it is told."""
    for url in upstream(SCRIPTED):
        settings = {
            "OPENAI_BASE_URL": f"{url}/v1",
            "OPENAI_API_KEY": "sk-op",
            "TALLY_DEVNET": "off",
        }
        yield from serve(tmp_path_factory.mktemp("front"), **settings)


def assert_good(report: CallReport, protocol: str) -> None:
    assert [one for one in report.verdict.checks if one.ok is False] == []
    assert (report.verdict.valid, report.verdict.issuer.trusted) == (True, True)
    assert (report.trust_error, report.protocol) == (None, protocol)
    assert report.svc is not None
    assert report.svc["receipt"] == report.receipt


def openai_over(library: Any, front: str, **options: Any) -> Any:
    http_client = library.Client(transport=ReceiptTransport(**options))
    return openai.OpenAI(base_url=f"{front}/v1/compute", api_key="sk-x", http_client=http_client)


@LIBRARIES
def test_openai_chat(library: Any, front: str) -> None:
    reports: list[CallReport] = []
    with Client(front) as service:
        trust = service.fetch_trust()
    with openai_over(library, front, on_call=reports.append, trust=trust) as client:
        answer = client.chat.completions.create(model=MODEL, messages=MESSAGES)
        assert answer.choices[0].message.content == SAID
        (report,) = reports
        assert_good(report, "chat")
        assert report.receipt_id == answer.svc["receipt"]["receipt_id"]
        assert report.answer_id == answer.id

        passed: list[str] = []
        stream = client.chat.completions.create(model=MODEL, messages=MESSAGES, stream=True)
        for chunk in stream:
            passed += [one.delta.content or "" for one in chunk.choices]
        assert "".join(passed) == SAID
        assert len(reports) == 2
        assert_good(reports[1], "chat")


@LIBRARIES
def test_openai_for_asyncio(library: Any, front: str) -> None:
    reports: list[CallReport] = []

    async def on_call(report: CallReport) -> None:
        await asyncio.sleep(0)
        reports.append(report)

    async def chat() -> str:
        async with AsyncClient(front) as service:
            transport = AsyncReceiptTransport(on_call=on_call, trust=service.fetch_trust)
            async with openai.AsyncOpenAI(
                base_url=f"{front}/v1/compute",
                api_key="sk-x",
                http_client=library.AsyncClient(transport=transport),
            ) as client:
                stream = await client.chat.completions.create(
                    model=MODEL, messages=MESSAGES, stream=True
                )
                said = [c.choices[0].delta.content or "" async for c in stream if c.choices]
                await client.chat.completions.create(model=MODEL, messages=MESSAGES)
        return "".join(said)

    assert asyncio.run(chat()) == SAID
    assert len(reports) == 2
    for report in reports:
        assert_good(report, "chat")


@LIBRARIES
def test_openai_completions(library: Any, front: str) -> None:
    reports: list[CallReport] = []
    with Client(front) as service:
        trust = service.fetch_trust()
    with openai_over(library, front, on_call=reports.append, trust=trust) as client:
        assert client.completions.create(model=MODEL, prompt="Say it.").choices[0].text == SAID
        stream = client.completions.create(model=MODEL, prompt="Say it.", stream=True)
        assert "".join(one.text for chunk in stream for one in chunk.choices) == SAID
    assert len(reports) == 2
    for report in reports:
        assert_good(report, "completions")


@LIBRARIES
def test_openai_responses(library: Any, front: str) -> None:
    reports: list[CallReport] = []
    with Client(front) as service:
        trust = service.fetch_trust()
    params: Any = {"model": MODEL, "input": "Say it.", "store": False}
    with openai_over(library, front, on_call=reports.append, trust=trust) as client:
        assert client.responses.create(**params).output_text == SAID
        events = list(client.responses.create(**params, stream=True))
        assert events[-1].type == "response.completed"
    assert len(reports) == 2
    for report in reports:
        assert_good(report, "responses")


def test_anthropic_messages(front: str) -> None:
    reports: list[CallReport] = []
    params: Any = {"model": f"openai/{MODEL}", "max_tokens": 64, "messages": MESSAGES}
    with Client(front) as service:
        service.fetch_trust()
        options = service.client_options(on_call=reports.append)
    with anthropic.Anthropic(**options) as client:
        (block,) = client.messages.create(**params).content
        assert block.text == SAID
        with client.messages.stream(**params) as stream:
            assert "".join(stream.text_stream) == SAID
    assert len(reports) == 2
    for report in reports:
        assert_good(report, "messages")


def test_anthropic_for_asyncio(front: str) -> None:
    reports: list[CallReport] = []
    params: Any = {"model": f"openai/{MODEL}", "max_tokens": 64, "messages": MESSAGES}

    async def chat() -> None:
        async with AsyncClient(front) as service:
            await service.fetch_trust()
            options = service.client_options(on_call=reports.append)
        async with anthropic.AsyncAnthropic(**options) as client:
            async for _ in await client.messages.create(**params, stream=True):
                pass

    asyncio.run(chat())
    (report,) = reports
    assert_good(report, "messages")


def test_a_stream_passes_chunk_by_chunk_and_may_be_left(front: str) -> None:
    reports: list[CallReport] = []
    with openai_over(httpx2, front, on_call=reports.append) as client:
        stream = client.chat.completions.create(
            model=MODEL, messages=MESSAGES, stream=True, user="slow"
        )
        for _ in range(3):
            next(stream)
        assert reports == []
        stream.close()
        (report,) = reports
    assert (report.receipt, report.svc, report.verdict.valid) == (None, None, False)
    assert report.receipt_id == stream.response.headers["x-receipt-id"]


@LIBRARIES
def test_an_answer_is_reported_although_its_reader_was_cancelled(library: Any) -> None:
    reports: list[CallReport] = []
    is_asked = asyncio.Event()

    async def trust() -> Any:
        if not is_asked.is_set():
            is_asked.set()
            await asyncio.Event().wait()

    def answer(_: Any) -> Any:
        return library.Response(200, headers={"x-receipt-id": "r_env_1"}, stream=Body(GENUINE))

    async def read() -> None:
        transport = AsyncReceiptTransport(
            library.MockTransport(answer), on_call=reports.append, trust=trust
        )
        async with (
            library.AsyncClient(transport=transport) as client,
            client.stream("POST", "https://a.example", content=CALL["request"]) as answered,
        ):
            reading = asyncio.ensure_future(answered.aread())
            await is_asked.wait()
            reading.cancel()

    asyncio.run(read())
    assert [report.verdict.valid for report in reports] == [True]


def test_without_trust_nobody_is_trusted_and_the_answer_passes(front: str) -> None:
    def unreachable() -> Any:
        raise TallyError("unavailable", "Nothing answers.")

    for trust, code in ((None, None), (unreachable, "unavailable")):
        reports: list[CallReport] = []
        with openai_over(httpx2, front, on_call=reports.append, trust=trust) as client:
            client.chat.completions.create(model=MODEL, messages=MESSAGES)
        (report,) = reports
        assert (report.verdict.valid, report.verdict.issuer.trusted) == (True, False)
        assert (report.trust_error and report.trust_error.code) == code


def test_what_on_call_raises_reaches_the_reader(front: str) -> None:
    def refuse(report: CallReport) -> None:
        raise PermissionError(report.receipt_id)

    transport = ReceiptTransport(on_call=refuse)
    body = {"model": MODEL, "messages": MESSAGES}
    with httpx.Client(transport=transport) as client, pytest.raises(PermissionError, match="r_env"):
        client.post(f"{front}/v1/compute/chat/completions", json=body)


def test_errors_and_other_answers_pass_unreported(front: str) -> None:
    reports: list[CallReport] = []
    with openai_over(httpx2, front, on_call=reports.append) as client:
        assert [model.id for model in client.models.list()]
        with pytest.raises(openai.NotFoundError):
            client.chat.completions.create(model="gpt-99", messages=MESSAGES)
    assert reports == []


CALL = next(
    one
    for one in json.loads((VECTORS / "calls-chat.json").read_text())
    if one["name"] == "in one piece"
)
GENUINE: bytes = CALL["response"].encode()
FORGED = b'{"object":"chat.completion","choices":[]}'


def compressed(data: bytes, window: int) -> bytes:
    """``data`` as raw deflate (window -15) or zlib (15)."""
    compressor = zlib.compressobj(wbits=window)
    return compressor.compress(data) + compressor.flush()


def commented(data: bytes, comment: bytes) -> bytes:
    """``data`` as gzip, with a comment (RFC 1952, FCOMMENT), which is read if it is not inflated.

    The line feeds end what of the header would come before a stream.
    """
    head = b"\x1f\x8b\x08\x10" + bytes(5) + b"\xff\n\n" + comment + b"\0"
    return head + compressed(data, -15) + struct.pack("<II", zlib.crc32(data), len(data))


class Body(
    httpx.SyncByteStream, httpx.AsyncByteStream, httpx2.SyncByteStream, httpx2.AsyncByteStream
):
    """A body that the library has not read before."""

    def __init__(self, data: bytes) -> None:
        self._data = data

    def __iter__(self) -> Iterator[bytes]:
        yield self._data[:1]
        yield self._data[1:100]
        yield self._data[100:]

    async def __aiter__(self) -> AsyncIterator[bytes]:
        for chunk in self:
            yield chunk


GZIP = gzip.compress(GENUINE)
STREAM = next(
    one["response"].encode()
    for one in json.loads((VECTORS / "calls-chat.json").read_text())
    if one["name"] == "stream"
)


@LIBRARIES
@pytest.mark.parametrize(
    ("encodings", "body", "valid"),
    [
        (["gzip, gzip"], gzip.compress(commented(FORGED, STREAM)), False),
        (["gzip", "gzip"], gzip.compress(commented(FORGED, STREAM)), False),
        (["gzip, gzip"], gzip.compress(GZIP), True),
        (["gzip", "Identity"], GZIP, True),
        ([" GZip "], GZIP, True),
        (["identity"], GENUINE, True),
        ([""], GENUINE, True),
        ([""], GZIP, False),
        (["x-gzip"], GZIP, False),
        (["br"], GENUINE, None),
        (["zstd"], GENUINE, None),
        (["gzip"], GENUINE, False),
        (["gzip"], GZIP + b"trailing", True),
        (["gzip"], GZIP + gzip.compress(FORGED), None),
        (["gzip"], gzip.compress(GENUINE[:50]) + gzip.compress(GENUINE[50:]), None),
        (["gzip"], compressed(GENUINE, 15), False),
        (["deflate"], compressed(GENUINE, 15), True),
        (["deflate"], compressed(GENUINE, -15), None),
        (["deflate"], GZIP, False),
    ],
)
def test_what_is_verified_is_what_the_reader_reads(
    library: Any, encodings: list[str], body: bytes, valid: bool | None
) -> None:
    """``valid`` is ``None`` where it depends on the library."""
    reports: list[CallReport] = []

    def answer(_: Any) -> Any:
        headers = [
            ("x-receipt-id", "r_env_1"),
            ("content-length", str(len(body))),
            *(("content-encoding", one) for one in encodings),
        ]
        return library.Response(200, headers=headers, stream=Body(body))

    def said(library_reads: bytes) -> None:
        found = reports.pop().verdict.valid
        assert found == (library_reads in (GENUINE, STREAM))
        assert valid in (found, None)

    async def read() -> bytes:
        transport = AsyncReceiptTransport(library.MockTransport(answer), on_call=reports.append)
        async with library.AsyncClient(transport=transport) as client:
            found: bytes = (await client.post("https://a.example", content=CALL["request"])).content
            return found

    transport = ReceiptTransport(library.MockTransport(answer), on_call=reports.append)
    with library.Client(transport=transport) as client:
        try:
            said(client.post("https://a.example", content=CALL["request"]).content)
        except library.DecodingError:
            said(b"")
    try:
        said(asyncio.run(read()))
    except library.DecodingError:
        said(b"")


@LIBRARIES
@pytest.mark.parametrize(
    "content_type", ["application/json", "Application/JSON", "text/plain", None]
)
def test_a_request_is_verified_whatever_type_it_says(
    library: Any, content_type: str | None
) -> None:
    reports: list[CallReport] = []
    headers = {} if content_type is None else {"content-type": content_type}

    def answer(_: Any) -> Any:
        return library.Response(200, headers={"x-receipt-id": "r_env_1"}, content=GENUINE)

    transport = ReceiptTransport(library.MockTransport(answer), on_call=reports.append)
    with library.Client(transport=transport) as client:
        for content in (CALL["request"], b"{}", iter([b"{", b"}"]), b"no JSON", b""):
            client.post("https://a.example", content=content, headers=headers)
        client.post("https://a.example", files={"one": b"{}"})
    assert [one.verdict.valid for one in reports] == [True, *[False] * 5]
    for report in reports[1:]:
        assert [one.name for one in report.verdict.checks if one.ok is False] == ["request"]


@LIBRARIES
def test_a_call_is_reported_although_its_trust_cannot_be_read(library: Any) -> None:
    reports: list[CallReport] = []

    def unreadable() -> Any:
        raise PermissionError("trust.json")

    def answer(_: Any) -> Any:
        return library.Response(200, headers={"x-receipt-id": "r_env_1"}, content=GENUINE)

    options: Any = {"on_call": reports.append, "trust": unreadable}

    async def ask() -> None:
        transport = AsyncReceiptTransport(library.MockTransport(answer), **options)
        async with library.AsyncClient(transport=transport) as client:
            await client.post("https://a.example", content=CALL["request"])

    transport = ReceiptTransport(library.MockTransport(answer), **options)
    with library.Client(transport=transport) as client:
        client.post("https://a.example", content=CALL["request"])
    asyncio.run(ask())
    assert len(reports) == 2
    for report in reports:
        assert (report.verdict.valid, report.verdict.issuer.trusted) == (True, False)
        assert report.trust_error is not None
        assert report.trust_error.code == "trust_unavailable"
        assert isinstance(report.trust_error.__cause__, PermissionError)


def test_a_session_names_a_receipt_by_its_own_id() -> None:
    lines: list[str] = []

    def answer(_: httpx.Request) -> httpx.Response:
        return httpx.Response(200, headers={"x-receipt-id": "r_env_1"}, content=GENUINE)

    with open_session(key=generate_secret_key(), keep=lines.append) as session:
        transport = ReceiptTransport(httpx.MockTransport(answer), session=session)
        with httpx.Client(transport=transport) as client:
            client.post("https://a.example", content=CALL["request"])
    receipt = json.loads(GENUINE)["svc"]["receipt"]
    verdict = verify_session("".join(f"{line}\n" for line in lines), referenced=[receipt])
    assert (verdict.valid, verdict.references["valid"]) == (True, 1)


class _Front(ThreadingHTTPServer):
    """Gives each request one genuine answer, as a proxy does too; ``/slow`` gets none in time."""

    request_queue_size = 200

    def __init__(self) -> None:
        self.targets: list[str] = []
        self.hurry = threading.Event()
        super().__init__(("127.0.0.1", 0), _Answer)
        self.url = f"http://127.0.0.1:{self.server_address[1]}"


class _Answer(BaseHTTPRequestHandler):
    server: _Front

    def do_POST(self) -> None:
        self.server.targets.append(self.path)
        self.rfile.read(int(self.headers["content-length"]))
        if self.path == "/slow":
            self.server.hurry.wait(60)
        self.send_response(200)
        self.send_header("x-receipt-id", "r_env_1")
        self.send_header("content-length", str(len(GENUINE)))
        self.end_headers()
        self.wfile.write(GENUINE)

    def log_message(self, *_: Any) -> None:
        pass


@pytest.fixture
def http_front() -> Iterator[_Front]:
    with _Front() as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield server
        finally:
            server.hurry.set()
            server.shutdown()
            thread.join()


def post(library: Any, url: str, options: Any = None, **given: Any) -> list[CallReport]:
    """The reports of a call by the blocking client and of one by that for asyncio."""
    reports: list[CallReport] = []
    inner, async_inner = (
        (None, None)
        if options is None
        else (library.Client(**options), library.AsyncClient(**options))
    )
    transport = ReceiptTransport(inner, on_call=reports.append)
    # A transport may be used again after its client is closed, unless it was given a client.
    for _ in range(2 if options is None else 1):
        with library.Client(transport=transport, **given) as client:
            client.post(url, content=CALL["request"])

    async def ask() -> None:
        transport = AsyncReceiptTransport(async_inner, on_call=reports.append)
        for _ in range(2 if options is None else 1):
            async with library.AsyncClient(transport=transport, **given) as client:
                await client.post(url, content=CALL["request"])

    asyncio.run(ask())
    return reports


@LIBRARIES
def test_proxies_of_the_environment_are_used_unless_they_are_not_wanted(
    library: Any, http_front: _Front, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("http_proxy", http_front.url)
    monkeypatch.delenv("no_proxy", raising=False)
    monkeypatch.delenv("NO_PROXY", raising=False)
    reports = post(library, "http://service.example/v1")
    assert [report.verdict.valid for report in reports] == [True] * 4
    assert http_front.targets == ["http://service.example/v1"] * 4

    http_front.targets.clear()
    post(library, f"{http_front.url}/v1", {"trust_env": False})
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    post(library, f"{http_front.url}/v1")
    assert http_front.targets == ["/v1"] * 6

    http_front.targets.clear()
    post(library, "http://service.example/v1", {"trust_env": False, "proxy": http_front.url})
    assert http_front.targets == ["http://service.example/v1"] * 2


@LIBRARIES
@pytest.mark.parametrize("options", [None, {}], ids=["by default", "by a client"])
def test_the_timeouts_are_those_of_the_client(
    library: Any, options: Any, http_front: _Front
) -> None:
    url = f"{http_front.url}/slow"
    with pytest.raises(library.ReadTimeout):
        post(library, url, options, timeout=0.2)

    async def ask() -> None:
        inner = None if options is None else library.AsyncClient(**options)
        transport = AsyncReceiptTransport(inner)
        async with library.AsyncClient(transport=transport, timeout=0.2) as client:
            await client.post(url, content=b"{}")

    with pytest.raises(library.ReadTimeout):
        asyncio.run(ask())


@LIBRARIES
def test_the_limits_are_those_of_the_inner_client(library: Any, http_front: _Front) -> None:
    few = library.Client(limits=library.Limits(max_connections=2))
    for inner, most in ((few, 2), (None, 120)):
        transport = ReceiptTransport(inner)
        timeout = library.Timeout(10, pool=0.1)
        with library.Client(transport=transport, timeout=timeout) as client, ExitStack() as open_:
            for _ in range(most):
                open_.enter_context(client.stream("POST", http_front.url, content=b"{}"))
            if inner is not None:
                with pytest.raises(library.PoolTimeout):
                    client.post(http_front.url, content=b"{}")


@pytest.mark.parametrize("on_call", [None, print], ids=["alone", "on_call"])
def test_the_client_in_client_options_opens_120_connections(
    on_call: Any, http_front: _Front
) -> None:
    timeout = httpx2.Timeout(10, pool=0.1)
    url = f"{http_front.url}/v1/compute/chat/completions"
    request: Any = {"url": url, "content": b"{}", "timeout": timeout}
    with Client(http_front.url) as client, ExitStack() as open_:
        http_client = open_.enter_context(client.client_options(on_call=on_call)["http_client"])
        for _ in range(120):
            open_.enter_context(http_client.stream("POST", **request))

    async def ask() -> None:
        async with AsyncClient(http_front.url) as client, AsyncExitStack() as open_:
            options = client.client_options(on_call=on_call)
            http_client = await open_.enter_async_context(options["http_client"])
            for _ in range(120):
                await open_.enter_async_context(http_client.stream("POST", **request))

    asyncio.run(ask())


@LIBRARIES
def test_credentials_and_redirects_are_those_of_the_outer_client(library: Any) -> None:
    seen: list[tuple[str, str | None]] = []

    def answer(request: Any) -> Any:
        seen.append((request.url.path, request.headers.get("authorization")))
        if request.url.path == "/old":
            return library.Response(307, headers={"location": "/new"})
        return library.Response(200, headers={"x-receipt-id": "r_env_1"}, content=GENUINE)

    reports: list[CallReport] = []
    inner = library.Client(
        transport=library.MockTransport(answer), auth=("inner", "x"), follow_redirects=True
    )
    transport = ReceiptTransport(inner, on_call=reports.append)
    url = "https://in:url@a.example/old"
    headers = {"authorization": "Bearer outer"}
    with library.Client(transport=transport, auth=lambda request: request) as client:
        assert client.post(url, content=CALL["request"], headers=headers).status_code == 307
        client.post(url, content=CALL["request"], headers=headers, follow_redirects=True)
    assert [path for path, _ in seen] == ["/old", "/old", "/new"]
    assert {sent for _, sent in seen} == {"Bearer outer"}
    assert [report.verdict.valid for report in reports] == [True]


@pytest.mark.parametrize("stop", [None, 40])
def test_a_compressed_answer_and_one_that_breaks_off(stop: int | None) -> None:
    reports: list[CallReport] = []
    data = gzip.compress(b'{"object":"chat.completion","choices":[]}')

    class Broken(httpx.SyncByteStream):
        def __iter__(self) -> Iterator[bytes]:
            yield data[:stop]
            if stop is not None:
                raise httpx.ReadError("The connection broke.")

    def answer(_: httpx.Request) -> httpx.Response:
        headers = {"x-receipt-id": "r_env_1", "content-encoding": "gzip"}
        return httpx.Response(200, headers=headers, stream=Broken())

    transport = ReceiptTransport(httpx.MockTransport(answer), on_call=reports.append)
    with httpx.Client(transport=transport) as client:
        if stop is None:
            found = client.post("https://a.example", json={}).json()
            assert found["object"] == "chat.completion"
        else:
            with pytest.raises(httpx.ReadError):
                client.post("https://a.example", json={})
    (report,) = reports
    assert report.protocol == (None if stop else "chat")
    hashes = {one.name: one.hash for one in report.verdict.checks}
    assert (hashes["response"] is None) == (stop is not None)


def test_a_reported_call_can_be_verified_with_the_receipt_of_the_service(front: str) -> None:
    reports: list[CallReport] = []
    with openai_over(httpx2, front, on_call=reports.append) as client:
        client.chat.completions.create(model=MODEL, messages=MESSAGES)
    (report,) = reports
    with Client(front) as service:
        receipt = service.get_receipt(report.receipt_id).text
        verdict = verify_call(**report.call, receipt=receipt, trust=service.fetch_trust())
    assert verdict.valid
    assert verdict.issuer.trusted


@pytest.mark.parametrize("signs", [False, True])
def test_the_clients_of_openai_call_as_this_client(front: str, signs: bool) -> None:
    agent = AgentAuth(generate_secret_key()) if signs else None
    reports: list[CallReport] = []
    with Client(front, agent=agent) as service:
        service.fetch_trust()
        options: Any = service.client_options(on_call=reports.append)
        with openai.OpenAI(**options) as client:
            client.chat.completions.create(model=MODEL, messages=MESSAGES)
        assert_good(reports[0], "chat")
        receipt: Any = reports[0].receipt
        assert receipt["request"]["origin"] == (agent and agent.did)
        assert receipt["call"]["agent_proved"] is signs
        options = {**service.client_options(), "base_url": "http://127.0.0.1:9"}
        with openai.OpenAI(**options) as client, pytest.raises(TallyError, match="only"):
            client.models.list()


def test_the_clients_for_asyncio_call_as_this_client(front: str) -> None:
    async def chat() -> str | None:
        agent = AgentAuth(generate_secret_key())
        async with (
            AsyncClient(front, agent=agent) as service,
            openai.AsyncOpenAI(**service.client_options()) as client,
        ):
            answer = await client.chat.completions.create(model=MODEL, messages=MESSAGES)
            return answer.choices[0].message.content

    assert asyncio.run(chat()) == SAID


def test_a_session_refers_to_each_call_that_is_valid(front: str) -> None:
    lines: list[str] = []
    key = generate_secret_key()
    reports: list[CallReport] = []
    with open_session(key=key, keep=lines.append) as session:
        with Client(front) as service:
            options = service.client_options(on_call=reports.append, session=session)
        with openai.OpenAI(**options) as client:
            client.chat.completions.create(model=MODEL, messages=MESSAGES)
            for _ in client.chat.completions.create(model=MODEL, messages=MESSAGES, stream=True):
                pass

        async def main() -> None:
            async with AsyncClient(front) as service:
                options = service.client_options(session=session)
            async with openai.AsyncOpenAI(**options) as client:
                await client.chat.completions.create(model=MODEL, messages=MESSAGES)

        asyncio.run(main())
        cut = httpx.MockTransport(
            lambda _: httpx.Response(200, headers={"x-receipt-id": "r_env_1"}, json={})
        )
        with httpx.Client(transport=ReceiptTransport(cut, session=session)) as other:
            other.post(front, json={})
    file = "".join(f"{line}\n" for line in lines)
    receipts: Any = [report.receipt for report in reports]
    verdict = verify_session(file, key=create_signer(key).key_id, referenced=receipts)
    assert verdict.trusted
    assert verdict.references == {"valid": 2, "not_given": 1, "contradicts": 0}
