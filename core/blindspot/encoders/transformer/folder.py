"""Inspection of model folders without torch: whether they are safe and complete, and what identifies them.

Only safetensors are read, never pickles; a folder with its own code is rejected.
"""

from __future__ import annotations

import json
import math
import re
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any
from urllib.parse import quote

from blindspot.encoders.references import GRAPHS, Pooling
from blindspot.encoders.source_files import sha256_once, state_of
from blindspot.encoders.transformer import adapters
from blindspot.encoders.transformer.adapters import Adapter
from blindspot.encoders.transformer.backends import graphs_of
from blindspot.errors import InputError
from blindspot.files.writing import LFS_POINTER
from blindspot.types import digest_of_strings

PACKAGE = "sentence_transformers."
OF_TEXT = "the model's own vector of a text"
LAYERS = ("Transformer", "MLMTransformer")  # the second is a sparse model's, which may also have the first name
ROUTERS = ("Router", "Asym")  # separate modules for queries and for documents; the second is an older name
FIRST_MODULES = (*LAYERS, "StaticEmbedding", "SparseStaticEmbedding", *ROUTERS)
LATER_MODULES = ("Pooling", "Normalize", "Dense", "LayerNorm", "Dropout", "SpladePooling", "SparseAutoEncoder")
WITH_WEIGHTS = ("Dense", "LayerNorm", "StaticEmbedding", "SparseStaticEmbedding", "SparseAutoEncoder")
WITH_SETTINGS = ("Pooling", "Dense", "LayerNorm")
SPARSE = ("MLMTransformer", "SpladePooling", "SparseStaticEmbedding", "SparseAutoEncoder")
# Files that loading reads and that are downloaded from the hub: weights, settings, vocabularies; no pickles, no code.
RELEVANT = (".safetensors", ".json", ".txt", ".model", ".jinja", ".spm", ".tiktoken", ".codes", ".vocab")
SHOWN_FOLDERS = 4
NAMED = 3  # files
STATES_OF_TRAININGS = ("optimizer", "scheduler", "scaler", "training_args", "rng_state", "trainer_state")
PICKLES = (".bin", ".pt", ".pth", ".ckpt", ".pkl", ".pickle", ".h5", ".msgpack")
# Their positions start after the padding token's, so they hold fewer tokens than positions.
OFFSET_POSITIONS = (
    *("roberta", "xlm-roberta", "xlm-roberta-xl", "roberta-prelayernorm", "camembert", "mpnet"),
    *("longformer", "luke", "data2vec-text", "ibert", "xmod", "esm", "lilt", "markuplm"),
)
# Names of learned tables with a row per position: no text can be longer. Other tables count distances or rotate.
POSITION_TABLE = re.compile(r"(?:^|\.)(?:position_embeddings?|embed_positions|wpe)\.weight$")
LAYER_NUMBER = re.compile(r"(?:^|\.)(?:layers?|h|blocks?)\.(\d+)\.")
STEP = re.compile(r"\d+_[A-Z]\w*")  # names of folders of steps after the layers: 1_Pooling
OF_ADAPTER = re.compile(r"\.(?:lora_\w+|base_layer)\b")
OTHER_SIDE = re.compile(r"(?:^|\.)(?:vision|visual|image|audio)\w*\.")  # in a model of texts and pictures
NO_LIMIT = 1_000_000  # tokenizers without a limit write far larger numbers
TEMPLATES = "additional_chat_templates"  # a folder beside the tokenizer
WORDS_WITHOUT_FILES = ("ByT5", "Canine", "Perceiver")  # tokenizers of bytes or characters
# Architectures for other tasks than embedding texts: their last layer is not trained for its mean.
OTHER_TASKS = {
    "ForSequenceClassification": "a classifier or a cross-encoder, which scores pairs of texts",
    "ForTokenClassification": "a classifier of tokens",
    "ForQuestionAnswering": "a model that answers questions",
    "ForMultipleChoice": "a classifier of choices",
    "ForNextSentencePrediction": "a classifier of pairs",
    "ColBERT": "a multi-vector model, which has a vector per token",
}
OTHER_KINDS = {
    "CrossEncoder": "a cross-encoder, which scores pairs of texts and has no vectors",
    "MultiVectorEncoder": "a multi-vector model, which has a vector per token",
}
PRECISIONS = {"F32": "float32", "F64": "float64", "F16": "float16", "BF16": "bfloat16"}  # as safetensors names them
LARGEST_CONFIG = 2**20  # bytes; larger files are vocabularies
LARGEST_DIMENSION = 1_000_000
LARGEST_SETTINGS = 16 * 2**20  # bytes
# Settings of loading that change no vector, or that are said elsewhere.
OF_LOADING = (
    *("dtype", "torch_dtype", "use_cache", "use_safetensors", "device_map", "low_cpu_mem_usage", "cache_dir", "token"),
    *("revision", "local_files_only", "subfolder", "trust_remote_code", "output_hidden_states", "output_attentions"),
)
OF_SOUND = ("num_mel_bins", "feat_extract_norm", "sampling_rate")
ELSEWHERE = "encode your texts with its own library, and name the vectors: table:PATH"
# Models of other programs, by a file in their folder.
FOREIGN = {
    "saved_model.pb": "TensorFlow",
    "config.cfg": "spaCy",
    "gliner_config.json": "GLiNER",
    "mlc-chat-config.json": "MLC",
    "artifact.metadata": "ColBERT, which has a vector per token",
}
PACKED = (".zip", ".tar", ".gz", ".tgz", ".bz2", ".xz", ".zst", ".7z")
GGUF = "serve it by llama.cpp (llama-server -m FILE --embeddings), and name it api:http://localhost:8080/v1#MODEL"
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
        modules: steps of a sentence-transformers folder, also those of all routes; empty for a plain transformers one.
        pooling: description of what the folder does with token vectors.
        dimension: of the published vectors.
        hidden_dimension: of the transformer's layers.
        input_dimension: of its word-piece embeddings.
        max_length: tokens after which the published model truncates; 0 for never.
        longest: most tokens that the model can read; None for no limit.
        depth: number of the transformer's layers; None where config.json does not say.
        prompt: put before every text by the published model.
        parameters: number of trained weights.
        input_parameters: those of the word-piece embeddings; all if config.json does not say how many pieces.
        commit: the hub's commit, or "".
        unused_prompts: (name, text) of the other prompts that it declares.
        prompts: (name, text) of all declared prompts.
        is_sparse: whether its vectors have a number per word piece of the vocabulary, nearly all zero (SPLADE).
        is_transformer: whether a transformer with its tokenizer is the first step, for all texts.
        tells_roles: whether it encodes queries and documents in different ways, prompts aside.
        reads_pooler: whether the transformer's own vector of a text is read instead of its tokens' vectors.
        similarity: the one that it declares, as sentence-transformers names it.
        precision: that in which sentence-transformers computes the layers; "" if there are no weights.
        has_weights: whether torch can load it; otherwise only a graph has its transformer's layers (``backends``).
        assumed: sentences about what the folder leaves open and decides scores.
        assumed_pooling: those about its own pooling.
        adapter: its weights, where they are changes to another model's.
    """

    path: Path
    modules: tuple[Module, ...]
    pooling: str
    dimension: int
    hidden_dimension: int
    input_dimension: int
    max_length: int
    longest: int | None
    depth: int | None
    prompt: str
    parameters: int
    input_parameters: int
    commit: str = ""
    unused_prompts: tuple[tuple[str, str], ...] = ()
    prompts: tuple[tuple[str, str], ...] = ()
    is_sparse: bool = False
    is_transformer: bool = True
    tells_roles: bool = False
    reads_pooler: bool = False
    similarity: str = "cosine"
    precision: str = ""
    has_weights: bool = True
    assumed: tuple[str, ...] = ()
    assumed_pooling: tuple[str, ...] = ()
    adapter: Adapter | None = None

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

    @property
    def files(self) -> list[Path]:
        """The files that loading reads, but those of an adapter's base."""
        return _relevant_files(self.path, self.modules)

    @cached_property
    def revision(self) -> str:
        """The commit, or a digest of the names and contents of the files that loading reads; an adapter's base is one
        of these."""
        if self.commit and self.adapter is None:
            return self.commit
        files = () if self.commit else self.files
        parts = [part for file in files for part in (file.relative_to(self.path).as_posix(), sha256_once(file))]
        of_base = self.adapter.files if self.adapter else ()
        parts += [part for file in of_base for part in (f"base/{file.name}", sha256_once(file))]
        return digest_of_strings([self.commit, *parts] if self.commit else parts)[:16]


def inspect_folder(path: Path, reference: str, of_hub: Callable[[str], Path | None] = adapters.nowhere) -> ModelFolder:
    """Inspect a model's folder, reading settings and the headers of the weights; runs nothing.

    ``of_hub`` gives the folder of a model of the hub, an adapter's base, or None.

    Raises:
        InputError: no such folder, not a supported model, incomplete, only pickles, code of its own, damaged weights.
    """
    try:
        if not path.is_dir():
            is_file = path.is_file()
            raise InputError(
                f"'{reference}': {path} is a file" if is_file else f"'{reference}': there is no folder {path}",
                expected="a sentence-transformers or transformers folder with config.json and safetensors",
                remedy=_instead_of_file(path) if is_file else _nearest_folder(path),
            )
        return _inspect(path, reference, of_hub)
    except OSError as error:
        raise InputError(f"'{reference}': cannot read {error.filename}: {error.strerror}") from error


def _inspect(path: Path, reference: str, of_hub: Callable[[str], Path | None]) -> ModelFolder:
    refuse_outside(path, path, reference)
    sentence = settings_of(path / "config_sentence_transformers.json", reference)
    if (kind := str(sentence.get("model_type", ""))) in OTHER_KINDS:
        raise InputError(f"'{reference}' is {OTHER_KINDS[kind]}", expected="a model that gives a vector per text")
    top = _modules(path, reference)
    routes = _routes(top[0].folder, path, reference) if top and top[0].name in ROUTERS else {}
    modules = (*dict.fromkeys(module for steps in routes.values() for module in steps), *top[1:]) if routes else top
    for module in modules:
        refuse_outside(module.folder, path, reference)
        if module.name in WITH_SETTINGS and not (module.folder / "config.json").is_file():
            raise InputError(
                f"'{reference}': the settings of {module.name} are missing: no {module.folder / 'config.json'}",
                expected="every folder that modules.json names, whole",
                remedy="copy or download the folder again",
            )
    adapter = _adapter(path, modules, reference, of_hub) if path in _transformers(path, modules) else None
    for file in [*_relevant_files(path, modules), *(adapter.files if adapter else ())]:
        if file.suffix == ".json" and (file.stat().st_size <= LARGEST_CONFIG or file.name.endswith("config.json")):
            _check_once(file, state_of(file), reference)
    if routes:
        every = {name: (*steps, *top[1:]) for name, steps in routes.items()}
        ways = {name: _way(path, steps, reference, adapter) for name, steps in every.items()}
        default = str(routes_settings(top[0].folder, reference).get("parameters", {}).get("default_route") or "")
        way = ways.get(default) or next(iter(ways.values()))
        if len({other.dimension for other in ways.values()}) > 1:
            sizes = ", ".join(f"{name} {other.dimension}" for name, other in ways.items())
            raise InputError(f"'{reference}': its routes give vectors of different sizes: {sizes}")
        pooling = "; ".join(f"{name}: {other.pooling}" for name, other in ways.items())
        limits = [other.max_length for other in ways.values()]
        way = replace(way, pooling=pooling, max_length=0 if 0 in limits else max(limits))
    else:
        way = _way(path, modules, reference, adapter)
    weights: set[Path] = set()
    for module in modules:
        if module.name in WITH_WEIGHTS:
            weights.update(files := _weights(module.folder, reference))
            if "Static" not in module.name:  # whose table may be in whole numbers
                tensors = [tensor for file in files for tensor in tensors_of(file, reference)]
                _refuse_whole_numbers(tensors, {}, reference)
    of_layers = [_layers(folder, reference, adapter) for folder in _transformers(path, modules)]
    weights |= {file for files in of_layers for file in files}
    parameters = sum(count_weights(file, reference) for file in sorted(weights))
    default, prompts = declared_prompts(sentence, reference)
    most = _number_above_zero(sentence, "truncate_dim", "config_sentence_transformers.json", reference)
    is_unit = bool(top) and top[-1].name == "Normalize" and not most  # then all similarities give the same ranks
    is_sparse = any(module.name in SPARSE for module in modules)
    usual = "dot" if is_sparse else "cosine"  # the default of sentence-transformers
    settings_declared = _own_settings(modules[0].folder if modules else path, reference)
    return replace(
        way,
        path=path,
        modules=modules,
        pooling=way.pooling + (f", first {most} dimensions" if most and most < way.dimension else ""),
        dimension=min(most, way.dimension) if most else way.dimension,
        prompt=prompts.get(default, ""),
        parameters=parameters,
        input_parameters=min(parameters, way.input_parameters),
        unused_prompts=tuple((name, text) for name, text in prompts.items() if name != default),
        prompts=tuple(prompts.items()),
        is_sparse=is_sparse,
        is_transformer=not routes and (not modules or modules[0].name in LAYERS),
        tells_roles=bool(routes) or any(settings_declared.get(name) for name in ("query_length", "document_length")),
        reads_pooler=settings_declared.get("module_output_name") == "sentence_embedding",
        has_weights=all(of_layers),
        similarity="cosine" if is_unit else str(sentence.get("similarity_fn_name") or usual),
        adapter=adapter,
    )


def declared_prompts(sentence: Mapping[str, Any], reference: str) -> tuple[str, dict[str, str]]:
    """Name of the prompt before every text ("" for none), and the declared prompts that are not empty, by name."""
    prompts = sentence.get("prompts") or {}
    if not isinstance(prompts, dict) or not all(isinstance(text, str | None) for text in prompts.values()):
        raise InputError(f"'{reference}': the prompts are {str(prompts)[:80]}", expected="a JSON object of texts")
    default = sentence.get("default_prompt_name")
    if default is not None and default not in (
        names := {"query", "document", *prompts}
    ):  # the first two are always there
        raise InputError(
            f"'{reference}': config_sentence_transformers.json says default_prompt_name '{str(default)[:40]}'",
            expected=f"the name of a prompt: {', '.join(sorted(names))}",
        )
    return str(default or ""), {name: text for name, text in prompts.items() if text}


def _adapter(
    path: Path, modules: Sequence[Module], reference: str, of_hub: Callable[[str], Path | None]
) -> Adapter | None:
    """The adapter that a transformer's folder has instead of its weights, and the base that it changes."""
    if not (path / adapters.CONFIG).is_file():
        return None
    if (path / "config.json").is_file():
        raise InputError(
            f"'{reference}' has an adapter ({adapters.CONFIG}) beside a whole model's config.json",
            expected="one of them",
            remedy=f"remove {adapters.CONFIG} if it was merged into the weights, otherwise config.json and the weights",
        )
    adapter = adapters.read(settings_of(path / adapters.CONFIG, reference), of_hub, reference, is_plain=not modules)
    if not (path / adapters.WEIGHTS).is_file():
        _weights(path, reference)  # raises
    tensors_of(path / adapters.WEIGHTS, reference)
    refuse_outside(adapter.base, adapter.base, reference)
    if not (adapter.base / "config.json").is_file():
        inside = _models_inside(adapter.base)
        raise InputError(
            f"'{reference}': its base {adapter.base} has no config.json",
            expected=f"the folder of a transformer as base_model_name_or_path in {adapters.CONFIG}",
            remedy=inside or "copy or download that folder again",
        )
    return replace(adapter, files=(adapter.base / "config.json", *_weights(adapter.base, reference)))


def _refuse_nested(folder: Path, reference: str) -> None:
    """Refuse an adapter in a step's folder: the library looks for the base's weights in a folder of that name, too."""
    if (folder / adapters.CONFIG).exists():
        raise InputError(
            f"'{reference}' has an adapter in its folder {folder.name}, where sentence-transformers cannot load one",
            expected="its files beside modules.json",
            remedy=f'move them there, and make the module\'s path "" in modules.json; or {adapters.MERGE}',
        )


def _refuse_unmerged(tensors: Sequence[Tensor], reference: str) -> None:
    """Refuse weights with an adapter's among them: transformers would load the model without it."""
    if name := next((tensor.name for tensor in tensors if OF_ADAPTER.search(tensor.name)), ""):
        raise InputError(
            f"'{reference}' has weights of an adapter (LoRA) that is not merged into the model's: {name}",
            expected="a whole model",
            remedy=adapters.MERGE,
        )


def _refuse_whole_numbers(tensors: Sequence[Tensor], config: Mapping[str, Any], reference: str) -> None:
    """Refuse weights in whole numbers without settings that say what they stand for: transformers would take them for
    the weights themselves."""
    if config.get("quantization_config") or config.get("quantization"):
        return
    is_weight = (t for t in tensors if t.name.endswith(".weight") and len(t.shape) > 1 and t.dtype[:1] in "IU")
    if tensor := next(is_weight, None):
        raise InputError(
            f"'{reference}': {tensor.name} is in whole numbers ({tensor.dtype}), and config.json has no "
            "quantization_config, which says their scale",
            expected="weights in float32 or half precision",
            remedy="name the model that it was made of, or serve it with the program that quantized it: api:URL#MODEL",
        )


def _shards_left_out(folder: Path) -> tuple[str, ...]:
    """A sentence if a folder has its weights twice, in one file and in shards, which may differ."""
    index = "model.safetensors.index.json"
    if not ((folder / "model.safetensors").exists() and (folder / index).exists()):
        return ()
    return (f"it has model.safetensors and {index}: the first is read, as transformers does, and the shards are not",)


def _layers_left_out(tensors: Sequence[Tensor], config: Mapping[str, Any]) -> tuple[str, ...]:
    """A sentence if the weights have more layers than config.json says, since transformers leaves them out."""
    depth = _depth(config)
    names = [tensor.name for tensor in tensors if not OTHER_SIDE.search(tensor.name)]
    if any("encoder." in name for name in names):
        names = [name for name in names if not re.search(r"(?:^|\.)decoder\.", name)]
    count = max((int(match[1]) + 1 for name in names if (match := LAYER_NUMBER.search(name))), default=0)
    if depth is None or count <= depth:
        return ()
    return (f"its weights have {count:,} layers, and config.json says {depth:,}: the others are left out",)


def _depth(config: Mapping[str, Any]) -> int | None:
    return first_number(config, "num_hidden_layers", "encoder_layers", "num_layers", "n_layers", "n_layer")


def _transformers(path: Path, modules: Sequence[Module]) -> list[Path]:
    """The folders of transformers among a model's steps."""
    return [module.folder for module in modules if module.name in LAYERS] if modules else [path]


def _instead_of_file(path: Path) -> str:
    """Advice for a file where a folder is expected."""
    ending = path.suffix.lower()
    if ending == ".gguf":
        return GGUF
    if ending in PACKED:
        return "unpack it, and name the folder"
    home = next((folder for folder in (path.parent, path.parent.parent) if (folder / "config.json").is_file()), None)
    if home is None:
        return "save the model as a folder (save_pretrained); word vectors are vectors:PATH, embeddings table:PATH"
    graph = f"?file={quote(path.relative_to(home).as_posix())}" if ending in GRAPHS else ""
    return f"name its folder: dir:{home}{graph}"


def _nearest_folder(path: Path) -> str:
    """What somebody may have meant who named no folder that is there; "" for nothing."""
    if path.is_symlink():
        return f"{path} is a link to {path.readlink()}, which is not there"
    inside = [folder.name for folder in path.parent.iterdir() if folder.is_dir()] if path.parent.is_dir() else []
    nearest = get_close_matches(path.name, inside, 1)
    return f"did you mean dir:{path.with_name(nearest[0])}?" if nearest else ""


def _models_inside(path: Path) -> str:
    """What to do where a folder has folders of models, as that of a training's checkpoints or the hub's cache, or a
    file that another program reads; "" where it has neither."""
    levels = ([config.parent for config in path.glob(f"{pattern}/config.json")] for pattern in ("*", "*/*"))
    models = ([folder for folder in level if not STEP.fullmatch(folder.name)] for level in levels)
    inside = next(filter(None, models), [])
    if not inside:
        other = next((program for name, program in FOREIGN.items() if (path / name).is_file()), "")
        return GGUF if any(path.glob("*.gguf")) else f"it is a model of {other}: {ELSEWHERE}" if other else ""
    newest = sorted(inside, key=lambda folder: [int(part) if part.isdigit() else -1 for part in folder.name.split("-")])
    listed = ", ".join(folder.relative_to(path).as_posix() for folder in newest[-SHOWN_FOLDERS:])
    return f"name one of the models in it: {'..., ' * (len(newest) > SHOWN_FOLDERS)}{listed}"


def _way(path: Path, modules: Sequence[Module], reference: str, adapter: Adapter | None) -> ModelFolder:
    """What one way of a text through the modules does; of a plain folder there are none."""
    first = modules[0] if modules else None
    if first is not None and first.name not in LAYERS:
        return _static_way(path, modules, reference)
    folder = first.folder if first else path
    if folder != path:
        _refuse_nested(folder, reference)
    config = settings_of((adapter.base if adapter else folder) / "config.json", reference)
    if not config:
        raise InputError(
            f"'{reference}': {folder} has no config.json",
            expected="a sentence-transformers or transformers folder",
            remedy="copy or download the folder again" if modules else _models_inside(path),
        )
    is_step = not modules and (path.parent / "modules.json").is_file()
    remedy = f"save its base's tokenizer there, too; or {adapters.MERGE}" if adapter else ""
    remedy = f"name the whole model: dir:{path.parent}" if is_step else remedy
    _refuse_without_words(folder, config, reference, remedy)
    text = config["text_config"] if isinstance(config.get("text_config"), dict) else {}
    stored = {**text, **{name: value for name, value in config.items() if value is not None}}
    own = _own_settings(folder, reference)
    nested = {**stored, **(_options(own, "config_kwargs", "config_args") if modules else {})}
    _refuse_without_texts(nested, reference)
    hidden = first_number(nested, "hidden_size", "d_model", "dim", "n_embd", "emb_dim")
    if hidden is None or not 0 < hidden <= LARGEST_DIMENSION:
        size = "no hidden_size" if hidden is None else f"a hidden_size of {hidden:.3g}"
        raise InputError(
            f"'{reference}': config.json of type '{str(config.get('model_type'))[:40]}' has {size}",
            expected="a text encoder such as BERT, RoBERTa, MPNet",
            remedy=f"it is a model of Keras: {ELSEWHERE}" if "class_name" in config else "",
        )
    if not modules:
        _refuse_without_steps(path, reference)
        _refuse_other_task(config, reference)
    pooling, dimension, assumed_pooling = _published(modules, hidden, config, reference)
    if adapter and not modules and (adapter.base / "modules.json").is_file():
        assumed_pooling += (f"the steps of its base {adapter.base_name} after the layers are not taken",)
    tensors = [tensor for file in _layers(folder, reference, adapter) for tensor in tensors_of(file, reference)]
    _refuse_unmerged(tensors, reference)
    _refuse_whole_numbers(tensors, config, reference)
    if isinstance(config.get("quantization"), dict) and any(tensor.dtype == "U32" for tensor in tensors):
        raise InputError(
            f"'{reference}' has quantized weights of MLX, which only MLX reads",
            expected="weights in float32 or half precision",
            remedy="name the model that it was made of, or serve it: api:URL#MODEL",
        )
    left_out = (*_layers_left_out(tensors, stored), *_shards_left_out(adapter.base if adapter else folder))
    assumed = (*left_out, *(_changed(own, stored) if modules else ()))
    tables = [tensor for tensor in tensors if POSITION_TABLE.search(tensor.name) and not OTHER_SIDE.search(tensor.name)]
    longest = _longest(nested) if tables else None
    wanted = _max_length(folder, config, reference)
    if longest and not 0 < wanted <= longest:
        limit_text = f"though its limit is {wanted:,}" if wanted else "and names no limit"
        cut = f"texts are cut after {longest:,} tokens: it has no positions beyond, {limit_text}"
        assumed = (*assumed, cut)
    input_dimension = first_number(nested, "embedding_size") or hidden
    return ModelFolder(
        path=path,
        modules=(),
        pooling=pooling,
        dimension=dimension,
        hidden_dimension=hidden,
        input_dimension=input_dimension,
        max_length=min(wanted or longest, longest) if longest else wanted,
        longest=longest,
        depth=_depth(nested),
        prompt="",
        parameters=0,
        precision=_precision(own, config, tensors) if tensors else "",
        input_parameters=input_dimension * (first_number(nested, "vocab_size") or sys.maxsize),
        assumed=assumed,
        assumed_pooling=assumed_pooling,
    )


def _options(own: Mapping[str, Any], *names: str) -> Mapping[str, Any]:
    """Options of a call that a transformer's own settings have, by their newer or older name."""
    return next((value for name in names if isinstance(value := own.get(name), dict)), {})


def _changed(own: Mapping[str, Any], config: Mapping[str, Any]) -> tuple[str, ...]:
    """A sentence about what a transformer's own settings change of config.json."""
    options = {**_options(own, "config_kwargs", "config_args"), **_options(own, "model_kwargs", "model_args")}
    changes = [
        f"{name} {json.dumps(value)[:60]}" + (f" instead of {json.dumps(config[name])[:60]}" if name in config else "")
        for name, value in options.items()
        if name not in OF_LOADING and (name not in config or config[name] != value)
    ]
    return (f"sentence_bert_config.json changes what config.json says: {', '.join(changes)}",) if changes else ()


def _precision(own: Mapping[str, Any], config: Mapping[str, Any], tensors: Sequence[Tensor]) -> str:
    """The precision that settings name, or else that of most floats, by the number of weights."""
    for settings in (_options(own, "model_kwargs", "model_args"), config):
        named = settings.get("dtype") or settings.get("torch_dtype")
        if named and named != "auto":
            return str(named)
    counts = Counter[str]()
    for tensor in tensors:
        if tensor.dtype in PRECISIONS:
            counts[PRECISIONS[tensor.dtype]] += math.prod(tensor.shape)
    return counts.most_common(1)[0][0] if counts else ""


def _static_way(path: Path, modules: Sequence[Module], reference: str) -> ModelFolder:
    """As ``_way``, for texts that are looked up in a table of word pieces."""
    folder = modules[0].folder
    _refuse_without_words(folder, {}, reference)
    table = "weight" if modules[0].name == "SparseStaticEmbedding" else "embedding.weight"
    shapes = {
        tensor.name: tensor.shape for file in _weights(folder, reference) for tensor in tensors_of(file, reference)
    }
    shape = shapes.get(table) or shapes.get("embeddings")
    if not shape:
        raise InputError(f"'{reference}': {folder} has no table of word pieces", expected=f"a tensor named {table}")
    words = "a weight per word piece" if modules[0].name == "SparseStaticEmbedding" else "mean of word pieces"
    described, dimension = _steps(modules[1:], shape[-1], shape[-1], reference)
    return ModelFolder(
        path=path,
        modules=(),
        pooling=", ".join([words, *described]),
        dimension=dimension,
        hidden_dimension=shape[-1],
        input_dimension=shape[-1],
        max_length=0,
        longest=None,
        depth=None,
        prompt="",
        parameters=0,
        input_parameters=math.prod(shape),
    )


def _refuse_without_words(folder: Path, config: Mapping[str, Any], reference: str, remedy: str = "") -> None:
    """Refuse a folder without its tokenizer's files: transformers would make a tokenizer that knows no word."""
    names = {file.name for file in folder.iterdir()}
    if {"tokenizer.json", "vocab.txt", "tekken.json"} & names or any(
        name.endswith((".model", ".spm", ".tiktoken")) for name in names
    ):
        return
    kind = str(settings_of(folder / "tokenizer_config.json", reference).get("tokenizer_class", ""))
    if kind.startswith(WORDS_WITHOUT_FILES) or config.get("model_type") in {"canine", "perceiver"}:
        return
    if "vocab.json" in names:
        if "merges.txt" in names:
            return
        missing = "merges.txt"
    else:
        missing = "tokenizer.json"
    raise InputError(
        f"'{reference}': the tokenizer's files are missing: {folder} has no {missing}",
        expected="tokenizer.json, or the vocabulary that the model was saved with (vocab.txt, *.model, ...)",
        remedy=remedy or "copy or download the folder again, or save the model's tokenizer there (save_pretrained)",
    )


def _refuse_without_steps(path: Path, reference: str) -> None:
    """Refuse a plain folder that has lost the list of its steps: the library would take a mean over tokens, and ignore
    the prompts and sizes that the model was saved with."""
    steps = sorted(f.name for f in path.iterdir() if f.is_dir() and STEP.fullmatch(f.name))
    files = ["config_sentence_transformers.json"] if (path / "config_sentence_transformers.json").is_file() else []
    if steps or files:
        raise InputError(
            f"'{reference}': {path} has no modules.json, but {', '.join([*files, *steps])}",
            expected="the whole folder of sentence-transformers",
            remedy="copy or download the folder again",
        )


def _refuse_without_texts(config: Mapping[str, Any], reference: str) -> None:
    """Refuse a model of pictures or sound alone."""
    is_dual = "text_config" in config
    if not is_dual and any(name in config for name in OF_SOUND):
        what = "sound"
    elif not is_dual and "vocab_size" not in config and "patch_size" in config:
        what = "pictures"
    else:
        return
    raise InputError(
        f"'{reference}' is a model of {what} ({_architecture(config) or config.get('model_type')})",
        expected="a model that gives a vector per text",
    )


def _refuse_other_task(config: Mapping[str, Any], reference: str) -> None:
    """Refuse a plain folder with a model for another task than embedding texts."""
    architecture = _architecture(config)
    what = next((what for end, what in OTHER_TASKS.items() if architecture.endswith(end)), "")
    if what:
        raise InputError(
            f"'{reference}' is {what} ({architecture})",
            expected="a model that gives a vector per text",
            remedy="name the embedding model; if this one is to be read as one, save it by sentence-transformers with "
            "the pooling that it should have",
        )


def _architecture(config: Mapping[str, Any]) -> str:
    named = config.get("architectures")
    return str(named[0]) if isinstance(named, list) and named else ""


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
        kind, folder = (row.get("type", ""), row.get("path", "")) if isinstance(row, dict) else ("", "")
        wanted = LATER_MODULES if modules else FIRST_MODULES
        modules.append(_module(kind, folder, path, f"module {len(modules)}", wanted, "modules.json", reference))
    return tuple(modules)


def _module(
    kind: object, folder: object, root: Path, title: str, wanted: Sequence[str], named_in: str, reference: str
) -> Module:
    if not str(kind).startswith(PACKAGE):
        raise InputError(
            f"'{reference}' would run code of its own: {named_in} names '{kind}'",
            expected=f"only types of {PACKAGE.rstrip('.')}",
        )
    name = str(kind).rpartition(".")[2]
    if not isinstance(folder, str) or Path(folder).is_absolute() or ".." in Path(folder).parts:
        raise InputError(f"'{reference}': {named_in} leads out of the folder: {folder!r}")
    if name not in wanted:
        raise InputError(f"'{reference}': {title} is a '{name}'", expected=f"one of {', '.join(wanted)}")
    return Module(name, root / folder)


def routes_settings(folder: Path, reference: str) -> Any:
    """The settings of a router; older routers name the file as any module does."""
    return settings_of(folder / "router_config.json", reference) or settings_of(folder / "config.json", reference)


def _routes(folder: Path, root: Path, reference: str) -> dict[str, tuple[Module, ...]]:
    """The modules of each route of a router."""
    refuse_outside(folder, root, reference)
    settings = routes_settings(folder, reference)
    types, structure = settings.get("types"), settings.get("structure")
    if not isinstance(types, dict) or not isinstance(structure, dict) or not structure:
        raise InputError(
            f"'{reference}': {folder} names no routes", expected="router_config.json with types and structure"
        )
    routes: dict[str, tuple[Module, ...]] = {}
    for route, names in structure.items():
        steps: list[Module] = []
        for name in names if isinstance(names, list) else [names]:
            wanted = LATER_MODULES if steps else tuple(module for module in FIRST_MODULES if module not in ROUTERS)
            title = f"module {len(steps)} of route '{route}'"
            steps.append(_module(types.get(name), name, folder, title, wanted, "router_config.json", reference))
        routes[str(route)] = tuple(steps)
    return routes


def _published(
    modules: Sequence[Module], hidden: int, config: Mapping[str, Any], reference: str
) -> tuple[str, int, tuple[str, ...]]:
    """Description of a transformer's later steps, the dimension of their result, and what was assumed."""
    own = _own_settings(modules[0].folder, reference) if modules else {}
    of_both = _projected(config)
    if of_both and not modules:
        return OF_TEXT, of_both, ()
    if not modules:
        mode, why = _assumed_pooling(config)
        return (
            f"{mode} of the last layer (a plain transformers folder, which names no pooling)",
            hidden,
            (f"its folder names no pooling, so that of sentence-transformers is taken: {mode}{why}",),
        )
    if any(module.name in SPARSE for module in modules):
        described, dimension = _sparse(modules, config, hidden, reference)
        return described, dimension, ()
    output = own.get("module_output_name")
    by_modality = own.get("modality_config")
    method = by_modality.get("text") if isinstance(by_modality, dict) else None
    if isinstance(method, dict) and method.get("method") == "get_text_features":
        hidden = of_both or hidden
    if output != "sentence_embedding" and not any(module.name == "Pooling" for module in modules):
        raise InputError(
            f"'{reference}': modules.json has no Pooling", expected="Transformer, Pooling and what follows it"
        )
    words, width = _steps(modules[1:], hidden, hidden, reference)
    poolings = [settings_of(m.folder / "config.json", reference) for m in modules if m.name == "Pooling"]
    assumed = ("its Pooling names no mode, so that of sentence-transformers is taken: mean over tokens",)
    return ", ".join(words) or OF_TEXT, width, () if all(map(_pooling_modes, poolings)) else assumed


def _projected(config: Mapping[str, Any]) -> int | None:
    """Dimension of the texts' vectors of a model that projects texts and pictures into one space; None for others."""
    text = config.get("text_config")
    if not isinstance(text, dict):
        return None
    return first_number(config, "projection_dim") or first_number(text, "projection_size")


def _assumed_pooling(config: Mapping[str, Any]) -> tuple[str, str]:
    """The pooling that sentence-transformers takes for a plain folder, and why."""
    if _architecture(config).endswith("ForCausalLM") and config.get("is_causal", True):
        return "last token", f", as of any {_architecture(config)}"
    return "mean over tokens", ""


def _steps(modules: Sequence[Module], width: int, vocabulary: int, reference: str) -> tuple[list[str], int]:
    """Descriptions of the steps after the first one, and the dimension of their result."""
    words = []
    for module in modules:
        config = settings_of(module.folder / "config.json", reference)
        if module.name == "Pooling":
            modes = _pooling_modes(config) or ["mean"]
            words.append("+".join(modes))
            width *= len(modes)
        elif module.name == "Dense":
            width = first_number(config, "out_features") or width
            words.append(f"Dense {width}")
        elif module.name == "SparseAutoEncoder":
            width = first_number(config, "hidden_dim") or width
            words.append(f"sparse autoencoder {width}")
        elif module.name == "SpladePooling":
            width = vocabulary
            words.append("SpladePooling")
        elif module.name != "Dropout":  # has no effect outside training
            words.append("L2-normalised" if module.name == "Normalize" else module.name)
    return words, width


def _sparse(modules: Sequence[Module], config: Mapping[str, Any], hidden: int, reference: str) -> tuple[str, int]:
    """As ``_steps``, for a sparse model (Formal et al. 2021, SPLADE): a number per word piece."""
    vocabulary = first_number(config, "vocab_size")
    names = [module.name for module in modules[1:]]
    if "SparseAutoEncoder" in names:
        words, width = _steps(modules[1:], hidden, vocabulary or hidden, reference)
        return f"sparse: {', '.join(words)}", width
    if names != ["SpladePooling"] or not vocabulary:
        raise InputError(
            f"'{reference}' has modules that do not make a sparse model: {', '.join(m.name for m in modules)}",
            expected="Transformer and SpladePooling, and a vocab_size in config.json",
        )
    declared = settings_of(modules[1].folder / "config.json", reference)
    strategy, activation = declared.get("pooling_strategy", "max"), declared.get("activation_function", "relu")
    transformed = "log(1 + log(1 + relu))" if activation == "log1p_relu" else "log(1 + relu)"
    return f"sparse: {strategy} over tokens of {transformed} of word pieces' logits", vocabulary


def _pooling_modes(config: Mapping[str, Any]) -> list[str]:
    named = config.get("pooling_mode")
    if named:
        return [named] if isinstance(named, str) else [str(n) for n in named]
    prefix = "pooling_mode_"
    modes = [name.removeprefix(prefix) for name, on in config.items() if name.startswith(prefix) and on is True]
    return [mode.removesuffix("_tokens").removesuffix("_token") for mode in modes]


def _longest(config: Mapping[str, Any]) -> int | None:
    positions = first_number(config, "max_position_embeddings", "n_positions")
    if positions is None or positions <= 0:  # -1 means no limit
        return None
    pad = config.get("pad_token_id")
    offset = (pad if isinstance(pad, int) else 1) + 1
    return positions - offset if config.get("model_type") in OFFSET_POSITIONS else positions


def _own_settings(transformer: Path, reference: str) -> Mapping[str, Any]:
    """Settings that sentence-transformers saved with a transformer; older versions named the file after its kind."""
    names = [transformer / "sentence_bert_config.json", *sorted(transformer.glob("sentence_*_config.json"))]
    return next((declared for name in names if (declared := settings_of(name, reference))), {})


def _max_length(transformer: Path, config: Mapping[str, Any], reference: str) -> int:
    """Tokens after which sentence-transformers truncates; 0 for never."""
    declared = _own_settings(transformer, reference)
    for name in ("max_seq_length", "query_length", "document_length"):
        _number_above_zero(declared, name, "sentence_bert_config.json", reference)
    kwargs = declared.get("processor_kwargs") or declared.get("tokenizer_args") or {}
    calls = declared.get("processing_kwargs") or {}
    calls = {**(calls.get("common") or {}), **(calls.get("text") or {})} if isinstance(calls, dict) else {}
    limit = first_number(calls, "max_length")
    if limit is None:
        limit = first_number(kwargs, "model_max_length") if isinstance(kwargs, dict) else None
    if limit is None:
        limit = first_number(declared, "max_seq_length")
    if limit is None:
        tokenizer = first_number(settings_of(transformer / "tokenizer_config.json", reference), "model_max_length")
        positions = first_number(config, "max_position_embeddings", "n_positions")
        limits = [n for n in (tokenizer, positions) if n is not None and n > 0]
        limit = min(limits, default=0)
    return limit if 0 < limit <= NO_LIMIT else 0


def _number_above_zero(settings: Mapping[str, Any], name: str, file: str, reference: str) -> int | None:
    """A setting that is a whole number above 0 or absent; raises ``InputError`` for any other value."""
    value = settings.get(name)
    if value is None or (isinstance(value, int) and not isinstance(value, bool) and value > 0):
        return value
    raise InputError(
        f"'{reference}': {file} says {name} {str(value)[:40]!r}",
        expected="a whole number above 0",
        remedy=f"correct it, or remove {name}",
    )


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
        raise InputError(f"'{reference}': {path} is a {type(value).__name__}", expected="a JSON object")
    return value


@lru_cache(maxsize=256)
def _check_once(file: Path, _state: tuple[int, ...], reference: str) -> None:
    """Refuse a file of settings that makes transformers import code; a tokenizer's has tens of thousands of entries."""
    refuse_remote_code(settings_of(file, reference, of_any_type=True), file, reference)


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


def _layers(folder: Path, reference: str, adapter: Adapter | None) -> list[Path]:
    """The weights of a transformer, of its base if they are an adapter; empty if it has only graphs (``backends``)."""
    if adapter:
        return [file for file in adapter.files if file.suffix == ".safetensors"]
    has_weights = any((folder / name).exists() for name in ("model.safetensors", "model.safetensors.index.json"))
    return [] if not has_weights and graphs_of(folder) else _weights(folder, reference)


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
        here = {tensor.name for file in files for tensor in tensors_of(file, reference)}
        if lost := sorted(str(name) for name in named if name not in here):
            raise InputError(
                f"'{reference}': weights are missing: {', '.join(lost[:3])}, {len(lost)} in all",
                expected=f"the tensors that {index.name} names",
                remedy="copy or download the folder again",
            )
        return files
    files_here = sorted(folder.iterdir()) if folder.is_dir() else []
    if pickles := [f.name for f in files_here if f.suffix in PICKLES and not f.stem.startswith(STATES_OF_TRAININGS)]:
        raise InputError(
            f"'{reference}' has its weights only as {', '.join(pickles)}, which can run code when read",
            expected="model.safetensors",
            remedy="convert it: load it where you trust it and call save_pretrained",
        )
    others = [f.name for f in files_here if f.suffix in {".safetensors", ".gguf"}]
    again = "copy or download the folder again; or name a graph, where the model has one: ?file=onnx/model.onnx"
    raise InputError(
        f"'{reference}': {folder} has no weights{' but ' * bool(others)}{', '.join(others[:NAMED])}",
        expected="model.safetensors",
        remedy=GGUF if any(name.endswith(".gguf") for name in others) else again,
    )


@dataclass(frozen=True)
class Tensor:
    """Facts about a tensor from the header of a safetensors file."""

    name: str
    dtype: str
    shape: tuple[int, ...]


def tensors_of(file: Path, reference: str) -> list[Tensor]:
    """The tensors in a safetensors file; reading its header also checks the file's size."""
    from safetensors import SafetensorError, safe_open

    try:
        with safe_open(file, framework="numpy") as tensors:
            slices = [(name, tensors.get_slice(name)) for name in tensors.keys()]  # noqa: SIM118 - it is no dict
            return [Tensor(name, s.get_dtype(), tuple(s.get_shape())) for name, s in slices]
    except (SafetensorError, OSError) as error:
        with file.open("rb") as raw:
            is_pointer = raw.read(len(LFS_POINTER)) == LFS_POINTER
        if is_pointer:
            raise InputError(
                f"'{reference}': {file} is a pointer of Git LFS, without the weights",
                expected="a whole safetensors file",
                remedy="fetch them in the folder: git lfs pull",
            ) from error
        raise InputError(
            f"'{reference}': {file} is damaged or cut short ({file.stat().st_size:,} bytes): {error}",
            expected="a whole safetensors file",
            remedy="copy or download it again",
        ) from error


def count_weights(file: Path, reference: str) -> int:
    """Number of weights in a safetensors file."""
    return sum(
        math.prod(tensor.shape) for tensor in tensors_of(file, reference) if tensor.dtype.startswith(("F", "BF"))
    )


def settings_digests(folder: Path) -> list[str]:
    """Names and digests of what loading reads beside the weights, for a folder with its steps right below it."""
    files = sorted(f for f in [*folder.iterdir(), *folder.glob("*/*")] if f.suffix in RELEVANT and f.is_file())
    return [p for f in files if f.suffix != ".safetensors" for p in (f.relative_to(folder).as_posix(), sha256_once(f))]


def _relevant_files(path: Path, modules: Sequence[Module]) -> list[Path]:
    """The files that loading reads, in order: of the folder itself, and of its steps with what lies below them."""
    folders = {path, path / TEMPLATES}
    for module in modules:
        folders |= {module.folder, module.folder / TEMPLATES}
    # A router's settings lie above its modules.
    folders |= {folder.parent for folder in tuple(folders) if folder.parent.is_relative_to(path)}
    here = [folder for folder in folders if folder.is_dir()]
    return sorted(file for folder in here for file in folder.iterdir() if file.suffix in RELEVANT and file.is_file())
