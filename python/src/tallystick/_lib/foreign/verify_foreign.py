"""Verifying foreign receipts: a pure function, offline (spec/verification.md)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import datetime, timezone
from typing import Any, Final, TypeVar

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.asymmetric.utils import encode_dss_signature
from cryptography.hazmat.primitives.hashes import SHA256

from ..assess_issuer import IssuerVerdict, assess_issuer
from ..ed25519 import verify_ed25519
from ..json_types import JsonObject
from ..receipts.family import CLOCK_SKEW, Check, Claims, failed, passed, unchecked
from ..timestamps import format_timestamp, unix_ms
from ..trust import Trust
from ..trust_store import KnownTrust, issuers_in
from ..verify import Issuer
from .a2a_trust import A2aTrust
from .acta import Acta
from .documents import read_documents
from .dsse import Dsse
from .ethereum import recover_address
from .family import (
    Algorithm,
    ForeignDocument,
    ForeignFacts,
    ForeignFamily,
    ForeignFamilyName,
    ForeignFormError,
    ForeignReceipt,
    ForeignSignature,
)
from .keys import ForeignKey, KeyKind, parse_foreign_keys
from .tlog_proof import TlogProofs
from .x402 import X402

_FAMILIES: Final[tuple[ForeignFamily, ...]] = (
    X402(),
    Dsse(),
    Acta(),
    A2aTrust(),
    TlogProofs(),
)
"""In the order in which they are asked whether a document is theirs."""

_KINDS: Final[dict[Algorithm, KeyKind]] = {
    "EdDSA": "Ed25519",
    "ECDSA": "P-256",
    "ES256": "P-256",
    "ES256K": "secp256k1",
    "EIP-712": "account",
}
"""The kind of key that makes a signature of an algorithm."""

_CURVES: Final = {"P-256": ec.SECP256R1(), "secp256k1": ec.SECP256K1()}

_T = TypeVar("_T")


@dataclass(frozen=True)
class ForeignVerification:
    """The verdict on the foreign receipts in a file, with the members of that on one of ours."""

    valid: bool
    integrity: bool
    issuer: Issuer
    family: ForeignFamilyName
    profile: str | None
    receipt_id: str | None
    count: int
    """Number of receipts in the file."""
    signers: tuple[str, ...]
    """The keys that signed, each once: a did:key, or an address."""
    checks: tuple[Check, ...]
    notes: tuple[str, ...]
    """What such receipts do not cover, in sentences."""
    verified_at: str

    def to_json(self) -> JsonObject:
        """The verdict as JSON, with the members that it has in TypeScript."""
        listed: dict[str, Any] = {
            "signers": list(self.signers),
            "checks": [asdict(one) for one in self.checks],
            "notes": list(self.notes),
        }
        return {**asdict(self), **listed}


def verify_foreign(
    file: bytes | str,
    *,
    keys: Iterable[str] = (),
    trust: KnownTrust | None = None,
    entry: bytes | None = None,
    now: datetime | None = None,
) -> ForeignVerification | None:
    """Verifies foreign receipts: of Acta, x402 and A2A, DSSE envelopes, tlog-proofs of C2SP.

    - ``file``: one document, a list, JSON Lines, or the text of a tlog-proof.
    - ``keys``: keys that are trusted, and one of which must have signed each receipt: a did:key, 64
      hex digits, base64url of 32 bytes, PEM, a JWK or JWK Set, a log's verifier key.
    - ``trust``: the issuers and logs that are known, as ``verify`` takes it.
    - ``entry``: the bytes that the log hashed, for a tlog-proof.
    - ``now``: the time to judge at, with a time zone; this moment when absent.

    Returns ``None`` if the file holds none of these. Nothing that it holds is an error. Raises
    ``invalid_public_key`` for a text of ``keys`` that is none, and ``trust_expired`` and
    ``trust_unavailable`` as ``verify`` does.
    """
    now = now or datetime.now(timezone.utc)
    pins = [key for text in keys for key in parse_foreign_keys(text)]
    basis = _Basis(unix_ms(now), issuers_in(trust, now), pins)
    read = read_documents(file)
    if read is None:
        return None
    first = read.documents[0]
    family = next((one for one in _FAMILIES if one.recognises(first)), None)
    if family is None:
        return None
    try:
        if read.fault is not None:
            raise ForeignFormError(read.fault)
        facts = ForeignFacts(entry, basis.now)
        receipts = [
            receipt
            for index, document in enumerate(read.documents)
            for receipt in _read_one(family, document, index, facts)
        ]
        return _judge_all(family, receipts, basis)
    except ForeignFormError as fault:
        return _malformed(family, str(fault), basis.now)


@dataclass(frozen=True)
class _Basis:
    now: int
    """Unix milliseconds."""
    trust: Trust
    pins: Sequence[ForeignKey]


@dataclass(frozen=True)
class _Judged:
    """The verdict on one receipt of a file."""

    integrity: tuple[Check, ...]
    contradictions: tuple[Check, ...]
    signer: ForeignKey | None
    issuer: IssuerVerdict
    trusted: bool


def _read_one(
    family: ForeignFamily, document: ForeignDocument, index: int, facts: ForeignFacts
) -> Sequence[ForeignReceipt]:
    try:
        if not family.recognises(document):
            raise ForeignFormError("It is of another kind than the first one.")
        return family.read(document, facts)
    except ForeignFormError as fault:
        if index > 0:
            raise ForeignFormError(f"Receipt {index + 1}: {fault}") from None
        raise


def _judge_all(
    family: ForeignFamily, receipts: Sequence[ForeignReceipt], basis: _Basis
) -> ForeignVerification:
    if not receipts:
        raise ForeignFormError("It holds no signed receipt.")
    judged = [_judge(receipt, basis) for receipt in receipts]
    profile = ", ".join(dict.fromkeys(one.profile for one in receipts))
    integrity_checks = (
        passed("format", f"It has the form of {family.name} ({profile})."),
        *_combined([one.integrity for one in judged]),
        *family.together(receipts),
    )
    contradictions = (
        *_combined([one.contradictions for one in judged]),
        *family.contradictions(receipts),
    )
    integrity = _fine(integrity_checks)
    valid = integrity and _fine(contradictions)
    signers = tuple(dict.fromkeys(one.signer.name for one in judged if one.signer is not None))
    undecided = [one.undecided for one in receipts if one.undecided is not None]
    return ForeignVerification(
        valid=valid,
        integrity=integrity,
        issuer=Issuer(
            did=_common([one.issuer.did for one in judged]),
            key_id=signers[0] if len(signers) == 1 else None,
            trusted=valid and not undecided and all(one.trusted for one in judged),
            status=_common([one.issuer.status for one in judged]) or "unknown",
            key_state=_common([one.issuer.key_state for one in judged]) or "unknown",
        ),
        family=family.name,
        profile=profile,
        receipt_id=receipts[0].id if len(receipts) == 1 else None,
        count=len(receipts),
        signers=signers,
        checks=(*integrity_checks, *contradictions),
        notes=(*undecided, *family.notes(receipts)),
        verified_at=format_timestamp(basis.now),
    )


def _fine(checks: Iterable[Check]) -> bool:
    return all(check.ok is not False for check in checks)


def _common(values: Sequence[_T]) -> _T | None:
    """The value that all have."""
    return values[0] if all(value == values[0] for value in values) else None


def _judge(receipt: ForeignReceipt, basis: _Basis) -> _Judged:
    checks, signer, vouched = _check_signatures(receipt, basis)
    issuer = _VOUCHED if vouched else _issuer_of(receipt, signer, basis)
    is_pinned = signer is not None and signer.name in {pin.name for pin in basis.pins}
    return _Judged(
        integrity=(*checks, *receipt.checks),
        contradictions=(
            _time_check(receipt, basis.now),
            *issuer.checks,
            *_pin_check(basis.pins, signer, is_pinned),
        ),
        signer=signer,
        issuer=issuer,
        trusted=is_pinned or issuer.trusted,
    )


def _check_signatures(
    receipt: ForeignReceipt, basis: _Basis
) -> tuple[tuple[Check, ...], ForeignKey | None, bool]:
    """Finds the first signature that holds, and whether the trust vouches for its key.

    It must hold under the key that the receipt carries, or under one that the verifier has.
    """
    tried: ForeignKey | None = None
    for signature in receipt.signatures:
        vouchers = signature.vouched(basis.trust)
        known = [*basis.pins, *vouchers, *_named_keys(signature, basis.trust)]
        for key in known if signature.carried is None else [signature.carried]:
            if key.kind != _KINDS[signature.algorithm] or not signature.fits(key):
                continue
            tried = key
            if _holds(signature, key):
                carries = "does not carry it" if signature.carried is None else "carries it"
                checks = (
                    passed("key", f"The key is {key.name}; the receipt {carries}."),
                    passed("signature", "The signer's signature covers exactly these contents."),
                )
                return checks, key, key.name in {one.name for one in vouchers}
    if tried is None:
        missing = failed("signature", "There is no key to check it with.")
        return (_key_missing(receipt), missing), None, False
    failure = "The signature does not match: the contents were changed, or another key signed them."
    return (passed("key", f"The key is {tried.name}."), failed("signature", failure)), None, False


def _holds(signature: ForeignSignature, key: ForeignKey) -> bool:
    """Whether the key made the signature. False for what can't be a key or a signature."""
    if key.kind == "Ed25519":
        return verify_ed25519(key.public_key, signature.message, signature.signature)
    data = signature.signature
    if key.kind == "account":
        return recover_address(signature.message, data) == key.public_key
    if signature.algorithm != "ECDSA" and len(data) != 64:
        # JWS and COSE have r || s alone; DSSE's signers write DER.
        return False
    if len(data) == 64:
        halves = (int.from_bytes(half, "big") for half in (data[:32], data[32:]))
        data = encode_dss_signature(*halves)
    try:
        point = ec.EllipticCurvePublicKey.from_encoded_point(_CURVES[key.kind], key.public_key)
        point.verify(data, signature.message, ec.ECDSA(SHA256()))
    except (InvalidSignature, ValueError):
        return False
    return True


def _named_keys(signature: ForeignSignature, trust: Trust) -> list[ForeignKey]:
    """The key that the trust has under the id that the receipt gives."""
    key = None if signature.key_id is None else trust.key(signature.key_id)
    return [] if key is None else parse_foreign_keys(key["public_key"])


def _key_missing(receipt: ForeignReceipt) -> Check:
    ids = dict.fromkeys(one.key_id for one in receipt.signatures if one.key_id is not None)
    named = f"It names the key {' or '.join(ids)}" if ids else "It names no key"
    rest = "and carries none that can be checked: the signer's key must be given."
    return failed("key", f"{named} {rest}")


def _issuer_of(receipt: ForeignReceipt, signer: ForeignKey | None, basis: _Basis) -> IssuerVerdict:
    if signer is None or signer.kind != "Ed25519":
        return _UNKNOWN
    issued_at = receipt.issued_at
    claims = Claims(
        receipt_id="",
        profile=receipt.profile,
        key_id=None,
        issuer_public_key=None,
        issuer_did=None,
        issuer_verified=None,
        issued_at=basis.now // 1_000 if issued_at is None else issued_at,
        signature="",
    )
    verdict = assess_issuer(claims, signer.public_key, basis.trust, None)
    issuer, window = verdict.checks
    if issued_at is None and window.ok is False:
        # Nothing says whether it was signed while the key was in use.
        detail = "The key is no longer in use, and the receipt does not say when it was signed."
        return replace(verdict, checks=(issuer, unchecked("key_window", detail)))
    return verdict


_UNKNOWN: Final = IssuerVerdict(
    did=None,
    status="unknown",
    key_state="unknown",
    trusted=False,
    checks=(
        unchecked("issuer", "The given trust does not list this key."),
        unchecked("key_window", "It is not known when this key was in use."),
    ),
)
_VOUCHED: Final = replace(
    _UNKNOWN,
    status="verified",
    trusted=True,
    checks=(passed("issuer", "The given trust vouches for this key."),),
)


def _pin_check(
    pins: Sequence[ForeignKey], signer: ForeignKey | None, is_pinned: bool
) -> tuple[Check, ...]:
    if not pins or signer is None:
        return ()
    if is_pinned:
        return (passed("pinned_key", "The key is one of those that were given."),)
    detail = f"{signer.name} signed this, which is none of the keys that were given."
    return (failed("pinned_key", detail),)


def _time_check(receipt: ForeignReceipt, now: int) -> Check:
    if receipt.issued_at is None:
        return unchecked("issued_at", "It does not say when it was issued.")
    issued = f"Issued at {format_timestamp(receipt.issued_at * 1_000)}"
    if receipt.issued_at <= now // 1_000 + CLOCK_SKEW:
        return passed("issued_at", f"{issued}, by its own word.")
    return failed("issued_at", f"{issued}, which is in the future.")


def _combined(lists: Sequence[tuple[Check, ...]]) -> tuple[Check, ...]:
    """One check for each name, with the detail of the first receipt that is worst."""
    if len(lists) == 1:
        return lists[0]
    names = dict.fromkeys(check.name for checks in lists for check in checks)
    return tuple(_worst(name, lists) for name in names)


def _worst(name: str, lists: Sequence[tuple[Check, ...]]) -> Check:
    for ok in (False, None):
        for number, checks in enumerate(lists, 1):
            found = next((check for check in checks if check.name == name), None)
            if found is not None and found.ok is ok:
                return Check(name, ok, f"Receipt {number}: {found.detail}")
    return passed(name, f"This holds for all {len(lists)} receipts.")


def _malformed(family: ForeignFamily, detail: str, now: int) -> ForeignVerification:
    return ForeignVerification(
        valid=False,
        integrity=False,
        issuer=Issuer(None, None, False, "unknown", "unknown"),
        family=family.name,
        profile=None,
        receipt_id=None,
        count=0,
        signers=(),
        checks=(
            failed("format", detail),
            unchecked("signature", "Not reached: the form is wrong."),
        ),
        notes=(),
        verified_at=format_timestamp(now),
    )
