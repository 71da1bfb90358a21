"""Back ends: a transformer's layers in ONNX Runtime or OpenVINO; tokens, batches, pooling and order stay ours.

A graph is the folder's own (``onnx/model.onnx``, ``openvino/openvino_model.xml``), or exported once into the cache: it
is refused unless its vectors are torch's. A graph of another name (``model_qint8_avx512.onnx``,
``model_quantized.onnx``) is a model of its own, and how far its vectors are from float32 is reported.
"""

from __future__ import annotations

import shutil
import sys
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any
from uuid import uuid4

import numpy as np

from blindspot.encoders.base import library_versions
from blindspot.encoders.references import GRAPHS, Backend, ModelParams
from blindspot.encoders.source_files import sha256_once
from blindspot.errors import BlindspotError, InputError, install
from blindspot.files.writing import cannot_write, exclusive, make_folder
from blindspot.types import CancelToken, Float32, Int64, digest_of_strings

if TYPE_CHECKING:
    import torch

Graph = Callable[[dict[str, Int64]], Float32]

TITLES = {Backend.ONNX: "ONNX Runtime", Backend.OPENVINO: "OpenVINO"}
PACKAGES = {Backend.ONNX: "onnxruntime", Backend.OPENVINO: "openvino"}
EXPORTERS = {Backend.ONNX: "onnx", Backend.OPENVINO: "openvino"}
IN_FOLDER = {Backend.ONNX: Path("onnx", "model.onnx"), Backend.OPENVINO: Path("openvino", "openvino_model.xml")}
NOT_OF_GRAPHS = (".safetensors", ".json", ".txt", ".md", ".jinja", ".model")  # suffixes of files beside graphs
EXPORTS = "exports"  # in the cache
INPUTS = ("input_ids", "attention_mask")
OUTPUT = "last_hidden_state"
OUTPUTS = (OUTPUT, "token_embeddings", "0")  # of folders' own graphs, the likeliest first
LARGEST_DIFFERENCE = 1e-4  # of a component, relative to the vector's length
EXAMPLE = (3, 9)  # texts and tokens of the traced example: sizes that nothing else has
PROBES = (
    "rain",
    "A dog runs.",
    "Three cats were seen below a table; none of them slept.",
    "Élodie wrote: “naïve café”,\n\tthen 東京 and 🙂.",
    "A longer sentence, with commas, and with a number or two, such as 1,024 and 3.14. " * 4,
    "word " * 400,
)


def require(package: str, backend: Backend, reference: str) -> None:
    """Raise ``InputError`` unless a package of the back end is installed; imports nothing."""
    if not is_installed(package):
        raise InputError(
            f"'{reference}' needs {package}, which is not installed",
            remedy=f"{install('backends')}, or leave out backend={backend}",
        )


def is_installed(package: str) -> bool:
    return find_spec(package) is not None if package not in sys.modules else sys.modules[package] is not None


def libraries(backend: Backend) -> tuple[str, ...]:
    """Libraries for identities, in addition to those of torch."""
    return () if backend is Backend.TORCH else library_versions(PACKAGES[backend])


@dataclass(frozen=True)
class OwnGraph:
    """A graph in a model's folder.

    Attributes:
        name: its path in the folder.
        is_model: whether it is a model of its own, which may differ from the float32 weights.
        assumed: why it was chosen, though nobody named it; "" if somebody did.
    """

    path: Path
    name: str
    backend: Backend
    is_model: bool
    assumed: str = ""


def graphs_of(folder: Path, backends: Sequence[Backend] = tuple(IN_FOLDER)) -> list[Path]:
    """The graphs in a transformer's folder, and in the folders where exporters put them."""
    places = [folder, *(folder / path.parent for path in IN_FOLDER.values())]
    graphs = [file for folder in places if folder.is_dir() for file in sorted(folder.iterdir())]
    return [file for file in graphs if GRAPHS.get(file.suffix) in backends and file.is_file()]


def own_graph(root: Path, folder: Path, params: ModelParams, reference: str, *, has_weights: bool) -> OwnGraph | None:
    """The graph in a model's folder that computes its layers; None for torch, or to export one.

    Args:
        root: the model's folder, to which ``params.file`` is relative.
        folder: of its transformer.
        has_weights: whether torch's weights are there; without them, a graph is the model even if nobody asked for it.

    Raises:
        InputError: the file is not there, or several could be meant.
    """
    here = [file.relative_to(root).as_posix() for file in graphs_of(folder)]
    if params.file:
        if not (root / params.file).is_file():
            raise InputError(
                f"'{reference}': there is no file {root / params.file}",
                expected=f"one of {', '.join(here)}" if here else "a folder that has a graph",
            )
        return OwnGraph(root / params.file, params.file, params.backend, is_model=True)
    if params.backend is Backend.TORCH and has_weights:
        return None
    fitting = tuple(IN_FOLDER) if params.backend is Backend.TORCH else (params.backend,)
    graphs = graphs_of(folder, fitting)
    usual = [folder / IN_FOLDER[backend] for backend in fitting if (folder / IN_FOLDER[backend]).is_file()]
    chosen = graphs if params.backend is Backend.TORCH else usual or graphs
    if len(chosen) > 1:
        names = [file.relative_to(root).as_posix() for file in graphs]
        raise InputError(
            f"'{reference}': the folder has {len(names)} graphs{'' if has_weights else ' and no model.safetensors'}: "
            f"{', '.join(names)}",
            expected="the one that is meant",
            remedy=f"name it: ?file={names[0]}",
        )
    if not chosen:
        if not has_weights:
            raise InputError(
                f"'{reference}': {folder} has no weights, and no graph for {TITLES[fitting[0]]}",
                expected=f"model.safetensors, or one of {', '.join(here)}",
            )
        return None
    (graph,) = chosen
    name = graph.relative_to(root).as_posix()
    why = "" if graph in usual and params.backend is not Backend.TORCH else f"the folder's only graph, {name}, is taken"
    return OwnGraph(graph, name, GRAPHS[graph.suffix], is_model=graph not in usual or not has_weights, assumed=why)


def described(graph: Path) -> str:
    """What identifies a folder's own graph, with the weights beside it."""
    files = sorted(f for f in graph.parent.iterdir() if f.is_file() and (f == graph or _may_belong_to(graph, f)))
    content = digest_of_strings([part for file in files for part in (file.name, sha256_once(file))])
    return f"layers of {graph.parent.name}/{graph.name} ({content[:16]})"


def _may_belong_to(graph: Path, file: Path) -> bool:
    """Whether a file beside a graph may contain weights of the graph."""
    is_of_a_graph = file.suffix in GRAPHS or (file.suffix == ".bin" and file.with_suffix(".xml").is_file())
    is_its_own = file.suffix == ".bin" and file.stem == graph.stem
    return is_its_own or not (is_of_a_graph or file.suffix in NOT_OF_GRAPHS)


def exchange_layers(
    transformer: Any, backend: Backend, own: Path | None, exports: Path, revision: str, reference: str
) -> None:
    """Replace the torch layers of a sentence-transformers ``Transformer`` by a back end's graph.

    Args:
        own: the folder's own graph; None to export one, which is kept under ``exports``.
        revision: identifies the weights.

    Raises:
        InputError: a package is missing, or the folder's own graph cannot be used.
        BlindspotError: the layers cannot be exported, or the disk is full.
    """
    import torch
    from transformers.modeling_outputs import BaseModelOutput

    require(PACKAGES[backend], backend, reference)
    layers = transformer.model
    path = own or _exported(layers, backend, exports, revision, reference)
    try:
        graph = _OPEN[backend](path, torch.get_num_threads())
    except Exception as error:  # libraries raise any kind
        what = f"'{reference}': {TITLES[backend]} cannot use {path}: {_line(error)}"
        if own:
            raise InputError(
                what, expected="a graph of the model's layers", remedy="leave out backend and file"
            ) from error
        raise BlindspotError(what, remedy=f"delete {path.parent}: it is made anew when it is needed") from error

    class Layers(torch.nn.Module):  # type: ignore[misc]
        """The graph with the torch model's interface."""

        def __init__(self) -> None:
            super().__init__()
            self.config = layers.config
            self.inputs = layers.get_input_embeddings()

        def get_input_embeddings(self) -> torch.nn.Module:
            return self.inputs

        def forward(self, input_ids: torch.Tensor, attention_mask: torch.Tensor, **_: object) -> BaseModelOutput:
            try:
                states = graph({"input_ids": input_ids.numpy(), "attention_mask": attention_mask.numpy()})
            except Exception as error:
                size = " x ".join(map(str, input_ids.shape))
                raise BlindspotError(
                    f"'{reference}': {TITLES[backend]} failed on {size} tokens: {_line(error)}",
                    remedy=f"leave out backend={backend}",
                ) from error
            return BaseModelOutput(last_hidden_state=torch.from_numpy(states))

    transformer.model = Layers()


def check_same(
    expected: Sequence[Float32], vectors: Sequence[Float32], backend: Backend, reference: str, own: str = ""
) -> None:
    """Compare torch's vectors ``[n, d]`` with a back end's, per pooling; ``own`` is the folder's graph.

    Raises:
        InputError: a component differs by more than ``LARGEST_DIFFERENCE`` of the vector's length, or is not finite.
    """
    worst = np.max([difference(a, other) for a, other in zip(expected, vectors, strict=True)])
    if not worst <= LARGEST_DIFFERENCE:
        by = "are not numbers" if np.isnan(worst) else f"differ from torch's by {worst:.2g} of their length"
        raise InputError(
            f"'{reference}': its vectors by {TITLES[backend]} {by}",
            expected=f"at most {LARGEST_DIFFERENCE:g}, on {len(PROBES)} probe texts",
            remedy=f"leave out backend={backend}"
            + (f", or score it as a model of its own: ?file={own}" if own else ""),
        )


def difference(expected: Float32, vectors: Float32) -> float:
    """Largest difference of a component, relative to the length of the expected vector."""
    lengths = np.linalg.norm(expected.astype(np.float64), axis=1, keepdims=True)
    return float((np.abs(expected.astype(np.float64) - vectors) / np.where(lengths > 0, lengths, 1)).max())


# --- graphs


def _onnx(path: Path, threads: int) -> Graph:
    runtime = import_module("onnxruntime")
    runtime.disable_telemetry_events()  # on Windows, where it has some
    options = runtime.SessionOptions()
    options.intra_op_num_threads = threads
    options.log_severity_level = 3
    session = runtime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
    names = [node.name for node in session.get_inputs()]
    output = _chosen([output.name for output in session.get_outputs()])

    def run(given: dict[str, Int64]) -> Float32:
        return _states(session.run([output], _fed(given, names))[0])

    return run


def _openvino(path: Path, threads: int) -> Graph:
    library = _openvino_library()
    settings = {"INFERENCE_PRECISION_HINT": "f32", "INFERENCE_NUM_THREADS": threads}
    compiled = library.compile_model(library.Core().read_model(str(path)), "CPU", settings)
    names = [port.get_any_name() for port in compiled.inputs]
    named = [(next(iter(port.get_names()), str(number)), port) for number, port in enumerate(compiled.outputs)]
    output = dict(named)[_chosen([name for name, _ in named])]

    def run(given: dict[str, Int64]) -> Float32:
        return _states(compiled(_fed(given, names))[output])

    return run


_OPEN = {Backend.ONNX: _onnx, Backend.OPENVINO: _openvino}


def _openvino_library() -> Any:
    # OpenVINO would send usage statistics to its makers unless each user forbids it; without this package it cannot.
    sys.modules.setdefault("openvino_telemetry", None)  # type: ignore[arg-type]
    return import_module("openvino")


def _chosen(outputs: Sequence[str]) -> str:
    """The output with the last layer's states: one with a usual name, or the only one."""
    name_of_output = next((name for name in OUTPUTS if name in outputs), outputs[0] if len(outputs) == 1 else None)
    if name_of_output is None:
        raise ValueError(f"its outputs are {', '.join(outputs)[:100]}, and none is {' or '.join(OUTPUTS[:2])}")
    return name_of_output


def _fed(given: dict[str, Int64], names: Sequence[str]) -> dict[str, Int64]:
    """The inputs that a graph asks for; all tokens are in the first segment."""
    inputs = {**given, "token_type_ids": np.zeros_like(given["input_ids"])}
    return {name: inputs[name] for name in names}


def _states(output: Any) -> Float32:
    states = np.ascontiguousarray(output, dtype=np.float32)
    if states.ndim != 3:
        raise ValueError(f"it gives an array of shape {states.shape}, not a vector per token")
    return states


# --- exports


def _exported(layers: Any, backend: Backend, exports: Path, revision: str, reference: str) -> Path:
    """The graph in the cache, exported unless it is there."""
    require(EXPORTERS[backend], backend, reference)
    key = digest_of_strings([revision, *library_versions("torch", "transformers", EXPORTERS[backend])])[:16]
    folder = exports / f"{backend}-{key}"
    graph = folder / IN_FOLDER[backend].name
    if graph.is_file():
        return graph
    with exclusive(exports / f"{folder.name}.lock", CancelToken()):
        if graph.is_file():
            return graph
        temporary = folder.with_name(f".{folder.name}.{uuid4().hex[:8]}.tmp")
        make_folder(temporary)
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # from tracing: the vectors are checked
                _export(layers, backend, temporary / graph.name)
            temporary.replace(folder)
        except OSError as error:
            raise cannot_write(folder, error) from error
        except Exception as error:  # models can break the exporter in any way
            raise BlindspotError(
                f"'{reference}': its layers cannot be exported for {TITLES[backend]}: {_line(error)}",
                remedy=f"leave out backend={backend}",
            ) from error
        finally:
            shutil.rmtree(temporary, ignore_errors=True)
    return graph


def _export(layers: Any, backend: Backend, path: Path) -> None:
    """Trace the layers into a file; the sizes of batches and texts stay variable."""
    import torch

    more = {"use_cache": False} if getattr(layers.config, "use_cache", None) else {}

    class LastLayer(torch.nn.Module):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            self.layers = layers

        def forward(self, input_ids: torch.Tensor, attention_mask: torch.Tensor) -> torch.Tensor:
            output = self.layers(input_ids=input_ids, attention_mask=attention_mask, return_dict=True, **more)
            return output.last_hidden_state

    texts, width = EXAMPLE
    ids = torch.arange(texts * width).reshape(EXAMPLE) % layers.get_input_embeddings().num_embeddings
    mask = (torch.arange(width) < torch.arange(width, width - 2 * texts, -2)[:, None]).long()
    model = LastLayer().eval()
    with torch.no_grad():
        if backend is Backend.OPENVINO:
            library = _openvino_library()
            converted = library.convert_model(model, example_input=dict(zip(INPUTS, (ids, mask), strict=True)))
            converted.outputs[0].get_tensor().set_names({OUTPUT})
            library.save_model(converted, str(path), compress_to_fp16=False)
        else:
            free = {0: "texts", 1: "tokens"}
            torch.onnx.export(
                model,
                (ids, mask),
                str(path),
                input_names=list(INPUTS),
                output_names=[OUTPUT],
                dynamic_axes=dict.fromkeys((*INPUTS, OUTPUT), free),
                dynamo=False,  # the other exporter takes ten times as long and needs another package
            )


def _line(error: BaseException) -> str:
    """The first words of a library's error, which may fill pages."""
    return f"{type(error).__name__}: {' '.join(str(error).split())[:300]}"
