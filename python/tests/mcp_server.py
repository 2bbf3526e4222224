"""A server of the official MCP SDK whose tool calls are recorded, on stdio or a free port."""

from __future__ import annotations

import socket
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import anyio
import mcp_types as types
import uvicorn
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.server.mcpserver import MCPServer
from mcp.server.stdio import stdio_server
from mcp.shared.exceptions import MCPError

from tallystick import Session, open_session_file
from tallystick.mcp import record_tools


def high_level(session: Session, on_wait: Callable[[], None] = lambda: None) -> MCPServer:
    """A server by ``MCPServer``. ``on_wait`` is called when its tool ``wait`` has begun."""
    server = record_tools(MCPServer("weather", version="1.2.0"), session)

    @server.tool()
    def forecast(city: str) -> dict[str, str]:
        """The weather of a city."""
        return {"city": city, "weather": "9 °C"}

    @server.tool()
    def fail() -> str:
        """Says that it failed."""
        raise ValueError("no")

    @server.tool()
    def refuse() -> str:
        """Answers with a JSON-RPC error, as MCP has it for a call that could not be made."""
        raise MCPError(code=-32050, message="not now", data={"again": "later"})

    @server.tool()
    async def wait() -> str:
        """Never ends."""
        on_wait()
        await anyio.sleep_forever()
        return ""

    return server


async def _list_tools(
    _: ServerRequestContext[Any], __: types.PaginatedRequestParams | None
) -> types.ListToolsResult:
    tool = types.Tool(name="forecast", input_schema={"type": "object"})
    return types.ListToolsResult(tools=[tool])


async def _call_tool(
    _: ServerRequestContext[Any], params: types.CallToolRequestParams
) -> types.CallToolResult:
    content = types.TextContent(type="text", text=f"{params.arguments}")
    return types.CallToolResult(content=[content], _meta={"example/kept": True})


def low_level(session: Session) -> Server[Any]:
    """A server by the low-level ``Server``."""
    server = Server("low", on_list_tools=_list_tools, on_call_tool=_call_tool)
    return record_tools(server, session)


async def _on_stdio(server: Server[Any]) -> None:
    async with stdio_server() as (read, write):
        await server.run(read, write, server.create_initialization_options())


def main(kind: str, transport: str, path: str) -> None:
    """Serves until the client leaves."""
    makes: dict[str, Callable[[Session], Any]] = {"high": high_level, "low": low_level}
    with open_session_file(Path(path)) as session:
        server = makes[kind](session)
        if transport == "http":
            listener = socket.create_server(("127.0.0.1", 0))
            print(listener.getsockname()[1], flush=True)
            config = uvicorn.Config(server.streamable_http_app(), log_level="error")
            uvicorn.Server(config).run(sockets=[listener])
        elif kind == "low":
            anyio.run(_on_stdio, server)
        else:
            server.run()


if __name__ == "__main__":
    main(*sys.argv[1:])
