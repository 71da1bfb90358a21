"""Every way to read one vector off a transformer's forward pass: each layer under each usual pooling."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, runtime_checkable

import numpy as np

from blindspot.numerics.devices import full_precision
from blindspot.types import CancelToken, Float32

if TYPE_CHECKING:
    import torch

TEXTS_AT_ONCE = 16


@dataclass(frozen=True)
class Reading:
    """A layer and a pooling; layer 0 is the input of the first layer, None a mixture of layers."""

    layer: int | None
    pooling: str

    def __str__(self) -> str:
        return self.pooling if self.layer is None else f"{self.pooling} of layer {self.layer}"


FIRST_LAST = Reading(None, "mean of first and last layer")
STATIC = Reading(None, "mean of the input embeddings")


class Token(NamedTuple):
    id: int
    is_special: int  # 1 or 0


class Edit(StrEnum):
    """A change of a text's tokens; the value is shown."""

    NONE = "its own tokens"
    NO_SPECIAL = "no special tokens"
    SPECIAL_TWICE = "its special tokens twice"
    NO_FIRST = "no first token"
    NO_LAST = "no last token"
    NO_FIRST_PIECE = "no first token of the text itself"
    NO_LAST_PIECE = "no last token of the text itself"
    LAST_TWICE = "its last token twice"

    def apply(self, tokens: Sequence[Token]) -> list[Token]:
        """The tokens after the change; unchanged if none would be left."""
        pieces = [position for position, token in enumerate(tokens) if not token.is_special]
        first, last = (pieces[0], pieces[-1] + 1) if pieces else (len(tokens), len(tokens))
        before, inside, after = list(tokens[:first]), list(tokens[first:last]), list(tokens[last:])
        changed = {
            Edit.NONE: list(tokens),
            Edit.NO_SPECIAL: inside,
            Edit.SPECIAL_TWICE: [*before, *before, *inside, *after, *after],
            Edit.NO_FIRST: list(tokens[1:]),
            Edit.NO_LAST: list(tokens[:-1]),
            Edit.NO_FIRST_PIECE: [*before, *inside[1:], *after],
            Edit.NO_LAST_PIECE: [*before, *inside[:-1], *after],
            Edit.LAST_TWICE: [*tokens, *tokens[-1:]],
        }
        return changed[self] or list(tokens)


@runtime_checkable
class LayeredEncoder(Protocol):
    """A transformer whose layers can be read."""

    @property
    def reads_layers(self) -> bool:
        """False if a graph computes the layers, or if the library encodes, since its tokens are not ours."""
        ...

    def readings(self, texts: Sequence[str], cancel: CancelToken, edit: Edit = Edit.NONE) -> Mapping[Reading, Float32]:
        """``[n, d] float32`` by reading, for the texts with the encoder's prompt; raises as ``Encoder.encode``."""
        ...


def readings(
    model: Any, texts: Sequence[str], max_length: int, device: str, cancel: CancelToken, edit: Edit = Edit.NONE
) -> dict[Reading, Float32]:
    """``[n, d] float32`` of every layer under every pooling.

    Args:
        model: a ``SentenceTransformer``; its modules after the pooling are not applied.
        max_length: tokens, special ones included, after which a text is truncated; 0 for never.
        edit: change of the tokens after truncation.

    Raises:
        Cancelled: between two batches.
    """
    import torch

    by_reading: dict[Reading, list[np.ndarray]] = {}
    backbone, tokenizer = model[0].auto_model, model.tokenizer
    for start in range(0, len(texts), TEXTS_AT_ONCE):
        cancel.check()
        found_tokens = tokenizer(
            list(texts[start : start + TEXTS_AT_ONCE]),
            truncation=bool(max_length),
            max_length=max_length or None,
            return_special_tokens_mask=True,
            verbose=False,
        )
        tokens = [
            edit.apply(list(map(Token, ids, special)))
            for ids, special in zip(found_tokens["input_ids"], found_tokens["special_tokens_mask"], strict=True)
        ]
        batch = tokenizer.pad(
            {
                "input_ids": [[token.id for token in row] for row in tokens],
                "special_tokens_mask": [[token.is_special for token in row] for row in tokens],
            },
            return_tensors="pt",
            verbose=False,
        ).to(device)
        mask, special = batch["attention_mask"], batch["special_tokens_mask"]
        with torch.inference_mode(), full_precision():
            states = backbone(
                input_ids=batch["input_ids"], attention_mask=mask, output_hidden_states=True, return_dict=True
            ).hidden_states
            static = backbone.get_input_embeddings()(batch["input_ids"])
            for reading, vectors in _read(states, static, mask, mask * (1 - special)):
                by_reading.setdefault(reading, []).append(vectors.float().cpu().numpy())
    return {reading: np.concatenate(parts) for reading, parts in by_reading.items()}


def _read(
    states: Sequence[torch.Tensor], static: torch.Tensor, mask: torch.Tensor, pieces: torch.Tensor
) -> list[tuple[Reading, torch.Tensor]]:
    import torch

    width = torch.arange(mask.shape[1], device=mask.device)
    last = (mask * width).argmax(dim=1)
    rows = torch.arange(len(mask), device=mask.device)
    states_read = []
    for layer, state in enumerate(states):
        hidden = state.masked_fill(mask.unsqueeze(2) == 0, -torch.inf)
        states_read += [
            (Reading(layer, "mean over tokens"), mean(state, mask)),
            (Reading(layer, "mean without special tokens"), mean(state, pieces)),
            (Reading(layer, "first token"), state[:, 0]),
            (Reading(layer, "last token"), state[rows, last]),
            (Reading(layer, "maximum over tokens"), hidden.max(dim=1).values),
        ]
    states_read.append((FIRST_LAST, (mean(states[1], mask) + mean(states[-1], mask)) / 2))
    states_read.append((STATIC, mean(static, pieces)))
    return states_read


def mean(vectors: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
    """Mean of ``vectors [k, width, d]`` where ``mask [k, width]`` is 1: ``[k, d] float32``; zeros where none is 1."""
    weights = (mask / mask.sum(dim=1, keepdim=True).clamp(min=1)).float()
    return (weights.unsqueeze(1) @ vectors.float()).squeeze(1)
