"""Inspection of folders of static models, a table of word pieces: model2vec, or StaticEmbedding of
sentence-transformers."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from blindspot.encoders.source_files import sha256_once
from blindspot.encoders.transformer.folder import (
    PACKAGE,
    PRECISIONS,
    declared_prompts,
    refuse_outside,
    refuse_remote_code,
    settings_of,
)
from blindspot.errors import InputError
from blindspot.types import digest_of_strings

MODULE = "StaticEmbedding"
NORMALIZE = "Normalize"
OF_MODEL2VEC, OF_SENTENCE_TRANSFORMERS = "embeddings", "embedding.weight"  # names of the table
DEFAULT_MAX_LENGTH = 512  # of model2vec


@dataclass(frozen=True)
class StaticFolder:
    """A static model's folder that is fit to load.

    Attributes:
        path: the folder that was named.
        home: the folder of ``model.safetensors`` and ``tokenizer.json``, possibly below.
        is_model2vec: whether unknown tokens are left out and texts truncated, as model2vec does.
        shape: word pieces and dimensions of the table.
        precision: of the table; "" for whole numbers.
        is_normalized: whether the vectors are normalized.
        max_length: tokens after which a text is truncated; 0 for never.
        prompts: (name, text) of all declared prompts, and the one before every text.
    """

    path: Path
    home: Path
    is_model2vec: bool
    shape: tuple[int, int]
    precision: str
    is_normalized: bool
    max_length: int
    prompts: tuple[tuple[str, str], ...]
    prompt: str

    @property
    def weights(self) -> Path:
        return self.home / "model.safetensors"

    @property
    def tokenizer(self) -> Path:
        return self.home / "tokenizer.json"

    @property
    def pooling(self) -> str:
        mean = "mean of word pieces, unknown ones left out" if self.is_model2vec else "mean of word pieces"
        return f"{mean}, L2-normalized" if self.is_normalized else mean

    @cached_property
    def revision(self) -> str:
        """A digest of what decides the vectors."""
        names = ("config.json", "modules.json", "config_sentence_transformers.json")
        files = [self.weights, self.tokenizer, *(f for name in names if (f := self.path / name).is_file())]
        parts = [part for f in files for part in (f.relative_to(self.path).as_posix(), sha256_once(f))]
        return digest_of_strings(parts)[:16]


def static_folder(path: Path, reference: str) -> StaticFolder | None:
    """Inspect the folder of a static model; None if it is of another kind. Runs nothing.

    Raises:
        InputError: it is damaged, or leads out of itself.
    """
    try:
        return _inspected(path, reference) if path.is_dir() else None
    except OSError as error:
        raise InputError(f"'{reference}': cannot read {error.filename}: {error.strerror}") from error


def _inspected(path: Path, reference: str) -> StaticFolder | None:
    rows = settings_of(path / "modules.json", reference, of_any_type=True)
    rows = rows if isinstance(rows, list) else []
    types = [str(row.get("type", "")) if isinstance(row, dict) else "" for row in rows]
    kinds = [kind.rpartition(".")[2] if kind.startswith(PACKAGE) else kind for kind in types]
    config = settings_of(path / "config.json", reference)
    if kinds[:1] != [MODULE] and (kinds or config.get("model_type") != "model2vec"):
        return None
    sentence = settings_of(path / "config_sentence_transformers.json", reference)
    if set(kinds[1:]) - {NORMALIZE} or sentence.get("truncate_dim"):  # sentence-transformers encodes these itself
        return None
    refuse_outside(path, path, reference)
    below = str(rows[0].get("path", "")) if rows else ""
    if Path(below).is_absolute() or ".." in Path(below).parts:
        raise InputError(f"'{reference}': modules.json leads out of the folder: {below!r}")
    home = path / below
    refuse_outside(home, path, reference)
    for name, value in (("config.json", config), ("config_sentence_transformers.json", sentence)):
        refuse_remote_code(value, path / name, reference)
    for name in ("model.safetensors", "tokenizer.json"):
        if not (home / name).is_file():
            raise InputError(f"'{reference}': {home} has no {name}", expected="a table of word pieces, its tokenizer")
    table, shape, dtype = _table(home / "model.safetensors", reference)
    is_model2vec = table == OF_MODEL2VEC
    default, prompts = declared_prompts(sentence, reference)
    # model2vec reads config.json, sentence-transformers the list of modules.
    declared = config if is_model2vec else {"normalize": NORMALIZE in kinds, "max_length": None}
    longest = declared.get("max_length", DEFAULT_MAX_LENGTH)
    if longest is not None and not (isinstance(longest, int) and longest > 0):
        raise InputError(
            f"'{reference}': max_length is {str(longest)[:40]} in config.json", expected="a number of tokens"
        )
    return StaticFolder(
        path=path,
        home=home,
        is_model2vec=is_model2vec,
        shape=shape,
        precision=PRECISIONS.get(dtype, ""),
        is_normalized=bool(declared.get("normalize", False)),
        max_length=longest or 0,
        prompts=tuple(prompts.items()),
        prompt=prompts.get(default, ""),
    )


def _table(weights: Path, reference: str) -> tuple[str, tuple[int, int], str]:
    """Name of the table, the number of tokens with its dimensions, and the type of its numbers."""
    from safetensors import SafetensorError, safe_open

    try:
        with safe_open(weights, framework="numpy") as tensors:
            slices = {name: tensors.get_slice(name) for name in tensors.keys()}  # noqa: SIM118 - no dict
            shapes = {name: tensor.get_shape() for name, tensor in slices.items()}
            types = {name: tensor.get_dtype() for name, tensor in slices.items()}
    except (SafetensorError, OSError) as error:
        raise InputError(
            f"'{reference}': {weights} is damaged or cut short ({weights.stat().st_size:,} bytes): {error}",
            expected="a whole safetensors file",
            remedy="copy or download it again",
        ) from error
    table = next((name for name in (OF_MODEL2VEC, OF_SENTENCE_TRANSFORMERS) if len(shapes.get(name, ())) == 2), None)
    if table is None:
        raise InputError(
            f"'{reference}': {weights.name} has no table of word pieces", expected=f"a matrix named {OF_MODEL2VEC}"
        )
    return table, (shapes[table][0], shapes[table][1]), types[table]
