"""Sessions recorded here: what a change of one line is called, and what the core says of them."""

from __future__ import annotations

import json
import secrets
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from itertools import count
from typing import Any, NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support import NOW, code_of, core, with_node

from tallystick import (
    RecorderOptions,
    SessionHead,
    SessionRecorder,
    SessionValue,
    SessionVerification,
    Signer,
    TallyError,
    ToolServer,
    anchored_hash,
    create_signer,
    open_session,
    own_key_signer,
    salt_of,
    salted_hash,
    verify_session,
)
from tallystick._lib.sessions.session_value import session_value

SALT = bytes([7]) * 32
KEY, OTHER = create_signer(bytes([1]) * 32), create_signer(bytes([2]) * 32)
SERVER: ToolServer = {
    "name": "files",
    "version": "1.2.0",
    "transport": "stdio",
    "identity_sha256": None,
}


def options_of(
    signer: Signer = KEY,
    *,
    random: Callable[[int], bytes] = secrets.token_bytes,
    agent_did: str | None = None,
) -> RecorderOptions:
    sign = own_key_signer(signer, now=lambda: NOW, random=random, agent_did=agent_did)
    return RecorderOptions(sign=sign, salt=SALT, random=random)


def call(recorder: SessionRecorder, argument: int, **changes: Any) -> str:
    value: SessionValue = {"json": {"argument": argument}}
    result: SessionValue = {"json": {"content": []}}
    said: dict[str, Any] = {"tool": "read", "server": SERVER, "outcome": "completed"}
    return recorder.tool(**{**said, "arguments": value, "result": result, **changes})


def closed_session(calls: int) -> list[str]:
    """The lines of a closed session with so many calls."""
    recorder, opening = SessionRecorder.open(options_of())
    return [opening, *(call(recorder, number) for number in range(calls)), recorder.close()]


def judge(lines: list[str], key: str | None = KEY.key_id) -> SessionVerification:
    return verify_session("".join(f"{line}\n" for line in lines), key=key, now=NOW)


def names_in(verdict: SessionVerification) -> list[str]:
    return [fault.name for fault in verdict.faults]


def test_a_closed_session_is_whole_and_trusted_by_its_pinned_key() -> None:
    lines = closed_session(3)
    verdict = judge(lines)
    assert (verdict.valid, verdict.trusted, verdict.state, verdict.count) == (
        True,
        True,
        "closed",
        5,
    )
    assert (verdict.faults, verdict.notes) == ((), ())
    assert verdict.recorder is not None
    assert (verdict.recorder.by, verdict.recorder.key_id) == ("own_key", KEY.key_id)
    assert verdict.head == f"sha256:{anchored_hash(lines[-1])}"
    assert judge(lines, None).trusted is False
    assert (judge(lines, "").trusted, judge(lines, "").count) == (False, 0)
    assert code_of(lambda: judge(lines, "did:key:z")) == "invalid_did"


def test_nothing_is_no_session() -> None:
    verdict = verify_session(b"", now=NOW)
    assert (verdict.state, verdict.valid, verdict.head, verdict.recorder) == (
        "none",
        False,
        None,
        None,
    )


def test_one_value_is_opened_by_its_salt() -> None:
    entries = judge(closed_session(2)).entries
    salt = salt_of(SALT, "1", "arguments")
    assert salted_hash(salt, {"json": {"argument": 0}}) == entries[1].request_hash
    assert salted_hash(salt, {"json": {"argument": 1}}) != entries[2].request_hash


def test_a_receipt_with_every_member_is_small_enough() -> None:
    recorder, _ = SessionRecorder.open(options_of(agent_did=KEY.key_id))
    server: ToolServer = {
        "name": "n" * 128,
        "version": "10.20.30",
        "transport": "http",
        "identity_sha256": "sha256:" + "a" * 64,
    }
    receipt = call(recorder, 1, tool="x" * 4_000, server=server, arguments={"raw": b"\xff"})
    said = json.loads(receipt)["call"]
    assert said["tool"].startswith("sha256:")
    assert (said["server"]["name"], said["raw"]) == ("n" * 128, ["arguments"])
    assert len(receipt) < 2_200


def test_a_refused_receipt_takes_no_place() -> None:
    recorder, opening = SessionRecorder.open(options_of())
    long: ToolServer = {**SERVER, "version": "9" * 3_000}
    assert code_of(lambda: call(recorder, 1, outcome="went well")) == "invalid_field"
    assert code_of(lambda: call(recorder, 1, server=long)) == "receipt_too_large"
    assert code_of(lambda: call(recorder, 1, arguments={"json": b""})) == "json_not_plain"
    assert judge([opening, call(recorder, 1), recorder.close()]).valid
    assert code_of(lambda: call(recorder, 2)) == "session_closed"
    assert code_of(recorder.close) == "session_closed"


def test_threads_share_a_recorder() -> None:
    recorder, opening = SessionRecorder.open(options_of())
    with ThreadPoolExecutor(4) as pool:
        calls = list(pool.map(lambda number: call(recorder, number), range(16)))
    calls.sort(key=lambda line: int(json.loads(line)["call"]["session"]["seq"]))
    assert judge([opening, *calls, recorder.close()]).valid


def test_a_session_goes_on_from_its_newest_receipt() -> None:
    recorder, opening = SessionRecorder.open(options_of())
    resumed = SessionRecorder.resume(options_of(), recorder.head)
    verdict = judge([opening, call(resumed, 1), resumed.close()])
    assert (verdict.valid, verdict.state) == (True, "closed")


def test_continues_and_parent_are_said() -> None:
    place = {"id": "0" * 32, "seq": "3", "receipt_sha256": "sha256:" + "b" * 64}
    before = {"id": "1" * 32, "count": "5", "head": "sha256:" + "c" * 64}
    said: Any = {"continues": before, "parent": place}
    _, opening = SessionRecorder.open(options_of(), **said)
    verdict = judge([opening])
    assert (verdict.valid, verdict.continues, verdict.parent) == (True, before, place)


def test_a_torn_end_is_left_out_and_a_torn_line_is_a_fault() -> None:
    first, second, third = closed_session(1)
    cut = verify_session(f"{first}\n{second}\n{third[:40]}".encode(), now=NOW)
    assert (cut.integrity, cut.state, cut.count) == (True, "open", 2)
    assert cut.notes == (
        "Line 3 was cut before its end, and is left out.",
        "The session is open: nobody can see whether receipts after number 1 were cut off.",
    )
    assert names_in(judge([first, second[:40], third])) == ["torn", "gap"]


@pytest.mark.parametrize("line", ['"text"', "[]", "null", "7", '{"call":7}', "\ufeff{}"])
def test_a_line_that_is_no_receipt_is_a_fault(line: str) -> None:
    first, second, third = closed_session(1)
    assert names_in(judge([first, line, second, third])) in (["edited"], ["torn"])


@given(st.binary(max_size=200))
def test_no_file_is_an_error(file: bytes) -> None:
    assert verify_session(file, now=NOW).valid is False


def test_a_run_of_missing_numbers_is_one_fault() -> None:
    recorder, opening = SessionRecorder.open(options_of())
    far = SessionHead(recorder.head.id, 10**15 - 3, recorder.head.hash)
    last = call(SessionRecorder.resume(options_of(), far), 1)
    faults = judge([opening, last]).faults
    assert [(fault.name, fault.seq) for fault in faults] == [("gap", 1)]
    assert faults[0].detail == f"Numbers 1 to {10**15 - 3} are missing."


def test_a_closing_that_counts_wrongly() -> None:
    recorder, opening = SessionRecorder.open(options_of())
    head = recorder.head
    skipped = SessionRecorder.resume(options_of(), SessionHead(head.id, head.seq + 1, head.hash))
    assert names_in(judge([opening, skipped.close()])) == ["gap"]
    closed = SessionRecorder.resume(options_of(), head)
    lines = [opening, closed.close()]
    later = SessionRecorder.resume(options_of(), closed.head)
    assert names_in(judge([*lines, call(later, 1)])) == ["count_mismatch"]


def test_references() -> None:
    recorder, opening = SessionRecorder.open(options_of())
    called, foreign = closed_session(0)[0], closed_session(0)[0]
    receipt_id = json.loads(called)["receipt_id"]
    digest = f"sha256:{anchored_hash(called)}"
    refers = recorder.reference(receipt_id=receipt_id, receipt_sha256=digest)
    file = "".join(f"{line}\n" for line in (opening, refers, recorder.close()))

    def state(*referenced: Any) -> tuple[bool, str | None]:
        verdict = verify_session(file, now=NOW, referenced=referenced)
        return verdict.valid, verdict.entries[1].reference

    assert state() == (True, "not_given")
    assert state("no receipt", {}, called) == (True, "valid")
    assert state({**json.loads(foreign), "receipt_id": receipt_id}) == (False, "contradicts")


class Change(NamedTuple):
    """A file with one line changed, and the fault that the change is."""

    lines: list[str]
    fault: str


def signed_instead(line: str, signer: Signer) -> str:
    """The receipt that a key signs in the place of a line."""
    place = json.loads(line)["call"]["session"]
    head = SessionHead(place["id"], int(place["seq"]) - 1, place["prev"])
    return call(SessionRecorder.resume(options_of(signer), head), 99)


def removed(lines: list[str], at: int) -> Change:
    return Change(lines[:at] + lines[at + 1 :], "gap")


def doubled(lines: list[str], at: int) -> Change:
    return Change(lines[: at + 1] + lines[at:], "duplicate")


def moved(lines: list[str], at: int) -> Change:
    rest = lines[:at] + lines[at + 1 :]
    moved_to_start = at == len(lines) - 1
    return Change([lines[at], *rest] if moved_to_start else [*rest, lines[at]], "reordered")


def edited(lines: list[str], at: int) -> Change:
    line = lines[at].replace('"svc-receipt-v1"', '"svc-receipt-v1","x":1')
    return Change([*lines[:at], line, *lines[at + 1 :]], "edited")


def signed_by_another_key(lines: list[str], at: int) -> Change:
    line = signed_instead(lines[at], OTHER)
    return Change([*lines[:at], line, *lines[at + 1 :]], "foreign_key")


def signed_again_by_the_same_key(lines: list[str], at: int) -> Change:
    line = signed_instead(lines[at], KEY)
    return Change([*lines[:at], line, *lines[at + 1 :]], "gap" if at == 0 else "fork")


CAN_CHANGE_THE_LAST = (doubled, moved, edited, signed_by_another_key)


@pytest.mark.parametrize(
    "change",
    [removed, *CAN_CHANGE_THE_LAST, signed_again_by_the_same_key],
    ids=lambda one: one.__name__,
)
@given(calls=st.integers(1, 5), data=st.data())
def test_one_changed_line_is_found_and_named(change: Any, calls: int, data: st.DataObject) -> None:
    lines = closed_session(calls)
    # Without its end, a session is open; nothing after the end contradicts another one.
    last = len(lines) - (1 if change in CAN_CHANGE_THE_LAST else 2)
    at = data.draw(st.integers(0, last))
    changed: Change = change(lines, at)
    verdict = judge(changed.lines)
    assert not verdict.valid
    assert changed.fault in names_in(verdict)


def test_a_session_without_its_end_is_open() -> None:
    verdict = judge(closed_session(3)[:-1])
    assert (verdict.valid, verdict.state, verdict.count) == (True, "open", 4)


@with_node
def test_the_core_records_the_same_session_to_the_byte() -> None:
    drawn = count(1)
    options = options_of(
        random=lambda length: next(drawn).to_bytes(length, "big"),
        agent_did=OTHER.key_id,
    )
    recorder, opening = SessionRecorder.open(options)
    digest = "sha256:" + "d" * 64
    lines = [
        opening,
        call(recorder, 1),
        call(recorder, 2, outcome="denied", result=None, tool="å" * 65),
        call(recorder, 3, arguments={"raw": b"\xff\x00"}, result={"json": None}),
        recorder.reference(receipt_id="r_env_1768474800_000000000001", receipt_sha256=digest),
        recorder.close(),
    ]
    theirs = core(
        """
        let drawn = 0;
        const random = (length) => core.fromHex((++drawn).toString(16).padStart(2 * length, '0'));
        const signer = await core.createSigner(core.fromHex(value.seed));
        const sign = core.ownKeySigner({
          signer, random, now: () => value.now, agentDid: value.agent,
        });
        const options = { sign, salt: core.fromHex(value.salt), random };
        const { recorder, receipt } = await core.SessionRecorder.open(options);
        const call = (argument, changes = {}) => recorder.tool({
          tool: 'read',
          server: value.server,
          outcome: 'completed',
          arguments: { json: { argument } },
          result: { json: { content: [] } },
          ...changes,
        });
        return [
          receipt,
          await call(1),
          await call(2, { outcome: 'denied', result: null, tool: 'å'.repeat(65) }),
          await call(3, { arguments: { raw: new Uint8Array([255, 0]) }, result: { json: null } }),
          await recorder.reference({
            receipt_id: 'r_env_1768474800_000000000001',
            receipt_sha256: value.digest,
          }),
          await recorder.close(),
        ];
        """,
        {
            "seed": (bytes([1]) * 32).hex(),
            "salt": SALT.hex(),
            "now": int(NOW.timestamp() * 1_000),
            "agent": OTHER.key_id,
            "server": SERVER,
            "digest": digest,
        },
    )
    assert lines == theirs


def nested(depth: int) -> list[Any]:
    value: list[Any] = []
    for _ in range(depth):
        value = [value]
    return value


INFINITE = float("inf")
ODD_NUMBERS = [1e20, -1e20, "é\u2028", "\x7f", 1e-7, 1.5e300, -0.0, 5e-324, 123456.789, 1e-6]
ODD_NAMES = {"b": 1e20, "10": 1, "9": 2, "01": 3, "4294967294": 4, "4294967295": 5, "-1": 6}


@pytest.mark.parametrize(
    ("value", "digest"),
    [
        (float("nan"), "cab8ea038a83e03a"),
        ([INFINITE, -INFINITE], "9c05d8b80606a6c0"),
        (1e20, "6a3208d169541686"),
        ({"a": ODD_NUMBERS}, "c80e557535d1925c"),
        ("\ud800", "9482ca9c7f63bbbf"),
        (["\udfff\ud83d\ude00", 1e20], "f3a11576d6971e3e"),
        ({"\ud800": 1}, "bafedc91b0f26dcc"),
        ("\ufffe", "6d0237cecef7847b"),
        ('"\\\b\t\n\f\r\x01/\ufffe', "5d16f4ca21493f62"),
        (nested(70), "0c9fbcdb7affe3e1"),
        (ODD_NAMES, "657d958567abf4b1"),
        (2**53 + 1, "b07adf45ed525a9d"),
        (2**60, "6f1e3c7d647b195d"),
        ([10**21, 10**20], "44fa4d9e816e753a"),
        (10**400, "cab8ea038a83e03a"),
        ((True, None, 1e20), "b555a3a411ba0294"),
        (b"\1\2", "2df97b5181163829"),
        (bytearray(b"\1\2"), "2df97b5181163829"),
        (memoryview(b"\1\2"), "2df97b5181163829"),
        ({"a": bytearray(b"\xff\0")}, "af463c8d575c91d6"),
        ({}, "22f8eea909400af9"),
    ],
)
def test_a_value_has_the_hash_that_typescript_gives_it(value: object, digest: str) -> None:
    """The digests are those of ``saltedHash(new Uint8Array(32), sessionValue(value))``."""
    written = session_value(value, "arguments")
    assert written is not None
    assert salted_hash(bytes(32), written)[7:23] == digest


def test_a_value_that_json_cannot_write_is_refused() -> None:
    endless: list[Any] = []
    endless.append(endless)
    with open_session(key=KEY) as session:
        for value in ({1: 2}, {"a": [{("a", "b"): 1}]}, {None: 1e20}, endless):
            with pytest.raises(TallyError) as caught:
                session.begin(tool="read", server=SERVER, arguments=value)
            assert (caught.value.code, caught.value.field) == ("invalid_field", "arguments")
        begun = session.begin(tool="read", server=SERVER)
        with pytest.raises(TallyError) as caught:
            session.end(begun, outcome="completed", result={1: 2})
        assert (caught.value.code, caught.value.field) == ("invalid_field", "result")
