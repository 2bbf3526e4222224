"""Sealed documents ``svc-seal-v1``: AES-256-GCM with a key commitment (spec/sealing.md)."""

from __future__ import annotations

import hmac
import secrets
from dataclasses import dataclass
from typing import TypedDict

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from .encoding import from_base64url, from_hex, to_base64url
from .errors import TallyError
from .hashes import hkdf_sha256, sha256_hex
from .json_types import JsonValue

_TYPE = "svc-seal-v1"
_ALG = "A256GCM"
_TAG_LENGTH = 16
_MEMBERS = ("type", "alg", "seal_id", "nonce", "key_commitment", "ciphertext")


class SealedDocument(TypedDict):
    """A sealed document in its JSON form; it has exactly these members."""

    type: str
    alg: str
    seal_id: str
    """16 random bytes, base64url."""
    nonce: str
    """12 random bytes, base64url."""
    key_commitment: str
    """32 bytes, hex: HKDF-SHA256 of the key, which only that key gives."""
    ciphertext: str
    """AES-256-GCM ciphertext followed by its 16-byte tag, base64url."""


class SealReference(TypedDict):
    """Reference to a sealed document, for a signed receipt."""

    seal_id: str
    ciphertext_sha256: str
    """SHA-256 of the ciphertext with its tag, hex."""
    key_commitment: str


@dataclass(frozen=True)
class _SealBytes:
    seal_id: bytes
    nonce: bytes
    commitment: bytes
    ciphertext: bytes


def seal(plaintext: bytes, key: bytes) -> SealedDocument:
    """Seals ``plaintext`` under a 32-byte key, which may seal any number of documents.

    Raises ``invalid_field`` for a key of another length.
    """
    _require_key(key)
    seal_id, nonce = secrets.token_bytes(16), secrets.token_bytes(12)
    encryption_key, commitment = _derive_keys(key, seal_id)
    aad = _associated_data(seal_id, commitment)
    ciphertext = AESGCM(encryption_key).encrypt(nonce, plaintext, aad)
    return {
        "type": _TYPE,
        "alg": _ALG,
        "seal_id": to_base64url(seal_id),
        "nonce": to_base64url(nonce),
        "key_commitment": commitment.hex(),
        "ciphertext": to_base64url(ciphertext),
    }


def open_seal(
    sealed: SealedDocument | JsonValue, key: bytes, expected: SealReference | None = None
) -> bytes:
    """Opens a sealed document, and returns the plaintext.

    Raises, in this order: ``invalid_field`` for a key that is not 32 bytes; ``seal_invalid`` for a
    document that ``seal`` would not have written, or an ``expected`` without its members;
    ``seal_tampered`` where the document is not the one that ``expected`` names;
    ``seal_wrong_key`` where the key does not give the commitment; ``seal_tampered`` where the tag
    does not authenticate the rest.

    ``expected`` is what the signed receipt says. Without it a changed ``seal_id`` or
    ``key_commitment`` can only be seen as a wrong key.
    """
    _require_key(key)
    parts = _parse(sealed)
    if expected is not None:
        _require_referenced(_reference(parts), expected)
    encryption_key, commitment = _derive_keys(key, parts.seal_id)
    if not hmac.compare_digest(commitment, parts.commitment):
        message = "This key does not match the key commitment of the sealed document."
        raise TallyError("seal_wrong_key", message)
    aad = _associated_data(parts.seal_id, parts.commitment)
    try:
        return AESGCM(encryption_key).decrypt(parts.nonce, parts.ciphertext, aad)
    except InvalidTag:
        message = "The key is right, but the nonce or ciphertext was changed."
        raise TallyError("seal_tampered", message) from None


def seal_reference(sealed: SealedDocument | JsonValue) -> SealReference:
    """Makes the reference to a sealed document for a receipt. Raises ``seal_invalid``."""
    return _reference(_parse(sealed))


def _require_key(key: bytes) -> None:
    if len(key) != 32:
        raise TallyError("invalid_field", "A sealing key is 32 bytes.", field="key")


def _derive_keys(key: bytes, seal_id: bytes) -> tuple[bytes, bytes]:
    """The encryption key and the key commitment (spec/sealing.md, steps 2 and 3)."""
    encryption_key = hkdf_sha256(key, salt=seal_id, info=f"{_TYPE}/key".encode(), length=32)
    commitment = hkdf_sha256(key, salt=seal_id, info=f"{_TYPE}/commitment".encode(), length=32)
    return encryption_key, commitment


def _associated_data(seal_id: bytes, commitment: bytes) -> bytes:
    return _TYPE.encode() + seal_id + commitment


def _parse(sealed: object) -> _SealBytes:
    if not isinstance(sealed, dict):
        raise TallyError("seal_invalid", "A sealed document is a JSON object.")
    if sealed.get("type") != _TYPE:
        raise _invalid("type", f'`type` is not "{_TYPE}".')
    if sealed.get("alg") != _ALG:
        raise _invalid("alg", f'`alg` is not "{_ALG}".')
    for member in sealed:
        if member not in _MEMBERS:
            raise _invalid(str(member), "A sealed document has no such member.")
    parts = _SealBytes(
        seal_id=_decode(sealed, "seal_id", 16),
        nonce=_decode(sealed, "nonce", 12),
        commitment=_decode(sealed, "key_commitment", 32),
        ciphertext=_decode(sealed, "ciphertext", None),
    )
    if len(parts.ciphertext) < _TAG_LENGTH:
        message = f"`ciphertext` is shorter than its {_TAG_LENGTH}-byte tag."
        raise _invalid("ciphertext", message)
    return parts


def _decode(sealed: dict[str, object], member: str, length: int | None) -> bytes:
    text = sealed.get(member)
    if not isinstance(text, str):
        raise _invalid(member, f"`{member}` is missing or not a string.")
    read = from_hex if member == "key_commitment" else from_base64url
    try:
        return read(text, length)
    except TallyError as cause:
        message = f"`{member}` does not have the encoding and length that sealing produces."
        raise _invalid(member, message) from cause


def _invalid(member: str, message: str) -> TallyError:
    return TallyError("seal_invalid", message, field=member)


def _reference(parts: _SealBytes) -> SealReference:
    return {
        "seal_id": to_base64url(parts.seal_id),
        "ciphertext_sha256": sha256_hex(parts.ciphertext),
        "key_commitment": parts.commitment.hex(),
    }


def _require_referenced(found: SealReference, expected: SealReference) -> None:
    for member, value in found.items():
        stated = expected.get(member)
        if not isinstance(stated, str):
            raise _invalid(f"expected.{member}", f"The receipt has no `{member}`.")
        if stated != value:
            message = f"`{member}` does not match the receipt."
            raise TallyError("seal_tampered", message, field=member)
