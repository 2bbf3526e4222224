"""What the verifier needs to know of a kind of foreign receipts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol, TypeAlias, TypeVar

from ..errors import TallyError
from ..json_types import JsonObject
from ..receipts.family import Check
from ..shape import Rule, is_object
from ..trust import Trust
from .keys import ForeignKey

ForeignFamilyName: TypeAlias = Literal["acta", "x402", "dsse", "tlog_proof", "a2a_trust"]
ForeignDocument: TypeAlias = JsonObject | str
"""One document of a file: a JSON object, or the whole text of a file that is not JSON."""
Algorithm: TypeAlias = Literal["EdDSA", "ECDSA", "ES256", "ES256K", "EIP-712"]
"""``ECDSA`` is P-256 with SHA-256, as DER or as r || s. The message of ``EIP-712`` is a hash."""

_T = TypeVar("_T")


@dataclass(frozen=True)
class ForeignSignature:
    """A signature over bytes, and what the receipt says of its key."""

    algorithm: Algorithm
    message: bytes
    signature: bytes
    carried: ForeignKey | None = None
    """The key in the receipt; ``None`` if only a key from elsewhere can check it."""
    key_id: str | None = None
    """The name that the receipt gives its key."""
    fits: Callable[[ForeignKey], bool] = lambda _: True
    """Whether this key may have made the signature, if more than its kind is told."""
    vouched: Callable[[Trust], Sequence[ForeignKey]] = lambda _: ()
    """The keys by which the trust vouches for this signer, if signers are no issuers."""


@dataclass(frozen=True)
class ForeignReceipt:
    """What a family reads from a document. Nothing in it is believed yet."""

    profile: str
    """The form within the family."""
    id: str | None
    issued_at: int | None
    """When it says that it was issued, in Unix seconds."""
    signatures: Sequence[ForeignSignature]
    """One that holds is enough."""
    document: ForeignDocument
    checks: Sequence[Check] = ()
    """The family's own rules about this receipt."""
    undecided: str | None = None
    """Why it proves nothing of what it is for, even under a trusted key."""


@dataclass(frozen=True)
class ForeignFacts:
    """Beside the document, what a reader may use."""

    entry: bytes | None
    """The entry that a proof of inclusion is about: the bytes that the log hashed."""
    now: int
    """Unix milliseconds."""


class ForeignFamily(Protocol):
    """A kind of foreign receipts: docs/foreign-receipts.md says how to write one."""

    @property
    def name(self) -> ForeignFamilyName: ...

    def recognises(self, document: ForeignDocument) -> bool:
        """Whether a document says that it is of this family. It need not be well-formed."""

    def read(self, document: ForeignDocument, facts: ForeignFacts) -> Sequence[ForeignReceipt]:
        """The receipts in a document. Raises ``ForeignFormError`` if its form is wrong."""

    def together(self, receipts: Sequence[ForeignReceipt]) -> Sequence[Check]:
        """Rules about all receipts of a file, in their order."""

    def contradictions(self, receipts: Sequence[ForeignReceipt]) -> Sequence[Check]:
        """What intact receipts say against being valid."""

    def notes(self, receipts: Sequence[ForeignReceipt]) -> Sequence[str]:
        """What such receipts do not cover, in sentences."""


class ForeignFormError(Exception):
    """The form of a document is wrong; the message says how."""


def require_form(rule: Rule, document: ForeignDocument) -> JsonObject:
    """Returns the document if the rule lets it pass. Raises ``ForeignFormError``."""
    if not is_object(document):
        raise ForeignFormError("It is not a JSON object.")
    fault = rule(document, "")
    if fault is not None:
        raise ForeignFormError(f"{fault.field} must be {fault.expected}.")
    return document


def or_fault(act: Callable[[], _T], message: str) -> _T:
    """The result of ``act``, whose errors are faults of the document."""
    try:
        return act()
    except TallyError:
        raise ForeignFormError(message) from None
