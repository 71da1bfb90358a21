"""Linear layers with weights packed once for oneDNN, for a transformer in float32 on an x86 processor.

PyTorch's own linear layers multiply with MKL, which is slower on AMD's processors, add the bias by a copy, and apply
GELU in another pass. oneDNN does all three in one product: the one that PyTorch's compiler uses, without the compiler.
"""

from __future__ import annotations

import platform
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    import torch

SMALLEST = 1 << 14  # weights of a layer; for smaller ones, a call costs more than it saves
LARGEST_DIFFERENCE = 1e-5  # of a component, relative to the largest one
PROBE = (2, 7)  # texts and tokens
CANNOT = (RuntimeError, AttributeError, TypeError, ValueError, LookupError)
X86 = {"x86_64", "amd64"}


def pack(layers: Any) -> int:
    """Replace a model's linear layers by packed ones if these give the same numbers; returns how many.

    Args:
        layers: a transformers model in float32 on the CPU, for inference only.
    """
    import torch

    if platform.machine().lower() not in X86 or not torch.backends.mkldnn.is_available() or not _is_plain(layers):
        return 0
    exchanged: list[tuple[Any, str, Any]] = []

    def exchange(parent: Any, name: str, by: Any) -> None:
        exchanged.append((parent, name, getattr(parent, name)))
        setattr(parent, name, by)

    try:
        expected = _probed(layers)
        for parent in list(layers.modules()):
            for name, child in list(parent.named_children()):
                if type(child) is not torch.nn.Linear or child.weight.numel() < SMALLEST:
                    continue
                is_gelu = name == "dense" and _is_gelu(getattr(parent, "intermediate_act_fn", None))
                exchange(parent, name, _packed(child, "gelu" if is_gelu else "none"))
                if is_gelu:
                    exchange(parent, "intermediate_act_fn", torch.nn.Identity())
        same = bool(exchanged) and is_same(expected, _probed(layers))
    except CANNOT:  # the model needs other inputs or reads its weights, or torch lacks these products
        same = False
    if not same:
        for parent, name, was in reversed(exchanged):
            setattr(parent, name, was)
        return 0
    return sum(isinstance(was, torch.nn.Linear) for _, _, was in exchanged)


def is_packed(layers: Any) -> bool:
    """Whether some of a model's layers are packed.

    Packed layers give a row the same numbers in any batch; so does attention if all texts have one length.
    """
    return any(weight.is_mkldnn for weight in layers.parameters())


def _is_plain(layers: Any) -> bool:
    """Whether all weights are float32 on the CPU."""
    import torch

    return all(w.dtype == torch.float32 and w.device.type == "cpu" for w in layers.parameters())


def _is_gelu(function: Any) -> bool:
    """Whether an activation is GELU by the error function, not by one of its approximations."""
    import torch
    from transformers.activations import GELUActivation

    if isinstance(function, torch.nn.GELU):
        return bool(function.approximate == "none")
    return isinstance(function, GELUActivation) and function.act is torch.nn.functional.gelu


def _packed(linear: torch.nn.Linear, after: str) -> torch.nn.Module:
    import torch

    operations = torch.ops.mkldnn

    class Packed(torch.nn.Module):  # type: ignore[misc]
        """A linear layer, and GELU after it where ``after`` says so."""

        def __init__(self) -> None:
            super().__init__()
            self.in_features, self.out_features = linear.in_features, linear.out_features
            weight = operations._reorder_linear_weight(linear.weight.detach())  # the only copy, opaque to others
            self.weight = torch.nn.Parameter(weight, requires_grad=False)
            self.bias = linear.bias

        def forward(self, values: torch.Tensor) -> torch.Tensor:
            return operations._linear_pointwise(values, self.weight, self.bias, after, [], "none")

    return Packed()


def _probed(layers: Any) -> np.ndarray:
    """The last layer's ``[texts, tokens, d]`` for a few token ids; the last text's last token is masked."""
    import torch

    with torch.inference_mode():
        ids = torch.arange(PROBE[0] * PROBE[1]).reshape(PROBE) % layers.get_input_embeddings().num_embeddings
        mask = torch.ones_like(ids)
        mask[-1, -1] = 0
        return np.asarray(layers(input_ids=ids, attention_mask=mask, return_dict=True).last_hidden_state.numpy())


def is_same(expected: np.ndarray, actual: np.ndarray) -> bool:
    """Whether two ways to compute a model give the same numbers, but for rounding."""
    return bool(np.abs(expected - actual).max() <= LARGEST_DIFFERENCE * np.abs(expected).max())
