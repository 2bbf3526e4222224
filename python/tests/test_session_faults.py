"""Random sessions, each with one change: what must be found is found and named."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from random import Random
from typing import Any, NamedTuple, get_args

import pytest
from support import NOW

from tallystick import RecorderOptions as Options
from tallystick import (
    SessionFaultName,
    SessionHead,
    SessionRecorder,
    SessionValue,
    SessionVerification,
    Signer,
    ToolOutcome,
    ToolServer,
    create_signer,
    own_key_signer,
    verify_session,
)

SESSIONS = int(os.environ.get("TALLY_TEST_SESSIONS", "1000"))
"""How many random sessions the test judges. 10,000 of them take a minute or two."""

KEY, OTHER = create_signer(bytes([1]) * 32), create_signer(bytes([2]) * 32)
SERVER: ToolServer = {
    "name": "files",
    "version": None,
    "transport": "stdio",
    "identity_sha256": None,
}
TOOLS = ("read", "write", "run", "a name in ünïcode", "x" * 200)


def options_of(signer: Signer, random: Random) -> Options:
    sign = own_key_signer(signer, now=lambda: NOW, random=random.randbytes)
    return Options(sign=sign, salt=bytes([7]) * 32, random=random.randbytes)


def recorded(recorder: SessionRecorder, random: Random) -> str:
    if random.random() < 0.1:
        digest = "sha256:" + random.randbytes(32).hex()
        return recorder.reference(receipt_id="r_env_1768474800_000000000001", receipt_sha256=digest)
    outcome: ToolOutcome = random.choice(get_args(ToolOutcome))
    arguments: list[SessionValue | None] = [{"json": random.random()}, {"raw": b"\xff"}, None]
    return recorder.tool(
        tool=random.choice(TOOLS),
        server=SERVER,
        outcome=outcome,
        arguments=random.choice(arguments),
        result=None if outcome == "denied" else {"json": [random.randrange(9)]},
    )


def closed_session(random: Random) -> list[str]:
    """The lines of a closed session with up to three steps."""
    recorder, opening = SessionRecorder.open(options_of(KEY, random))
    steps = [recorded(recorder, random) for _ in range(random.randrange(4))]
    return [opening, *steps, recorder.close()]


def judge(lines: list[str]) -> SessionVerification:
    return verify_session("".join(f"{line}\n" for line in lines), key=KEY.key_id, now=NOW)


class Changed(NamedTuple):
    """The lines of a file after a change, and the fault that must be named."""

    lines: list[str]
    fault: SessionFaultName
    line: int | None
    """Line of the fault, from 1; ``None`` where no line has it."""


def signed_instead(line: str, signer: Signer, random: Random) -> str:
    """The receipt that a key signs in the place of a line."""
    place = json.loads(line)["call"]["session"]
    head = SessionHead(place["id"], int(place["seq"]) - 1, place["prev"])
    return recorded(SessionRecorder.resume(options_of(signer, random), head), random)


def removed(lines: list[str], random: Random) -> Changed:
    # Without its last line a session is open, and says so.
    at = random.randrange(len(lines) - 1)
    return Changed(lines[:at] + lines[at + 1 :], "gap", None)


def doubled(lines: list[str], random: Random) -> Changed:
    at, to = random.randrange(len(lines)), random.randrange(len(lines) + 1)
    second = at + 2 if to <= at else to + 1
    return Changed([*lines[:to], lines[at], *lines[to:]], "duplicate", second)


def moved(lines: list[str], random: Random) -> Changed:
    at = random.randrange(len(lines))
    rest = lines[:at] + lines[at + 1 :]
    to = random.choice([place for place in range(len(lines)) if place != at])
    # Moved towards the end, it comes after a higher number; the other way, what it passed does.
    line = to + 1 if to > at else to + 2
    return Changed([*rest[:to], lines[at], *rest[to:]], "reordered", line)


def edited(lines: list[str], random: Random) -> Changed:
    """Changes one letter or digit of a line."""
    at = random.randrange(len(lines))
    line = lines[at]
    places = [place for place, character in enumerate(line) if character.isalnum()]
    place = random.choice(places)
    other = random.choice([one for one in "abc123XYZ" if one != line[place]])
    changed = line[:place] + other + line[place + 1 :]
    return Changed([*lines[:at], changed, *lines[at + 1 :]], "edited", at + 1)


def signed_by_another_key(lines: list[str], random: Random) -> Changed:
    at = random.randrange(len(lines))
    line = signed_instead(lines[at], OTHER, random)
    return Changed([*lines[:at], line, *lines[at + 1 :]], "foreign_key", at + 1)


def signed_again_by_the_same_key(lines: list[str], random: Random) -> Changed:
    # Nothing follows the last line that another one could contradict.
    at = random.randrange(len(lines) - 1)
    line = signed_instead(lines[at], KEY, random)
    if at == 0:
        return Changed([line, *lines[1:]], "gap", 1)
    return Changed([*lines[:at], line, *lines[at + 1 :]], "fork", at + 2)


CHANGES: list[Callable[[list[str], Random], Changed]] = [
    removed,
    doubled,
    moved,
    edited,
    signed_by_another_key,
    signed_again_by_the_same_key,
]


@pytest.mark.parametrize("part", range(10))
def test_one_changed_line_is_found_and_named_and_a_cut_tail_is_not(part: int) -> None:
    for seed in range(part, SESSIONS, 10):
        random = Random(seed)
        lines = closed_session(random)
        whole = random.randint(1, len(lines))
        verdict = judge(lines[:whole])
        state = "closed" if whole == len(lines) else "open"
        assert (verdict.trusted, verdict.state, verdict.faults) == (True, state, ()), seed
        change = CHANGES[seed // 10 % len(CHANGES)]
        changed = change(lines, random)
        verdict = judge(changed.lines)
        found: Any = [(fault.name, fault.line) for fault in verdict.faults]
        # An edited line may be no JSON any more.
        names = {"edited", "torn"} if change is edited else {changed.fault}
        named = any(name in names and line == changed.line for name, line in found)
        assert (verdict.valid, named) == (False, True), (seed, change.__name__, changed, found)
