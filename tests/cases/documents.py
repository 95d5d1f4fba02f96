"""Operations on documents, files and folders, and what cases expect of them."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from . import agents, ci_outcomes, conversing, damage, modelling, moving, texts, timing
from .model import Left, Op, Reply, Unknown
from .run import Run

DATA = Path(__file__).with_name("data")

FORMATS = (None, "auto", "chatgpt", "claude")
"""Exports that are documents: `encode` reads them."""

_OLDER = "local-1/600/2/3"


def _folder(run: Run) -> Path:
    """Where the files lie that a case writes itself."""
    place = run.folder.parent / "documents"
    place.mkdir(exist_ok=True)
    return place


def _place(run: Run, name: str) -> Path:
    """A file or folder that a case names: one that it wrote, else one of the project's own."""
    for place in (_folder(run) / name, DATA / name, DATA / Path(name).name):
        if place.exists():
            return place
    raise Left("not yet", f"the file {name} is not among the project's own cases")


def _encode(run: Run, op: Op, reply: Reply, place: Path, **options: Any) -> None:
    for _ in range(int(op.get("times", 1))):
        reply.value = run.surface.call(run.agent(op), "encode_files", paths=[str(place)], **options)
    # What files hold, as it was before: nobody may write into them.
    run.facts.setdefault("bytes", {}).update({file: file.read_bytes() for file in _files(place)})
    for i, entry in enumerate(reply.value["entries"]):
        key = place.name if i == 0 else f"{place.name}#{i}"
        run.ids[key], run.added[key] = entry["id"], {**op, "sources": entry["sources"]}


def _files(place: Path) -> Iterator[Path]:
    yield from (file for file in ([place] if place.is_file() else sorted(place.rglob("*"))) if file.is_file())


def _ingest(run: Run, op: Op, reply: Reply) -> None:
    if op["op"] == "ingest_text" and modelling.ingest(run, op, reply):
        return
    if op["op"] == "ingest_text":
        place = _folder(run) / op["source"]
        place.write_text(op["text"], encoding="utf-8")
    elif "splitter_version" in op:
        place = _folder(run) / op["path"]
        place.write_text("Alpha stays. Bravo stays. Charlie stays.", encoding="utf-8")
    else:
        place = _place(run, op["path"])
    _encode(run, op, reply, place)


def _ingest_dir(run: Run, op: Op, reply: Reply) -> None:
    place = _folder(run) if op["path"] == "." else _place(run, op["path"])
    _encode(run, op, reply, place, **({"prune": True} if op.get("sync") else {}))


def _import(run: Run, op: Op, reply: Reply) -> None:
    if op.get("into") == "fresh store" or not {"path", "items"} & set(op):
        moving.OPERATIONS["import again"](run, op, reply)
        return
    if "items" in op:
        source = _folder(run) / f"items-{len(run.replies)}.json"
        source.write_text(json.dumps(op["items"]), encoding="utf-8")
        reply.value = run.surface.call(run.agent(op), "import_", path=str(source))
        return
    if reply.phase == "setup":
        # What a case begins with is a memory of another program's, not a document.
        timing.import_whole(run, op, reply, str(_place(run, op["path"])))
        return
    if op.get("format") not in FORMATS:
        raise Left("not yet", f"import: the library has no import_ that reads {op['format']!r}")
    place = _place(run, op["path"])
    if "only" in op:
        some = [value for value in json.loads(place.read_text(encoding="utf-8")) if value and value.get("conversation_id") == op["only"]]
        place = _folder(run) / f"{op['only']}.json"
        place.write_text(json.dumps(some), encoding="utf-8")
        run.notes.append("of an export that holds one conversation only")
    run.notes.append("exports of conversations are documents: encode reads them")
    _encode(run, op, reply, place)


def _write(run: Run, op: Op, reply: Reply) -> None:
    (_folder(run) / op["path"]).write_text(texts.content(op["text"]), encoding="utf-8")


def _delete(run: Run, op: Op, reply: Reply) -> None:
    (_folder(run) / op["path"]).unlink()


def _upgrade(run: Run, op: Op, reply: Reply) -> None:
    """As if what is in the store had been made by an older version's rules."""
    run.surface.reopen()
    store = sqlite3.connect(damage.store_file(run, op))
    store.execute("UPDATE documents SET encoder = ?", (_OLDER,))
    store.commit()
    store.close()


OPERATIONS: dict[str, Callable[[Run, Op, Reply], None]] = {
    "ingest_text": _ingest,
    "ingest_file": _ingest,
    "ingest_dir": _ingest_dir,
    "import": _import,
    "write_file": _write,
    "delete_file": _delete,
    "upgrade": _upgrade,
}


# expectations


def _reports(run: Run) -> dict[str, dict[str, Any]]:
    """What the steps said, by the name of each file: its state, the reason, its entries, and what was left out of it."""
    made: dict[str, dict[str, Any]] = {}
    for reply in run.actions():
        for file in reply.value["files"] if isinstance(reply.value, dict) and "files" in reply.value else ():
            source = file["source"]
            made[Path(source).name] = {
                **file,
                "texts": [e["text"] for e in reply.value["entries"] if source in e["sources"]],
                "of": [e for e in reply.value["entries"] if source in e["sources"]],
                "said": [s["reason"] for s in reply.value["skipped"] if s["source"] == source]
                + [note for note in reply.value["notes"] if note.startswith(f"{source}: ")],
            }
        if isinstance(reply.value, dict) and reply.kinds is None:
            continue
        if reply.kinds and "path" in reply.op:
            made[Path(reply.op["path"]).name] = {"state": "failed", "reason": reply.message, "texts": [], "of": [], "said": [reply.message]}
    return made


def _as_in(run: Run, value: Any) -> list[str]:
    if value in agents.TABLES:
        return agents.TABLES[value](run)
    if value == "secrets.jsonl":
        return conversing.secrets_as_in(run)
    expected = json.loads((DATA / value).read_text(encoding="utf-8"))
    judges = {
        "files/text/EXPECTED.json": _texts_as_in,
        "files/chat/chatgpt_EXPECTED.json": _chatgpt,
        "files/chat/claude_EXPECTED.json": _claude,
        "files/junit/EXPECTED.json": ci_outcomes.reports_as_in,
    }
    if value not in judges:
        raise Unknown(f"I do not know how to compare with {value!r}")
    return judges[value](run, expected)


_Judge = Callable[[Run, dict[str, Any], Any], bool]


def _everything(report: dict[str, Any]) -> str:
    return json.dumps([report["texts"], [entry["metadata"] for entry in report["of"]]], ensure_ascii=False)


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def _searchable(run: Run, report: dict[str, Any], queries: list[str]) -> bool:
    ids = {entry["id"] for entry in report["of"]}
    return all(ids & {hit["id"] for hit in run.surface.call(None, "search", query=query, k=50)} for query in queries)


_KEYS: dict[str, _Judge] = {
    # What says nothing by itself ("Third.") is left out and named: it is not lost without a word.
    "body_has": lambda run, r, v: all(part in " ".join([*r["texts"], *_left(run)]) for part in _listed(v)),
    "body_lacks": lambda run, r, v: not any(part in " ".join(r["texts"]) for part in v),
    "title": lambda run, r, v: all(entry["metadata"].get("title") == v for entry in r["of"]),
    "tags": lambda run, r, v: all(entry["tags"] == v for entry in r["of"]),
    "version_text": lambda run, r, v: all(entry["metadata"].get("version") == v for entry in r["of"]),
    "warn": lambda run, r, v: bool(r["said"]),
    "no_error": lambda run, r, v: r["state"] == "encoded",
    "no_crash": lambda run, r, v: r["state"] in ("encoded", "failed"),
    "headings": lambda run, r, v: all(any(h in part for part in [*_cues(r), *_left(run)]) for h in v),
    "fence_kept_whole": lambda run, r, v: {"# install deps\npip install thing", "# not a heading either\n```\nkey: 1"} <= {*r["texts"]},
    "sentences": lambda run, r, v: len(r["texts"]) == v,
    "no_cr_in_content": lambda run, r, v: "\\r" not in _everything(r),
    "text": lambda run, r, v: " ".join(r["texts"]) == v or (r["state"] == "failed" and "byte" in r["reason"]),
    "entries": lambda run, r, v: len(r["texts"]) == v,
    "entries_min": lambda run, r, v: len(r["texts"]) >= v,
    "reported": lambda run, r, v: bool(r["said"] or r.get("reason")),
    "search_nfc": lambda run, r, v: _searchable(run, r, v),
    "import_ok_ids": lambda run, r, v: {*v} <= {entry["metadata"].get("id") for entry in r["of"]},
    "id_1": lambda run, r, v: any("\ufffd" in text for text in r["texts"]) and "\\ud83d " not in _everything(r),
    "dashboard_and_cli": lambda run, r, v: not any(c in text for text in r["texts"] for c in "\x1b\x07\u202e"),
    "source_file_unchanged": lambda run, r, v: all(file.read_bytes() == data for file, data in run.facts["bytes"].items()),
    "hit": lambda run, r, v: True,  # said by search_nfc
}
# Of two right outcomes, ours.
_POLICIES = {
    "either refused with byte offset, or stored with U+FFFD and a warning": "byte",
    "refused or NUL removed; the word after the NUL must stay searchable if stored": "NUL",
}


def _policy(run: Run, report: dict[str, Any], value: Any) -> bool:
    if value not in _POLICIES:
        raise Unknown(f"I do not know how to check the policy {value!r}")
    return report["state"] == "failed" and _POLICIES[value] in report["reason"]


_KEYS["policy"] = _policy


def _cues(report: dict[str, Any]) -> list[str]:
    return [entry["cue"] or "" for entry in report["of"]]


def _left(run: Run) -> list[str]:
    """Texts that were left out, which headings with nothing worth keeping under them are a part of."""
    return [s["text"] for reply in run.actions() if isinstance(reply.value, dict) for s in reply.value.get("skipped", ())]


def _texts_as_in(run: Run, expected: dict[str, Any]) -> list[str]:
    reports = _reports(run)
    made = []
    for name, wanted in expected.items():
        report = reports.get(name)
        if report is None:
            made.append(f"nothing is said of {name}")
            continue
        alone = "or" in wanted and len(wanted) == 1
        for key, value in wanted.items():
            if key == "or":
                # The other right outcome; where it is the only one written down, it must be a refusal that says why.
                if alone and not (report["state"] == "failed" and report["reason"]):
                    made.append(f"{name}: wanted a clear error, it is {report['state']}: {report['texts']}")
                continue
            judge = _KEYS.get(key)
            if judge is None:
                raise Unknown(f"I do not know how to check {key!r} of {name}")
            if not judge(run, report, value):
                made.append(f"{name}: {key} should be {value!r}: {report['state']}, {report['texts']}, {report['said']}")
    return made


def _turns(run: Run) -> list[dict[str, Any]]:
    return [entry for entry in run.surface.call(None, "list") if entry["kind"] == "episodic"]


def _by(run: Run, speaker: str) -> list[str]:
    return [e["text"] for e in _turns(run) if e["metadata"]["speaker"] == speaker and "attachment" not in e["metadata"]]


def _skips(run: Run, source: str) -> list[str]:
    return [
        s["reason"] for r in run.actions() if isinstance(r.value, dict) for s in r.value.get("skipped", ()) if s["source"].endswith(source)
    ]


def _chatgpt(run: Run, expected: dict[str, Any]) -> list[str]:
    made = []
    turns = _turns(run)
    if _by(run, "user") != expected["user_texts"]:
        made.append(f"the user said {_by(run, 'user')}")
    held = json.dumps([[entry["text"], entry["metadata"]] for entry in turns])
    made += [f"holds {text!r}" for text in expected["never"] if text.split(" (")[0] in held]
    sessions = list(dict.fromkeys(entry["metadata"]["session"] for entry in turns))
    if sessions != expected["conversations_with_text"]:
        made.append(f"conversations are {sessions}")
    texts = [entry["text"] for entry in turns]
    if len(texts) != len(set(texts)):
        made.append("something was imported twice")
    last = run.actions()[-1].value
    if last["entries"] or [file["state"] for file in last["files"]] != ["unchanged"]:
        made.append(f"a second import adds {last['entries']}")
    if any(entry["valid_from"] is not None and not "2024" <= entry["valid_from"][:4] <= "2026" for entry in turns):
        made.append(f"times are {[entry['valid_from'] for entry in turns]}")
    return made


def _claude(run: Run, expected: dict[str, Any]) -> list[str]:
    made = []
    if _by(run, "user") != expected["human_texts"] or _by(run, "assistant") != expected["assistant_texts"]:
        made.append(f"said were {[entry['text'] for entry in _turns(run)]}")
    if {tuple(entry["sources"]) for entry in _turns(run)} != {("claude:u1",)}:
        made.append("not told by its shape")
    if len(_skips(run, "claude_conversations.json")) != 2:
        made.append("conversations without a message are not named")
    return made


def _headings(run: Run, value: Any) -> list[str]:
    [report] = _reports(run).values()
    return [] if _KEYS["headings"](run, report, value) else [f"cues are {[entry['cue'] for entry in report['of']]}"]


def _fences(run: Run, value: Any) -> list[str]:
    [report] = _reports(run).values()
    return [] if _KEYS["fence_kept_whole"](run, report, value) else [f"texts are {report['texts']}"]


def _blank(run: Run, value: Any) -> list[str]:
    found = [entry for entry in run.surface.call(None, "list") if not entry["text"].strip()]
    return [] if len(found) == value else [f"{len(found)} entries are blank"]


def _no_crash(run: Run, value: Any) -> list[str]:
    return [f"{r.name}: {r.message}" for r in run.replies if "crash" in (r.kinds or ())]


def _bad_file(run: Run, value: Any) -> list[str]:
    found = [file["state"] for report in _reports(run).values() for file in [report]]
    return [] if value is False and "failed" in found and "encoded" in found else [f"states are {found}"]


def _text_pdf(run: Run, value: Any) -> list[str]:
    texts = _reports(run)["text.pdf"]["texts"]
    return [] if texts == ["Log files may be deleted after seven days."] else [f"text.pdf gives {texts}"]


def _others(run: Run, value: Any) -> list[str]:
    others = {name: report for name, report in _reports(run).items() if name != "text.pdf"}
    if len(others) != 4:
        return [f"heard of {sorted(others)} only"]
    named = {report["reason"].split(";")[0] for report in others.values()}
    return [f"{name}: {report}" for name, report in others.items() if report["texts"]] + (
        [] if len(named) == 4 else [f"reasons are {named}"]
    )


def _binary(run: Run, value: Any) -> list[str]:
    held = json.dumps([entry["text"] for entry in run.surface.call(None, "list")])
    return [f"holds {part!r}" for part in ("%PDF", "endobj", "\\u0000", "stream") if part in held]


def _user_texts(run: Run, value: Any) -> list[str]:
    return [] if _by(run, "user") == value else [f"the user said {_by(run, 'user')}"]


def _whole_thread(run: Run, value: Any) -> list[str]:
    turns = [entry["metadata"]["turn"] for entry in _turns(run)]
    return [] if turns == list(range(1, len(turns) + 1)) and turns else [f"turns are {turns}"]


def _ids_equal(run: Run, value: Any) -> list[str]:
    found = {key: run.ids[key] for key in value}
    return [] if len(set(found.values())) == 1 else [f"ids are {found}"]


def _same_count(run: Run, value: Any) -> list[str]:
    if value != "one ingest":
        raise Unknown(f"I do not know how to compare with {value!r}")
    other = run.surface.call("once", "encode_files", paths=[str(file) for file in run.facts["bytes"]])
    return [] if run.live() == len(other["entries"]) else [f"{run.live()} entries, {len(other['entries'])} after one ingest"]


def _after_delete(run: Run, value: Any) -> list[str]:
    hits = run.searches()[-1].hits or []
    return [] if len(hits) == value else [f"{len(hits)} hits are left"]


def _count_matches(run: Run, value: Any) -> list[str]:
    last = run.actions()[-1].value
    states = [file["state"] for file in last["files"]]
    return (_same_count(run, "one ingest")) + ([] if states == ["encoded"] else [f"the file is {states}"])


EXPECTATIONS: dict[str, Callable[[Run, Any], list[str]]] = {
    "as_in": _as_in,
    "headings": _headings,
    "fences_whole": _fences,
    "blank_entries": _blank,
    "no_crash": _no_crash,
    "one_bad_file_stops_others": _bad_file,
    "text.pdf": _text_pdf,
    "others": _others,
    "binary_bytes_stored": _binary,
    "user_texts": _user_texts,
    "thread_is_whole": _whole_thread,
    "ids_equal": _ids_equal,
    "same_count_as": _same_count,
    "after_delete": _after_delete,
    "count_matches": _count_matches,
}

JUDGES_REFUSALS = frozenset({"others"})
"""Keys that say which files are refused."""
