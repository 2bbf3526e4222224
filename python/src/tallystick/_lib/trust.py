"""Issuers that a verifier trusts, found by DID or by key, and the bundle that lists them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timezone
from typing import Any, Literal, TypeAlias, TypedDict, cast

from .authority import AnchorAuthority, KeyReference, anchor_history, logs_of, payee
from .canonical import canonical_bytes
from .did import did_key_of
from .ed25519 import public_key_fault, verify_ed25519
from .encoding import from_base64url
from .errors import TallyError
from .hashes import sha256_hex
from .json_types import JsonObject, JsonValue
from .receipts.family import without
from .receipts.read import read_json
from .shape import (
    bytes32,
    constant,
    did,
    hex64,
    integer,
    is_object,
    key_id,
    list_of,
    members,
    non_empty_text,
    nullable,
    one_of,
    pattern,
    sha256_text,
    signature,
    timestamp,
)
from .timestamps import seconds_of, unix_ms

KeyPurpose: TypeAlias = Literal[
    "root", "receipt", "log", "status", "benchmark", "bundle", "head", "cose"
]
RevocationReason: TypeAlias = Literal["compromised", "superseded", "ceased", "unspecified"]

key_purpose = pattern(r"[a-z][a-z0-9_-]{0,31}", "the purpose of a key")
"""A purpose that is not known here is no fault: its key signs nothing that is judged here."""
REVOCATION_REASONS = ("compromised", "superseded", "ceased", "unspecified")


class Revocation(TypedDict):
    at: str
    reason: RevocationReason


class KeyTimes(TypedDict):
    """A key signs in [valid_from, valid_until), and never once it is revoked."""

    state: Literal["pending", "active", "retired", "revoked"]
    valid_from: str
    valid_until: str | None
    revoked: Revocation | None


class IssuerKey(KeyTimes):
    """One key of an issuer."""

    key_id: str
    public_key: str
    """base64url, 32 bytes."""
    purpose: str


class PqKey(KeyTimes):
    """A key for second signatures of pq receipts, which are experimental."""

    alg: str
    key_id: str
    public_key: str
    """base64url."""


class _PqKeys(TypedDict, total=False):
    pq_keys: list[PqKey]


class IssuerRecord(_PqKeys):
    """``registered`` by proof of possession alone; ``verified`` by an act of the operator."""

    did: str
    status: Literal["registered", "verified"]
    keys: list[IssuerKey]


class _Previous(TypedDict, total=False):
    previous_sha256: str | None


class TrustBundle(AnchorAuthority, _Previous):
    """The signed list of issuers, keys and anchors that a service vouches for (spec/trust.md)."""

    type: str
    version: int
    issued_at: str
    expires_at: str
    root: KeyReference
    issuers: list[IssuerRecord]
    sig_b64u: str


@dataclass(frozen=True)
class TrustPin:
    """What a client keeps of a service: its root, and the newest bundle seen."""

    root: str
    """``sha256:<hex>`` of the root's public key."""
    version: int
    bundle_sha256: str
    """SHA-256 of the bundle's JCS bytes, hex: two bundles of one version are refused."""


class Trust:
    """Issuers that a verifier knows, found by DID or by key, and the logs whose anchors count."""

    def __init__(
        self, records: Iterable[IssuerRecord] = (), anchors: Iterable[AnchorAuthority] = ()
    ) -> None:
        """Indexes issuer records. The first record of a DID wins, and a verified one for a key.

        A trust bundle can be one of ``anchors``. Raises ``trust_invalid`` when a key is
        unusable, or a did:key stands beside another public key than its own.
        """
        self.anchors = tuple(anchors)
        self._issuers: dict[str, IssuerRecord] = {}
        self._holders: dict[str, IssuerRecord] = {}
        self._keys: dict[str, IssuerKey] = {}
        for record in records:
            if record["did"] not in self._issuers:
                self._add(record)
        for log in logs_of(self.anchors):
            _require_own_key(log)

    def issuer(self, did: str) -> IssuerRecord | None:
        """The record of a DID."""
        return self._issuers.get(did)

    def holder(self, public_key: str) -> IssuerRecord | None:
        """The issuer that holds a key (base64url), a verified one first."""
        return self._holders.get(public_key)

    def key(self, key_id: str) -> IssuerKey | None:
        """The key of an id."""
        return self._keys.get(key_id)

    def with_registered(self, record: IssuerRecord) -> Trust:
        """Adds the issuer of a published record as registered, unless it is listed already.

        The status in the record does not count, since nobody signs it.
        """
        registered: IssuerRecord = {
            "did": record["did"],
            "status": "registered",
            "keys": record["keys"],
        }
        return Trust([*self._issuers.values(), registered], self.anchors)

    def _add(self, record: IssuerRecord) -> None:
        self._issuers[record["did"]] = record
        verified = record["status"] == "verified"
        for key in record["keys"]:
            name, public_key = key["key_id"], key["public_key"]
            _require_own_key(key)
            if verified or name not in self._keys:
                self._keys[name] = key
            if verified or public_key not in self._holders:
                self._holders[public_key] = record


def _require_own_key(key: KeyReference | IssuerKey) -> None:
    name, public_key = key["key_id"], from_base64url(key["public_key"], 32)
    fault = public_key_fault(public_key)
    if fault is not None:
        raise TallyError("trust_invalid", f"The public key of {name} {fault}.")
    if name.startswith("did:key:") and name != did_key_of(public_key):
        message = f"{name} does not match its public key."
        raise TallyError("trust_invalid", message)


@dataclass(frozen=True)
class CheckedTrust:
    """A trust bundle with a valid signature, the pin to remember, and the bundle's issuers."""

    bundle: TrustBundle
    pin: TrustPin
    """Pass it to the next check, so that an older bundle and one of another root are refused."""
    issuers: Trust

    def issuers_at(self, now: datetime) -> Trust:
        """Returns the issuers unless the bundle has expired since. Raises ``trust_expired``."""
        _refuse_expired(self.bundle, now)
        return self.issuers


_pin = members({"root": sha256_text, "version": integer(1), "bundle_sha256": hex64})

_key_times = {
    "state": one_of("pending", "active", "retired", "revoked"),
    "valid_from": timestamp,
    "valid_until": nullable(timestamp),
    "revoked": nullable(members({"at": timestamp, "reason": one_of(*REVOCATION_REASONS)})),
}

_issuer_key = members(
    {
        "key_id": key_id,
        "public_key": bytes32,
        "purpose": key_purpose,
        **_key_times,
    }
)

_pq_key = members(
    {
        "alg": non_empty_text,
        "key_id": non_empty_text,
        "public_key": non_empty_text,
        **_key_times,
    }
)

_issuer_record = members(
    {
        "did": did,
        "status": one_of("registered", "verified"),
        "keys": list_of(_issuer_key, "a list of keys"),
    },
    optional={"pq_keys": list_of(_pq_key, "a list of keys")},
)

_bundle = members(
    {
        "type": constant("svc-trust-v1"),
        "version": integer(1),
        "issued_at": timestamp,
        "expires_at": timestamp,
        "root": members({"key_id": key_id, "public_key": bytes32}),
        "issuers": list_of(_issuer_record, "a list of issuers"),
        "log": nullable(
            members({"origin": non_empty_text, "key_id": key_id, "public_key": bytes32})
        ),
        "chain": nullable(
            members({"network": non_empty_text, "chain_id": integer(1), "address": non_empty_text})
        ),
        "sig_b64u": signature,
    },
    optional={
        "payees": list_of(payee, "a list of payees"),
        "history": anchor_history,
        "previous_sha256": nullable(hex64),
    },
)


def root_fingerprint(public_key: bytes) -> str:
    """``sha256:<hex>`` of a root's public key (32 bytes), for people to compare."""
    return f"sha256:{sha256_hex(public_key)}"


def read_pin(value: object) -> TrustPin:
    """Reads a pin that was kept somewhere, as a ``TrustPin`` or as plain JSON.

    Raises ``trust_invalid`` for one that is not whole: it never counts as none, because any bundle
    would pass then.
    """
    pin = vars(value) if isinstance(value, TrustPin) else value
    fault = _pin(pin, "pin")
    if fault is not None:
        message = f"The pin that was kept is damaged: {fault}"
        raise TallyError("trust_invalid", message, field=fault.field)
    kept = cast("dict[str, Any]", pin)
    return TrustPin(kept["root"], kept["version"], kept["bundle_sha256"])


def check_trust(
    document: JsonValue | bytes | TrustBundle,
    *,
    now: datetime | None = None,
    pin: TrustPin | None = None,
    root: str | None = None,
) -> CheckedTrust:
    """Checks a trust bundle and, if there is a pin, that it is not older (spec/trust.md).

    ``document`` is JSON as ``bytes`` or ``str``, or parsed. ``now`` has a time zone, and is this
    moment when absent. ``root`` is a fingerprint known from elsewhere than the bundle. Raises
    ``trust_invalid``, ``trust_root_mismatch``, ``trust_signature_invalid``, ``trust_rollback``,
    ``trust_expired``, ``json_*``.
    """
    copy = read_json(document)
    fault = _bundle(copy, "")
    if fault is not None:
        raise TallyError("trust_invalid", str(fault), field=fault.field)
    assert is_object(copy)
    bundle = cast(TrustBundle, copy)
    pin = None if pin is None else read_pin(pin)
    public_key = from_base64url(bundle["root"]["public_key"], 32)
    _require_root(root_fingerprint(public_key), pin, root)
    _require_signature(copy, public_key)
    if did_key_of(public_key) != bundle["root"]["key_id"]:
        message = "root.key_id is not the did:key of root.public_key."
        raise TallyError("trust_invalid", message, field="root.key_id")
    bundle_sha256 = sha256_hex(canonical_bytes(copy))
    seen = TrustPin(root_fingerprint(public_key), bundle["version"], bundle_sha256)
    _refuse_step_back(seen, pin, bundle)
    _refuse_expired(bundle, now or datetime.now(timezone.utc))
    _refuse_doubles(bundle)
    return CheckedTrust(bundle, seen, Trust(bundle["issuers"], [bundle]))


def _require_root(found: str, pin: TrustPin | None, root: str | None) -> None:
    for expected in (pin.root if pin is not None else None, root):
        if expected is not None and expected != found:
            raise TallyError(
                "trust_root_mismatch",
                f"The bundle's root is {found}, not {expected}. If the service changed it, "
                "remove the pin.",
            )


def _require_signature(bundle: JsonObject, public_key: bytes) -> None:
    signed = canonical_bytes(without(bundle, "sig_b64u"))
    if not verify_ed25519(public_key, signed, from_base64url(str(bundle["sig_b64u"]), 64)):
        message = "The bundle was changed after its root signed it."
        raise TallyError("trust_signature_invalid", message)


def _refuse_doubles(bundle: TrustBundle) -> None:
    """Refuses a bundle that says two things of one issuer or of one of its keys.

    A reader who takes the first would trust what one who takes the last takes for revoked.
    """
    _require_once(bundle["issuers"], "did", "issuers")
    for index, record in enumerate(bundle["issuers"]):
        for name in ("key_id", "public_key"):
            _require_once(record["keys"], name, f"issuers[{index}].keys")
            _require_once(record.get("pq_keys", []), name, f"issuers[{index}].pq_keys")


def _require_once(listed: Sequence[Mapping[str, object]], name: str, path: str) -> None:
    seen: set[object] = set()
    for index, one in enumerate(listed):
        if one[name] in seen:
            field = f"{path}[{index}].{name}"
            raise TallyError("trust_invalid", f"{field} is {one[name]} again.", field=field)
        seen.add(one[name])


def _refuse_expired(bundle: TrustBundle, now: datetime) -> None:
    if seconds_of(bundle["expires_at"]) * 1_000 <= unix_ms(now):
        message = f"The trust bundle expired at {bundle['expires_at']}. Fetch a newer one."
        raise TallyError("trust_expired", message)


def _refuse_step_back(seen: TrustPin, pinned: TrustPin | None, bundle: TrustBundle) -> None:
    if pinned is None:
        return
    if seen.version < pinned.version:
        message = f"The bundle is version {seen.version}, but {pinned.version} was seen before."
        raise TallyError("trust_rollback", message)
    kept = pinned.bundle_sha256
    is_same = seen.version == pinned.version
    named = seen.bundle_sha256 if is_same else bundle.get("previous_sha256", kept)
    if named is None or (seen.version <= pinned.version + 1 and named != kept):
        message = f"The bundle contradicts the one of version {pinned.version} seen before."
        raise TallyError("trust_rollback", message)
