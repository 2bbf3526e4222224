"""DSSE v1 envelopes; the payload of one with an in-toto statement is read as well."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, Literal, cast

from ..canonical import parse_json
from ..encoding import from_base64
from ..json_types import JsonObject, JsonValue
from ..receipts.family import Check, failed, passed, text_at, unchecked
from ..shape import MISSING, Fault, Rule, constant, is_object, members, non_empty_text, text
from .family import (
    ForeignDocument,
    ForeignFacts,
    ForeignFormError,
    ForeignReceipt,
    ForeignSignature,
    require_form,
)
from .keys import or_none

_MAX_SIGNATURES = 64
_IN_TOTO = "application/vnd.in-toto+json"


def _list_of(inner: Rule, expected: str, most: int | None = None) -> Rule:
    def check(value: object, path: str) -> Fault | None:
        if value is MISSING or not isinstance(value, list):
            return Fault(path, expected)
        if most is not None and len(value) > most:
            return Fault(path, expected)
        faults = (inner(item, f"{path}[{index}]") for index, item in enumerate(value))
        return next((fault for fault in faults if fault is not None), None)

    return check


_shape = members(
    {
        "payloadType": non_empty_text,
        "payload": text,
        "signatures": _list_of(
            members({"sig": non_empty_text}, optional={"keyid": text}),
            f"a list of at most {_MAX_SIGNATURES} signatures",
            _MAX_SIGNATURES,
        ),
    }
)

_statement = members(
    {
        "_type": constant("https://in-toto.io/Statement/v1"),
        "subject": _list_of(members({"digest": members({})}), "a list of subjects with digests"),
        "predicateType": non_empty_text,
    }
)


class Dsse:
    """The family."""

    name: Final = "dsse"

    def recognises(self, document: ForeignDocument) -> bool:
        return is_object(document) and "payloadType" in document and "signatures" in document

    def read(self, document: ForeignDocument, facts: ForeignFacts) -> list[ForeignReceipt]:  # noqa: ARG002
        envelope = require_form(_shape, document)
        payload_type = text_at(envelope, "payloadType")
        payload = _base64(text_at(envelope, "payload"), "payload")
        message = _pre_authentication(payload_type, payload)
        signatures = [
            ForeignSignature(algorithm, message, _base64(text_at(one, "sig"), "sig"), key_id=key_id)
            for one in cast(list[JsonObject], envelope["signatures"])
            for key_id in (cast(str, one.get("keyid")) or None,)
            for algorithm in _ALGORITHMS
        ]
        if not signatures:
            raise ForeignFormError("It has no signature.")
        is_statement = payload_type == _IN_TOTO
        unread = unchecked("statement", f"A payload of {payload_type} is not read.")
        receipt = ForeignReceipt(
            profile="in-toto" if is_statement else payload_type,
            id=None,
            issued_at=None,
            signatures=signatures,
            document=document,
            checks=[_statement_check(payload) if is_statement else unread],
        )
        return [receipt]

    def together(self, receipts: Sequence[ForeignReceipt]) -> Sequence[Check]:  # noqa: ARG002
        return ()

    def contradictions(self, receipts: Sequence[ForeignReceipt]) -> Sequence[Check]:  # noqa: ARG002
        return ()

    def notes(self, receipts: Sequence[ForeignReceipt]) -> Sequence[str]:  # noqa: ARG002
        return (
            (
                "The envelope signs its payload and the type of it, and nothing else: no order, "
                "and no other envelope. Others can be left out without a trace."
            ),
            (
                "The subjects are digests: whether an artifact is one of them is not checked "
                "here, nor whether the predicate is true."
            ),
            (
                "It is signed without a time. One signature by a known key is enough; others in "
                "the envelope are not looked at."
            ),
        )


_ALGORITHMS: Final[tuple[Literal["EdDSA", "ECDSA"], ...]] = ("EdDSA", "ECDSA")
"""Only the key tells of which algorithm a signature is, so each is offered as both."""


def _pre_authentication(kind: str, payload: bytes) -> bytes:
    """The bytes that are signed (DSSE v1.0, protocol.md, "Signature Definition")."""
    return f"DSSEv1 {len(kind.encode())} {kind} {len(payload)} ".encode() + payload


def _base64(encoded: str, member: str) -> bytes:
    """Base64 in either alphabet, with or without padding, as DSSE allows."""
    standard = encoded.replace("-", "+").replace("_", "/")
    data = from_base64(standard)
    if data is None:
        data = from_base64(standard + "=" * (-len(standard) % 4))
    if data is None:
        raise ForeignFormError(f"{member} is not base64.")
    return data


def _statement_check(payload: bytes) -> Check:
    document: JsonValue = or_none(lambda: parse_json(payload))
    if document is None:
        return failed("statement", "The payload is not JSON.")
    fault = _statement(document, "")
    if fault is not None or not is_object(document):
        return failed("statement", f"{fault.field} must be {fault.expected}." if fault else "")
    predicate = document["predicateType"]
    return passed("statement", f"It is an in-toto statement with the predicate {predicate}.")
