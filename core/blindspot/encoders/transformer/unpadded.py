"""Texts of several lengths in one forward pass, joined end to end instead of padded, each attending to itself alone.

A pass takes some milliseconds even for few tokens. Often too few texts have the same length to be worth a pass, and
padding would add tokens and let texts change each other's last bits. So the texts of a batch become one row of tokens:
packed layers (``packed``) give every token the same numbers as always, and the attention, which transformers lets us
register, processes texts of one length at a time.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from blindspot.encoders.transformer.packed import CANNOT, is_same
from blindspot.types import Int64

if TYPE_CHECKING:
    import torch

ATTENTION = "blindspot_unpadded"  # name in transformers' registers: the usual attention, and ours if it gets runs
UNCOUNTED = "blindspot_uncounted_token"  # attribute of a model that takes unpadded texts: the token, or None
PROBE = (2, 7, 7, 33)  # tokens


class Run(NamedTuple):
    """Texts of one length, one after the other in a row of tokens.

    Attributes:
        start: where the first text begins, in tokens.
        texts: number of texts.
        length: of each text, in tokens.
    """

    start: int
    texts: int
    length: int

    @property
    def tokens(self) -> slice:
        return slice(self.start, self.start + self.texts * self.length)


def runs_of(lengths: Int64) -> list[Run]:
    """The runs of neighboring texts with the same length, from ``lengths [k] int64``."""
    firsts = np.flatnonzero(np.diff(lengths, prepend=-1))
    texts = np.diff(firsts, append=len(lengths))
    starts = np.cumsum(lengths)[firsts] - lengths[firsts]
    return [Run(*numbers) for numbers in zip(starts.tolist(), texts.tolist(), lengths[firsts].tolist(), strict=True)]


def enable(layers: Any) -> bool:
    """Let a model with packed layers take unpadded texts if it gives the same numbers; returns whether it does.

    Args:
        layers: a transformers model, for inference only.
    """
    import torch
    from transformers.masking_utils import ALL_MASK_ATTENTION_FUNCTIONS
    from transformers.modeling_utils import ALL_ATTENTION_FUNCTIONS

    if getattr(layers.config, "_attn_implementation", None) != "sdpa":
        return False
    ALL_ATTENTION_FUNCTIONS.register(ATTENTION, _attention)
    ALL_MASK_ATTENTION_FUNCTIONS.register(ATTENTION, ALL_MASK_ATTENTION_FUNCTIONS["sdpa"])
    tokens = sum(PROBE)
    lengths = np.array(PROBE, dtype=np.int64)
    places = np.arange(max(PROBE)) < lengths[:, np.newaxis]
    try:
        vocabulary = layers.get_input_embeddings().num_embeddings
        padding = getattr(layers.config, "pad_token_id", None) or 0
        flat = (3 + 7 * np.arange(tokens, dtype=np.int64)) % vocabulary
        flat[sum(PROBE[:3]) + 1] = padding  # a text may contain the token itself
        ids = np.full(places.shape, padding, dtype=np.int64)
        ids[places] = flat
        with torch.inference_mode():
            mask = torch.from_numpy(places.astype(np.int64))
            padded = layers(input_ids=torch.from_numpy(ids), attention_mask=mask, return_dict=True)
            expected = padded.last_hidden_state.numpy()[places]
            layers.config._attn_implementation = ATTENTION
            for uncounted in (None, padding):
                setattr(layers, UNCOUNTED, uncounted)
                if is_same(expected, joined(layers, flat, lengths).last_hidden_state[0].numpy()):
                    return True
    except CANNOT:  # a model that needs other inputs, or has fewer positions
        pass
    layers.config._attn_implementation = "sdpa"
    if is_enabled(layers):
        delattr(layers, UNCOUNTED)
    return False


def is_enabled(layers: Any) -> bool:
    return hasattr(layers, UNCOUNTED)


def joined(layers: Any, ids: Int64, lengths: Int64, **wanted: Any) -> Any:
    """The output of a model's forward pass over texts joined end to end, with states ``[1, t, d]``.

    Args:
        layers: a model for which this is enabled.
        ids: ``[t] int64``.
        lengths: ``[k] int64``, in tokens, none of them 0; fastest if they are sorted.
        wanted: further arguments of the model.
    """
    import torch

    return layers(
        input_ids=torch.from_numpy(ids[np.newaxis]),
        position_ids=torch.from_numpy(positions_of(ids, lengths, getattr(layers, UNCOUNTED))[np.newaxis]),
        runs=runs_of(lengths),
        return_dict=True,
        **wanted,
    )


def positions_of(ids: Int64, lengths: Int64, uncounted: int | None) -> Int64:
    """``[t] int64`` positions of texts' tokens ``ids [t] int64``, from 0 in each text.

    Args:
        lengths: ``[k] int64``, in tokens, none of them 0.
        uncounted: the padding token of models like RoBERTa, which is at its own number and counts the others from
            there on: 1 for ``<pad>``, then 2, 3, ... for a text's tokens, and 1 for a ``<pad>`` among them.
    """
    counted = np.ones(len(ids), dtype=np.int64) if uncounted is None else (ids != uncounted).astype(np.int64)
    upto = np.cumsum(counted)
    firsts = np.cumsum(lengths) - lengths
    position = upto - np.repeat(upto[firsts] - counted[firsts], lengths)  # from 1
    return np.asarray(position - 1 if uncounted is None else position * counted + uncounted)


def _attention(
    module: torch.nn.Module,
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    attention_mask: torch.Tensor | None,
    runs: Sequence[Run] | None = None,
    **options: Any,
) -> Any:
    """The usual attention, of ``[b, heads, t, d]``; with ``runs`` of the texts in one row, each text attends to itself.

    A row's mask, as models with a sliding window make it, depends only on the distance between two tokens: its square
    for a run's first text is right for the run's other texts, too.
    """
    import torch
    from transformers.integrations.sdpa_attention import sdpa_attention_forward

    if runs is None:
        return sdpa_attention_forward(module, query, key, value, attention_mask, **options)
    if options.get("position_bias") is not None:
        raise ValueError("a bias of positions is made for one text")
    rows = [tensor[0].transpose(0, 1) for tensor in (query, key, value)]  # [t, heads, d]
    out = torch.empty((1, len(rows[0]), query.shape[1], value.shape[-1]), dtype=value.dtype)
    for run in runs:
        shape = (run.texts, run.length)
        of_run = (row[run.tokens].unflatten(0, shape).transpose(1, 2) for row in rows)
        square = slice(run.start, run.start + run.length)
        mask = None if attention_mask is None else attention_mask[:, :, square, square]
        out[0, run.tokens].unflatten(0, shape).copy_(sdpa_attention_forward(module, *of_run, mask, **options)[0])
    return out, None
