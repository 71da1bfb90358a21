"""MiniLM's layers in OpenVINO and ONNX Runtime, where they are installed, against torch: the encoders that runs use."""

from __future__ import annotations

import statistics
from collections.abc import Callable
from dataclasses import replace

from blindspot.benchmarks.encoders.encoding import minilm, sentences
from blindspot.benchmarks.measuring import BenchmarkResult, NotMeasured, interleaved_ratios
from blindspot.encoders.base import Encoder
from blindspot.encoders.catalog import resolve_encoder
from blindspot.encoders.references import Backend
from blindspot.encoders.transformer import backends
from blindspot.errors import install
from blindspot.settings import Settings
from blindspot.types import CancelToken, Float32, Progress

SENTENCES = 1_000
PAIRS_OF_ENCODINGS = 3


def encode_backend(progress: Progress) -> list[BenchmarkResult]:
    """Speedup over torch for EvalRank sentences in float32, and the largest difference of the vectors; of OpenVINO, and
    in parts of ONNX Runtime.

    Raises:
        NotMeasured: OpenVINO is not installed, or the sentences are not available.
    """
    if not backends.is_installed(backends.PACKAGES[Backend.OPENVINO]):
        raise NotMeasured(f"openvino is not installed ({install('backends')})")
    settings = replace(Settings.from_environment(), device="cpu")
    texts = sentences(settings, SENTENCES)
    torch = replace(minilm(settings), others=())
    torch.load()
    results = []
    for backend, name in ((Backend.OPENVINO, "encode_backend"), (Backend.ONNX, "encode_backend_onnx")):
        if not all(map(backends.is_installed, (backends.PACKAGES[backend], backends.EXPORTERS[backend]))):
            continue
        other = resolve_encoder(f"minilm?backend={backend}", settings)
        other.load()
        found: dict[Encoder, Float32] = {}

        def encode(by: Encoder, found: dict[Encoder, Float32] = found) -> Callable[[], None]:
            def work() -> None:
                found[by] = by.encode(texts, CancelToken())

            return work

        label = f"{name}, {len(texts):,} sentences"
        samples = interleaved_ratios(encode(torch), encode(other), progress, label, PAIRS_OF_ENCODINGS)
        difference = backends.difference(found[torch], found[other])
        results += [
            BenchmarkResult(name, statistics.median(samples), "ratio", samples),
            BenchmarkResult(f"{name}_difference", difference, "largest difference", (difference,)),
        ]
    return results
