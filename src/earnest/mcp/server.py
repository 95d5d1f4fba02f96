"""The server: tools, resources and prompts of one memory on the SDK's low-level server, which speaks every version of the protocol.

The SDK's own tables of tools are made by reading Python functions; ours are data (`tools.py`), so that schemas stay as plain as every
client needs them, that an argument is refused by its name, and that a client's handshake does not wait for any of it.
"""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace
from difflib import get_close_matches
from importlib import import_module
from typing import Any, Final

import anyio.to_thread
import mcp_types as types
from anyio import CapacityLimiter
from mcp.server.context import HandlerResult, ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.shared.exceptions import MCPError

from earnest import __version__
from earnest.core import check
from earnest.errors import EarnestError, InvalidInput, StoreBusy
from earnest.mcp import texts
from earnest.mcp.place import Lender
from earnest.mcp.tools import PROFILES, TOOLS, Tool

NAME: Final = "earnest"
THREADS: Final = 8
"""Calls that are carried out at once; others wait for their turn."""

Context = ServerRequestContext[Any, Any]
Work = Callable[[Any, dict[str, Any]], Any]


def offered(profile: str = "full", *, read_only: bool = False) -> dict[str, Tool]:
    """The tools of a server, by the names that clients call them by.

    Raises:
        InvalidInput: There is no such profile.
    """
    left_out = PROFILES[check.choice("profile", profile, tuple(PROFILES))]
    made = {tool.full_name: tool for tool in TOOLS if tool.name not in left_out}
    if not read_only:
        return made
    asking = made["memory_query"]
    said = asking.description.partition(" Gives the answer")[0] + " Gives the answer with its entries, sources and dates. Opens no ticket."
    made["memory_query"] = asking._replace(
        description=said, handler="acting:ask", access="reads", args=tuple(arg for arg in asking.args if arg.name != "key")
    )
    ruling = made["memory_rules"]
    kept = tuple(arg for arg in ruling.args if arg.name in ("text", "status", "scope", "limit", "after"))
    looks = ruling.args[0]._replace(choices=("match", "list"))
    made["memory_rules"] = ruling._replace(
        title="Rules: look and match", description=ruling.description.partition(", action=propose")[0] + ".", access="reads",
        args=(looks, *kept),
    )  # fmt: skip
    return {name: tool for name, tool in made.items() if tool.access == "reads"}


def build(lender: Lender, *, profile: str = "full", read_only: bool = False) -> Server[Any]:
    """A server on the memory that `lender` lends for each call; every call reads what the store has then.

    Args:
        lender: Lends the memory, given the HTTP request (None over stdio); for a server that only reads, one opened so.
        profile: `full`, or `ci` without settling, ticking and forgetting.
        read_only: Only tools that read.
    """
    tools = offered(profile, read_only=read_only)
    serving = _Serving(lender, tools)
    server: Server[Any] = Server(
        NAME,
        version=__version__,
        title="Earnest memory",
        description="Long-term memory in which every entry has to earn its keep.",
        instructions=texts.instructions(writes=not read_only, settles="memory_settle" in tools),
        on_list_tools=serving.list_tools,
        on_call_tool=serving.call_tool,
        on_list_resources=serving.list_resources,
        on_list_resource_templates=serving.list_resource_templates,
        on_read_resource=serving.read_resource,
        on_list_prompts=serving.list_prompts,
        on_get_prompt=serving.get_prompt,
    )
    server.middleware.append(_readable_arguments)
    return server


async def _readable_arguments(ctx: Context, call_next: Callable[[Context], Awaitable[HandlerResult]]) -> HandlerResult:
    """Arguments that are no object are read or refused by the tool, by name; the protocol's own check would only say that something is
    wrong."""
    given = ctx.params.get("arguments") if ctx.method == "tools/call" and ctx.params is not None else None
    if given is None or isinstance(given, Mapping):
        return await call_next(ctx)
    try:
        parsed = json.loads(given) if isinstance(given, str) else given
    except (ValueError, RecursionError):
        parsed = given
    if isinstance(parsed, dict):
        return await call_next(replace(ctx, params={**(ctx.params or {}), "arguments": parsed}))
    return _failed(str(InvalidInput("arguments", given, "must be an object that holds the tool's arguments by name")))


class _Serving:
    """The handlers of one server."""

    def __init__(self, lender: Lender, tools: Mapping[str, Tool]) -> None:
        self._lender, self._tools = lender, tools
        self._limiter: CapacityLimiter | None = None

    async def _work(self, request: Any, work: Callable[[Any], Any], *, reads: bool) -> Any:
        """Something done with the memory in a thread. A cancelled write is let come to its end; a cancelled look need not be waited for."""
        if self._limiter is None:
            self._limiter = CapacityLimiter(THREADS)

        def borrowed() -> Any:
            with self._lender(request) as memory:
                return work(memory)

        return await anyio.to_thread.run_sync(borrowed, limiter=self._limiter, abandon_on_cancel=reads)

    # tools

    async def list_tools(self, ctx: Context, params: types.PaginatedRequestParams | None) -> types.ListToolsResult:
        return types.ListToolsResult(tools=[_described(tool) for tool in self._tools.values()])

    async def call_tool(self, ctx: Context, params: types.CallToolRequestParams) -> types.CallToolResult:
        tool = self._tools.get(params.name)
        if tool is None:
            near = get_close_matches(params.name, list(self._tools), 1)
            hint = f"; is {near[0]} meant?" if near else ""
            return _failed(f"there is no tool {params.name!r} here{hint} This server has {', '.join(self._tools)}.")

        def work(memory: Any) -> Any:
            from earnest.mcp.schemas import arguments

            return _handler(tool.handler)(memory, arguments(tool.full_name, tool.args, params.arguments))

        try:
            made = await self._work(ctx.request, work, reads=tool.access == "reads")
        except InvalidInput as error:
            return _failed(_by_the_tools_names(tool, error))
        except StoreBusy as error:
            return _failed(f"{error}; call again with the same arguments in a moment")
        except EarnestError as error:
            return _failed(str(error))
        said = json.dumps(made, ensure_ascii=False, allow_nan=False)
        return types.CallToolResult(content=[types.TextContent(text=said)], structured_content=made)

    # resources and prompts

    async def list_resources(self, ctx: Context, params: types.PaginatedRequestParams | None) -> types.ListResourcesResult:
        from earnest.mcp.resources import RESOURCES

        listed = [types.Resource(uri=r.uri, name=r.name, title=r.title, description=r.description, mime_type=r.mime) for r in RESOURCES]
        return types.ListResourcesResult(resources=listed)

    async def list_resource_templates(self, ctx: Context, params: types.PaginatedRequestParams | None) -> types.ListResourceTemplatesResult:
        from earnest.mcp.resources import TEMPLATES

        listed = [
            types.ResourceTemplate(uri_template=r.uri, name=r.name, title=r.title, description=r.description, mime_type=r.mime)
            for r in TEMPLATES
        ]
        return types.ListResourceTemplatesResult(resource_templates=listed)

    async def read_resource(self, ctx: Context, params: types.ReadResourceRequestParams) -> types.ReadResourceResult:
        from earnest.mcp.resources import found

        work, mime = found(params.uri)
        text = await self._asked(ctx, work)
        return types.ReadResourceResult(contents=[types.TextResourceContents(uri=params.uri, mime_type=mime, text=text)])

    async def list_prompts(self, ctx: Context, params: types.PaginatedRequestParams | None) -> types.ListPromptsResult:
        from earnest.mcp.prompts import PROMPTS

        listed = [
            types.Prompt(
                name=p.name, title=p.title, description=p.description,
                arguments=[types.PromptArgument(name=name, description=said, required=needed) for name, said, needed in p.args],
            )
            for p in self._prompts(PROMPTS)
        ]  # fmt: skip
        return types.ListPromptsResult(prompts=listed)

    async def get_prompt(self, ctx: Context, params: types.GetPromptRequestParams) -> types.GetPromptResult:
        from earnest.mcp.prompts import PROMPTS

        prompt = next((p for p in self._prompts(PROMPTS) if p.name == params.name), None)
        if prompt is None:
            raise MCPError(code=types.INVALID_PARAMS, message=f"there is no prompt {params.name!r} here")
        given = params.arguments or {}
        missing = [name for name, _, needed in prompt.args if needed and not given.get(name, "").strip()]
        if missing:
            raise MCPError(code=types.INVALID_PARAMS, message=f"the prompt {prompt.name} needs {missing[0]}")
        text = await self._asked(ctx, lambda memory: prompt.write(memory, given))
        message = types.PromptMessage(role="user", content=types.TextContent(text=text))
        return types.GetPromptResult(description=prompt.description, messages=[message])

    def _prompts(self, prompts: Any) -> list[Any]:
        return [prompt for prompt in prompts if prompt.needs in self._tools]

    async def _asked(self, ctx: Context, work: Callable[[Any], str]) -> str:
        """A look at the memory whose failure is the protocol's error: what is not there, or cannot be read."""
        try:
            made = await self._work(ctx.request, work, reads=True)
        except EarnestError as error:
            raise MCPError(code=types.INVALID_PARAMS, message=str(error)) from None
        assert isinstance(made, str)
        return made


def _described(tool: Tool) -> types.Tool:
    return types.Tool(
        name=tool.full_name,
        title=tool.title,
        description=tool.description,
        input_schema=tool.schema,
        output_schema=tool.result,
        annotations=types.ToolAnnotations(
            title=tool.title,
            read_only_hint=tool.access == "reads",
            destructive_hint=tool.destroys,
            idempotent_hint=tool.repeatable or tool.access == "reads",
            open_world_hint=False,
        ),
    )


def _handler(name: str) -> Work:
    """The function that a tool's table names; its module is imported when it is first called."""
    module, function = name.split(":")
    found: Work = getattr(import_module(f"earnest.mcp.{module}"), function)
    return found


def _by_the_tools_names(tool: Tool, error: InvalidInput) -> str:
    names = {arg.target: arg.name for arg in tool.args} | {"k": "limit"}
    return str(InvalidInput(names.get(error.name, error.name), error.value, error.reason))


def _failed(message: str) -> types.CallToolResult:
    return types.CallToolResult(content=[types.TextContent(text=message)], is_error=True)
