"""MiniLM on the sets that change the meaning: a part of each, its scores against a slow loop.

The whole sets were measured with ``blindspot sweep meaning``; their scores are in docs/guides/quote.md.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from blindspot.datasets import fetch
from blindspot.datasets.catalog import find_dataset
from blindspot.datasets.kinds.minimal_pairs import MinimalPairSet
from blindspot.datasets.published.meaning_changes import MEANING_CHANGES
from blindspot.diagnostic import find_diagnostic
from blindspot.diagnostics.heros.definition import RIGHT
from blindspot.encoders.catalog import resolve_encoder
from blindspot.settings import Settings
from blindspot.types import CancelToken, no_progress

ORIGINALS, PAIRS = 30, 80
pytestmark = pytest.mark.realdata


def part_of(dataset: Any) -> Any:
    """Some rows over the whole dataset, their texts renumbered."""
    if isinstance(dataset, MinimalPairSet):
        rows = np.linspace(0, len(dataset.originals) - 1, ORIGINALS).astype(int)
        columns = {"": dataset.originals[rows], **{s: numbers[rows] for s, numbers in dataset.rewrites.items()}}
    else:
        rows = np.linspace(0, len(dataset.scores) - 1, PAIRS).astype(int)
        columns = {"firsts": dataset.firsts[rows], "seconds": dataset.seconds[rows]}
    used = sorted({int(number) for column in columns.values() for number in column})
    place = {number: i for i, number in enumerate(used)}
    new = {name: np.array([place[int(n)] for n in column], dtype=np.int32) for name, column in columns.items()}
    common = {"items": tuple(dataset.items[number] for number in used), "own_columns": ()}
    if isinstance(dataset, MinimalPairSet):
        return replace(dataset, **common, originals=new.pop(""), rewrites=new)
    return replace(
        dataset,
        **common,
        **new,
        scores=dataset.scores[rows],
        set_numbers=np.zeros(len(rows), dtype=np.int32),
        sets=("all",),
    )


def cosine(a: list[float], b: list[float]) -> float:
    return math.fsum(x * y for x, y in zip(a, b, strict=True)) / math.sqrt(
        math.fsum(x * x for x in a) * math.fsum(y * y for y in b)
    )


def ranks(values: list[float]) -> list[float]:
    """From 1; equal values share the mean of theirs."""
    return [sum(other < v for other in values) + (sum(other == v for other in values) + 1) / 2 for v in values]


# One of each kind and source is tried with every change, the others in make trust.
CHECKED = {"sugarcrepe-pp", "xnli-negation-zh", "sts3k"}


@pytest.mark.parametrize(
    "name", [name if name in CHECKED else pytest.param(name, marks=pytest.mark.slow) for name in MEANING_CHANGES]
)
def test_scores_of_minilm(shared_settings: Settings, name: str) -> None:
    part = part_of(fetch.load(find_dataset(name), shared_settings))
    vectors = resolve_encoder("minilm", shared_settings).encode(list(part.items), CancelToken())
    slow = vectors.astype(np.float64).tolist()
    if isinstance(part, MinimalPairSet):
        found = find_diagnostic("heros").compute(vectors, part, {}, no_progress, CancelToken()).metrics
        right = 0.0
        for place, original in enumerate(part.originals.tolist()):
            values = [cosine(slow[original], slow[int(numbers[place])]) for numbers in part.rewrites.values()]
            first = [value >= max(values) - 1e-6 for value in values]
            right += first[0] / sum(first)
        assert part.subsets[0] in RIGHT
        assert found["accuracy"] == pytest.approx(right / ORIGINALS, abs=1e-9)
        return
    params = {"metric": "cos", "protocol": "definition"}
    found = find_diagnostic("similarity").compute(vectors, part, params, no_progress, CancelToken()).metrics
    firsts, seconds = part.firsts.tolist(), part.seconds.tolist()
    values = [round(cosine(slow[a], slow[b]), 6) for a, b in zip(firsts, seconds, strict=True)]
    own, gold = ranks(values), ranks(part.scores.tolist())
    middle = (PAIRS + 1) / 2
    centered = [[rank - middle for rank in side] for side in (own, gold)]
    assert found["spearman"] == pytest.approx(cosine(*centered), abs=1e-6)
