"""The embedder `st:…` with the real package and a tiny model made here, where it is installed."""

from __future__ import annotations

import re
import threading
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from earnest.embedders import TransformersEmbedder
from earnest.errors import EmbedderFailed, NotAvailable
from earnest.installed import bringing
from earnest.memory import Memory

if find_spec("sentence_transformers") is not None:

    def tiny(folder: Path) -> Path:
        """A sentence embedder of 2 layers and 32 dimensions with random weights, in the form in which such models are saved."""
        import torch
        from sentence_transformers import SentenceTransformer
        from transformers import BertConfig, BertModel, BertTokenizerFast

        words = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "zebra", "log", "database", "night", "the", "is", "read", "a", "."]
        folder.mkdir()
        (folder / "vocab.txt").write_text("\n".join(words), encoding="utf-8")
        torch.manual_seed(1)
        config = BertConfig(
            vocab_size=len(words),
            hidden_size=32,
            num_hidden_layers=2,
            num_attention_heads=2,
            intermediate_size=64,
            max_position_embeddings=64,
        )
        BertModel(config).save_pretrained(folder)
        BertTokenizerFast(str(folder / "vocab.txt"), model_max_length=64).save_pretrained(folder)
        made = folder.with_name("embedder")
        SentenceTransformer(str(folder)).save(str(made), create_model_card=False)
        return made

    @pytest.mark.full
    @pytest.mark.filterwarnings("default")
    def test_a_real_model_from_a_folder_fills_a_store_and_finds(tmp_path: Path) -> None:
        folder = tiny(tmp_path / "bert")
        embedder = TransformersEmbedder(str(folder))
        vectors = embedder.embed(["A zebra.", "", "log " * 5_000, "数据库"])
        assert vectors.shape == (4, 32)
        wrong: list[BaseException] = []

        def ask() -> None:
            try:
                for _ in range(10):
                    embedder.embed(["a zebra", "the log " * 40])
            except BaseException as error:
                wrong.append(error)
                raise

        threads = [threading.Thread(target=ask) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert wrong == []
        with Memory.open(tmp_path / "m.db", embedder=f"st:{folder}") as memory:
            memory.add_many([{"text": "Read the log."}, {"text": "A zebra."}, {"text": "The database is read a night."}])
            while memory.embed_pending(wait=60):
                pass
            assert memory.stats().vectors.usable == 3
            assert memory.search("a zebra .", mode="dense")[0].entry.text == "A zebra."
        nowhere: Any = TransformersEmbedder(str(tmp_path / "nowhere"))
        with pytest.raises(EmbedderFailed, match="could not be loaded"):
            nowhere.embed(["x"])


def test_without_the_package_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("earnest.embedders.transformers.find_spec", lambda name: None)
    with pytest.raises(NotAvailable, match=re.escape(bringing("rerank"))):
        TransformersEmbedder("somebody/model")
