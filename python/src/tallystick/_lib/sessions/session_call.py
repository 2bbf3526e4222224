"""The member ``call`` of a session's receipts (spec/sessions.md)."""

from __future__ import annotations

from typing import Final, Literal, TypeAlias, TypedDict, TypeGuard, get_args

from ..canonical import copy_json
from ..errors import TallyError
from ..hashes import sha256_hex
from ..shape import (
    Rule,
    constant,
    is_object,
    list_of,
    members,
    non_empty_text,
    nullable,
    one_of,
    pattern,
    sha256_text,
)

_SESSION_VERSION: Final = "svc-session-v1"
"""Begins what is hashed as ``prev`` of a session's first receipt."""

_MAX_NAME_BYTES: Final = 128
"""Most UTF-8 bytes of the name of a tool or a server; a longer one is replaced by its hash."""

ToolOutcome: TypeAlias = Literal["completed", "error", "denied", "cancelled", "unknown"]
"""What became of a tool call. ``unknown``: the recorder ended before the answer came."""


class SessionPlace(TypedDict):
    """Place of a receipt in its session."""

    id: str
    """32 lower-case hex characters."""
    seq: str
    """Number of the receipt in decimal digits, from ``0``."""
    prev: str
    """``sha256:<hex>``: anchored hash of the receipt before."""


class ContinuedSession(TypedDict):
    """A closed session that another one goes on from, under another key."""

    id: str
    count: str
    head: str


class ParentReceipt(TypedDict):
    """The receipt of the session that a sub-agent's session was begun from."""

    id: str
    seq: str
    receipt_sha256: str


class ToolServer(TypedDict):
    """The server of a tool."""

    name: str
    version: str | None
    transport: Literal["stdio", "http", "in_process"]
    identity_sha256: str | None
    """``sha256:<hex>`` of what identifies the server, such as its command line; ``None`` if that
    is not known."""


class _OpeningOptional(TypedDict, total=False):
    continues: ContinuedSession
    parent: ParentReceipt


class SessionOpening(_OpeningOptional):
    """The first receipt of a session."""

    kind: Literal["session"]
    event: Literal["open"]
    salt_commitment: str
    session: SessionPlace


class SessionClosing(TypedDict):
    """The last receipt of a closed session."""

    kind: Literal["session"]
    event: Literal["close"]
    count: str
    """Number of receipts, opening and closing included."""
    head: str
    """Anchored hash of the receipt before."""
    session: SessionPlace


class _ToolOptional(TypedDict, total=False):
    raw: list[Literal["arguments", "result"]]
    """Which of the two is no I-JSON, and hashed as the bytes in which it came."""


class ToolCall(_ToolOptional):
    """A call of a tool. ``request.hash`` and ``response.hash`` cover its values, salted."""

    kind: Literal["tool"]
    tool: str
    server: ToolServer
    outcome: ToolOutcome
    session: SessionPlace


class _ReferenceOptional(TypedDict, total=False):
    child: str
    """Id of the sub-agent's session."""


class SessionReference(_ReferenceOptional):
    """A receipt that somebody else signed and that belongs to the session."""

    kind: Literal["reference"]
    receipt_id: str
    receipt_sha256: str
    session: SessionPlace


SessionCall: TypeAlias = SessionOpening | SessionClosing | ToolCall | SessionReference
"""The member ``call`` of a session's receipts."""

session_id = pattern("[0-9a-f]{32}", "32 lower-case hex characters")
decimal = pattern("0|[1-9][0-9]{0,14}", "a whole number in decimal digits")
_place = members({"id": session_id, "seq": decimal, "prev": sha256_text})
_part = one_of("arguments", "result")

_opening = members(
    {
        "kind": constant("session"),
        "event": constant("open"),
        "salt_commitment": sha256_text,
        "session": _place,
    },
    optional={
        "continues": members({"id": session_id, "count": decimal, "head": sha256_text}),
        "parent": members({"id": session_id, "seq": decimal, "receipt_sha256": sha256_text}),
    },
)

_closing = members(
    {
        "kind": constant("session"),
        "event": constant("close"),
        "count": decimal,
        "head": sha256_text,
        "session": _place,
    }
)

_begun: dict[str, Rule] = {
    "tool": non_empty_text,
    "server": members(
        {
            "name": non_empty_text,
            "version": nullable(non_empty_text),
            "transport": one_of("stdio", "http", "in_process"),
            "identity_sha256": nullable(sha256_text),
        }
    ),
}

_tool = members(
    {
        "kind": constant("tool"),
        **_begun,
        "outcome": one_of(*get_args(ToolOutcome)),
        "session": _place,
    },
    optional={"raw": list_of(_part, "a list of arguments and result")},
)

_reference = members(
    {
        "kind": constant("reference"),
        "receipt_id": pattern("r_env_[0-9]{10,}_[0-9a-f]{12}", "r_env_<seconds>_<12 hex>"),
        "receipt_sha256": sha256_text,
        "session": _place,
    },
    optional={"child": session_id},
)


def session_call_shape_of(call: object) -> Rule | None:
    """Returns the rule that a ``call`` claims to keep; ``None`` if it is of no session."""
    if not is_object(call):
        return None
    kind = call.get("kind")
    if kind == "tool":
        return _tool
    if kind == "reference":
        return _reference
    if kind != "session":
        return None
    return _closing if call.get("event") == "close" else _opening


def is_session_call(call: object) -> TypeGuard[SessionCall]:
    """Whether a value is the member ``call`` of a session's receipt."""
    shape = session_call_shape_of(call)
    return shape is not None and shape(call, "call") is None


def require_tool(tool: str, server: ToolServer) -> None:
    """Raises ``invalid_field`` for a tool or a server that a receipt can't have."""
    try:
        fault = members(_begun)(copy_json({"tool": tool, "server": server}), "")
    except TallyError as error:
        raise TallyError("invalid_field", error.message, field=error.field) from error
    if fault is not None:
        raise TallyError("invalid_field", str(fault), field=fault.field)


def is_opening(call: SessionCall) -> TypeGuard[SessionOpening]:
    return call["kind"] == "session" and call["event"] == "open"


def is_closing(call: SessionCall) -> TypeGuard[SessionClosing]:
    return call["kind"] == "session" and call["event"] == "close"


def is_reference(call: SessionCall) -> TypeGuard[SessionReference]:
    return call["kind"] == "reference"


def root_of(session_id: str) -> str:
    """Returns ``prev`` of a session's first receipt."""
    return "sha256:" + sha256_hex(f"{_SESSION_VERSION}\n{session_id}".encode())


def short_name(name: str) -> str:
    """Returns a name as it stands in a receipt: one of more than 128 bytes as its hash."""
    data = name.encode()
    return f"sha256:{sha256_hex(data)}" if len(data) > _MAX_NAME_BYTES else name
