"""The share of this machine's float32 product rate that encoding reaches."""

from __future__ import annotations

import statistics
from dataclasses import dataclass, replace
from time import perf_counter, sleep

import numpy as np

from benchmarks.encoders.encoding import minilm, sentences
from benchmarks.measuring import REST_SECONDS, BenchmarkResult
from blindspot.encoders.gpu.running import TOKENS_PER_BATCH
from blindspot.encoders.transformer.encoder import SentenceTransformerEncoder
from blindspot.settings import Settings
from blindspot.types import CancelToken, Int64, Progress

SENTENCES = 512
ROUNDS = 7


@dataclass(frozen=True)
class Layers:
    """Sizes of a BERT: ``count`` layers of ``width`` with ``inner`` numbers between their last two products."""

    count: int
    width: int
    inner: int

    @classmethod
    def of(cls, encoder: SentenceTransformerEncoder) -> Layers:
        config = encoder._model[0].auto_model.config
        return cls(config.num_hidden_layers, config.hidden_size, config.intermediate_size)

    def operations(self, lengths: Int64) -> float:
        """Floating-point operations of the layers' products for texts of ``lengths [n] int64`` tokens.

        A text of t tokens takes, per layer, 2t (4w² + 2wi) for queries, keys, values, output and the two products in
        between, and 4t²w for attention: its scores and its sums, 2t²w each. Padding, embeddings, activations and norms
        do not count.
        """
        t = lengths.astype(np.float64)
        per_token = 4 * self.width**2 + 2 * self.width * self.inner
        return float(self.count * (2 * t * per_token + 4 * t**2 * self.width).sum())


def encode_efficiency(progress: Progress) -> list[BenchmarkResult]:
    """MiniLM's operations per second on EvalRank sentences, tokenizing included, over those of the bare product.

    The product is ``[b, w] @ [w, i]`` for a batch of b tokens, as many times as make the operations of the sentences,
    by numpy and by torch in turn with the encoding; the faster of the two counts.

    Raises:
        NotMeasured: the sentences are not here.
    """
    import torch

    settings = replace(Settings.from_environment(), device="cpu")
    encoder = replace(minilm(settings), others=())
    encoder.load()
    texts = sentences(settings, SENTENCES)
    layers = Layers.of(encoder)
    operations = layers.operations(encoder.prepare(texts, CancelToken()).work)
    tokens = TOKENS_PER_BATCH["cpu"]
    times = round(operations / (2 * tokens * layers.width * layers.inner))
    random = np.random.default_rng(0)
    states = random.standard_normal((tokens, layers.width), dtype=np.float32)
    weights = random.standard_normal((layers.width, layers.inner), dtype=np.float32)
    of_torch = torch.from_numpy(states), torch.from_numpy(weights)

    def by_numpy() -> None:
        for _ in range(times):
            _ = states @ weights

    def by_torch() -> None:
        with torch.inference_mode():
            for _ in range(times):
                _ = of_torch[0] @ of_torch[1]

    works = (lambda: encoder.encode(texts, CancelToken()), by_numpy, by_torch)
    products = 2.0 * times * tokens * layers.width * layers.inner
    shares, reached, bare = [], [], []
    for i in range(ROUNDS + 1):
        progress(f"encode_efficiency, {len(texts):,} sentences", i, ROUNDS + 1)
        seconds = []
        for work in works:
            sleep(REST_SECONDS)
            start = perf_counter()
            work()
            seconds.append(perf_counter() - start)
        if i:  # the first one warms up
            reached.append(operations / seconds[0] / 1e9)
            bare.append(products / min(seconds[1:]) / 1e9)
            shares.append(reached[-1] / bare[-1])
    return [
        BenchmarkResult("encode_efficiency", statistics.median(shares), "ratio", tuple(shares)),
        BenchmarkResult("encode_efficiency_reached", statistics.median(reached), "GFLOP/s", tuple(reached)),
        BenchmarkResult("encode_efficiency_product", statistics.median(bare), "GFLOP/s", tuple(bare)),
    ]
