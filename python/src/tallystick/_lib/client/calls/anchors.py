"""Requests about anchors and the anchor log."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import partial
from typing import cast
from urllib.parse import quote

import httpx

from ....documents import LogStatus
from ...json_types import JsonValue
from ...log.anchored import Anchor
from ...shape import is_object
from ..anchors import HashOrReceipt, canonical_sha256, hash_batches
from ..service import Service, segment, utf8
from ..wire import Call, content_in, json_in, not_understood, results_in, text_in


def anchor(service: Service, given: HashOrReceipt, key: str | None) -> Call[Anchor]:
    body = {"canonical_sha256": canonical_sha256(given)}
    return service.post("/v1/anchor", body, _anchor_in, key=key)


def anchor_batch(service: Service, hashes: Iterable[HashOrReceipt]) -> Iterator[Call[list[Anchor]]]:
    for batch in hash_batches(hashes):
        read = partial(_anchors_in, items=len(batch))
        yield service.post("/v1/anchor/batch", {"canonical_sha256": batch}, read)


def get_anchor(service: Service, anchor_ref: str) -> Call[Anchor]:
    return service.get(f"/v1/anchor/{segment(anchor_ref, 'anchor_ref')}", _anchor_in)


def get_anchor_by_hash(service: Service, given: HashOrReceipt) -> Call[Anchor]:
    return service.get(f"/v1/anchor/by-hash/{canonical_sha256(given)}", _anchor_in)


def find_anchor(service: Service, ref_or_hash: HashOrReceipt) -> Call[Anchor]:
    return service.get(_path_of(ref_or_hash), _anchor_in)


def get_anchor_proof(service: Service, ref_or_hash: HashOrReceipt) -> Call[str]:
    return service.get(_path_of(ref_or_hash), text_in, accept="text/plain")


def get_cose_receipt(service: Service, ref_or_hash: HashOrReceipt) -> Call[bytes]:
    if isinstance(ref_or_hash, str) and ref_or_hash.startswith("urn:"):
        name = segment(ref_or_hash, "ref_or_hash")
    else:
        name = canonical_sha256(ref_or_hash)
    return service.get(f"/v1/anchor/{name}/receipt.cbor", content_in, accept="application/cose")


def get_log_status(service: Service) -> Call[LogStatus]:
    return service.get("/v1/log")


def get_checkpoint(service: Service) -> Call[str]:
    return service.get("/checkpoint", text_in, accept="text/plain")


def get_tile(service: Service, path: str) -> Call[bytes]:
    return service.get(
        f"/tile/{quote(utf8(path, 'path'))}", content_in, accept="application/octet-stream"
    )


def _path_of(ref_or_hash: HashOrReceipt) -> str:
    if isinstance(ref_or_hash, str) and ref_or_hash.startswith("urn:"):
        return f"/v1/anchor/{segment(ref_or_hash, 'ref_or_hash')}"
    return f"/v1/anchor/by-hash/{canonical_sha256(ref_or_hash)}"


def _anchor_in(response: httpx.Response) -> Anchor:
    return _read_anchor(json_in(response), response)


def _anchors_in(response: httpx.Response, items: int) -> list[Anchor]:
    return [_read_anchor(result, response) for result in results_in(response, items)]


def _read_anchor(document: JsonValue, response: httpx.Response) -> Anchor:
    """Reads a pending or anchored result; only ``verify`` says whether an anchor holds."""
    if not is_object(document) or not isinstance(document.get("anchor_ref"), str):
        raise not_understood(response)
    if "batch_id" in document and type(document.get("eta_seconds")) is not int:
        raise not_understood(response)
    return cast(Anchor, document)
