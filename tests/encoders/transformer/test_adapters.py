"""Adapters (LoRA): their folders give what sentence-transformers gives, or are refused in a line."""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from blindspot.encoders.catalog import resolve_encoder
from blindspot.encoders.transformer import adapters, library
from blindspot.encoders.transformer.encoder import SentenceTransformerEncoder
from blindspot.errors import InputError
from blindspot.settings import Settings
from blindspot.types import CancelToken
from tests.support.hub import COMMIT, REPOSITORY, serving
from tests.support.tables import each
from tests.support.tiny_models import edit, plain, saved, tokenizer

TEXTS = ("A dog runs.", "rain", "Three cats were seen below a table; none of them slept. " * 2, "A dog runs.")
MOST = 3e-6
pytestmark = pytest.mark.heavy


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return saved(tmp_path_factory.mktemp("bases") / "base")


def _at_random(model: Any) -> Any:
    import torch

    torch.manual_seed(1)
    with torch.no_grad():
        for name, weights in model.named_parameters():
            if any(part in name for part in ("lora_", "ia3_", "modules_to_save")):
                weights.normal_(std=0.3)
    return model


def _lora(**settings: Any) -> Any:
    from peft import LoraConfig

    wanted = {"task_type": "FEATURE_EXTRACTION", "r": 4, "lora_alpha": 8, "target_modules": ["query", "value"]}
    return LoraConfig(**{**wanted, **settings})


def adapted(path: Path, base: Path, settings: Any = None) -> Path:
    """An adapter as sentence-transformers saves it, with the steps and the tokenizer."""
    from sentence_transformers import SentenceTransformer

    model = SentenceTransformer(str(base), device="cpu", local_files_only=True)
    model.add_adapter(settings or _lora())
    _at_random(model).save(str(path), create_model_card=False)
    return path


def by_peft(path: Path, base: Path, settings: Any = None, kind: str = "AutoModel") -> Path:
    """An adapter as peft saves it, which writes no tokenizer."""
    import transformers
    from peft import get_peft_model

    model = getattr(transformers, kind).from_pretrained(str(base))
    _at_random(get_peft_model(model, settings or _lora())).save_pretrained(str(path))
    return path


def _ia3() -> Any:
    from peft import IA3Config

    return IA3Config(task_type="FEATURE_EXTRACTION", target_modules=["query", "value"], feedforward_modules=[])


def _decoder(path: Path, _base: Path) -> Path:
    of = plain(path.with_name("decoder"), "Qwen2Config", kind="AutoModelForCausalLM")
    settings = _lora(task_type="CAUSAL_LM", target_modules=["q_proj", "v_proj"])
    return tokenizer(by_peft(path, of, settings, "AutoModelForCausalLM"))


# Functions of a folder's path and of the base that make an adapter.
KINDS: dict[str, Callable[[Path, Path], Path]] = {
    "by sentence-transformers": adapted,
    "by peft, with a tokenizer": lambda p, base: tokenizer(by_peft(p, base)),
    "rank-stabilized": lambda p, base: adapted(p, base, _lora(use_rslora=True)),
    "of the embeddings, with a trained layer norm": lambda p, base: adapted(
        p, base, _lora(target_modules=["word_embeddings", "query"], modules_to_save=["LayerNorm"])
    ),
    "of all linear layers": lambda p, base: adapted(p, base, _lora(target_modules="all-linear")),
    "scales instead of LoRA": lambda p, base: adapted(p, base, _ia3()),
    "of a causal language model": _decoder,
}


def of_library(folder: Path) -> np.ndarray:
    from sentence_transformers import SentenceTransformer

    model = SentenceTransformer(str(folder), device="cpu", local_files_only=True)
    return np.asarray(model.encode(list(TEXTS), batch_size=1, show_progress_bar=False))


def ours(folder: Path, settings: Settings, options: str = "") -> SentenceTransformerEncoder:
    encoder = resolve_encoder(f"dir:{folder}{options}", settings)
    assert isinstance(encoder, SentenceTransformerEncoder)
    return encoder


@each("kind", KINDS)
def test_an_adapter_gives_what_the_library_gives(kind: str, tmp_path: Path, base: Path, settings: Settings) -> None:
    folder = KINDS[kind](tmp_path / "adapter", base)
    encoder = ours(folder, settings)
    expected = of_library(folder)
    assert library.difference(expected, encoder.encode(TEXTS, CancelToken())) <= MOST
    assert not encoder.encoded_by, "merged, so that our faster way reads it"
    of_base = ours(base, settings).encode(TEXTS, CancelToken())
    assert library.difference(expected, of_base) > 0.01
    again = ours(folder, settings)  # the outcome is kept
    assert library.difference(expected, again.encode(TEXTS, CancelToken())) <= MOST
    assert again.identity == encoder.identity


def test_an_adapter_that_cannot_be_merged_is_encoded_by_the_library(
    tmp_path: Path, base: Path, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(layers: Any) -> None:
        next(iter(layers.parameters())).data.zero_()  # half of a merge
        raise ValueError

    monkeypatch.setattr(adapters, "merge", fails)
    folder = adapted(tmp_path / "adapter", base)
    encoder = ours(folder, settings)
    assert library.difference(of_library(folder), encoder.encode(TEXTS, CancelToken())) <= MOST
    assert encoder.encoded_by == "sentence-transformers"


def test_what_identifies_an_adapter_is_its_content_and_that_of_its_base(
    tmp_path: Path, base: Path, settings: Settings
) -> None:
    of = Path(shutil.copytree(base, tmp_path / "of"))
    folder = adapted(tmp_path / "adapter", of)

    def revision() -> str:
        return ours(folder, settings).identity.revision

    first, loaded = revision(), ours(folder, settings)
    assert loaded.identity.revision == first
    assert first != ours(of, settings).identity.revision
    other = plain(tmp_path / "other", initializer_range=0.2)
    shutil.copy(other / "model.safetensors", of)
    assert revision() != first
    with pytest.raises(InputError, match="changed while they were read"):
        loaded.load()
    shutil.copy(base / "model.safetensors", of)
    assert revision() == first
    shutil.copy(adapted(tmp_path / "b", of, _lora(use_rslora=True)) / adapters.CONFIG, folder)
    assert revision() != first


def test_a_base_is_found_where_it_was_moved_and_in_the_hubs_cache(
    tmp_path: Path, base: Path, settings: Settings
) -> None:
    of = Path(shutil.copytree(base, tmp_path / "of"))
    folder = adapted(tmp_path / "adapter", of)
    expected = ours(folder, settings).encode(TEXTS, CancelToken())
    of.rename(tmp_path / "moved")
    with pytest.raises(InputError, match=r"adapter \(LoRA\) of .*/of, which is not on this machine.*adapter_config"):
        ours(folder, settings)
    edit(folder / adapters.CONFIG, base_model_name_or_path=str(tmp_path / "moved"))
    np.testing.assert_array_equal(ours(folder, settings).encode(TEXTS, CancelToken()), expected)
    edit(folder / adapters.CONFIG, base_model_name_or_path="org/base")
    with pytest.raises(InputError, match="hf:org/base"):
        ours(folder, settings)
    repository = settings.cache / "hub" / "models--org--base"
    (repository / "refs").mkdir(parents=True)
    (repository / "refs" / "main").write_text("b" * 40, "utf-8")
    (repository / "snapshots").mkdir()
    (tmp_path / "moved").rename(repository / "snapshots" / ("b" * 40))
    encoder = ours(folder, settings)
    np.testing.assert_array_equal(encoder.encode(TEXTS, CancelToken()), expected)
    assert "base" in encoder.info.title


def test_an_adapter_has_poolings_layers_and_back_ends(tmp_path: Path, base: Path, settings: Settings) -> None:
    """It is merged, so that nothing of peft's is left in the layers."""
    from peft import PeftModel
    from transformers import AutoModel

    folder = adapted(tmp_path / "adapter", base)
    whole = PeftModel.from_pretrained(AutoModel.from_pretrained(str(base)), str(folder)).merge_and_unload()
    whole.save_pretrained(str(tmp_path / "merged"))
    merged = tokenizer(tmp_path / "merged")
    for options in ("?pooling=cls", "?layer=1&pooling=last-avg", "?backend=onnx"):
        expected = ours(merged, settings, options.replace("?backend=onnx", "")).encode(TEXTS, CancelToken())
        vectors = ours(folder, settings, options).encode(TEXTS, CancelToken())
        assert library.difference(expected, vectors) <= 1e-5, options


@pytest.mark.server
def test_an_adapter_of_the_hub_is_identified_by_its_commit_and_its_base(
    tmp_path: Path, base: Path, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = adapted(tmp_path / "adapter", base)
    expected = ours(folder, settings)
    with serving(folder, monkeypatch):
        encoder = resolve_encoder(f"hf:{REPOSITORY}", settings)
        np.testing.assert_array_equal(
            encoder.encode(TEXTS, CancelToken()), expected.encode(TEXTS, CancelToken()), strict=True
        )
        assert encoder.identity.revision not in (COMMIT, expected.identity.revision)
    edit(folder / adapters.CONFIG, base_model_name_or_path="org/no-such-base")
    elsewhere = replace(settings, cache=tmp_path / "elsewhere")
    with (
        serving(folder, monkeypatch),
        pytest.raises(InputError, match="'hf:org/no-such-base'"),
    ):
        resolve_encoder(f"hf:{REPOSITORY}", elsewhere).encode(TEXTS, CancelToken())


# --- refusals


def _nested(folder: Path) -> None:
    """As older sentence-transformers lays a model out."""
    (folder / "0_Transformer").mkdir()
    for file in [file for file in folder.iterdir() if file.is_file() and file.name != "modules.json"]:
        file.rename(folder / "0_Transformer" / file.name)
    rows = json.loads((folder / "modules.json").read_text("utf-8"))
    (folder / "modules.json").write_text(json.dumps([rows[0] | {"path": "0_Transformer"}, *rows[1:]]), "utf-8")


def _plain(folder: Path, **changes: Any) -> None:
    shutil.rmtree(folder / "1_Pooling")
    for name in ("modules.json", "config_sentence_transformers.json", "sentence_bert_config.json"):
        (folder / name).unlink(missing_ok=True)
    edit(folder / adapters.CONFIG, **changes)


def _settings(**changes: Any) -> Callable[[Path], None]:
    return lambda folder: edit(folder / adapters.CONFIG, **changes)


def _of_code(folder: Path) -> None:
    of = plain(folder.with_name(f"{folder.name}-of"))
    edit(of / "config.json", auto_map={"AutoModel": "evil.Model"})
    edit(folder / adapters.CONFIG, base_model_name_or_path=str(of))


def _of_nothing(folder: Path) -> None:
    (of := folder.with_name(f"{folder.name}-of")).mkdir()
    edit(folder / adapters.CONFIG, base_model_name_or_path=str(of))


# How an adapter's folder is changed, and what the refusal names.
REFUSED: dict[str, tuple[Callable[[Path], Any], str]] = {
    "a head": (lambda f: _plain(f, task_type="SEQ_CLS"), "classifier"),
    "a head of tokens": (lambda f: _plain(f, task_type="TOKEN_CLS"), "classifier of tokens"),
    "prompts": (_settings(peft_type="PROMPT_TUNING"), r"\(PROMPT_TUNING\) of"),
    "no base": (_settings(base_model_name_or_path=None), "expected base_model_name_or_path in adapter_config.json"),
    "an empty base": (_of_nothing, "has no config.json"),
    "a base with code": (_of_code, "config.json sets auto_map"),
    "a folder of its own": (_nested, "in its folder 0_Transformer"),
    "whole weights beside": (lambda f: edit(f / "config.json", model_type="bert"), "remove adapter_config.json"),
    "no tokenizer": (lambda f: (f / "tokenizer.json").unlink(), "no tokenizer.json.*base's tokenizer"),
    "a pickle": (lambda f: (f / adapters.WEIGHTS).rename(f / "adapter_model.bin"), "only as adapter_model.bin"),
    "no weights": (lambda f: (f / adapters.WEIGHTS).unlink(), "no weights"),
    "cut short": (lambda f: (f / adapters.WEIGHTS).write_bytes(b"12345678"), "cut short"),
    "weights of other layers": (_settings(target_modules=["query", "value", "key"]), r"key\.lora_.*merge_and_unload"),
}


def test_an_adapter_that_cannot_be_loaded_is_refused(tmp_path: Path, base: Path, settings: Settings) -> None:
    whole, wrong = adapted(tmp_path / "whole", base), []
    for number, (name, (change, named)) in enumerate(REFUSED.items()):
        folder = Path(shutil.copytree(whole, tmp_path / str(number)))
        change(folder)
        with pytest.raises(InputError, match=named) as caught:
            ours(folder, settings).load()
        wrong += [name] * ("\n" in str(caught.value))
    assert not wrong


def test_an_adapter_in_a_folder_of_its_own_loads_once_its_files_are_moved(
    tmp_path: Path, base: Path, settings: Settings
) -> None:
    """The library (6.2) looks for the base's weights in a folder of that name inside the base; the refusal's remedy
    is to move the files."""
    folder = adapted(tmp_path / "adapter", base)
    as_saved = of_library(folder)
    _nested(folder)
    with pytest.raises(OSError, match=r"model\.safetensors"):
        of_library(folder)
    with pytest.raises(InputError, match=r"beside modules\.json; move them there, and make the module's path"):
        ours(folder, settings)
    for file in (folder / "0_Transformer").iterdir():
        file.rename(folder / file.name)
    rows = json.loads((folder / "modules.json").read_text("utf-8"))
    (folder / "modules.json").write_text(json.dumps([rows[0] | {"path": ""}, *rows[1:]]), "utf-8")
    assert np.array_equal(of_library(folder), as_saved)
    assert library.difference(as_saved, ours(folder, settings).encode(TEXTS, CancelToken())) <= MOST


def test_weights_that_the_library_does_not_load_are_named(tmp_path: Path, base: Path, settings: Settings) -> None:
    """transformers 5.23 leaves out the magnitudes of DoRA, and computes with other ones."""
    folder = adapted(tmp_path / "adapter", base, _lora(use_dora=True))
    with pytest.raises(InputError, match=r"lora_magnitude_vector.*merge_and_unload"):
        ours(folder, settings).load()


def test_without_peft_an_adapter_says_what_to_install(
    tmp_path: Path, base: Path, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = adapted(tmp_path / "adapter", base)
    monkeypatch.setitem(sys.modules, "peft", None)
    with pytest.raises(InputError, match=r"pip install peft.*merge_and_unload") as caught:
        ours(folder, settings)
    assert "\n" not in str(caught.value)
