# Written by scripts/unasync.py from ../asynchronous/partners.py; do not edit.
"""Methods for tenants and for partners of the pilots."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Literal, overload

from ....documents import EvidenceExports, Readiness, RosettaAnswer, RosettaCrosswalk
from ...receipts.issued import Issued
from ...receipts.profiles import (
    DEFAULT_PROFILE,
    NanoReceipt,
    PqReceipt,
    Profile,
    ProfileReceipt,
    StandardReceipt,
)
from ..calls import partners
from ..params import EmitParams, SignedManifest
from .sender import Sender

if TYPE_CHECKING:
    from typing_extensions import Unpack


class PartnerMethods(Sender):
    """A tenant's evidence room, which needs a tenant's key, and the pilots.

    ``normalize_policy`` and ``qualify_origin`` need a partner's key.
    """

    @overload
    def emit_tenant_receipt(
        self,
        tenant_id: str,
        *,
        profile: Literal["standard"] = "standard",
        idempotency_key: str | None = None,
        **params: Unpack[EmitParams],
    ) -> Issued[StandardReceipt]: ...

    @overload
    def emit_tenant_receipt(
        self,
        tenant_id: str,
        *,
        profile: Literal["nano"],
        idempotency_key: str | None = None,
        **params: Unpack[EmitParams],
    ) -> Issued[NanoReceipt]: ...

    @overload
    def emit_tenant_receipt(
        self,
        tenant_id: str,
        *,
        profile: Literal["pq"],
        idempotency_key: str | None = None,
        **params: Unpack[EmitParams],
    ) -> Issued[PqReceipt]: ...

    @overload
    def emit_tenant_receipt(
        self,
        tenant_id: str,
        *,
        profile: Profile,
        idempotency_key: str | None = None,
        **params: Unpack[EmitParams],
    ) -> Issued[ProfileReceipt]: ...

    def emit_tenant_receipt(
        self,
        tenant_id: str,
        *,
        profile: Profile = DEFAULT_PROFILE,
        idempotency_key: str | None = None,
        **params: Unpack[EmitParams],
    ) -> Issued[ProfileReceipt]:
        """Emits a receipt like ``emit``. It is always anchored, and only the tenant can read it."""
        call = partners.emit_tenant_receipt(
            self._service, tenant_id, profile, params, idempotency_key
        )
        return self._send(call)

    def export_evidence(
        self, tenant_id: str, *, from_: str | None = None, to: str | None = None
    ) -> bytes:
        """Exports the evidence room as the bytes of ``bundle.zip`` (spec/evidence.md), in memory.

        ``from_`` and ``to`` are days, ``YYYY-MM-DD``, or instants: choose a period that fits.
        """
        return self._send(partners.export_evidence(self._service, tenant_id, from_, to))

    def get_evidence_manifest(
        self, tenant_id: str, *, from_: str | None = None, to: str | None = None
    ) -> SignedManifest:
        """Makes the same export, but returns only its signed manifest."""
        return self._send(partners.get_evidence_manifest(self._service, tenant_id, from_, to))

    def list_evidence_exports(self, tenant_id: str) -> EvidenceExports:
        """Lists the exports of the last 365 days, oldest first."""
        return self._send(partners.list_evidence_exports(self._service, tenant_id))

    def normalize_policy(
        self,
        *,
        jurisdiction: str,
        policy: Iterable[Mapping[str, object]],
        targets: Iterable[str],
        idempotency_key: str | None = None,
    ) -> RosettaAnswer:
        """Expresses a policy for other jurisdictions. It is not legal advice.

        ``jurisdiction`` is the one for which the policy was written, such as ``eu``; ``policy`` are
        statements in the terms of the crosswalk, each concept at most once, such as
        ``{"concept": "retention", "days": 400}``.
        """
        call = partners.normalize_policy(
            self._service, jurisdiction, policy, targets, idempotency_key
        )
        return self._send(call)

    def get_crosswalk(self) -> RosettaCrosswalk:
        """Reads the table that policies are compared with. Needs no key."""
        return self._send(partners.get_crosswalk(self._service))

    def qualify_origin(
        self, *, origin: str | None = None, descriptor: Mapping[str, object] | None = None
    ) -> Readiness:
        """Checks how ready an origin is for agents that buy there.

        Give exactly one: ``origin`` (scheme, host and optionally a port), or a compute
        ``descriptor`` (specification 2.11) that names its origin.
        """
        return self._send(partners.qualify_origin(self._service, origin, descriptor))
