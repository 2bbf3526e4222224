"""Signed offers and receipts of x402, by themselves, in the extension, or in a 402 answer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final, Literal, NamedTuple, cast

from ..json_types import JsonObject, JsonValue
from ..receipts.family import Check, passed, text_at, unchecked
from ..shape import Rule, integer, is_object, members, non_empty_text, one_of, pattern, text
from ..timestamps import format_timestamp
from .ethereum import keccak_256, recover_address
from .family import (
    ForeignDocument,
    ForeignFacts,
    ForeignFormError,
    ForeignReceipt,
    ForeignSignature,
    require_form,
)
from .jws import read_jws
from .keys import ForeignKey


class _Type(NamedTuple):
    """A type of the extension ``offer-receipt``, in both of its signature forms."""

    domain: str
    struct: str
    members: Mapping[str, Literal["string", "uint256"]]
    optional: str
    """The member that may be absent from a JWS."""


_OFFER = _Type(
    domain="x402 offer",
    struct="Offer",
    members={
        "version": "uint256",
        "resourceUrl": "string",
        "scheme": "string",
        "network": "string",
        "asset": "string",
        "payTo": "string",
        "amount": "string",
        "validUntil": "uint256",
    },
    optional="validUntil",
)
_RECEIPT = _Type(
    domain="x402 receipt",
    struct="Receipt",
    members={
        "version": "uint256",
        "network": "string",
        "resourceUrl": "string",
        "payer": "string",
        "issuedAt": "uint256",
        "transaction": "string",
    },
    optional="transaction",
)
_DOMAIN: Final[Mapping[str, Literal["string", "uint256"]]] = {
    "name": "string",
    "version": "string",
    "chainId": "uint256",
}

_signed = members({"format": one_of("jws", "eip712"), "signature": non_empty_text})
_signature_text = pattern("0x[0-9a-fA-F]{130}", "0x and 130 hex characters")


class X402:
    """The family."""

    name: Final = "x402"

    def recognises(self, document: ForeignDocument) -> bool:
        return is_object(document) and len(_signed_in(document)) > 0

    def read(self, document: ForeignDocument, facts: ForeignFacts) -> list[ForeignReceipt]:
        signed = _signed_in(document) if is_object(document) else []
        return [_receipt_of(one, facts) for one in signed]

    def together(self, receipts: Sequence[ForeignReceipt]) -> Sequence[Check]:  # noqa: ARG002
        return ()

    def contradictions(self, receipts: Sequence[ForeignReceipt]) -> Sequence[Check]:  # noqa: ARG002
        return ()

    def notes(self, receipts: Sequence[ForeignReceipt]) -> Sequence[str]:  # noqa: ARG002
        return (
            (
                "It does not cover what was asked or delivered: only the address of the "
                "resource, the terms and, in a receipt, who paid."
            ),
            (
                "It proves no order, and offers and receipts beside it can be left out without "
                "a trace."
            ),
            (
                "A receipt is the seller’s word that it was paid: only the chain shows the "  # noqa: RUF001
                "payment itself."
            ),
            "The place of an offer in the list (acceptIndex) is not signed.",
        )


def _signed_in(document: JsonValue) -> list[JsonObject]:
    """The signed objects in a document, which may be the extension's data or a whole answer."""
    if not is_object(document):
        return []
    if _signed(document, "") is None:
        return [document]
    offers = document.get("offers")
    beside = [*(offers if isinstance(offers, list) else []), document.get("receipt")]
    found = [one for one in beside if is_object(one) and _signed(one, "") is None]
    for name in ("info", "offer-receipt", "extensions"):
        found += _signed_in(document.get(name))
    return found


def _receipt_of(document: JsonObject, facts: ForeignFacts) -> ForeignReceipt:
    form, signature = text_at(document, "format"), text_at(document, "signature")
    jws = read_jws(signature) if form == "jws" else None
    payload = document.get("payload") if jws is None else jws.payload
    if not is_object(payload):
        raise ForeignFormError("It has no payload.")
    kind = _RECEIPT if "issuedAt" in payload else _OFFER
    require_form(_shape_of(kind, in_jws=jws is not None), payload)
    end = payload.get("validUntil", 0)
    issued_at = payload.get("issuedAt")
    return ForeignReceipt(
        profile=f"{kind.struct.lower()}/{form}",
        id=None,
        issued_at=issued_at if type(issued_at) is int else None,
        signatures=[
            jws.signature if jws is not None else _typed_signature(kind, payload, signature)
        ],
        document=document,
        checks=[_end_check(cast(int, end), facts.now)] if kind is _OFFER else [],
    )


def _shape_of(kind: _Type, *, in_jws: bool) -> Rule:
    """With EIP-712, whose hash has a place for each member, nothing is optional."""
    rules = {
        name: text if type_ == "string" else integer(0) for name, type_ in kind.members.items()
    }
    optional = {kind.optional: rules.pop(kind.optional)} if in_jws else {}
    return members(rules, optional=optional)


def _end_check(valid_until: int, now: int) -> Check:
    if valid_until == 0:
        return unchecked("valid_until", "The offer does not say when it ends.")
    end = format_timestamp(valid_until * 1_000)
    if valid_until * 1_000 >= now:
        return passed("valid_until", f"The offer holds until {end}.")
    detail = f"The offer ended at {end}; it is still proof of what was offered."
    return unchecked("valid_until", detail)


def _typed_signature(kind: _Type, payload: JsonObject, signature: str) -> ForeignSignature:
    """Any change of what is signed gives another account.

    So the signature says nothing until somebody names the account. An offer does, if the account
    that is to be paid has signed it.
    """
    if _signature_text(signature, "signature") is not None:
        raise ForeignFormError("signature must be 65 bytes in hex.")
    message = _typed_data_hash(kind, payload)
    data = bytes.fromhex(signature[2:])
    address = recover_address(message, data)
    is_payee = (
        kind is _OFFER
        and address is not None
        and text_at(payload, "payTo").lower() == f"0x{address.hex()}"
    )
    carried = ForeignKey("account", address) if is_payee and address is not None else None
    return ForeignSignature("EIP-712", message, data, carried)


def _typed_data_hash(kind: _Type, value: JsonObject) -> bytes:
    """The 32-byte hash that is signed for a struct (EIP-712)."""
    domain: JsonObject = {"name": kind.domain, "version": "1", "chainId": 1}
    separator = _hash_struct("EIP712Domain", _DOMAIN, domain)
    return keccak_256(b"\x19\x01" + separator + _hash_struct(kind.struct, kind.members, value))


def _hash_struct(name: str, declared: Mapping[str, str], value: JsonObject) -> bytes:
    encoded = f"{name}({','.join(f'{type_} {member}' for member, type_ in declared.items())})"
    words = (_word(value[member]) for member in declared)
    return keccak_256(keccak_256(encoded.encode()) + b"".join(words))


def _word(value: JsonValue) -> bytes:
    """The 32 bytes of a member: the hash of a text, or a number big-endian."""
    if isinstance(value, str):
        return keccak_256(value.encode())
    return cast(int, value).to_bytes(32, "big")
