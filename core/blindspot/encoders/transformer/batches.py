"""Tokenized texts, in batches with little padding."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from typing import Any

import numpy as np

from blindspot.collector import collector_paused
from blindspot.types import Bool, CancelToken, Int32, Int64

TEXTS_AT_ONCE = 8_192  # per call of the tokenizer: enough for its threads, and few enough to notice a cancel soon


@dataclass(frozen=True, eq=False)
class Tokens:
    """Tokenized texts, concatenated.

    Attributes:
        ids: ``[t] int32``.
        starts: ``[n + 1] int64``: where in ``ids`` each text begins, and the end of the last one.
        added: ``[t] bool``: tokens added by the tokenizer; None if not needed.
        truncated: ``[n] bool``.
        pad: padding token id.
    """

    ids: Int32
    starts: Int64
    added: Bool | None
    truncated: Bool
    pad: int

    @cached_property
    def lengths(self) -> Int64:
        """``[n] int64``, in tokens."""
        return np.diff(self.starts)

    @cached_property
    def copies(self) -> Int64:
        """``[n] int64``: per text the first one with the same tokens, possibly itself."""
        first: dict[bytes, int] = {}
        copies = np.empty(len(self.lengths), dtype=np.int64)
        for row, (start, end) in enumerate(zip(self.starts[:-1], self.starts[1:], strict=True)):
            key = self.ids[start:end].tobytes()
            if self.added is not None:
                key += self.added[start:end].tobytes()
            copies[row] = first.setdefault(key, row)
        return copies

    @cached_property
    def order(self) -> Int64:
        """``[n] int64``: all texts, longest first, equal ones next to each other."""
        return np.lexsort((self.copies, -self.lengths)).astype(np.int64)

    def padded(self, rows: Int64) -> tuple[Int64, Int64]:
        """Ids and attention mask of some texts, each ``[k, width] int64``."""
        places, is_text = self._places(rows)
        return np.where(is_text, self.ids[places], self.pad).astype(np.int64), is_text.astype(np.int64)

    def joined(self, rows: Int64) -> Int64:
        """Ids of some texts end to end, ``[t] int64``."""
        places, is_text = self._places(rows)
        return self.ids[places[is_text]].astype(np.int64)

    def pieces(self, rows: Int64) -> Int64:
        """``[k, width] int64``: 1 for the text's own word pieces, 0 for added tokens and padding."""
        if self.added is None:
            raise TypeError("these texts were tokenised without telling what was added")
        places, is_text = self._places(rows)
        return (is_text & ~self.added[places]).astype(np.int64)

    def _places(self, rows: Int64) -> tuple[Int64, Bool]:
        """Index into ``ids`` of each token of a batch, and whether there is one: ``[k, width]``."""
        lengths = self.lengths[rows]
        columns = np.arange(int(lengths.max()))
        is_text = columns < lengths[:, None]
        return np.where(is_text, self.starts[rows][:, None] + columns, 0), is_text


def tokenize(
    tokenizer: Any, texts: Sequence[str], max_length: int, cancel: CancelToken, *, added_too: bool = False
) -> Tokens:
    """Tokenize with a transformers tokenizer, truncating after ``max_length`` tokens; 0 for never.

    Raises:
        Cancelled: between a few thousand texts.
    """
    ids: list[np.ndarray] = []
    added: list[np.ndarray] = []
    lengths: list[int] = []
    truncated = np.zeros(len(texts), dtype=bool)
    for start in range(0, len(texts), TEXTS_AT_ONCE):
        cancel.check()
        some = list(texts[start : start + TEXTS_AT_ONCE])
        with collector_paused():  # there is a list per text, and the collector would scan them again and again
            encoded = tokenizer(
                some,
                truncation=bool(max_length),
                max_length=max_length or None,
                return_attention_mask=False,
                return_token_type_ids=False,
                return_special_tokens_mask=added_too,
                verbose=False,
            )
        ids.append(_joined(encoded["input_ids"], np.int32))
        if added_too:
            added.append(_joined(encoded["special_tokens_mask"], np.bool_))
        lengths += (some_lengths := [len(row) for row in encoded["input_ids"]])
        full = [row for row, length in enumerate(some_lengths) if length >= max_length > 0]
        if full:  # truncated, or exactly as long as the limit
            uncut = [some[row] for row in full]
            whole = tokenizer(uncut, truncation=False, return_attention_mask=False, verbose=False)["input_ids"]
            truncated[np.array(full) + start] = [len(row) > max_length for row in whole]
    pad = tokenizer.pad_token_id
    return Tokens(
        ids=np.concatenate([np.empty(0, dtype=np.int32), *ids]),
        starts=np.concatenate([[0], np.cumsum(lengths, dtype=np.int64)]).astype(np.int64),
        added=np.concatenate([np.empty(0, dtype=bool), *added]) if added_too else None,
        truncated=truncated,
        pad=0 if pad is None else pad,
    )


def _joined(rows: list[list[int]], dtype: type) -> np.ndarray:
    return np.fromiter(chain.from_iterable(rows), dtype=dtype, count=sum(map(len, rows)))


def batches_to_join(lengths: Int64, budget: int, threads: int) -> list[Int64]:
    """Row numbers in batches of about equally many tokens, at most ``budget`` and a text; shorter texts first.

    The number of batches is a multiple of ``threads`` if there are enough texts, so that they end at about one time.
    """
    order = np.argsort(lengths, kind="stable")
    ends = np.cumsum(lengths[order])
    tokens = int(lengths.sum())
    count = max(1, -(-tokens // (budget * threads)) * threads)
    cuts = np.unique(np.searchsorted(ends, np.arange(1, count) * (tokens / count), side="right"))
    return [batch for batch in np.split(order, cuts) if len(batch)]


def batches_by_tokens(lengths: Int64, budget: int, *, alike: bool = False) -> list[Int64]:
    """Row numbers in batches of similar length whose padded size is at most ``budget`` tokens.

    ``alike``: batches have texts of one length, so that no text is padded or changes another's rounding; only if small
    products are as fast as large ones.

    A longer text is a batch of its own. Texts of one length need neither padding nor an attention mask (5% of the time
    of short texts): if they fill a quarter of the budget, enough for fast matrix products, no others join them.
    """
    order = np.argsort(lengths, kind="stable")
    rising, batches, start = lengths[order].tolist(), [], 0
    for end in range(1, len(order) + 1):
        if end < len(order):
            # the next text would determine the batch's width
            shortest, longest, following = rising[start], rising[end - 1], rising[end]
            size = end - start
            is_complete = shortest == longest < following and (alike or size * longest >= budget / 4)
            if (size + 1) * following <= budget and not is_complete:
                continue
        batches.append(order[start:end])
        start = end
    return batches
