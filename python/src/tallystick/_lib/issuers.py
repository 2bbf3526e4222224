"""Issuer records, which follow from signed statements (spec/trust.md)."""

from __future__ import annotations

from datetime import datetime
from typing import Literal, TypeAlias, TypedDict, cast

from .canonical import canonical_bytes
from .did import public_key_of_did_key
from .ed25519 import Signer, verify_ed25519
from .encoding import from_base64url, to_base64url
from .errors import TallyError
from .json_types import JsonObject, JsonValue
from .receipts.read import read_json
from .shape import (
    constant,
    did,
    integer,
    is_object,
    key_id,
    members,
    nullable,
    one_of,
    pattern,
    signature,
    timestamp,
)
from .timestamps import format_timestamp, seconds_of, unix_ms
from .trust import (
    REVOCATION_REASONS,
    IssuerKey,
    IssuerRecord,
    KeyPurpose,
    RevocationReason,
    key_purpose,
)

Action: TypeAlias = Literal["register", "add_key", "retire_key", "revoke_key"]

_RECORD_TYPE = "svc-issuer-v1"
_STATEMENT_TYPE = "svc-issuer-statement-v1"


class IssuerStatement(TypedDict):
    """One step in the life of an issuer's keys, made to the service ``audience``."""

    type: str
    audience: str
    did: str
    sequence: int
    """Its place in the history, from 1, so that a statement cannot be replayed."""
    action: Action
    key_id: str
    """The did:key that is registered, added, retired or revoked."""
    purpose: str
    reason: RevocationReason | None
    at: str
    """When it takes effect."""
    signed_by: str


class SignedStatement(TypedDict):
    """A statement with the signature of ``signed_by`` and, if it adds a key, that key's proof."""

    statement: IssuerStatement
    signature: str
    proof: str | None


class IssuerDocument(IssuerRecord):
    """A published record: its keys follow from the history, which anyone can replay."""

    type: str
    sequence: int
    history: list[SignedStatement]


_signed_statement = members(
    {
        "statement": members(
            {
                "type": constant(_STATEMENT_TYPE),
                "audience": did,
                "did": pattern(
                    "did:svc:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?",
                    "did:svc: and a handle of a-z, 0-9 and -",
                ),
                "sequence": integer(1),
                "action": one_of("register", "add_key", "retire_key", "revoke_key"),
                "key_id": key_id,
                "purpose": key_purpose,
                "reason": nullable(one_of(*REVOCATION_REASONS)),
                "at": timestamp,
                "signed_by": key_id,
            },
            closed=True,
        ),
        "signature": signature,
        "proof": nullable(signature),
    },
    closed=True,
)


def sign_statement(
    signer: Signer,
    *,
    audience: str,
    did: str,
    sequence: int,
    action: Action,
    key_id: str,
    at: datetime,
    purpose: KeyPurpose = "receipt",
    reason: RevocationReason | None = None,
    incoming: Signer | None = None,
) -> SignedStatement:
    """Signs a statement with a current key and, if it adds a key, with that key too (``incoming``).

    ``at`` is written in whole seconds.
    """
    statement: IssuerStatement = {
        "type": _STATEMENT_TYPE,
        "audience": audience,
        "did": did,
        "sequence": sequence,
        "action": action,
        "key_id": key_id,
        "purpose": purpose,
        "reason": reason,
        "at": format_timestamp(unix_ms(at) // 1_000 * 1_000),
        "signed_by": signer.key_id,
    }
    message = _statement_bytes(statement)
    proof = None if incoming is None else to_base64url(incoming.sign(message))
    return {
        "statement": statement,
        "signature": to_base64url(signer.sign(message)),
        "proof": proof,
    }


def read_signed_statement(document: JsonValue | bytes | SignedStatement) -> SignedStatement:
    """Reads a statement and checks its form. Raises ``invalid_field``, ``json_*``."""
    copy = read_json(document)
    fault = _signed_statement(copy, "")
    if fault is not None:
        raise TallyError("invalid_field", str(fault), field=fault.field)
    return cast(SignedStatement, copy)


def apply_statement(document: IssuerDocument | None, signed: SignedStatement) -> IssuerDocument:
    """Returns the record after one more statement; ``document`` is ``None`` before the first.

    Raises ``issuer_exists``, ``issuer_not_found``, ``issuer_conflict``, ``issuer_proof_invalid``,
    ``invalid_field``, ``invalid_did``.
    """
    statement = signed["statement"]
    keys = [] if document is None else document["keys"]
    _require_place(document, statement)
    if statement["action"] != "register":
        _require_signer(keys, statement)
    _require_proof(statement, statement["signed_by"], signed["signature"], "signature")
    if statement["action"] == "add_key":
        _require_proof(statement, statement["key_id"], signed["proof"], "proof")
    elif signed["proof"] is not None:
        raise _wrong("proof", "Only the statement that adds a key carries a proof.")
    _require_change(_key_of(keys, statement["key_id"]), statement)
    return {
        "type": _RECORD_TYPE,
        "did": statement["did"],
        "status": "registered" if document is None else document["status"],
        "sequence": statement["sequence"],
        "keys": _changed_keys(keys, statement),
        "history": [*([] if document is None else document["history"]), signed],
    }


def check_issuer_document(document: JsonValue | bytes | IssuerDocument) -> IssuerDocument:
    """Checks that a published record follows from its history, and returns it.

    ``status`` is what the publisher says: only a trust bundle proves that an issuer is verified.
    Raises ``issuer_proof_invalid`` if the record is not what its history gives, and as
    ``apply_statement`` for a statement that is not valid.
    """
    copy = read_json(document)
    history = copy.get("history") if is_object(copy) else None
    if not is_object(copy) or not isinstance(history, list):
        raise _wrong("history", "The record has no history.")
    replayed: IssuerDocument | None = None
    for signed in history:
        replayed = apply_statement(replayed, read_signed_statement(signed))
    status: JsonValue = "registered" if copy.get("status") == "verified" else copy.get("status")
    if replayed is None or {**copy, "status": status} != replayed:
        message = "The record does not match its history."
        raise TallyError("issuer_proof_invalid", message)
    return cast(IssuerDocument, copy)


def _require_place(document: IssuerDocument | None, statement: IssuerStatement) -> None:
    issuer, registers = statement["did"], statement["action"] == "register"
    if registers and document is not None:
        message = f"{issuer} is already registered."
        raise TallyError("issuer_exists", message, field="statement.did")
    if registers and statement["signed_by"] != statement["key_id"]:
        message = "A registration must be signed by the key that it registers."
        raise _wrong("statement.signed_by", message)
    if not registers and document is None:
        message = f"{issuer} is not registered yet."
        raise TallyError("issuer_not_found", message, field="statement.did")
    if document is not None and document["did"] != issuer:
        message = f"The record is that of {document['did']}, not of {issuer}."
        raise _wrong("statement.did", message)
    following = 1 if document is None else document["sequence"] + 1
    if statement["sequence"] != following:
        message = f"The next statement is number {following}, not {statement['sequence']}."
        raise TallyError("issuer_conflict", message, field="statement.sequence")


def _require_signer(keys: list[IssuerKey], statement: IssuerStatement) -> None:
    """A former key does not count, whatever time it writes into the statement."""
    signer = _key_of(keys, statement["signed_by"])
    if signer is None or signer["purpose"] != "receipt" or signer["state"] != "active":
        message = f"{statement['signed_by']} is not a current receipt key of the issuer."
        raise TallyError("issuer_proof_invalid", message, field="statement.signed_by")


def _require_proof(statement: IssuerStatement, signer: str, proof: str | None, field: str) -> None:
    public_key = public_key_of_did_key(signer)
    message = _statement_bytes(statement)
    good = proof is not None and verify_ed25519(public_key, message, from_base64url(proof, 64))
    if not good:
        text = f"{field} does not hold: {signer} did not sign exactly this statement."
        raise TallyError("issuer_proof_invalid", text, field=field)


def _require_change(key: IssuerKey | None, statement: IssuerStatement) -> None:
    """A key is added once and never comes back; a revocation can only become stricter."""
    field, name, action = "statement.key_id", statement["key_id"], statement["action"]
    if action in ("register", "add_key"):
        if key is not None:
            raise _wrong(field, f"{name} is already in the record.")
        return
    if key is None:
        raise _wrong(field, f"{name} is not in the record.")
    if action == "retire_key" and key["state"] != "active":
        raise _wrong(field, f"{name} is {key['state']} already.")
    revoked = key["revoked"]
    if action == "revoke_key" and revoked is not None:
        milder = revoked["reason"] == "compromised" and statement["reason"] != "compromised"
        if milder or seconds_of(statement["at"]) > seconds_of(revoked["at"]):
            message = f"{name} was revoked at {revoked['at']}; that can only grow stricter."
            raise _wrong(field, message)


def _changed_keys(keys: list[IssuerKey], statement: IssuerStatement) -> list[IssuerKey]:
    action, name, at = statement["action"], statement["key_id"], statement["at"]
    if action in ("register", "add_key"):
        added: IssuerKey = {
            "key_id": name,
            "public_key": to_base64url(public_key_of_did_key(name)),
            "purpose": statement["purpose"],
            "state": "active",
            "valid_from": at,
            "valid_until": None,
            "revoked": None,
        }
        return [*keys, added]
    return [_ended(key, statement) if key["key_id"] == name else key for key in keys]


def _ended(key: IssuerKey, statement: IssuerStatement) -> IssuerKey:
    at = statement["at"]
    if statement["action"] == "retire_key":
        return {**key, "state": "retired", "valid_until": at}
    reason = statement["reason"] or "unspecified"
    return {**key, "state": "revoked", "revoked": {"at": at, "reason": reason}}


def _key_of(keys: list[IssuerKey], name: str) -> IssuerKey | None:
    return next((key for key in keys if key["key_id"] == name), None)


def _statement_bytes(statement: IssuerStatement) -> bytes:
    return canonical_bytes(cast(JsonObject, statement))


def _wrong(field: str, message: str) -> TallyError:
    return TallyError("invalid_field", message, field=field)
