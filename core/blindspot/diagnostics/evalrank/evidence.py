"""Evidence on EvalRank: kinds of pair that a run misses, what comes first instead of the match, what distorts a score.

What is tested of a run is fixed before its rows are read, so that the p-values can be corrected for all that was looked
at (``blindspot.runs.findings``): per way of sorting pairs the worst kind against the rest, what the first-ranked texts
of missed pairs have in common, how often they are the same, and the score against the best baseline's. The rest are
counted facts. Ranks are filtered unless stated otherwise: what they leave out is not a mistake of the model.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from types import MappingProxyType

import numpy as np

from blindspot.datasets import fetch, training_overlap
from blindspot.datasets.catalog import DATASETS, SOURCES, catalogued
from blindspot.datasets.kinds.minimal_pairs import after_the
from blindspot.datasets.kinds.own_columns import OwnColumn
from blindspot.datasets.kinds.scored_pairs import ScoredPairs
from blindspot.datasets.word_frequency import zipf_of
from blindspot.diagnostics.evalrank import further, trust
from blindspot.diagnostics.evalrank.definition import ENTRY
from blindspot.diagnostics.evalrank.kinds import Kind, choices_of, grouping
from blindspot.diagnostics.evalrank.outranking import (
    Families,
    FirstRanked,
    Pairs,
    families_of,
    first_ranked,
    pairs_of_run,
)
from blindspot.diagnostics.evalrank.pairs import RunRows, rows_of_runs
from blindspot.diagnostics.evalrank.sources import PairSources, find_sources
from blindspot.errors import BlindspotError
from blindspot.numerics.statistics.estimate import Estimate
from blindspot.numerics.statistics.groups import FEW, Group, by_value
from blindspot.numerics.statistics.intervals import ALPHA, hypergeometric_cdf, level_of_each, p_of_more
from blindspot.numerics.statistics.pairs import Dependence, share, worth
from blindspot.numerics.statistics.written import percent
from blindspot.runs.findings import MOST_EXAMPLES, Compared, Example, Material
from blindspot.runs.findings.baselines import against_baselines
from blindspot.runs.findings.evidence import Evidence, Fact
from blindspot.runs.findings.parts import low_coverage, together
from blindspot.runs.findings.rule import by_chance
from blindspot.settings import Settings
from blindspot.store.records import RunRecord
from blindspot.texts import Ranges, are_words, changed_ranges, lexical_overlap
from blindspot.transforms.toolkit import DEFINITION
from blindspot.types import Float64, Int64

NOTICEABLE = 0.01  # of MRR: the least change by a way of counting that is worth a line
KEEPING = ("", "synonym", "typo", "paraphrase")  # rewrites that say the same; "" is the original


def evidence(material: Material) -> Iterator[Evidence]:
    """See ``Diagnostic.evidence``."""
    for ranked in read(material):
        first = {run.run_id: first_of(run, ranked, material) for run in ranked.runs}
        families = families_of(ranked.dataset, material.settings)
        for run in ranked.runs:
            yield from of_run(run, ranked, first[run.run_id], families)
        yield from of_baselines(ranked)
        yield from facts(ranked, material)


# --- what is read


@dataclass(frozen=True, eq=False)
class Ranked:
    """Runs that ranked the same pairs of one dataset among the same items, by the same parameters.

    Attributes:
        rows: of all runs and baselines, by run id, in the order of ``pairs``.
        axes: see ``axes_of``.
    """

    runs: Sequence[RunRecord]
    baselines: Sequence[RunRecord]
    pairs: Pairs
    rows: Mapping[str, RunRows]
    axes: tuple[Axis, ...] = ()

    @property
    def dataset(self) -> str:
        return self.runs[0].plan.dataset

    @property
    def dependence(self) -> Dependence:
        return self.pairs.dependence

    @cached_property
    def of_words(self) -> bool:
        return are_words([*self.pairs.query, *self.pairs.match])

    @cached_property
    def hits(self) -> Mapping[str, Float64]:
        """Per run id, whether each match is first, ``[m]``, in expectation under ties."""
        return {run_id: rows.hits_at_1(filtered=True) for run_id, rows in self.rows.items()}

    @cached_property
    def reciprocal(self) -> Mapping[str, Float64]:
        """Per run id, 1/rank of each match among all items, ``[m]``."""
        return {run_id: rows.reciprocal_ranks(filtered=False) for run_id, rows in self.rows.items()}


def read(material: Material) -> list[Ranked]:
    """The runs by what they ranked; rows and texts are read once per dataset, so that memory has those of one."""
    out = []
    for group in together(material, on_same_items=True):
        rows_of = rows_of_runs(ENTRY, [run.run_id for run in group.every], material.repository)
        rows_of = {run_id: rows for run_id, rows in rows_of.items() if len(rows.item_no)}
        runs, compared = ([run for run in some if run.run_id in rows_of] for some in (group.runs, group.baselines))
        if not runs:
            continue
        pairs = pairs_of_run(runs[0], material.repository)
        alike = {
            run_id for run_id, pairs_known in rows_of.items() if np.array_equal(pairs_known.item_no, pairs.numbers)
        }
        ranked = [[run for run in some if run.run_id in alike] for some in (runs, compared)]
        if ranked[0]:
            further = material.repository.own_columns(runs[0].plan.dataset, runs[0].plan.dataset_digest)
            axes = _axes(runs[0].plan.dataset_digest, _Sorted(runs[0], pairs, material.settings, further))
            out.append(Ranked(ranked[0], ranked[1], pairs, {i: rows_of[i] for i in alike}, axes))
    return out


def first_of(run: RunRecord, ranked: Ranked, material: Material) -> FirstRanked | None:
    """What comes first in the pairs that a run misses."""
    missed = np.flatnonzero(ranked.rows[run.run_id].filtered.greater > 0)
    return first_ranked(run, ranked.pairs, missed, material.settings, material.repository)


# --- kinds of pair


@dataclass(frozen=True, eq=False)
class Sorted:
    """A kind of pair against the rest, with what is independent inside and outside the kind."""

    group: Group
    inside: Dependence
    outside: Dependence


@dataclass(frozen=True, eq=False)
class Axis:
    """A way of sorting pairs, with the kinds that have enough pairs to be tested.

    ``kind`` is None for an own column of the file, which has the name ``column`` and a ``number`` from 1.
    """

    kind: Kind | None
    side: str
    of_words: bool
    groups: tuple[Sorted, ...]
    column: str = ""
    number: int = 0

    @property
    def by(self) -> str:
        """The axis as the page has it in its address."""
        return self.column if self.kind is None else self.kind.value

    @property
    def name(self) -> str:
        if self.kind is None:
            return f"own-column-{self.number}"
        return self.kind.value if self.side == "pair" else f"{self.kind.value}-of-{self.side}"


@dataclass(frozen=True)
class _Sorted:
    """The input of ``axes_of`` as the key of a cache: compared by which items were ranked and by the own columns."""

    run: RunRecord = field(compare=False)
    pairs: Pairs = field(compare=False)
    settings: Settings = field(compare=False)
    own: tuple[OwnColumn, ...] = field(compare=False)
    covered: str = field(init=False)
    columns: tuple[str, ...] = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "covered", self.run.plan.covered_digest)
        object.__setattr__(self, "columns", tuple(column.digest for column in self.own))


@lru_cache(maxsize=16)  # texts do not change, and words take a while to sort
def _axes(_dataset_digest: str, key: _Sorted) -> tuple[Axis, ...]:
    return axes_of(key.pairs, _sources(key.run.plan.dataset, key.pairs, key.settings), key.own)


def axes_of(
    pairs: Pairs, sources: PairSources | None = None, user_columns: Sequence[OwnColumn] = ()
) -> tuple[Axis, ...]:
    """Ways of sorting pairs: by length, sentences by overlap, words by frequency, by source where it is known, and by
    each own column of their file.

    Kinds of fewer than ``FEW`` pairs, or worth too few independent ones, are left out.
    """
    of_words = are_words([*pairs.query, *pairs.match])
    wanted = [Kind.LENGTH, Kind.FREQUENCY if of_words else Kind.OVERLAP, *([Kind.SOURCE] if sources else [])]
    out = []
    for kind in wanted:
        grouped = grouping(kind, pairs.query, pairs.match, sources)
        for side in dict.fromkeys(group.side for group in grouped.groups):
            groups = [_sorted(group, pairs) for group in grouped.groups if group.side == side]
            if kept := tuple(group for group in groups if group is not None):
                out.append(Axis(kind, side, of_words, kept))
    for number, (name, column) in enumerate(choices_of(user_columns).items(), 1):
        groups = [_sorted(group, pairs) for group in by_value("pair", name, column.groups(pairs.numbers)).groups]
        if kept := tuple(group for group in groups if group is not None):
            out.append(Axis(None, "pair", of_words, kept, name, number))
    return tuple(out)


def _sorted(group: Group, pairs: Pairs) -> Sorted | None:
    if min(np.count_nonzero(group.inside), np.count_nonzero(~group.inside)) < FEW:
        return None
    sides = [pairs.dependence.among(part) for part in (group.inside, ~group.inside)]
    return None if any(side.refusal for side in sides) else Sorted(group, *sides)


def _sources(dataset: str, pairs: Pairs, settings: Settings) -> PairSources | None:
    """Where the pairs come from, if the catalog knows and the sets are on this machine."""
    entry = DATASETS.get(dataset)
    if entry is None or not entry.sources:
        return None
    sets = SOURCES[entry.sources]
    if fetch.dataset_state(sets, settings) not in {fetch.DataState.DOWNLOADED, fetch.DataState.BUILT_IN}:
        return None
    scored = fetch.load(sets, settings)
    if not isinstance(scored, ScoredPairs):
        raise TypeError(f"{sets.id} is no set of scored pairs")
    return find_sources(pairs.query, pairs.match, scored)


@dataclass(frozen=True)
class Worst:
    """The kind of pair that is most surely worse than the rest; p is corrected for the choice (Bonferroni)."""

    place: int
    p: float


def worst_kind(axis: Axis, hits: Float64) -> Worst:
    """The kind whose share of first-ranked matches is most surely below the share of all other pairs, by ``hits [m]``.

    Each share counts as its effective number of independent pairs (``statistics.pairs.worth``) in Fisher's exact test;
    p is twice its lower tail. Rounding is toward no difference.
    """
    tables = np.array(
        [
            _table(hits[kind.group.inside], kind.inside, np.ceil)
            + _table(hits[~kind.group.inside], kind.outside, np.floor)
            for kind in axis.groups
        ]
    )
    k, n, others, rest = tables.T
    p = np.minimum(1.0, 2 * hypergeometric_cdf(k, n + rest, k + others, n))
    lower = [hits[kind.group.inside].mean() < hits[~kind.group.inside].mean() for kind in axis.groups]
    p = np.where(lower, p, 1.0)
    worst_at = int(np.argmin(p))
    return Worst(worst_at, min(1.0, float(p[worst_at]) * len(axis.groups)))


def _table(hits: Float64, dependence: Dependence, rounded: np.ufunc) -> tuple[int, int]:
    """The numbers of first-ranked matches and of pairs, as whole numbers of independent pairs."""
    n = max(1, int(worth_of(hits, dependence)))
    return int(rounded(round(float(hits.mean()) * n, 9))), n


def worth_of(values: Float64, dependence: Dependence) -> float:
    """How many independent observations a mean of ``values [m]`` from 0 to 1 is worth, at most the number of units."""
    column = values[:, np.newaxis]
    variance, carried = float(dependence.variances(column)[0]), float(dependence.carried_by(column)[0])
    n = worth(float(values.mean()), float(values.var()), variance, carried, dependence.effective)
    return min(n, float(dependence.units), float(len(values)))


def _worse_on_a_kind(run: RunRecord, ranked: Ranked, axis: Axis, first: FirstRanked | None) -> Evidence:
    hits = ranked.hits[run.run_id]
    worst = worst_kind(axis, hits)
    kind = axis.groups[worst.place]
    inside, kinds = kind.group.inside, len(axis.groups)
    estimate, rest = share(hits[inside], kind.inside, level_of_each(kinds)), float(hits[~inside].mean())
    rows = np.flatnonzero(inside)
    rank = ranked.rows[run.run_id].filtered.shown[rows]
    places = rows[np.argsort(-rank, kind="stable")].tolist() if worst.p < ALPHA else []
    return Evidence(
        "worst-by-{axis}",
        (run,),
        estimate,
        max(1, round(estimate.effective)),
        against=by_chance(estimate.value - rest, worst.p),
        facts={
            "axis": axis.name,
            "by": axis.by,
            "pairs": _kind_in_words(axis, kind.group.label),
            "rest": rest,
            "choices": kinds if kinds > 1 else 0,
        },
        examples=_examples(ranked, _distinct(places, ranked), first, run)[0],
    )


def _kind_in_words(axis: Axis, label: str) -> str:
    if axis.kind is None:
        return f"pairs whose {axis.column} is {label}"
    if axis.kind is Kind.OVERLAP:
        return _overlap_in_words(label)
    if axis.kind is Kind.LENGTH:
        return f"pairs with {label} {'letters' if axis.of_words else 'words'} per text"
    if axis.kind is Kind.FREQUENCY:
        return f"pairs whose {axis.side} occurs {label} times per million words"
    return f"pairs from {label}"


def _overlap_in_words(label: str) -> str:
    whole = {"none": "pairs without a word in common", "all words": "pairs of the same words"}
    if label in whole:
        return whole[label]
    low, _, high = label.partition(" to ")
    shares = f"{percent(float(low))} to {percent(float(high))}" if high else f"under {percent(float(low.split()[-1]))}"
    return f"pairs that share {shares} of their words"


# --- what comes first instead of the match


def of_run(
    run: RunRecord, ranked: Ranked, first: FirstRanked | None = None, families: Families | None = None
) -> Iterator[Evidence]:
    """The findings that are tested on one run; ``first`` is None where embeddings are not at hand."""
    for axis in ranked.axes:
        yield _worse_on_a_kind(run, ranked, axis, first)
    if first is not None and (first.items >= 0).any():
        yield from _outranked_by_kind(run, ranked, first, families) if families else _by_words(run, ranked, first)
        yield _same_texts(run, ranked, first)


def _known(ranked: Ranked, first: FirstRanked) -> tuple[Int64, Int64, Dependence]:
    """The missed pairs whose first-ranked text is known, those texts, and which of the pairs are independent."""
    is_known = first.items >= 0
    places = first.places[is_known]
    dependence = ranked.dependence.of_some(places)
    return places, first.items[is_known], dependence


def _missed_share(ranked: Ranked, run: RunRecord) -> float:
    return float(1.0 - ranked.hits[run.run_id].mean())


def _outranked_by_kind(run: RunRecord, ranked: Ranked, first: FirstRanked, families: Families) -> Iterator[Evidence]:
    """The meaning-changing rewrite that comes first most often, against its share by chance among all rewrites."""
    places, items, dependence = _known(ranked, first)
    subsets = np.array(
        [
            families.subset_of(ranked.pairs.query[position], first.texts[item]) or ""
            for position, item in zip(places.tolist(), items.tolist(), strict=True)
        ]
    )
    changing = [subset for subset in families.subsets if subset not in KEEPING]
    if dependence.refusal or not changing:
        return
    chance = 1.0 / (len(families.subsets) - 1)  # of a family's texts, without the query and its match
    shares = {subset: float(np.mean(subsets == subset)) for subset in changing}
    most = max(changing, key=lambda subset: shares[subset])
    inside = np.asarray(subsets == most, dtype=np.float64)
    estimate = share(inside, dependence, level_of_each(len(changing)))
    n = int(worth_of(inside, dependence))
    p = min(1.0, len(changing) * p_of_more(shares[most] * n, n, chance))
    lost = _distinct(_most_lost(run, ranked, places[subsets == most]), ranked) if p < ALPHA else []
    facts: dict[str, Fact] = {"rewrite": after_the(most), "chance": chance, "rewrites": len(changing)}
    yield _outranked(
        "changed-meaning", run, ranked, first, estimate, by_chance(chance - estimate.value, p), lost, facts
    )


def _by_words(run: RunRecord, ranked: Ranked, first: FirstRanked) -> Iterator[Evidence]:
    """Whether the first-ranked text shares more words with the query than the match does; a word: is more frequent."""
    places, items, dependence = _known(ranked, first)
    if dependence.refusal:
        return
    query = [ranked.pairs.query[i] for i in places.tolist()]
    match = [ranked.pairs.match[i] for i in places.tolist()]
    other = [first.texts[i] for i in items.tolist()]
    if ranked.of_words:
        lead, by = zipf_of(other) - zipf_of(match), "frequent-words"
    else:
        lead, by = (
            np.nan_to_num(lexical_overlap(query, other)) - np.nan_to_num(lexical_overlap(query, match)),
            "shared-words",
        )
    more = np.where(lead == 0, 0.5, lead > 0).astype(np.float64)
    estimate = share(more, dependence)
    n = int(worth_of(more, dependence))
    p = p_of_more(estimate.value * n, n, 0.5)
    lost = _distinct(places[np.argsort(-lead, kind="stable")].tolist(), ranked) if p < ALPHA else []
    yield _outranked(by, run, ranked, first, estimate, by_chance(0.5 - estimate.value, p), lost)


def _outranked(
    by: str,
    run: RunRecord,
    ranked: Ranked,
    first: FirstRanked,
    estimate: Estimate,
    against: tuple[Compared, ...],
    lost: Sequence[int],
    facts: Mapping[str, Fact] = MappingProxyType({}),
) -> Evidence:
    """The finding; ``estimate`` is over the missed pairs, ``lost`` are the places of the examples."""
    examples, item = _examples(ranked, lost, first, run)
    missed = int(np.count_nonzero(first.items >= 0))
    return Evidence(
        f"outranked-by-{by}",
        (run,),
        estimate,
        max(1, round(estimate.effective)),
        against=against,
        facts={"missed": missed, "missed_share": _missed_share(ranked, run), "item": item, **facts},
        examples=examples,
    )


@dataclass(frozen=True)
class Repeated:
    """Texts that come first more often than chance explains.

    Attributes:
        items: their numbers, the most frequent first; without any such text, only the most frequent one.
        most: in how many of the ``groups`` of pairs the most frequent text is first.
        p: that it is first so often, two-sided, corrected for the choice among all items (Bonferroni).
    """

    items: tuple[int, ...]
    most: int
    groups: int
    p: float


def repeated(items: Int64, groups: Int64, background: int) -> Repeated:
    """Whether the same texts come first more often than if every item were equally likely.

    Args:
        items: ``[l]``, the first-ranked item of each missed pair; ``groups [l]`` are the pairs' groups, each of which
            counts an item once.
        background: how many items there are.
    """
    from scipy.special import bdtrc

    votes = Counter(item for item, _ in {*zip(items.tolist(), groups.tolist(), strict=True)})
    many = len(np.unique(groups))
    chance = {count: background * float(bdtrc(count - 1.0, many, 1.0 / background)) for count in set(votes.values())}
    order = sorted(votes, key=lambda item: (-votes[item], item))
    often = tuple(item for item in order if votes[item] > 1 and chance[votes[item]] < ALPHA)
    return Repeated(often or tuple(order[:1]), votes[order[0]], many, min(1.0, 2 * chance[votes[order[0]]]))


def _same_texts(run: RunRecord, ranked: Ranked, first: FirstRanked) -> Evidence:
    """Hubs: a few texts that take the first place of many missed pairs."""
    places, items, _ = _known(ranked, first)
    candidates = max(1, first.background - 2)  # for the first place of a missed pair: neither the query nor its match
    repeated_items = repeated(items, ranked.dependence.groups[places], candidates)
    lost = _distinct(places[items == repeated_items.items[0]].tolist(), ranked) if repeated_items.p < ALPHA else []
    examples, item = _examples(ranked, lost, first, run)
    return Evidence(
        "outranked-by-hubs",
        (run,),
        float(np.isin(items, repeated_items.items).mean()),
        repeated_items.groups,
        against=by_chance(repeated_items.groups / candidates - repeated_items.most, repeated_items.p),
        facts={
            "missed": len(places),
            "missed_share": _missed_share(ranked, run),
            "is_one": len(repeated_items.items) == 1,
            "texts": len(repeated_items.items),
            "most": repeated_items.most,
            "candidates": candidates,
            "item": item,
        },
        examples=examples,
    )


# --- against baselines


def of_baselines(ranked: Ranked) -> Iterator[Evidence]:
    """MRR, raw ranks, against the best baseline's."""
    chance = mrr_by_chance(int(ranked.runs[0].metrics.get("background", 0)) - 1)
    for comparison in against_baselines(ranked.runs, ranked.baselines, ranked.reciprocal, ranked.dependence, chance):
        yield from comparison.evidence()


def mrr_by_chance(candidates: int) -> float:
    """The mean of 1/rank if every rank among so many candidates is equally likely; NaN without candidates."""
    return float(np.mean(1.0 / np.arange(1, candidates + 1))) if candidates > 0 else float("nan")


# --- counted facts


def facts(ranked: Ranked, material: Material) -> Iterator[Evidence]:
    """What makes scores of these runs hard to compare."""
    runs = ranked.runs
    yield from low_coverage(runs)
    for run in runs:
        yield from _tied(run)
    yield from _unfair_raw_ranks(runs)
    plan = runs[0].plan
    if not catalogued(plan.dataset):
        for run in runs:
            yield from _further_answers(run, ranked, material)
    if plan.params["protocol"] == DEFINITION:
        stored = material.repository.finished(ENTRY, dataset=plan.dataset, params=trust.other_params(runs[0]))
        for run in runs:
            if other := trust.counterpart(run, stored):
                yield from _toolkit(run, other)
    for kept in training_overlap.remembered(material.settings.training, plan.dataset_digest):
        if kept.both:
            seen: dict[str, Fact] = {"set": kept.digest[:8], "warning": kept.warning}
            yield Evidence("in-training-set-{set}", tuple(runs), kept.both / kept.pairs, kept.pairs, facts=seen)


def _tied(run: RunRecord) -> Iterator[Evidence]:
    m = run.metrics
    tied, pairs = m.get("tied_pairs", 0.0), m.get("pairs", 0.0)
    low, high = m.get("mrr_pessimistic", 0.0), m.get("mrr_optimistic", 0.0)
    if tied and high - low >= NOTICEABLE:
        yield Evidence("ties", (run,), tied / pairs, int(pairs), facts={"low": low, "high": high})


def _unfair_raw_ranks(runs: Sequence[RunRecord]) -> Iterator[Evidence]:
    """Raw ranks that are unfair, shown on the run that filtering changes most: the cause is the dataset."""
    gain = {run.run_id: run.metrics.get("mrr_filtered", 0.0) - run.metrics.get("mrr", 0.0) for run in runs}
    run = max(runs, key=lambda r: gain[r.run_id])
    if gain[run.run_id] >= NOTICEABLE:
        raw, filtered = run.metrics["mrr"], run.metrics["mrr_filtered"]
        scores = {"raw": raw, "filtered": filtered}
        yield Evidence("raw-ranks-unfair", (run,), filtered - raw, int(run.metrics["pairs"]), facts=scores)


def _further_answers(run: RunRecord, ranked: Ranked, material: Material) -> Iterator[Evidence]:
    """Misses on a user's own pairs that may be right answers: near-duplicates, and texts of the same group."""
    rows = ranked.rows[run.run_id]
    misses = further.close_misses(run, ranked.pairs, rows, material.settings, material.repository)
    if misses is not None and misses.are_many:
        facts: dict[str, Fact] = {"missed": misses.in_words, "missed_share": _missed_share(ranked, run)}
        yield Evidence("near-duplicates-missed", (run,), misses.close / misses.missed, misses.missed, facts=facts)
    filtered = rows.score(filtered=True).mrr
    try:
        scores = further.scores_by_group(run, ranked.pairs, rows, material.settings, material.repository)
    except BlindspotError:  # nothing can be ranked again
        return
    for number, (name, score) in enumerate(scores.items(), 1):
        if score.mrr - filtered >= NOTICEABLE:
            facts = {"number": number, "column": name, "by_group": score.mrr, "filtered": filtered}
            yield Evidence("same-own-column-{number}", (run,), score.mrr - filtered, score.pairs, facts=facts)


def _toolkit(run: RunRecord, other: RunRecord) -> Iterator[Evidence]:
    defined, toolkit = run.metrics["mrr"], other.metrics["mrr"]
    if abs(defined - toolkit) >= NOTICEABLE:
        facts = {"toolkit": toolkit, "defined": defined, "toolkit_pairs": int(other.metrics["pairs"])}
        yield Evidence("toolkit-differs", (run,), toolkit - defined, int(run.metrics["pairs"]), facts=facts)


# --- parts


def _most_lost(run: RunRecord, ranked: Ranked, places: Int64) -> list[int]:
    """Places with the worst ranks first."""
    rank = ranked.rows[run.run_id].filtered.shown[places]
    return [int(i) for i in places[np.argsort(-rank, kind="stable")]]


def _distinct(places: Sequence[int], ranked: Ranked) -> list[int]:
    """The first places that are in different groups of pairs: a pair and its reverse show the same."""
    seen: set[int] = set()
    out: list[int] = []
    for position in places:
        group = int(ranked.dependence.groups[position])
        if group not in seen:
            seen.add(group)
            out.append(position)
        if len(out) == MOST_EXAMPLES:
            break
    return out


def _examples(
    ranked: Ranked, places: Sequence[int], first: FirstRanked | None, run: RunRecord
) -> tuple[tuple[Example, ...], str]:
    """Query, match and, where it is known, the text ranked first; and the number of the first pair, "" for none."""
    first_items = {} if first is None else dict(zip(first.places.tolist(), first.items.tolist(), strict=True))
    rows = ranked.rows[run.run_id].filtered
    out = []
    for position in places:
        query, match = ranked.pairs.query[position], ranked.pairs.match[position]
        texts = [("query", query), ("match", match)]
        if first is not None and first_items.get(position, -1) >= 0:
            texts.append(("ranked first", first.texts[first_items[position]]))
        note = f"The match is at rank {rows.shown[position]:,g}."
        out.append(Example(tuple(texts), note, ((), *(_new_words(query, text) for _, text in texts[1:]))))
    return tuple(out), str(ranked.pairs.numbers[places[0]]) if places else ""


def _new_words(query: str, text: str) -> Ranges:
    """The parts of a text that the query does not have; nothing where most is new: it is another text altogether."""
    _, added = changed_ranges(query, text)
    return added if 2 * sum(end - start for start, end in added) <= len(text) else ()
