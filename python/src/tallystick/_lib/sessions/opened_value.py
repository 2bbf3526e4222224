"""Opening one value of a session, and checking it (spec/sessions.md, *Opening one value*)."""

from __future__ import annotations

from typing import Final, cast

from ..canonical import copy_json
from ..encoding import from_base64url, to_base64url
from ..errors import TallyError
from ..json_types import JsonLike, JsonObject
from ..receipts.family import text_at
from ..shape import constant, hex64, is_object, members, one_of, text
from .salted import SaltedPart, SessionValue, is_raw, salt_of, salted_hash
from .session_call import ToolCall, decimal, session_id
from .verify_session import ReferenceState, SessionEntry, SessionVerification

_VERSION: Final = "svc-session-opening-v1"

_opened = members(
    {
        "type": constant(_VERSION),
        "session_id": session_id,
        "seq": decimal,
        "part": one_of("arguments", "result"),
        "salt": hex64,
    },
    optional={"json": lambda _value, _name: None, "raw": text},
    closed=True,
)


def open_session_value(
    session_salt: bytes, *, session_id: str, seq: int, part: SaltedPart, value: SessionValue
) -> JsonObject:
    """Makes what opens one value. Nobody who gets it learns anything of the others.

    ``session_salt`` is 32 bytes, ``Session.salt``, and ``seq`` the number of the receipt.
    """
    shown = {"raw": to_base64url(value["raw"])} if is_raw(value) else value
    return {
        "type": _VERSION,
        "session_id": session_id,
        "seq": str(seq),
        "part": part,
        "salt": salt_of(session_salt, str(seq), part).hex(),
        **cast(JsonObject, shown),
    }


def check_opened_value(document: JsonLike, verdict: SessionVerification) -> ReferenceState:
    """Checks a value that was opened against the receipts of its session.

    Returns ``valid``; ``not_given`` if the session has no receipt of a tool with that number;
    ``contradicts`` if the receipt has another value. Raises ``invalid_field``,
    ``invalid_base64url`` and ``json_*`` for what is no opening.
    """
    opening = copy_json(document)
    fault = _opened(opening, "")
    if fault is not None or not is_object(opening):
        raise TallyError("invalid_field", str(fault), field=fault.field if fault else None)
    if ("json" in opening) == ("raw" in opening):
        message = "An opening has either json or raw."
        raise TallyError("invalid_field", message, field="json")
    value: SessionValue = (
        {"raw": from_base64url(text_at(opening, "raw"))}
        if "raw" in opening
        else {"json": opening["json"]}
    )
    seq = int(text_at(opening, "seq"))
    entry = next((one for one in verdict.entries if one.seq == seq), None)
    call = None if entry is None or verdict.id != opening["session_id"] else entry.call
    if entry is None or call is None or call["kind"] != "tool":
        return "not_given"
    return "valid" if _covers(entry, call, opening, value) else "contradicts"


def _covers(entry: SessionEntry, call: ToolCall, opening: JsonObject, value: SessionValue) -> bool:
    part = opening["part"]
    came_raw = part in call.get("raw", [])
    digest = entry.request_hash if part == "arguments" else entry.response_hash
    salt = bytes.fromhex(text_at(opening, "salt"))
    return came_raw == is_raw(value) and salted_hash(salt, value) == digest
