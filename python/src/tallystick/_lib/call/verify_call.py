"""Verifying an inference call: its receipt, and what that covers (spec/compute.md)."""

from __future__ import annotations

from dataclasses import asdict, dataclass, fields
from datetime import datetime
from typing import Any, cast

from ..canonical import canonical_bytes
from ..errors import TallyError
from ..hashes import sha256_hex
from ..issuers import IssuerDocument
from ..json_types import Document, JsonObject, JsonValue
from ..log.anchor_checks import NOT_ASKED, AnchorTransaction, NotAsked
from ..receipts.documents import VerificationDocument
from ..receipts.family import Check
from ..receipts.read import read_json
from ..receipts.settlement import SettlementTransaction
from ..shape import is_object
from ..trust_store import KnownTrust
from ..verify import Issuer, Verification, verify
from .collector import CallCollector, CollectedAnswer, collect_document, unread
from .protocol import CallProtocol


@dataclass(frozen=True)
class CallCheck(Check):
    """A check of the verdict on a call."""

    hash: str | None = None
    """Only of ``request`` and ``response``: the hash that was computed, ``sha256:<hex>``."""


@dataclass(frozen=True)
class CallVerdict(Verification):
    """The verdict on a call: that on its receipt, and the checks ``request`` and ``response``.

    These say whether the receipt covers this request and this answer; ``ok`` is ``None`` for what
    was not given. ``valid`` and ``issuer.trusted`` depend on them too.
    """

    checks: tuple[CallCheck, ...]
    protocol: CallProtocol | None = None
    """The protocol that the answer says it is in. The checks do not depend on it."""
    receipt: JsonValue = None
    """The receipt that was judged; ``None`` if there is none."""

    def to_json(self) -> VerificationDocument:
        """The verdict as JSON, with the members ``protocol`` and ``receipt``."""
        checks = [asdict(one) for one in self.checks]
        for one in checks:
            if one["hash"] is None:
                del one["hash"]
        members: Any = {**super().to_json(), "checks": checks}
        return cast(VerificationDocument, members)


def verify_call(
    *,
    request: Document = None,
    response: Document | CallCollector = None,
    receipt: Document = None,
    now: datetime | None = None,
    trust: KnownTrust | None = None,
    issuer: IssuerDocument | None = None,
    anchor: Document = None,
    transaction: AnchorTransaction | NotAsked | None = NOT_ASKED,
    settlement: SettlementTransaction | NotAsked | None = NOT_ASKED,
) -> CallVerdict:
    """Verifies an inference call: its receipt, and that it covers the request and the answer.

    - ``request``: the request's body as it was sent: text, UTF-8 ``bytes`` or parsed object.
    - ``response``: the answer: its body, the text or bytes of its stream, or a ``CallCollector``
      that the whole answer was pushed into.
    - ``receipt``: the call's receipt. When absent, the one in the answer, ``svc.receipt``.
    - The others are those of ``verify``.

    Never raises for what request, answer and receipt say: what can't be read is a failed check.
    Raises as ``verify`` does for trust, issuer and anchor.
    """
    answer = None if response is None else _collect(response)
    document, fault = _receipt_of(receipt, answer)
    verdict = verify(
        document,
        now=now,
        trust=trust,
        issuer=issuer,
        anchor=anchor,
        transaction=transaction,
        settlement=settlement,
    )
    checks = (
        *([] if fault is None else [CallCheck("receipt", False, fault)]),
        *(CallCheck(one.name, one.ok, one.detail) for one in verdict.checks),
        _compare("request", None if request is None else _hash_of(request), document),
        _compare("response", answer, document),
    )
    valid = verdict.valid and all(one.ok is not False for one in checks)
    members = {one.name: getattr(verdict, one.name) for one in fields(Verification)}
    judged: dict[str, Any] = {
        **members,
        "valid": valid,
        "issuer": Issuer(**{**asdict(verdict.issuer), "trusted": verdict.issuer.trusted and valid}),
        "checks": checks,
    }
    protocol = None if answer is None else answer.protocol
    judged_receipt = document if is_object(document) else None
    return CallVerdict(**judged, protocol=protocol, receipt=judged_receipt)


def _receipt_of(given: Document, answer: CollectedAnswer | None) -> tuple[JsonValue, str | None]:
    """The receipt, and why there is none."""
    if given is None:
        found = None if answer is None or answer.svc is None else answer.svc.get("receipt")
        missing = "No receipt was given, and the answer contains none."
        return found, missing if found is None else None
    try:
        return read_json(given), None
    except TallyError as error:
        return None, error.message


def _hash_of(request: Document) -> CollectedAnswer:
    try:
        digest = sha256_hex(canonical_bytes(read_json(request)))
    except TallyError as error:
        return unread(error.message)
    return CollectedAnswer(f"sha256:{digest}", None, None, None, None)


def _collect(response: Document | CallCollector) -> CollectedAnswer:
    if isinstance(response, CallCollector):
        return response.end()
    if isinstance(response, (str, bytes)):
        collector = CallCollector()
        collector.push(
            response.encode("utf-8", "replace") if isinstance(response, str) else response
        )
        return collector.end()
    try:
        return collect_document(read_json(response))
    except TallyError as error:
        return unread(error.message)


def _compare(member: str, computed: CollectedAnswer | None, receipt: JsonValue) -> CallCheck:
    name = "answer" if member == "response" else member
    if computed is None:
        return CallCheck(member, None, f"The {name} was not given.")
    if computed.hash is None:
        return CallCheck(member, False, f"The {name} can't be read: {computed.fault}")
    if receipt is None:
        missing = "There is no receipt to compare it with."
        return CallCheck(member, None, missing, computed.hash)
    covered = _hash_in(receipt, member) if is_object(receipt) else None
    if covered == computed.hash:
        return CallCheck(member, True, f"The receipt covers exactly this {name}.", covered)
    instead = f"another {name}" if isinstance(covered, str) else f"no {name}"
    detail = f"The receipt covers {instead}: the hash of this one is {computed.hash}."
    return CallCheck(member, False, detail, computed.hash)


def _hash_in(receipt: JsonObject, member: str) -> str | None:
    part = receipt.get(member)
    digest = part.get("hash") if is_object(part) else None
    return digest if isinstance(digest, str) else None
