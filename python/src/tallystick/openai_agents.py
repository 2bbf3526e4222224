"""Receipts of the OpenAI Agents SDK: models by run, tools. Needs ``tallystick[openai-agents]``."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from agents import (
    Agent,
    OpenAIProvider,
    RunContextWrapper,
    RunHooks,
    Tool,
    default_tool_error_function,
    get_current_span,
)
from openai import AsyncOpenAI, DefaultAsyncHttpxClient

from tallystick import (
    AsyncReceiptTransport,
    BegunCall,
    CallReport,
    Session,
    TallyError,
    ToolOutcome,
    ToolServer,
    parse_json,
)

__all__ = ["SessionHooks", "TallystickProvider"]

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


class SessionHooks(RunHooks[Any]):
    """Records the tool calls of a run in a session::

        with open_session_file("agent.jsonl") as session:
            await Runner.run(agent, "…", hooks=SessionHooks(session))

    A call that can't be noted in the session is not made. The SDK tells its hooks neither that a
    tool failed nor that it was cancelled. A failure is known by the SDK's own text for the model,
    or by the span of the call, if the run is traced; a call without an end is recorded as
    ``unknown`` when the session is closed. ``server`` is recorded as the server of every tool: when
    absent, the SDK in this process.
    """

    def __init__(self, session: Session, *, server: ToolServer | None = None) -> None:
        self._session = session
        self._server: ToolServer = server or {
            "name": "openai-agents",
            "version": None,
            "transport": "in_process",
            "identity_sha256": None,
        }
        # By the context and the tool: the context of a function tool is of this call only.
        self._begun: dict[tuple[int, str], tuple[RunContextWrapper[Any], BegunCall]] = {}

    async def on_tool_start(
        self,
        context: RunContextWrapper[Any],
        agent: Agent[Any],  # noqa: ARG002
        tool: Tool,
    ) -> None:
        """Notes a call before the tool runs. Tools other than functions show no arguments."""
        begun = await asyncio.to_thread(
            self._session.begin,
            tool=tool.name,
            server=self._server,
            arguments=_arguments_in(getattr(context, "tool_arguments", None)),
        )
        self._begun[id(context), tool.name] = context, begun

    async def on_tool_end(
        self,
        context: RunContextWrapper[Any],
        agent: Agent[Any],  # noqa: ARG002
        tool: Tool,
        result: object,
    ) -> None:
        """Records what the tool returned."""
        _, begun = self._begun.pop((id(context), tool.name), (None, None))
        if begun is not None:
            outcome: ToolOutcome = "error" if _has_failed(context, tool, result) else "completed"
            await asyncio.to_thread(self._session.end, begun, outcome=outcome, result=result)


def _arguments_in(text: str | None) -> object:
    """The arguments as a model wrote them: as JSON if they are, else as bytes."""
    data = None if text is None else text.encode("utf-8", "surrogatepass")
    try:
        return None if data is None else parse_json(data)
    except TallyError:
        return data


def _has_failed(context: RunContextWrapper[Any], tool: Tool, result: object) -> bool:
    span = get_current_span()
    if span is not None and span.error is not None:
        return True
    # Earlier releases of the SDK put the error behind their text.
    failures = default_tool_error_function(context, Exception()), _UNREAD_ARGUMENTS
    return isinstance(result, str) and (
        result.startswith(failures) or result == _timeout_text(tool)
    )


_UNREAD_ARGUMENTS = "An error occurred while parsing tool arguments."
"""What earlier releases of the SDK tell a model whose arguments are no JSON."""


def _timeout_text(tool: Tool) -> str | None:
    """What the SDK tells the model where a tool took too long; ``None`` if it has no limit."""
    seconds = getattr(tool, "timeout_seconds", None)
    return None if seconds is None else f"Tool '{tool.name}' timed out after {seconds:g} seconds."
