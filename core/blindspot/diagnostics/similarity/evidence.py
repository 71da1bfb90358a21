"""Evidence on similarity: agreement with people, against word counts, by band and by negation.

A pair is called unrelated if its score is in the lowest fifth of the range of scores, equivalent if in the highest.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache

import numpy as np
import pandas as pd

from blindspot.diagnostics.similarity import words_alone
from blindspot.diagnostics.similarity.definition import ENTRY
from blindspot.diagnostics.similarity.pairs import SIDE_COLUMNS, ScoredTable
from blindspot.diagnostics.similarity.view import are_reversed
from blindspot.numerics.similarity import Similarity
from blindspot.numerics.statistics.against import change_against, correlation_against, difference_influence
from blindspot.numerics.statistics.association import spearman
from blindspot.numerics.statistics.correlations import centered_ranks, spearman_influences
from blindspot.numerics.statistics.estimate import Estimate
from blindspot.numerics.statistics.intervals import ALPHA, Interval, level_of_each
from blindspot.numerics.statistics.isotonic import isotonic
from blindspot.numerics.statistics.pairs import Dependence
from blindspot.numerics.statistics.written import number
from blindspot.numerics.words_alone import Words
from blindspot.runs.default_models import KNOW_NO_MEANING
from blindspot.runs.findings import MOST_EXAMPLES, Compared, Example, Material
from blindspot.runs.findings.baselines import AgainstBaseline, for_choice
from blindspot.runs.findings.evidence import REVERSED_SCORES, Evidence, Fact
from blindspot.runs.findings.parts import Rows, Together, low_coverage, one_way, rows_of, together
from blindspot.runs.findings.rule import Rival, by_chance
from blindspot.store.records import RunRecord
from blindspot.texts import is_negated
from blindspot.types import Bool, Float64, Int64

LEAST = 0.2  # rank correlation: a model below it does not follow people
END = 0.2  # of the range of scores: its unrelated and its equivalent pairs
FEWEST = 20  # pairs of a kind
HALF = 0.5  # share of unrelated pairs that are above equivalent ones by chance
INVERTED = 0.25  # share of unrelated pairs above equivalent ones, halfway between none and chance
HIGH = 0.5  # mean cosine of unrelated pairs
NARROW = 0.2  # width of the middle 90% of all cosines
BANDS = 5
OFF = 0.25  # standard deviations of the similarities: a band nearer to the line is on it


def evidence(material: Material) -> Iterator[Evidence]:
    """See ``Diagnostic.evidence``."""
    yield from low_coverage(material.runs)
    for group in together(material):
        yield from _of_dataset(group, rows_of(ENTRY, group.every, material.repository))


@dataclass(frozen=True, eq=False)
class _Pairs:
    """The pairs that a run scored.

    Attributes:
        places: ``[m]``, rows of the pairs.
        gold, similarity: ``[m]``.
        known: which pairs are independent.
    """

    run: RunRecord
    about: pd.DataFrame
    places: Int64
    gold: Float64
    similarity: Float64
    known: Dependence

    @property
    def unrelated(self) -> Bool:
        return np.asarray(self.gold <= self.gold.min() + END * np.ptp(self.gold))

    @property
    def equivalent(self) -> Bool:
        return np.asarray(self.gold >= self.gold.max() - END * np.ptp(self.gold))

    def evidence(
        self,
        kind: str,
        value: Estimate,
        p: float | None = None,
        against: tuple[Compared, ...] = (),
        telling: tuple[tuple[Example, ...], str] = ((), ""),
        **facts: Fact,
    ) -> Evidence:
        examples, item = telling
        return Evidence(kind, (self.run,), value, value.units, p, against, {**facts, "item": item}, examples)

    def telling(self, p: float, worst: Float64, among: Bool | None = None) -> tuple[tuple[Example, ...], str]:
        """Examples, the pairs with the highest values of ``worst [m]``, ``among`` some; and the row of the first.

        A result that cannot be significant has no examples: reading their texts takes time.
        """
        if p >= ALPHA:
            return (), ""
        places = np.arange(len(worst)) if among is None else np.flatnonzero(among)
        few = places[np.argsort(-worst[places], kind="stable")[:MOST_EXAMPLES]]
        rows = self.about.iloc[self.places[few]]
        metric = self.run.plan.params["metric"]
        examples = tuple(
            Example(
                (("first text", first), ("second text", second)),
                f"people {number(score, '.3g')}, {metric} {number(value)}",
            )
            for first, second, score, value in zip(
                rows["first"], rows["second"], self.gold[few], self.similarity[few], strict=True
            )
        )
        return examples, str(self.places[few[0]])


def _of_dataset(group: Together, rows: Rows) -> Iterator[Evidence]:
    gold = rows.about["gold"].to_numpy(dtype=np.float64)
    every = Dependence.of_texts(*(rows.about[name].fillna("") for name in ("first", "second")))
    similarity = {run.run_id: rows.numbers(run.run_id, "similarity") for run in group.every}

    @cache
    def known(shared: bytes) -> Dependence:
        return every.among(np.frombuffer(shared, dtype=np.bool_))

    @cache
    def moved(run_id: str, shared: bytes) -> tuple[float, Float64]:
        here = np.frombuffer(shared, dtype=np.bool_)
        x, y = similarity[run_id][here], gold[here]
        return spearman(x, y).value, spearman_influences(x, y)

    def pairs(run: RunRecord, here: Bool) -> _Pairs:
        places = np.flatnonzero(here).astype(np.int64)
        return _Pairs(run, rows.about, places, gold[here], similarity[run.run_id][here], known(here.tobytes()))

    @cache
    def alone(shared: bytes) -> tuple[ScoredTable, Mapping[Words, Float64]]:
        here = np.frombuffer(shared, dtype=np.bool_)
        table = ScoredTable(rows.about[here].reset_index(names="item_no")[SIDE_COLUMNS], {})
        return table, words_alone.of_table(table)

    if reversal := _reversed(group.runs, rows, similarity):
        yield reversal  # and nothing else: all other evidence takes the scores at their word
        return
    negated = _negated(rows.about)
    best = dict(_compared(group, rows, similarity, pairs, moved))
    by_words = {
        run.run_id: words_alone.against(pairs(run, here).similarity, values, table, known(here.tobytes()))
        for run in group.runs
        if run.plan.variant.encoder not in KNOW_NO_MEANING and np.count_nonzero(here := rows.has(run.run_id)) > 1
        for table, values in [alone(here.tobytes())]
    }

    def rivals(run: RunRecord) -> tuple[list[Compared], list[Float64]]:
        """How a run compares with rivals that know only spelling and words, and their similarities on its pairs."""
        learned, words, here = best.get(run.run_id), by_words.get(run.run_id), rows.has(run.run_id)
        compared = [other.compared for other in (learned, words) if other is not None]
        values = (
            [similarity[learned.best.run_id][here]] if learned and rows.has(learned.best.run_id)[here].all() else []
        )
        return compared, [*values, *([alone(here.tobytes())[1][words.best]] if words else [])]

    for run in group.runs:
        here = rows.has(run.run_id)
        pairs_here = pairs(run, here)
        if len(pairs_here.gold) < 2 or not np.ptp(pairs_here.gold) or not np.ptp(pairs_here.similarity):
            continue
        compared, others = rivals(run)
        order = list(_order(pairs_here, *moved(run.run_id, here.tobytes()), compared))
        yield from order
        yield from _narrow(pairs_here)
        yield from _line(pairs_here)
        if not any(comparison.against[0].behind < ALPHA for comparison in order):
            # Where there is no order at all, it adds nothing that the ends are mixed up.
            yield from _ends(pairs_here, others)
        if negated is not None:
            yield from _negation(pairs_here, negated[here])
    for run in group.runs:
        compared, _ = rivals(run)
        if rival := best.get(run.run_id):
            here = rows.has(run.run_id) & rows.has(rival.best.run_id)
            yield from _against_baseline(pairs(run, here), pairs(rival.best, here), rival, compared)
        if words := by_words.get(run.run_id):
            yield from words.evidence(run, compared)


def _reversed(runs: Sequence[RunRecord], rows: Rows, similarity: Mapping[str, Float64]) -> Evidence | None:
    here = np.logical_and.reduce([rows.has(run.run_id) for run in runs])
    table = ScoredTable(
        rows.about[here].reset_index(names="item_no")[SIDE_COLUMNS],
        {run.run_id: similarity[run.run_id][here] for run in runs},
    )
    if not are_reversed(runs[0].plan.dataset, table):
        return None
    highest = max(spearman(values, table.gold).value for values in table.similarity.values())
    return Evidence(REVERSED_SCORES, tuple(runs), highest, table.dependence.units, facts={"pairs": len(table.gold)})


def _compared(
    group: Together,
    rows: Rows,
    similarity: Mapping[str, Float64],
    pairs: Callable[[RunRecord, Bool], _Pairs],
    moved: Callable[[str, bytes], tuple[float, Float64]],
) -> Iterator[tuple[str, AgainstBaseline]]:
    """Runs against the best baseline, by run id; p is corrected for the choice of it, as in ``against_baselines``."""
    for run, base in group.against_best("spearman"):
        here = rows.has(run.run_id) & rows.has(base.run_id)
        pairs_here, other = pairs(run, here), similarity[base.run_id][here]
        if (
            len(pairs_here.gold) < 2
            or not np.ptp(pairs_here.gold)
            or not np.ptp(pairs_here.similarity)
            or not np.ptp(other)
        ):
            continue
        (rho, of_run), (low, of_base) = (moved(compared.run_id, here.tobytes()) for compared in (run, base))
        difference, p = change_against(rho - low, of_run - of_base, pairs_here.known)
        if not np.isnan(p):
            p = for_choice(p, len(group.baselines))
            chance = Compared(Rival.CHANCE, rho, correlation_against(rho, of_run, pairs_here.known, 0.0)[1])
            yield run.run_id, AgainstBaseline(rho, low, difference, p, chance, run, base)


# --- the order of all pairs


def _misjudged(pairs: _Pairs) -> Float64:
    """How far a pair's place by similarity is above its place by people's scores, in shares of all pairs, ``[m]``."""
    return (centered_ranks(pairs.similarity) - centered_ranks(pairs.gold)) / len(pairs.gold)


def _order(pairs: _Pairs, rho: float, moved: Float64, rivals: Sequence[Compared]) -> Iterator[Evidence]:
    estimate, p = correlation_against(rho, moved, pairs.known, LEAST)
    if np.isnan(p):
        return
    asked = Compared(Rival.ASKED, rho - LEAST, p)
    chance = Compared(Rival.CHANCE, rho, correlation_against(rho, moved, pairs.known, 0.0)[1])
    telling = pairs.telling(asked.behind, np.abs(_misjudged(pairs)))
    against = (asked, chance, *rivals)
    yield pairs.evidence("order-of-people", estimate, None, against, telling, pairs=len(pairs.gold), asked=LEAST)


def _against_baseline(
    pairs: _Pairs, other: _Pairs, against: AgainstBaseline, others: Sequence[Compared]
) -> Iterable[Evidence]:
    """The finding against a baseline; its examples are pairs that a worse run misjudges and the baseline does not."""
    worse = np.abs(_misjudged(pairs)) - np.abs(_misjudged(other))
    examples, item = pairs.telling(against.compared.behind, worse)
    return against.evidence(others, examples, item=item)


# --- the ends of the scale


def _ends(pairs: _Pairs, rivals: Sequence[Float64]) -> Iterator[Evidence]:
    low, high = pairs.unrelated, pairs.equivalent
    if min(np.count_nonzero(low), np.count_nonzero(high)) < FEWEST:
        return
    value, moved, dependence = _inverted(pairs, pairs.similarity, low, high)
    estimate, p = change_against(value, moved, dependence, INVERTED)
    if not np.isnan(p):
        asked = Compared(Rival.ASKED, INVERTED - value, p)
        chance = Compared(Rival.CHANCE, HALF - value, change_against(value, moved, dependence, HALF)[1])
        against = (asked, chance, *_less_inverted(pairs, value, moved, low, high, rivals))
        telling = pairs.telling(asked.behind, pairs.similarity, low)
        share = replace(estimate, interval=_share(estimate))
        yield pairs.evidence("unrelated-above-equivalent", share, None, against, telling, asked=INVERTED)
    if pairs.run.plan.params["metric"] != Similarity.COS:
        return
    mean = float(pairs.similarity[low].mean())
    few = pairs.known.among(low)
    estimate, p = change_against(mean, pairs.similarity[low] - mean, few, HIGH)
    if not np.isnan(p):
        p = one_way(p, is_news=mean > HIGH)
        telling = pairs.telling(p, pairs.similarity, low)
        equivalent = float(pairs.similarity[high].mean())
        yield pairs.evidence("unrelated-rated-high", estimate, p, (), telling, equivalent=equivalent, null=HIGH)


def _less_inverted(
    pairs: _Pairs, value: float, moved: Float64, low: Bool, high: Bool, rivals: Sequence[Float64]
) -> list[Compared]:
    """The rival that has the fewest unrelated pairs above equivalent ones; empty without rivals."""
    every = [_inverted(pairs, similarity, low, high) for similarity in rivals]
    if not every:
        return []
    least, of_rival, dependence = min(every, key=lambda candidate: candidate[0])
    _, p = change_against(value - least, moved - of_rival, dependence)
    return [Compared(Rival.BASELINE, least - value, for_choice(p, len(every)))]


def _inverted(pairs: _Pairs, similarity: Float64, low: Bool, high: Bool) -> tuple[float, Float64, Dependence]:
    """How often an unrelated pair is above an equivalent one, ties counting half, and each pair's influence on that."""
    below, above = np.sort(similarity[low]), np.sort(similarity[high])
    # For each unrelated pair the share of equivalent ones below it; for each equivalent one, of unrelated ones above.
    x = _below(above, similarity[low])
    y = 1 - _below(below, similarity[high])
    value, m = float(x.mean()), len(below) + len(above)
    moved = np.zeros(len(low))
    moved[low], moved[high] = (x - value) * m / len(below), (y - value) * m / len(above)
    both = low | high
    return value, moved[both], pairs.known.among(both)


def _below(ordered: Float64, values: Float64) -> Float64:
    """Share of the ``ordered`` values that are below each of ``values [m]``, equal ones counting half, ``[m]``."""
    left, right = np.searchsorted(ordered, values, "left"), np.searchsorted(ordered, values, "right")
    return np.asarray((left + right) / (2 * len(ordered)))


def _share(estimate: Estimate) -> Interval | None:
    ends = estimate.interval
    return None if ends is None else Interval(max(0.0, ends.low), min(1.0, ends.high))


# --- the scale itself


def _narrow(pairs: _Pairs) -> Iterator[Evidence]:
    low, high = (float(end) for end in np.quantile(pairs.similarity, [0.05, 0.95]))
    if pairs.run.plan.params["metric"] == Similarity.COS and high - low < NARROW:
        facts = {"low": low, "high": high, "narrow": NARROW, "pairs": len(pairs.gold)}
        yield Evidence("narrow-range", (pairs.run,), high - low, pairs.known.units, facts=facts)


def _line(pairs: _Pairs) -> Iterator[Evidence]:
    """The fifth of the scale where similarities are furthest from a straight line fitted to all of them."""
    if len(pairs.gold) < BANDS * FEWEST or pairs.run.plan.params["metric"] != Similarity.COS:
        return
    at = (pairs.gold - pairs.gold.min()) / np.ptp(pairs.gold)
    design = np.stack([np.ones(len(at)), at], axis=1)
    beta, *_ = np.linalg.lstsq(design, pairs.similarity, rcond=None)
    left = pairs.similarity - design @ beta
    spread = float(pairs.similarity.std())
    band = np.minimum((at * BANDS).astype(np.int64), BANDS - 1)
    tried = []
    for b in range(BANDS):
        inside = band == b
        if np.count_nonzero(inside) < FEWEST:
            continue
        weight = inside / np.count_nonzero(inside)
        # A pair also has an influence through the line.
        through = design @ np.linalg.solve(design.T @ design, design.T @ weight)
        value = float(left[inside].mean())
        influence = len(at) * (weight * (left - value) - (through - weight.sum() / len(at)) * left)
        null = float(np.sign(value)) * OFF * spread
        estimate, p = change_against(value, influence, pairs.known, null, level_of_each(BANDS))
        if not np.isnan(p):
            tried.append((one_way(p, is_news=abs(value) > OFF * spread), -abs(value), b, value, estimate))
    if not tried:
        return
    p, _, b, value, estimate = min(tried, key=lambda candidate: candidate[:3])
    p = min(1.0, len(tried) * p)
    inside = band == b
    lowest, width = float(pairs.gold.min()), float(np.ptp(pairs.gold)) / BANDS
    yield pairs.evidence(
        "band-off-the-line",
        estimate,
        p,
        (),
        pairs.telling(p, np.sign(value) * left, inside),
        is_above=value > 0,
        lowest=lowest + b * width,
        highest=lowest + (b + 1) * width,
        mean=float(pairs.similarity[inside].mean()),
        off=OFF,
        tried=len(tried),
    )


# --- negation


def _negated(about: pd.DataFrame) -> Bool | None:
    """Which pairs have a negation in one text only, ``[n]``; None where there are too few of them."""
    has: Mapping[str, bool] = {text: is_negated(text) for text in {*about["first"].dropna(), *about["second"].dropna()}}
    one_negated = np.array(
        [
            has.get(text, False) != has.get(other, False)
            for text, other in zip(about["first"], about["second"], strict=True)
        ]
    )
    return one_negated if np.count_nonzero(one_negated) >= FEWEST else None


def _negation(pairs: _Pairs, negated: Bool) -> Iterator[Evidence]:
    if min(np.count_nonzero(negated), np.count_nonzero(~negated)) < FEWEST:
        return
    left = pairs.similarity - isotonic(pairs.gold, pairs.similarity)
    value, moved = difference_influence(left, negated)
    estimate, p = change_against(value, moved, pairs.known)
    if np.isnan(p):
        return
    p = one_way(p, is_news=value > 0)
    yield pairs.evidence(
        "negation-too-similar",
        estimate,
        None,
        by_chance(-value, p),
        pairs.telling(p, left, negated),
        metric=str(pairs.run.plan.params["metric"]),
        pairs=int(negated.sum()),
        spread=float(pairs.similarity.std()),
    )
