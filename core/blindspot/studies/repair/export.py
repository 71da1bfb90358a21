"""Export of a repaired model as a folder that sentence-transformers loads.

The map is a ``Dense`` layer without bias or activation after the model's own modules; cosines do not depend on where
vectors are scaled to unit length, so a ``Normalize`` at the end is repeated after it. A map of queries alone is no one
model: two folders are written, ``queries`` and ``documents``, which is the model as it was.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from blindspot.encoders.base import Encoder
from blindspot.encoders.references import Dtype
from blindspot.encoders.transformer.encoder import SentenceTransformerEncoder
from blindspot.encoders.transformer.hub import HubEncoder, snapshot
from blindspot.errors import BlindspotError, InputError
from blindspot.files.writing import check_new_folder
from blindspot.numerics.similarity import unit_vectors
from blindspot.transforms.repairs import Repair, RepairOfQueries
from blindspot.types import CancelToken

QUERIES, DOCUMENTS = "queries", "documents"
PROBES = (
    "A man is playing a guitar.",
    "A man is not playing a guitar.",
    "The meeting was moved to Thursday.",
    "Prices rose by three percent last year, more than anybody had expected.",
)
AGREEMENT = 1e-5  # of cosines; the folder is refused beyond


def check_model(encoder: Encoder) -> Path:
    """The folder of a model that sentence-transformers can load; raises ``InputError`` for another model."""
    name = encoder.identity.reference
    if isinstance(encoder, HubEncoder):
        folder = snapshot(encoder.reference, encoder.settings)
    elif isinstance(encoder, SentenceTransformerEncoder):
        folder = encoder.folder
    else:
        raise InputError(
            f"'{name}' is no model that sentence-transformers loads", expected="minilm, or a model named dir: or hf:"
        )
    if encoder.identity.prompt or encoder.identity.dtype != Dtype.FLOAT32.value:
        raise InputError(
            f"'{name}' has a prompt or a precision of its own, which the folder could not say",
            expected="the model without parameters",
        )
    return folder


def write(repair: Repair, encoder: Encoder, folder: Path) -> tuple[Path, ...]:
    """Write the repaired model; returns the folders to load.

    Raises:
        InputError: the folder is in use, or the model is none that sentence-transformers loads.
        BlindspotError: the folder could not be written, or gives other cosines than the repair: the model pools
            otherwise than its folder says. What was written stays.
    """
    check_new_folder(folder)
    source = check_model(encoder)
    parts = {QUERIES: True, DOCUMENTS: False} if isinstance(repair, RepairOfQueries) else {"": True}
    try:
        for part, is_mapped in parts.items():
            model = _loaded(source)
            if encoder.identity.max_length:
                model.max_seq_length = encoder.identity.max_length
            if is_mapped:
                _append(model, repair)
            model.save_pretrained(str(folder / part), create_model_card=False)
    except OSError as error:
        raise BlindspotError(f"{folder} cannot be written: {error}", remedy="choose another folder") from error
    paths = tuple(folder / part for part in parts)
    for path, is_mapped in zip(paths, parts.values(), strict=True):
        _check(path, repair if is_mapped else None, encoder)
    return paths


def _loaded(folder: Path) -> Any:
    from sentence_transformers import SentenceTransformer
    from transformers.utils import logging

    logging.disable_progress_bar()
    return SentenceTransformer(str(folder), device="cpu", local_files_only=True)


def _append(model: Any, repair: Repair) -> None:
    """Put the map after the model's modules."""
    import torch
    from sentence_transformers.sentence_transformer.modules import Dense, Normalize

    d = len(repair.matrix)
    weight = torch.from_numpy(np.ascontiguousarray(repair.matrix.T))
    dense = Dense(d, d, bias=False, activation_function=torch.nn.Identity(), init_weight=weight)
    is_normalized = isinstance(model[-1], Normalize)
    model.append(dense)
    if is_normalized:
        model.append(Normalize())


def _check(folder: Path, repair: Repair | None, encoder: Encoder) -> None:
    """Compare the folder's cosines with those of the repair."""
    vectors = encoder.encode(PROBES, CancelToken())
    if repair is not None:
        vectors = repair.apply_to_queries(vectors) if isinstance(repair, RepairOfQueries) else repair.apply(vectors)
    theirs = np.asarray(_loaded(folder).encode(list(PROBES), convert_to_numpy=True), dtype=np.float32)
    if theirs.shape != vectors.shape:
        raise BlindspotError(f"{folder} gives vectors of another dimension than the model", remedy="do not use it")
    a, b = unit_vectors(vectors).astype(np.float64), unit_vectors(theirs).astype(np.float64)
    off = float(np.abs(a @ a.T - b @ b.T).max())
    if off > AGREEMENT:
        raise BlindspotError(
            f"{folder} gives other cosines than the repair, by up to {off:.1g}: the model is used here "
            "otherwise than its folder says",
            remedy="name the model without parameters such as pooling=",
        )
