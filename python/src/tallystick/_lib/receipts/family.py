"""What the verifier needs to know of a family of receipts."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias

from ..json_types import JsonLike, JsonObject
from ..shape import Fault, is_object

if TYPE_CHECKING:
    from ..metering.intake import EvidenceCounts, EvidenceVerifier

SCHEMA_VERSION = "r1.0.0"

UNSIGNED_MEMBERS = ("anchor_ref", "tier", "anchor")
"""Members that no signature covers: hints about where a receipt is anchored, never authority."""

CLOCK_SKEW = 300
"""Tolerated difference between two clocks, in seconds."""

FamilyName: TypeAlias = Literal[
    "envelope", "profile", "metering", "issue", "legacy", "benchmark", "status"
]
Role: TypeAlias = Literal["requester", "operator"]
Evidence: TypeAlias = Iterable[JsonLike]


@dataclass(frozen=True)
class Check:
    """One named check. ``ok`` is ``None`` if the check could not be made.

    ``detail`` is for people and may change.
    """

    name: str
    ok: bool | None
    detail: str


@dataclass(frozen=True)
class Claims:
    """Claims of a receipt, read from a document whose shape is valid."""

    receipt_id: str
    profile: str
    key_id: str | None
    """Id of the key; ``None`` if only ``issuer_public_key`` names the key."""
    issuer_public_key: str | None
    """Public key, base64url of 32 bytes; ``None`` if the family carries none."""
    issuer_did: str | None
    issuer_verified: bool | None
    issued_at: int
    """Whole Unix seconds."""
    signature: str
    """base64url, 64 bytes: the issuer's own signature."""
    max_bytes: int | None = None
    """Most bytes of the receipt, in JCS without the unsigned members; ``None`` is no limit."""
    may_be_signed_later: bool = False
    """Whether it may have been signed long after ``issued_at``, as a bill compiled earlier is.

    The start of the key then does not bound ``issued_at``; its end and its revocation do.
    """


@dataclass(frozen=True)
class CounterSignature:
    """A signature of somebody other than the issuer; ``did`` is who must have made it."""

    role: Role
    did: str | None
    signature: str | None


@dataclass(frozen=True)
class NamedSettlement:
    """The payment that a receipt names as its own."""

    chain_id: int | None
    """The EIP-155 id; ``None`` if the receipt names no EVM chain."""
    asset: str | None
    tx: str
    """``0x`` and 64 hex, in lower case."""
    amount: str | None
    """Decimal text, in the asset; ``None`` if the receipt does not say it."""
    payer: str | None
    """The account that paid; ``None`` if the receipt does not say it."""


def no_counter_signatures(_: JsonObject) -> Sequence[CounterSignature]:
    return ()


def no_settlement(_: JsonObject) -> NamedSettlement | None:
    return None


def no_rules(_: JsonObject) -> Iterable[Check]:
    return ()


def says_no_pq(_: JsonObject) -> bool | None:
    return None


@dataclass(frozen=True)
class Family:
    """All functions but ``recognises`` and ``shape`` expect a document whose shape holds."""

    name: FamilyName
    recognises: Callable[[JsonObject], bool]
    shape: Callable[[JsonObject], Fault | None]
    claims: Callable[[JsonObject], Claims]
    signed: Callable[[JsonObject], JsonObject]
    """The value whose JCS bytes the issuer signed."""
    anchored: Callable[[JsonObject], JsonObject]
    """Without unsigned members and counter-signatures, with the issuer's signature."""
    counter_signatures: Callable[[JsonObject], Sequence[CounterSignature]] = no_counter_signatures
    settlement: Callable[[JsonObject], NamedSettlement | None] = no_settlement
    """The payment that the receipt names; ``None`` if it names none."""
    rules: Callable[[JsonObject], Iterable[Check]] = no_rules
    """The family's own rules, each by name."""
    assess_evidence: (
        Callable[
            [JsonObject, Evidence | None, EvidenceVerifier], tuple[Check, EvidenceCounts | None]
        ]
        | None
    ) = None
    """The check of the evidence behind the receipt; counts are there if it was read whole."""
    says_pq: Callable[[JsonObject], bool | None] = says_no_pq
    """Whether what the receipt says of an experimental second signature, by ML-DSA, is so;
    ``None`` if it has none and does not say that it has one."""
    key_purpose: Literal["receipt", "benchmark", "status"] = "receipt"
    """What the issuer's key must be for."""


def without(document: JsonObject, *names: str) -> JsonObject:
    """A shallow copy without these members."""
    return {name: value for name, value in document.items() if name not in names}


def without_unsigned(document: JsonObject) -> JsonObject:
    return without(document, *UNSIGNED_MEMBERS)


def object_at(document: JsonObject, name: str) -> JsonObject:
    """A member that the shape says is an object."""
    value = document[name]
    assert is_object(value)
    return value


def text_at(document: JsonObject, name: str) -> str:
    """A member that the shape says is a text."""
    value = document[name]
    assert isinstance(value, str)
    return value


def text_or_none(document: JsonObject, name: str) -> str | None:
    value = document.get(name)
    return value if isinstance(value, str) else None


def bool_or_none(document: JsonObject, name: str) -> bool | None:
    value = document.get(name)
    return value if isinstance(value, bool) else None


def integer_at(document: JsonObject, name: str) -> int:
    """A member that the shape says is an integer."""
    value = document[name]
    assert isinstance(value, int)
    return value


def passed(name: str, detail: str) -> Check:
    return Check(name, True, detail)


def failed(name: str, detail: str) -> Check:
    return Check(name, False, detail)


def unchecked(name: str, detail: str) -> Check:
    return Check(name, None, detail)


def check(name: str, ok: bool, good: str, bad: str) -> Check:
    return Check(name, ok, good if ok else bad)
