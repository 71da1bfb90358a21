"""Repairs as transforms: linear maps that were trained on triplets of texts, kept under an id of their content.

Their training is in ``blindspot.studies.repair``. Unlike a flow, a repair does not depend on the items that it is
applied to; an id always means the same numbers.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from blindspot.encoders.base import EncoderIdentity
from blindspot.errors import BlindspotError, InputError
from blindspot.files.artifacts import Artifacts
from blindspot.numerics.principal import blocks
from blindspot.types import Float32, Float64, digest_of_strings

FOLDER = "repairs"  # beside the folder of flows


@dataclass(frozen=True, eq=False)
class Repair:
    """A map ``x M`` of vectors, a step of a transform chain.

    Attributes:
        matrix: ``[d, d] float32``, M.
        model: digest of the model that made the vectors for its training (``model_digest``).
        data: digest of the triplets that it was trained on, and of the settings.
    """

    matrix: Float32
    model: str
    data: str

    step: ClassVar[str]

    @property
    def repair_id(self) -> str:
        """Digest of its content, so that an id never means other numbers."""
        sha = hashlib.sha256(f"{self.step} {self.model} {self.data} {self.matrix.shape} ".encode())
        sha.update(np.ascontiguousarray(self.matrix, dtype="<f4").tobytes())
        return sha.hexdigest()[:12]

    @property
    def chain(self) -> str:
        """The transform chain that applies it."""
        return f"{self.step}:{self.repair_id}"

    @property
    def d_out(self) -> int:
        return len(self.matrix)

    @property
    def facts(self) -> Mapping[str, Any]:
        return {"trained_on": self.data, "moved": moved(self.matrix)}

    def apply(self, embeddings: Float32) -> Float32:
        raise NotImplementedError

    def _mapped(self, embeddings: Float32) -> Float32:
        matrix = self.matrix.astype(np.float64)
        out = np.empty((len(embeddings), self.d_out), dtype=np.float32)
        for part, block in blocks(embeddings):
            out[part] = block @ matrix
        return out


class RepairOfAll(Repair):
    """A map for all texts."""

    step = "repair"

    def apply(self, embeddings: Float32) -> Float32:
        return self._mapped(embeddings)

    def of_parts(self, parts: Float64, shares: Float64) -> Float64:  # noqa: ARG002 - see LinearStep
        return np.asarray(parts @ self.matrix.astype(np.float64))


class RepairOfQueries(Repair):
    """A map for queries only; documents stay as they are."""

    step = "repair-queries"

    def apply(self, embeddings: Float32) -> Float32:
        return embeddings

    def apply_to_queries(self, embeddings: Float32) -> Float32:
        return self._mapped(embeddings)


KINDS: Mapping[str, type[Repair]] = {kind.step: kind for kind in (RepairOfAll, RepairOfQueries)}


def moved(matrix: Float32) -> float:
    """Distance of a map ``M`` from the identity: the Frobenius norm of ``M - I``, as a share of the norm of I."""
    d = len(matrix)
    return float(np.linalg.norm(matrix.astype(np.float64) - np.eye(d)) / np.sqrt(d))


def model_digest(identity: EncoderIdentity) -> str:
    """Digest of a model that does not depend on its name or the libraries that run it."""
    return digest_of_strings([identity.revision, identity.pooling, identity.prompt])[:32]


def keep(repair: Repair, folder: Path) -> None:
    """Write a repair under its id; raises ``BlindspotError`` if the disk refuses."""
    _KEPT.keep(_path(folder, repair.repair_id), repair)


def forget(repair: Repair, folder: Path) -> None:
    """Remove the repair's file."""
    _path(folder, repair.repair_id).unlink(missing_ok=True)


def find(folder: Path, repair_id: str) -> Repair | None:
    """The repair with an id, or None; raises ``DataCorrupt`` if its file is damaged."""
    return _KEPT.read(_path(folder, repair_id))


def load(folder: Path, step: str, repair_id: str, dimension: int) -> Repair:
    """The repair with an id.

    Args:
        step: its name in the chain, which says whether it is for queries only.
        dimension: of the vectors to repair.

    Raises:
        InputError: it is of the other kind, or for another dimension.
        BlindspotError: it is not here any more.
        DataCorrupt: its file is damaged.
    """
    repair = find(folder, repair_id)
    if repair is None:
        raise BlindspotError(
            f"the repair {repair_id} is not on this machine",
            remedy="train it again on the page Repair, or with blindspot repair: the same data give the same repair",
        )
    if repair.step != step:
        raise InputError(f"the repair {repair_id} was used as '{step}'", expected=f"'{repair.chain}'")
    if repair.d_out != dimension:
        raise InputError(
            f"the repair {repair_id} is of vectors of {repair.d_out:,} dimensions, and these have {dimension:,}",
            expected="the model that it was trained for",
        )
    return repair


def _path(folder: Path, repair_id: str) -> Path:
    return folder / f"{repair_id}.npz"


def _to_arrays(repair: Repair) -> dict[str, Any]:
    return {"matrix": repair.matrix, "model": repair.model, "data": repair.data, "step": repair.step}


def _of_arrays(stored: Mapping[str, Any]) -> Repair:
    kind = KINDS[str(stored["step"])]
    matrix = np.asarray(stored["matrix"], dtype=np.float32)
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1] or not np.isfinite(matrix).all():
        raise ValueError("its matrix is no square of numbers")
    return kind(matrix, str(stored["model"]), str(stored["data"]))


_KEPT = Artifacts(_to_arrays, _of_arrays, named="repair")
