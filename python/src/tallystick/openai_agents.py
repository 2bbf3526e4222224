"""Receipts of the OpenAI Agents SDK, by run. Needs ``tallystick[openai-agents]``."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from agents import OpenAIProvider
from openai import AsyncOpenAI, DefaultAsyncHttpxClient

from tallystick import AsyncReceiptTransport, CallReport

__all__ = ["TallystickProvider"]

# What this context records, each list with the provider whose receipts go there.
_recordings: ContextVar[tuple[tuple[TallystickProvider, list[CallReport]], ...]] = ContextVar(
    "tallystick_agents_recordings", default=()
)


class TallystickProvider(OpenAIProvider):
    """Models of one service for ``RunConfig(model_provider=…)``, with their receipts.

    - ``base_url``: address of the service's inference API, such as ``https://…/v1/compute``.
    - ``use_responses``: whether models are called by Responses, or by chat completions.
    - ``on_call`` is called with the report of every answer that has a receipt.
    - The other arguments are those of ``AsyncReceiptTransport``.

    The receipts of one run, in the order of its calls, which is one for each turn::

        with provider.receipts() as receipts:
            result = await Runner.run(agent, "…", run_config=RunConfig(model_provider=provider))
    """

    def __init__(
        self,
        *,
        base_url: str,
        api_key: str = "none",
        use_responses: bool = True,
        on_call: Callable[[CallReport], object] | None = None,
        **options: Any,
    ) -> None:
        self._on_call = on_call
        transport = AsyncReceiptTransport(on_call=self._report, **options)
        self._openai = AsyncOpenAI(
            base_url=base_url,
            api_key=api_key,
            http_client=DefaultAsyncHttpxClient(transport=transport),
        )
        super().__init__(openai_client=self._openai, use_responses=use_responses)

    async def aclose(self) -> None:
        """Closes the connections to the service."""
        await super().aclose()
        await self._openai.close()

    @contextmanager
    def receipts(self) -> Iterator[list[CallReport]]:
        """Records the receipts of the runs that start in this block, and of no other runs.

        The list grows while they run. It has the calls of agents that serve as tools too.
        """
        receipts: list[CallReport] = []
        token = _recordings.set((*_recordings.get(), (self, receipts)))
        try:
            yield receipts
        finally:
            _recordings.reset(token)

    def _report(self, call: CallReport) -> None:
        """Is called in the context in which the request was sent."""
        for provider, receipts in _recordings.get():
            if provider is self:
                receipts.append(call)
        if self._on_call is not None:
            self._on_call(call)
