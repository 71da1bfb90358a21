"""One forward pass of a transformer over a batch of texts, and every readout of it."""

from __future__ import annotations

import math
from collections.abc import Mapping
from inspect import signature
from typing import TYPE_CHECKING, Any

from blindspot.encoders.references import POWERS, PUBLISHED, Pooling, Readout
from blindspot.encoders.transformer import unpadded
from blindspot.encoders.transformer.batches import Tokens
from blindspot.encoders.transformer.layers import mean
from blindspot.encoders.transformer.packed import is_packed
from blindspot.errors import InputError
from blindspot.numerics.devices import kind_of, pinned_like
from blindspot.types import Int64

if TYPE_CHECKING:
    import torch
    from sentence_transformers import SentenceTransformer


WHOLE = "blindspot_is_whole"  # attribute of a batch's attention mask: nothing is padded


def leave_out_whole_masks(layers: Any) -> None:
    """Let a transformers model compute batches without padding as if they had no attention mask.

    The numbers are the same. To find out that a mask masks nothing, transformers would wait until the device has
    finished the earlier batches; other kinds of attention would add the mask.
    """
    parameter = signature(layers.forward).parameters.get("attention_mask")
    if parameter is None or parameter.default is not None:
        return

    def leave_out(
        _: Any, args: tuple[Any, ...], named: dict[str, Any]
    ) -> tuple[tuple[Any, ...], dict[str, Any]] | None:
        return (args, named | {"attention_mask": None}) if getattr(named.get("attention_mask"), WHOLE, False) else None

    layers.register_forward_pre_hook(leave_out, with_kwargs=True, prepend=True)


class Forward:
    """A model's forward pass over a batch, and its readouts.

    Attributes:
        is_packed: whether a text's digits do not depend on other texts of its batch (``packed.is_packed``).
        can_join: whether texts of several lengths are joined rather than padded.
    """

    def __init__(self, model: SentenceTransformer, readouts: tuple[Readout, ...], prompt: str, device: str) -> None:
        self._model = model
        self._readouts = readouts
        first = {1} if any(readout.pooling is Pooling.FIRST_LAST_AVG for readout in readouts) else set[int]()
        self._layers = sorted(
            first.union(*(readout.layers for readout in readouts))
        )  # beside the last one, always given
        self._device = device
        self._backbone = model[0].auto_model
        self.is_packed = is_packed(self._backbone)
        self.can_join = unpadded.is_enabled(self._backbone) and _pools_last_states(model[0])
        # Some published models exclude the prompt's tokens from the mean.
        self._prompt_length = model[0]._get_prompt_length(prompt) if prompt else None

    def __call__(self, tokens: Tokens, rows: Int64) -> list[torch.Tensor]:
        """Per readout ``[k, d] float32``, on the device, possibly not computed yet; faster if lengths are sorted."""
        import torch

        with torch.inference_mode():
            if self.can_join and tokens.lengths[rows].all():
                return self._joined(tokens, rows)
            return self._padded(tokens, rows)

    def _padded(self, tokens: Tokens, rows: Int64) -> list[torch.Tensor]:
        lengths = tokens.lengths[rows]
        ids, mask = (self._on_device(array) for array in tokens.padded(rows))
        setattr(mask, WHOLE, bool(lengths.min() == lengths.max()))
        if self._readouts == (PUBLISHED,):  # exactly what the library does
            return [self._published(self._model(self._features(mask) | {"input_ids": ids}))]
        result = self._backbone(input_ids=ids, attention_mask=mask, return_dict=True, **self._wanted)
        return self._pooled(tokens, rows, ids, mask, result.last_hidden_state, self._states(result))

    def _joined(self, tokens: Tokens, rows: Int64) -> list[torch.Tensor]:
        """As ``_padded``, but without padding; neighbors of one length are pooled together."""
        import torch

        ids, lengths = tokens.joined(rows), tokens.lengths[rows]
        result = unpadded.joined(self._backbone, ids, lengths, **self._wanted)
        last, states = result.last_hidden_state[0], self._states(result)
        pooled: list[list[torch.Tensor]] = []
        done = 0
        for run in unpadded.runs_of(lengths):
            shape = (run.texts, run.length)
            of_run = torch.from_numpy(ids[run.tokens].reshape(shape))
            pooled.append(
                self._pooled(
                    tokens,
                    rows[done : done + run.texts],
                    of_run,
                    torch.ones_like(of_run),
                    last[run.tokens].unflatten(0, shape),
                    {layer: state[0, run.tokens].unflatten(0, shape) for layer, state in states.items()},
                )
            )
            done += run.texts
        return [torch.cat(of_readout) for of_readout in zip(*pooled, strict=True)]

    def _pooled(
        self,
        tokens: Tokens,
        rows: Int64,
        ids: torch.Tensor,
        mask: torch.Tensor,
        last: torch.Tensor,
        states: Mapping[int, torch.Tensor],
    ) -> list[torch.Tensor]:
        """Per readout ``[k, d] float32``, from states ``[k, width, d]`` of the last layer and of others by number."""
        import torch

        def read(readout: Readout) -> torch.Tensor:
            if readout.pooling is Pooling.STATIC:
                inputs = self._backbone.get_input_embeddings()(ids)
                return mean(inputs, self._on_device(tokens.pieces(rows)))
            if readout.pooling is Pooling.FIRST_LAST_AVG:
                return (mean(states[1], mask) + mean(last, mask)) / 2
            of_layers = [states[layer] for layer in readout.layers] or [last]
            hidden = sum(of_layers[1:], start=of_layers[0])  # of one layer as it is: the last one's are the model's
            hidden = hidden / len(of_layers) if of_layers[1:] else hidden
            poolings = [self._pool(pooling, hidden, ids, mask) for pooling in readout.poolings]
            return torch.cat(poolings, dim=1) if readout.more else poolings[0]

        return [read(readout).float() for readout in self._readouts]

    def _pool(self, pooling: Pooling, hidden: torch.Tensor, ids: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        """``[k, d]`` of a layer's states ``[k, width, d]``."""
        if pooling is Pooling.CLS:
            return hidden[:, 0]
        if pooling is Pooling.LAST_AVG:
            return mean(hidden, mask)
        if pooling in POWERS:
            power = POWERS[pooling]
            mean_power = mean(hidden.float() ** power, mask)
            return mean_power.sign() * mean_power.abs() ** (1 / power)
        if pooling in (Pooling.MAX, Pooling.MIN):
            sign = 1 if pooling is Pooling.MAX else -1
            return sign * (sign * hidden).masked_fill(mask.unsqueeze(2) == 0, -math.inf).amax(dim=1)
        features = self._features(mask) | {"input_ids": ids, "token_embeddings": hidden}
        for module in list(self._model)[1:]:
            features = module(features)
        return self._published(features)

    def _published(self, features: Any) -> torch.Tensor:
        """The model's result, cut to the number of dimensions that the model sets."""
        return features["sentence_embedding"][:, : self._model.truncate_dim].float()

    @property
    def _wanted(self) -> dict[str, Any]:
        """Arguments that make the model return what it does not return by default."""
        return {"output_hidden_states": self._layers} if self._layers else {}

    def _states(self, result: Any) -> dict[int, torch.Tensor]:
        """The states ``[k, width, d]`` of the wanted layers, by number: layer 0 is the first layer's input."""
        if not self._layers:
            return {}
        states = getattr(result, "hidden_states", None) or [result.last_hidden_state]
        depth = len(states) - 1
        if self._layers[-1] > depth:  # config.json gives another number, or the model does not return its layers
            raise InputError(
                f"layer {self._layers[-1]:,} is asked for, and the model gives {depth:,} of its layers",
                remedy="leave out layer",
            )
        last = {depth: result.last_hidden_state}
        return {layer: last.get(layer, states[layer]) for layer in self._layers}

    def _features(self, mask: torch.Tensor) -> dict[str, Any]:
        prompt = {} if self._prompt_length is None else {"prompt_length": self._prompt_length}
        return {"attention_mask": mask, **prompt}

    def _on_device(self, array: Int64) -> torch.Tensor:
        import torch

        tensor = torch.from_numpy(array)
        if kind_of(self._device) == "cuda":  # copies from pinned memory do not block
            return pinned_like(tensor).copy_(tensor).to(self._device, non_blocking=True)
        return tensor.to(self._device)


def _pools_last_states(transformer: Any) -> bool:
    """Whether the first module gives the later ones only the last layer's states of a text."""
    of_text = transformer.modality_config.get("text", {})
    return (
        transformer.module_output_name == "token_embeddings"
        and of_text.get("method") == "forward"
        and of_text.get("method_output_name") == "last_hidden_state"
        and not getattr(transformer.auto_model.config, "output_hidden_states", False)
    )
