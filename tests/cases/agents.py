"""What agents do: operations over the MCP server, in a process of its own as their clients start it, and rendering into files they read."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import unicodedata
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from tests.mcp_server import INITIALIZE, Server, command

from . import damage
from .model import Left, Op, Reply, Unknown, rows_of
from .run import Run
from .surface import environment

DATA = Path(__file__).with_name("data")
EVERY_LIST = "every tool that lists, audits, tops, graphs, or searches"
LISTS = {"memory_search": {"query": "KB"}, "memory_top": {}, "memory_pending": {}, "memory_audit": {}}
TOOLS = {"search": "memory_search", "add": "memory_add"}
ARGUMENTS = {"content": "text"}
PAST = 20.0
"""Seconds after which a process is taken for one that does not end. (Cases name 2; the machine may be busy.)"""

_PARENT = """
import subprocess, sys
child = subprocess.Popen(sys.argv[1:])
print(child.pid, file=sys.stderr, flush=True)
child.wait()
"""
_CUT = ("\u200d", "\u0301", "\u20e3", "\ufe0f")


def _server(run: Run, op: Op, *, greet: bool = True, **environ: str) -> Server:
    """A server on the agent's store; it ends with the case."""
    run.surface.reopen()
    who = [] if run.agent(op) is None else ["--agent", str(run.agent(op))]
    server = Server(run.folder, *who, greet=greet, **{**environment(), "EARNEST_EMBEDDER": "none", **environ})
    run.closing.callback(server.__exit__, None, None, None)
    return server


def _mcp_add(run: Run, op: Op, reply: Reply) -> None:
    reply.value = _server(run, op).get("memory_add", text=op["content"])
    run.ids["mcp"], run.added["mcp"] = reply.value["id"], op


def _tools(run: Run, op: Op, reply: Reply) -> None:
    server = _server(run, op)
    server.send({"jsonrpc": "2.0", "id": 1, "method": "tools/list"})
    reply.value = run.facts["tools"] = server.answer(1)["result"]["tools"]


def _calls(run: Run, op: Op, reply: Reply) -> None:
    """Every row of a table: a tool, its arguments, and what comes of it."""
    server = _server(run, op)
    made = []
    for number, row in enumerate(rows_of(DATA / "tables" / Path(op["file"]).name)):
        given = row["args"]
        if isinstance(given, dict):
            given = {ARGUMENTS.get(name, name): value for name, value in given.items()}
        server.send({"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": {"name": TOOLS[row["tool"]], "arguments": given}})
        made.append((row, server.answer(number)))
    server.get("memory_stats")
    run.facts["calls"], run.facts["alive"] = made, server.process.poll() is None
    reply.value = [answer for _, answer in made]


def _call(run: Run, op: Op, reply: Reply) -> None:
    if op["tool"] != EVERY_LIST:
        raise Unknown(f"I do not know the tools {op['tool']!r}")
    server = _server(run, op)
    run.facts["replies"] = [server.call(name, **given) for name, given in LISTS.items()]
    run.notes.append(f"{', '.join(LISTS)}; there is no tool that draws a graph")


def _mcp_search(run: Run, op: Op, reply: Reply) -> None:
    run.facts["replies"] = [_server(run, op).call("memory_search", query=op["query"], limit=op["limit"])]


def searched(run: Run, query: str) -> Any:
    """What the server says to a search."""
    return _server(run, {"op": ""}).call("memory_search", query=query, limit=10)


def _session(run: Run, op: Op, reply: Reply) -> None:
    """Frames as they stand in a table, one after the other, and then the end of the input."""
    server = _server(run, op, greet=False, EARNEST_LOG=str(op.get("log_level", "warning")))
    answers: list[tuple[str, str, dict[str, Any] | None]] = []
    for row in rows_of(DATA / "tables" / "mcp_frames.jsonl"):
        if row["send"] == "EOF":
            break
        frame = re.sub(r'"name":"(search|add)"', lambda found: f'"name":"{TOOLS[found[1]]}"', row["send"]).replace(
            '{"content":', '{"text":'
        )
        server.send(frame.encode("utf-8"))
        answers.append((row["send"], row["expect"], None if row["expect"] == "ignored" else server.next()))
    rest = server.rest(PAST)
    run.facts |= {"answers": answers, "rest": rest, "status": server.process.returncode, "printed": server.lines, "server": server}
    reply.value = [answer for _, _, answer in answers]


def _start(run: Run, op: Op, reply: Reply) -> None:
    if op.get("surface") not in ("mcp stdio", "mcp or rest"):
        raise Unknown(f"I do not know how to start {op.get('surface')!r}")
    if op["surface"] == "mcp or rest":
        # Calls come over the server too, while this surface is called from threads.
        server = _server(run, op)
        server.get("memory_add", text="written by the server")
        return
    if run.surface.name == "cli":
        raise Left("not here", "start: the server is the same process, and is spoken to where the case is played on Python")
    if sys.platform == "win32":
        raise Left("not here", "start: parents and signals are those of POSIX")
    run.surface.reopen()
    # The parent is a shell that does nothing else, so that it can be killed.
    run.facts["parent"] = parent = subprocess.Popen(
        [sys.executable, "-c", _PARENT, *command(run.folder)],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment() | {"EARNEST_EMBEDDER": "none"},
    )  # fmt: skip
    assert parent.stdin and parent.stdout and parent.stderr
    run.closing.callback(_let_go, parent)
    run.facts["child"] = int(parent.stderr.readline())
    parent.stdin.write(json.dumps(INITIALIZE).encode() + b"\n")
    parent.stdin.write(b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"memory_add","arguments":{"text":"x"}}}\n')
    parent.stdin.flush()
    answers = [json.loads(parent.stdout.readline()) for _ in range(2)]
    if {answer["id"] for answer in answers} != {"hello", 1}:
        raise Unknown(f"the server does not answer as it should: {answers}")


def _let_go(parent: subprocess.Popen[bytes]) -> None:
    parent.kill()
    parent.wait(PAST)
    for stream in (parent.stdin, parent.stdout, parent.stderr):
        assert stream is not None
        try:
            stream.close()
        except BrokenPipeError:
            continue


def _ended(how: str) -> Callable[[Run, Op, Reply], None]:
    def operation(run: Run, op: Op, reply: Reply) -> None:
        parent: subprocess.Popen[bytes] = run.facts["parent"]
        child: int = run.facts["child"]
        assert parent.stdin is not None
        if how == "close_stdin":
            parent.stdin.close()
        elif how == "kill_parent":
            parent.kill()
        else:
            os.kill(child, signal.SIGTERM)
        run.facts.setdefault("ended", []).append((how, _gone(child)))

    return operation


def _gone(pid: int) -> bool:
    for _ in range(int(PAST / 0.05)):
        done = subprocess.run(["ps", "-o", "stat=", "-p", str(pid)], capture_output=True, text=True, check=False).stdout.strip()
        if not done or done.startswith("Z"):
            return True
    return False


def _render(run: Run, op: Op, reply: Reply) -> None:
    """Render into every kind of file; a case may say what stands in them already, and which titles entries have."""
    for title in op.get("titles", []):
        run.surface.call(run.agent(op), "add", text=f"{title} is what this is called", cue=title)
    place = run.folder.parent / "rendered"
    place.mkdir(exist_ok=True)
    if "target" in op:
        for number, before in enumerate(_bodies()):
            (place / f"{number}.md").write_bytes(before)
            run.facts.setdefault("mine", {})[place / f"{number}.md"] = before
    for _ in range(int(op.get("times", 1))):
        for path in run.facts.get("mine", {}):
            run.surface.call(run.agent(op), "render", target="AGENTS.md", path=str(path))
            run.facts.setdefault("renderings", {}).setdefault(path, []).append(path.read_bytes())
        if not run.facts.get("mine"):
            run.surface.call(run.agent(op), "render", target="AGENTS.md", path=str(place / "AGENTS.md"))
            run.surface.call(run.agent(op), "render", target="claude-memory", path=str(place / "memory"))
    if not run.facts.get("mine"):
        run.facts["rendered"] = {path.name: path.read_text(encoding="utf-8") for path in sorted(place.rglob("*.md"))}


def _bodies() -> Iterator[bytes]:
    """Files with a bad header, with two, and with text around what is ours."""
    for name in ("bad_frontmatter_colon.md", "two_frontmatter_blocks.md"):
        yield (DATA / "files" / "text" / name).read_bytes()
    yield b"# Mine\r\n\r\nabove\r\n"


def _once(operation: Callable[[Run, Op, Reply], None]) -> Callable[[Run, Op, Reply], None]:
    """An operation on the server alone: it is the same process whichever surface the case is played on."""

    def played(run: Run, op: Op, reply: Reply) -> None:
        if run.surface.name == "cli":
            raise Left("not here", f"{op['op']}: the server is the same process, and is spoken to where the case is played on Python")
        operation(run, op, reply)

    return played


OPERATIONS: dict[str, Callable[[Run, Op, Reply], None]] = {
    "mcp_add": _mcp_add,
    "mcp_tools_list": _once(_tools),
    "mcp_calls": _once(_calls),
    "mcp_call": _once(_call),
    "mcp_search": _once(_mcp_search),
    "mcp_session": _once(_session),
    "start": _start,
    "close_stdin": _once(_ended("close_stdin")),
    "kill_parent": _once(_ended("kill_parent")),
    "SIGTERM": _once(_ended("SIGTERM")),
    "render": _render,
}


# what cases expect


def _schemas(run: Run) -> Iterator[tuple[str, dict[str, Any]]]:
    """Every schema in the tools, with the tool's name."""

    def inside(schema: dict[str, Any]) -> Iterator[dict[str, Any]]:
        yield schema
        for one in schema.get("properties", {}).values():
            yield from inside(one)
        if "items" in schema:
            yield from inside(schema["items"])

    for tool in run.facts["tools"]:
        for root in (tool["inputSchema"], tool["outputSchema"]):
            yield from ((tool["name"], schema) for schema in inside(root))


def _no_keyword(run: Run, value: Any) -> list[str]:
    made = []
    for tool, schema in _schemas(run):
        for word in value:
            if word == "type as a list":
                wrong = not isinstance(schema.get("type"), str)
            elif word == "boolean schema":
                wrong = any(
                    isinstance(one, bool)
                    for one in [*schema.get("properties", {}).values(), schema.get("items"), schema.get("additionalProperties")]
                )
            elif word == "null default beside a type":
                wrong = "default" in schema and schema["default"] is None
            elif word in ("anyOf", "oneOf", "allOf", "$ref", "$defs"):
                wrong = word in schema
            else:
                raise Unknown(f"I do not know the keyword {word!r}")
            made += [f"{tool}: {word}"] if wrong else []
    return made


def _arrays_have_items(run: Run, value: Any) -> list[str]:
    return [f"{tool}: {schema}" for tool, schema in _schemas(run) if schema.get("type") == "array" and "items" not in schema]


def _one_word(run: Run, value: Any) -> list[str]:
    known = {"string", "number", "integer", "boolean", "array", "object"}
    return [f"{tool}: {schema.get('type')}" for tool, schema in _schemas(run) if schema.get("type") not in known]


def _roots(run: Run) -> Iterator[tuple[str, dict[str, Any]]]:
    return ((tool["name"], tool["inputSchema"]) for tool in run.facts["tools"])


def _root_type(run: Run, value: Any) -> list[str]:
    return [name for name, root in _roots(run) if root.get("type") != value]


def _root_lacks(run: Run, value: Any) -> list[str]:
    return [f"{name}: {word}" for name, root in _roots(run) for word in value if word in root]


def _names_match(run: Run, value: Any) -> list[str]:
    return [tool["name"] for tool in run.facts["tools"] if not re.fullmatch(value, tool["name"])]


def _descriptions(run: Run, value: Any) -> list[str]:
    silent = [tool["name"] for tool in run.facts["tools"] if not tool.get("description")]
    return silent + [f"{name}.{arg}" for name, root in _roots(run) for arg, one in root["properties"].items() if not one.get("description")]


def calls_as_in(run: Run) -> list[str]:
    """Rows of arguments: read where they are clear, refused by name where not."""
    made = []
    for row, answer in run.facts["calls"]:
        expect, result = row["expect"], answer.get("result")
        refused = result is None or result.get("isError", False)
        said = "" if result is None else result["content"][0]["text"]
        name = expect.split("naming ")[1] if "naming " in expect else ""
        if expect.startswith(("treated as", "default", "bounded")):
            ok = not refused
        elif expect.startswith("tool error") and ", or parsed" not in expect and " or " not in expect:
            ok = refused and name in said
        else:
            ok = refused or result is not None
        if not ok:
            made.append(f"{row['args']}: {expect}, got {said[:100] or answer}")
    return made


def frames_as_in(run: Run) -> list[str]:
    """Frames: each answered as its row says."""
    made = []
    for sent, expect, answer in run.facts["answers"]:
        code = re.search(r"-32\d{3}", expect)
        if answer is None:
            ok = True
        elif code and " or " not in expect:
            ok = answer.get("error", {}).get("code") == int(code[0])
        elif "result whose id" in expect:
            ok = answer["id"] == expect.rsplit(" ", 1)[1] and "result" in answer
        elif "with id 0" in expect:
            ok = answer["id"] == 0 and answer["result"] == {}
        elif "version" in expect:
            ok = answer.get("result", {}).get("protocolVersion", "") != "1999-01-01"
        elif "naming the missing argument" in expect:
            ok = answer["result"]["isError"] and "query" in answer["result"]["content"][0]["text"]
        else:
            ok = "result" in answer or "error" in answer
        if not ok:
            made.append(f"{sent[:80]}: {expect}, got {answer}")
    made += [f"after the last answer came {run.facts['rest']}"] if run.facts["rest"] else []
    made += [] if run.facts["status"] == 0 else [f"it ended with {run.facts['status']}"]
    return made + ([] if damage.look_over(damage.store_file(run, {"op": ""}))["ok"] else ["the store is damaged"])


TABLES: dict[str, Callable[[Run], list[str]]] = {"mcp_frames.jsonl": frames_as_in, "mcp_tool_args.jsonl": calls_as_in}
"""Tables that tell beside each row what comes of it."""


def _server_alive(run: Run, value: Any) -> list[str]:
    return [] if run.facts["alive"] is value else [f"alive: {run.facts['alive']}"]


def _reply_chars(run: Run, value: Any) -> list[str]:
    sizes = [len(json.dumps(reply, ensure_ascii=False)) for reply in run.facts["replies"]]
    return [f"{size:,} characters" for size in sizes if size > value]


def _structured(run: Run) -> Iterator[dict[str, Any]]:
    for reply in run.facts["replies"]:
        assert json.loads(reply["content"][0]["text"]) == reply["structuredContent"]
        yield reply["structuredContent"]


def _says_truncated(run: Run, value: Any) -> list[str]:
    return [f"not said: {str(one)[:100]}" for one in _structured(run) if one.get("hits") or one.get("entries") if not one["truncated"]]


def _has_hint(run: Run, value: Any) -> list[str]:
    return [f"no way to the rest: {str(one)[:100]}" for one in _structured(run) if one["truncated"] and not one.get("rest")]


def _shown(run: Run) -> Iterator[dict[str, Any]]:
    for one in _structured(run):
        yield from (*one.get("hits", []), *one.get("entries", []))


def _ids_whole(run: Run, value: Any) -> list[str]:
    known = set(run.ids.values())
    return [f"no whole id: {one}" for one in _shown(run) if one["id"] not in known]


def _cut_on_border(run: Run, value: Any) -> list[str]:
    made = []
    for one in _shown(run):
        whole = run.surface.call(None, "get", id=one["id"])["text"]
        shown = one["text"].removesuffix("…")
        rest = whole[len(shown) :]
        if (
            not whole.startswith(shown)
            or rest.startswith(_CUT)
            or (rest and unicodedata.category(rest[0]).startswith("M"))
            or shown.endswith("\u200d")
        ):
            made.append(f"cut inside a character: {shown[-5:]!r} | {rest[:5]!r}")
    return made


def _stdout_lines(run: Run, value: Any) -> list[str]:
    if value != "one JSON-RPC message":
        raise Unknown(f"I do not know what {value!r} asks for")
    made = []
    for line in run.facts["printed"]:
        try:
            one = json.loads(line)
        except ValueError:
            made.append(f"not JSON: {line[:100]!r}")
            continue
        made += [] if one.get("jsonrpc") == "2.0" and len(line.decode().splitlines()) == 1 else [f"no message: {line[:100]!r}"]
    return made


def _logs_on(run: Run, value: Any) -> list[str]:
    server: Server = run.facts["server"]
    server.process.wait(PAST)
    server.heard.wait(PAST)
    return [] if b"earnest: DEBUG" in server.log else [f"no log on {value}: {server.log[:200]!r}"]


def _exit_within(run: Run, value: Any) -> list[str]:
    return [f"{how}: it went on" for how, gone in run.facts["ended"] if not gone]


def _children_left(run: Run, value: Any) -> list[str]:
    return [] if all(gone for _, gone in run.facts["ended"]) else ["a process is left"]


def _closed_cleanly(run: Run, value: Any) -> list[str]:
    file = damage.store_file(run, {"op": ""})
    left = [path.name for path in file.parent.iterdir() if path.name.endswith(("-wal", "-shm"))]
    return left + ([] if damage.look_over(file)["ok"] else ["the store is damaged"])


def _second_equals_first(run: Run, value: Any) -> list[str]:
    return [
        f"{path.name}: the second rendering differs"
        for path, made in run.facts["renderings"].items()
        if len(set(made[-2:])) != 1 or len(made) < 2
    ]


def _outside_kept(run: Run, value: Any) -> list[str]:
    return [f"{path.name} was changed" for path, before in run.facts["mine"].items() if not path.read_bytes().startswith(before)]


def _body_kept(run: Run, value: Any) -> list[str]:
    entries = run.surface.call(None, "list")
    return [] if any("The body must survive" in entry["text"] for entry in entries) else [f"the body is not there: {entries}"]


def _source_unchanged(run: Run, value: Any) -> list[str]:
    return [f"{file} was changed" for file, before in run.facts["bytes"].items() if file.read_bytes() != before]


def _file_names(run: Run, value: Any) -> list[str]:
    names = [*run.facts["rendered"], *(path.name for path in run.folder.iterdir())]
    device = re.compile(r"(?i)(con|prn|aux|nul|com\d|lpt\d)(\..*)?\Z")
    return [name for name in names if not re.fullmatch(r"[A-Za-z0-9._%~-]+", name) or device.match(name) or name.endswith(".")]


def _content_kept(run: Run, value: Any) -> list[str]:
    whole = "\n".join(run.facts["rendered"].values()).replace("&lt;", "<")
    titles = [title for op in run.case.action for title in op.get("titles", [])]
    return [f"{title!r} is not there" for title in titles if f"{title} is what this is called" not in whole]


EXPECTATIONS: dict[str, Callable[[Run, Any], list[str]]] = {
    "no_keyword": _no_keyword,
    "every_array_has_items": _arrays_have_items,
    "every_type_is_one_word": _one_word,
    "root_type": _root_type,
    "root_lacks": _root_lacks,
    "names_match": _names_match,
    "descriptions": _descriptions,
    "server_alive": _server_alive,
    "reply_chars_max": _reply_chars,
    "says_truncated": _says_truncated,
    "has_cursor_or_hint": _has_hint,
    "ids_whole": _ids_whole,
    "each_has_id": _ids_whole,
    "cut_on_character_border": _cut_on_border,
    "every_stdout_line": _stdout_lines,
    "logs_on": _logs_on,
    "exit_within_s": _exit_within,
    "children_left": _children_left,
    "store": _closed_cleanly,
    "second_render_equals_first": _second_equals_first,
    "text_outside_markers": _outside_kept,
    "body_kept": _body_kept,
    "source_unchanged": _source_unchanged,
    "file_names_match": _file_names,
    "content_kept": _content_kept,
}
