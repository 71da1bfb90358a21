"""Made-up problems: vectors of EvalRank's sizes, texts as long as its sentences, and a model of MiniLM's size."""

from __future__ import annotations

import json
from itertools import product
from pathlib import Path

import numpy as np

from blindspot.types import Float32, Int32

WORDS_OF_TEXT = (13.0, 6.0)  # mean and spread of EvalRank's sentences
PIECES = 30_522
MINILM = {
    "hidden_size": 384,
    "num_hidden_layers": 6,
    "num_attention_heads": 12,
    "intermediate_size": 1_536,
    "vocab_size": PIECES,
}
MAX_LENGTH = 256


def ranking_problem(dimension: int, items: int = 24_957, queries: int = 6_989) -> tuple[Float32, Int32, Int32]:
    """Unit vectors of EvalRank's sizes: every query is one item, its match lies near it."""
    rng = np.random.default_rng(7)
    matrix = rng.standard_normal((items, dimension), dtype=np.float32)
    order = rng.permutation(items).astype(np.int32)
    query_items, matches = order[:queries], order[-queries:]
    matrix[matches] = matrix[query_items] + 0.6 * rng.standard_normal((queries, dimension)).astype(np.float32)
    matrix /= np.linalg.norm(matrix, axis=1, keepdims=True)
    return matrix, query_items, matches


def words() -> list[str]:
    """Made-up ones, each a word piece of ``random_minilm``; those in front are more frequent."""
    parts = ("b ch d f g k l m n p r s t v z".split(), "a e i o u".split(), "l n r s t".split())
    syllables = ["".join(part) for part in product(*parts)]
    return ["".join(pair) for pair in product(syllables, syllables[::5])][: PIECES - 200]


def texts(count: int) -> tuple[str, ...]:
    """As long as EvalRank's sentences, no two alike; the same in any process."""
    rng, vocabulary = np.random.default_rng(11), words()
    lengths = np.clip(rng.normal(*WORDS_OF_TEXT, count), 3, 60).astype(int)
    return tuple(
        f"{' '.join(vocabulary[k % len(vocabulary)] for k in rng.zipf(1.3, length))} {number}."
        for number, length in enumerate(lengths)
    )


def random_minilm(folder: Path) -> Path:
    """A sentence-transformers folder of MiniLM's architecture with random weights and the words above as pieces."""
    import torch
    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors
    from transformers import BertConfig, BertModel

    special = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    characters = [chr(code) for code in range(33, 127) if not chr(code).isupper()]
    pieces = [*special, *characters, *(f"##{c}" for c in characters), *words()][:PIECES]
    places = {piece: place for place, piece in enumerate(dict.fromkeys(pieces))}
    tokenizer = Tokenizer(models.WordPiece(places, unk_token="[UNK]"))  # noqa: S106 - no password
    tokenizer.normalizer = normalizers.BertNormalizer()
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.post_processor = processors.BertProcessing(("[SEP]", 3), ("[CLS]", 2))
    torch.manual_seed(0)
    model = BertModel(BertConfig(**MINILM, initializer_range=0.1))
    model.save_pretrained(folder)
    tokenizer.save(str(folder / "tokenizer.json"))
    names = {"pad_token": "[PAD]", "unk_token": "[UNK]", "cls_token": "[CLS]", "sep_token": "[SEP]"}
    about = {"tokenizer_class": "PreTrainedTokenizerFast", "model_max_length": MAX_LENGTH, **names}
    (folder / "tokenizer_config.json").write_text(json.dumps(about), "utf-8")
    return folder
