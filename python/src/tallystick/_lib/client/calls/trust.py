"""Requests about issuers, trust and what the service says of itself."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timezone

import httpx

from ....documents import DidDocument, Payable, Status
from ...did import did_svc
from ...errors import TallyError
from ...issue import SigningKey, signer_of
from ...issuers import IssuerDocument, SignedStatement, check_issuer_document, sign_statement
from ...json_types import JsonValue
from ...trust import CheckedTrust, check_trust
from ..service import Service, segment
from ..wire import Call, json_in, object_in

_DID_DOCUMENT = "/.well-known/did.json"


def service_did(service: Service) -> Call[str]:
    return service.get(_DID_DOCUMENT, _service_did_in)


def register_issuer(
    service: Service, handle: str, issuer_key: SigningKey, audience: str, key: str | None
) -> Call[IssuerDocument]:
    signer = signer_of(issuer_key)
    statement = sign_statement(
        signer,
        audience=audience,
        did=did_svc(handle),
        sequence=1,
        action="register",
        key_id=signer.key_id,
        at=datetime.now(timezone.utc),
    )
    return submit_issuer_statement(service, statement, key)


def submit_issuer_statement(
    service: Service, statement: SignedStatement, key: str | None
) -> Call[IssuerDocument]:
    # The member proof is null in most statements.
    read = _record_of(statement["statement"]["did"])
    return service.post("/v1/issuers", statement, read, key=key, keep_none=True)


def issuer(service: Service, did: str) -> Call[IssuerDocument]:
    return service.get(f"/.well-known/issuers/{segment(did, 'did')}.json", _record_of(did))


def fetch_trust(service: Service) -> Call[JsonValue]:
    return service.get("/.well-known/trust.json", json_in)


def trust_version(service: Service, version: int, root: str | None) -> Call[CheckedTrust]:
    def read(response: httpx.Response) -> CheckedTrust:
        long_ago = datetime.fromtimestamp(0, timezone.utc)
        checked = check_trust(json_in(response), now=long_ago, root=root)
        if checked.bundle["version"] == version:
            return checked
        message = f"The bundle is of version {checked.bundle['version']}, not {version}."
        raise TallyError("trust_invalid", message)

    return service.get(f"/.well-known/trust/{version}.json", read)


def get_did_document(service: Service) -> Call[DidDocument]:
    return service.get(_DID_DOCUMENT)


def get_status(service: Service) -> Call[Status]:
    return service.get("/status")


def list_payable_resources(service: Service) -> Call[Payable]:
    return service.get("/.well-known/x402")


def _record_of(did: str) -> Callable[[httpx.Response], IssuerDocument]:
    def read(response: httpx.Response) -> IssuerDocument:
        record = check_issuer_document(json_in(response))
        if record["did"] != did:
            message = f"The record is that of {record['did']}, not of {did}."
            raise TallyError("issuer_proof_invalid", message)
        return record

    return read


def _service_did_in(response: httpx.Response) -> str:
    names = object_in(response).get("alsoKnownAs")
    if not isinstance(names, list) or not names or not isinstance(names[0], str):
        message = "The service does not state its DID. Give it as audience."
        raise TallyError("unavailable", message, status=response.status_code)
    return names[0]
