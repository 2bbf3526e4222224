"""Every call of the service as a request, without sending it (``packages/server/src/routes``)."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import datetime, timezone
from typing import Any, TypeVar, cast
from urllib.parse import quote

import httpx

from ..canonical import canonical_bytes, copy_json
from ..did import did_svc
from ..errors import TallyError
from ..issue import SigningKey, signer_of
from ..issuers import IssuerDocument, check_issuer_document, sign_statement
from ..json_types import Document, JsonLike, JsonObject, JsonValue
from ..log.anchored import Anchor
from ..metering import EvidenceClass, EvidenceCounts, IssuedBill, MeteringBill
from ..receipts.documents import EnvelopeReceipt
from ..receipts.issued import Issued
from ..receipts.profiles import Profile, ProfileReceipt, StoredReceipt
from ..receipts.read import read_json
from ..shape import is_object
from ..trust import CheckedTrust, TrustPin, check_trust
from ..verify import Verification
from .anchors import HashOrReceipt, canonical_sha256, hash_batches
from .params import Counterparty, EmitParams
from .wire import AsyncLeaves, Call, Leaves, bill_lines, json_in, not_understood, object_in

T = TypeVar("T")

# What the service takes in one request: 500 receipts, and 1 MiB.
_MAX_BATCH = 500
_MAX_BATCH_BYTES = 1_000_000

_MAX_JSON_LEAVES = 1_000
"""Up to here evidence goes in one JSON body; a leaf is about 100 bytes."""


class Calls:
    """Requests to the addresses of one service."""

    def __init__(
        self,
        base_url: str,
        *,
        api_url: str | None,
        site_url: str | None,
        api_key: str | None,
        agent_did: str | None,
    ) -> None:
        self._receipts_url = _service_url(base_url, "base_url")
        self._api_url = _service_url(api_url or base_url, "api_url")
        self._site_url = _service_url(site_url or base_url, "site_url")
        self.api_key = api_key
        self._agent_did = agent_did

    def mint_free(
        self,
        input: str,
        purpose: str,
        declared: tuple[str | None, str | None, bool | None],
        anchor: bool,
        key: str | None,
    ) -> Call[Issued[EnvelopeReceipt]]:
        names = ("policy_hash", "response_hash", "response_sealed")
        members = {
            name: value for name, value in zip(names, declared, strict=True) if value is not None
        }
        body: JsonObject = {"input": input, "purpose": purpose, **members}
        if anchor:
            body["anchor"] = True
        return self._post("/v1/receipt/free", body, _issued, key)

    def emit(
        self, profile: Profile, params: EmitParams, key: str | None
    ) -> Call[Issued[ProfileReceipt]]:
        path = f"/v1/receipt/emit?profile={quote(profile, safe='')}"
        return self._post(path, params, _issued, key)

    def metering(
        self,
        bill: MeteringBill | JsonObject,
        evidence: Leaves | AsyncLeaves,
        policy: EvidenceClass | None,
        anchor: bool,
        key: str | None,
    ) -> Call[IssuedBill]:
        options: JsonObject = {} if policy is None else {"evidence_policy": policy}
        billed = {**cast(JsonObject, bill), **options, **({"anchor": True} if anchor else {})}
        path = "/v1/receipt/metering"
        if isinstance(evidence, (list, tuple)) and _is_short(evidence):
            return self._post(path, {**billed, "evidence": list(evidence)}, _issued_bill, key)
        key = key or _fresh_key()
        headers = {**self._headers(key), "content-type": "application/x-ndjson"}
        lines = bill_lines(billed, evidence)
        return Call("POST", self._receipts_url + path, _issued_bill, headers, lines)

    def get_receipt(self, receipt_id: str) -> Call[Issued[StoredReceipt]]:
        path = f"/v1/receipt/{quote(receipt_id, safe='')}"
        return Call("GET", self._receipts_url + path, _issued, self._headers())

    def verify(
        self,
        receipt: Document,
        evidence: Iterable[JsonLike] | None,
        anchor: Document,
    ) -> Call[Verification]:
        body: JsonObject = {"receipt": read_json(receipt)}
        if anchor is not None:
            body["anchor"] = read_json(anchor)
        if evidence is not None:
            body["evidence"] = [copy_json(one) for one in evidence]
        return self._post("/v1/receipt/verify", body, _verdict, None)

    def verify_many(self, receipts: Iterable[Document]) -> Iterator[Call[list[Verification]]]:
        for batch in _batches(receipts):
            yield self._post("/v1/receipts/verify", {"receipts": batch}, _verdicts, None)

    def pricing(self) -> Call[JsonObject]:
        return Call("GET", f"{self._receipts_url}/pricing", object_in, self._headers())

    def select_profile(
        self,
        intent: str | None,
        amount: float | str | None,
        counterparty: str | Counterparty | None,
    ) -> Call[JsonObject]:
        members = {"intent": intent, "amount": amount, "counterparty": counterparty}
        body = {name: value for name, value in members.items() if value is not None}
        return self._post("/v1/rubric/select", body, object_in, None)

    def service_did(self) -> Call[str]:
        return Call("GET", f"{self._site_url}/.well-known/did.json", _service_did)

    def register_issuer(
        self, handle: str, issuer_key: SigningKey, audience: str, key: str | None
    ) -> Call[IssuerDocument]:
        did, signer = did_svc(handle), signer_of(issuer_key)
        statement = sign_statement(
            signer,
            audience=audience,
            did=did,
            sequence=1,
            action="register",
            key_id=signer.key_id,
            at=datetime.now(timezone.utc),
        )
        return self._post("/v1/issuers", statement, _record_of(did), key)

    def issuer(self, did: str) -> Call[IssuerDocument]:
        path = f"/.well-known/issuers/{quote(did, safe='')}.json"
        return Call("GET", self._site_url + path, _record_of(did))

    def fetch_trust(self, pin: TrustPin | None, root: str | None) -> Call[CheckedTrust]:
        def read(response: httpx.Response) -> CheckedTrust:
            return check_trust(json_in(response), pin=pin, root=root)

        return Call("GET", f"{self._site_url}/.well-known/trust.json", read)

    def anchor(self, given: HashOrReceipt, key: str | None) -> Call[Anchor]:
        body = {"canonical_sha256": canonical_sha256(given)}
        return self._post(f"{self._api_url}/v1/anchor", body, _anchor, key)

    def anchor_batch(self, hashes: Iterable[HashOrReceipt]) -> Iterator[Call[list[Anchor]]]:
        for batch in hash_batches(hashes):
            url, body = f"{self._api_url}/v1/anchor/batch", {"canonical_sha256": batch}
            yield self._post(url, body, _anchors, None)

    def get_anchor(self, anchor_ref: str) -> Call[Anchor]:
        url = f"{self._api_url}/v1/anchor/{quote(anchor_ref, safe='')}"
        return Call("GET", url, _anchor, self._headers())

    def get_anchor_by_hash(self, given: HashOrReceipt) -> Call[Anchor]:
        url = f"{self._api_url}/v1/anchor/by-hash/{canonical_sha256(given)}"
        return Call("GET", url, _anchor, self._headers())

    def find_anchor(self, ref_or_hash: HashOrReceipt) -> Call[Anchor]:
        if isinstance(ref_or_hash, str) and ref_or_hash.startswith("urn:"):
            return self.get_anchor(ref_or_hash)
        return self.get_anchor_by_hash(ref_or_hash)

    def _post(
        self,
        path: str,
        body: Mapping[str, object],
        read: Callable[[httpx.Response], T],
        key: str | None,
    ) -> Call[T]:
        url = path if "://" in path else self._receipts_url + path
        headers = {
            **self._headers(key or _fresh_key()),
            "content-type": "application/json",
        }
        return Call("POST", url, read, headers, canonical_bytes(copy_json(dict(body))))

    def _headers(self, idempotency_key: str | None = None) -> dict[str, str]:
        members = {
            "authorization": None if self.api_key is None else f"Bearer {self.api_key}",
            "x-agent-did": self._agent_did,
            "idempotency-key": idempotency_key,
        }
        return {name: value for name, value in members.items() if value is not None}


def _fresh_key() -> str:
    return secrets.token_hex(16)


def _service_url(text: str, member: str) -> str:
    """Scheme, host, port and perhaps a path, no trailing slash. Raises ``invalid_field``."""
    try:
        url = httpx.URL(text)
    except httpx.InvalidURL:
        url = httpx.URL("")
    plain = not (url.userinfo or url.query or url.fragment)
    if url.scheme not in ("http", "https") or url.host == "" or not plain:
        message = f"{text!r} is not the URL of a service, such as https://receipts.example.com."
        raise TallyError("invalid_field", message, field=member)
    return str(url).rstrip("/")


def _batches(receipts: Iterable[Document]) -> Iterator[list[JsonValue]]:
    batch: list[JsonValue] = []
    size = 0
    for receipt in receipts:
        document = read_json(receipt)
        length = len(canonical_bytes(document)) + 1
        if batch and (len(batch) == _MAX_BATCH or size + length > _MAX_BATCH_BYTES):
            yield batch
            batch, size = [], 0
        batch.append(document)
        size += length
    if batch:
        yield batch


def _is_short(evidence: Sequence[JsonValue]) -> bool:
    """Whether it is few leaves and nothing else: receipts are too large for one document."""
    large = (is_object(one) and {"receipt", "anchor"} & one.keys() for one in evidence)
    return len(evidence) <= _MAX_JSON_LEAVES and not any(large)


def _issued_bill(response: httpx.Response) -> IssuedBill:
    issued = _issued(response)
    return IssuedBill(issued.receipt, issued.text, _counts_in(response.headers))


def _counts_in(headers: Mapping[str, str]) -> EvidenceCounts | None:
    names = ("verified", "logged", "hashed", "trusted", "in-window")
    found = [headers.get(f"x-evidence-{name}", "") for name in names]
    return EvidenceCounts(*map(int, found)) if all(text.isdecimal() for text in found) else None


def _issued(response: httpx.Response) -> Issued[Any]:
    return Issued(cast(Any, object_in(response)), response.content.decode())


def _anchor(response: httpx.Response) -> Anchor:
    return _read_anchor(json_in(response), response)


def _anchors(response: httpx.Response) -> list[Anchor]:
    results = object_in(response).get("results")
    if not isinstance(results, list):
        raise not_understood(response)
    return [_read_anchor(result, response) for result in results]


def _read_anchor(document: JsonValue, response: httpx.Response) -> Anchor:
    """Pending or anchored; whether the latter holds, verifying says."""
    if not is_object(document) or not isinstance(document.get("anchor_ref"), str):
        raise not_understood(response)
    if "batch_id" in document and type(document.get("eta_seconds")) is not int:
        raise not_understood(response)
    return cast(Anchor, document)


def _verdict(response: httpx.Response) -> Verification:
    return _read_verdict(json_in(response), response)


def _verdicts(response: httpx.Response) -> list[Verification]:
    results = object_in(response).get("results")
    if not isinstance(results, list):
        raise not_understood(response)
    return [_read_verdict(result, response) for result in results]


def _read_verdict(document: JsonValue, response: httpx.Response) -> Verification:
    try:
        return Verification.from_json(document)
    except (KeyError, TypeError) as cause:
        raise not_understood(response) from cause


def _record_of(did: str) -> Callable[[httpx.Response], IssuerDocument]:
    def read(response: httpx.Response) -> IssuerDocument:
        record = check_issuer_document(json_in(response))
        if record["did"] != did:
            message = f"The record is that of {record['did']}, not of {did}."
            raise TallyError("issuer_proof_invalid", message)
        return record

    return read


def _service_did(response: httpx.Response) -> str:
    names = object_in(response).get("alsoKnownAs")
    if not isinstance(names, list) or not names or not isinstance(names[0], str):
        message = "The service does not state its DID. Give it as audience."
        raise TallyError("unavailable", message, status=response.status_code)
    return names[0]
