"""The Model Context Protocol over standard input and output: the only file that knows the package `mcp`."""

import base64
import os
import socket
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from functools import partial
from threading import Thread
from typing import Any, TextIO, TypeVar

import anyio
import mcp_types as types
from mcp import MCPError
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server

from rcv_py import __version__
from rcv_py.base.errors import Cancelled
from rcv_py.base.machine.ending import ends_by
from rcv_py.base.resources import resource
from rcv_py.cli.mcp.handler import ClientRequest, Reply, ToolHandler, command_pool
from rcv_py.cli.mcp.tools import HELP, AllowedPaths, Tool
from rcv_py.formats.input.run_places import ROOT

INPUT_BYTES = 64 << 10  # that are read at a time
T = TypeVar("T")


def run_server(paths: AllowedPaths) -> None:
    """Serve until standard input closes."""
    os.environ[ROOT] = str(paths.root)  # the processes of the pool inherit it
    with command_pool() as pool, _input() as (stream, end), ends_by(end):
        server = make_server(ToolHandler(paths, pool))

        async def serve() -> None:
            async with stdio_server(anyio.wrap_file(stream)) as (read, write):
                await server.run(read, write, server.create_initialization_options())

        anyio.run(serve)


@contextmanager
def _input() -> Iterator[tuple[TextIO, Callable[[], None]]]:
    """Provide standard input and a function that ends it for its reader, as leaving the block does.

    At exit Python waits for the thread that reads here, and a client may never write again.
    """
    near, far = socket.socketpair()
    source = sys.stdin.fileno()

    def copy() -> None:
        with suppress(OSError):  # no reader is left
            while data := os.read(source, INPUT_BYTES):
                far.sendall(data)
            far.shutdown(socket.SHUT_WR)

    def end() -> None:
        with suppress(OSError):  # it has already ended
            far.shutdown(socket.SHUT_RDWR)

    Thread(target=copy, name="rcv-input", daemon=True).start()
    try:
        yield near.makefile("r", encoding="utf-8", errors="replace"), end
    finally:
        end()


def make_server(handler: ToolHandler) -> Server[Any]:
    """Return the server: every request is answered by the handler."""

    async def list_tools(context: Any, request: Any) -> types.ListToolsResult:
        return types.ListToolsResult(tools=definitions(handler.tools))

    async def call_tool(context: Any, request: types.CallToolRequestParams) -> types.CallToolResult:
        own = ClientRequest()
        job = partial(handler.call, request.name, request.arguments or {}, own)
        return _result(await _stoppable(own, job))

    text = resource("agents.txt")
    return Server(
        "rcv",
        version=__version__,
        instructions=None if text is None else " ".join(text.read_text("utf-8").split()),
        on_list_tools=list_tools,
        on_call_tool=call_tool,
    )


async def _stoppable(request: ClientRequest, job: Callable[[], T]) -> T:
    """Run a blocking job in a thread; if the request is cancelled, stop the process that does it."""
    try:
        return await anyio.to_thread.run_sync(job, abandon_on_cancel=True)
    except anyio.get_cancelled_exc_class():
        request.cancel()
        raise
    except Cancelled as error:
        raise MCPError(types.INTERNAL_ERROR, "Stopped.") from error


def definitions(offered: Mapping[str, Tool]) -> list[types.Tool]:
    """Return the tool definitions for a client: short, since an agent reads all before its first call."""
    own = [
        types.Tool(
            name=tool.name,
            description=tool.description,
            input_schema=tool.short_schema,
            annotations=types.ToolAnnotations(read_only_hint=not tool.facts.writes),
        )
        for tool in offered.values()
    ]
    text = "List all arguments of a tool with their meanings. Use it before an unusual call."
    schema = {"type": "object", "properties": {"tool": {"type": "string"}}, "required": ["tool"]}
    return [*own, types.Tool(name=HELP, description=text, input_schema=schema)]


def _result(reply: Reply) -> types.CallToolResult:
    content: list[Any] = [types.TextContent(type="text", text=reply.text)] if reply.text else []
    if reply.picture is not None:
        data = base64.b64encode(reply.picture).decode()
        content.append(types.ImageContent(type="image", data=data, mime_type="image/png"))
    return types.CallToolResult(
        content=content, structured_content=reply.document, is_error=reply.is_error, _meta=reply.meta or None
    )
