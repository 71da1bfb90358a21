"""Rows of two or more runs that were never computed, in place of a store, for tests of paired differences."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

import numpy as np
import pandas as pd

from blindspot.diagnostic import Diagnostic
from blindspot.store.records import RunRecord
from blindspot.store.repository import Repository
from blindspot.types import Bool, Float64, Int64
from tests.support.finding_runs import run_record


@dataclass
class MadeRows:
    """Per-item rows by run id; ``about`` has the columns of the dataset."""

    rows: dict[str, pd.DataFrame] = field(default_factory=dict)
    about: dict[str, pd.DataFrame] = field(default_factory=dict)

    def items(self, _: Diagnostic, run_ids: Sequence[str], *, texts: bool) -> pd.DataFrame:
        frames = []
        for run_id in run_ids:
            own = self.rows[run_id]
            if texts:
                own = own.join(self.about[run_id])
            frames.append(own.assign(run_id=run_id))
        return pd.concat(frames, ignore_index=True)

    def same_texts(self, _: str) -> Int64:
        """No two texts are the same."""
        return np.arange(3 * max(map(len, self.rows.values())))

    @property
    def repository(self) -> Repository:
        return cast("Repository", self)

    def _add(
        self,
        diagnostic: str,
        variant: str,
        rows: Mapping[str, Any],
        about: Mapping[str, Any],
        metrics: dict[str, float],
    ) -> RunRecord:
        run = run_record(diagnostic, variant, metrics=metrics)
        frame = pd.DataFrame(dict(rows))
        if "item_no" not in frame:
            frame.insert(0, "item_no", range(len(frame)))
        self.rows[run.run_id], self.about[run.run_id] = frame, pd.DataFrame(dict(about))
        return run

    def ranks(self, variant: str, greater: Int64, ends: tuple[Int64, Int64]) -> RunRecord:
        """EvalRank: items above each match; ``ends`` are the numbers of the pairs' texts."""
        none = np.zeros(len(greater), dtype=np.int64)
        rows = {"similarity": none + 0.5, "greater": greater, "ties": none, "greater_filtered": greater}
        texts = {side: [f"text {n}" for n in numbers] for side, numbers in zip(("query", "match"), ends, strict=True)}
        about = {"query_no": ends[0], "match_no": ends[1], **texts}
        value = float((1 / (1 + greater)).mean())
        return self._add("evalrank", variant, {**rows, "ties_filtered": none}, about, {"mrr": value})

    def distances(self, variant: str, distances: Float64, ends: tuple[Int64, Int64]) -> RunRecord:
        """Geometry: squared distances of matches."""
        about = {side: [f"text {n}" for n in numbers] for side, numbers in zip(("query", "match"), ends, strict=True)}
        metrics = {"align": float(distances.mean())}
        return self._add("geometry", variant, {"squared_distance": distances}, about, metrics)

    def orderings(self, variant: str, nearer: Bool) -> RunRecord:
        """HEROS: whether each original's synonym is nearer than its antonym."""
        n = len(nearer)
        cosine = np.stack([np.where(nearer, 0.9, 0.5), np.full(n, 0.7)], axis=1).ravel()
        rows = {
            "item_no": np.repeat(np.arange(n), 2),
            "original_no": np.repeat(np.arange(n), 2),
            "rewrite_no": n + np.arange(2 * n),
            "subset": ["synonym", "antonym"] * n,
            "cosine": cosine,
        }
        about = {
            "original": [f"original {i // 2}" for i in range(2 * n)],
            "rewrite": [f"text {i}" for i in range(2 * n)],
        }
        metrics = {"synonym>antonym": float(nearer.mean())}
        return self._add("heros", variant, {**rows, "similarity": cosine}, about, metrics)

    def similarities(self, variant: str, predicted: Float64, gold: Float64) -> RunRecord:
        """Similarity: of pairs that share no text."""
        n = len(gold)
        texts = {"first": [f"a {i}" for i in range(n)], "second": [f"b {i}" for i in range(n)]}
        about = {"set_name": ["all"] * n, "gold": gold, **texts}
        return self._add("similarity", variant, {"similarity": predicted}, about, {"spearman": 0.0})

    def predictions(self, variant: str, right: Bool) -> RunRecord:
        """Transfer: whether each of as many different examples is classified right."""
        n = len(right)
        rows = {"predicted": np.where(right, "yes", "no"), "probability": np.linspace(0.5, 1.0, n)}
        about = {"label": ["yes"] * n, "first": [f"text {i}" for i in range(n)], "second": [None] * n}
        metrics = {"accuracy": float(right.mean())}
        return self._add("transfer", variant, {**rows, "repeated": np.zeros(n, dtype=np.int32)}, about, metrics)
