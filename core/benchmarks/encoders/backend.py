"""MiniLM's layers in OpenVINO and ONNX Runtime, where they are installed, against torch: the encoders that runs use."""

from __future__ import annotations

import statistics
from collections.abc import Callable
from dataclasses import replace

from benchmarks.encoders.encoding import minilm, sentences
from benchmarks.measuring import BenchmarkResult, NotMeasured, interleaved_ratios
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
    """Speedup over torch's own layers for EvalRank sentences in float32, and the largest difference of the vectors; of
    OpenVINO, and in parts of ONNX Runtime and of the packed layers that a plain ``minilm`` has.

    Raises:
        NotMeasured: OpenVINO is not installed, or the sentences are not available.
    """
    if not backends.is_installed(backends.PACKAGES[Backend.OPENVINO]):
        raise NotMeasured(f"openvino is not installed ({install('backends')})")
    settings = replace(Settings.from_environment(), device="cpu")
    texts = sentences(settings, SENTENCES)
    packed = replace(minilm(settings), others=())
    others: list[tuple[str, Encoder]] = [("encode_backend_packed", packed)]
    for backend, name in ((Backend.OPENVINO, "encode_backend"), (Backend.ONNX, "encode_backend_onnx")):
        if all(map(backends.is_installed, (backends.PACKAGES[backend], backends.EXPORTERS[backend]))):
            others.append((name, resolve_encoder(f"minilm?backend={backend}", settings)))
    torch = replace(packed, may_pack=False)
    torch.load()
    results = {}
    for name, other in others:
        other.load()
        found: dict[str, Float32] = {}

        def encode(whose: str, by: Encoder, found: dict[str, Float32] = found) -> Callable[[], None]:
            def work() -> None:
                found[whose] = by.encode(texts, CancelToken())

            return work

        label = f"{name}, {len(texts):,} sentences"
        works = encode("torch", torch), encode("other", other)
        samples = interleaved_ratios(*works, progress, label, PAIRS_OF_ENCODINGS)
        difference = backends.difference(found["torch"], found["other"])
        results[name] = [
            BenchmarkResult(name, statistics.median(samples), "ratio", samples),
            BenchmarkResult(f"{name}_difference", difference, "largest difference", (difference,)),
        ]
    first = results.pop("encode_backend", [])
    return [*first, *(result for part in results.values() for result in part)]
