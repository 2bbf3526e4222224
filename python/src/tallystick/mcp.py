"""Receipts of an MCP server's tool calls. Needs ``tallystick[mcp]``."""

from __future__ import annotations

import json
from functools import partial
from typing import Any, Protocol, TypeVar, cast

import anyio
import anyio.to_thread
from mcp.server.context import CallNext, HandlerResult, ServerMiddleware, ServerRequestContext
from mcp.shared.exceptions import MCPError
from pydantic import BaseModel

from tallystick import BegunCall, JsonObject, Session, ToolOutcome, ToolServer

__all__ = ["RECEIPT_META_KEY", "SessionMiddleware", "record_tools", "result_without_receipt"]

RECEIPT_META_KEY = "tallystick/receipt"
"""The member of a result's ``_meta`` that carries its receipt (spec/sessions.md)."""


class RecordedServer(Protocol):
    """What is needed of a server: ``MCPServer`` and the low-level ``Server`` have it."""

    @property
    def name(self) -> str: ...

    @property
    def version(self) -> str | None: ...

    @property
    def middleware(self) -> list[ServerMiddleware[Any]]: ...


_Server = TypeVar("_Server", bound=RecordedServer)


def record_tools(server: _Server, session: Session) -> _Server:
    """Records each tool call of a server in a session, and returns the server.

    Each result carries its receipt in ``_meta`` under ``tallystick/receipt``; nothing else of it
    changes. The middleware goes before all others, so that it sees what the client gets.
    """
    recorder = SessionMiddleware(session, name=server.name, version=server.version)
    server.middleware.insert(0, recorder)
    return server


class SessionMiddleware:
    """Middleware of a server: records its tool calls. ``record_tools`` adds it.

    A call that can't be noted in the session is not made, and a result whose receipt can't be kept
    is not passed: the client gets an error.
    """

    def __init__(self, session: Session, *, name: str, version: str | None = None) -> None:
        self._session = session
        self._name = name
        self._version = version or None

    async def __call__(
        self, ctx: ServerRequestContext[Any, Any], call_next: CallNext
    ) -> HandlerResult:
        """Handles one message."""
        tool = (ctx.params or {}).get("name")
        if ctx.method != "tools/call" or not isinstance(tool, str) or tool == "":
            return await call_next(ctx)
        arguments = cast(dict[str, Any], ctx.params).get("arguments")
        begin = partial(
            self._session.begin, tool=tool, server=self._server_of(ctx), arguments=arguments
        )
        begun = await anyio.to_thread.run_sync(begin)
        try:
            result = _as_json(await call_next(ctx))
        except MCPError as error:
            await self._end(begun, "error", error.error.model_dump(exclude_none=True))
            raise
        except Exception:
            await self._end(begun, "error", None)
            raise
        except BaseException:
            await self._end(begun, "cancelled", None)
            raise
        outcome: ToolOutcome = "error" if result.get("isError") is True else "completed"
        receipt = await self._end(begun, outcome, result_without_receipt(result))
        return {**result, "_meta": {**(result.get("_meta") or {}), RECEIPT_META_KEY: receipt}}

    def _server_of(self, ctx: ServerRequestContext[Any, Any]) -> ToolServer:
        return {
            "name": self._name,
            "version": self._version,
            "transport": "stdio" if ctx.request is None else "http",
            "identity_sha256": None,
        }

    async def _end(self, begun: BegunCall, outcome: ToolOutcome, result: object) -> JsonObject:
        end = partial(self._session.end, begun, outcome=outcome, result=result)
        # Also where whoever waited is gone by now: what happened is recorded all the same.
        with anyio.CancelScope(shield=True):
            receipt: JsonObject = json.loads(await anyio.to_thread.run_sync(end))
        return receipt


def result_without_receipt(result: dict[str, Any]) -> dict[str, Any]:
    """A tool's result as its receipt covers it.

    It is without the receipt in ``_meta``, and without ``_meta`` if nothing else is in it, so it is
    the same before the receipt is added and after.
    """
    meta = result.get("_meta")
    if not isinstance(meta, dict):
        return result
    others = {name: value for name, value in meta.items() if name != RECEIPT_META_KEY}
    rest = {name: value for name, value in result.items() if name != "_meta"}
    return {**rest, "_meta": others} if others else rest


def _as_json(result: HandlerResult) -> dict[str, Any]:
    if isinstance(result, BaseModel):
        return result.model_dump(by_alias=True, mode="json", exclude_none=True)
    return result or {}
