"""The blocking client."""

from __future__ import annotations

import time
from collections.abc import Iterable
from itertools import count
from types import TracebackType
from typing import TYPE_CHECKING, Literal, TypeVar, overload

import httpx

from ..errors import TallyError
from ..issue import AnchorError, IssuedByIssuer, SigningKey, sign_issue
from ..issuers import IssuerDocument
from ..json_types import Document, JsonLike, JsonObject, JsonValue
from ..log.anchored import Anchor, AnchoredResult
from ..metering import EvidenceClass, IssuedBill, MeteringBill
from ..receipts.documents import EnvelopeReceipt
from ..receipts.issued import Issued
from ..receipts.profiles import (
    DEFAULT_PROFILE,
    NanoReceipt,
    PqReceipt,
    Profile,
    ProfileReceipt,
    StandardReceipt,
    StoredReceipt,
)
from ..trust import CheckedTrust, TrustPin
from ..verify import Verification
from .agent_auth import AgentAuth, proof
from .anchors import HashOrReceipt, Waiting
from .calls import Calls
from .params import Counterparty, EmitParams, IssueParams
from .retry import RetryPolicy
from .wire import Call, Lines, refusal, unreached

if TYPE_CHECKING:
    from typing_extensions import Unpack

T = TypeVar("T")


class Client:
    """A client of one service. Thread-safe; close it, or use it in a ``with`` block.

    All methods raise ``TallyError``: the service's own code, or ``unavailable`` where nothing
    answered in time or something that is not the service did. ``idempotency_key`` is 1 to 255
    visible ASCII characters: the same key with the same parameters gets the same answer for 72
    hours. A fresh random one when absent, so that the client's own retries never act twice.
    """

    def __init__(
        self,
        base_url: str,
        *,
        api_url: str | None = None,
        site_url: str | None = None,
        api_key: str | None = None,
        agent_did: str | None = None,
        agent: AgentAuth | None = None,
        timeout: float = 30.0,
        retry: RetryPolicy | None = None,
        http_client: httpx.Client | None = None,
    ) -> None:
        """``base_url`` has the receipts; anchors and issuers may be at addresses of their own.

        ``api_key`` is sent as ``Authorization: Bearer``, ``agent_did`` as ``X-Agent-DID``, to the
        receipts and anchors only. ``agent`` in place of ``agent_did`` proves the DID: what is not
        streamed is signed, and the addresses are then the service's public ones to the letter.
        ``timeout`` is in seconds, for each step of an attempt. A ``http_client`` that is given
        brings its own timeout, and stays open. Raises ``invalid_field`` for an address that is
        none.
        """
        self._calls = Calls(
            base_url,
            api_url=api_url,
            site_url=site_url,
            api_key=api_key,
            agent_did=agent.did if agent else agent_did,
        )
        self._agent = agent
        self._retry = retry or RetryPolicy()
        self._own = http_client is None
        self._http = http_client or httpx.Client(timeout=timeout)

    def __enter__(self) -> Client:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """Closes the connections. Idempotent."""
        if self._own:
            self._http.close()

    def mint_free(
        self,
        input: str,
        purpose: str,
        *,
        policy_hash: str | None = None,
        response_hash: str | None = None,
        response_sealed: bool | None = None,
        anchor: bool = False,
        idempotency_key: str | None = None,
    ) -> Issued[EnvelopeReceipt]:
        """Mints a free receipt. ``input`` is hashed as UTF-8 and not stored; ``purpose`` signed.

        ``policy_hash`` and ``response_hash`` are ``sha256:<64 hex>``; what you say of policy and
        response is signed as declared.
        """
        declared = (policy_hash, response_hash, response_sealed)
        return self._send(self._calls.mint_free(input, purpose, declared, anchor, idempotency_key))

    @overload
    def emit(
        self,
        *,
        profile: Literal["standard"] = "standard",
        idempotency_key: str | None = None,
        **params: Unpack[EmitParams],
    ) -> Issued[StandardReceipt]: ...

    @overload
    def emit(
        self,
        *,
        profile: Literal["nano"],
        idempotency_key: str | None = None,
        **params: Unpack[EmitParams],
    ) -> Issued[NanoReceipt]: ...

    @overload
    def emit(
        self,
        *,
        profile: Literal["pq"],
        idempotency_key: str | None = None,
        **params: Unpack[EmitParams],
    ) -> Issued[PqReceipt]: ...

    @overload
    def emit(
        self,
        *,
        profile: Profile,
        idempotency_key: str | None = None,
        **params: Unpack[EmitParams],
    ) -> Issued[ProfileReceipt]: ...

    def emit(
        self,
        *,
        profile: Profile = DEFAULT_PROFILE,
        idempotency_key: str | None = None,
        **params: Unpack[EmitParams],
    ) -> Issued[ProfileReceipt]:
        """Emits a receipt of a profile, over one of payload, input and payload_sha256."""
        return self._send(self._calls.emit(profile, params, idempotency_key))

    def metering(
        self,
        bill: MeteringBill | JsonObject,
        evidence: Iterable[JsonValue] = (),
        *,
        evidence_policy: EvidenceClass | None = None,
        anchor: bool = False,
        idempotency_key: str | None = None,
    ) -> IssuedBill:
        """Mints a metering receipt for a bill (``build_bill``) and its evidence, in order.

        Evidence is leaves (``evidence_leaf``) or whole receipts (``evidence_receipt``), which the
        service verifies; ``evidence_policy`` is the least that is accepted of each: ``hashed`` when
        absent. A list of up to 1,000 leaves is sent as JSON. Anything else is streamed as it is
        read, up to 10,000,000; a generator can be read once, so that its call is not tried again.
        """
        return self._send(
            self._calls.metering(bill, evidence, evidence_policy, anchor, idempotency_key)
        )

    def get_receipt(self, receipt_id: str) -> Issued[StoredReceipt]:
        """A receipt that the service keeps, to the byte as it was answered."""
        return self._send(self._calls.get_receipt(receipt_id))

    def verify(
        self,
        receipt: Document,
        *,
        evidence: Iterable[JsonLike] | None = None,
        anchor: Document = None,
    ) -> Verification:
        """The service's verdict, by its own trust. ``tallystick.verify`` needs no service."""
        return self._send(self._calls.verify(receipt, evidence, anchor))

    def verify_many(self, receipts: Iterable[Document]) -> list[Verification]:
        """Verdicts in the order of the receipts, in as many requests as that takes."""
        return [one for call in self._calls.verify_many(receipts) for one in self._send(call)]

    def pricing(self) -> JsonObject:
        """The price ladder. Amounts are decimal text in US dollars."""
        return self._send(self._calls.pricing())

    def select_profile(
        self,
        *,
        intent: str | None = None,
        amount: float | str | None = None,
        counterparty: str | Counterparty | None = None,
    ) -> JsonObject:
        """Which profile to take, and why. ``amount`` is US dollars, also as decimal text."""
        return self._send(self._calls.select_profile(intent, amount, counterparty))

    def register_issuer(
        self,
        handle: str,
        key: SigningKey,
        *,
        audience: str | None = None,
        idempotency_key: str | None = None,
    ) -> IssuerDocument:
        """Registers ``did:svc:<handle>`` with proof that the caller holds the key.

        ``audience`` is the DID of the service: what it says of itself when absent.
        """
        if audience is None:
            audience = self._send(self._calls.service_did())
        return self._send(self._calls.register_issuer(handle, key, audience, idempotency_key))

    def issuer(self, did: str) -> IssuerDocument:
        """An issuer's record, after its keys were found to follow from its signed history."""
        return self._send(self._calls.issuer(did))

    def fetch_trust(self, *, pin: TrustPin | None = None, root: str | None = None) -> CheckedTrust:
        """The trust bundle, checked. Keep ``pin`` of the answer, and give it the next time.

        Without a pin the first root seen is believed: give ``root``, its fingerprint.
        """
        return self._send(self._calls.fetch_trust(pin, root))

    def anchor(
        self, hash_or_receipt: HashOrReceipt, *, idempotency_key: str | None = None
    ) -> Anchor:
        """Has a hash, or that of a receipt, anchored; nothing else of the receipt is sent.

        Needs an API key. The same hash again has the same place and costs nothing. Of a
        ``quota_exceeded``, ``retry_after`` has the seconds until the next month.
        """
        return self._send(self._calls.anchor(hash_or_receipt, idempotency_key))

    def anchor_batch(self, hashes: Iterable[HashOrReceipt]) -> list[Anchor]:
        """Has any number of hashes anchored; where they stand, in their order.

        10,000 go in each request, of which the service takes all or none. Where a later request is
        refused, giving them all again costs nothing for those that have a place.
        """
        return [one for call in self._calls.anchor_batch(hashes) for one in self._send(call)]

    def get_anchor(self, anchor_ref: str) -> Anchor:
        """Where a reference, pending or anchored, stands now. Needs no key."""
        return self._send(self._calls.get_anchor(anchor_ref))

    def get_anchor_by_hash(self, hash_or_receipt: HashOrReceipt) -> Anchor:
        """Where a hash stands now, whoever had it anchored. Needs no key."""
        return self._send(self._calls.get_anchor_by_hash(hash_or_receipt))

    def wait_for_anchor(
        self, ref_or_hash: HashOrReceipt, *, timeout: float = 7_200.0
    ) -> AnchoredResult:
        """Waits until a hash is anchored; by its reference, or what ``anchor`` takes.

        Asks again when the root should be posted, then ever less often. Once the hash is known to
        be pending, a service that is busy or out of reach is waited for too. ``timeout`` is in
        seconds, for the whole wait; ``unavailable`` when it is still pending then, with
        ``eta_seconds`` as ``retry_after``.
        """
        waiting = Waiting(timeout, time.monotonic())
        while True:
            try:
                anchor = self._send(self._calls.find_anchor(ref_or_hash))
            except TallyError as failure:
                anchor = waiting.outlast(failure)
            if "batch_id" not in anchor:
                return anchor
            time.sleep(waiting.pause(anchor, time.monotonic()))

    def issue(
        self,
        *,
        anchor: bool = False,
        idempotency_key: str | None = None,
        **params: Unpack[IssueParams],
    ) -> IssuedByIssuer:
        """``tallystick.issue`` with this client's service and API key."""
        issued = sign_issue(**params)
        if not anchor:
            return IssuedByIssuer(issued.receipt, issued.text)
        try:
            result = self.anchor(issued.text, idempotency_key=idempotency_key)
        except TallyError as refused:
            raise AnchorError(refused, issued) from refused
        return IssuedByIssuer.anchored(issued, result, self._calls.api_key)

    def _send(self, call: Call[T]) -> T:
        for attempt in count():
            failure: TallyError | None
            try:
                response = self._http.request(
                    call.method,
                    call.url,
                    headers=call.headers,
                    content=_content(call),
                    auth=proof(self._agent, call),
                )
            except httpx.RequestError as error:
                failure = unreached(call.url, error)
            else:
                failure = refusal(response)
                if failure is None:
                    return call.read(response)
            delay = self._retry.delay(failure, attempt) if call.repeatable else None
            if delay is None:
                raise failure
            time.sleep(delay)
        raise AssertionError("count() does not end")


def _content(call: Call[T]) -> bytes | Iterable[bytes] | None:
    return call.body.chunks() if isinstance(call.body, Lines) else call.body


def issue(
    symbol: str,
    units: int,
    amount_usd: float,
    recipient: str,
    issuer_sk: SigningKey,
    api_key: str | None = None,
    anchor: bool = False,
    *,
    base_url: str | None = None,
    issuer_did: str | None = None,
    issuer_verified: bool = False,
) -> IssuedByIssuer:
    """Issues a receipt ``svc-issue-v1``, signed here with the issuer's key.

    ``units`` is a whole number from 0, ``amount_usd`` dollars from 0, ``recipient`` who
    receives (a DID, an EVM or Solana address, or an account of another chain in CAIP-10 form),
    ``issuer_did`` the DID that the key is registered under, ``issuer_verified`` the
    claim that the service has verified that DID, which whoever verifies looks up. Only with
    ``anchor`` is anything sent, to ``base_url`` with ``api_key``, and then only the hash.

    Raises ``invalid_field``, ``invalid_secret_key``, ``missing_field`` for ``anchor`` without
    ``base_url``, and ``AnchorError``, which holds the signed receipt.
    """
    params: IssueParams = {
        "symbol": symbol,
        "units": units,
        "amount_usd": amount_usd,
        "recipient": recipient,
        "issuer_sk": issuer_sk,
        "issuer_did": issuer_did,
        "issuer_verified": issuer_verified,
    }
    if not anchor:
        issued = sign_issue(**params)
        return IssuedByIssuer(issued.receipt, issued.text)
    if base_url is None:
        message = "Anchoring needs the service: give base_url."
        raise TallyError("missing_field", message, field="base_url")
    with Client(base_url, api_key=api_key) as client:
        return client.issue(anchor=True, **params)
