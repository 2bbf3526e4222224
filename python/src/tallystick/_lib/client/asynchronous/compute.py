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
from .sender import AsyncSender


class AsyncComputeMethods(AsyncSender):
    """Reads about inference. Other clients call the models: see ``client_options``.

    All but the descriptor, the benchmark and the registration cost a read: free with an API key,
    and for a number of reads a day with a DID.
    """

    async def get_compute_descriptor(self) -> ComputeDescriptor:
        """Reads what the inference API offers (specification 2.11)."""
        return await self._send(compute.get_compute_descriptor(self._service))

    async def list_models(self) -> ModelList:
        """Lists the models with their prices and abilities."""
        return await self._send(compute.list_models(self._service))

    async def get_model(self, model_id: str) -> Model:
        """Reads one model. Raises ``model_not_found``."""
        return await self._send(compute.get_model(self._service, model_id))

    async def estimate_chat_completion(self, request: Mapping[str, object]) -> Estimate:
        """Estimates the cost of a chat call without making it.

        ``request`` is the body of the call, such as the parameters of
        ``openai.chat.completions.create``.
        """
        return await self._send(compute.estimate_chat_completion(self._service, request))

    async def get_usage(
        self, did_or_key_id: str, *, from_: str | None = None, to: str | None = None
    ) -> Usage:
        """Reads an account's usage by day and model; only one's own.

        ``did_or_key_id`` is a DID that signs, or the id of the API key. ``from_`` and ``to`` are
        days, ``YYYY-MM-DD``.
        """
        return await self._send(compute.get_usage(self._service, did_or_key_id, from_, to))

    async def rate_call(
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
        return await self._send(rating)

    async def get_compression_stats(self) -> CompressionStats:
        """Reads what compression saved, of all callers and of the caller."""
        return await self._send(compute.get_compression_stats(self._service))

    async def get_benchmark(self) -> Benchmark:
        """Reads the signed benchmark of compression. ``verify`` checks it, and its three nodes."""
        return await self._send(compute.get_benchmark(self._service))

    async def get_semantic_benchmark(self) -> BenchmarkNode:
        """Reads the node of the benchmark about facts and answers, signed."""
        return await self._send(compute.get_benchmark_node(self._service, "semantic"))

    async def get_temporal_benchmark(self) -> BenchmarkNode:
        """Reads the node of the benchmark about turns and dates, signed."""
        return await self._send(compute.get_benchmark_node(self._service, "temporal"))

    async def get_modality_benchmark(self) -> BenchmarkNode:
        """Reads the node of the benchmark about kinds of material, signed."""
        return await self._send(compute.get_benchmark_node(self._service, "modality"))

    async def register_member(self, did: str, *, handle: str | None = None) -> Member:
        """Registers a DID for a share of what compression saves: free, without proof, repeatable.

        ``handle`` is 3 to 32 lower-case letters and digits, with single hyphens between.
        """
        return await self._send(compute.register_member(self._service, did, handle))

    async def get_leaderboard(self, *, limit: int | None = None) -> Leaderboard:
        """Lists members, most completed jobs first.

        ``limit`` is from 1 to 100, and 10 when absent.
        """
        return await self._send(compute.get_leaderboard(self._service, limit))

    async def verify_member(self, did: str) -> Membership:
        """Looks up a DID, which need not be registered."""
        return await self._send(compute.verify_member(self._service, did))
