# Written by scripts/unasync.py from ../asynchronous/compute.py; do not edit.
"""Methods about inference, and about its members."""

from __future__ import annotations

from collections.abc import Mapping

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
from ..calls import compute
from .sender import Sender


class ComputeMethods(Sender):
    """Reads about inference. Other clients call the models: see ``client_options``.

    All but the descriptor, the benchmark and the registration cost a read: free with an API key,
    and for a number of reads a day with a DID.
    """

    def get_compute_descriptor(self) -> ComputeDescriptor:
        """Reads what the inference API offers (specification 2.11)."""
        return self._send(compute.get_compute_descriptor(self._service))

    def list_models(self) -> ModelList:
        """Lists the models with their prices and abilities."""
        return self._send(compute.list_models(self._service))

    def get_model(self, model_id: str) -> Model:
        """Reads one model. Raises ``model_not_found``."""
        return self._send(compute.get_model(self._service, model_id))

    def estimate_chat_completion(self, request: Mapping[str, object]) -> Estimate:
        """Estimates the cost of a chat call without making it.

        ``request`` is the body of the call, such as the parameters of
        ``openai.chat.completions.create``.
        """
        return self._send(compute.estimate_chat_completion(self._service, request))

    def get_usage(
        self, did_or_key_id: str, *, from_: str | None = None, to: str | None = None
    ) -> Usage:
        """Reads an account's usage by day and model; only one's own.

        ``did_or_key_id`` is a DID that signs, or the id of the API key. ``from_`` and ``to`` are
        days, ``YYYY-MM-DD``.
        """
        return self._send(compute.get_usage(self._service, did_or_key_id, from_, to))

    def rate_call(
        self,
        receipt_id: str,
        *,
        score: int | None = None,
        label: compute.Label | None = None,
        comment: str | None = None,
    ) -> Feedback:
        """Rates the answer of a call that the same credentials paid for. The first rating stands.

        Give ``score``, from 0 for a useless answer to 100, or ``label``. ``comment`` has at most
        500 characters, for the operator. Raises ``receipt_not_found``, ``rated_otherwise``.
        """
        rating = compute.rate_call(self._service, receipt_id, score, label, comment)
        return self._send(rating)

    def get_compression_stats(self) -> CompressionStats:
        """Reads what compression saved, of all callers and of the caller."""
        return self._send(compute.get_compression_stats(self._service))

    def get_benchmark(self) -> Benchmark:
        """Reads the signed benchmark of compression. ``verify`` checks it, and its three nodes."""
        return self._send(compute.get_benchmark(self._service))

    def get_semantic_benchmark(self) -> BenchmarkNode:
        """Reads the node of the benchmark about facts and answers, signed."""
        return self._send(compute.get_benchmark_node(self._service, "semantic"))

    def get_temporal_benchmark(self) -> BenchmarkNode:
        """Reads the node of the benchmark about turns and dates, signed."""
        return self._send(compute.get_benchmark_node(self._service, "temporal"))

    def get_modality_benchmark(self) -> BenchmarkNode:
        """Reads the node of the benchmark about kinds of material, signed."""
        return self._send(compute.get_benchmark_node(self._service, "modality"))

    def register_member(self, did: str, *, handle: str | None = None) -> Member:
        """Registers a DID for a share of what compression saves: free, without proof, repeatable.

        ``handle`` is 3 to 32 lower-case letters and digits, with single hyphens between.
        """
        return self._send(compute.register_member(self._service, did, handle))

    def get_leaderboard(self, *, limit: int | None = None) -> Leaderboard:
        """Lists members, most completed jobs first.

        ``limit`` is from 1 to 100, and 10 when absent.
        """
        return self._send(compute.get_leaderboard(self._service, limit))

    def verify_member(self, did: str) -> Membership:
        """Looks up a DID, which need not be registered."""
        return self._send(compute.verify_member(self._service, did))
