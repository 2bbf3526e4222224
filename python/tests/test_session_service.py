"""Sessions whose receipts a real service signs, also when answers are lost on the way."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from support import code_of, with_node

from tallystick import (
    Client,
    SessionFile,
    SessionVerification,
    TallyError,
    ToolServer,
    open_session,
    open_session_file,
    verify_session,
)

pytestmark = with_node

SERVER: ToolServer = {
    "name": "files",
    "version": None,
    "transport": "stdio",
    "identity_sha256": None,
}
CALL: dict[str, Any] = {"tool": "read", "server": SERVER, "arguments": {"path": "/a"}}


class Lossy:
    """A client whose answers are lost, so many of them as ``losing`` says."""

    def __init__(self, client: Client) -> None:
        self._client = client
        self.losing = 0

    def open_service_session(self, *args: Any, **params: Any) -> Any:
        return self._client.open_service_session(*args, **params)

    def add_session_receipt(self, *args: Any, **params: Any) -> Any:
        added = self._client.add_session_receipt(*args, **params)
        if self.losing > 0:
            self.losing -= 1
            raise TallyError("unavailable", "The answer was lost.")
        return added

    def get_session(self, session_id: str) -> str:
        return self._client.get_session(session_id)


@pytest.fixture
def client(service: str, pro_key: str) -> Iterator[Client]:
    with Client(service, api_key=pro_key) as client:
        client.fetch_trust()
        yield client


@pytest.fixture
def lossy(client: Client) -> Lossy:
    return Lossy(client)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "agent.jsonl"


def opened(path: Path, lossy: Lossy) -> SessionFile:
    return open_session_file(path, client=lossy)


def judge(file: bytes | str, client: Client) -> SessionVerification:
    verdict = verify_session(file, trust=client.fetch_trust())
    assert verdict.trusted, verdict.faults
    assert verdict.recorder is not None
    assert verdict.recorder.by == "service"
    return verdict


def outcomes(verdict: SessionVerification) -> list[str]:
    calls = (entry.call for entry in verdict.entries)
    return [call["outcome"] if call["kind"] == "tool" else call["kind"] for call in calls]


def test_a_service_signs_what_it_has_not_seen(client: Client) -> None:
    lines: list[str] = []
    with open_session(client=client, keep=lines.append) as session:
        session.record(**CALL, outcome="completed", result="text")
    file = "".join(f"{line}\n" for line in lines)
    assert client.get_session(session.id) == file
    verdict = judge(file, client)
    assert (verdict.state, verdict.count) == ("closed", 3)


def test_a_lost_answer_is_kept_once_before_the_session_goes_on(
    path: Path, client: Client, lossy: Lossy
) -> None:
    with opened(path, lossy) as session:
        begun = session.begin(**CALL)
        lossy.losing = 1
        assert code_of(lambda: session.end(begun, outcome="completed")) == "unavailable"
        session.record(**CALL, outcome="error")
        assert code_of(lambda: session.end(begun, outcome="completed")) == "invalid_field"
        again = session.begin(**CALL)
        lossy.losing = 1
        assert code_of(lambda: session.end(again, outcome="completed")) == "unavailable"
        assert session.end(again, outcome="completed") == path.read_text().splitlines()[-1]
        lossy.losing = 1
        assert code_of(session.close) == "unavailable"
    verdict = judge(path.read_bytes(), client)
    assert outcomes(verdict) == ["session", "completed", "error", "completed", "session"]
    assert verdict.state == "closed"


def test_a_lost_answer_is_kept_for_the_call_that_it_is_of_where_another_is_like_it(
    path: Path, client: Client, lossy: Lossy
) -> None:
    with opened(path, lossy) as session:
        first, second = session.begin(**CALL), session.begin(**CALL)
        lossy.losing = 1
        ending: dict[str, Any] = {"outcome": "error", "result": "of the second"}
        assert code_of(lambda: session.end(second, **ending)) == "unavailable"
        assert session.end(second, **ending) == path.read_text().splitlines()[1]
        session.end(first, outcome="completed", result="of the first")
    verdict = judge(path.read_bytes(), client)
    assert outcomes(verdict) == ["session", "error", "completed", "session"]


def test_a_start_keeps_what_only_the_service_has(path: Path, client: Client, lossy: Lossy) -> None:
    first = opened(path, lossy)
    begun = first.begin(**CALL)
    first.begin(**{**CALL, "tool": "write"})
    lossy.losing = 1
    assert code_of(lambda: first.end(begun, outcome="completed")) == "unavailable"
    first.release()
    with opened(path, lossy) as second:
        assert second.remarks == [
            "Receipts after number 0 came from the service.",
            "A call of write had no answer. Number 2 records it as unknown.",
        ]
    verdict = judge(path.read_bytes(), client)
    assert outcomes(verdict) == ["session", "completed", "unknown", "session"]


def test_a_closing_that_only_the_service_has(path: Path, client: Client, lossy: Lossy) -> None:
    first = opened(path, lossy)
    lossy.losing = 1
    assert code_of(first.close) == "unavailable"
    first.release()
    assert code_of(lambda: opened(path, lossy)) == "session_unusable"
    assert judge(path.read_bytes(), client).state == "closed"
    with opened(path, lossy) as second:
        assert second.path.name == "agent-2.jsonl"


def test_a_key_and_a_client_exclude_each_other(client: Client) -> None:
    key = bytes(32)
    assert code_of(lambda: open_session(key=key, client=client)) == "invalid_field"
    assert code_of(open_session) == "invalid_field"
