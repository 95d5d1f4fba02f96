"""The embedders themselves: the local model, the hashed letters, other people's; specs; and looking over what they give."""

from __future__ import annotations

import hashlib
import json
import math
import re
import sys
from pathlib import Path
from typing import Any, Final

import numpy as np
import pytest

from earnest import Memory
from earnest.core import vectors
from earnest.core.settings import SERVICES, embedder_spec
from earnest.embedders import ForeignEmbedder, HashingEmbedder, LocalEmbedder, made
from earnest.embedders.minilm import weights, wordpiece
from earnest.errors import EmbedderFailed, InvalidInput, ModelFailed, NotAvailable
from earnest.installed import bringing
from earnest.rerankers import CrossEncoderReranker

DATA: Final = Path(__file__).resolve().parents[1] / "data" / "minilm.json"


def cosine(a: Any, b: Any) -> float:
    return float(np.dot(a, b) / (np.linalg.norm(a) * np.linalg.norm(b)))


# the local model


@pytest.fixture(scope="module")
def local() -> LocalEmbedder:
    return LocalEmbedder()


def test_the_local_model_gives_what_its_reference_gives(local: LocalEmbedder) -> None:
    # Made by ONNX Runtime 1.32 from the same file, with the tokenizer of Hugging Face: eight numbers of each vector.
    known = json.loads(DATA.read_text(encoding="utf-8"))
    got = local.embed([item["text"] for item in known])
    assert got.dtype == np.float32 and got.shape == (len(known), 384)
    for item, vector in zip(known, got, strict=True):
        assert vector[::48].tolist() == pytest.approx(item["every 48th"], abs=2e-5), item["text"]


def test_texts_are_cut_into_the_pieces_that_the_reference_cuts(local: LocalEmbedder) -> None:
    for item in json.loads(DATA.read_text(encoding="utf-8")):
        assert wordpiece.pieces(item["text"], 254) == item["pieces"], item["text"]


def test_a_vector_hardly_depends_on_its_company(local: LocalEmbedder) -> None:
    texts = ["The cat sleeps.", "Backups run every night at two, and nobody looks at them.", "x"]
    together = local.embed([*texts, "and a much longer text " * 30])
    for text, vector in zip(texts, together[:3], strict=True):
        assert cosine(local.embed([text])[0], vector) > 0.999999


def test_meaning_is_near_and_nonsense_is_not(local: LocalEmbedder) -> None:
    cat, feline, tax = local.embed(["A cat sleeps on the sofa.", "feline resting place", "quarterly tax return"])
    assert cosine(cat, feline) > 0.3 > 0.15 > cosine(cat, tax)


@pytest.mark.parametrize("text", ["", " ", "\u200b", "\x00", "!", "🦊", "a" * 100_000, "word " * 20_000, "数" * 5_000, "\ud800"])
def test_any_text_at_all_gets_a_finite_vector_of_unit_length(local: LocalEmbedder, text: str) -> None:
    [vector] = local.embed([text])
    assert np.isfinite(vector).all() and math.isclose(float(np.linalg.norm(vector)), 1.0, abs_tol=1e-5)


def test_the_end_of_a_long_text_counts_as_far_as_it_is_read(local: LocalEmbedder) -> None:
    filler = "nothing to see here " * 60
    plain, ends = local.embed([filler, filler + "the volcano erupted and lava flowed " * 20])
    assert cosine(plain, ends) < 0.95


def test_weights_that_are_not_the_published_ones_are_refused(tmp_path: Path) -> None:
    data = bytearray(weights.located().read_bytes())
    data[-1] ^= 1
    (tmp_path / weights.FILE).write_bytes(data)
    with pytest.raises(EmbedderFailed, match="sha256"):
        weights.load(tmp_path / weights.FILE)
    with pytest.raises(EmbedderFailed, match="cannot be read"):
        weights.load(tmp_path / "nothing.onnx")


def test_the_vocabulary_is_the_published_one() -> None:
    data = wordpiece.VOCABULARY.read_bytes().replace(b"\r\n", b"\n")
    assert hashlib.sha256(data).hexdigest() == "07eced375cec144d27c900241f3e339478dec958f92fddbc551f295c992038a3"
    assert len(wordpiece.vocabulary()) == 30_522


def test_without_its_extra_the_local_model_names_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(weights, "PACKAGE", "earnest_no_such_package")
    with pytest.raises(NotAvailable, match=re.escape(bringing("local"))):
        LocalEmbedder()


@pytest.mark.parametrize(
    ("text", "reads"),
    [("plain English", True), ("Größe und Übung", True), ("données", True), ("12:30", True), ("", True), ("数据库备份", False),
     ("Привет мир", False), ("API 的密钥已经过期了吗", False), ("مرحبا", False), ("update the 数据", True)],
)  # fmt: skip
def test_it_tells_which_scripts_it_reads(text: str, reads: bool) -> None:
    assert LocalEmbedder.reads(text) is reads


# hashed letters


@pytest.mark.parametrize(
    ("asked", "meant", "other"),
    [
        ("databse bakcup", "The database is backed up at night.", "The gate closes at eight."),
        ("sichrungen", "Die Sicherungen liegen im Keller.", "Der Drucker steht oben."),
        ("数据库备份", "数据库的备份每天运行。", "门在八点关闭。"),
        ("резервные копии", "Резервная копия делается ночью.", "Ворота закрываются в восемь."),
        ("バックアップ", "バックアップは毎晩実行されます。", "門は八時に閉まります。"),
    ],
)
def test_shared_letters_are_near_in_any_script(asked: str, meant: str, other: str) -> None:
    q, near, far = HashingEmbedder().embed([asked, meant, other])
    assert cosine(q, near) > cosine(q, far) + 0.05


def test_hashing_is_the_same_for_ever() -> None:
    first = HashingEmbedder(64).embed(["The cat sleeps."])[0]
    assert first.tolist() == HashingEmbedder(64).embed(["The cat sleeps."])[0].tolist()
    assert hashlib.sha256(first.tobytes()).hexdigest()[:16] == "8254a54280b2bcf3"


@pytest.mark.parametrize("text", ["", " ", "!", "\x00", "🦊", "x" * 100_000])
def test_every_text_has_a_direction_in_hashing(text: str) -> None:
    [vector] = HashingEmbedder(64).embed([text])
    assert np.isfinite(vector).all() and vector.any()


@pytest.mark.parametrize("dimension", [0, 63, 4_097, True, 1.5, "64", None])
def test_a_dimension_out_of_range_is_refused(dimension: Any) -> None:
    with pytest.raises(InvalidInput, match="dimension"):
        HashingEmbedder(dimension)


# specs


@pytest.mark.parametrize("spec", ["none", "local", "hashing", "hashing:256", *(f"{kind}:some-model" for kind in SERVICES)])
def test_a_spec_keeps_its_form(spec: str) -> None:
    assert embedder_spec(f" {spec} ") == spec


@pytest.mark.parametrize(
    "spec", ["", "Local", "openai", "openai: ", "local:x", "hashing:big", "word2vec:x", "x" * 1_000, "st:a\nb", None, 5]
)
def test_what_is_no_spec_is_refused(spec: Any) -> None:
    with pytest.raises(InvalidInput, match="embedder"):
        embedder_spec(spec)


def test_specs_make_embedders_and_say_what_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL", "ZHIPUAI_API_KEY", "ZAI_API_KEY", "CO_API_KEY", "COHERE_API_KEY", "VOYAGE_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    assert made("none") is None
    named = {spec: getattr(made(spec), "model_id", "") for spec in ("local", "hashing:64", "ollama:nomic-embed-text")}
    assert named == {"local": "local:all-minilm-l6-v2", "hashing:64": "hashing:64", "ollama:nomic-embed-text": "ollama:nomic-embed-text"}
    for spec, key in (
        ("openai:x", "OPENAI_API_KEY"),
        ("zhipu:x", "ZHIPUAI_API_KEY"),
        ("cohere:x", "CO_API_KEY"),
        ("voyage:x", "VOYAGE_API_KEY"),
    ):
        with pytest.raises(NotAvailable, match=key):
            made(spec)
    with pytest.raises(NotAvailable, match="sentence-transformers"):
        made("st:BAAI/bge-small-zh-v1.5")


# other people's


def test_what_other_peoples_code_raises_becomes_one_typed_error() -> None:
    class Odd(Exception):
        pass

    def broken(texts: list[str]) -> Any:
        raise Odd("it is Tuesday")

    with pytest.raises(EmbedderFailed, match="Odd: it is Tuesday") as caught:
        ForeignEmbedder(broken, "odd").embed(["x"])
    assert isinstance(caught.value.__cause__, Odd) and not caught.value.passing


@pytest.mark.parametrize(
    ("name", "value"), [("batch", 0), ("batch", True), ("longest", 0), ("near", 2.0), ("model_id", ""), ("model_id", 5)]
)
def test_what_an_embedder_says_of_itself_is_checked(name: str, value: Any) -> None:
    class Own:
        model_id: Any = "own"
        batch: Any = 64
        longest: Any = 8_000
        near: Any = 0.0

        def embed(self, texts: list[str]) -> Any:
            return texts

    own = Own()
    setattr(own, name, value)
    with pytest.raises(InvalidInput):
        ForeignEmbedder(own)


# looking over, and how vectors are kept


def test_good_rows_pass_as_unit_vectors_whatever_their_type_and_length() -> None:
    for raw in ([[3.0, 4.0]], ((3, 4),), np.array([[3, 4]], dtype=np.int32), np.array([[3e-30, 4e-30]]), [[3e200, 4e200]]):
        if not np.isfinite(np.asarray(raw, dtype=np.float64)).all() or np.abs(np.asarray(raw, dtype=np.float64)).max() < 1e-12:
            continue
        got = vectors.looked_over(raw, 1, None)
        assert got.problems == (None,) and got.dimension == 2
        assert np.frombuffer(got.vectors[0] or b"", "<f4").tolist() == pytest.approx([0.6, 0.8])


def test_an_unusual_row_is_named_and_the_others_kept() -> None:
    got = vectors.looked_over([[1.0, 0.0], [math.nan, 1.0], [0.0, 0.0], [1.0], None, "no", [1e-20, 0.0]], 7, None)
    assert [vector is not None for vector in got.vectors] == [True] + [False] * 6
    assert [bool(problem) for problem in got.problems] == [False] + [True] * 6


def test_stored_vectors_come_back_within_their_rounding() -> None:
    rng = np.random.default_rng(3)
    for dimension in (2, 3, 64, 384, 2_048):
        raw = rng.standard_normal((50, dimension)) * rng.uniform(0.01, 100, size=(50, 1))
        units = [v for v in vectors.looked_over(raw, 50, None).vectors if v is not None]
        stored = vectors.encoded(units)
        assert {len(code) for code in stored} == {vectors.HEADER + dimension}
        back = vectors.decoded(stored)
        exact = np.frombuffer(b"".join(units), "<f4").reshape(50, dimension)
        assert np.linalg.norm(back, axis=1) == pytest.approx(np.ones(50), abs=1e-5)
        assert float((back * exact).sum(axis=1).min()) > 0.9998


def test_nothing_is_stored_of_nothing() -> None:
    assert vectors.encoded([]) == []


def test_linear_algebra_keeps_to_one_thread_and_gives_back_what_there_was() -> None:
    from earnest.core import onethread

    switch = onethread._switch()
    assert switch is not None, "numpy from its own wheels brings OpenBLAS"
    asking, setting = switch
    before = asking()
    try:
        setting(2)
        with onethread.one_thread():
            assert asking() == 1
            with onethread.one_thread():
                assert asking() == 1
        assert asking() == 2
        with pytest.raises(ValueError, match="inside"), onethread.one_thread():
            raise ValueError("inside")
        assert asking() == 2
    finally:
        setting(before)


@pytest.mark.parametrize("why", ["ImportError('no torch')", "AttributeError('an older torch')", "OSError('no such file')"])
def test_a_package_that_is_there_and_does_not_load_is_a_failure_like_any_other(
    why: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is found, so that the driver can be made; that it is broken shows when it is first used."""
    (tmp_path / "sentence_transformers.py").write_text(f"raise {why}\n", encoding="utf-8")
    monkeypatch.delitem(sys.modules, "sentence_transformers", raising=False)
    monkeypatch.syspath_prepend(str(tmp_path))
    driver = made("st:some/model")
    assert driver is not None
    with pytest.raises(EmbedderFailed, match="could not be loaded"):
        driver.embed(["a text"])
    with pytest.raises(ModelFailed, match="could not be loaded"):
        CrossEncoderReranker("some/model").rerank("a question", ["a text"])
    with Memory.open(":memory:", embedder="st:some/model", reranker="ce:some/model") as memory:
        memory.add("Old log files may be deleted after seven days.")
        [hit] = memory.search("May old log files be deleted?")
        assert hit.entry.text.startswith("Old log files")
