"""Static models: a text is the mean of its word pieces' vectors, as model2vec or sentence-transformers computes it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, cast

import numpy as np

from blindspot.encoders.base import EncoderIdentity, EncoderInfo, Encodings, Sibling, library_versions
from blindspot.encoders.references import DirReference, ModelParams
from blindspot.encoders.roles import role_prompts, without_roles
from blindspot.encoders.static.folder import OF_MODEL2VEC, OF_SENTENCE_TRANSFORMERS, StaticFolder
from blindspot.errors import InputError
from blindspot.types import CancelToken, Float32, Float64, Int64

TEXTS_AT_ONCE = 64


@dataclass(frozen=True, eq=False)
class _Table:
    """The loaded vectors ``[v, d]``, the row and the weight of each token ``[t]``, and the tokenizer.

    ``unknown`` is the token that is left out, ``longest`` the number of characters that are read; None for all.
    """

    vectors: Float32
    rows: Int64
    weights: Float64 | None
    tokenizer: Any
    unknown: int | None
    longest: int | None


@dataclass(frozen=True)
class StaticEncoder:
    """Looks word pieces up in a table and averages them in float64.

    ``max_length`` counts tokens; 0 for all. A text without tokens is the zero vector.
    """

    reference: str
    info: EncoderInfo
    source: StaticFolder
    max_length: int
    prompt: str
    encodes_alone = True

    @property
    def identity(self) -> EncoderIdentity:
        return EncoderIdentity(
            reference=self.reference,
            revision=self.source.revision,
            pooling=self.source.pooling,
            prompt=self.prompt,
            max_length=self.max_length,
            libraries=library_versions("tokenizers"),
        )

    @property
    def device(self) -> str:
        return "cpu"

    @property
    def family(self) -> tuple[Sibling, ...]:
        """This encoder alone."""
        return (Sibling(self.identity, self.info),)

    def load(self) -> None:
        _ = self._table

    def prompted(self, prompt: str, task: str = "") -> StaticEncoder:
        """See ``blindspot.encoders.roles.PromptedEncoder``; a table knows no task."""
        del task
        copy = replace(self, prompt=prompt)
        if "_table" in vars(self):
            vars(copy)["_table"] = self._table
        return copy

    def encode(self, texts: Sequence[str], cancel: CancelToken) -> Float32:
        return self.encode_family(texts, cancel).vectors[0]

    def encode_family(self, texts: Sequence[str], cancel: CancelToken) -> Encodings:
        """See ``Encoder.encode``."""
        out = np.zeros((len(texts), self.info.dimension), dtype=np.float32)
        truncated = 0
        for start in range(0, len(texts), TEXTS_AT_ONCE):
            cancel.check()
            some = [f"{self.prompt}{text}" for text in texts[start : start + TEXTS_AT_ONCE]]
            ids, cut = self._ids(some)
            truncated += cut
            out[start : start + len(some)] = self._means(ids)
        return Encodings((out,), truncated)

    def _ids(self, texts: Sequence[str]) -> tuple[list[list[int]], int]:
        """Tokens of each text, and how many texts were truncated."""
        table = self._table
        read = [text[: table.longest] for text in texts]
        encodings = table.tokenizer.encode_batch(read, add_special_tokens=False)
        pairs = zip(texts, read, encodings, strict=True)
        cut = sum(len(some) < len(text) or bool(encoding.overflowing) for text, some, encoding in pairs)
        return [[token for token in encoding.ids if token != table.unknown] for encoding in encodings], cut

    def _means(self, ids: Sequence[Sequence[int]]) -> Float64:
        table = self._table
        lengths = np.array([len(some) for some in ids])
        out = np.zeros((len(ids), self.info.dimension))
        has = lengths > 0
        if has.any():
            tokens = np.fromiter((token for some in ids for token in some), dtype=np.int64, count=lengths.sum())
            vectors = table.vectors[table.rows[tokens]].astype(np.float64)
            if table.weights is not None:
                vectors *= table.weights[tokens][:, None]
            starts = np.concatenate([[0], np.cumsum(lengths[has])[:-1]])
            out[has] = np.add.reduceat(vectors, starts, axis=0) / lengths[has][:, None]
        if self.source.is_normalized:
            norms = np.linalg.norm(out, axis=1, keepdims=True)
            out /= np.where(norms > 0, norms, 1)
        return out

    @cached_property
    def _table(self) -> _Table:
        from safetensors.numpy import load_file
        from tokenizers import Tokenizer

        source, revision = self.source, self.source.revision
        try:
            tensors = load_file(source.weights)
            tokenizer = Tokenizer.from_file(str(source.tokenizer))
        except Exception as error:  # the tokenizers library raises bare ones
            raise InputError(
                f"'{self.reference}': the folder {source.home} cannot be loaded: {error}",
                expected="a table of float32, float16 or int8, and a tokenizer",
            ) from error
        if replace(source).revision != revision:  # embeddings are stored under it
            raise InputError(
                f"'{self.reference}': the files in {source.path} changed while they were read", remedy="run it again"
            )
        tokenizer.no_padding()
        if self.max_length:
            tokenizer.enable_truncation(self.max_length)
        elif source.is_model2vec:
            tokenizer.no_truncation()
        vectors = tensors[OF_MODEL2VEC if source.is_model2vec else OF_SENTENCE_TRANSFORMERS].astype(np.float32)
        if not np.isfinite(vectors).all():  # a text with such a token would count as one without a vector
            raise InputError(
                f"'{self.reference}': the table of {source.home} has NaN or infinity",
                expected="finite numbers",
                remedy="its training may have diverged: take an earlier checkpoint; or copy the folder again",
            )
        mapping, weights = tensors.get("mapping"), tensors.get("weights")
        pieces = tokenizer.get_vocab()
        rows = np.arange(len(vectors)) if mapping is None else mapping.astype(np.int64)
        fits = max(pieces.values()) < len(rows) and rows.min() >= 0 and rows.max() < len(vectors)
        if not fits or (weights is not None and weights.shape != (len(rows),)):
            raise InputError(
                f"'{self.reference}': the tokenizer has {len(pieces):,} tokens, the table {len(vectors):,} rows for "
                f"{len(rows):,} tokens",
                expected="a row and a weight for each token",
            )
        limited = source.is_model2vec and self.max_length
        return _Table(
            vectors=vectors,
            rows=rows,
            weights=None if weights is None else weights.astype(np.float64),
            tokenizer=tokenizer,
            unknown=_unknown(tokenizer) if source.is_model2vec else None,
            longest=self.max_length * int(np.median([len(piece) for piece in pieces])) if limited else None,
        )


def _unknown(tokenizer: Any) -> int | None:
    """The id of the token for unknown words."""
    model = json.loads(tokenizer.to_str())["model"]
    if model.get("unk_token") is not None:
        return cast(int | None, tokenizer.token_to_id(model["unk_token"]))
    return cast(int | None, model.get("unk_id"))


def static_encoder(reference: DirReference, source: StaticFolder) -> StaticEncoder:
    """The encoder of an inspected folder.

    Raises:
        InputError: a parameter that only a transformer takes.
    """
    params = reference.params
    bare = ModelParams(params.max_length, params.prompt)
    bare = replace(bare, query_prompt=params.query_prompt, document_prompt=params.document_prompt)
    if params != bare:
        raise InputError(
            f"'{reference}' is a static model, without layers: it takes no dtype, pooling or backend",
            expected="max_length or prompts, at most",
        )
    roles = role_prompts(
        dict(source.prompts), params.prompt, params.query_prompt, params.document_prompt, default=source.prompt
    )
    unused = tuple(prompt for prompt in source.prompts if prompt[1] != source.prompt) if params.prompt is None else ()
    pieces, dimension = source.shape
    info = EncoderInfo(
        title=f"{reference.path.name} (static)",
        dimension=dimension,
        parameters=pieces * dimension,
        memory_bytes=4 * pieces * dimension,
        licence="not known here: see the model's card",
        citation=f"the model's card in {reference.path.as_uri()}",
        url=reference.path.as_uri(),
        unused_prompts=without_roles(unused) if roles and roles.given else unused,
        role_prompts=roles,
        assumed=(f"its table is {source.precision}, and is averaged in more digits than its library takes",)
        if source.precision.endswith("16")
        else (),
    )
    prompt = source.prompt if params.prompt is None else params.prompt
    return StaticEncoder(str(reference), info, source, params.max_length or source.max_length, prompt)
