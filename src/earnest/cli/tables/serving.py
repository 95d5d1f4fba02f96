"""Commands that serve others."""

from __future__ import annotations

from typing import Final

from earnest.cli.tables.options import PROFILES, TARGETS, WHERE, Command, Option, switch

SERVING: Final = (
    Command(
        "render", "Serve", "write what memory knows into a file that agents read", "rendering:render",
        (
            Option(("target",), "what to write", choices=TARGETS),
            Option(("path",), "the file, or the folder for claude-memory; a dash prints it (the target's own name)", "PATH", nargs="?",
                   files=True),
            Option(("--split-dir",), "a folder for one file for each kind; the file is their index", "PATH", files=True),
            Option(("--budget",), "bytes that may be taken, such as 12000 or 12kb (12000; 24000 where Claude Code cuts)", "SIZE"),
            Option(("--max-lines",), "lines that may be taken (120; 200 where Claude Code cuts)", "N", "whole"),
            *WHERE,
            switch("--check", "write nothing; exit status 1 if the file is not up to date"),
        ),
        "earnest render AGENTS.md",
        "Only entries in good standing are shown, the best borne out first, fenced as data. What is between Earnest's two marks is "
        "replaced; the rest of the file stays as it is.",
    ),
    Command(
        "serve", "Serve", "serve a folder of memories over HTTP, or manage the tokens that open it", "serving:serve",
        (
            Option(("action",), "serve unless given; `token` makes, lists and revokes tokens", "ACTION", nargs="?", choices=("token",)),
            Option(("name",), "the name of a new token", "NAME", nargs="?"),
            Option(("--root",), "the folder with one file for each agent; made if it is not there", "FOLDER", files=True),
            Option(("--host",), "the address to listen on (127.0.0.1); others than this machine's need a token", "ADDRESS"),
            Option(("--port",), "the port to listen on (8765); 0 takes a free one", "N", "whole"),
            Option(("--allow-host",), "a further name that requests may be for, HOST or HOST:PORT; repeat for several", "NAME",
                   repeat=True),
            Option(("--allow-origin",), "the origin of a page elsewhere that may ask; repeat for several", "ORIGIN",
                   repeat=True),
            Option(("--rate",), "requests a second for each token (100); 0 for no bound", "N", "number"),
            switch("--operator", "the new token speaks for every agent and may change whom memory trusts; else --agent names its agent"),
            switch("--read-only", "the new token may only read"),
            Option(("--channel",), "how what comes with the new token is recorded (http); a meter can be bound to it", "NAME"),
            switch("--list", "list the tokens, without their secrets"),
            Option(("--revoke",), "end the token of this name or id", "NAME"),
        ),
        "earnest serve --root memories --port 8765",
        "Needs the extra server. Every request but /healthz and /readyz needs a bearer token: EARNEST_TOKEN, or one that `earnest serve "
        "token NAME` made. Ends on Ctrl-C or SIGTERM, with what runs done.",
    ),
    Command(
        "mcp", "Serve", "serve memory to agents, as tools over MCP", "mcp:mcp",
        (
            switch("--http", "serve over streamable HTTP in place of the standard streams"),
            Option(("--host",), "with --http, the address to listen on (127.0.0.1); one that others reach needs EARNEST_TOKEN", "ADDRESS"),
            Option(("--port",), "with --http, the port to listen on (8765)", "N", "whole"),
            Option(("--name",), "with --http, a further HOST:PORT that requests may be for; repeat for several", "NAME", repeat=True),
            Option(("--profile",), "which tools there are: all, or those without settle, tick, forget and update (full)", choices=PROFILES),
            switch("--read-only", "no tool that writes; questions are answered without a ticket"),
        ),
        "earnest mcp --store .earnest/memory.db",
        "Needs the extra mcp. Ends when its input ends. What an agent settles is recorded as claimed, unless the meter was bound to the "
        "channel mcp. Logs go to standard error; EARNEST_LOG=info says more.",
    ),
    Command(
        "claude-code", "Serve", "write the plug-in for Claude Code", "claude_code:install",
        (Option(("folder",), "the folder to write it into, new or of an earlier version", "FOLDER", files=True),),
        "earnest claude-code ./earnest-plugin",
        "Hooks recall on every prompt, keep what a turn leaves, and settle decisions by the exit statuses of the tests that the agent ran; "
        "the agent gets the tools of `earnest mcp`. Trusts the meter claude-code-tests over the channel claude-code.",
    ),
    Command(
        "ui", "Serve", "open the dashboard of the store in a browser", "ui:ui",
        (
            Option(("--port",), "the port to listen on; a free one unless given", "N", "whole"),
            switch("--no-open", "only print the link"),
            switch("--read-only", "look, and change nothing"),
        ),
        "earnest ui --store .earnest/memory.db",
        "Needs the extra server. Listens on this machine alone. The link holds a code that works once and is traded for a token, which "
        "lives as long as the command runs; what is settled here is recorded as typed by the operator.",
    ),
)  # fmt: skip
