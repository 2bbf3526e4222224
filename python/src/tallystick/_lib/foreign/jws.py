"""JWS in their compact form (RFC 7515, section 7.1)."""

from __future__ import annotations

from typing import NamedTuple, cast

from ..canonical import parse_json
from ..encoding import from_base64url
from ..json_types import JsonValue
from ..shape import is_object, members, one_of, text
from .family import Algorithm, ForeignFormError, ForeignSignature, or_fault, require_form
from .keys import ForeignKey, key_of_did_key, key_of_jwk, or_none

_header = members({"alg": one_of("EdDSA", "ES256", "ES256K")}, optional={"kid": text})


class Jws(NamedTuple):
    """What a JWS says, and its signature."""

    payload: JsonValue
    signature: ForeignSignature


def read_jws(jws: str) -> Jws:
    """Raises ``ForeignFormError``."""
    parts = jws.split(".")
    if len(parts) != 3:
        raise ForeignFormError("The JWS has not three parts.")
    head, body, signature = parts
    header, payload, data = or_fault(
        lambda: (
            parse_json(from_base64url(head)),
            parse_json(from_base64url(body)),
            from_base64url(signature),
        ),
        "The JWS is not base64url of JSON.",
    )
    if not is_object(header):
        raise ForeignFormError("The header of the JWS is not an object.")
    require_form(_header, header)
    if "crit" in header:
        raise ForeignFormError("The JWS has critical extensions, which are not supported.")
    kid = cast("str | None", header.get("kid"))
    return Jws(
        payload,
        ForeignSignature(
            cast(Algorithm, header["alg"]),
            f"{head}.{body}".encode(),
            data,
            None if kid is None else or_none(lambda: _key_in_did(kid)),
            kid,
        ),
    )


def _key_in_did(kid: str) -> ForeignKey | None:
    """The key that a DID URL of did:key or did:jwk contains; ``None`` for another method."""
    did = kid.partition("#")[0]
    if did.startswith("did:key:"):
        return key_of_did_key(did)
    if did.startswith("did:jwk:"):
        return key_of_jwk(parse_json(from_base64url(did.removeprefix("did:jwk:"))))
    return None
