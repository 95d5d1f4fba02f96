"""`earnest reembed`, `search --mode` and what `stats` and `doctor` say of vectors, as a person types them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from earnest.memory import Memory


def earnest(*words: str, store: Path, embedder: str | None = None) -> subprocess.CompletedProcess[str]:
    environment = {
        name: value for name, value in os.environ.items() if name not in ("EARNEST_EMBEDDER", "OPENAI_API_KEY", "OPENAI_BASE_URL")
    }
    if embedder is not None:
        environment["EARNEST_EMBEDDER"] = embedder
    return subprocess.run(
        [sys.executable, "-m", "earnest", "--store", str(store), *words], capture_output=True, text=True, encoding="utf-8", env=environment,
        timeout=120, check=False,
    )  # fmt: skip


def said(*words: str, store: Path, embedder: str | None = None) -> Any:
    done = earnest("--json", *words, store=store, embedder=embedder)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_a_store_gets_its_vectors_and_answers_by_them(tmp_path: Path) -> None:
    store = tmp_path / "m.db"
    with Memory.open(store, embedder="none") as memory:
        memory.add_many([{"text": "The database is backed up at night."}, {"text": "The gate closes at eight."}])
    refused = earnest("search", "databse", "--mode", "dense", store=store)
    assert refused.returncode == 2 and "no embedder" in refused.stderr and "Traceback" not in refused.stderr
    refused = earnest("reembed", store=store)
    assert refused.returncode == 2 and "earnest config embedder" in refused.stderr
    said("config", "embedder", "hashing", store=store)
    assert said("doctor", store=store)["findings"][0]["code"] == "vectors_missing"
    assert "vectors usable: 0 of 2" in earnest("stats", store=store).stdout
    assert said("reembed", "--limit", "1", store=store) == {
        "model": "hashing:512", "made": 1, "reused": 0, "left": 1, "failed": 0, "why": {}, "cut": 0,
    }  # fmt: skip
    done = earnest("reembed", store=store)
    assert done.returncode == 0 and "1 vector made by hashing:512" in done.stdout and "Every living entry has a vector." in done.stdout
    assert said("reembed", "--every", store=store)["made"] == 2
    [first, *_] = said("search", "databse bakcup", "--mode", "dense", store=store)["hits"]
    assert first["entry"]["text"] == "The database is backed up at night."
    assert said("search", "databse bakcup", "--mode", "keyword", "--floor", "0.9", store=store)["hits"] == []
    assert "vectors usable: 2 of 2" in earnest("stats", store=store).stdout


def test_setting_an_embedder_says_what_recall_by_meaning_waits_for(tmp_path: Path) -> None:
    store = tmp_path / "m.db"
    with Memory.open(store, embedder="none") as memory:
        memory.add("The database is backed up at night.")
    done = earnest("config", "embedder", "hashing", store=store)
    assert "reembed" in done.stdout and "1 entry without a vector" in done.stdout
    earnest("reembed", store=store)
    assert "without a vector" not in earnest("config", "embedder", "hashing", store=store).stdout
    unmade = earnest("config", "embedder", "openai:text-embedding-3-small", store=store)
    assert unmade.returncode == 0 and "Recall goes by words alone: openai needs a key" in unmade.stdout
    assert said("config", "embedder", "none", store=store) == {"embedder": "none"}


def test_the_environment_overrides_the_setting_for_one_command(tmp_path: Path) -> None:
    store = tmp_path / "m.db"
    with Memory.open(store, embedder="hashing") as memory:
        memory.add("The database is backed up at night.")
    assert said("stats", store=store)["vectors"]["model"] == "hashing:512"
    assert said("stats", store=store, embedder="none")["vectors"]["model"] == ""
    wrong = earnest("stats", store=store, embedder="word2vec")
    assert wrong.returncode == 2 and "embedder" in wrong.stderr
    wrong = earnest("config", "embedder", "sk-a-key-by-mistake", store=store)
    assert wrong.returncode == 2


def test_a_new_store_on_the_command_line_finds_by_meaning_where_the_local_model_is_installed(tmp_path: Path) -> None:
    store = tmp_path / "m.db"
    said("remember", "The cat sleeps on the sofa.", store=store)
    said("remember", "The gate closes at eight.", store=store)
    [first, *_] = said("search", "feline resting place", store=store)["hits"]
    assert first["entry"]["text"] == "The cat sleeps on the sofa."
