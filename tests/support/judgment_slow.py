"""The rules of judgment's items, item by item in float64: what the real ones are compared with."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from blindspot.numerics.similarity import Similarity
from blindspot.studies.judgments.rules import Closeness, Quartet, Reason, Rule
from blindspot.texts import near_duplicate_key
from blindspot.types import Float64


@dataclass
class Slow:
    """A vocabulary in one space; items that are not ``usable`` are nobody's neighbors."""

    texts: Sequence[str]
    counts: Sequence[float]
    vectors: Float64
    metric: Similarity = Similarity.COS
    usable: Sequence[int] | None = None

    def same(self, i: int, j: int) -> bool:
        one, other = self.texts[i], self.texts[j]
        return one == other or (near_duplicate_key(one) == near_duplicate_key(other) != "")

    def similarity(self, i: int, j: int) -> float:
        a, b = self.vectors[i], self.vectors[j]
        if self.metric is Similarity.L2:
            return 1 / (1 + float(np.sqrt(((a - b) ** 2).sum())))
        return float(a @ b / np.sqrt((a @ a) * (b @ b)))

    def ranked(self, query: int) -> list[int]:
        others = [i for i in (self.usable or range(len(self.texts))) if i != query]
        return sorted(others, key=lambda i: (-round(self.similarity(query, i), 12), i))

    def neighbors(self, query: int) -> list[int]:
        out: list[int] = []
        for i in self.ranked(query):
            if not self.same(i, query) and not any(self.same(i, j) for j in out):
                out.append(i)
        return out

    def intruder(self, query: int, rule: Rule, start: int) -> Quartet | Reason:
        near = self.neighbors(query)
        if len(near) < start:
            return Reason.TOO_FEW
        three = [self.counts[i] for i in (query, near[0], near[1])]
        if any(math.isnan(f) for f in three):
            return Reason.UNKNOWN
        mean = sum(three) / 3
        for i in near[start - 1 :]:
            f = self.counts[i]
            apart = abs(math.log10(f) - math.log10(mean)) if rule.closeness is Closeness.LOG10 else abs(f - mean)
            if apart <= rule.tolerance:  # never if f is NaN
                return Quartet((near[0], near[1]), i)
        return Reason.NO_INTRUDER
