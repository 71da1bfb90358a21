"""What was assumed about a model and decides numbers: a line at the run, in the manifest, on *Models*, in programs."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

import blindspot as bs
from blindspot.encoders.catalog import resolve_encoder
from blindspot.runs import encoders_here, manifests, pipeline, requesting
from blindspot.settings import Settings
from blindspot.store.repository import Repository
from blindspot.types import CancelToken
from blindspot.workspace.models.encoders import found_facts
from tests.support.commands import Command
from tests.support.quantized import quantized
from tests.support.tiny_models import edit, plain, saved

pytestmark = pytest.mark.heavy
LIMIT = "texts are cut after 512 tokens: it has no positions beyond, though its limit is 600"
PRECISION = "it is computed in float32, not in bfloat16 as sentence-transformers would; ?dtype=bfloat16 does"
POOLING = "its folder names no pooling, so that of sentence-transformers is taken: mean over tokens"
SIMILARITY = "declares the similarity dot, and its scores are of cosine."


def in_bfloat16(folder: Path) -> Path:
    from transformers import AutoModel

    AutoModel.from_pretrained(folder).bfloat16().save_pretrained(folder)
    return folder


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    of = in_bfloat16(plain(tmp_path_factory.mktemp("models") / "of"))
    then = {"similarity_fn_name": "dot", "prompts": {"query": "ask: "}}
    return saved(of.with_name("model"), of=of, max_seq_length=600, then=then)


@pytest.fixture
def pairs(tmp_path: Path) -> Path:
    path = tmp_path / "pairs.csv"
    path.write_text("query,match\na dog runs,the dog is running\nrain,it rains\n", "utf-8")
    return path


def test_what_is_assumed_is_said_everywhere(
    folder: Path, pairs: Path, settings: Settings, repository: Repository, blindspot: Command
) -> None:
    reference = f"dir:{folder}"
    for _ in ("computed", "found in the store"):
        said = blindspot("run", "evalrank", "--encoder", reference, "--dataset", f"file:{pairs}").err.splitlines()
        for line in (LIMIT, PRECISION, SIMILARITY, "declares prompts that are not applied"):
            assert sum(line in one for one in said) == 1, line
    (run,) = repository.runs()
    assert set(run.manifest["encoder"]["assumed"]) == {LIMIT, PRECISION}
    assert run.manifest["encoder"]["similarity"] == "dot"
    for _ in ("by its run alone", "by the check"):
        found = encoders_here.read_library(settings, repository).find(reference)
        assert found is not None
        facts = found_facts(found)
        assert all(line in facts["assumed"] for line in (LIMIT, PRECISION))
        assert (facts["declared similarity"], facts["prompts not applied"]) == ("dot", "query (“ask: ”)")
        encoders_here.add(reference, settings, repository)
    notes = bs.evalrank(reference, str(pairs), store=settings.cache).notes
    assert all(any(line in note for note in notes) for line in (LIMIT, PRECISION, SIMILARITY, "declares prompts"))
    assert not [n for n in bs.evalrank(reference, str(pairs), store=settings.cache, metric="l2").notes if "cosine" in n]


def test_the_precision_is_the_one_that_the_library_takes(folder: Path, settings: Settings) -> None:
    def is_said(**config: str | None) -> bool:
        edit(folder / "config.json", **config)
        return PRECISION in resolve_encoder(f"dir:{folder}", settings).info.assumed

    try:
        assert is_said(dtype=None)
        assert is_said(torch_dtype="auto")
        assert not is_said(torch_dtype="float32")
        assert not is_said(dtype="float32", torch_dtype=None)
        edit(folder / "sentence_bert_config.json", model_args={"torch_dtype": "bfloat16"})
        assert is_said()
    finally:
        edit(folder / "config.json", dtype="bfloat16", torch_dtype=None)
        edit(folder / "sentence_bert_config.json", model_args=None)


def test_a_limit_is_said_of_every_pooling(folder: Path, settings: Settings) -> None:
    assert {LIMIT, PRECISION} == {*resolve_encoder(f"dir:{folder}?pooling=cls", settings).info.assumed}


def test_a_pooling_that_nobody_named_is_said(tmp_path: Path, pairs: Path, blindspot: Command) -> None:
    reference = f"dir:{plain(tmp_path / 'model')}"
    said = blindspot("run", "evalrank", "--encoder", reference, "--dataset", f"file:{pairs}").err
    assert f"model: {POOLING}." in said


def test_what_was_found_at_load_is_said_too(
    tmp_path: Path, pairs: Path, settings: Settings, repository: Repository, blindspot: Command
) -> None:
    """That the library encodes."""
    folder = saved(tmp_path / "model")
    edit(folder / "sentence_bert_config.json", processing_kwargs={"text": {"max_length": 7}})
    reference = f"dir:{folder}"
    said = blindspot("run", "evalrank", "--encoder", reference, "--dataset", f"file:{pairs}").err
    assert "sentence-transformers encodes its texts" in said
    found = encoders_here.read_library(settings, repository).find(reference)
    assert found is not None
    assert found_facts(found)["encoded by"] == "sentence-transformers"


def test_how_far_a_quantized_graph_is_from_float32_is_said(
    tmp_path: Path, pairs: Path, settings: Settings, repository: Repository, blindspot: Command
) -> None:
    folder, name = plain(tmp_path / "model"), "onnx/model_qint8.onnx"
    quantized(folder, settings, name)
    reference = f"dir:{folder}?file={name}"
    told = f"its layers are those of {name}: its vectors differ from float32's by a cosine distance of up to "
    for _ in ("computed", "found in the store"):
        said = blindspot("run", "evalrank", "--encoder", reference, "--dataset", f"file:{pairs}").err.splitlines()
        assert sum(told in one for one in said) == 1
    (run,) = repository.runs()
    assert any(one.startswith(told) for one in run.manifest["encoder"]["assumed"])
    encoders_here.add(reference, settings, repository)
    found = encoders_here.read_library(settings, repository).find(reference)
    assert found is not None
    assert told in found_facts(found)["assumed"]


def test_weights_in_half_precision_are_computed_in_float32(folder: Path, settings: Settings) -> None:
    """Which is not what the library does by default: hence the line."""
    import torch
    from sentence_transformers import SentenceTransformer

    texts = ["a dog runs"]
    whole = SentenceTransformer(str(folder), device="cpu", model_kwargs={"dtype": torch.float32}).encode(texts)
    by_default = SentenceTransformer(str(folder), device="cpu").encode(texts, convert_to_tensor=True)
    assert by_default.dtype is torch.bfloat16
    found = resolve_encoder(f"dir:{folder}?prompt=", settings).encode(texts, CancelToken())
    assert abs(found - whole).max() < 1e-5
    stored = resolve_encoder(f"dir:{folder}?dtype=bfloat16", settings)
    assert PRECISION not in stored.info.assumed


def test_no_similarity_is_missed_where_none_is_used(
    folder: Path, pairs: Path, settings: Settings, repository: Repository
) -> None:
    request = requesting.request("evalrank", f"dir:{folder}", "none", f"file:{pairs}", {}, settings)
    run = pipeline.run(request, settings, repository).record
    probing = replace(run, plan=replace(run.plan, diagnostic="probing", params={}))
    assert [SIMILARITY in " ".join(manifests.assumptions([one])) for one in (run, probing)] == [True, False]
