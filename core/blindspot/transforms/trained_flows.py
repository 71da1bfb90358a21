"""Trained flows on disk: training takes a minute, so a run does it once, for all readers of its space.

A flow is kept under a digest of the items that it was trained on and the steps before it. Pages and other readers only
load flows (``StoredFlows``); training a flow shows progress and can be cancelled (``TrainedFlows``).
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from blindspot.errors import BlindspotError
from blindspot.files.artifacts import Artifacts
from blindspot.transforms import flow as network
from blindspot.transforms import repairs
from blindspot.transforms.flow import Curve, Flow
from blindspot.transforms.repairs import FOLDER, Repair
from blindspot.types import CancelToken, Float32, Progress

VERSION = 1  # raise it whenever the same items give another flow
_WEIGHT = "weight:"  # prefix of the names of weights in a file


class NotTrained(BlindspotError):
    """The flow has not been trained here yet."""

    def __init__(self) -> None:
        super().__init__(
            "the flow of exactly these items was not trained yet, which takes a run",
            remedy="run a diagnostic with this transform on this dataset first (page Run, or blindspot run)",
        )


@dataclass(frozen=True)
class StoredFlows:
    """The flows in a folder. Reads only."""

    folder: Path

    def flow(self, items: Float32, before: str, made: Float32) -> Flow:
        """The flow of some items (``[n, d]``) after the chain ``before``, which turns them into ``made`` (``[n, d']``).

        Raises:
            InputError: there are too few items to train a flow.
            NotTrained: it was not trained yet.
            DataCorrupt: its file is damaged.
        """
        network.check(made)
        flow = self.read(key_of(items, before))
        if flow is None:
            raise NotTrained
        return flow

    def repair(self, step: str, repair_id: str, dimension: int) -> Repair:
        """A repair, kept in a folder beside the folder of flows; raises what ``repairs.load`` does."""
        return repairs.load(self.folder.with_name(FOLDER), step, repair_id, dimension)

    def read(self, key: str) -> Flow | None:
        """The flow stored under a key, or None; raises ``DataCorrupt`` if the file is damaged."""
        return _KEPT.read(self._path(key))

    def _path(self, key: str) -> Path:
        return self.folder / f"{key}.npz"


@dataclass(frozen=True)
class TrainedFlows(StoredFlows):
    """The flows in a folder; missing ones are trained and kept."""

    progress: Progress
    cancel: CancelToken

    def flow(self, items: Float32, before: str, made: Float32) -> Flow:
        """See ``StoredFlows.flow``.

        Raises:
            Cancelled: while it is trained, or while another thread or process trains the same.
        """
        network.check(made)
        path = self._path(key_of(items, before))
        return _KEPT.make_once(path, lambda: network.train(made, self.progress, self.cancel), self.cancel, mend=False)


def key_of(items: Float32, before: str) -> str:
    """Digest of everything that determines a flow: items (``[n, d]``) to the last bit, steps before it, version."""
    sha = hashlib.sha256(f"{VERSION} {before} {items.shape} ".encode())
    for start in range(0, len(items), 8_192):
        sha.update(np.ascontiguousarray(items[start : start + 8_192], dtype="<f4").tobytes())
    return sha.hexdigest()[:32]


def _to_arrays(flow: Flow) -> dict[str, Any]:
    curve = flow.curve
    return {
        "mean": flow.mean,
        "scale": flow.scale,
        "steps": curve.steps,
        "train": curve.train,
        "held_out": curve.held_out,
        **{f"{_WEIGHT}{name}": value for name, value in flow.weights.items()},
    }


def _of_arrays(stored: Mapping[str, Any]) -> Flow:
    weights = {name.removeprefix(_WEIGHT): stored[name] for name in stored if name.startswith(_WEIGHT)}
    curve = Curve(stored["steps"], stored["train"], stored["held_out"])
    return Flow(stored["mean"], stored["scale"], weights, curve)


_KEPT = Artifacts(_to_arrays, _of_arrays, named="flow")
