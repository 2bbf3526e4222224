"""Decentralized identifiers: did:key contains its key, did:svc names an issuer."""

from __future__ import annotations

import re

from .ed25519 import check_public_key, to_multikey
from .encoding import from_multibase
from .errors import TallyError

_DID = re.compile(r"did:[a-z0-9]+:(?:[A-Za-z0-9_.:-]|%[0-9A-Fa-f]{2})+(?<!:)")
_HANDLE = re.compile(r"[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?")
_MAX_CHARACTERS = 2048
_KEY_SCHEME = "did:key:"
_ED25519_MULTICODEC = b"\xed\x01"


def is_did(text: str) -> bool:
    """Whether ``text`` is a DID (DID Core 1.0, 3.1) of at most 2,048 characters, of any method."""
    return len(text) <= _MAX_CHARACTERS and _DID.fullmatch(text) is not None


def did_svc(handle: str) -> str:
    """The DID of the issuer with this handle, written like a DNS label. Raises ``invalid_did``."""
    if _HANDLE.fullmatch(handle) is None:
        raise TallyError(
            "invalid_did",
            'A handle has 1 to 63 characters of a-z, 0-9 and "-", '
            'and neither starts nor ends with "-".',
        )
    return f"did:svc:{handle}"


def did_key_of(public_key: bytes) -> str:
    """The did:key of a 32-byte Ed25519 key (W3C CCG did:key). Raises ``invalid_public_key``."""
    return _KEY_SCHEME + to_multikey(public_key)


def public_key_of_did_key(did: str) -> bytes:
    """Returns the 32-byte Ed25519 public key in a did:key.

    Raises ``invalid_did`` for other key types, other encodings and keys that the profile refuses.
    """
    if not did.startswith(_KEY_SCHEME):
        raise TallyError("invalid_did", "Expected a did:key.")
    try:
        return _from_multikey(did[len(_KEY_SCHEME) :])
    except TallyError as cause:
        raise TallyError(
            "invalid_did", "The did:key does not hold an acceptable Ed25519 key."
        ) from cause


def _from_multikey(text: str) -> bytes:
    data = from_multibase(text)
    if data[:2] != _ED25519_MULTICODEC:
        raise TallyError("invalid_public_key", "The multicodec is not that of an Ed25519 key.")
    check_public_key(data[2:])
    return data[2:]
