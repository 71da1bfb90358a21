"""Encoding against sentence-transformers' own loop, and reruns without encoding."""

from __future__ import annotations

import statistics
import tempfile
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from time import perf_counter

import numpy as np

from benchmarks.measuring import BenchmarkResult, NotMeasured, interleaved_ratios
from blindspot.datasets import fetch
from blindspot.datasets.catalog import DATASETS
from blindspot.encoders.cache import EmbeddingCache
from blindspot.encoders.catalog import resolve_encoder
from blindspot.encoders.references import Dtype
from blindspot.encoders.transformer.encoder import SentenceTransformerEncoder
from blindspot.errors import DataMissing
from blindspot.runs import pipeline, requesting
from blindspot.settings import Settings
from blindspot.store.repository import Repository
from blindspot.types import CancelToken, Float32, Progress, no_progress

SENTENCES = 4_000
TO_WARM_UP = 256
PAIRS_OF_ENCODINGS = 3
TEXTS_OF_POOLINGS = 700
FIRST_RUNS = 3  # each encodes anew
# Changes of a rerun: the transform and parameters of EvalRank. The first run has the defaults.
RERUNS = {"metric": ("none", {"metric": "l2"}), "transform": ("center", {"metric": "cos"})}


def encode_vs_st(progress: Progress) -> list[BenchmarkResult]:
    """EvalRank sentences with MiniLM, encoded and stored: speedup over ``SentenceTransformer.encode``.

    What a run does is timed (tokenizing, encoding, checking, writing chunks and matrix to disk), against the bare call
    with its default batches; the largest difference between the vectors comes with it.

    Raises:
        NotMeasured: the sentences are not here; they are never replaced by others, of other lengths.
    """
    from sentence_transformers import SentenceTransformer

    settings = Settings.from_environment()
    texts = sentences(settings, SENTENCES)
    encoder = replace(minilm(settings), others=())
    model = SentenceTransformer(str(encoder.folder), device=encoder.device, local_files_only=True)
    model.max_seq_length = encoder.max_length
    encoder.load()
    found: dict[str, Float32] = {}

    def some(whose: str) -> list[str]:
        return list(texts if whose in found else texts[:TO_WARM_UP])

    def ours() -> None:
        found["ours"] = _stored(encoder, some("ours"))

    def theirs() -> None:
        found["theirs"] = np.asarray(model.encode(some("theirs"), batch_size=32, show_progress_bar=False))

    label = f"encode_vs_st, {len(texts):,} sentences"
    samples = interleaved_ratios(theirs, ours, progress, label, PAIRS_OF_ENCODINGS)
    difference = float(np.abs(found["ours"] - found["theirs"]).max())
    return [
        BenchmarkResult("encode_vs_st", statistics.median(samples), "ratio", samples),
        BenchmarkResult("encode_vs_st_difference", difference, "largest difference", (difference,)),
    ]


def encode_poolings(progress: Progress) -> list[BenchmarkResult]:
    """All poolings of MiniLM, encoded and stored, against the published one alone."""
    settings = Settings.from_environment()
    together = minilm(settings)
    alone = replace(together, others=())
    texts = fetch.load(DATASETS["demo-pairs"], settings).items[:TEXTS_OF_POOLINGS]
    for encoder in (together, alone):
        encoder.load()
    label = f"encode_poolings, {len(together.family)} poolings of {len(texts):,} texts"
    samples = interleaved_ratios(lambda: _stored(together, texts), lambda: _stored(alone, texts), progress, label)
    return [BenchmarkResult("encode_poolings", statistics.median(samples), "ratio", samples)]


def rerun(progress: Progress) -> list[BenchmarkResult]:
    """EvalRank by another metric or after another transform, from cached embeddings, against the first run."""
    samples: dict[str, list[float]] = {name: [] for name in RERUNS}
    for i in range(FIRST_RUNS + 1):
        progress("rerun, first runs and those after them", i, FIRST_RUNS + 1)
        with tempfile.TemporaryDirectory() as folder:
            settings = replace(Settings.from_environment(), cache=Path(folder))
            repository = Repository.at(settings.store)
            first = _seconds("none", {"metric": "cos"}, settings, repository)
            for name, (transform, params) in RERUNS.items():
                ratio = _seconds(transform, params, settings, repository) / first
                if i:  # the first one warms up
                    samples[name].append(ratio)
            repository.database.close()
    each = [
        BenchmarkResult(f"rerun_{name}", statistics.median(ratios), "ratio", tuple(ratios))
        for name, ratios in samples.items()
    ]
    worst = max(each, key=lambda result: result.value)
    return [replace(worst, name="rerun"), *each]


def gpu_encode(progress: Progress) -> list[BenchmarkResult]:
    """MiniLM on the GPU: speedup over the CPU, in float32 and in bfloat16.

    Raises:
        NotMeasured: torch can use no GPU, or the sentences are not available.
    """
    import torch

    if not torch.cuda.is_available():
        raise NotMeasured("torch sees no CUDA device")
    settings = Settings.from_environment()
    texts = sentences(settings, SENTENCES)
    on_cpu = replace(minilm(settings), others=(), wanted_device="cpu")
    vectors = on_cpu.encode(texts, CancelToken())
    results = []
    for dtype in (Dtype.FLOAT32, Dtype.BFLOAT16):
        on_gpu = replace(on_cpu, wanted_device="cuda", dtype=dtype)
        difference = float(np.abs(on_gpu.encode(texts, CancelToken()) - vectors).max())
        samples = interleaved_ratios(
            lambda: on_cpu.encode(texts, CancelToken()),
            lambda e=on_gpu: e.encode(texts, CancelToken()),  # type: ignore[misc]
            progress,
            f"gpu_encode, {dtype.value}",
            PAIRS_OF_ENCODINGS,
        )
        name = f"gpu_encode_{dtype.value}"
        results += [
            BenchmarkResult(name, statistics.median(samples), "ratio", samples),
            BenchmarkResult(f"{name}_difference", difference, "largest difference", (difference,)),
        ]
    return [replace(results[0], name="gpu_encode"), *results]


def sentences(settings: Settings, count: int) -> tuple[str, ...]:
    """EvalRank's first sentences in a fixed random order, which mixes long and short ones.

    Raises:
        NotMeasured: neither the cache nor the mirror has them.
    """
    entry = DATASETS["evalrank-sent"]
    try:
        items = fetch.load(entry, settings).items
    except DataMissing as error:
        raise NotMeasured(f"it needs the sentences of '{entry.id}': {error}") from error
    order = np.random.default_rng(0).permutation(len(items))
    return tuple(items[row] for row in order[:count])


def minilm(settings: Settings) -> SentenceTransformerEncoder:
    encoder = resolve_encoder("minilm", settings)
    if not isinstance(encoder, SentenceTransformerEncoder):
        raise TypeError("the catalog's minilm is of another kind")
    return encoder


def _stored(encoder: SentenceTransformerEncoder, texts: Sequence[str]) -> Float32:
    """Encode into a new cache; returns the vectors, in memory."""
    with tempfile.TemporaryDirectory() as folder:
        cache = EmbeddingCache(Path(folder, "embeddings"))
        return np.array(cache.encode(encoder, texts, "benchmark", no_progress, CancelToken()).matrix)


def _seconds(transform: str, params: dict[str, str], settings: Settings, repository: Repository) -> float:
    """Seconds of a run that is not in the store yet."""
    request = requesting.request("evalrank", "minilm", transform, "demo-pairs", params, settings)
    start = perf_counter()
    outcome = pipeline.run(request, settings, repository)
    seconds = perf_counter() - start
    if not outcome.computed:
        raise RuntimeError(f"'{request.label}' was found in a new store")
    return seconds
