"""Whatever a client sends: a frame is a message or an answerable refusal, arguments are read or refused by name. Nothing else is raised."""

from __future__ import annotations

import json
from typing import Any, Final

import mcp_types as types
from hypothesis import example, given
from hypothesis import strategies as st

from earnest.errors import InvalidInput
from earnest.mcp.schemas import arguments
from earnest.mcp.stdio import Refused, read_frame
from earnest.mcp.tools import TOOLS

JSON: Final = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=20,
)
NAMES: Final = st.sampled_from(["jsonrpc", "id", "method", "params", "result", "error"])
FRAMES: Final = st.dictionaries(NAMES, JSON | st.sampled_from(["2.0", "ping", "tools/call"]))
CODES: Final = {types.PARSE_ERROR, types.INVALID_REQUEST}


@given(st.binary() | JSON.map(lambda value: json.dumps(value).encode()) | FRAMES.map(lambda value: json.dumps(value).encode()))
@example(b'{"jsonrpc":"2.0","id":null,"method":"ping"}')
@example(b'{"jsonrpc":"2.0","id":1e400,"method":"ping"}')
@example(b"[" * 5_000)
@example(b'{"a":' * 5_000)
@example(b'"\\ud800"')
@example(b"NaN")
def test_a_line_is_a_message_or_an_answerable_refusal(line: bytes) -> None:
    made = read_frame(line)
    if isinstance(made, Refused):
        assert made.code in CODES and made.reason
        answer = types.JSONRPCError(jsonrpc="2.0", id=made.id, error=types.ErrorData(code=made.code, message=made.reason))
        assert json.loads(answer.model_dump_json(by_alias=True, exclude_unset=True))["id"] == made.id
        return
    sent = json.loads(line)
    assert sent["jsonrpc"] == "2.0"
    # What has an id is answered: nothing that asks for an answer is taken for a notification.
    assert isinstance(made, types.JSONRPCNotification) is ("id" not in sent)


@given(st.sampled_from(TOOLS), JSON | st.data())
def test_arguments_are_read_or_refused_by_name(tool: Any, given_or_data: Any) -> None:
    if hasattr(given_or_data, "draw"):
        names = [arg.name for arg in tool.args] or ["x"]
        sent = given_or_data.draw(st.dictionaries(st.sampled_from(names), JSON))
    else:
        sent = given_or_data
    try:
        made = arguments(tool.full_name, tool.args, sent)
    except InvalidInput as error:
        known = {arg.name for arg in tool.args} | {"arguments"}
        assert error.name in known or (isinstance(sent, dict | str) and error.name not in known)
        assert str(error).startswith(f"{error.name} = ")
        return
    targets = {arg.target: arg for arg in tool.args}
    assert set(made) <= set(targets)
    for name, value in made.items():
        arg = targets[name]
        kind: Any = {"text": str, "number": (int, float), "whole": int, "flag": bool, "texts": list, "object": dict}[arg.type]
        assert isinstance(value, kind) and (arg.type in ("flag",) or not isinstance(value, bool))
        if arg.choices and isinstance(value, str):
            assert value in arg.choices
        for bound, beyond in ((arg.low, -1), (arg.high, 1)):
            assert bound is None or (value - bound) * beyond <= 0
