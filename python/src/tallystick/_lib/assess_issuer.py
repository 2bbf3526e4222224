"""Whose key signed a receipt, and whether it could sign then (spec/verification.md)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

from .did import did_key_of
from .encoding import to_base64url
from .receipts.family import CLOCK_SKEW, Check, Claims, failed, passed, unchecked
from .timestamps import format_timestamp, seconds_of
from .trust import IssuerKey, IssuerRecord, KeyPurpose, KeyTimes, Trust

IssuerStatus: TypeAlias = Literal["verified", "registered", "unknown", "contradicted"]
KeyState: TypeAlias = Literal["pending", "active", "retired", "revoked", "compromised", "unknown"]


@dataclass(frozen=True)
class IssuerVerdict:
    did: str | None
    status: IssuerStatus
    key_state: KeyState
    trusted: bool
    checks: tuple[Check, ...]


def assess_issuer(
    claims: Claims,
    public_key: bytes | None,
    trust: Trust,
    existed_at: int | None,
    purpose: KeyPurpose = "receipt",
) -> IssuerVerdict:
    """Judges whose key signed a receipt, and whether the key was in use then.

    A receipt that contradicts what is known about the issuer that it names fails. A receipt of an
    unknown issuer is not trusted, and does not fail. ``public_key`` is ``None`` if the receipt's
    key could not be determined; ``existed_at`` is what the anchor proves, in Unix milliseconds;
    ``purpose`` is what the key must be for.
    """
    named = claims.issuer_did
    if public_key is None:
        return _contradicted(named, "The receipt's key could not be determined.")
    encoded = to_base64url(public_key)
    record = trust.holder(encoded) if named is None else trust.issuer(named)
    if record is None:
        signer = claims.key_id or did_key_of(public_key)
        if named is not None and named.startswith("did:key:") and named != signer:
            return _contradicted(named, f"{named} did not sign this; {signer} did.")
        return _unknown(named)
    did = record["did"]
    key = next((key for key in record["keys"] if key["public_key"] == encoded), None)
    if key is None:
        return _contradicted(did, f"{did} does not hold the key that signed this.")
    if key["purpose"] != purpose:
        expected = "receipts" if purpose == "receipt" else purpose
        detail = f"The key of {did} is for {key['purpose']}, not for {expected}."
        return _contradicted(did, detail)
    if claims.issuer_verified is True and record["status"] != "verified":
        detail = f"{did} claims to be verified, but is only {record['status']}."
        return _contradicted(did, detail)
    return _known(record, key, claims, existed_at)


def _contradicted(did: str | None, detail: str) -> IssuerVerdict:
    window = unchecked("key_window", "Not reached: the key is not known to belong to the issuer.")
    return IssuerVerdict(did, "contradicted", "unknown", False, (failed("issuer", detail), window))


def _unknown(did: str | None) -> IssuerVerdict:
    checks = (
        unchecked("issuer", "The given trust does not list this issuer."),
        unchecked("key_window", "It is not known when this key was in use."),
    )
    return IssuerVerdict(did, "unknown", "unknown", False, checks)


def _known(
    record: IssuerRecord, key: IssuerKey, claims: Claims, existed_at: int | None
) -> IssuerVerdict:
    window = key_window(key, claims, existed_at)
    holder = f"The key belongs to {record['did']}, which is {record['status']}."
    return IssuerVerdict(
        did=record["did"],
        status=record["status"],
        key_state="compromised" if _is_compromised(key) else key["state"],
        trusted=record["status"] == "verified" and window.ok is True,
        checks=(passed("issuer", holder), window),
    )


def _is_compromised(key: KeyTimes) -> bool:
    revoked = key["revoked"]
    return revoked is not None and revoked["reason"] == "compromised"


def key_window(key: KeyTimes, claims: Claims, existed_at: int | None) -> Check:
    """Checks that a key could sign when the receipt says that it was issued.

    ``ok`` is ``None`` for a compromised key that no anchor dates.
    """
    window, revoked = _window_check(key, claims, existed_at), key["revoked"]
    dated_by_anchor = (
        existed_at is not None
        and revoked is not None
        and existed_at < seconds_of(revoked["at"]) * 1_000
    )
    if window.ok is True and _is_compromised(key) and not dated_by_anchor:
        detail = "The key was compromised, and nothing proves that this was signed earlier."
        return unchecked("key_window", detail)
    return window


def _window_check(key: KeyTimes, claims: Claims, existed_at: int | None) -> Check:
    issued_at = claims.issued_at
    name, revoked, until = "key_window", key["revoked"], key["valid_until"]
    named = "says that it was compiled at" if claims.may_be_signed_later else "was issued at"
    at = f"{named} {format_timestamp(issued_at * 1_000)}"
    state = key["state"]
    if state == "pending":
        return failed(name, "The key is not in use yet.")
    if (state == "retired" and until is None) or (state == "revoked" and revoked is None):
        return failed(name, f"The key is {state}, and its record does not say since when.")
    start = seconds_of(key["valid_from"])
    early = issued_at < start
    if early and not claims.may_be_signed_later:
        return failed(name, f"The key is valid only from {key['valid_from']} on; this {at}.")
    if early and existed_at is not None and existed_at < (start - CLOCK_SKEW) * 1_000:
        anchored = f"this was anchored at {format_timestamp(existed_at)}"
        return failed(name, f"The key is valid only from {key['valid_from']} on; {anchored}.")
    if until is not None and issued_at >= seconds_of(until):
        return failed(name, f"The key was valid until {until}; this {at}.")
    if revoked is not None and issued_at >= seconds_of(revoked["at"]):
        detail = f"The key was revoked at {revoked['at']} ({revoked['reason']}); this {at}."
        return failed(name, detail)
    if early:
        compiled = f"This says that it was compiled at {format_timestamp(issued_at * 1_000)}."
        signs = f"The key is valid only from {key['valid_from']} on"
        later = "so it was signed later than compiled. Only an anchor shows when."
        return passed(name, f"{compiled} {signs}, {later}")
    when = "says that it was compiled" if claims.may_be_signed_later else "was issued"
    return passed(name, f"The key was in use when this {when}.")
