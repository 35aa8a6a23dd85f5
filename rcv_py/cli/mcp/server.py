"""The Model Context Protocol over standard input and output: the only file that knows the package `mcp`."""

from __future__ import annotations

import base64
import os
from collections.abc import Callable
from functools import partial
from typing import Any, TypeVar

import anyio
import mcp_types as types
from mcp import MCPError
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server

from rcv_py import __version__
from rcv_py.base.errors import Cancelled, RcvError
from rcv_py.cli.mcp.answers import Reply
from rcv_py.cli.mcp.crew import Crew, Ticket
from rcv_py.cli.mcp.desk import Desk
from rcv_py.cli.mcp.fence import Fence
from rcv_py.cli.mcp.prompts import INSTRUCTIONS, PROMPTS, Prompt, prompt_text
from rcv_py.cli.mcp.tools import Tool
from rcv_py.formats.input.run_places import ROOT

JSON = "application/json"
T = TypeVar("T")


def run_server(fence: Fence) -> None:
    """Serve until standard input closes."""
    os.environ[ROOT] = str(fence.root)  # the processes of the crew inherit it
    crew = Crew()
    try:
        anyio.run(_serve, Desk(fence, crew))
    finally:
        crew.close()


async def _serve(desk: Desk) -> None:
    server = make_server(desk)
    async with stdio_server() as (read, write):
        await server.run(read, write, server.create_initialization_options())


def make_server(desk: Desk) -> Server[Any]:
    """Return the server for a desk: every request is answered from there."""

    async def list_tools(context: Any, request: Any) -> types.ListToolsResult:
        return types.ListToolsResult(tools=[_tool(tool) for tool in desk.tools.values()])

    async def call_tool(context: Any, request: types.CallToolRequestParams) -> types.CallToolResult:
        ticket = Ticket()
        job = partial(desk.call, request.name, request.arguments or {}, ticket)
        return _result(await _stoppable(desk.crew, ticket, job))

    async def list_resources(context: Any, request: Any) -> types.ListResourcesResult:
        pages = await anyio.to_thread.run_sync(desk.pages)
        found = [
            types.Resource(uri=page.uri, name=page.name, description=page.text, mime_type=JSON)
            for page in pages
        ]
        return types.ListResourcesResult(resources=found)

    async def read_resource(
        context: Any, request: types.ReadResourceRequestParams
    ) -> types.ReadResourceResult:
        ticket = Ticket()
        uri = str(request.uri)
        text = await _stoppable(desk.crew, ticket, partial(desk.read, uri, ticket))
        return types.ReadResourceResult(
            contents=[types.TextResourceContents(uri=uri, mime_type=JSON, text=text)]
        )

    async def list_prompts(context: Any, request: Any) -> types.ListPromptsResult:
        return types.ListPromptsResult(prompts=[_prompt(prompt) for prompt in PROMPTS])

    async def get_prompt(context: Any, request: types.GetPromptRequestParams) -> types.GetPromptResult:
        try:
            text = prompt_text(request.name, request.arguments or {})
        except RcvError as error:
            raise _refusal(error) from error
        message = types.PromptMessage(role="user", content=types.TextContent(type="text", text=text))
        return types.GetPromptResult(messages=[message])

    return Server(
        "rcv",
        version=__version__,
        instructions=INSTRUCTIONS,
        on_list_tools=list_tools,
        on_call_tool=call_tool,
        on_list_resources=list_resources,
        on_read_resource=read_resource,
        on_list_prompts=list_prompts,
        on_get_prompt=get_prompt,
    )


async def _stoppable(crew: Crew, ticket: Ticket, job: Callable[[], T]) -> T:
    """Do a blocking job in a thread; if the request is cancelled, stop the process that does it."""
    try:
        return await anyio.to_thread.run_sync(job, abandon_on_cancel=True)
    except anyio.get_cancelled_exc_class():
        crew.cancel(ticket)
        raise
    except Cancelled as error:
        raise MCPError(types.INTERNAL_ERROR, "Stopped.") from error
    except RcvError as error:
        raise _refusal(error) from error


def _refusal(error: RcvError) -> MCPError:
    return MCPError(types.INVALID_PARAMS, f"{error} {error.hint}".strip())


def _tool(tool: Tool) -> types.Tool:
    hints = types.ToolAnnotations(
        title=tool.title,
        read_only_hint=not tool.writes,
        destructive_hint=tool.writes,  # a file of the same name is replaced
        idempotent_hint=True,
        open_world_hint=False,
    )
    return types.Tool(
        name=tool.name,
        title=tool.title,
        description=tool.description,
        input_schema=tool.schema,
        annotations=hints,
    )


def _prompt(prompt: Prompt) -> types.Prompt:
    arguments = [
        types.PromptArgument(name=name, description=meaning, required=required)
        for name, meaning, required in prompt.arguments
    ]
    return types.Prompt(name=prompt.name, title=prompt.title, description=prompt.title, arguments=arguments)


def _result(reply: Reply) -> types.CallToolResult:
    content: list[Any] = [types.TextContent(type="text", text=text) for text in reply.texts]
    if reply.picture is not None:
        data = base64.b64encode(reply.picture).decode()
        content.append(types.ImageContent(type="image", data=data, mime_type="image/png"))
    return types.CallToolResult(
        content=content,
        structured_content=reply.document,
        is_error=reply.is_error,
        _meta=reply.meta or None,
    )
