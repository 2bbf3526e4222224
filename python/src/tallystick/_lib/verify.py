"""Verifying a receipt of any family: a pure function, offline (spec/verification.md)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass, fields
from datetime import datetime, timezone
from typing import Any, NamedTuple, cast

from .assess_issuer import IssuerStatus, KeyState, assess_issuer
from .assess_pq import assess_pq
from .authority import logs_of
from .canonical import canonical_bytes
from .did import did_key_of, public_key_of_did_key
from .ed25519 import signature_fault, verify_ed25519
from .encoding import from_base64url, to_base64url
from .errors import TallyError
from .hashes import sha256_hex
from .issuers import IssuerDocument, check_issuer_document
from .json_types import Document, JsonLike, JsonObject, JsonValue
from .log.anchor_checks import NOT_ASKED, AnchorFacts, AnchorTransaction, NotAsked
from .log.receipt_anchor import assess_anchor, assess_anchor_of
from .log.witness_policy import NamedKey, Witnessed, WitnessPolicy
from .metering.intake import AssessedAnchor, AssessedReceipt, EvidenceCounts, EvidenceVerifier
from .receipts.documents import VerificationDocument
from .receipts.family import (
    CLOCK_SKEW,
    Check,
    Claims,
    CounterSignature,
    Family,
    FamilyName,
    check,
    failed,
    passed,
    unchecked,
    without_unsigned,
)
from .receipts.read import family_of, read_json, read_receipt
from .receipts.settlement import SettlementTransaction, check_settlement
from .shape import is_object
from .timestamps import format_timestamp, unix_ms
from .trust import Trust
from .trust_store import KnownTrust, issuers_in


@dataclass(frozen=True)
class Issuer:
    """The issuer of a receipt, by the trust given."""

    did: str | None
    key_id: str | None
    trusted: bool
    """The key belongs to a verified issuer, and its window covers the receipt."""
    status: IssuerStatus
    key_state: KeyState


@dataclass(frozen=True)
class Verification:
    """The verdict on a receipt. ``valid``: it is intact and contradicts no known issuer.

    Trust is a verdict of its own: ``issuer.trusted``.
    """

    valid: bool
    integrity: bool
    """These bytes were signed by this key, and the family's rules hold."""
    issuer: Issuer
    family: FamilyName | None
    profile: str | None
    receipt_id: str | None
    checks: tuple[Check, ...]
    verified_at: str
    evidence: EvidenceCounts | None = None
    """Number of leaves by class; only for a metering receipt whose evidence was given and read."""
    witnessed: Witnessed | None = None
    """Whether the policy's witnesses cosigned the anchor's checkpoint; ``None``: no policy."""

    def to_json(self) -> VerificationDocument:
        """The verdict as the service answers it."""
        members = {**asdict(self), "checks": [asdict(one) for one in self.checks]}
        if self.evidence is None:
            del members["evidence"]
        if self.witnessed is not None:
            members["witnessed"] = {**asdict(self.witnessed), "by": list(self.witnessed.by)}
        return cast(VerificationDocument, members)

    @classmethod
    def from_json(cls, document: JsonValue | VerificationDocument) -> Verification:
        """Reads a verdict that a service answered. Members that are not known here are left out.

        Raises ``KeyError`` or ``TypeError`` for another document.
        """
        verdict = cast(dict[str, Any], document)
        members = {one.name: verdict[one.name] for one in fields(cls) if one.name not in _OPTIONAL}
        issuer = {one.name: verdict["issuer"][one.name] for one in fields(Issuer)}
        checks = tuple(Check(one["name"], one["ok"], one["detail"]) for one in verdict["checks"])
        counted = verdict.get("evidence")
        counts = counted and {one.name: counted[one.name] for one in fields(EvidenceCounts)}
        evidence = EvidenceCounts(**counts) if counts else None
        seen = verdict.get("witnessed")
        witnessed = seen and {one.name: seen[one.name] for one in fields(Witnessed)}
        nested = {
            "issuer": Issuer(**issuer),
            "checks": checks,
            "evidence": evidence,
            "witnessed": Witnessed(**{**witnessed, "by": tuple(witnessed["by"])})
            if witnessed
            else None,
        }
        return cls(**{**members, **nested})


# Members that a service's answer may leave out.
_OPTIONAL = ("evidence", "witnessed")


def verify(
    document: Document,
    *,
    now: datetime | None = None,
    trust: KnownTrust | None = None,
    issuer: IssuerDocument | None = None,
    evidence: Iterable[JsonLike] | None = None,
    anchor: Document = None,
    transaction: AnchorTransaction | NotAsked | None = NOT_ASKED,
    settlement: SettlementTransaction | NotAsked | None = NOT_ASKED,
    witness_policy: WitnessPolicy | None = None,
) -> Verification:
    """Verifies a receipt of any family locally. Nothing is fetched; a bad receipt is no error.

    - ``document``: the receipt as text, UTF-8 ``bytes`` or parsed object.
    - ``now``: the time to judge at, with a time zone; this moment when absent.
    - ``trust``: what ``fetch_trust`` or ``check_trust`` returned, or a store that holds it. When
      absent, nobody is trusted.
    - ``issuer``: the record of an issuer that the trust does not list, from ``Client.issuer``. The
      issuer counts as registered and is never trusted.
    - ``evidence``: the evidence behind a metering receipt, in order: leaves, or whole receipts,
      which are verified too.
    - ``anchor``: the receipt's anchored result as text, bytes or object. When absent, the one in
      the receipt.
    - ``transaction``: the anchor's transaction as a node of the chain returned it, in a block that
      is final; ``None`` if the chain has none. If the chain was not asked, nothing proves when the
      receipt existed.
    - ``settlement``: the transaction that the receipt names as its payment, likewise. If the chain
      was not asked, nothing is known about the payment.
    - ``witness_policy``: the witnesses that must have cosigned the anchor's checkpoint, from
      ``parse_witness_policy``; the verdict is ``witnessed``.

    Raises ``json_*`` for text that is not I-JSON or a value that is not plain JSON, of the receipt
    or the anchor; ``trust_expired``; ``trust_unavailable`` for a store that holds nothing;
    ``issuer_proof_invalid`` for a record that does not follow from its history.
    """
    now = now or datetime.now(timezone.utc)
    known = issuers_in(trust, now)
    if issuer is not None:
        known = known.with_registered(check_issuer_document(issuer))
    at = unix_ms(now)
    receipt = read_json(document)
    given = read_json(anchor)
    family = family_of(receipt) if is_object(receipt) else None
    if not is_object(receipt) or family is None:
        return _not_reached(None, "This is not a receipt of a known family.", at)
    fault = family.shape(receipt)
    if fault is not None:
        return _not_reached(family, str(fault), at)
    claims = family.claims(receipt)
    key = _resolve_key(claims, known)
    integrity_checks = _integrity_checks(family, receipt, claims, key, known)
    counts: EvidenceCounts | None = None
    if family.assess_evidence is not None:
        verifier = evidence_verifier(now, known)
        behind, counts = family.assess_evidence(receipt, evidence, verifier)
        integrity_checks.append(behind)
    facts = AnchorFacts(at, claims.issued_at, transaction, known.anchors)
    anchored = assess_anchor(family, receipt, given, facts)
    assessed = assess_issuer(claims, key.public_key, known, anchored.existed_at, family.key_purpose)
    pq_checks: list[Check] = []
    says_pq = family.says_pq(receipt)
    if says_pq is not None:
        second = receipt.get("pq_signature") if says_pq else None
        signed = family.signed(receipt)
        pq_checks = assess_pq(second, signed, claims, known, anchored.existed_at)
        integrity_checks += pq_checks[:1]
    checks = [
        *integrity_checks,
        _time_check(claims, at),
        *assessed.checks,
        *pq_checks[1:],
        *anchored.checks,
        *_settlement_checks(family, receipt, settlement, known),
    ]
    valid = _holds(checks)
    witnessed: Witnessed | None = None
    if witness_policy is not None:
        witnessed, detail = witness_policy.judge(anchored.checkpoint, _known_logs(known))
        # Never false: a witness that is missing contradicts nothing.
        checks.append((passed if witnessed.satisfied else unchecked)("witnessed", detail))
    return Verification(
        valid=valid,
        integrity=_holds(integrity_checks),
        issuer=Issuer(
            did=assessed.did,
            key_id=claims.key_id or key.key_id,
            trusted=valid and assessed.trusted,
            status=assessed.status,
            key_state=assessed.key_state,
        ),
        family=family.name,
        profile=claims.profile,
        receipt_id=claims.receipt_id,
        checks=tuple(checks),
        verified_at=format_timestamp(at),
        evidence=counts,
        witnessed=witnessed,
    )


def _known_logs(trust: Trust) -> list[NamedKey]:
    return [
        NamedKey(log["origin"], from_base64url(log["public_key"], 32))
        for log in logs_of(trust.anchors)
    ]


@dataclass(frozen=True)
class _EvidenceJudge:
    """Judges the receipts and anchors that are given as evidence, by the same trust."""

    now: datetime
    trust: Trust

    def receipt(self, receipt: JsonObject, anchor: JsonObject | None) -> AssessedReceipt:
        family, document = read_receipt(receipt)
        verdict = verify(document, now=self.now, trust=self.trust, anchor=anchor)
        return AssessedReceipt(
            sha256=sha256_hex(canonical_bytes(family.anchored(document))),
            issued_at=family.claims(document).issued_at,
            fault=_fault_in(verdict.checks),
            trusted=verdict.issuer.trusted,
        )

    def anchor(self, receipt_sha256: str, anchor: JsonObject) -> AssessedAnchor:
        facts = AnchorFacts(unix_ms(self.now), 0, NOT_ASKED, self.trust.anchors)
        checks = assess_anchor_of(bytes.fromhex(receipt_sha256), anchor, facts).checks
        held = {one.name for one in checks if one.ok}
        return AssessedAnchor(_fault_in(checks), {"anchor", "anchor_checkpoint"} <= held)


def evidence_verifier(now: datetime, trust: KnownTrust | None) -> EvidenceVerifier:
    """Makes the verifier of the evidence behind a bill. Raises as ``issuers_in`` does."""
    return _EvidenceJudge(now, issuers_in(trust, now))


def _fault_in(checks: Iterable[Check]) -> str | None:
    """Returns the first check that is false, as text; ``None`` if there is none."""
    broken = next((one for one in checks if one.ok is False), None)
    return None if broken is None else f"{broken.name}: {broken.detail}"


def _settlement_checks(
    family: Family,
    receipt: JsonObject,
    transaction: SettlementTransaction | NotAsked | None,
    trust: Trust,
) -> list[Check]:
    named = family.settlement(receipt)
    payees = [payee for authority in trust.anchors for payee in authority.get("payees", [])]
    return [] if named is None else [check_settlement(named, transaction, payees)]


def _holds(checks: Iterable[Check]) -> bool:
    return all(one.ok is not False for one in checks)


def _not_reached(family: Family | None, detail: str, at: int) -> Verification:
    missing = unchecked("signature", "Not reached: the document is not a receipt.")
    return Verification(
        valid=False,
        integrity=False,
        issuer=Issuer(None, None, False, "unknown", "unknown"),
        family=None if family is None else family.name,
        profile=None,
        receipt_id=None,
        checks=(failed("format", detail), missing),
        verified_at=format_timestamp(at),
    )


@dataclass(frozen=True)
class _ResolvedKey:
    check: Check
    key_id: str | None
    public_key: bytes | None


def _integrity_checks(
    family: Family,
    receipt: JsonObject,
    claims: Claims,
    key: _ResolvedKey,
    trust: Trust,
) -> list[Check]:
    signed = canonical_bytes(family.signed(receipt))
    kind = claims.profile if family.name == "profile" else family.name
    return [
        passed("format", f"It has the members of {kind}."),
        _size_check(claims, receipt),
        key.check,
        _signature_check(signed, claims.signature, key.public_key),
        *(_counter_check(signed, one, trust) for one in family.counter_signatures(receipt)),
        *family.rules(receipt),
    ]


def _size_check(claims: Claims, receipt: JsonObject) -> Check:
    profile, limit = claims.profile, claims.max_bytes
    if limit is None:
        return passed("size", f"{profile} has no size limit.")
    size = len(canonical_bytes(without_unsigned(receipt)))
    return check(
        "size",
        size <= limit,
        f"{size} of {limit} bytes.",
        f"{size} bytes; {profile} allows {limit}.",
    )


def _resolve_key(claims: Claims, trust: Trust) -> _ResolvedKey:
    """The key that the receipt names: by its did:key, or by an id that the trust holds."""
    carried = claims.issuer_public_key
    try:
        if claims.key_id is not None:
            public_key = _public_key_of(claims.key_id, trust)
        else:
            public_key = None if carried is None else from_base64url(carried, 32)
        if public_key is None:
            return _unresolved(f"The key {claims.key_id} is not among the known keys.")
        if carried is not None and to_base64url(public_key) != carried:
            return _unresolved("issuer_pubkey is not the key that key_id names.")
        key_id = claims.key_id or did_key_of(public_key)
    except TallyError as error:
        return _unresolved(error.message)
    return _ResolvedKey(passed("key", f"The key is {key_id}."), key_id, public_key)


def _public_key_of(key_id: str, trust: Trust) -> bytes | None:
    known = trust.key(key_id)
    if known is not None:
        return from_base64url(known["public_key"], 32)
    return public_key_of_did_key(key_id) if key_id.startswith("did:key:") else None


def _unresolved(detail: str) -> _ResolvedKey:
    return _ResolvedKey(failed("key", detail), None, None)


def _signature_check(signed: bytes, signature: str, public_key: bytes | None) -> Check:
    if public_key is None:
        return failed("signature", "There is no key to check it with.")
    return check(
        "signature",
        verify_ed25519(public_key, signed, from_base64url(signature, 64)),
        "The issuer's signature covers exactly these contents.",
        "The signature does not match: the contents were changed, or another key signed them.",
    )


def _counter_check(signed: bytes, counter: CounterSignature, trust: Trust) -> Check:
    name, did = f"signature_{counter.role}", counter.did
    if counter.signature is None:
        return unchecked(name, f"The {counter.role} has not signed.")
    if did is None:
        return failed(name, f"There is a signature, but the receipt names no {counter.role}.")
    signature = from_base64url(counter.signature, 64)
    fault = signature_fault(signature)
    if fault is not None:
        return failed(name, f"No key can have made this signature: it {fault}.")
    candidates = _keys_of(did, trust)
    if not candidates:
        return unchecked(name, f"The keys of {did} are not known here.")
    made = (key for key in candidates if verify_ed25519(key.public_key, signed, signature))
    signer = next(made, None)
    if signer is None:
        return failed(name, f"This is not a signature of {did} over these contents.")
    if signer.purpose != "receipt":
        detail = f"The key of {did} that signed this is for {signer.purpose}, not for receipts."
        return failed(name, detail)
    if signer.revoked:
        detail = (
            f"A revoked key of {did} signed this, and nothing proves that this was signed earlier."
        )
        return unchecked(name, detail)
    return passed(name, f"{did} signed exactly these contents.")


class _CounterKey(NamedTuple):
    """A key of the party that is to counter-sign."""

    public_key: bytes
    purpose: str
    revoked: bool


def _keys_of(did: str, trust: Trust) -> list[_CounterKey]:
    """Returns the keys of a DID, whatever their purpose. A key of unusable form is left out."""
    if not did.startswith("did:key:"):
        record = trust.issuer(did)
        return [
            _CounterKey(
                from_base64url(key["public_key"], 32), key["purpose"], key["revoked"] is not None
            )
            for key in (record["keys"] if record is not None else [])
        ]
    try:
        return [_CounterKey(public_key_of_did_key(did), "receipt", False)]
    except TallyError:
        return []


def _time_check(claims: Claims, now: int) -> Check:
    # The time that a bill claims is that of its compilation; only an anchor dates its signature.
    what = "Compiled" if claims.may_be_signed_later else "Issued"
    issued = f"{what} at {format_timestamp(claims.issued_at * 1_000)}"
    return check(
        "issued_at",
        claims.issued_at <= now // 1_000 + CLOCK_SKEW,
        f"{issued}.",
        f"{issued}, which is in the future.",
    )
