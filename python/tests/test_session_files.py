"""Sessions in files: flushed, gone on with after any end, and the same for TypeScript."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from support import NODE, ROOT, code_of, with_node

from tallystick import (
    SessionEntry,
    SessionFile,
    SessionValue,
    SessionVerification,
    TallyError,
    ToolServer,
    anchored_hash,
    check_opened_value,
    create_signer,
    open_session,
    open_session_file,
    open_session_value,
    salt_of,
    salted_hash,
    verify_session,
)

KEY = bytes([1]) * 32
KEY_ID = create_signer(KEY).key_id
SERVER: ToolServer = {
    "name": "files",
    "version": None,
    "transport": "stdio",
    "identity_sha256": None,
}


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where this user's things are."""
    home = tmp_path / "home"
    monkeypatch.setenv("TALLY_HOME", str(home))
    return home


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "agent.jsonl"


def opened(path: Path, **options: Any) -> SessionFile:
    return open_session_file(path, **{"key": KEY, **options})


def called(session: SessionFile, number: int) -> str:
    return session.record(
        tool="read",
        server=SERVER,
        arguments={"number": number},
        outcome="completed",
        result=[number],
    )


def judge(path: Path) -> SessionVerification:
    return verify_session(path.read_bytes(), key=KEY_ID)


def outcomes(path: Path) -> list[str]:
    verdict = judge(path)
    assert verdict.trusted, verdict.faults
    return [one.call["outcome"] for one in verdict.entries if one.call["kind"] == "tool"]


def beside(path: Path, suffix: str) -> Path:
    return path.with_name(path.name + suffix)


def run(script: str, path: Path) -> subprocess.Popen[str]:
    """A process that records in the file, as ``session``."""
    program = f"""
import sys
sys.path.insert(0, {str(Path(__file__).parent)!r})
from test_session_files import *
session = opened(Path({str(path)!r}))
{script}
"""
    return subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True)


def test_each_receipt_is_in_the_file_when_its_call_is_acknowledged(path: Path) -> None:
    with opened(path) as session:
        assert (session.resumed, session.remarks, session.path) == (False, [], path)
        for number in range(3):
            receipt = called(session, number)
            assert path.read_text().endswith(f"\n{receipt}\n")
    verdict = judge(path)
    assert (verdict.trusted, verdict.state, verdict.count) == (True, "closed", 5)
    assert beside(path, ".journal").read_bytes() == b""
    assert not beside(path, ".lock").exists()


def test_only_the_user_can_read_the_files(path: Path, home: Path) -> None:
    with open_session_file(path) as session:
        session.begin(tool="read", server=SERVER)
        files = [path, *(beside(path, one) for one in (".salt", ".journal", ".lock"))]
        assert {file.stat().st_mode & 0o777 for file in files} == {0o600}
    key = json.loads((home / "recorder.json").read_text())
    assert (key["type"], (home / "recorder.json").stat().st_mode & 0o777) == (
        "tally-key-v1",
        0o600,
    )
    assert verify_session(path.read_bytes(), key=key["key_id"]).trusted


def test_without_a_path_the_file_is_at_home(home: Path) -> None:
    with open_session_file() as session:
        assert session.path.parent == home / "sessions"
        assert session.path.stem.endswith(session.id[:8])


def test_a_damaged_key_is_refused(path: Path, home: Path) -> None:
    home.mkdir()
    (home / "recorder.json").write_text('{"type":"tally-key-v1","secret":7}')
    assert code_of(lambda: open_session_file(path)) == "invalid_secret_key"


def test_a_released_session_is_gone_on_with(path: Path) -> None:
    first = opened(path)
    called(first, 1)
    first.release()
    assert code_of(lambda: called(first, 2)) == "session_closed"
    with opened(path) as second:
        assert (second.resumed, second.id, second.remarks) == (True, first.id, [])
        called(second, 2)
    assert outcomes(path) == ["completed", "completed"]


def test_what_a_killed_process_began_is_recorded_as_unknown(path: Path) -> None:
    process = run(
        """
called(session, 1)
session.begin(tool="write", server=SERVER, arguments={"deep": [1.5, None]})
answered = session.begin(tool="read", server=SERVER, arguments=b"\\xff")
session.end(answered, outcome="completed")
session.begin(tool="send", server=SERVER, arguments=b"\\xff")
os.kill(os.getpid(), signal.SIGKILL)
""",
        path,
    )
    assert process.wait() == -signal.SIGKILL
    process.communicate()
    with opened(path) as session:
        assert session.remarks == [
            "A call of write had no answer. Number 3 records it as unknown.",
            "A call of send had no answer. Number 4 records it as unknown.",
        ]
        salt = session.salt
    assert outcomes(path) == ["completed", "completed", "unknown", "unknown"]
    verdict = judge(path)
    write, send = verdict.entries[3:5]
    value: SessionValue = {"json": {"deep": [1.5, None]}}
    assert write.request_hash == salted_hash(salt_of(salt, "3", "arguments"), value)
    assert send.request_hash == salted_hash(salt_of(salt, "4", "arguments"), {"raw": b"\xff"})
    assert send.response_hash is None
    shown: dict[str, Any] = {"session_id": session.id, "seq": 3, "part": "arguments"}
    opening = open_session_value(salt, **shown, value=value)
    assert check_opened_value(opening, verdict) == "valid"
    assert check_opened_value({**opening, "seq": "4"}, verdict) == "contradicts"


def test_killed_at_any_point_nothing_acknowledged_is_lost(path: Path) -> None:
    acknowledged: list[str] = []
    for number in range(1, 9):
        process = run(
            "for number in range(1_000): print(anchored_hash(called(session, number)), flush=True)",
            path,
        )
        assert process.stdout is not None
        acknowledged += [process.stdout.readline().strip() for _ in range(number)]
        process.kill()
        rest = process.stdout.read().split("\n")
        acknowledged += [line for line in rest if len(line) == 64]
        process.wait()
        process.stdout.close()
    opened(path).close()
    verdict = judge(path)
    assert (verdict.trusted, verdict.state) == (True, "closed")
    assert {f"sha256:{one}" for one in acknowledged} <= {one.sha256 for one in verdict.entries}
    assert len(acknowledged) >= 36


def test_a_receipt_that_was_written_and_not_acknowledged_ends_its_call(path: Path) -> None:
    session = opened(path)
    begun = session.begin(tool="read", server=SERVER)
    journal = beside(path, ".journal").read_bytes()
    session.end(begun, outcome="completed")
    session.release()
    beside(path, ".journal").write_bytes(journal + b'{"end":1,"seq":1}\n{"begin":2,"to')
    opened(path).release()
    assert outcomes(path) == ["completed"]
    beside(path, ".journal").write_bytes(journal + b'{"end":1,"seq":2}\n')
    opened(path).release()
    assert outcomes(path) == ["completed", "unknown"]


def test_a_call_whose_receipt_was_not_written_has_not_ended(path: Path) -> None:
    session = opened(path)
    for number in (1, 2):
        session.begin(tool=f"read-{number}", server=SERVER)
    journal = beside(path, ".journal").read_bytes()
    session.release()
    opened(path).release()
    # A receipt of the second call was noted and not written, and a start wrote that of the first.
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join(lines[:2]))
    notes = b'{"end":2,"seq":1}\n{"end":1,"seq":1}\n'
    beside(path, ".journal").write_bytes(journal + notes)
    opened(path).release()
    assert outcomes(path) == ["unknown", "unknown"]
    tools = [entry.call["tool"] for entry in judge(path).entries if entry.call["kind"] == "tool"]
    assert tools == ["read-1", "read-2"]


def test_a_note_without_room_leaves_nothing_behind(path: Path) -> None:
    resource = pytest.importorskip("resource")
    session = opened(path)
    session.begin(tool="read-1", server=SERVER)
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (8192, limits[1]))
    try:
        with pytest.raises(OSError, match="too large"):
            session.begin(tool="read-2", server=SERVER, arguments="b" * 99_999)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    session.begin(tool="read-3", server=SERVER)
    session.release()
    opened(path).release()
    tools = [entry.call["tool"] for entry in judge(path).entries if entry.call["kind"] == "tool"]
    assert tools == ["read-1", "read-3"]


@pytest.mark.parametrize(
    ("tool", "change", "field"),
    [
        ("", {}, "tool"),
        ("\ud800", {}, "tool"),
        ("\uffff", {}, "tool"),
        (7, {}, "tool"),
        ("read", {"name": ""}, "server.name"),
        ("read", {"name": "\ud800"}, "server.name"),
        ("read", {"version": ""}, "server.version"),
        ("read", {"transport": "pigeon"}, "server.transport"),
        ("read", {"identity_sha256": "ab"}, "server.identity_sha256"),
        ("read", {"extra": {1}}, "server.extra"),
    ],
)
def test_a_call_that_no_receipt_can_have_is_refused_before_it_begins(
    path: Path, tool: Any, change: dict[str, Any], field: str
) -> None:
    server: Any = {**SERVER, **change}
    with opened(path) as session:
        with pytest.raises(TallyError) as caught:
            session.record(tool=tool, server=server, outcome="completed")
        assert (caught.value.code, caught.value.field) == ("invalid_field", field)
        assert beside(path, ".journal").read_bytes() == b""
        called(session, 1)
    assert outcomes(path) == ["completed"]


def test_what_cannot_be_recorded_is_left_out_and_remarked_on(path: Path) -> None:
    opened(path).release()
    servers: list[Any] = [{**SERVER, "version": ""}, None, {**SERVER, "version": "1" * 99_999}]
    notes = [
        {"arguments": None, "begin": number, "server": server, "tool": "read"}
        for number, server in enumerate([*servers, SERVER], 1)
    ]
    lines = "".join(f"{json.dumps(note)}\n" for note in notes)
    beside(path, ".journal").write_text(lines)
    with opened(path) as session:
        said = "A call of read had no answer."
        large = session.remarks.pop(2)
        assert large.startswith(f"{said} It can't be recorded: The receipt would take 1")
        assert session.remarks == [
            f"{said} It can't be recorded: server.version must be a non-empty string.",
            f"{said} It can't be recorded: server must be an object.",
            f"{said} Number 1 records it as unknown.",
        ]
        assert beside(path, ".journal").read_bytes() == b""
    assert outcomes(path) == ["unknown"]


def test_a_torn_end_is_cut_and_a_missing_line_feed_is_added(path: Path) -> None:
    session = opened(path)
    called(session, 1)
    session.release()
    whole = path.read_bytes()
    path.write_bytes(whole[:-40])
    session = opened(path)
    assert session.remarks == [
        f"The last line of {path} was cut before its end, and was taken out."
    ]
    session.release()
    assert judge(path).count == 1
    path.write_bytes(whole[:-1])
    assert opened(path).close()
    assert judge(path).count == 3


def test_a_file_whose_end_is_longer_than_any_receipt_stays_as_it_is(path: Path) -> None:
    data = b"x" * 8 * 1_048_576
    path.write_bytes(data)
    assert code_of(lambda: opened(path)) == "session_unusable"
    assert path.read_bytes() == data


def test_a_file_that_is_all_torn_begins_anew(path: Path) -> None:
    path.write_bytes(b'{"call":')
    assert not opened(path).resumed


def test_a_closed_session_is_continued_in_the_next_file(path: Path) -> None:
    opened(path).close()
    closed = path.read_bytes()
    with opened(path, key=bytes([2]) * 32) as second:
        assert second.path == path.with_name("agent-2.jsonl")
        assert second.remarks == [f"The session in {path} is closed."]
    with opened(path) as third:
        assert third.path == path.with_name("agent-3.jsonl")
    first, continued = judge(path), judge(third.path).continues
    assert path.read_bytes() == closed
    second_verdict = verify_session(second.path.read_bytes())
    close = json.loads(closed.splitlines()[-1])["call"]
    assert second_verdict.continues == {"id": first.id, "count": "2", "head": close["head"]}
    assert continued is not None
    assert continued["id"] == second.id


def test_one_process_records_at_a_time(path: Path) -> None:
    process = run("print('open', flush=True); sys.stdin.read()", path)
    assert process.stdout is not None
    process.stdout.readline()
    with pytest.raises(TallyError, match=f'"pid":{process.pid}') as caught:
        opened(path)
    assert caught.value.code == "session_in_use"
    with ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(lambda: opened(path, wait_seconds=30))
        process.kill()
        process.communicate()
        session = waiting.result()
    assert session.resumed
    assert code_of(lambda: opened(path)) == "session_in_use"
    session.close()


@pytest.mark.parametrize(
    ("lock", "is_taken_over"),
    [
        ('{"host":"elsewhere","pid":1}', False),
        ("", False),
        (f'{{"host":{json.dumps(os.uname().nodename)},"pid":{os.getpid()}}}', True),
        (f'{{"host":{json.dumps(os.uname().nodename)},"pid":{os.getppid()}}}', False),
    ],
    ids=["another host", "not yet named", "an earlier process of this number", "another process"],
)
def test_a_lock_is_taken_over_only_if_its_process_is_gone(
    path: Path, lock: str, *, is_taken_over: bool
) -> None:
    beside(path, ".lock").write_text(lock)
    if is_taken_over:
        opened(path).close()
    else:
        assert code_of(lambda: opened(path)) == "session_in_use"


def test_an_old_lock_without_a_name_is_taken_over(path: Path) -> None:
    beside(path, ".lock").write_text("")
    os.utime(beside(path, ".lock"), (0, 0))
    opened(path).close()


def test_what_cannot_be_gone_on_with_is_left_as_it_is(path: Path) -> None:
    opened(path).release()
    assert code_of(lambda: opened(path, key=bytes([2]) * 32)) == "session_unusable"
    salt = beside(path, ".salt")
    text = salt.read_text()
    salt.write_text(text.replace('"session_id":"', '"session_id":"0'))
    assert code_of(lambda: opened(path)) == "session_unusable"
    salt.unlink()
    assert code_of(lambda: opened(path)) == "session_unusable"
    salt.write_text(text)
    receipts = path.read_bytes()
    path.write_bytes(b"{}\n" + receipts)
    assert code_of(lambda: opened(path)) == "session_unusable"
    path.write_bytes(receipts)
    opened(path).release()


def test_nothing_follows_what_could_not_be_kept(path: Path) -> None:
    session = opened(path)
    with path.open("ab") as other:
        other.write(b"{}\n")
    for _ in range(2):
        assert code_of(lambda: called(session, 1)) == "session_in_use"
    session.release()
    with opened(path.with_name("removed.jsonl")) as removed:
        removed.path.unlink()
        assert code_of(lambda: called(removed, 1)) == "session_unusable"
    assert not beside(removed.path, ".lock").exists()


def test_threads_share_a_file(path: Path) -> None:
    with opened(path) as session, ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda number: called(session, number), range(20)))
    assert outcomes(path) == ["completed"] * 20


def test_calls_that_overlap_are_numbered_as_they_end() -> None:
    lines: list[str] = []
    with open_session(key=KEY, keep=lines.append) as session:
        first = session.begin(tool="first", server=SERVER)
        second = session.begin(tool="second", server=SERVER)
        session.begin(tool="third", server=SERVER)
        session.end(second, outcome="completed", result=(2**60, {"set"}))
        assert code_of(lambda: session.end(second, outcome="completed")) == "invalid_field"
        session.end(first, outcome="error")
    entries = verify_session("".join(f"{line}\n" for line in lines), key=KEY_ID).entries

    def said(entry: SessionEntry) -> tuple[str, str, object]:
        assert entry.call["kind"] == "tool"
        return entry.call["tool"], entry.call["outcome"], entry.call.get("raw")

    assert [said(entry) for entry in entries[1:-1]] == [
        ("second", "completed", ["result"]),
        ("first", "error", None),
        ("third", "unknown", None),
    ]
    assert code_of(session.close) == "session_closed"


TYPESCRIPT = """
import { openSessionFile } from %s;
const session = await openSessionFile(%s);
const server = { name: 'files', version: null, transport: 'stdio', identity_sha256: null };
%s
console.log(JSON.stringify({ id: session.id, path: session.path, remarks: session.remarks }));
"""


def in_typescript(path: Path, body: str) -> Any:
    """What JavaScript does with the file by the TypeScript SDK, as ``session``."""
    module = (ROOT / "packages/sdk/src/session-file/index.ts").as_uri()
    script = TYPESCRIPT % (json.dumps(module), json.dumps(str(path)), body)
    command = [NODE, "--input-type=module", "--eval", script]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    assert done.stdout != "", done.stderr
    return json.loads(done.stdout.splitlines()[-1])


@with_node
def test_python_and_typescript_go_on_with_each_others_file(path: Path, home: Path) -> None:
    ours = open_session_file(path)
    ours.record(tool="a", server=SERVER, outcome="completed", arguments={"é": 1.0}, result="ü")
    ours.begin(tool="b", server=SERVER, arguments={"é": 1e21})
    ours.begin(tool="c", server=SERVER, arguments=b"\xff\x00")
    ours.release()
    theirs = in_typescript(
        path,
        """
        await session.record({ tool: 'd', server, outcome: 'error', arguments: {}, result: null });
        await session.begin({ tool: 'e', server, arguments: { deep: [null, 'ß'] } });
        await session.begin({ tool: 'f', server, arguments: new Uint8Array([255]) });
        await session.begin({ tool: 'g', server });
        await session.release();
        """,
    )
    assert (theirs["id"], len(theirs["remarks"])) == (ours.id, 2)
    again = open_session_file(path)
    assert len(again.remarks) == 3
    salt = again.salt
    again.release()
    in_typescript(path, "await session.close();")
    with open_session_file(path) as third:
        assert third.path == path.with_name("agent-2.jsonl")
    assert in_typescript(path, "await session.close();")["path"] == str(
        path.with_name("agent-3.jsonl")
    )
    key_id = json.loads((home / "recorder.json").read_text())["key_id"]
    verdict = verify_session(path.read_bytes(), key=key_id)
    assert (verdict.trusted, verdict.state) == (True, "closed")
    values: list[Any] = [
        {"json": {"é": 1}},
        {"json": {"é": 1e21}},
        {"raw": b"\xff\x00"},
        {"json": {}},
        {"json": {"deep": [None, "ß"]}},
        {"raw": b"\xff"},
    ]
    for entry, value in zip(verdict.entries[1:7], values, strict=True):
        expected = salted_hash(salt_of(salt, str(entry.seq), "arguments"), value)
        assert entry.request_hash == expected
    assert verdict.entries[7].request_hash is None
    assert verdict.entries[4].response_hash is not None
    assert verdict.head == f"sha256:{anchored_hash(path.read_text().splitlines()[-1])}"


@with_node
def test_a_file_that_typescript_has_is_in_use(path: Path) -> None:
    module = (ROOT / "packages/sdk/src/session-file/index.ts").as_uri()
    script = TYPESCRIPT % (json.dumps(module), json.dumps(str(path)), "setInterval(() => 0, 1e6);")
    with subprocess.Popen(
        [NODE, "--input-type=module", "--eval", script], stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        process.stdout.readline()
        assert code_of(lambda: open_session_file(path)) == "session_in_use"
        process.kill()
    assert open_session_file(path).resumed
