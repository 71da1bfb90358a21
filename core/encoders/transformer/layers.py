"""Every way to read one vector off a transformer's forward pass: each layer under each usual pooling."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

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


@runtime_checkable
class LayeredEncoder(Protocol):
    """A transformer whose layers can be read."""

    @property
    def reads_layers(self) -> bool:
        """False where a graph computes them, or the library encodes, whose tokens are not ours."""
        ...

    def readings(self, texts: Sequence[str], cancel: CancelToken) -> Mapping[Reading, Float32]:
        """``[n, d] float32`` by reading, of the texts with the encoder's prompt; raises as ``Encoder.encode``."""
        ...


def readings(
    model: Any, texts: Sequence[str], max_length: int, device: str, cancel: CancelToken
) -> dict[Reading, Float32]:
    """``[n, d] float32`` of every layer under every pooling.

    Args:
        model: a ``SentenceTransformer``; its modules after the pooling are not applied.
        max_length: tokens, special ones included, after which a text is truncated; 0 for never.

    Raises:
        Cancelled: between two batches.
    """
    import torch

    found: dict[Reading, list[np.ndarray]] = {}
    backbone, tokenizer = model[0].auto_model, model.tokenizer
    for start in range(0, len(texts), TEXTS_AT_ONCE):
        cancel.check()
        batch = tokenizer(
            list(texts[start : start + TEXTS_AT_ONCE]),
            truncation=bool(max_length),
            max_length=max_length or None,
            padding=True,
            return_special_tokens_mask=True,
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
                found.setdefault(reading, []).append(vectors.float().cpu().numpy())
    return {reading: np.concatenate(parts) for reading, parts in found.items()}


def _read(
    states: Sequence[torch.Tensor], static: torch.Tensor, mask: torch.Tensor, pieces: torch.Tensor
) -> list[tuple[Reading, torch.Tensor]]:
    import torch

    width = torch.arange(mask.shape[1], device=mask.device)
    last = (mask * width).argmax(dim=1)
    rows = torch.arange(len(mask), device=mask.device)
    found = []
    for layer, state in enumerate(states):
        hidden = state.masked_fill(mask.unsqueeze(2) == 0, -torch.inf)
        found += [
            (Reading(layer, "mean over tokens"), mean(state, mask)),
            (Reading(layer, "mean without special tokens"), mean(state, pieces)),
            (Reading(layer, "first token"), state[:, 0]),
            (Reading(layer, "last token"), state[rows, last]),
            (Reading(layer, "maximum over tokens"), hidden.max(dim=1).values),
        ]
    found.append((FIRST_LAST, (mean(states[1], mask) + mean(states[-1], mask)) / 2))
    found.append((STATIC, mean(static, pieces)))
    return found


def mean(vectors: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
    """Mean of ``vectors [k, width, d]`` where ``mask [k, width]`` is 1: ``[k, d] float32``; of nothing, zeros."""
    weights = (mask / mask.sum(dim=1, keepdim=True).clamp(min=1)).float()
    return (weights.unsqueeze(1) @ vectors.float()).squeeze(1)
