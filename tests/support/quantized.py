"""Quantized graphs of tiny models."""

from __future__ import annotations

from pathlib import Path

from blindspot.encoders.catalog import resolve_encoder
from blindspot.encoders.transformer import backends
from blindspot.settings import Settings

INT8 = "onnx/model_qint8_avx512.onnx"


def quantized(folder: Path, settings: Settings, name: str = INT8) -> Path:
    """The folder with a graph of its layers in 8-bit integers; the float32 graph, which lies elsewhere."""
    from onnxruntime.quantization import QuantType, quantize_dynamic

    resolve_encoder(f"dir:{folder}?backend=onnx", settings).load()
    (exported,) = (settings.cache / backends.EXPORTS).iterdir()
    graph = folder / name
    graph.parent.mkdir(exist_ok=True)
    quantize_dynamic(exported / "model.onnx", graph, weight_type=QuantType.QInt8)
    return exported / "model.onnx"
