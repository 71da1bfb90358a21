"""Other back ends: torch's vectors to 1e-5, an export that happens once and whole, and refusals in one line."""

from __future__ import annotations

import re
import shutil
import sys
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from blindspot.encoders.catalog import canonical_encoder, resolve_encoder
from blindspot.encoders.references import Backend
from blindspot.encoders.roles import assumed_of
from blindspot.encoders.transformer import backends
from blindspot.encoders.transformer.encoder import SentenceTransformerEncoder
from blindspot.errors import BlindspotError, InputError
from blindspot.runs import pipeline, requesting
from blindspot.runs.encoders_here import WITH_PARAMETERS, read_library
from blindspot.settings import Settings
from blindspot.store.repository import Repository
from blindspot.studies.evidence.scores import family_of
from blindspot.types import CancelToken, Float32
from blindspot.variants import Variant
from tests.conftest import make_settings
from tests.support.odd_texts import ODD_TEXTS
from tests.support.quantized import INT8, quantized
from tests.support.small_world import SMALL_PAIRS, register_dataset
from tests.support.tiny_models import PIECES, tokenizer

BACKENDS = (Backend.ONNX, Backend.OPENVINO)
LAYERS = {
    "bert": {"hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_size": 64},
    "mpnet": {"hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_size": 64},
    "modernbert": {
        "hidden_size": 32,
        "num_hidden_layers": 4,
        "num_attention_heads": 4,
        "intermediate_size": 64,
        "local_attention": 8,  # less than most texts
    },
    "qwen3": {
        "hidden_size": 32,
        "num_hidden_layers": 2,
        "num_attention_heads": 4,
        "num_key_value_heads": 2,
        "head_dim": 8,
        "intermediate_size": 64,
    },
}


def model(folder: Path, kind: str = "bert", seed: int = 0) -> Path:
    """A plain transformers folder with random weights and a small tokenizer."""
    import torch
    from transformers import AutoConfig, AutoModel

    special = {"pad_token_id": 0, "bos_token_id": 101, "eos_token_id": 102, "cls_token_id": 101, "sep_token_id": 102}
    more = special if kind in {"modernbert", "qwen3"} else {}
    torch.manual_seed(seed)
    config = AutoConfig.for_model(kind, vocab_size=PIECES, max_position_embeddings=514, **LAYERS[kind], **more)
    AutoModel.from_config(config).save_pretrained(folder)
    return tokenizer(folder, model_max_length=512)


def encoder(reference: str, settings: Settings) -> SentenceTransformerEncoder:
    found = resolve_encoder(reference, settings)
    assert isinstance(found, SentenceTransformerEncoder)
    return found


def encoded(reference: str, settings: Settings) -> Float32:
    return encoder(reference, settings).encode(ODD_TEXTS, CancelToken())


def assert_near(found: Float32, expected: Float32, most: float = 1e-5) -> None:
    """Within ``most`` of the vectors' lengths, but not the same to the last bit, as by the same library."""
    assert found.shape == expected.shape
    lengths = np.linalg.norm(expected.astype(np.float64), axis=1, keepdims=True)
    assert (np.abs(found - expected.astype(np.float64)) / lengths).max() < most
    assert not np.array_equal(found, expected)


# --- references


def test_a_built_in_model_takes_a_back_end_and_nothing_else() -> None:
    assert canonical_encoder("minilm?backend=openvino") == "minilm?backend=openvino"
    assert canonical_encoder("minilm?backend=torch") == canonical_encoder("minilm?") == "minilm"
    assert canonical_encoder("dir:/m?pooling=cls&backend=onnx") == "dir:/m?backend=onnx&pooling=cls"
    variant = Variant("minilm?backend=onnx", "center")
    assert Variant.parse(str(variant)) == variant
    assert family_of("minilm?backend=onnx") == family_of("minilm")


@pytest.mark.parametrize(
    ("typed", "said"),
    [
        ("minilm?backend=tensorrt", "unknown backend 'tensorrt'"),
        ("minilm?pooling=cls", "expected minilm-cls"),
        ("minilm-cls?backend=onnx", "unknown parameter of 'minilm-cls' 'backend'"),
        ("lsa?backend=onnx", "takes no parameters"),
        ("dir:/m?backend=onnx&dtype=float16", "float32"),
        ("dir:/m?backend=openvino&pooling=first-last-avg", "last layer"),
    ],
)
def test_what_a_back_end_cannot_do_is_refused(typed: str, said: str, settings: Settings) -> None:
    with pytest.raises(InputError, match=said) as caught:
        resolve_encoder(typed, settings)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_missing_package_is_named(backend: Backend, settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    package = backends.PACKAGES[backend]
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(InputError, match=rf"needs {package}.*pip install -r requirements-backends.txt") as caught:
        resolve_encoder(f"minilm?backend={backend}", settings)
    assert "\n" not in str(caught.value)


@pytest.mark.heavy
def test_what_exports_a_graph_is_named_too(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "onnx", None)
    with pytest.raises(InputError, match="needs onnx, which is not installed"):
        encoder("minilm?backend=onnx", settings).load()


# --- vectors


@pytest.fixture(scope="module")
def exports_of_minilm(tmp_path_factory: pytest.TempPathFactory) -> Callable[[Backend], Path]:
    """The folder of exports after MiniLM's layers were exported for a back end, which takes seconds."""

    @cache
    def exports(backend: Backend) -> Path:
        settings = make_settings(tmp_path_factory.mktemp("exports") / "cache")
        encoder(f"minilm?backend={backend}", settings).load()
        return settings.cache / backends.EXPORTS

    return exports


@pytest.mark.heavy
@pytest.mark.parametrize("backend", BACKENDS)
def test_the_bundled_model_has_torchs_vectors_by_another_identity(
    backend: Backend,
    settings: Settings,
    exports_of_minilm: Callable[[Backend], Path],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    reference = f"minilm?backend={backend}"
    (exported,) = exports_of_minilm(backend).iterdir()
    assert exported.name.startswith(f"{backend}-"), "nor a lock or a temporary file"
    shutil.copytree(exported.parent, settings.cache / backends.EXPORTS)

    def exports_again(*_: Any) -> None:
        raise AssertionError

    monkeypatch.setattr(backends, "_export", exports_again)
    torch, other = encoder("minilm", settings), encoder(reference, settings)
    assert_near(encoded(reference, settings), encoded("minilm", settings), 1e-6)
    assert other.identity.reference == reference
    assert set(other.identity.libraries) - set(torch.identity.libraries) == set(backends.libraries(backend))
    assert other.identity.embedding_digest("t") != torch.identity.embedding_digest("t")
    assert (other.device, len(other.family)) == ("cpu", 1)
    if backend is Backend.OPENVINO:
        assert sys.modules.get("openvino_telemetry") is None, "which reports to its makers"


@pytest.mark.heavy
@pytest.mark.parametrize("kind", [kind for kind in LAYERS if kind != "bert"])  # which the others have
@pytest.mark.parametrize("backend", BACKENDS)
def test_a_folders_layers_of_any_kind_are_exported(
    backend: Backend, kind: str, tmp_path: Path, settings: Settings
) -> None:
    folder = model(tmp_path / "m", kind)
    if (backend, kind) == (Backend.OPENVINO, "modernbert"):  # padding that nothing attends to: 0/0 in its softmax
        with pytest.raises(InputError, match="not numbers"):
            encoder(f"dir:{folder}?backend={backend}", settings).load()
        return
    texts = [text for text in ODD_TEXTS if text.strip()]
    expected, found = (
        encoder(f"dir:{folder}{query}", settings).encode(texts, CancelToken()) for query in ("", f"?backend={backend}")
    )
    assert_near(found, expected)


@pytest.mark.heavy
@pytest.mark.parametrize("backend", BACKENDS)
def test_every_pooling_but_the_first_layers_is_torchs(backend: Backend, tmp_path: Path, settings: Settings) -> None:
    folder = model(tmp_path / "m")
    torch, other = (encoder(f"dir:{folder}?pooling=cls{query}", settings) for query in ("", f"&backend={backend}"))
    expected = dict(
        zip(
            (s.identity.pooling for s in torch.family),
            torch.encode_family(ODD_TEXTS, CancelToken()).vectors,
            strict=True,
        )
    )
    vectors = other.encode_family(ODD_TEXTS, CancelToken()).vectors
    assert len(vectors) == len(expected) - 1 == 4
    for sibling, found in zip(other.family, vectors, strict=True):
        assert backends.difference(expected[sibling.identity.pooling], found) < 1e-5
        assert resolve_encoder(sibling.identity.reference, settings).identity == sibling.identity
    prompted = other.prompted("query: ").encode(ODD_TEXTS, CancelToken())
    assert_near(prompted, torch.prompted("query: ").encode(ODD_TEXTS, CancelToken()))


# --- graphs of a folder, and exports that fail


def with_graph_of(folder: Path, source: Path, backend: Backend, settings: Settings) -> None:
    """Put the graph that is exported of ``source`` into ``folder``."""
    encoder(f"dir:{source}?backend={backend}", settings).load()
    (exported,) = (settings.cache / backends.EXPORTS).iterdir()
    shutil.copytree(exported, (folder / backends.IN_FOLDER[backend]).parent)
    shutil.rmtree(exported)


@pytest.mark.heavy
@pytest.mark.parametrize("backend", BACKENDS)
def test_a_folders_own_graph_is_used_and_identified(backend: Backend, tmp_path: Path, settings: Settings) -> None:
    folder = model(tmp_path / "m")
    reference = f"dir:{folder}?backend={backend}"
    exported = encoder(reference, settings).identity
    with_graph_of(folder, folder, backend, settings)
    own = encoder(reference, settings)
    assert_near(own.encode(ODD_TEXTS, CancelToken()), encoded(f"dir:{folder}", settings))
    assert not any((settings.cache / backends.EXPORTS).iterdir())
    assert own.identity.embedding_digest("t") != exported.embedding_digest("t")
    assert own.identity.revision == exported.revision, "of the same family"


@pytest.mark.heavy
@pytest.mark.parametrize("backend", BACKENDS)
def test_a_graph_of_other_weights_is_refused_with_the_difference(
    backend: Backend, tmp_path: Path, settings: Settings
) -> None:
    folder = model(tmp_path / "m")
    with_graph_of(folder, model(tmp_path / "other", seed=1), backend, settings)
    with pytest.raises(InputError, match="differ from torch's by") as caught:
        encoder(f"dir:{folder}?backend={backend}", settings).load()
    worst = re.search(r"by ([0-9.e-]+) of their length", str(caught.value))
    assert worst is not None
    expected, found = (encoded(f"dir:{tmp_path / name}", settings) for name in ("m", "other"))
    assert backends.LARGEST_DIFFERENCE < float(worst[1]) < 10 * backends.difference(expected, found)


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_graph_that_is_none_or_outside_is_refused(backend: Backend, tmp_path: Path, settings: Settings) -> None:
    folder = model(tmp_path / "m")
    graph = folder / backends.IN_FOLDER[backend]
    graph.parent.mkdir()
    graph.write_text("no graph", "utf-8")
    with pytest.raises(InputError, match="cannot use") as caught:
        encoder(f"dir:{folder}?backend={backend}", settings).load()
    assert "\n" not in str(caught.value)
    graph.rename(tmp_path / graph.name)
    graph.symlink_to(tmp_path / graph.name)
    with pytest.raises(InputError, match="leads out of the folder"):
        encoder(f"dir:{folder}?backend={backend}", settings)


@pytest.mark.heavy
@pytest.mark.parametrize("backend", BACKENDS)
def test_an_export_that_fails_leaves_nothing(
    backend: Backend, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    def breaks(_layers: Any, _backend: Backend, path: Path) -> None:
        path.write_bytes(b"half")
        raise RuntimeError("no such operator\n" * 40)

    monkeypatch.setattr(backends, "_export", breaks)
    with pytest.raises(BlindspotError, match=r"cannot be exported.*no such operator") as caught:
        encoder(f"minilm?backend={backend}", settings).load()
    assert "\n" not in str(caught.value)
    assert not any((settings.cache / backends.EXPORTS).iterdir())


# --- graphs that are models of their own


def by_the_runtime(folder: Path, name: str, texts: Sequence[str]) -> Float32:
    """Means over tokens of what the graph gives for each text alone."""
    import onnxruntime
    from transformers import AutoTokenizer

    session = onnxruntime.InferenceSession(str(folder / name), providers=["CPUExecutionProvider"])
    tokenizer = AutoTokenizer.from_pretrained(folder)
    found = []
    for text in texts:
        tokens = tokenizer(text, truncation=True, max_length=512, return_tensors="np")
        given = {one.name: tokens[one.name].astype(np.int64) for one in session.get_inputs()}
        found.append(session.run(None, given)[0][0].mean(axis=0))
    return np.stack(found)


@pytest.mark.heavy
def test_a_quantized_graph_is_a_model_of_its_own(tmp_path: Path, settings: Settings) -> None:
    folder = model(tmp_path / "m")
    quantized(folder, settings)
    reference = f"dir:{folder}?file={INT8}"
    own = encoder(reference, settings)
    assert own.identity.reference == canonical_encoder(f"{reference}&backend=onnx") == reference
    assert INT8 in own.info.title
    assert own.measured == (), "before it is loaded"
    found = own.encode(ODD_TEXTS, CancelToken())
    assert_near(found, by_the_runtime(folder, INT8, ODD_TEXTS))
    expected = encoded(f"dir:{folder}", settings)
    assert backends.difference(expected, found) > backends.LARGEST_DIFFERENCE
    (said,) = own.measured
    assert re.fullmatch(rf"its layers are those of {INT8}: its vectors differ .* up to \S*\d, on 20 texts", said)
    alone = np.concatenate([own.encode([text], CancelToken()) for text in ODD_TEXTS])
    np.testing.assert_array_equal(alone, found, "though its activations are scaled by what is in a batch")
    prompted = own.prompted("query: ").encode(ODD_TEXTS, CancelToken())
    assert_near(prompted, by_the_runtime(folder, INT8, [f"query: {text}" for text in ODD_TEXTS]))
    again = encoder(reference, settings)
    assert again.measured == own.measured, "kept"
    assert not again.reads_layers
    (folder / INT8).write_bytes(b"another")
    assert encoder(reference, settings).identity.revision != own.identity.revision


@pytest.mark.heavy
@pytest.mark.parametrize("name", [INT8, "model_quantized.onnx"])
def test_a_lone_quantized_graph_is_used_and_said(name: str, tmp_path: Path, settings: Settings) -> None:
    folder = model(tmp_path / "m")
    exported = quantized(folder, settings, name)
    expected = by_the_runtime(folder, name, ODD_TEXTS)
    beside = encoder(f"dir:{folder}?backend=onnx", settings)
    (folder / "model.safetensors").rename(tmp_path / "model.safetensors")
    alone = encoder(f"dir:{folder}", settings)
    assert (alone.info.parameters, alone.info.memory_bytes) == (0, (folder / name).stat().st_size)
    assert_near(alone.encode(ODD_TEXTS, CancelToken()), expected)
    assert "no float32 weights" in alone.measured[0]
    (tmp_path / "model.safetensors").rename(folder / "model.safetensors")
    assert_near(beside.encode(ODD_TEXTS, CancelToken()), expected)
    assert "differ from float32's" in beside.measured[0]
    for one in (alone, beside):
        assert assumed_of(one)[0] == f"the folder's only graph, {name}, is taken"
    (folder / "model.safetensors").unlink()
    (folder / "onnx").mkdir(exist_ok=True)
    shutil.copy(exported, folder / "onnx" / "model.onnx")
    named = encoder(f"dir:{folder}?file={name}", settings)
    assert_near(named.encode(ODD_TEXTS, CancelToken()), expected)
    assert "differ from float32's" in named.measured[0], "which is a graph, too"


@pytest.mark.heavy
def test_a_graph_of_openvino_is_a_model_of_its_own_too(tmp_path: Path, settings: Settings) -> None:
    """Compressed to half precision; its weights are a file beside it."""
    import openvino

    folder, name = model(tmp_path / "m"), "openvino/openvino_model_fp16.xml"
    encoder(f"dir:{folder}?backend=openvino", settings).load()
    (exported,) = (settings.cache / backends.EXPORTS).iterdir()
    (folder / name).parent.mkdir()
    whole = openvino.Core().read_model(str(exported / "openvino_model.xml"))
    openvino.save_model(whole, str(folder / name), compress_to_fp16=True)
    own = encoder(f"dir:{folder}?file={name}", settings)
    assert_near(own.encode(ODD_TEXTS, CancelToken()), encoded(f"dir:{folder}", settings), 1e-2)
    assert "differ from float32's" in own.measured[0]
    revision, weights = own.identity.revision, (folder / name).with_suffix(".bin")
    (folder / "openvino" / "another.bin").write_bytes(b"of another graph")
    (folder / "openvino" / "another.xml").write_bytes(b"another graph")
    assert encoder(f"dir:{folder}?file={name}", settings).identity.revision == revision
    weights.write_bytes(weights.read_bytes()[::-1])
    assert encoder(f"dir:{folder}?file={name}", settings).identity.revision != revision


@pytest.mark.heavy
def test_a_graph_of_other_outputs_is_refused(tmp_path: Path, settings: Settings) -> None:
    """A folder with nothing but a graph, of each layer's states or of other vectors of tokens than its settings say."""
    import onnx

    folder = model(tmp_path / "m")
    encoder(f"dir:{folder}?backend=onnx", settings).load()
    (exported,) = (settings.cache / backends.EXPORTS).iterdir()
    (folder / "onnx").mkdir()
    (folder / "model.safetensors").unlink()
    state = "last_hidden_state"
    made = {
        "none is last_hidden_state or token_embeddings": {"hidden_states.0": "Identity", "hidden_states.1": "Identity"},
        "gives vectors of 64 numbers": {"logits": "Concat"},
    }
    for said, outputs in made.items():
        graph = onnx.load(exported / "model.onnx")
        del graph.graph.output[:]
        for name, operation in outputs.items():
            inputs, axis = ([state, state], {"axis": 2}) if operation == "Concat" else ([state], {})
            graph.graph.node.append(onnx.helper.make_node(operation, inputs, [name], **axis))
            graph.graph.output.append(onnx.helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, None))
        onnx.save(graph, folder / "onnx" / "model.onnx")
        with pytest.raises(InputError, match=said) as caught:
            encoder(f"dir:{folder}", settings).load()
        assert "\n" not in str(caught.value)


def test_graphs_that_cannot_be_told_apart_are_asked_about(tmp_path: Path, settings: Settings) -> None:
    folder = model(tmp_path / "m")
    for name in (INT8, "onnx/model_O3.onnx"):
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_bytes(b"none")
    asked = {
        "?backend=onnx": rf"2 graphs: onnx/model_O3.onnx, {INT8}.*name it: \?file=onnx/model_O3.onnx",
        "?file=onnx/model.onnx": rf"no file .*expected one of onnx/model_O3.onnx, {INT8}",
        f"?file={INT8}&backend=openvino": "the back end of .* is onnx",
        "?file=../m.onnx": "a graph in the model's folder",
        "?file=onnx/model.bin": "a graph in the model's folder",
        f"?file={INT8}&dtype=float16": "float32",
        f"?file={INT8}&pooling=first-last-avg": "last layer",
    }
    for query, said in asked.items():
        with pytest.raises(InputError, match=said) as caught:
            resolve_encoder(f"dir:{folder}{query}", settings)
        assert "\n" not in str(caught.value)
    (folder / "model.safetensors").unlink()
    for query, said in {"": "2 graphs and no model.safetensors", f"?file={INT8}&pooling=static": "embeddings"}.items():
        with pytest.raises(InputError, match=said):
            resolve_encoder(f"dir:{folder}{query}", settings)


def test_not_a_number_is_a_difference() -> None:
    good, bad = np.ones((2, 3), dtype=np.float32), np.full((2, 3), np.nan, dtype=np.float32)
    backends.check_same([good], [good], Backend.ONNX, "x")
    with pytest.raises(InputError, match="not numbers"):
        backends.check_same([good], [bad], Backend.ONNX, "x")


# --- runs


@pytest.mark.heavy
def test_a_run_with_a_back_end_is_stored_beside_torchs(
    settings: Settings, exports_of_minilm: Callable[[Backend], Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copytree(exports_of_minilm(Backend.OPENVINO), settings.cache / backends.EXPORTS)
    register_dataset(monkeypatch, SMALL_PAIRS)
    repository = Repository.at(settings.store)
    scores = {}
    for reference in ("minilm", "minilm?backend=openvino"):
        request = requesting.request("evalrank", reference, "none", SMALL_PAIRS.id, {}, settings)
        scores[reference] = pipeline.run(request, settings, repository).record.metrics
    one, other = scores.values()
    assert one.keys() == other.keys()
    assert other == pytest.approx(one, rel=1e-5)
    monkeypatch.setitem(sys.modules, "openvino", None)  # the page of models opens where it is not installed
    found = read_library(settings, repository).find("minilm?backend=openvino")
    assert found is not None
    assert (found.kind, found.dimension) == (WITH_PARAMETERS, 384)
    assert found.info is not None
    assert found.info.parameters > 0, "the catalog's facts"


def test_a_graph_is_known_by_its_own_weights_and_not_by_what_else_lies_beside_it(tmp_path: Path) -> None:
    graph = tmp_path / "onnx" / "model.onnx"
    graph.parent.mkdir()
    graph.write_bytes(b"a graph")

    def known(**files: bytes) -> str:
        beside = [graph.parent / name.replace("_", ".") for name in files]
        for path, content in zip(beside, files.values(), strict=True):
            path.write_bytes(content)
        found = backends.described(graph)
        for path in beside:
            path.unlink()
        return found

    alone = known()
    assert alone.startswith("layers of onnx/model.onnx (")
    for ours in ("model_bin", "model_onnx_data", "weights_data"):
        assert known(**{ours: b"1"}) not in {alone, known(**{ours: b"2"})}, ours
    for other in ("other_onnx", "config_json", "notes_md", "vocabulary_txt"):
        assert known(**{other: b"1"}) == alone, other
    assert known(other_xml=b"", other_bin=b"1") == alone, "weights of another graph"
