"""Findings of EvalRank: kinds of pair that a run misses, what comes first instead of the match, and what bends a score.

What is tested of a run is fixed before its rows are read, so that the p-values can be corrected for all that was looked
at (``blindspot.runs.findings``): per way of sorting pairs the worst kind against the rest, what the first-ranked texts
of missed pairs have in common, how often they are the same, the score against the best baseline's, and per transform
whether it turns the order of two models. The rest are counted facts. Ranks are the filtered ones, where no other are
named: what they leave out is no mistake of the model.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from itertools import combinations

import numpy as np

from blindspot.datasets import fetch, training_overlap
from blindspot.datasets.catalog import DATASETS, SOURCES, catalogued
from blindspot.datasets.kinds.minimal_pairs import subset_in_words
from blindspot.datasets.kinds.own_columns import OwnColumn
from blindspot.datasets.kinds.scored_pairs import ScoredPairs
from blindspot.datasets.word_frequency import zipf_of
from blindspot.diagnostic import Picker
from blindspot.diagnostics.evalrank import further, trust
from blindspot.diagnostics.evalrank.definition import ENTRY
from blindspot.diagnostics.evalrank.kinds import Kind, choices_of, grouping, grouping_of
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
from blindspot.numerics.statistics import pairs as statistics
from blindspot.numerics.statistics.groups import FEW, Group
from blindspot.numerics.statistics.intervals import ALPHA, hypergeometric_cdf, level_of_each, p_of_more
from blindspot.numerics.statistics.pairs import Dependence, share, worth
from blindspot.numerics.statistics.written import ci, ci_in_words, percent
from blindspot.runs.findings import MOST_EXAMPLES, Example, Finding, Level, Material
from blindspot.runs.findings.baselines import against_baselines, findings_of
from blindspot.runs.findings.parts import coverage, finding, kebab
from blindspot.runs.findings.rule import by_chance
from blindspot.settings import Settings
from blindspot.store.records import RunRecord
from blindspot.texts import Ranges, are_words, changed_ranges, lexical_overlap
from blindspot.transforms.toolkit import DEFINITION
from blindspot.types import Float64, Int64

NOTICEABLE = 0.01  # of MRR: what a way of counting must change to be worth a line
FILTERED = {"ranks": "filtered"}
TITLE = "Hits@1"  # of the measure on the page
KEEPING = ("", "synonym", "typo", "paraphrase")  # rewrites that say the same; "" is the original


def findings(material: Material) -> list[Finding]:
    """See ``Diagnostic.findings``."""
    out: list[Finding] = []
    for ranked in read(material):
        first = {run.run_id: first_of(run, ranked, material) for run in ranked.runs}
        families = families_of(ranked.dataset, material.settings)
        for run in ranked.runs:
            out += of_run(run, ranked, first[run.run_id], families)
        out += of_baselines(ranked)
        out += turned_orders(ranked)
        out += facts(ranked, material)
    return out


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

    @cached_property
    def dependence(self) -> Dependence:
        return Dependence.of(self.pairs.query_no, self.pairs.match_no)

    @cached_property
    def of_words(self) -> bool:
        return are_words([*self.pairs.query, *self.pairs.match])

    @cached_property
    def hits(self) -> Mapping[str, Float64]:
        """By run id whether each match is first, ``[m]``, in expectation under ties."""
        return {run_id: rows.hits_at_1(filtered=True) for run_id, rows in self.rows.items()}

    @cached_property
    def reciprocal(self) -> Mapping[str, Float64]:
        """By run id 1/rank of each match among all items, ``[m]``."""
        return {run_id: rows.reciprocal_ranks(filtered=False) for run_id, rows in self.rows.items()}


def read(material: Material) -> list[Ranked]:
    """The runs by what they ranked; rows and texts are read once per dataset, so that memory has those of one."""
    groups: dict[tuple[str, ...], list[RunRecord]] = defaultdict(list)
    baselines: dict[tuple[str, ...], list[RunRecord]] = defaultdict(list)
    for found, runs in ((groups, material.runs), (baselines, material.baselines)):
        for run in runs:
            found[_what(run)].append(run)
    out = []
    for what, wanted in groups.items():
        known = rows_of_runs(ENTRY, list({r.run_id: r for r in (*wanted, *baselines[what])}), material.repository)
        known = {run_id: rows for run_id, rows in known.items() if len(rows.item_no)}
        runs, compared = ([run for run in some if run.run_id in known] for some in (wanted, baselines[what]))
        if not runs:
            continue
        pairs = pairs_of_run(runs[0], material.repository)
        alike = {run_id for run_id, one in known.items() if np.array_equal(one.item_no, pairs.numbers)}
        ranked = [[run for run in some if run.run_id in alike] for some in (runs, compared)]
        if ranked[0]:
            further = material.repository.own_columns(runs[0].plan.dataset, runs[0].plan.dataset_digest)
            axes = _axes(runs[0].plan.dataset_digest, _Sorted(runs[0], pairs, material.settings, further))
            out.append(Ranked(ranked[0], ranked[1], pairs, {i: known[i] for i in alike}, axes))
    return out


def _what(run: RunRecord) -> tuple[str, ...]:
    plan = run.plan
    return plan.dataset_digest, plan.support_digest, *(f"{k}={v}" for k, v in sorted(plan.params.items()))


def first_of(run: RunRecord, ranked: Ranked, material: Material) -> FirstRanked | None:
    """What comes first in the pairs that a run misses."""
    missed = np.flatnonzero(ranked.rows[run.run_id].filtered.greater > 0)
    return first_ranked(run, ranked.pairs, missed, material.settings, material.repository)


# --- kinds of pair


@dataclass(frozen=True, eq=False)
class Sorted:
    """A kind of pair against the rest: what is independent inside and outside."""

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
        """As the page has it in its address."""
        return self.column if self.kind is None else self.kind.value

    @property
    def name(self) -> str:
        if self.kind is None:
            return f"own-column-{self.number}"
        return self.kind.value if self.side == "pair" else f"{self.kind.value}-of-{_side(self.side)}"


@dataclass(frozen=True)
class _Sorted:
    """What axes are made of, as the key of a cache, compared by which items were ranked."""

    run: RunRecord = field(compare=False)
    pairs: Pairs = field(compare=False)
    settings: Settings = field(compare=False)
    own: tuple[OwnColumn, ...] = field(compare=False)
    support: str = field(init=False)
    columns: tuple[str, ...] = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "support", self.run.plan.support_digest)
        object.__setattr__(self, "columns", tuple(column.digest for column in self.own))


@lru_cache(maxsize=16)  # texts do not change, and words take a while to sort
def _axes(_dataset_digest: str, key: _Sorted) -> tuple[Axis, ...]:
    return axes_of(key.pairs, _sources(key.run.plan.dataset, key.pairs, key.settings), key.own)


def axes_of(pairs: Pairs, sources: PairSources | None = None, own: Sequence[OwnColumn] = ()) -> tuple[Axis, ...]:
    """Ways of sorting pairs: by length, sentences by overlap, words by frequency, by source where it is known, and by
    each own column of their file.

    Kinds of fewer than ``FEW`` pairs, or worth too few independent ones, are left out.
    """
    of_words = are_words([*pairs.query, *pairs.match])
    wanted = [Kind.LENGTH, Kind.FREQUENCY if of_words else Kind.OVERLAP, *([Kind.SOURCE] if sources else [])]
    out = []
    for kind in wanted:
        found = grouping(kind, pairs.query, pairs.match, sources)
        for side in dict.fromkeys(group.side for group in found.groups):
            groups = [_sorted(group, pairs) for group in found.groups if group.side == side]
            if kept := tuple(group for group in groups if group is not None):
                out.append(Axis(kind, side, of_words, kept))
    for number, (name, column) in enumerate(choices_of(own).items(), 1):
        groups = [_sorted(group, pairs) for group in grouping_of(column, pairs.numbers).groups]
        if kept := tuple(group for group in groups if group is not None):
            out.append(Axis(None, "pair", of_words, kept, name, number))
    return tuple(out)


def _sorted(group: Group, pairs: Pairs) -> Sorted | None:
    if min(np.count_nonzero(group.inside), np.count_nonzero(~group.inside)) < FEW:
        return None
    sides = [Dependence.of(pairs.query_no[part], pairs.match_no[part]) for part in (group.inside, ~group.inside)]
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
    """The kind of pair that is surest to be worse than the rest; p is corrected for the choice (Bonferroni)."""

    place: int
    p: float


def worst_kind(axis: Axis, hits: Float64) -> Worst:
    """The kind whose share of first-ranked matches is surest to be below that of all other pairs, by ``hits [m]``.

    Both shares are worth so many independent pairs (``statistics.pairs.worth``), which go into Fisher's exact test; p
    is twice its lower tail. Rounding is toward no difference.
    """
    tables = np.array(
        [
            _table(hits[one.group.inside], one.inside, np.ceil) + _table(hits[~one.group.inside], one.outside, np.floor)
            for one in axis.groups
        ]
    )
    k, n, others, rest = tables.T
    p = np.minimum(1.0, 2 * hypergeometric_cdf(k, n + rest, k + others, n))
    lower = [hits[one.group.inside].mean() < hits[~one.group.inside].mean() for one in axis.groups]
    p = np.where(lower, p, 1.0)
    place = int(np.argmin(p))
    return Worst(place, min(1.0, float(p[place]) * len(axis.groups)))


def _table(hits: Float64, known: Dependence, rounded: np.ufunc) -> tuple[int, int]:
    """First-ranked matches, and pairs, as whole numbers of independent ones."""
    n = max(1, int(worth_of(hits, known)))
    return int(rounded(round(float(hits.mean()) * n, 9))), n


def worth_of(values: Float64, known: Dependence) -> float:
    """How many independent observations a mean of ``values [m]`` from 0 to 1 is worth, at most as many as there are."""
    column = values[:, np.newaxis]
    variance, carried = float(known.variances(column)[0]), float(known.carried_by(column)[0])
    n = worth(float(values.mean()), float(values.var()), variance, carried, known.effective)
    return min(n, float(known.units), float(len(values)))


def _worse_on_a_kind(run: RunRecord, ranked: Ranked, axis: Axis, first: FirstRanked | None) -> Finding:
    hits = ranked.hits[run.run_id]
    worst = worst_kind(axis, hits)
    one = axis.groups[worst.place]
    inside = one.group.inside
    of_each = level_of_each(len(axis.groups))
    found, rest = share(hits[inside], one.inside, of_each), float(hits[~inside].mean())
    only = "only " if found.value < rest else ""
    rows = np.flatnonzero(inside)
    rank = ranked.rows[run.run_id].filtered.shown[rows]
    places = rows[np.argsort(-rank, kind="stable")].tolist() if worst.p < ALPHA else []
    examples, _ = _examples(ranked, _distinct(places, ranked), first, run)
    kinds = f", corrected for the choice of {len(axis.groups)} kinds" if len(axis.groups) > 1 else ""
    return finding(
        ENTRY,
        [run],
        kind=f"worst-by-{axis.name}",
        level=Level.BLIND_SPOT,
        sentence=f"{{A}} ranks the right match first for {only}{percent(found.value)} of the "
        f"{_kind_in_words(axis, one.group.label)}{ci(found, '.0%')}, against {percent(rest)} of the other "
        "pairs.",
        found=found,
        test=f"Fisher's exact test of this kind against the rest, {found.independent}{kinds}",
        against=by_chance(found.value - rest, worst.p),
        n=max(1, round(found.effective)),
        severity=max(0.0, rest - found.value),
        address={"view": "kinds of pair", "by": axis.by, "kinds_measure": TITLE, **FILTERED},
        examples=examples,
    )


def _kind_in_words(axis: Axis, label: str) -> str:
    if axis.kind is None:  # a name in braces is that of a model
        return f"pairs whose {axis.column} is {label}".translate({ord("{"): "(", ord("}"): ")"})
    if axis.kind is Kind.OVERLAP:
        return _overlap_in_words(label)
    if axis.kind is Kind.LENGTH:
        return f"pairs with {label} {'letters' if axis.of_words else 'words'} per text"
    if axis.kind is Kind.FREQUENCY:
        return f"pairs whose {_side(axis.side)} occurs {label} times per million words"
    return f"pairs from {label}"


def _overlap_in_words(label: str) -> str:
    whole = {"none": "pairs without a word in common", "all words": "pairs of the same words"}
    if label in whole:
        return whole[label]
    low, _, high = label.partition(" to ")
    shares = f"{percent(float(low))} to {percent(float(high))}" if high else f"under {percent(float(low.split()[-1]))}"
    return f"pairs that share {shares} of their words"


def _side(side: str) -> str:
    return side


# --- what comes first instead of the match


def of_run(
    run: RunRecord, ranked: Ranked, first: FirstRanked | None = None, families: Families | None = None
) -> list[Finding]:
    """What is tested of one run; ``first`` is None where embeddings are not at hand."""
    out = [_worse_on_a_kind(run, ranked, axis, first) for axis in ranked.axes]
    if first is not None and (first.items >= 0).any():
        what = _outranked_by_kind(run, ranked, first, families) if families else _by_words(run, ranked, first)
        out += [*([what] if what else []), _same_texts(run, ranked, first)]
    return out


def _known(ranked: Ranked, first: FirstRanked) -> tuple[Int64, Int64, Dependence]:
    """The missed pairs whose first-ranked text is known, these texts, and what is independent among them."""
    found = first.items >= 0
    places = first.places[found]
    known = Dependence.of(ranked.pairs.query_no[places], ranked.pairs.match_no[places])
    return places, first.items[found], known


def _missed_share(ranked: Ranked, run: RunRecord) -> float:
    return float(1.0 - ranked.hits[run.run_id].mean())


def _outranked_by_kind(run: RunRecord, ranked: Ranked, first: FirstRanked, families: Families) -> Finding | None:
    """Which rewrite that changes the meaning comes first most often, against its share by chance among all rewrites."""
    places, items, known = _known(ranked, first)
    subsets = np.array(
        [
            families.subset_of(ranked.pairs.query[place], first.texts[item]) or ""
            for place, item in zip(places.tolist(), items.tolist(), strict=True)
        ]
    )
    changing = [subset for subset in families.subsets if subset not in KEEPING]
    if known.refusal or not changing:
        return None
    chance = 1.0 / (len(families.subsets) - 1)  # of a family's texts, without the query and its match
    shares = {subset: float(np.mean(subsets == subset)) for subset in changing}
    most = max(changing, key=lambda subset: shares[subset])
    inside = np.asarray(subsets == most, dtype=np.float64)
    found = share(inside, known, level_of_each(len(changing)))
    n = int(worth_of(inside, known))
    p = min(1.0, len(changing) * p_of_more(shares[most] * n, n, chance))
    missed = _missed_share(ranked, run)
    wanted = _distinct(_most_lost(run, ranked, places[subsets == most]), ranked) if p < ALPHA else []
    examples, numbers = _examples(ranked, wanted, first, run)
    return finding(
        ENTRY,
        [run],
        kind="outranked-by-changed-meaning",
        level=Level.BLIND_SPOT,
        sentence=f"Where {{A}} misses the match, the {subset_in_words(most)} most often comes first: in "
        f"{percent(found.value)} of the {len(places):,} missed pairs{ci(found, '.0%')}, against "
        f"{percent(chance)} if rewrites came first at random.",
        found=found,
        test=f"exact binomial test over {found.independent}, corrected for {len(changing)} kinds of rewrite",
        against=by_chance(chance - found.value, p),
        n=max(1, round(found.effective)),
        severity=min(1.0, missed * found.value),
        address={"show": "worst for A", "a": str(run.plan.variant), **FILTERED, **_pair(numbers)},
        examples=examples,
    )


def _by_words(run: RunRecord, ranked: Ranked, first: FirstRanked) -> Finding | None:
    """Whether the first-ranked text is nearer to the query's words (of words: more frequent) than the match is."""
    places, items, known = _known(ranked, first)
    if known.refusal:
        return None
    query = [ranked.pairs.query[i] for i in places.tolist()]
    match = [ranked.pairs.match[i] for i in places.tolist()]
    other = [first.texts[i] for i in items.tolist()]
    if ranked.of_words:
        lead = zipf_of(other) - zipf_of(match)
        kind, said = "outranked-by-frequent-words", "is more frequent than the match"
    else:
        lead = np.nan_to_num(lexical_overlap(query, other)) - np.nan_to_num(lexical_overlap(query, match))
        kind, said = "outranked-by-shared-words", "shares more words with the query than the match does"
    more = np.where(lead == 0, 0.5, lead > 0).astype(np.float64)
    found = share(more, known)
    n = int(worth_of(more, known))
    p = p_of_more(found.value * n, n, 0.5)
    wanted = _distinct(places[np.argsort(-lead, kind="stable")].tolist(), ranked) if p < ALPHA else []
    examples, numbers = _examples(ranked, wanted, first, run)
    return finding(
        ENTRY,
        [run],
        kind=kind,
        level=Level.BLIND_SPOT,
        sentence=f"Where {{A}} misses the match, the text that it ranks first {said} in {percent(found.value)} of the "
        f"{len(places):,} pairs{ci(found, '.0%')}.",
        found=found,
        test=f"exact sign test against 50%, {found.independent}",
        against=by_chance(0.5 - found.value, p),
        n=max(1, round(found.effective)),
        severity=min(1.0, _missed_share(ranked, run) * found.value),
        address={"show": "worst for A", "a": str(run.plan.variant), **FILTERED, **_pair(numbers)},
        examples=examples,
    )


@dataclass(frozen=True)
class Repeated:
    """Texts that come first more often than chance explains.

    Attributes:
        items: their numbers, the most frequent first; the most frequent one alone where none does.
        most: how many groups of pairs the most frequent one is first in, of ``groups``.
        p: of its being first so often, corrected for the choice among all items (Bonferroni), two-sided.
    """

    items: tuple[int, ...]
    most: int
    groups: int
    p: float


def repeated(items: Int64, groups: Int64, background: int) -> Repeated:
    """Whether the same texts come first again and again, if every item were as likely.

    Args:
        items: ``[l]``, the first-ranked item of each missed pair; ``groups [l]`` its group of pairs, which counts an
            item once.
        background: how many items there are.
    """
    from scipy.special import bdtrc

    votes = Counter(item for item, _ in {*zip(items.tolist(), groups.tolist(), strict=True)})
    many = len(np.unique(groups))
    chance = {count: background * float(bdtrc(count - 1.0, many, 1.0 / background)) for count in set(votes.values())}
    order = sorted(votes, key=lambda item: (-votes[item], item))
    often = tuple(item for item in order if votes[item] > 1 and chance[votes[item]] < ALPHA)
    return Repeated(often or tuple(order[:1]), votes[order[0]], many, min(1.0, 2 * chance[votes[order[0]]]))


def _same_texts(run: RunRecord, ranked: Ranked, first: FirstRanked) -> Finding:
    """Hubs: a few texts that take the first place of many missed pairs."""
    places, items, _ = _known(ranked, first)
    candidates = max(1, first.background - 2)  # for the first place of a missed pair: neither the query nor its match
    found = repeated(items, ranked.dependence.groups[places], candidates)
    of_hubs = np.isin(items, found.items)
    value = float(of_hubs.mean())
    wanted = _distinct(places[items == found.items[0]].tolist(), ranked) if found.p < ALPHA else []
    examples, numbers = _examples(ranked, wanted, first, run)
    one = len(found.items) == 1
    many = "one text takes" if one else f"the same {len(found.items):,} texts take"
    which = "" if one else f"; the most frequent of them in {found.most:,} unrelated pairs"
    return finding(
        ENTRY,
        [run],
        kind="outranked-by-hubs",
        level=Level.BLIND_SPOT,
        sentence=f"In {percent(value)} of the {len(places):,} pairs that {{A}} misses, {many} the first place{which}.",
        value=value,
        test=f"exact binomial test of the most frequent of {candidates:,} texts over {found.groups:,} "
        "independent groups of missed pairs, corrected for their number",
        against=by_chance(found.groups / candidates - found.most, found.p),
        n=found.groups,
        severity=min(1.0, _missed_share(ranked, run) * value),
        address={"show": "worst for A", "a": str(run.plan.variant), "hubs": "true", **FILTERED, **_pair(numbers)},
        examples=examples,
    )


# --- against baselines, and transforms


def of_baselines(ranked: Ranked) -> list[Finding]:
    """MRR, raw ranks, against the best baseline's."""
    out: list[Finding] = []
    chance = mrr_by_chance(int(ranked.runs[0].metrics.get("background", 0)) - 1)
    for found in against_baselines(ranked.runs, ranked.baselines, ranked.reciprocal, ranked.dependence, chance):
        sure = ci_in_words(found.difference, "+.3f")
        ends = f"; difference {sure}" if sure else ""
        versus = {"view": "A against B", str(Picker.BASELINE): str(found.best.plan.variant)}
        out += findings_of(
            ENTRY,
            found,
            "at ranking the right match",
            f"MRR {found.score:.3f} against {found.reached:.3f}{ends}",
            f"sign-flip test over {found.difference.independent}",
            versus,
        )
    return out


def mrr_by_chance(candidates: int) -> float:
    """The mean of 1/rank if every rank among so many candidates is as likely; NaN without any."""
    return float(np.mean(1.0 / np.arange(1, candidates + 1))) if candidates > 0 else float("nan")


def turned_orders(ranked: Ranked) -> list[Finding]:
    """Per transform, the two models whose order it turns most surely.

    A model with the transform is compared with another one, with it too where there is such a run; then both without.
    Both differences must be sure, in opposite directions: p is the larger one (intersection-union), corrected for the
    number of pairs of models.
    """
    if ranked.dependence.refusal:
        return []
    runs = {(run.plan.variant.encoder, run.plan.variant.transform): run for run in ranked.runs}
    plain = [encoder for encoder, transform in runs if transform == "none"]
    asked = {
        transform: [
            Turn(
                *(runs.get((encoder, transform), runs[encoder, "none"]) for encoder in two),
                *(runs[encoder, "none"] for encoder in two),
            )
            for two in combinations(plain, 2)
            if any((encoder, transform) in runs for encoder in two)
        ]
        for transform in dict.fromkeys(t for _, t in runs if t != "none")
    }
    every = [turn for turns in asked.values() for turn in turns]
    if not every:
        return []
    after, before = (
        np.column_stack([ranked.reciprocal[one.run_id] - ranked.reciprocal[other.run_id] for one, other in pairs])
        for pairs in ([turn.after for turn in every], [turn.before for turn in every])
    )
    p = statistics.p_values(np.column_stack([after, before]), ranked.dependence).reshape(2, -1).max(axis=0)
    leads = np.stack([after.mean(axis=0), before.mean(axis=0)])
    p = np.where(leads[0] * leads[1] < 0, p, 1.0)
    out: list[Finding] = []
    start = 0
    for transform, turns in asked.items():
        if turns:
            place = start + int(np.argmin(p[start : start + len(turns)]))
            out.append(_turned(ranked, transform, every[place], leads[:, place], float(p[place]), len(turns)))
        start += len(turns)
    return out


@dataclass(frozen=True)
class Turn:
    """Two models with a transform, where they have it, and without."""

    one: RunRecord
    other: RunRecord
    plain_one: RunRecord
    plain_other: RunRecord

    @property
    def after(self) -> tuple[RunRecord, RunRecord]:
        return self.one, self.other

    @property
    def before(self) -> tuple[RunRecord, RunRecord]:
        return self.plain_one, self.plain_other


def _turned(ranked: Ranked, transform: str, turn: Turn, leads: Float64, p: float, choices: int) -> Finding:
    """``leads``: of the first model, with the transform and without."""
    is_turned = leads[0] * leads[1] < 0
    ahead, behind = turn.after if leads[0] >= 0 else turn.after[::-1]
    was_ahead, was_behind = turn.before if leads[1] >= 0 else turn.before[::-1]
    found = statistics.difference(ranked.reciprocal[ahead.run_id], ranked.reciprocal[behind.run_id], ranked.dependence)
    runs = {run.run_id: run for run in (ahead, behind, was_ahead, was_behind)}
    a, b, c, d = (f"{{{'ABCD'[list(runs).index(run.run_id)]}}}" for run in (ahead, behind, was_ahead, was_behind))
    return finding(
        ENTRY,
        list(runs.values()),
        kind=f"order-turned-by-{kebab(transform)}",
        level=Level.CAUTION,
        sentence=f"Post-processing {'decides' if is_turned else 'does not decide'} which model is better: {a} is ahead "
        f"of {b} by {found.value:.3f} MRR{ci(found, '.3f')}, {'but' if is_turned else 'and'} {c} is ahead of "
        f"{d} by {abs(leads[1]):.3f}.",
        found=found,
        test=f"sign-flip tests of both differences over {found.independent}, the less certain one"
        + (f", corrected for {choices} pairs of models" if choices > 1 else ""),
        p=min(1.0, p * choices),
        n=max(1, round(found.effective)),
        severity=float(min(1.0, np.abs(leads).min())),
        address={"view": "A against B", str(Picker.BASELINE): str(behind.plan.variant)},
    )


# --- counted facts


def facts(ranked: Ranked, material: Material) -> list[Finding]:
    """What makes scores of these runs hard to compare."""
    runs = ranked.runs
    out = [*coverage(ENTRY, runs), *(one for run in runs if (one := _tied(run)))]
    out += [one for one in (_unfair_raw_ranks(runs),) if one]
    plan = runs[0].plan
    if not catalogued(plan.dataset):
        out += [one for run in runs for one in _further_answers(run, ranked, material)]
    if plan.params["protocol"] == DEFINITION:
        stored = material.repository.finished(ENTRY, dataset=plan.dataset, params=trust.other_params(runs[0]))
        out += [one for run in runs if (other := trust.counterpart(run, stored)) if (one := _toolkit(run, other))]
    for kept in training_overlap.remembered(material.settings.training, plan.dataset_digest):
        if kept.both:
            out.append(_seen(runs, kept))
    return out


def _tied(run: RunRecord) -> Finding | None:
    m = run.metrics
    tied, pairs = m.get("tied_pairs", 0.0), m.get("pairs", 0.0)
    spread = m.get("mrr_optimistic", 0.0) - m.get("mrr_pessimistic", 0.0)
    if not tied or spread < NOTICEABLE:
        return None
    return finding(
        ENTRY,
        [run],
        kind="ties",
        level=Level.CAUTION,
        sentence=f"Ties decide part of the score of {{A}}: another text is exactly as similar as the match in "
        f"{percent(tied / pairs)} of the pairs, and MRR is {m['mrr_pessimistic']:.3f} to {m['mrr_optimistic']:.3f}, "
        "depending on how ties are broken.",
        value=tied / pairs,
        test=f"counted over {pairs:,.0f} pairs",
        n=int(pairs),
        severity=min(1.0, spread),
        address={"show": "tied", "a": str(run.plan.variant)},
    )


def _unfair_raw_ranks(runs: Sequence[RunRecord]) -> Finding | None:
    """Of the run that it changes most: it is the dataset's doing."""
    gain = {run.run_id: run.metrics.get("mrr_filtered", 0.0) - run.metrics.get("mrr", 0.0) for run in runs}
    run = max(runs, key=lambda r: gain[r.run_id])
    if gain[run.run_id] < NOTICEABLE:
        return None
    raw, kept, pairs = run.metrics["mrr"], run.metrics["mrr_filtered"], run.metrics["pairs"]
    return finding(
        ENTRY,
        [run],
        kind="raw-ranks-unfair",
        level=Level.CAUTION,
        sentence="Raw ranks count near-duplicates and further matches of a query as mistakes: without them the MRR of "
        f"{{A}} is {kept:.3f} instead of {raw:.3f}.",
        value=kept - raw,
        test=f"counted over {pairs:,.0f} pairs; of the model that it changes most",
        n=int(pairs),
        severity=min(1.0, kept - raw),
        address={"view": "trust"},
    )


def _further_answers(run: RunRecord, ranked: Ranked, material: Material) -> list[Finding]:
    """Misses on a user's own pairs that may be right answers: near-duplicates, and texts of the same group."""
    out, rows = [], ranked.rows[run.run_id]
    found = further.close_misses(run, ranked.pairs, rows, material.settings, material.repository)
    if found is not None and found.are_many:
        value = found.close / found.missed
        out.append(
            finding(
                ENTRY,
                [run],
                kind="near-duplicates-missed",
                level=Level.CAUTION,
                sentence=f"In {percent(value)} of {found.in_words} of {{A}}, the text ranked first is "
                "a near-duplicate of the query or the match: it may be as right an answer.",
                value=value,
                test=f"counted over {found.missed:,} missed pairs, raw ranks",
                n=found.missed,
                severity=min(1.0, _missed_share(ranked, run) * value),
                address={"show": "worst for A", "a": str(run.plan.variant)},
            )
        )
    kept = rows.score(filtered=True).mrr
    try:
        scores = further.scores_by_group(run, ranked.pairs, rows, material.settings, material.repository)
    except BlindspotError:  # nothing can be ranked again
        return out
    for number, (name, score) in enumerate(scores.items(), 1):
        if score.mrr - kept >= NOTICEABLE:
            column = name.translate({ord("{"): "(", ord("}"): ")"})  # a name in braces is that of a model
            out.append(
                finding(
                    ENTRY,
                    [run],
                    kind=f"same-own-column-{number}",
                    level=Level.CAUTION,
                    sentence=f"Texts of the same {column} count as mistakes of {{A}}: without them the MRR is "
                    f"{score.mrr:.3f} instead of {kept:.3f}, filtered ranks.",
                    value=score.mrr - kept,
                    test=f"counted over {score.pairs:,} pairs",
                    n=score.pairs,
                    severity=min(1.0, score.mrr - kept),
                    address={"view": "trust", **FILTERED},
                )
            )
    return out


def _toolkit(run: RunRecord, other: RunRecord) -> Finding | None:
    own, its = run.metrics["mrr"], other.metrics["mrr"]
    if abs(own - its) < NOTICEABLE:
        return None
    return finding(
        ENTRY,
        [run],
        kind="toolkit-differs",
        level=Level.CAUTION,
        sentence=f"Published EvalRank scores are not comparable with these: the published toolkit's arithmetic gives "
        f"{{A}} an MRR of {its:.3f}, the definition {own:.3f}.",
        value=its - own,
        test=f"counted over {run.metrics['pairs']:,.0f} pairs, the toolkit's {other.metrics['pairs']:,.0f}",
        n=int(run.metrics["pairs"]),
        severity=min(1.0, abs(own - its)),
        address={"view": "trust"},
    )


def _seen(runs: Sequence[RunRecord], kept: training_overlap.Remembered) -> Finding:
    return finding(
        ENTRY,
        runs,
        kind=f"in-training-set-{kept.digest[:8]}",
        level=Level.CAUTION,
        sentence=kept.warning,
        value=kept.both / kept.pairs,
        test=f"counted over {kept.pairs:,} pairs",
        n=kept.pairs,
        severity=kept.both / kept.pairs,
        address={"view": "trust"},
    )


# --- parts


def _most_lost(run: RunRecord, ranked: Ranked, places: Int64) -> list[int]:
    """Places with the worst ranks first."""
    rank = ranked.rows[run.run_id].filtered.shown[places]
    return [int(i) for i in places[np.argsort(-rank, kind="stable")]]


def _distinct(places: Sequence[int], ranked: Ranked) -> list[int]:
    """The first places of different groups of pairs: a pair and its reverse show the same."""
    seen: set[int] = set()
    out: list[int] = []
    for place in places:
        group = int(ranked.dependence.groups[place])
        if group not in seen:
            seen.add(group)
            out.append(place)
        if len(out) == MOST_EXAMPLES:
            break
    return out


def _examples(
    ranked: Ranked, places: Sequence[int], first: FirstRanked | None, run: RunRecord
) -> tuple[tuple[Example, ...], list[int]]:
    """Query, match and the text ranked first, where it is known; and the numbers of the pairs."""
    known = {} if first is None else dict(zip(first.places.tolist(), first.items.tolist(), strict=True))
    rows = ranked.rows[run.run_id].filtered
    out = []
    for place in places:
        query, match = ranked.pairs.query[place], ranked.pairs.match[place]
        texts = [("query", query), ("match", match)]
        if first is not None and known.get(place, -1) >= 0:
            texts.append(("ranked first", first.texts[known[place]]))
        note = f"The match is at rank {rows.shown[place]:,g}."
        out.append(Example(tuple(texts), note, ((), *(_new_words(query, text) for _, text in texts[1:]))))
    return tuple(out), [int(ranked.pairs.numbers[place]) for place in places]


def _new_words(query: str, text: str) -> Ranges:
    """What a text has that the query does not; nothing where most of it is new: it is another text altogether."""
    _, added = changed_ranges(query, text)
    return added if 2 * sum(end - start for start, end in added) <= len(text) else ()


def _pair(numbers: Sequence[int]) -> dict[str, str]:
    return {"item": str(numbers[0])} if numbers else {}
