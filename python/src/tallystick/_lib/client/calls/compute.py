"""Requests about inference, and about its members."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, TypeAlias

from ....documents import (
    Benchmark,
    BenchmarkNode,
    CompressionStats,
    ComputeDescriptor,
    Estimate,
    Feedback,
    Leaderboard,
    Member,
    Membership,
    Model,
    ModelList,
    Usage,
)
from ..service import Service, segment
from ..wire import Call

Label: TypeAlias = Literal["good", "bad"]

_BENCHMARK = "/v1/compute/benchmark"
_MEMBER = "/v1/compute/member"


def get_compute_descriptor(service: Service) -> Call[ComputeDescriptor]:
    return service.get("/v1/compute")


def list_models(service: Service) -> Call[ModelList]:
    return service.get("/v1/compute/models")


def get_model(service: Service, model_id: str) -> Call[Model]:
    return service.get(f"/v1/compute/models/{segment(model_id, 'model_id')}")


def estimate_chat_completion(service: Service, request: Mapping[str, object]) -> Call[Estimate]:
    return service.post("/v1/compute/estimate", request, keep_none=True)


def get_usage(
    service: Service, did_or_key_id: str, start: str | None, end: str | None
) -> Call[Usage]:
    path = f"/v1/compute/usage/{segment(did_or_key_id, 'did_or_key_id')}"
    return service.get(path, query={"from": start, "to": end})


def rate_call(
    service: Service,
    receipt_id: str,
    score: int | None,
    label: Label | None,
    comment: str | None,
) -> Call[Feedback]:
    rating = {"receipt_id": receipt_id, "score": score, "label": label, "comment": comment}
    return service.post("/v1/compute/feedback", rating)


def get_compression_stats(service: Service) -> Call[CompressionStats]:
    return service.get("/v1/compute/compression/stats")


def get_benchmark(service: Service) -> Call[Benchmark]:
    return service.get(_BENCHMARK)


def get_benchmark_node(service: Service, node: str) -> Call[BenchmarkNode]:
    return service.get(f"{_BENCHMARK}/{node}")


def register_member(service: Service, did: str, handle: str | None) -> Call[Member]:
    return service.post(f"{_MEMBER}/register", {"did": did, "handle": handle})


def get_leaderboard(service: Service, limit: int | None) -> Call[Leaderboard]:
    return service.get(f"{_MEMBER}/leaderboard", query={"limit": limit})


def verify_member(service: Service, did: str) -> Call[Membership]:
    return service.get(f"{_MEMBER}/verify/{segment(did, 'did')}")
