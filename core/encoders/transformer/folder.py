"""Inspection of model folders without torch: are they safe and complete, and what identifies them.

Only safetensors are read, never pickles; a folder with its own code is rejected.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from blindspot.encoders.references import Pooling
from blindspot.encoders.source_files import sha256_once
from blindspot.errors import InputError
from blindspot.types import digest_of_strings

PACKAGE = "sentence_transformers."
FIRST_MODULES = ("Transformer", "MLMTransformer")  # the second, of a sparse model, may be called the first
LATER_MODULES = ("Pooling", "Normalize", "Dense", "LayerNorm", "Dropout", "SpladePooling")
RELEVANT = (".safetensors", ".json", ".txt", ".model")
PICKLES = (".bin", ".pt", ".pth", ".ckpt", ".pkl", ".pickle", ".h5", ".msgpack")
# Their positions start after the padding token's, so they hold fewer tokens than positions.
OFFSET_POSITIONS = ("roberta", "xlm-roberta", "xlm-roberta-xl", "roberta-prelayernorm", "camembert", "mpnet")
NO_LIMIT = 1_000_000  # tokenizers without a limit write far larger numbers
DEFAULT_MAX_LENGTH = 512
LARGEST_CONFIG = 2**20  # bytes; larger files are vocabularies
LARGEST_DIMENSION = 1_000_000
LARGEST_SETTINGS = 16 * 2**20  # bytes
SNAPSHOTS = "snapshots"  # in the hub's cache: folders of links to the model's files


@dataclass(frozen=True)
class Module:
    """A step of a sentence-transformers folder: its class and its own folder."""

    name: str
    folder: Path


@dataclass(frozen=True)
class ModelFolder:
    """A folder that is fit to load.

    Attributes:
        modules: steps of a sentence-transformers folder; empty for a plain transformers one.
        pooling: description of what the folder does with token vectors.
        dimension: of the published vectors.
        hidden_dimension: of the transformer's layers.
        input_dimension: of its word-piece embeddings.
        max_length: tokens after which the published model truncates.
        longest: tokens that it can read at all; None for no limit.
        prompt: put before every text by the published model.
        parameters: number of trained weights.
        input_parameters: those of the word-piece embeddings; all where config.json does not say how many pieces.
        commit: of the hub, or "".
        unused_prompts: (name, text) of the other prompts it declares.
        prompts: (name, text) of all.
        is_sparse: whether its vectors have a number per word piece of the vocabulary, nearly all zero (SPLADE).
    """

    path: Path
    modules: tuple[Module, ...]
    pooling: str
    dimension: int
    hidden_dimension: int
    input_dimension: int
    max_length: int
    longest: int | None
    prompt: str
    parameters: int
    input_parameters: int
    commit: str = ""
    unused_prompts: tuple[tuple[str, str], ...] = ()
    prompts: tuple[tuple[str, str], ...] = ()
    is_sparse: bool = False

    def dimension_of(self, pooling: Pooling) -> int:
        if pooling is Pooling.PUBLISHED:
            return self.dimension
        return self.input_dimension if pooling is Pooling.STATIC else self.hidden_dimension

    def parameters_of(self, pooling: Pooling) -> int:
        """The weights that a pooling's vectors need."""
        return self.input_parameters if pooling is Pooling.STATIC else self.parameters

    @property
    def transformer(self) -> Path:
        """The folder of the layers."""
        return self.modules[0].folder if self.modules else self.path

    @cached_property
    def revision(self) -> str:
        """The commit, or a digest of the names and contents of the files that loading reads."""
        if self.commit:
            return self.commit
        parts = []
        for file in _relevant_files(self.path, self.modules):
            parts += [file.relative_to(self.path).as_posix(), sha256_once(file)]
        return digest_of_strings(parts)[:16]


def inspect_folder(path: Path, reference: str) -> ModelFolder:
    """Inspect a model's folder, reading settings and the headers of the weights; runs nothing.

    Raises:
        InputError: no such folder, not a supported model, only pickles, code of its own, or damaged weights.
    """
    try:
        if not path.is_dir():
            raise InputError(
                f"'{reference}': there is no folder {path}",
                expected="a sentence-transformers or transformers folder with config.json and safetensors",
            )
        return _inspect(path, reference)
    except OSError as error:
        raise InputError(f"'{reference}': cannot read {error.filename}: {error.strerror}") from error


def _inspect(path: Path, reference: str) -> ModelFolder:
    refuse_outside(path, path, reference)
    modules = _modules(path, reference)
    for module in modules:
        refuse_outside(module.folder, path, reference)
    transformer = modules[0].folder if modules else path
    config = settings_of(transformer / "config.json", reference)
    if not config:
        raise InputError(
            f"'{reference}': {transformer} has no config.json",
            expected="a sentence-transformers or transformers folder",
        )
    if (transformer / "adapter_config.json").exists():
        raise InputError(
            f"'{reference}' is an adapter of another model", remedy="merge it into its model and save that folder"
        )
    for file in _relevant_files(path, modules):
        if file.suffix == ".json" and (file.stat().st_size <= LARGEST_CONFIG or file.name.endswith("config.json")):
            refuse_remote_code(settings_of(file, reference, of_any_type=True), file, reference)
    weights = _weights(transformer, reference)
    for module in modules[1:]:
        if module.name in {"Dense", "LayerNorm"}:
            weights += _weights(module.folder, reference)
    hidden = first_number(config, "hidden_size", "d_model", "dim", "n_embd")
    if hidden is None or not 0 < hidden <= LARGEST_DIMENSION:
        found = "no hidden_size" if hidden is None else f"a hidden_size of {hidden:.3g}"
        raise InputError(
            f"'{reference}': config.json of type '{str(config.get('model_type'))[:40]}' has {found}",
            expected="a text encoder such as BERT, RoBERTa, MPNet",
        )
    is_sparse = any(module.name in {"SpladePooling", "MLMTransformer"} for module in modules)
    pooling, dimension = _sparse(modules, config, reference) if is_sparse else _published(modules, hidden, reference)
    longest = _longest(config)
    sentence = settings_of(path / "config_sentence_transformers.json", reference)
    prompts = sentence.get("prompts") or {}
    if not isinstance(prompts, dict):
        raise InputError(f"'{reference}': the prompts are {str(prompts)[:40]}", expected="a JSON object of texts")
    default = sentence.get("default_prompt_name")
    declared = tuple((str(name), str(text)) for name, text in prompts.items() if text)
    parameters = sum(count_weights(file, reference) for file in weights)
    input_dimension = first_number(config, "embedding_size") or hidden
    return ModelFolder(
        path=path,
        modules=modules,
        pooling=pooling,
        dimension=dimension,
        hidden_dimension=hidden,
        input_dimension=input_dimension,
        max_length=_max_length(transformer, longest, reference),
        longest=longest,
        prompt=str(prompts.get(default) or ""),
        parameters=parameters,
        input_parameters=min(parameters, input_dimension * (first_number(config, "vocab_size") or parameters)),
        unused_prompts=tuple((name, text) for name, text in declared if name != default),
        prompts=declared,
        is_sparse=is_sparse,
    )


def refuse_outside(folder: Path, root: Path, reference: str, *, every_file: bool = False) -> None:
    """Refuse links that leave the model's folder, and files that are not regular.

    A snapshot in the hub's cache consists of links to the same model's files.
    """
    home = root.resolve()
    within = home.parent.parent if home.parent.name == SNAPSHOTS else home
    files = sorted(folder.iterdir()) if folder.is_dir() else []
    for file in [folder, *(f for f in files if every_file or f.suffix in RELEVANT)]:
        try:
            target = file.resolve()
        except RuntimeError as error:  # a circle of links
            raise InputError(f"'{reference}': {file} is a link to itself") from error
        if not target.is_relative_to(within):
            raise InputError(
                f"'{reference}' leads out of the folder: {file} is a link to {target}",
                expected="files of the folder itself",
                remedy="put a copy of the file in the place of the link",
            )
        if target.exists() and not (target.is_file() or target.is_dir()):
            raise InputError(f"'{reference}': {file} is no regular file", expected="a file on disk")


def _modules(path: Path, reference: str) -> tuple[Module, ...]:
    rows = settings_of(path / "modules.json", reference, of_any_type=True)
    if not rows:
        return ()
    modules: list[Module] = []
    for row in rows if isinstance(rows, list) else [rows]:
        kind, folder = (str(row.get("type", "")), row.get("path", "")) if isinstance(row, dict) else ("", "")
        if not kind.startswith(PACKAGE):
            raise InputError(
                f"'{reference}' would run code of its own: modules.json names '{kind}'",
                expected=f"only types of {PACKAGE.rstrip('.')}",
            )
        name = kind.rpartition(".")[2]
        if not isinstance(folder, str) or Path(folder).is_absolute() or ".." in Path(folder).parts:
            raise InputError(f"'{reference}': modules.json leads out of the folder: {folder!r}")
        wanted = LATER_MODULES if modules else FIRST_MODULES
        if name not in wanted:
            raise InputError(
                f"'{reference}': module {len(modules)} is a '{name}'", expected=f"one of {', '.join(wanted)}"
            )
        modules.append(Module(name, path / folder))
    return tuple(modules)


def _published(modules: tuple[Module, ...], hidden: int, reference: str) -> tuple[str, int]:
    """Description of the folder's steps, and the dimension of their result."""
    if not modules:
        return "mean over tokens of the last layer (a plain transformers folder, which names no pooling)", hidden
    if not any(module.name == "Pooling" for module in modules):
        raise InputError(
            f"'{reference}': modules.json has no Pooling", expected="Transformer, Pooling and what follows it"
        )
    words, width = [], hidden
    for module in modules[1:]:
        config = settings_of(module.folder / "config.json", reference)
        if module.name == "Pooling":
            modes = _pooling_modes(config)
            words.append("+".join(modes))
            width = hidden * len(modes)
        elif module.name == "Dense":
            width = first_number(config, "out_features") or width
            words.append(f"Dense {width}")
        elif module.name != "Dropout":  # has no effect outside training
            words.append("L2-normalised" if module.name == "Normalize" else module.name)
    return ", ".join(words), width


def _sparse(modules: tuple[Module, ...], config: Mapping[str, Any], reference: str) -> tuple[str, int]:
    """As ``_published``, of a sparse model (Formal et al. 2021, SPLADE): a number per word piece."""
    vocabulary = first_number(config, "vocab_size")
    if [module.name for module in modules[1:]] != ["SpladePooling"] or not vocabulary:
        raise InputError(
            f"'{reference}' has modules that do not make a sparse model: {', '.join(m.name for m in modules)}",
            expected="Transformer and SpladePooling, and a vocab_size in config.json",
        )
    own = settings_of(modules[1].folder / "config.json", reference)
    strategy, activation = own.get("pooling_strategy", "max"), own.get("activation_function", "relu")
    transformed = "log(1 + log(1 + relu))" if activation == "log1p_relu" else "log(1 + relu)"
    return f"sparse: {strategy} over tokens of {transformed} of word pieces' logits", vocabulary


def _pooling_modes(config: Mapping[str, Any]) -> list[str]:
    named = config.get("pooling_mode")
    if named:
        return [named] if isinstance(named, str) else [str(n) for n in named]
    prefix = "pooling_mode_"
    modes = [name.removeprefix(prefix) for name, on in config.items() if name.startswith(prefix) and on is True]
    return [mode.removesuffix("_tokens").removesuffix("_token") for mode in modes] or ["mean"]


def _longest(config: Mapping[str, Any]) -> int | None:
    positions = first_number(config, "max_position_embeddings")
    if positions is None or positions <= 0:  # -1 means no limit
        return None
    pad = config.get("pad_token_id")
    offset = (pad if isinstance(pad, int) else 1) + 1
    return positions - offset if config.get("model_type") in OFFSET_POSITIONS else positions


def _max_length(transformer: Path, longest: int | None, reference: str) -> int:
    names = [transformer / "sentence_bert_config.json", *sorted(transformer.glob("sentence_*_config.json"))]
    own = [first_number(settings_of(name, reference), "max_seq_length") for name in names]
    tokenizer = first_number(settings_of(transformer / "tokenizer_config.json", reference), "model_max_length")
    wanted = next((n for n in own if n), tokenizer)
    if wanted is None or wanted > NO_LIMIT:
        return longest or DEFAULT_MAX_LENGTH
    return min(wanted, longest or wanted)


def first_number(config: Mapping[str, Any], *names: str) -> int | None:
    for name in names:
        value = config.get(name)
        if isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value):
            return int(value)
    return None


def settings_of(path: Path, reference: str, *, of_any_type: bool = False) -> Any:
    """The content of a JSON file; {} if there is none."""
    if not path.is_file():
        return {}
    try:
        if (size := path.stat().st_size) > LARGEST_SETTINGS:
            raise InputError(f"'{reference}': {path} has {size:,} bytes", expected=f"at most {LARGEST_SETTINGS:,}")
        value = json.loads(path.read_text("utf-8"))
    except (ValueError, RecursionError) as error:
        raise InputError(
            f"'{reference}': {path} is no JSON: {error}", remedy="copy or download the folder again"
        ) from error
    if not of_any_type and not isinstance(value, dict):
        raise InputError(f"'{reference}': {path} holds a {type(value).__name__}", expected="a JSON object")
    return value


def refuse_remote_code(value: Any, file: Path, reference: str) -> None:
    """Refuse settings that make transformers import code."""
    for name, setting in _settings(value):
        of_kernels = name.endswith("attn_implementation") and "/" in str(setting)
        activation = name == "activation_function" and "." in str(setting) and not str(setting).startswith("torch.nn.")
        if (name in {"auto_map", "custom_pipelines", "trust_remote_code"} and setting) or of_kernels or activation:
            raise InputError(
                f"'{reference}' would run code of its own: {file.name} sets {name}",
                expected="a model of an architecture that transformers has itself",
                remedy="use another model, or convert it and remove this setting",
            )


def _settings(value: Any) -> Iterator[tuple[str, Any]]:
    if isinstance(value, dict):
        for name, inner in value.items():
            yield str(name), inner
            yield from _settings(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _settings(inner)


def _weights(folder: Path, reference: str) -> list[Path]:
    """The safetensors files of a folder, one or several shards."""
    if (folder / "model.safetensors").exists():
        return [folder / "model.safetensors"]
    index = folder / "model.safetensors.index.json"
    named = settings_of(index, reference).get("weight_map")
    if isinstance(named, dict) and named:
        if strange := next((str(n) for n in named.values() if Path(str(n)).name != str(n)), ""):
            raise InputError(f"'{reference}': {index.name} leads out of the folder: {strange[:60]!r}")
        files = sorted({folder / str(name) for name in named.values()})
        if missing := [f.name for f in files if not f.exists()]:
            raise InputError(
                f"'{reference}': weights are missing: {', '.join(missing)}",
                expected=f"the {len(files)} files that {index.name} names",
                remedy="copy or download the folder again",
            )
        return files
    files_here = sorted(folder.iterdir()) if folder.is_dir() else []
    if pickles := [f.name for f in files_here if f.suffix in PICKLES]:
        raise InputError(
            f"'{reference}' has its weights only as {', '.join(pickles)}, which can run code when read",
            expected="model.safetensors",
            remedy="convert it: load it where you trust it and call save_pretrained",
        )
    raise InputError(f"'{reference}': {folder} has no weights", expected="model.safetensors")


def count_weights(file: Path, reference: str) -> int:
    """Number of weights in a safetensors file; reading its header also checks the file's size."""
    from safetensors import SafetensorError, safe_open

    try:
        with safe_open(file, framework="numpy") as tensors:
            slices = [tensors.get_slice(name) for name in tensors.keys()]  # noqa: SIM118 - it is no dict
            return sum(math.prod(s.get_shape()) for s in slices if s.get_dtype().startswith(("F", "BF")))
    except (SafetensorError, OSError) as error:
        raise InputError(
            f"'{reference}': {file} is damaged or cut short ({file.stat().st_size:,} bytes): {error}",
            expected="a whole safetensors file",
            remedy="copy or download it again",
        ) from error


def _relevant_files(path: Path, modules: tuple[Module, ...]) -> list[Path]:
    folders = {path, *(module.folder for module in modules if module.folder.is_dir())}
    return sorted(file for folder in folders for file in folder.iterdir() if file.suffix in RELEVANT and file.is_file())
