"""Keys that may have signed foreign receipts, and the texts in which they are given."""

from __future__ import annotations

import re
from base64 import b64encode
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias, TypeVar

from ..canonical import parse_json
from ..ed25519 import check_public_key
from ..encoding import from_base64, from_base64url, from_hex, from_multibase, to_multibase
from ..errors import TallyError
from ..json_types import JsonValue
from ..log.note import ED25519, note_key_hash
from ..shape import is_object

KeyKind: TypeAlias = Literal["Ed25519", "P-256", "secp256k1", "account"]

_T = TypeVar("_T")


@dataclass(frozen=True)
class ForeignKey:
    """A key, or an Ethereum account."""

    kind: KeyKind
    public_key: bytes
    """32 bytes of Ed25519; a point as SEC 1 writes it, 33 bytes compressed; an account's 20."""
    log: str | None = None
    """Name of the log that has the key, if it was given as a verifier key of C2SP signed-note."""

    @property
    def name(self) -> str:
        """The key's name in a verdict: its did:key, or the address."""
        if self.kind == "account":
            return f"0x{self.public_key.hex()}"
        prefix = next(prefix for kind, prefix, _ in _CODECS if kind == self.kind)
        return f"did:key:{to_multibase(prefix + self.public_key)}"


_CODECS: Final[tuple[tuple[KeyKind, bytes, int], ...]] = (
    ("Ed25519", b"\xed\x01", 32),
    ("P-256", b"\x80\x24", 33),
    ("secp256k1", b"\xe7\x01", 33),
)
"""Multicodec prefixes of did:key, as varints, and the lengths of the keys."""

# RFC 8410, section 4; RFC 5480, section 2.
_SPKI_ED25519 = bytes.fromhex("302a300506032b6570032100")
_SPKI_P256 = bytes.fromhex("3059301306072a8648ce3d020106082a8648ce3d030107034200")
_PEM = re.compile(
    r"-----BEGIN PUBLIC KEY-----([\sA-Za-z0-9+/=]+)-----END PUBLIC KEY-----", re.ASCII
)
_VERIFIER_KEY = re.compile(r"([^+]+)\+[0-9a-f]{8}\+(\S+)")


def parse_foreign_keys(text: str) -> list[ForeignKey]:
    """The keys in a text.

    It is a did:key, 64 hex digits or 43 base64url of an Ed25519 key, an Ethereum address, PEM
    public keys, a JWK or JWK Set, or a verifier key of a log (``<name>+<8 hex>+<base64>``). Keys of
    other types in a JWK Set are passed over. Raises ``invalid_public_key`` if it holds none.
    """
    keys = or_none(lambda: _keys_in(text.strip())) or []
    if keys:
        return keys
    message = (
        "Expected a did:key, 64 hex digits, base64url of 32 bytes, an address, PEM, a JWK or JWK "
        "Set, or a log's verifier key."
    )
    raise TallyError("invalid_public_key", message)


def or_none(act: Callable[[], _T]) -> _T | None:
    """The result of ``act``, ``None`` for a ``TallyError``."""
    try:
        return act()
    except TallyError:
        return None


def ed25519_key(public_key: bytes, log: str | None = None) -> ForeignKey:
    """Raises ``invalid_public_key``."""
    check_public_key(public_key)
    return ForeignKey("Ed25519", public_key, log)


def key_of_did_key(did: str) -> ForeignKey:
    """Raises ``invalid_public_key``, ``invalid_multibase``."""
    data = from_multibase(did.removeprefix("did:key:"))
    for kind, prefix, length in _CODECS:
        if data[:2] == prefix and len(data) == 2 + length:
            return ed25519_key(data[2:]) if kind == "Ed25519" else ForeignKey(kind, data[2:])
    raise _unusable("The did:key is of no type that is read here: Ed25519, P-256, secp256k1.")


def key_of_jwk(jwk: JsonValue) -> ForeignKey:
    """The key of a JWK (RFC 7517, RFC 8037).

    Raises ``invalid_public_key``, ``invalid_base64url``.
    """
    said = jwk if is_object(jwk) else {}
    kty, crv, x, y = (said.get(name) for name in ("kty", "crv", "x", "y"))
    if kty == "OKP" and crv == "Ed25519" and isinstance(x, str):
        return ed25519_key(from_base64url(x, 32))
    if kty == "EC" and isinstance(x, str) and isinstance(y, str):
        for kind in ("P-256", "secp256k1"):
            if crv == kind:
                point = _compressed(from_base64url(x, 32) + from_base64url(y, 32))
                return ForeignKey("P-256" if kind == "P-256" else "secp256k1", point)
    raise _unusable("The JWK is of no type that is read here: Ed25519, P-256, secp256k1.")


def _keys_in(text: str) -> list[ForeignKey]:
    if re.fullmatch("0x[0-9a-fA-F]{40}", text):
        return [ForeignKey("account", bytes.fromhex(text[2:]))]
    if re.fullmatch("[0-9a-fA-F]{64}", text):
        return [ed25519_key(from_hex(text.lower()))]
    if text.startswith("did:key:"):
        return [key_of_did_key(text)]
    if text.startswith("{"):
        return list(_keys_of_jwks(parse_json(text.encode())))
    if text.startswith("-----BEGIN"):
        return list(_keys_of_pem(text))
    if "+" in text:
        return [_key_of_log(text)]
    return [ed25519_key(from_base64url(text, 32))]


def _keys_of_jwks(document: JsonValue) -> Iterator[ForeignKey]:
    listed = document.get("keys") if is_object(document) else None
    for jwk in listed if isinstance(listed, list) else [document]:
        key = or_none(lambda jwk=jwk: key_of_jwk(jwk))  # type: ignore[misc]
        if key is not None:
            yield key


def _keys_of_pem(text: str) -> Iterator[ForeignKey]:
    for body in _PEM.findall(text):
        der = from_base64(re.sub(r"\s", "", body)) or b""
        if der.startswith(_SPKI_ED25519):
            key = or_none(lambda der=der: ed25519_key(der[len(_SPKI_ED25519) :]))  # type: ignore[misc]
            if key is not None:
                yield key
        point = der.removeprefix(_SPKI_P256)
        if point != der and len(point) == 65 and point[0] == 4:
            yield ForeignKey("P-256", _compressed(point[1:]))


def _key_of_log(text: str) -> ForeignKey:
    """A verifier key (C2SP signed-note, "Verifier keys"). Raises ``note_invalid``."""
    match = _VERIFIER_KEY.fullmatch(text)
    data = None if match is None else from_base64(match[2])
    if match is None or data is None or len(data) != 33:
        message = "Expected a key as <name>+<8 hex>+<base64 of 33 bytes>."
        raise TallyError("note_invalid", message)
    name, public_key = match[1], data[1:]
    key_id = note_key_hash(name, ED25519, public_key)
    if data[0] != ED25519 or text != f"{name}+{key_id:08x}+{b64encode(data).decode()}":
        message = "The key id does not match the name and the Ed25519 key."
        raise TallyError("note_invalid", message)
    return ed25519_key(public_key, name)


def _compressed(point: bytes) -> bytes:
    """The compressed point of the 64 bytes x || y (SEC 1, section 2.3.3)."""
    return bytes([2 + (point[63] & 1)]) + point[:32]


def _unusable(message: str) -> TallyError:
    return TallyError("invalid_public_key", message)
