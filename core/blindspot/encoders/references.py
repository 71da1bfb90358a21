"""Encoder references with parameters: ``SCHEME:TARGET?name=value&name=value``."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass, replace
from enum import StrEnum
from pathlib import Path, PurePosixPath
from urllib.parse import quote, unquote

from blindspot.errors import InputError, unknown
from blindspot.files.writing import require_name


class Pooling(StrEnum):
    """Pooling of token vectors into one vector; ``published`` is the pooling in the model's folder.

    ``p2`` and ``p3`` are power means, ``(sum x^p / n)^(1/p)`` in each dimension; p = 1, infinity and minus infinity
    give the mean, the maximum and the minimum (Rücklé et al. 2018, arXiv 1803.01400, section 3). The root of a
    negative number is negative.
    """

    PUBLISHED = "published"
    CLS = "cls"
    LAST_AVG = "last-avg"
    FIRST_LAST_AVG = "first-last-avg"
    STATIC = "static"
    MAX = "max"
    MIN = "min"
    P2 = "p2"
    P3 = "p3"


NAMES_LAYERS = (Pooling.FIRST_LAST_AVG, Pooling.STATIC)
# Poolings to compare with each other, all from one pass; the others are computed alone.
OF_A_PASS = (Pooling.PUBLISHED, Pooling.CLS, Pooling.LAST_AVG, Pooling.FIRST_LAST_AVG, Pooling.STATIC)
MEAN = "mean"  # name of a layer's mean over tokens, beside other poolings
OVER_TOKENS = (Pooling.LAST_AVG, Pooling.MAX, Pooling.MIN, Pooling.P2, Pooling.P3)
JOINED = (Pooling.CLS, *OVER_TOKENS)
POWERS = {Pooling.P2: 2, Pooling.P3: 3}


class Dtype(StrEnum):
    """Precision of weights and layers."""

    FLOAT32 = "float32"
    FLOAT16 = "float16"
    BFLOAT16 = "bfloat16"


class Backend(StrEnum):
    """Library that computes a transformer's layers."""

    TORCH = "torch"
    ONNX = "onnx"
    OPENVINO = "openvino"


@dataclass(frozen=True)
class Readout:
    """Which layers' token vectors become one vector, and how.

    Attributes:
        pooling: of the token vectors.
        more: further poolings; their vectors are joined to the vector of the first.
        layers: their token vectors are averaged; 0 is the embeddings' output, the input of the first layer. Empty for
            the layers that the pooling names, for most the last one.
    """

    pooling: Pooling = Pooling.PUBLISHED
    layers: tuple[int, ...] = ()
    more: tuple[Pooling, ...] = ()

    @classmethod
    def parse(cls, pooling: str, layer: str, reference: str) -> Readout:
        """Parse ``cls`` or ``mean+max+min``, and ``4``, ``mean(2,5)`` or "" for the pooling's own layers.

        Raises:
            InputError: no such pooling or layer, or one that cannot be joined, or twice.
        """
        names = [Pooling.LAST_AVG.value if name == MEAN else name for name in pooling.split("+")]
        for name in names:
            if name not in list(Pooling):
                raise unknown("pooling", name, [*Pooling, MEAN])
            if len(names) > 1 and (name not in JOINED or names.count(name) > 1):
                raise InputError(
                    f"'{reference}' joins the pooling {name}{'' if name not in JOINED else ' twice'}",
                    expected=f"different ones of {', '.join(_written(pooling_name) for pooling_name in JOINED)}",
                )
        first, *others = map(Pooling, names)
        readout = cls(first, _layers_of(layer, reference), tuple(others))
        if readout.layers and readout.pooling in NAMES_LAYERS:
            raise InputError(f"'{reference}': the pooling {pooling} names its layers itself", remedy="leave out layer")
        return readout

    @property
    def poolings(self) -> tuple[Pooling, ...]:
        """All poolings, in the order of their vectors."""
        return (self.pooling, *self.more)

    @property
    def written(self) -> str:
        """The poolings as a reference has them."""
        return "+".join(map(_written, self.poolings)) if self.more else self.pooling.value

    @property
    def of_layers(self) -> str:
        """Its layers in words: "layer 4", "mean of layers 2 and 5", "" for the pooling's own."""
        *others, last = map(str, self.layers or ("",))
        return f"mean of layers {', '.join(others)} and {last}" if others else f"layer {last}" if last else ""


def _written(pooling: Pooling) -> str:
    return MEAN if pooling is Pooling.LAST_AVG else pooling.value


PUBLISHED = Readout()
MEAN_OF_WORDS = Readout(Pooling.LAST_AVG)
GRAPHS = {".onnx": Backend.ONNX, ".xml": Backend.OPENVINO}  # back end of a graph's file, by suffix
SPECIAL_TOKENS = 2  # around a text
SHORTEST_MAX_LENGTH = SPECIAL_TOKENS + 1


@dataclass(frozen=True)
class Passages:
    """Passages that documents are cut into: ``window`` tokens each, and the next one repeats the last ``overlap``."""

    window: int
    overlap: int

    @classmethod
    def parse(cls, value: str, reference: str) -> Passages:
        """Parse ``128/32``; raises ``InputError``."""
        match = re.fullmatch(r"([0-9]{1,7})/([0-9]{1,7})", value)
        passages = cls(int(match[1]), int(match[2])) if match else None
        if passages is None or not passages.overlap < passages.window:
            raise InputError(
                f"passages is '{value}' in '{reference}'",
                expected="WINDOW/OVERLAP in tokens, the overlap shorter than the window, for example 128/32",
            )
        return passages

    def __str__(self) -> str:
        return f"{self.window}/{self.overlap}"

    def check(self, max_length: int, reference: str) -> None:
        """Raise ``InputError`` if a model that reads so many tokens (0: any number) does not read a passage whole."""
        if max_length and self.window > max_length - SPECIAL_TOKENS:
            raise InputError(
                f"'{reference}' reads {max_length:,} tokens, less than a passage of {self.window:,} and its "
                f"{SPECIAL_TOKENS} special tokens",
                expected=f"passages of at most {max_length - SPECIAL_TOKENS:,} tokens",
            )


@dataclass(frozen=True)
class ModelParams:
    """Parameters of a ``dir:`` or ``hf:`` reference; None keeps the model's own value.

    ``max_length`` counts tokens, special ones included; ``prompt`` is put before every text, except
    where a role has its own: ``query_prompt``, ``document_prompt`` (``blindspot.encoders.roles``). "" means no prompt.
    ``pooling`` and ``layer`` are read into ``readout``. ``passages`` cuts the documents of retrieval. ``file`` is a
    graph in the model's folder, perhaps quantized, that computes the layers: it decides the ``backend``.
    """

    max_length: int | None = None
    prompt: str | None = None
    dtype: Dtype = Dtype.FLOAT32
    readout: Readout = PUBLISHED
    query_prompt: str | None = None
    document_prompt: str | None = None
    backend: Backend = Backend.TORCH
    passages: Passages | None = None
    file: str | None = None

    @classmethod
    def parse(cls, query: str, reference: str) -> ModelParams:
        """Parse ``max_length=128&prompt=query%3A%20``; values are percent-decoded, a ``+`` stays a plus.

        Raises:
            InputError: an unknown parameter, one given twice, or an invalid value.
        """
        values: dict[str, str] = {}
        for part in query.split("&") if query else []:
            name, equals, value = part.partition("=")
            if name not in PARAMETERS:
                raise unknown("parameter of an encoder reference", name, PARAMETERS)
            if not equals or name in values:
                raise InputError(
                    f"'{name}' is given {'twice' if equals else 'without a value'} in '{reference}'",
                    expected=f"{name}=VALUE once",
                )
            values[name] = unquote(value)
        length = values.get("max_length")
        if length is not None and not (re.fullmatch(r"[0-9]{1,7}", length) and int(length) >= SHORTEST_MAX_LENGTH):
            raise InputError(
                f"max_length is '{length}' in '{reference}'", expected=f"a number of tokens from {SHORTEST_MAX_LENGTH}"
            )
        for name, kind in (("dtype", Dtype), ("backend", Backend)):
            if name in values and values[name] not in list(kind):
                raise unknown(name, values[name], list(kind))
        if "file" in values:
            backend = _backend_of(values["file"], reference).value
            if values.setdefault("backend", backend) != backend:
                raise InputError(
                    f"'{reference}': the back end of {values['file']} is {backend}", remedy="leave out backend"
                )
        params = cls(
            max_length=None if length is None else int(length),
            prompt=values.get("prompt"),
            dtype=Dtype(values.get("dtype", Dtype.FLOAT32)),
            readout=Readout.parse(values.get("pooling", Pooling.PUBLISHED), values.get("layer", ""), reference),
            query_prompt=values.get("query_prompt"),
            document_prompt=values.get("document_prompt"),
            backend=Backend(values.get("backend", Backend.TORCH)),
            passages=Passages.parse(values["passages"], reference) if "passages" in values else None,
            file=PurePosixPath(values["file"]).as_posix() if "file" in values else None,
        )
        if params.backend is not Backend.TORCH:
            check_backend(params, reference)
        return params

    def __str__(self) -> str:
        """The canonical query: sorted by name, without defaults."""
        layers = ",".join(map(str, self.readout.layers))
        given = {
            "backend": None if self.backend is Backend.TORCH or self.file else self.backend.value,
            "document_prompt": self.document_prompt,
            "dtype": None if self.dtype is Dtype.FLOAT32 else self.dtype.value,
            "file": self.file,
            "layer": (f"mean({layers})" if "," in layers else layers) or None,
            "max_length": self.max_length,
            "passages": self.passages,
            "pooling": None if self.readout.pooling is Pooling.PUBLISHED else self.readout.written,
            "prompt": self.prompt,
            "query_prompt": self.query_prompt,
        }
        safe = {"passages": "/", "file": "/", "layer": "(),", "pooling": "+"}
        return "&".join(
            f"{name}={quote(str(value), safe=safe.get(name, ''))}" for name, value in given.items() if value is not None
        )


PARAMETERS = (
    *("backend", "document_prompt", "dtype", "file", "layer", "max_length", "passages", "pooling", "prompt"),
    "query_prompt",
)


def _layers_of(value: str, reference: str) -> tuple[int, ...]:
    """The layers of ``4`` or ``mean(2,5)``; raises ``InputError``."""
    match = re.fullmatch(r"([0-9]{1,4})|mean\(([0-9]{1,4}(?:,[0-9]{1,4})+)\)", value)
    layers = tuple(sorted(map(int, (match[1] or match[2]).split(",")))) if match else ()
    if value and (not layers or len(set(layers)) < len(layers)):
        raise InputError(
            f"layer is '{value}' in '{reference}'",
            expected="a layer, for example 4, or the mean of several, mean(2,5); 0 is the embeddings' output",
        )
    return layers


def layers_beside(readout: Readout, depth: int | None) -> list[Readout]:
    """Readouts of the other layers that the same forward pass gives, in order; empty for a mean of layers."""
    layers = range(depth + 1) if depth is not None and len(readout.layers) == 1 else ()
    return [replace(readout, layers=(layer,)) for layer in layers if (layer,) != readout.layers]


def check_layers(readout: Readout, depth: int | None, reference: str) -> None:
    """Raise ``InputError`` unless a transformer of ``depth`` layers (None: unknown) has the readout's layers."""
    if readout.layers and depth is None:
        raise InputError(f"'{reference}': config.json does not say how many layers it has", remedy="leave out layer")
    if depth is not None and (beyond := [layer for layer in readout.layers if layer > depth]):
        raise InputError(
            f"'{reference}' asks for layer {beyond[-1]:,}, and the model has {depth:,}",
            expected=f"a layer from 0 (the embeddings' output) to {depth:,}",
        )


def _backend_of(file: str, reference: str) -> Backend:
    """The back end of a graph in a model's folder; raises ``InputError`` if the file's name gives none."""
    path = PurePosixPath(file)
    if path.suffix not in GRAPHS or path.is_absolute() or ".." in path.parts or "\0" in file:
        raise InputError(
            f"file is '{file}' in '{reference}'",
            expected="a graph in the model's folder, for example onnx/model_qint8_avx512.onnx",
        )
    return GRAPHS[path.suffix]


def check_backend(params: ModelParams, reference: str) -> None:
    """Raise ``InputError`` for what only torch can do here."""
    if params.dtype is not Dtype.FLOAT32:
        raise InputError(
            f"'{reference}': the back end {params.backend} computes in float32",
            remedy="leave out dtype or backend",
        )
    if params.readout.pooling is Pooling.FIRST_LAST_AVG or params.readout.layers:
        raise InputError(
            f"'{reference}': the back end {params.backend} gives the last layer alone",
            remedy="leave out backend, or choose another pooling and no layer",
        )


@dataclass(frozen=True)
class DirReference:
    """``dir:PATH[?PARAMS]``: a model's folder on this machine, as an absolute path."""

    path: Path
    params: ModelParams

    @classmethod
    def parse(cls, reference: str) -> DirReference:
        """Raises ``InputError`` if there is no path or a parameter is wrong."""
        target, query = _split(reference)
        if not target:
            raise InputError("'dir:' names no folder", expected="dir:PATH, for example dir:models/my-encoder")
        require_name(target, "dir:PATH of a folder")
        try:
            if query and not _absolute(target).is_dir() and _absolute(f"{target}?{query}").is_dir():
                raise InputError(
                    f"'{reference}': a ? begins options, and the folder's name has one",
                    expected="a name without it",
                    remedy="rename the folder, or name a link to it (ln -s)",
                )
            return cls(_absolute(target), ModelParams.parse(query, reference))
        except (RuntimeError, OSError, ValueError) as error:  # no such user, a name too long
            raise InputError(f"'{reference}' names no folder: {error}", expected="dir:PATH") from error

    def __str__(self) -> str:
        return _joined(f"dir:{self.path}", self.params)


@dataclass(frozen=True)
class HubReference:
    """``hf:ORG/NAME[@REVISION][?PARAMS]``: a model of the hub; without a revision, its main branch."""

    repo: str
    revision: str
    params: ModelParams

    @classmethod
    def parse(cls, reference: str) -> HubReference:
        """Raises ``InputError`` if this names no repository or a parameter is wrong."""
        target, query = _split(reference)
        match = re.fullmatch(r"(\w[\w.-]*/\w[\w.-]*)(?:@(\w[\w./-]*))?", target, re.ASCII)
        if not match or ".." in target:
            raise InputError(
                f"'{reference}' names no model of the hub",
                expected="hf:ORG/NAME or hf:ORG/NAME@REVISION, for example hf:sentence-transformers/all-MiniLM-L6-v2",
            )
        return cls(match[1], match[2] or "", ModelParams.parse(query, reference))

    def __str__(self) -> str:
        return _joined(f"hf:{self.repo}" + (f"@{self.revision}" if self.revision else ""), self.params)


@dataclass(frozen=True)
class FileReference:
    """``vectors:PATH`` or ``table:PATH``: a file on this machine, as an absolute path.

    Attributes:
        are_distances: in ``run:PATH?scores=distance``, whether lower scores are better.
        readout: in ``vectors:PATH?pooling=mean+max``, how the vectors of a text's words become one.
    """

    scheme: str
    path: Path
    are_distances: bool = False
    readout: Readout = MEAN_OF_WORDS

    @classmethod
    def parse(cls, reference: str) -> FileReference:
        """Raises ``InputError`` if there is no path, an impossible one, or a parameter."""
        scheme, _, target = reference.partition(":")
        path, mark, query = target.partition("?")
        if not path:
            raise InputError(f"'{scheme}:' names no file", expected=f"{scheme}:PATH")
        require_name(target, f"{scheme}:PATH of a file")
        try:
            if mark and _absolute(target).exists():  # the mark is part of the name
                return cls(scheme, _absolute(target))
            if scheme == "run" and query in ("scores=distance", "scores=similarity"):
                return cls(scheme, _absolute(path), query == "scores=distance")
            if scheme == "vectors" and query.startswith("pooling="):
                return cls(
                    scheme, _absolute(path), readout=_of_words(unquote(query.removeprefix("pooling=")), reference)
                )
            if query:
                raise InputError(
                    f"'{reference}' has parameters ('?{query}'), and there is no file {_absolute(target)}",
                    expected=f"{scheme}:PATH, which takes {'none but pooling' if scheme == 'vectors' else 'none'}",
                    remedy=f"write {scheme}:{path}",
                )
            return cls(scheme, _absolute(path))
        except (OSError, ValueError, RuntimeError) as error:  # a name too long, a zero character, no such user
            raise InputError(f"'{reference}' names no file: {error}", expected=f"{scheme}:PATH") from error

    def __str__(self) -> str:
        pooled = "" if self.readout == MEAN_OF_WORDS else f"?pooling={self.readout.written}"
        return f"{self.scheme}:{self.path}" + "?scores=distance" * self.are_distances + pooled


def _of_words(pooling: str, reference: str) -> Readout:
    """The poolings of word vectors; raises ``InputError``."""
    readout = Readout.parse(pooling, "", reference)
    if not set(readout.poolings) <= set(OVER_TOKENS):
        raise InputError(
            f"'{reference}' pools word vectors by {pooling}",
            expected=f"one or several of {', '.join(_written(pooling) for pooling in OVER_TOKENS)}, such as mean+max",
        )
    return readout


def with_roles(reference: str, query: str, document: str) -> str:
    """A ``dir:`` or ``hf:`` reference with prompts for both roles; "" for other references."""
    kinds: dict[str, type[DirReference | HubReference]] = {"dir": DirReference, "hf": HubReference}
    kind = kinds.get(reference.partition(":")[0])
    if kind is None:
        return ""
    parsed = kind.parse(reference)
    return str(replace(parsed, params=replace(parsed.params, query_prompt=query, document_prompt=document)))


def _absolute(path: str) -> Path:
    return Path(os.path.abspath(Path(path).expanduser()))  # noqa: PTH100 - resolve() would follow links


def _split(reference: str) -> tuple[str, str]:
    target, _, query = reference.partition(":")[2].partition("?")
    return target, query


def _joined(target: str, params: ModelParams) -> str:
    query = str(params)
    return f"{target}?{query}" if query else target
