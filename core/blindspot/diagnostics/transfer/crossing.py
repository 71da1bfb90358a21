"""Learning curves of several models on one task: accuracy by size, differences at each size, and where two cross."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, pairwise

import numpy as np
import pandas as pd

from blindspot.diagnostics.transfer.learning_curve import DRAWS, ENTRY, SIZES, accuracy
from blindspot.numerics.statistics import votes
from blindspot.numerics.statistics.estimate import Estimate
from blindspot.numerics.statistics.intervals import level_of_each
from blindspot.numerics.statistics.votes import Population
from blindspot.numerics.statistics.written import number
from blindspot.runs.findings import Material
from blindspot.runs.findings.evidence import Evidence
from blindspot.runs.findings.parts import low_coverage, together
from blindspot.store.records import RunRecord
from blindspot.store.repository import Repository
from blindspot.texts import listed
from blindspot.types import Bool, Int64
from blindspot.variants import Variant


@dataclass(frozen=True, eq=False)
class Curve:
    """The examples that a model's classifiers got right.

    Attributes:
        right: by size, ``[m, draws]``, for m tested examples.
        depends: ``[m]``: examples with the same number depend on each other.
    """

    run: RunRecord
    right: Mapping[int, Bool]
    depends: Int64

    def accuracy(self, size: int) -> Estimate:
        return accuracy(self.right[size], self.depends)


@dataclass(frozen=True)
class Gap:
    """How much more often the first of two models is right with ``size`` training examples; ``p`` is uncorrected, None
    where there is no test."""

    size: int
    difference: Estimate
    p: float | None

    @property
    def sign(self) -> int:
        """1 where the first is significantly better, -1 where the second is, else 0."""
        ends = self.difference.interval
        return 0 if ends is None else int(ends.low > 0) - int(ends.high < 0)


@dataclass(frozen=True)
class Crossing:
    """Two models at each size that both have, with intervals that hold for all sizes of all pairs at once."""

    a: RunRecord
    b: RunRecord
    gaps: tuple[Gap, ...]

    @property
    def between(self) -> tuple[int, int] | None:
        """The sizes between which the two change places significantly; None if they do not."""
        signs = [(gap.size, gap.sign) for gap in self.gaps if gap.sign]
        return next(((size, other) for (size, s), (other, t) in pairwise(signs) if s != t), None)


def curves(runs: Sequence[RunRecord], repository: Repository) -> list[Curve]:
    """The curves of finished runs over the same examples.

    Raises:
        BlindspotError: their rows are not in the store.
    """
    out = []
    by_run = dict(iter(repository.items(ENTRY, [run.run_id for run in runs], texts=False).groupby("run_id")))
    for run in runs:
        rows = by_run[run.run_id].sort_values("item_no")
        sizes = [size for size in SIZES if f"accuracy@{size}" in run.metrics]
        bits = {size: rows[f"right_{size}"].to_numpy(dtype=np.int64) for size in sizes}
        right = {size: (of[:, np.newaxis] >> np.arange(DRAWS) & 1).astype(np.bool_) for size, of in bits.items()}
        out.append(Curve(run, right, rows["depends"].to_numpy(dtype=np.int64)))
    return out


def points(runs: Sequence[RunRecord]) -> dict[Variant, pd.DataFrame]:
    """The stored accuracies of each model: ``size, value, low, high``; NaN where there is no interval."""
    out = {}
    for run in runs:
        accuracies = {size: ENTRY.measured(run.metrics, f"accuracy@{size}") for size in SIZES}
        rows = [(size, m.value, m.low, m.high) for size, m in accuracies.items() if m is not None]
        out[run.plan.variant] = pd.DataFrame(rows, columns=["size", "value", "low", "high"]).astype(
            {"low": np.float64, "high": np.float64}
        )
    return out


def crossings(lines: Sequence[Curve]) -> list[Crossing]:
    """The crossings of every two models."""
    pairs = list(combinations(lines, 2))
    among = sum(len(a.right.keys() & b.right.keys()) for a, b in pairs)
    return [crossing(a, b, among) for a, b in pairs]


def crossing(a: Curve, b: Curve, among: int) -> Crossing:
    """Two models over the same examples, with intervals that hold for ``among`` differences at once."""
    gaps = []
    for size in sorted(a.right.keys() & b.right.keys()):
        of = [
            votes.micro(curve.right[size].astype(np.float64), np.ones((len(curve.depends), DRAWS))) for curve in (a, b)
        ]
        assert of[0] is not None and of[1] is not None  # noqa: S101, PT018 - there are votes
        apart = votes.difference(of[0], of[1])
        gaps.append(Gap(size, *votes.difference_of(apart, a.depends, Population.RATERS, level_of_each(among))))
    return Crossing(a.run, b.run, tuple(gaps))


def in_words(where_crossed: Crossing, a: str, b: str) -> str:
    """A sentence on which of the two models, named ``a`` and ``b``, is better with how many examples."""
    sentences = [
        f"{first} is better than {second} with {listed([f'{g.size:,} ({_points(g, sign)})' for g in gaps])}"
        for first, second, sign in ((a, b, 1), (b, a, -1))
        if (gaps := [gap for gap in where_crossed.gaps if gap.sign == sign])
    ]
    if not sentences:
        return f"{a} and {b} do not differ significantly with any number of examples."
    where = where_crossed.between
    crossed = f" The curves cross between {where[0]:,} and {where[1]:,} examples." if where else ""
    return f"{'; '.join(sentences)}.{crossed}"


def _points(gap: Gap, sign: int) -> str:
    return number(sign * gap.difference.value, "+.1%")


def evidence(material: Material) -> Iterator[Evidence]:
    """See ``Diagnostic.evidence``. Two models are tested if each is ahead at some size: in each direction at the size
    that shows it best, corrected for the number of sizes. Both directions must be significant."""
    yield from low_coverage(material.runs)
    for group in together(material, on_same_items=True):
        learning_curves = curves(group.runs, material.repository)
        for a, b in combinations(learning_curves, 2):
            gaps = crossing(a, b, 1).gaps
            ahead, behind = ([g for g in gaps if g.p is not None and s * g.difference.value > 0] for s in (1, -1))
            if not ahead or not behind:
                continue
            best = [min(gaps_of, key=lambda g: g.p or 0.0) for gaps_of in (ahead, behind)]
            early, late = sorted(best, key=lambda g: g.size)
            first, second = (a, b) if early.difference.value > 0 else (b, a)
            p = min(1.0, len(gaps) * max(g.p or 0.0 for g in best))
            late_lead = next(gap for gap in crossing(second, first, 1).gaps if gap.size == late.size).difference
            yield Evidence(
                "curves-cross",
                (first.run, second.run),
                late_lead,
                late_lead.units,
                p=p,
                facts={
                    "before": abs(early.difference.value),
                    "early": early.size,
                    "late": late.size,
                    "sizes": len(gaps),
                    "draws": DRAWS,
                },
            )
