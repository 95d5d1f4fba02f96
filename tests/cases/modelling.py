"""Operations with a language model that replies what a case has it reply, well or badly, and what cases expect of them."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from http.server import BaseHTTPRequestHandler
from typing import Any, Final

from earnest.core.replies import texts
from earnest.encoding import Document, ReflectionEncoder
from earnest.llms import OpenAILLM, ScriptedLLM
from tests.services import Service, send

from . import values
from .cli_surface import CliSurface
from .model import Left, Op, Reply, Unknown
from .ruling import reply_of
from .run import Run

MOST_CALLS: Final = 5
NO_READER: Final = "no command reads facts out of a reply and shows them"
NO_WAITS: Final = "a command that is told to wait waits for real"
HAPPENED: Final = (
    "The API call failed with an expired key error.",
    "The API key had expired again, and the call failed with an error.",
)
"""What an analysis of rules has to go by: a model is asked where something happened, and drafts what that bears out."""


def _llm(run: Run, op: Op, reply: Reply) -> None:
    """From now on the model replies this, or its service answers with these statuses."""
    run.facts.pop("statuses", None)
    if "status" in op:
        if run.surface.name != "python":
            raise Left("not here", NO_WAITS)
        run.facts["statuses"] = op["status"], str((op.get("headers") or {}).get("Retry-After", ""))
    elif "reply_ids" in op:
        run.facts["replies"] = [reply_of({"reply_id": name}) for name in op["reply_ids"]]
    else:
        run.facts["llm"] = reply.value = reply_of(op)
        run.facts["replies"] = [run.facts["llm"]]


def _happened(run: Run, agent: str | None) -> None:
    """Write down what the analysis goes by."""
    if run.surface.call(agent, "stats")["total"]:
        return
    run.notes.append("two failures are written down first: a model is asked to draft rules where something happened")
    for text in HAPPENED:
        run.surface.call(agent, "add", text=text, confidence=0.4)


def analysis(run: Run, agent: str | None, said: Any) -> dict[str, Any]:
    """An analysis with a model that says this as often as it is asked: its own drafts, what it was asked, and the remarks."""
    _happened(run, agent)
    if isinstance(run.surface, CliSurface):
        # A command takes a model by its service: one on this machine, which replies the same to every request.
        with _service([], "", said) as (url, given):
            run.surface.environ = {"OPENAI_BASE_URL": url}
            made = run.surface.call(agent, "rules.analyze", model="openai:m")
            run.surface.environ = {}
        calls = len(given)
    else:
        model = ScriptedLLM([said if isinstance(said, str) else ""] * MOST_CALLS)
        made = run.surface.call(agent, "rules.analyze", llm=model)
        calls = len(model.prompts)
    kept = run.surface.call(agent, "rules.list")
    drafted = [rule for rule in kept if "by a model" in rule["by"]]
    return {"rules": drafted, "calls": calls, "all": made, "texts": [f"{rule['trigger']} {rule['action']}" for rule in kept]}


def _analyze(run: Run, op: Op, reply: Reply) -> None:
    if "llm" not in run.facts:
        reply.value = run.surface.call(run.agent(op), "rules.analyze")
        if reply.value:
            run.facts["rule"] = reply.value[-1]["id"]
        return
    made = analysis(run, run.agent(op), run.facts["llm"])
    run.facts["analyses"] = [made]
    reply.value = made["all"]
    if reply.value:
        run.facts["rule"] = reply.value[-1]["id"]


def _each(run: Run, op: Op, reply: Reply) -> None:
    """The same for every reply, each in a memory of its own."""
    replies = run.facts["replies"]
    if op["do"] == "extract facts":
        if run.surface.name != "python":
            raise Left("not here", NO_READER)
        run.notes.append("the reader of replies is asked alone: single letters are no facts to an encoder")
        run.facts["facts"] = [texts(said, ("facts",), ("text", "fact"))[0] for said in replies]
    elif op["do"] == "rules_analyze":
        run.facts["analyses"] = [analysis(run, f"reply-{number}", said) for number, said in enumerate(replies)]
    else:
        raise Unknown(f"I do not know what to do for each reply: {op['do']!r}")


class Passages(Service):
    """A service that answers with these statuses in turn, then with 200: with a reply, or what the passages say."""

    def __init__(self, statuses: Any, after: str, reply: str | None = None) -> None:
        self.statuses, self.after, self.reply = statuses, after, reply
        self.given: list[int] = []
        super().__init__("openai")

    def answer(self, handler: BaseHTTPRequestHandler, body: dict[str, Any]) -> None:
        """Answers one request with the status that its turn has."""
        place = len(self.given)
        self.given.append(429 if self.statuses == "always 429" else self.statuses[place] if place < len(self.statuses) else 200)
        status = self.given[-1]
        send(handler, status, self.right(body), **({"Retry_After": self.after} if self.after and status != 200 else {}))

    def right(self, body: dict[str, Any]) -> Any:
        """What the passages of the prompt say, unless there is a reply for all of them."""
        prompt = body["messages"][0]["content"]
        found = re.findall(r"^\[(\d+)\] (.*)$", prompt, re.MULTILINE) if "numbered passages" in prompt else []
        said = json.dumps([{"text": text, "from": [int(number)]} for number, text in found]) if self.reply is None else self.reply
        return {"choices": [{"message": {"content": said}, "finish_reason": "stop"}]}


@contextmanager
def _service(statuses: Any, after: str, reply: str | None = None) -> Iterator[tuple[str, list[int]]]:
    """The address of such a service, and the statuses that it gave so far."""
    with closing(Passages(statuses, after, reply)) as service:
        yield f"{service.url}/v1", service.given


def ingest(run: Run, op: Op, reply: Reply) -> bool:
    """Encode a text with the model whose service answers with statuses; False if no such model was named."""
    if "statuses" not in run.facts:
        return False
    count = int(re.fullmatch(r"(\d+) paragraphs", op["text"])[1])  # type: ignore[index]
    text = "\n\n".join(f"Machine {op['source']}{number} stands in rack {number} of the Oslo site." for number in range(count))
    statuses, after = run.facts["statuses"]
    pauses: list[float] = []
    with _service(statuses, after) as (url, given):
        encoder = ReflectionEncoder(OpenAILLM("m", base_url=url, pause=pauses.append), workers=1)
        made = run.surface.call(run.agent(op), "encode", documents=[Document(op["source"], text)], encoder=encoder)
    run.facts.setdefault("ingested", []).append({"report": made, "given": given, "pauses": pauses, "count": count, "source": op["source"]})
    reply.value = len(made["entries"])
    return True


OPERATIONS: Final[dict[str, Callable[[Run, Op, Reply], None]]] = {"llm": _llm, "rules_analyze": _analyze, "for_each_reply": _each}


def _rules(run: Run, value: Any) -> list[str]:
    counts = [len(made["rules"]) for made in run.facts["analyses"]]
    if counts == [0] and run.facts["analyses"][0]["calls"] == 1 and '"t"' in run.facts["llm"]:
        raise Left("no counterpart", "a draft of single letters is borne out by nothing; E70 wraps a whole one in the same way")
    wanted = value if isinstance(value, list) else [value]
    return [] if counts == wanted else [f"wanted {wanted} rules drafted by the model, there are {counts}"]


def _calls(run: Run, value: Any) -> list[str]:
    calls = [made["calls"] for made in run.facts["analyses"]]
    return [] if calls == [value] else [f"wanted {value} calls of the model, there were {calls}"]


def _calls_max(run: Run, value: Any) -> list[str]:
    return [f"{made['calls']} calls of the model" for made in run.facts["analyses"] if made["calls"] > value]


def _errors(run: Run, value: Any) -> list[str]:
    if "analyses" not in run.facts:
        return values.EXPECTATIONS["errors"](run, value)
    if any(value):
        raise Unknown("I only know that no reply is an error")
    # A refusal would have ended the step.
    return [] if len(run.facts["analyses"]) == len(value) else ["a reply was refused"]


def _types(run: Run, value: Any) -> list[str]:
    types = [made["rules"][0]["type"] if made["rules"] else None for made in run.facts["analyses"]]
    return [] if types == value else [f"wanted types {value}, there are {types}"]


def _facts(run: Run, value: Any) -> list[str]:
    return [] if run.facts["facts"] == value else [f"wanted {value}, read {run.facts['facts']}"]


def _never_stored(run: Run, value: Any) -> list[str]:
    return [f"{text!r} was stored" for made in run.facts["analyses"] for text in made["texts"] if value in text]


def _never_touched(run: Run, value: Any) -> list[str]:
    """What the model was not shown is as it was."""
    return [f"{key} is not as it was" for key, op in run.added.items() if run.entry(key)["text"] != op["content"]]


def _no_operations(run: Run, value: Any) -> list[str]:
    raise Left("no counterpart", "consolidation asks no model, and no verb lets a model name an entry that is to be changed or removed")


def _waits(run: Run, value: Any) -> list[str]:
    pauses = run.facts["ingested"][0]["pauses"]
    return [] if pauses and min(pauses) >= value else [f"waited {pauses}, asked for {value} s"]


def _retries(run: Run, value: Any) -> list[str]:
    return [f"{len(one['given'])} requests for {one['source']}" for one in run.facts["ingested"][1:] if len(one["given"]) > 2 * value]


def report(run: Run, value: Any) -> list[str]:
    """What a report has to say of work that a model did not do."""
    if value == "reply was not usable":
        unusable = [made for made in run.facts["analyses"] if made["rules"]]
        return [f"an unusable reply became {unusable}"] if unusable else []
    if value == "pieces done and left":
        first, *others = run.facts["ingested"]
        wrong = [] if not first["report"]["unfinished"] else ["A was not finished"]
        for one in others:
            told = " ".join(one["report"]["notes"])
            if one["report"]["unfinished"] != [one["source"]] or f"{one['count']} of {one['count']} passages" not in told:
                wrong.append(f"B's report does not say what is left: {told}")
        return wrong
    raise Unknown(f"I do not know what a report says with {value!r}")


def _second(run: Run, value: Any) -> list[str]:
    whole = sum(one["count"] for one in {one["source"]: one for one in run.facts["ingested"]}.values())
    return [] if run.live() == whole else [f"{run.live()} entries of {whole} paragraphs"]


EXPECTATIONS: Final[dict[str, Callable[[Run, Any], list[str]]]] = {
    "rules": _rules,
    "llm_calls": _calls,
    "llm_calls_max": _calls_max,
    "errors": _errors,
    "rule_types": _types,
    "facts": _facts,
    "never_stored": _never_stored,
    "waits_at_least_s": _waits,
    "retries_max": _retries,
    "second_run": _second,
    "report": report,
    "never_touches": _never_touched,
    "bad_op": _no_operations,
    "other_ops": _no_operations,
}
