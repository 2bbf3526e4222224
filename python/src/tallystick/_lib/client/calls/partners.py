"""Requests with a tenant's key, and those of the pilots with a partner's key."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import httpx

from ....documents import (
    EvidenceExports,
    Readiness,
    RosettaAnswer,
    RosettaCrosswalk,
)
from ...receipts.issued import Issued
from ...receipts.profiles import Profile, ProfileReceipt
from ..params import EmitParams, SignedManifest
from ..service import Service, segment
from ..wire import Call, content_in, object_in
from . import receipts


def emit_tenant_receipt(
    service: Service, tenant_id: str, profile: Profile, params: EmitParams, key: str | None
) -> Call[Issued[ProfileReceipt]]:
    return receipts.emit(service, profile, params, key, _path_of(tenant_id, "receipts"))


def export_evidence(
    service: Service, tenant_id: str, start: str | None, end: str | None
) -> Call[bytes]:
    path, query = _path_of(tenant_id, "evidence"), {"from": start, "to": end}
    return service.get(path, content_in, query=query, accept="application/zip")


def get_evidence_manifest(
    service: Service, tenant_id: str, start: str | None, end: str | None
) -> Call[SignedManifest]:
    path, query = _path_of(tenant_id, "evidence"), {"from": start, "to": end}
    return service.get(path, _manifest_in, query=query)


def list_evidence_exports(service: Service, tenant_id: str) -> Call[EvidenceExports]:
    return service.get(_path_of(tenant_id, "evidence/exports"))


def normalize_policy(
    service: Service,
    jurisdiction: str,
    policy: Iterable[Mapping[str, object]],
    targets: Iterable[str],
    key: str | None,
) -> Call[RosettaAnswer]:
    body = {
        "jurisdiction": jurisdiction,
        "policy": [dict(one) for one in policy],
        "targets": list(targets),
    }
    return service.post("/v1/rosetta/normalize", body, key=key)


def get_crosswalk(service: Service) -> Call[RosettaCrosswalk]:
    return service.get("/v1/rosetta/crosswalk")


def qualify_origin(
    service: Service, origin: str | None, descriptor: Mapping[str, object] | None
) -> Call[Readiness]:
    return service.post("/v1/prospector/qualify", {"origin": origin, "descriptor": descriptor})


def _path_of(tenant_id: str, rest: str) -> str:
    return f"/tenants/{segment(tenant_id, 'tenant_id')}/{rest}"


def _manifest_in(response: httpx.Response) -> SignedManifest:
    return SignedManifest(object_in(response), response.content.decode())
