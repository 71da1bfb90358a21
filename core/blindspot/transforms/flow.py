"""A small invertible flow from embeddings to a standard Gaussian (Li et al. 2020, BERT-flow, section 3.2).

RealNVP (Dinh et al. 2017) replaces the paper's Glow: affine couplings, each of which scales and shifts one half of
the coordinates by a network's output for the other half. It is trained by maximum likelihood on the items,
standardized column by column. The result depends on the items, ``SEED`` and, in its last digits, on the number of
threads, the processor and the version of torch; on one machine with one number of threads it is always the same.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from blindspot.errors import InputError
from blindspot.numerics.principal import blocks, require_finite
from blindspot.transforms.steps import mean_and_sd
from blindspot.types import CancelToken, Float32, Float64, Int64, Progress

SEED = 20_201_103
LAYERS = 4
HIDDEN = 128
# A coupling scales by a factor between this and its inverse: the flow stays invertible in float32, and cannot
# gain likelihood without end along directions in which the items hardly vary.
SLOPE = 0.1
STEPS = 600
BATCH = 256
RATE = 1e-3
HELD_OUT = 10  # every tenth item, in a random order, is not used for training
MOST_HELD_OUT = 1_024  # of these are evaluated, at most
EVERY = 20  # steps between two points of the curve
CURVE_DIGITS = 5  # of a point in a manifest
STAGE = "training the flow"


@dataclass(frozen=True, eq=False)
class Curve:
    """Log-likelihood per dimension, in nats, of standardized items while the flow was trained.

    Attributes:
        steps: ``[p] int64``, number of training steps at each point; the first is 0, before training.
        train: ``[p] float64``, mean over the batches since the last point (at 0, of the first batch).
        held_out: ``[p] float64``, for items that were not used for training.
    """

    steps: Int64
    train: Float64
    held_out: Float64

    @property
    def best(self) -> int:
        """The point of highest held-out likelihood; the flow's weights are from there."""
        return int(self.held_out.argmax())


@dataclass(frozen=True, eq=False)
class Flow:
    """A trained flow, a step of a transform chain: embeddings ``[n, d]`` to latent vectors ``[n, d]``.

    Attributes:
        mean, scale: ``[d] float64``, of the items; the scale of a column without variance is 1.
        weights: of the network, float32 by parameter name.
        curve: its likelihood during training.
    """

    mean: Float64
    scale: Float64
    weights: Mapping[str, Float32]
    curve: Curve

    @property
    def d_out(self) -> int:
        return len(self.mean)

    @property
    def facts(self) -> Mapping[str, Any]:
        best = self.curve.best
        return {
            "seed": SEED,
            "steps": int(self.curve.steps[-1]),
            "kept_after_steps": int(self.curve.steps[best]),
            "log_likelihood_train": float(self.curve.train[best]),
            "log_likelihood_held_out": float(self.curve.held_out[best]),
            "curve": {
                "steps": self.curve.steps.tolist(),
                "train": [round(value, CURVE_DIGITS) for value in self.curve.train.tolist()],
                "held_out": [round(value, CURVE_DIGITS) for value in self.curve.held_out.tolist()],
            },
        }

    def apply(self, embeddings: Float32) -> Float32:
        """Latent vectors, computed in float64."""
        import torch

        network = _network(self.d_out)
        network.load_state_dict({name: torch.from_numpy(np.array(w)) for name, w in self.weights.items()})
        network = network.double().eval()
        out = np.empty((len(embeddings), self.d_out), dtype=np.float32)
        with torch.inference_mode():
            transform = network().transform
            for part, block in blocks(embeddings):
                out[part] = transform(torch.from_numpy((block - self.mean) / self.scale)).numpy()
        return out


def train(corpus: Float32, progress: Progress, cancel: CancelToken) -> Flow:
    """Train a flow on the rows of ``corpus`` (``[n, d]``).

    Raises:
        InputError: too few rows or columns, or rows that do not vary.
        BlindspotError: the rows hold NaN or infinite values.
        Cancelled: between two steps.
    """
    check(corpus)
    import torch

    mean, scale = _standard(corpus)
    rng = np.random.default_rng(SEED)
    order = rng.permutation(len(corpus))
    held = math.ceil(len(corpus) / HELD_OUT)
    kept_back, rest = np.sort(order[: min(held, MOST_HELD_OUT)]), order[held:]

    def standardised(rows: NDArray[np.int64]) -> Any:
        return torch.from_numpy(((corpus[rows] - mean) / scale).astype(np.float32))

    network = _network(corpus.shape[1])
    _begin(network)
    optimizer = torch.optim.Adam(network.parameters(), lr=RATE)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, STEPS)
    test = standardised(kept_back)
    steps, trained, held_out, recent = list[int](), list[float](), list[float](), list[float]()
    best: dict[str, Float32] = {}

    def look(step: int) -> None:
        nonlocal best
        with torch.inference_mode():
            steps.append(step)
            trained.append(float(np.mean(recent)))
            held_out.append(float(network().log_prob(test).mean()) / corpus.shape[1])
        if held_out[-1] >= max(held_out):
            best = {name: value.detach().numpy().copy() for name, value in network.state_dict().items()}
        recent.clear()

    size = min(BATCH, len(rest))
    for step in range(STEPS):
        progress(STAGE, step, STEPS)
        cancel.check()
        batch = standardised(rest[rng.choice(len(rest), size, replace=False)])
        loss = -network().log_prob(batch).mean() / corpus.shape[1]
        recent.append(-loss.item())
        if step % EVERY == 0:
            look(step)
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(network.parameters(), 1.0)
        optimizer.step()
        schedule.step()
    recent.append(-loss.item())
    look(STEPS)
    progress(STAGE, STEPS, STEPS)
    curve = Curve(np.array(steps, dtype=np.int64), np.array(trained), np.array(held_out))
    require_finite(curve.held_out)
    return Flow(mean, scale, best, curve)


def check(corpus: Float32) -> None:
    """Raise ``InputError`` for too few rows or columns to train a flow."""
    n, d = corpus.shape
    if d < 2:
        raise InputError(
            "transform 'flow' lets one half of the dimensions move the other: these embeddings have one",
            expected="embeddings of 2 dimensions or more",
        )
    if n <= d:
        raise InputError(
            f"transform 'flow' cannot be trained on {n} items of {d} dimensions",
            expected=f"more items than dimensions: {d + 1} or more",
            remedy="use fewer dimensions (truncate:D before it), or fit it on another dataset",
        )


def _standard(corpus: Float32) -> tuple[Float64, Float64]:
    """Mean and standard deviation by column; the latter is 1 for a constant column."""
    mean, sd = mean_and_sd(corpus)
    if not sd.any():
        raise InputError(
            f"transform 'flow' finds no variance in the {len(corpus)} items", expected="items with different embeddings"
        )
    return mean, np.where(sd > 0, sd, 1.0)


def _network(dimension: int) -> Any:
    import zuko

    univariate = partial(zuko.transforms.MonotonicAffineTransform, slope=SLOPE)
    return zuko.flows.RealNVP(dimension, transforms=LAYERS, hidden_features=(HIDDEN,), univariate=univariate)


def _begin(network: Any) -> None:
    """Set the first weights, drawn from ``SEED`` independently of torch's own generator; the flow is the identity."""
    import torch

    generator = torch.Generator().manual_seed(SEED)
    for coupling in network.transform.transforms:
        first, last = (layer for layer in coupling.hyper if list(layer.parameters()))  # all others are activations
        torch.nn.init.kaiming_uniform_(first.weight, a=math.sqrt(5), generator=generator)
        for zero in (first.bias, last.weight, last.bias):
            torch.nn.init.zeros_(zero)
