"""Methods about receipts."""

from __future__ import annotations

from collections.abc import AsyncIterable, Iterable
from typing import TYPE_CHECKING, Literal, overload

from ....documents import Corrections, Pricing, Recommendation
from ...json_types import Document, JsonLike, JsonObject, JsonValue
from ...metering import EvidenceClass, IssuedBill, MeteringBill
from ...receipts.documents import EnvelopeReceipt
from ...receipts.issued import Issued
from ...receipts.profiles import (
    DEFAULT_PROFILE,
    NanoReceipt,
    PqReceipt,
    Profile,
    ProfileReceipt,
    StandardReceipt,
    StoredReceipt,
)
from ...verify import Verification
from ..calls import receipts
from ..params import Counterparty, EmitParams
from .sender import AsyncSender

if TYPE_CHECKING:
    from typing_extensions import Unpack


class AsyncReceiptMethods(AsyncSender):
    """Minting, emitting, metering, reading and verifying receipts."""

    async def mint_free(
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
        """Mints a free receipt, without an account or a key.

        The service hashes ``input`` as UTF-8 and does not store it. ``purpose`` is signed.
        ``policy_hash`` and ``response_hash`` are ``sha256:<64 hex>``; what you say of policy and
        response is signed as declared. ``anchor`` needs an API key.
        """
        members = {
            "input": input,
            "purpose": purpose,
            "policy_hash": policy_hash,
            "response_hash": response_hash,
            "response_sealed": response_sealed,
        }
        return await self._send(receipts.mint_free(self._service, members, anchor, idempotency_key))

    @overload
    async def emit(
        self,
        *,
        profile: Literal["standard"] = "standard",
        idempotency_key: str | None = None,
        **params: Unpack[EmitParams],
    ) -> Issued[StandardReceipt]: ...

    @overload
    async def emit(
        self,
        *,
        profile: Literal["nano"],
        idempotency_key: str | None = None,
        **params: Unpack[EmitParams],
    ) -> Issued[NanoReceipt]: ...

    @overload
    async def emit(
        self,
        *,
        profile: Literal["pq"],
        idempotency_key: str | None = None,
        **params: Unpack[EmitParams],
    ) -> Issued[PqReceipt]: ...

    @overload
    async def emit(
        self,
        *,
        profile: Profile,
        idempotency_key: str | None = None,
        **params: Unpack[EmitParams],
    ) -> Issued[ProfileReceipt]: ...

    async def emit(
        self,
        *,
        profile: Profile = DEFAULT_PROFILE,
        idempotency_key: str | None = None,
        **params: Unpack[EmitParams],
    ) -> Issued[ProfileReceipt]:
        """Emits a receipt of a profile, about one of payload, input and payload_sha256."""
        return await self._send(receipts.emit(self._service, profile, params, idempotency_key))

    async def meter(
        self,
        bill: MeteringBill | JsonObject,
        evidence: Iterable[JsonValue] | AsyncIterable[JsonValue] = (),
        *,
        evidence_policy: EvidenceClass | None = None,
        anchor: bool = False,
        idempotency_key: str | None = None,
    ) -> IssuedBill:
        """Has a metering receipt signed for a bill (``build_bill``) and its evidence, in order.

        Evidence is leaves (``evidence_leaf``) or whole receipts (``evidence_receipt``), which the
        service verifies. ``evidence_policy`` is the least class that is accepted of each item:
        ``hashed`` when absent. A list of up to 1,000 leaves is sent as JSON. Anything else is
        streamed as it is read, up to 10,000,000 items. A generator can be read only once, so a call
        with a generator is not tried again.
        """
        call = receipts.meter(
            self._service, bill, evidence, evidence_policy, anchor, idempotency_key
        )
        return await self._send(call)

    async def get_attestation(self, attestation: str) -> bytes:
        """Reads the evidence of hardware that a receipt names in ``hardware.attestation``.

        Give that value, or its 64 hex characters alone. The SHA-256 of the evidence is checked:
        raises ``attestation_invalid`` if the service sends something else. Needs no key.
        ``tally attest verify`` judges the evidence.
        """
        return await self._send(receipts.get_attestation(self._service, attestation))

    async def get_receipt(self, receipt_id: str) -> Issued[StoredReceipt]:
        """Reads a receipt that the service keeps, with its exact text."""
        return await self._send(receipts.get_receipt(self._service, receipt_id))

    async def correct_receipt(
        self,
        corrects: str,
        correction: str,
        *,
        reason: str | None = None,
        idempotency_key: str | None = None,
    ) -> Issued[EnvelopeReceipt]:
        """Has an envelope signed and anchored that says that one receipt corrects another.

        Both are given by their ids, and belong to the account of the client's key. ``reason`` is
        signed. The same request again returns the same envelope. Raises ``receipt_not_found``,
        ``receipt_purged``, ``already_corrected`` and ``invalid_field``.
        """
        return await self._send(
            receipts.correct_receipt(self._service, corrects, correction, reason, idempotency_key)
        )

    async def get_corrections(self, receipt_id: str) -> Corrections:
        """Reads what corrects a receipt, and what it corrects.

        ``verify_corrections`` judges the receipts and what links them.
        """
        return await self._send(receipts.get_corrections(self._service, receipt_id))

    async def verify(
        self,
        receipt: Document,
        *,
        evidence: Iterable[JsonLike] | None = None,
        anchor: Document = None,
    ) -> Verification:
        """Asks the service to verify a receipt, by its own trust.

        ``tallystick.verify`` needs no service.
        """
        return await self._send(receipts.verify(self._service, receipt, evidence, anchor))

    async def verify_many(self, given: Iterable[Document]) -> list[Verification]:
        """Asks the service to verify any number of receipts, in as many requests as needed.

        Returns the verdicts in the order of the receipts.
        """
        verdicts: list[Verification] = []
        for call in receipts.verify_many(self._service, given):
            verdicts += await self._send(call)
        return verdicts

    async def pricing(self) -> Pricing:
        """Reads the price ladder. Amounts are decimal text in US dollars."""
        return await self._send(receipts.pricing(self._service))

    async def select_profile(
        self,
        *,
        intent: str | None = None,
        amount: float | str | None = None,
        counterparty: str | Counterparty | None = None,
    ) -> Recommendation:
        """Asks which profile to use, and why. ``amount`` is US dollars, also as decimal text."""
        call = receipts.select_profile(self._service, intent, amount, counterparty)
        return await self._send(call)
