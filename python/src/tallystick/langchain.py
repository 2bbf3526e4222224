"""Receipts of LangChain's chat models and tools. Needs ``tallystick[langchain]``."""

from __future__ import annotations

from collections.abc import Callable
from contextvars import ContextVar
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any
from uuid import UUID

from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.messages import ToolMessage
from langchain_core.outputs import LLMResult

from tallystick import (
    AsyncReceiptTransport,
    BegunCall,
    CallReport,
    ReceiptTransport,
    Session,
    ToolOutcome,
    ToolServer,
)

from ._lib.client.http_bases import newest_library

if TYPE_CHECKING:
    from langchain_anthropic import ChatAnthropic

__all__ = ["RunReceipt", "SessionCallbackHandler", "TallystickCallbackHandler"]


@dataclass(frozen=True)
class RunReceipt:
    """The report of a call, and the run of the model that made the call."""

    run_id: UUID
    parent_run_id: UUID | None
    """Run of the chain or agent that called the model."""
    call: CallReport


@dataclass
class _Run:
    id: UUID
    parent_id: UUID | None
    is_open: bool = True
    calls: list[CallReport] = field(default_factory=list)


# The run whose requests this context sends.
_current: ContextVar[_Run | None] = ContextVar("tallystick_langchain_run", default=None)


class TallystickCallbackHandler(BaseCallbackHandler):
    """Collects the receipts of models, each for its own run, also when runs overlap.

    A model needs both the handler, which knows the runs, and its HTTP clients, which see what is
    sent and received::

        handler = TallystickCallbackHandler(trust=trust, on_receipt=print)
        chat = ChatOpenAI(
            base_url="https://…/v1/compute", model="auto", api_key=key, callbacks=[handler],
            http_client=handler.http_client, http_async_client=handler.http_async_client,
        )

    A ``ChatAnthropic`` takes no HTTP client: use ``handler.watch(chat)``.

    - ``on_receipt`` is called with the receipt of a run, before the run's caller has the end of
      its answer. The message that ``invoke`` or ``batch`` returns has the report in
      ``response_metadata["tallystick"]`` too; the pieces of a stream have left by then.
    - ``on_call`` is called with the report of every answer that has a receipt: those of embeddings
      too, which have no run, and those of ``generate`` with several prompts, which LangChain does
      not tell apart while it runs.
    - The other arguments are those of ``ReceiptTransport``.
    """

    # In the context of the run, and before its first request.
    run_inline = True

    def __init__(
        self,
        *,
        on_receipt: Callable[[RunReceipt], object] | None = None,
        on_call: Callable[[CallReport], object] | None = None,
        **options: Any,
    ) -> None:
        self._on_receipt = on_receipt
        self._on_call = on_call
        self._options = options
        self._runs: dict[UUID, _Run] = {}
        self._clients: list[Any] = []
        self._async_clients: list[Any] = []

    @cached_property
    def http_client(self) -> Any:
        """For ``ChatOpenAI`` and ``OpenAIEmbeddings``: the ``http_client``."""
        from openai import DefaultHttpxClient

        return self._client(DefaultHttpxClient)

    @cached_property
    def http_async_client(self) -> Any:
        """For ``ChatOpenAI`` and ``OpenAIEmbeddings``: the ``http_async_client``."""
        from openai import DefaultAsyncHttpxClient

        return self._async_client(DefaultAsyncHttpxClient)

    def watch(self, chat: ChatAnthropic) -> ChatAnthropic:
        """Gives a ``ChatAnthropic`` HTTP clients of this handler, and returns it."""
        # Anthropic's own class refuses a transport that serves httpx too.
        library = newest_library()
        clients = {
            "_client": self._client(library.Client),
            "_async_client": self._async_client(library.AsyncClient),
        }
        for name, client in clients.items():
            # Properties that are computed once: what stands there in their place is used.
            vars(chat)[name] = getattr(chat, name).with_options(http_client=client)
        return chat

    def close(self) -> None:
        """Closes the HTTP clients that block."""
        for client in self._clients:
            client.close()

    async def aclose(self) -> None:
        """Closes all HTTP clients."""
        self.close()
        for client in self._async_clients:
            await client.aclose()

    def on_chat_model_start(self, *_: Any, **run: Any) -> None:
        """Remembers which run the next requests of this context belong to."""
        self._start(**run)

    def on_llm_start(self, *_: Any, **run: Any) -> None:
        """Does the same for models of completions."""
        self._start(**run)

    def on_llm_end(self, response: LLMResult, *, run_id: UUID, **_: Any) -> None:
        """Writes the report into the message that the run returns."""
        run = self._end(run_id)
        if run is None or not run.calls:
            return
        for generation in (one for several in response.generations for one in several):
            message = getattr(generation, "message", None)
            if message is not None:
                message.response_metadata["tallystick"] = _shown(run.calls[-1])

    def on_llm_error(self, *_: Any, run_id: UUID, **__: Any) -> None:
        """Ends the run."""
        self._end(run_id)

    def _start(
        self, *, run_id: UUID, parent_run_id: UUID | None = None, batch_size: int = 1, **_: Any
    ) -> None:
        run = _Run(run_id, parent_run_id) if batch_size == 1 else None
        _current.set(run)
        if run is not None:
            self._runs[run_id] = run

    def _end(self, run_id: UUID) -> _Run | None:
        run = self._runs.pop(run_id, None)
        if run is not None:
            run.is_open = False
        return run

    def _client(self, kind: Callable[..., Any]) -> Any:
        transport = ReceiptTransport(on_call=self._report, **self._options)
        self._clients.append(kind(transport=transport, follow_redirects=True))
        return self._clients[-1]

    def _async_client(self, kind: Callable[..., Any]) -> Any:
        transport = AsyncReceiptTransport(on_call=self._report, **self._options)
        self._async_clients.append(kind(transport=transport, follow_redirects=True))
        return self._async_clients[-1]

    def _report(self, call: CallReport) -> None:
        """Is called in the context in which the request was sent."""
        if self._on_call is not None:
            self._on_call(call)
        run = _current.get()
        if run is None or not run.is_open:
            return
        run.calls.append(call)
        if self._on_receipt is not None:
            self._on_receipt(RunReceipt(run.id, run.parent_id, call))


def _shown(call: CallReport) -> dict[str, Any]:
    """A report as JSON, as tracers and stores of messages need it."""
    return {
        "receipt_id": call.receipt_id,
        "receipt": call.receipt,
        "verdict": call.verdict.to_json(),
        "svc": call.svc,
    }


class SessionCallbackHandler(BaseCallbackHandler):
    """Records the tool calls of a run in a session, of LangChain and of LangGraph::

        with open_session_file("agent.jsonl") as session:
            agent.invoke(…, {"callbacks": [SessionCallbackHandler(session)]})

    A call that can't be noted in the session is not made. One that is cancelled has no end in
    LangChain's callbacks; it is recorded as ``unknown`` when the session is closed. ``server`` is
    recorded as the server of every tool: when absent, LangChain in this process.
    """

    # A tool that can't be recorded must not run.
    raise_error = True
    # Only the tools are of interest.
    ignore_llm = True
    ignore_chain = True
    ignore_retriever = True

    def __init__(self, session: Session, *, server: ToolServer | None = None) -> None:
        self._session = session
        self._server: ToolServer = server or {
            "name": "langchain",
            "version": None,
            "transport": "in_process",
            "identity_sha256": None,
        }
        self._begun: dict[UUID, BegunCall] = {}

    def on_tool_start(
        self,
        serialized: dict[str, Any],
        input_str: str,
        *,
        run_id: UUID,
        inputs: dict[str, Any] | None = None,
        **_: Any,
    ) -> None:
        """Notes a call before the tool runs."""
        self._begun[run_id] = self._session.begin(
            tool=serialized["name"],
            server=self._server,
            arguments=input_str if inputs is None else inputs,
        )

    def on_tool_end(self, output: Any, *, run_id: UUID, **_: Any) -> None:
        """Records what the tool returned: the content of a message, or the value itself."""
        is_message = isinstance(output, ToolMessage)
        failed = is_message and output.status == "error"
        result = output.content if is_message else output
        self._end(run_id, "error" if failed else "completed", result)

    def on_tool_error(self, error: BaseException, *, run_id: UUID, **_: Any) -> None:
        """Records that the tool raised an error, and its text."""
        interrupted = not isinstance(error, Exception)
        self._end(run_id, "cancelled" if interrupted else "error", str(error))

    def _end(self, run_id: UUID, outcome: ToolOutcome, result: object) -> None:
        begun = self._begun.pop(run_id, None)
        if begun is not None:
            self._session.end(begun, outcome=outcome, result=result)
