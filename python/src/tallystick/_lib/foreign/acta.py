"""Acta decision receipts (draft-farley-acta-signed-receipts), one or a chain of them.

The forms are those of drafts 00 to 03, and of agent-governance-testvectors.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from ..canonical import canonical_bytes
from ..encoding import from_hex, to_base64url
from ..hashes import sha256
from ..json_types import JsonObject, JsonValue
from ..receipts.family import Check, failed, passed, text_or_none, unchecked
from ..shape import (
    Rule,
    constant,
    hex64,
    integer,
    is_object,
    members,
    non_empty_text,
    pattern,
    text,
)
from ..timestamps import parse_timestamp
from .documents import as_object
from .family import (
    ForeignDocument,
    ForeignFacts,
    ForeignFormError,
    ForeignReceipt,
    ForeignSignature,
    or_fault,
    require_form,
)
from .keys import ed25519_key


@dataclass(frozen=True)
class _Form:
    """One form of receipts."""

    name: str
    recognises: Callable[[JsonObject], bool]
    shape: Rule
    signed: Callable[[JsonObject], JsonObject]
    """The value whose JCS bytes are signed."""
    signature: Callable[[JsonObject], str | None]
    """64 bytes in hex."""
    public_key: Callable[[JsonObject], str | None]
    """32 bytes in hex; ``None`` if the receipt carries no key."""


_hex128 = pattern("[0-9a-f]{128}", "128 lower-case hex characters")
_any_object = members({})


def _text_in(value: JsonValue, name: str) -> str | None:
    found = value.get(name) if is_object(value) else None
    return found if isinstance(found, str) else None


def _without(document: JsonObject, *names: str) -> JsonObject:
    return {name: value for name, value in document.items() if name not in names}


def _payload_of(document: JsonObject) -> JsonObject:
    payload = document.get("payload")
    return payload if is_object(payload) else {}


def _all_but_signature(document: JsonObject) -> JsonObject:
    return _without(document, "signature")


_V1 = _Form(
    name="v1",
    recognises=lambda one: {"receipt_version", "tool_name", "signature"} <= one.keys(),
    shape=members(
        {
            "receipt_id": non_empty_text,
            "receipt_version": constant("1.0"),
            "tool_name": text,
            "decision": non_empty_text,
            "policy_id": text,
            "timestamp": non_empty_text,
            "public_key": hex64,
            "signature": _hex128,
        },
        optional={"sequence": integer(0)},
    ),
    signed=_all_but_signature,
    signature=lambda one: _text_in(one, "signature"),
    public_key=lambda one: _text_in(one, "public_key"),
)
"""v1 flat, as protect-mcp wrote it."""

_V2 = _Form(
    name="v2",
    recognises=lambda one: is_object(one.get("payload")) and {"pubkey", "signature"} <= one.keys(),
    shape=members(
        {
            "payload": members(
                {
                    "type": pattern(
                        r"scopeblind\.receipt\.v[0-9]+", "scopeblind.receipt.v and a number"
                    ),
                    "decision": non_empty_text,
                    "action": members({"kind": text, "target": text}),
                    "sequence": integer(0),
                    "timestamp": non_empty_text,
                },
                optional={"prev_hash": text},
            ),
            "signature": _hex128,
            "pubkey": hex64,
        }
    ),
    signed=_payload_of,
    signature=lambda one: _text_in(one, "signature"),
    public_key=lambda one: _text_in(one, "pubkey"),
)
"""v2 envelope, as sb-runtime and ``tally mcp wrap --format acta`` write it."""

_ARTIFACT = _Form(
    name="v2-artifact",
    recognises=lambda one: (
        type(one.get("v")) is int
        and one["v"] == 2
        and is_object(one.get("payload"))
        and isinstance(one.get("signature"), str)
    ),
    shape=members(
        {
            "type": non_empty_text,
            "algorithm": constant("ed25519"),
            "kid": non_empty_text,
            "issued_at": non_empty_text,
            "payload": _any_object,
            "signature": _hex128,
        },
        optional={"public_key": hex64},
    ),
    signed=_all_but_signature,
    signature=lambda one: _text_in(one, "signature"),
    public_key=lambda one: _text_in(one, "public_key"),
)
"""The artifact with ``v: 2``, as the APS gateway writes it. ``kid`` names its key."""

_DRAFT = _Form(
    name="draft",
    recognises=lambda one: is_object(one.get("payload")) and "alg" in _object(one.get("signature")),
    shape=members(
        {
            "payload": members(
                {"type": non_empty_text, "issued_at": non_empty_text, "issuer_id": non_empty_text}
            ),
            "signature": members(
                {"alg": constant("EdDSA"), "kid": non_empty_text, "sig": _hex128},
                optional={"pubkey": hex64},
            ),
        }
    ),
    signed=_payload_of,
    signature=lambda one: _text_in(one.get("signature"), "sig"),
    public_key=lambda one: _text_in(one.get("signature"), "pubkey"),
)
"""The envelope of the draft itself: ``{payload, signature: {alg, kid, sig}}``.

The members that section 2.2 asks of every payload keep other JCS texts that a key has signed from
passing for a receipt.
"""

_FORMS: Final = (_V2, _ARTIFACT, _DRAFT, _V1)

_LINKS: Final = (
    "previousReceiptHash",
    "previous_receipt_hash",
    "parent_receipt_hash",
    "prev_hash",
)
"""The members that name the receipt before: each producer has its own."""


def _object(value: JsonValue) -> JsonObject:
    return value if is_object(value) else {}


class Acta:
    """The family."""

    name: Final = "acta"

    def recognises(self, document: ForeignDocument) -> bool:
        return is_object(document) and _form_of(document) is not None

    def read(self, document: ForeignDocument, facts: ForeignFacts) -> list[ForeignReceipt]:  # noqa: ARG002
        form = _form_of(as_object(document))
        if form is None:
            raise ForeignFormError("It is no Acta receipt.")
        return [_receipt_of(form, require_form(form.shape, document))]

    def together(self, receipts: Sequence[ForeignReceipt]) -> Sequence[Check]:
        return _check_chain([as_object(one.document) for one in receipts])

    def contradictions(self, receipts: Sequence[ForeignReceipt]) -> Sequence[Check]:  # noqa: ARG002
        return ()

    def notes(self, receipts: Sequence[ForeignReceipt]) -> Sequence[str]:
        return _notes_on([as_object(one.document) for one in receipts])


def _form_of(document: JsonObject) -> _Form | None:
    return next((form for form in _FORMS if form.recognises(document)), None)


def _receipt_of(form: _Form, document: JsonObject) -> ForeignReceipt:
    public_key = form.public_key(document)
    carried = (
        None
        if public_key is None
        else or_fault(
            lambda: ed25519_key(from_hex(public_key, 32)),
            "Its public key is no acceptable Ed25519 key.",
        )
    )
    time = _text_of(document, "issued_at") or _text_of(document, "timestamp")
    instant = None if time is None else parse_timestamp(time)
    signature = document.get("signature")
    kid = document.get("kid", signature.get("kid") if is_object(signature) else None)
    return ForeignReceipt(
        profile=form.name,
        id=_text_of(document, "receipt_id"),
        issued_at=None if instant is None else instant.seconds,
        signatures=[
            ForeignSignature(
                "EdDSA",
                canonical_bytes(form.signed(document)),
                from_hex(form.signature(document) or "", 64),
                carried,
                kid if isinstance(kid, str) else None,
            )
        ],
        document=document,
    )


def _signed_holders(receipt: JsonObject) -> tuple[JsonObject, JsonObject]:
    """The objects in which the draft or a producer puts a fact of a receipt; all are signed."""
    form = _form_of(receipt)
    signed = {} if form is None else form.signed(receipt)
    return _payload_of(signed), signed


def _text_of(document: JsonObject, name: str) -> str | None:
    """A signed member that is text."""
    holder = next((one for one in _signed_holders(document) if name in one), {})
    return text_or_none(holder, name) if isinstance(holder.get(name), str) else None


def _link_of(receipt: JsonObject) -> str | None:
    """The link to the receipt before; the first has none, null, an empty text or ``genesis``."""
    links = (_text_in(holder, name) for holder in _signed_holders(receipt) for name in _LINKS)
    return next((link for link in links if link not in (None, "", "genesis")), None)


def _sequence_of(receipt: JsonObject) -> int | None:
    holder = next((one for one in _signed_holders(receipt) if "sequence" in one), {})
    sequence = holder.get("sequence")
    return sequence if type(sequence) is int else None


def _signed_of(receipt: JsonObject) -> JsonObject:
    form = _form_of(receipt)
    return receipt if form is None else form.signed(receipt)


_SCOPES: Final[dict[str, Callable[[JsonObject], JsonObject]]] = {
    "the whole receipt": lambda one: one,
    "the signed contents alone": _signed_of,
    "the receipt without signature and key": lambda one: _without(one, "signature", "public_key"),
}
"""What a link is the SHA-256 of, in JCS. The draft's is the whole receipt, signature included."""


def _links_to(receipt: JsonObject, scope: str) -> tuple[str, str, str]:
    """Every text that names a receipt in a link of this scope."""
    digest = sha256(canonical_bytes(_SCOPES[scope](receipt)))
    return f"sha256:{digest.hex()}", digest.hex(), to_base64url(digest)


def _check_chain(receipts: Sequence[JsonObject]) -> list[Check]:
    """Each receipt of a list must name the one before it, and numbers must leave no gap.

    Producers hash different parts of a receipt; one rule must explain every link of a list.
    """
    return [_link_check(receipts), *_sequence_check(receipts)] if receipts else []


def _link_check(receipts: Sequence[JsonObject]) -> Check:
    first = _link_of(receipts[0])
    if len(receipts) == 1:
        missing = "It names no receipt before it."
        given = "The receipt before it is not given."
        return unchecked("chain", missing if first is None else given)
    if all(_link_of(one) is None for one in receipts):
        detail = "The receipts do not name each other: nobody can see whether one is missing."
        return unchecked("chain", detail)
    begins = (
        "from its first receipt"
        if first is None
        else "though what comes before the first one is not given"
    )
    breaks = {scope: _first_break(receipts, scope) for scope in _SCOPES}
    for scope, at in breaks.items():
        if at is None:
            detail = f"Each receipt names the one before it (SHA-256 of {scope}), {begins}."
            return passed("chain", detail)
    at = max(at or 0 for at in breaks.values())
    detail = f"Receipt {at + 1} does not name receipt {at}: "
    return failed("chain", detail + "one was changed, moved, added or left out between them.")


def _first_break(receipts: Sequence[JsonObject], scope: str) -> int | None:
    """Index of the first receipt whose link is not to the one before it."""
    pairs = enumerate(itertools.pairwise(receipts), 1)
    return next(
        (at for at, (one, next_) in pairs if _link_of(next_) not in _links_to(one, scope)), None
    )


def _sequence_check(receipts: Sequence[JsonObject]) -> list[Check]:
    numbers = [_sequence_of(one) for one in receipts]
    if len(receipts) < 2 or all(number is None for number in numbers):
        return []
    for at, (before, number) in enumerate(itertools.pairwise(numbers), 1):
        if before is None or number != before + 1:
            shown = [("null" if one is None else one) for one in (number, before)]
            detail = f"Receipt {at + 1} has the number {shown[0]}, after {shown[1]}."
            return [failed("sequence", detail)]
    detail = f"The numbers run from {numbers[0]} to {numbers[-1]} without a gap."
    return [passed("sequence", detail)]


def _notes_on(receipts: Sequence[JsonObject]) -> list[str]:
    linked = len(receipts) > 1 and all(_link_of(one) is not None for one in receipts[1:])
    return [
        *_unsigned_in(receipts),
        (
            "It states a decision about a tool call: it does not prove that the tool ran, or what "
            "it answered."
        ),
        (
            "A hash of inputs in it is without salt and is not checked here: whoever guesses the "
            "inputs can confirm them."
        ),
        "The chain has no closing receipt: receipts after the last one can be left out without a "
        "trace."
        if linked
        else "It proves no order, and receipts before and after it can be left out without a "
        "trace.",
        "The time in it is the signer’s own word.",  # noqa: RUF001
    ]


def _unsigned_in(receipts: Sequence[JsonObject]) -> list[str]:
    """Members that nobody signed, in forms that sign the payload alone."""
    known = ("payload", "signature", "pubkey")
    beside = dict.fromkeys(
        name
        for receipt in receipts
        if _signed_of(receipt) is receipt.get("payload")
        for name in receipt
        if name not in known
    )
    return [f"Not signed, so anybody may have written it: {', '.join(beside)}."] if beside else []
