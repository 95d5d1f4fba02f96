"""The cross-encoder's driver: with the real package and a tiny model made here where it is installed, and what it does without."""

from __future__ import annotations

import math
import sys
import threading
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from earnest.errors import InvalidInput, ModelFailed, NotAvailable
from earnest.memory import Memory
from earnest.rerankers import CrossEncoderReranker, made, reranker
from earnest.rerankers import crossencoder as module

INSTALLED = find_spec("sentence_transformers") is not None


def test_without_the_package_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "find_spec", lambda name: None)
    with pytest.raises(NotAvailable, match="needs the extra `rerank`: `pip install "):
        CrossEncoderReranker("somebody/model")
    with Memory.open(":memory:", settings={"reranker": "ce:somebody/model"}) as memory:
        memory.add("zebra")
        assert "needs the extra `rerank`" in memory.search("zebra")[0].why


@pytest.mark.parametrize("spec", ["ce", "ce:", "none:x", "bm25:x", "", 5, None, "ce:" + "x" * 300])
def test_what_is_no_spec_is_refused(spec: Any) -> None:
    with pytest.raises(InvalidInput, match="reranker"):
        made(spec)


def test_what_is_no_reranker_is_refused() -> None:
    assert made("none") is None
    for given in (5, [], object(), CrossEncoderReranker):
        with pytest.raises(InvalidInput, match="reranker"):
            reranker(given)
        with pytest.raises(InvalidInput, match="reranker"):
            Memory.open(":memory:", reranker=given)


class Package:
    """Stands in for the package that loads models, which is not Earnest's: what it gives, and whether it may be asked by two at once."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, answer: Any, load: Exception | None = None) -> None:
        self.loads, self.asked, self.inside = 0, [], threading.Lock()
        package = self

        class CrossEncoder:
            def __init__(self, name: str) -> None:
                package.loads += 1
                if load is not None:
                    raise load

            def predict(self, pairs: list[tuple[str, str]], **options: Any) -> Any:
                if not package.inside.acquire(blocking=False):
                    raise RuntimeError("Already borrowed")
                try:
                    package.asked.append(pairs)
                    if isinstance(answer, Exception):
                        raise answer
                    return answer(pairs)
                finally:
                    package.inside.release()

        standing = ModuleType("sentence_transformers")
        standing.CrossEncoder = CrossEncoder  # type: ignore[attr-defined]
        monkeypatch.setitem(sys.modules, "sentence_transformers", standing)
        monkeypatch.setattr(module, "find_spec", lambda name: True)

    asked: list[list[tuple[str, str]]]


def test_a_model_is_loaded_once_when_it_is_first_asked_and_threads_take_turns(monkeypatch: pytest.MonkeyPatch) -> None:
    import numpy as np

    package = Package(monkeypatch, lambda pairs: np.array([len(text) for _, text in pairs], dtype=np.float32))
    driver = CrossEncoderReranker("m")
    assert package.loads == 0 and driver.model_id == "ce:m" and driver.rerank("q", []) == []
    told: list[list[float]] = []
    threads = [threading.Thread(target=lambda: told.append(driver.rerank("q", ["a", "bcd", "e" * 9_000]))) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert told == [[1.0, 3.0, float(driver.longest)]] * 8 and package.loads == 1


@pytest.mark.parametrize("answer", ["two columns", "too few", RuntimeError("out of memory"), ValueError("no"), KeyError("x"), None])
def test_a_model_that_gives_something_else_loses_no_answer(answer: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    import numpy as np

    shapes = {"two columns": lambda pairs: np.zeros((len(pairs), 2)), "too few": lambda pairs: np.zeros(1), None: lambda pairs: None}
    Package(monkeypatch, answer if isinstance(answer, Exception) else shapes[answer])
    with pytest.raises(ModelFailed, match="ce:m") as caught:
        CrossEncoderReranker("m").rerank("q", ["a", "b"])
    assert not caught.value.passing
    with Memory.open(":memory:", reranker="ce:m") as memory, Memory.open(":memory:") as plain:
        for one in (memory, plain):
            one.add_many([{"text": "zebra"}, {"text": "zebra in Kenya"}])
        hits = memory.search("zebra")
        assert [hit.entry.text for hit in hits] == [hit.entry.text for hit in plain.search("zebra")] and "not reranked" in hits[0].why


@pytest.mark.parametrize("error", [OSError("no such model"), ValueError("no config"), KeyError("type"), ImportError("torch is broken")])
def test_a_model_that_cannot_be_loaded_is_not_tried_at_every_question(error: Exception, monkeypatch: pytest.MonkeyPatch) -> None:
    package = Package(monkeypatch, None, load=error)
    with Memory.open(":memory:", reranker="ce:nowhere") as memory:
        memory.add_many([{"text": "zebra"}, {"text": "zebra in Kenya"}])
        for _ in range(3):
            assert "could not be loaded" in memory.search("zebra")[0].why
        assert package.loads == 1


def tiny(folder: Path, labels: int = 1) -> Path:
    """A cross-encoder of 2 layers and 16 dimensions with random weights, saved as such models are."""
    import torch
    from transformers import BertConfig, BertForSequenceClassification, BertTokenizerFast

    words = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "zebra", "in", "kenya", "a", "the", "far", "north", "of", "lives"]
    folder.mkdir()
    (folder / "vocab.txt").write_text("\n".join(words), encoding="utf-8")
    torch.manual_seed(1)
    config = BertConfig(
        vocab_size=len(words), hidden_size=16, num_hidden_layers=2, num_attention_heads=2, intermediate_size=32,
        max_position_embeddings=64, num_labels=labels,
    )  # fmt: skip
    BertForSequenceClassification(config).save_pretrained(folder)
    BertTokenizerFast(str(folder / "vocab.txt"), model_max_length=64).save_pretrained(folder)
    return folder


if INSTALLED:

    @pytest.mark.full
    @pytest.mark.filterwarnings("default")
    def test_a_real_model_from_a_folder_orders_the_hits(tmp_path: Path) -> None:
        folder = tiny(tmp_path / "model")
        texts = ["zebra", "zebra in Kenya", "a zebra lives in the far north of Kenya " * 40]
        scores = CrossEncoderReranker(str(folder)).rerank("zebra", texts)
        assert len(scores) == 3 and all(map(math.isfinite, scores)) and len(set(scores)) == 3
        assert CrossEncoderReranker(str(folder)).rerank("zebra", texts) == pytest.approx(scores, abs=1e-6)
        with Memory.open(tmp_path / "m.db", reranker=f"ce:{folder}") as memory:
            memory.add_many([{"text": text} for text in texts])
            best_first = [text.strip() for _, text in sorted(zip(scores, texts, strict=True), reverse=True)]
            hits = memory.search("zebra")
            assert [hit.entry.text.strip() for hit in hits] == best_first and "reranker" in hits[0].why
            assert not {finding.code for finding in memory.doctor().findings} & {"reranker_absent", "reranker_failing"}

    @pytest.mark.full
    @pytest.mark.filterwarnings("default")
    def test_a_real_model_of_another_kind_is_said(tmp_path: Path) -> None:
        with pytest.raises(ModelFailed, match="one score for each"):
            CrossEncoderReranker(str(tiny(tmp_path / "three", labels=3))).rerank("zebra", ["a", "b"])
        with pytest.raises(ModelFailed, match="could not be loaded"):
            CrossEncoderReranker(str(tmp_path / "nowhere")).rerank("zebra", ["a", "b"])
