"""MiniLM's layers in OpenVINO, if installed, against torch.

sentence-transformers' own backends bring another torch, so it is the plain library, with the same batches, tokens and
pooling. It is not a requirement; the benchmark shows whether it would be worth one.
"""

from __future__ import annotations

import statistics
import warnings
from collections.abc import Callable
from dataclasses import replace
from importlib import import_module
from typing import Any

import numpy as np

from core.benchmarks.encoding import minilm, sentences
from core.benchmarks.measuring import BenchmarkResult, NotMeasured, interleaved_ratios
from core.encoders.transformer.encoder import SentenceTransformerEncoder
from core.numerics.threads import cores
from core.settings import Settings
from core.types import CancelToken, Float32, Progress

SENTENCES = 1_000
PAIRS_OF_ENCODINGS = 3


def encode_backend(progress: Progress) -> list[BenchmarkResult]:
    """Speedup of OpenVINO over torch for EvalRank sentences in float32, and the largest difference of the vectors.

    Raises:
        NotMeasured: it is not installed, or the sentences are not available.
    """
    try:
        openvino = import_module("openvino")
    except ImportError as error:
        raise NotMeasured("openvino is not installed (pip install openvino; it is no requirement)") from error
    settings = Settings.from_environment()
    texts = sentences(settings, SENTENCES)
    encoder = replace(minilm(settings), others=(), wanted_device="cpu")
    encoder.load()
    other = replace(encoder)
    other.load()
    _exchange_layers(other, openvino)
    found: dict[str, Float32] = {}

    def encode(by: SentenceTransformerEncoder, name: str) -> Callable[[], None]:
        def work() -> None:
            found[name] = by.encode(texts, CancelToken())

        return work

    label = f"encode_backend, {len(texts):,} sentences"
    samples = interleaved_ratios(encode(encoder, "torch"), encode(other, "other"), progress, label, PAIRS_OF_ENCODINGS)
    difference = float(np.abs(found["torch"] - found["other"]).max())
    return [
        BenchmarkResult("encode_backend", statistics.median(samples), "ratio", samples),
        BenchmarkResult("encode_backend_difference", difference, "largest difference", (difference,)),
    ]


def _exchange_layers(encoder: SentenceTransformerEncoder, openvino: Any) -> None:
    """Replace the transformer's layers with OpenVINO; tokenizer, pooling and normalization stay."""
    import torch
    from transformers.modeling_outputs import BaseModelOutput

    transformer = encoder._model[0]
    example = {name: torch.ones((2, 8), dtype=torch.int64) for name in ("input_ids", "attention_mask")}
    transformer.model.config.return_dict = False
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # tracing's usual warnings; the difference of the vectors is reported
        converted = openvino.convert_model(transformer.model, example_input=example)
    wanted = {"INFERENCE_PRECISION_HINT": "f32", "INFERENCE_NUM_THREADS": cores()}
    compiled = openvino.compile_model(converted, "CPU", wanted)

    class Layers(torch.nn.Module):  # type: ignore[misc]
        config = transformer.model.config

        def forward(self, input_ids: torch.Tensor, attention_mask: torch.Tensor, **_: object) -> BaseModelOutput:
            states = compiled({"input_ids": input_ids.numpy(), "attention_mask": attention_mask.numpy()})[0]
            return BaseModelOutput(last_hidden_state=torch.from_numpy(states))

    transformer.model = Layers()
