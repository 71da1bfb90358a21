"""Evidence on EvalRank: each kind where it is and where it is not, slow references, and what chance does."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import ceil, comb, floor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from blindspot.datasets import training_overlap
from blindspot.diagnostics.evalrank import evidence as evalrank
from blindspot.diagnostics.evalrank import outranking
from blindspot.diagnostics.evalrank.definition import ENTRY
from blindspot.diagnostics.evalrank.evidence import Axis, Ranked, axes_of
from blindspot.diagnostics.evalrank.outranking import Families, FirstRanked, Pairs, families_of, first_ranked
from blindspot.diagnostics.evalrank.pairs import RunRows, around_match
from blindspot.numerics.ranking.problem import RankCounts, Relation
from blindspot.runs.findings import Finding, Level, Material
from blindspot.settings import Settings
from blindspot.store.records import RunRecord
from blindspot.store.repository import Repository
from blindspot.studies.findings.wording import findings
from blindspot.types import Float64, Int64
from tests.conftest import make_settings
from tests.support.finding_runs import discovered, kinds, run_record
from tests.support.small_world import SMALL_PAIRS, GramEncoder
from tests.support.tables import each
from tests.support.world import World

RUN = run_record("evalrank", "one", metrics={"background": 1_000.0})
OTHER = run_record("evalrank", "other")
BASELINE = run_record("evalrank", "random-projection")
M = 160  # pairs of two texts of their own
BACKGROUND = 1_000


def of_run(*given: Any) -> list[Finding]:
    return findings(evalrank.of_run(*given))


def of_baselines(given: Ranked) -> list[Finding]:
    return findings(evalrank.of_baselines(given))


def named(found: Sequence[Finding], kind: str) -> Finding:
    (one,) = (finding for finding in found if finding.kind == kind)
    return one


def pairs(m: int = M) -> Pairs:
    """Pairs without a text in common; every second one is long, and every fourth shares few of its words."""
    numbers = np.arange(m, dtype=np.int64)
    long = ["one two three four five six seven " if i % 2 else "" for i in range(m)]
    query = [f"{long[i]}some words about {i}" for i in range(m)]
    match = [f"{long[i]}{'others about' if i % 4 > 1 else 'some words about'} {i}" for i in range(m)]
    return Pairs(numbers, numbers, numbers + m, query, match)


def rows(ranks: Float64 | Sequence[int], filtered: Sequence[int] | None = None) -> RunRows:
    """Of ranks without ties."""
    greater = np.asarray(ranks, dtype=np.int64) - 1
    own = greater if filtered is None else np.asarray(filtered, dtype=np.int64) - 1
    none, similarity = np.zeros_like(greater), np.zeros(len(greater))
    counts = (RankCounts(similarity, some, none) for some in (greater, own))
    return RunRows(np.arange(len(greater), dtype=np.int64), *counts)


Runs = Sequence[tuple[RunRecord, RunRows]]


def ranked(given: Runs | RunRows, of: Pairs | None = None, axes: tuple[Axis, ...] | None = None) -> Ranked:
    """What runs ranked; rows alone are those of ``RUN``."""
    found = pairs() if of is None else of
    every = [(RUN, given)] if isinstance(given, RunRows) else given
    runs = [run for run, _ in every]
    return Ranked(
        [run for run in runs if run is not BASELINE],
        [run for run in runs if run is BASELINE],
        found,
        {run.run_id: one for run, one in every},
        axes_of(found) if axes is None else axes,
    )


def random_ranks(seed: int, right: Float64 | float = 0.5, m: int = M) -> RunRows:
    rng = np.random.default_rng(seed)
    return rows(np.where(rng.random(m) < right, 1, rng.integers(2, BACKGROUND, m)))


# --- kinds of pair


def test_long_pairs_that_are_missed_are_a_blind_spot_with_the_slowly_counted_share_and_test() -> None:
    long = np.arange(M) % 2 == 1
    given = random_ranks(1, np.where(long, 0.2, 0.8))
    found = of_run(RUN, ranked(given))
    one = named(found, "worst-by-length")
    assert one in discovered(found)
    assert one.level is Level.BLIND_SPOT
    hits = [rank == 1 for rank in given.filtered.shown.tolist()]
    inside = [hit for hit, is_long in zip(hits, long, strict=True) if is_long]
    rest = [hit for hit, is_long in zip(hits, long, strict=True) if not is_long]
    assert one.value == pytest.approx(sum(inside) / len(inside))
    assert one.severity == pytest.approx(sum(rest) / len(rest) - one.value)
    # Pairs without a common text are worth all but one of them.
    n, other = len(inside) - 1, len(rest) - 1
    k, hit = ceil(one.value * n), floor(sum(rest) / len(rest) * other)
    tail = sum(comb(n, j) * comb(other, k + hit - j) for j in range(k + 1) if k + hit - j <= other)
    assert one.p == pytest.approx(min(1.0, 2 * 2 * tail / comb(n + other, k + hit)))  # two kinds of length
    assert one.interval is not None
    assert one.interval.low < one.value < one.interval.high
    worst = [int(e.note.split()[-1].strip(".").replace(",", "")) for e in one.examples]
    assert worst == sorted(given.filtered.shown[long].astype(int).tolist(), reverse=True)[:3]
    assert all(example.texts[0][1].startswith("one two") for example in one.examples)


def test_kinds_that_are_ranked_alike_are_no_finding() -> None:
    found = of_run(RUN, ranked(random_ranks(2)))
    assert {"worst-by-length", "worst-by-overlap"} <= kinds(found)
    assert not discovered(found)


def test_pairs_that_share_few_words_are_a_kind_of_their_own() -> None:
    given = random_ranks(3, np.where(np.arange(M) % 4 > 1, 0.1, 0.9))
    assert "worst-by-overlap" in kinds(discovered(of_run(RUN, ranked(given))))


def test_a_pair_and_its_reverse_count_once() -> None:
    numbers = np.arange(M, dtype=np.int64)
    one = pairs(M // 2)
    both = Pairs(
        numbers,
        np.concatenate([one.query_no, one.match_no]),
        np.concatenate([one.match_no, one.query_no]),
        [*one.query, *one.match],
        [*one.match, *one.query],
    )
    half = random_ranks(4, np.where(np.arange(M // 2) % 2, 0.35, 0.65), M // 2)
    twice = rows(np.tile(half.filtered.shown, 2).astype(np.int64))
    p_of = [named(of_run(RUN, ranked(g, of)), "worst-by-length").p for g, of in ((half, one), (twice, both))]
    assert p_of[0] == p_of[1]


def test_a_kind_of_few_pairs_is_not_tested() -> None:
    few = [f"{'one two three four five six seven ' if i < 19 else ''}about {i}" for i in range(M)]
    found = axes_of(replace(pairs(), query=few, match=few))
    assert "length" not in {axis.name for axis in found}


def test_words_are_sorted_by_letters_and_frequency() -> None:
    common = "the and for you that with this have but not they from was are her his all one had out".split()
    words = [common[i % len(common)] if i % 2 else f"zyzzyva{i}" for i in range(M)]
    names = {axis.name for axis in axes_of(replace(pairs(), query=words, match=words))}
    assert names == {"length", "frequency-of-query", "frequency-of-match"}


# --- what comes first


def first_of(items: Sequence[int], texts: Mapping[int, str], places: Int64 | None = None) -> FirstRanked:
    where = np.arange(len(items), dtype=np.int64) if places is None else places
    return FirstRanked(where, np.asarray(items, dtype=np.int64), texts, BACKGROUND)


SUBSETS = ("synonym", "antonym", "negation_main", "typo", "random_mlm")
FAMILIES = Families(
    {text: (i, subset) for i in range(M) for subset, text in (("", pairs().query[i]), ("synonym", pairs().match[i]))}
    | {f"{subset} of {i}": (i, subset) for i in range(M) for subset in SUBSETS[1:]},
    SUBSETS,
)


def in_families(chosen: Sequence[str]) -> FirstRanked:
    """A rewrite of each query by its subset."""
    return first_of(range(len(chosen)), {i: f"{subset} of {i}" for i, subset in enumerate(chosen)})


def test_the_rewrite_that_comes_first_most_often_is_named_with_its_share() -> None:
    given = ranked(rows([2] * M))
    chosen = ["negation_main" if i % 3 else "typo" for i in range(M)]
    found = of_run(RUN, given, in_families(chosen), FAMILIES)
    one = named(found, "outranked-by-changed-meaning")
    assert one in discovered(found)
    assert one.value == chosen.count("negation_main") / M
    assert "negated clause" in one.sentence
    n = M - 1
    k = floor(round(one.value * n, 9))
    tail = sum(comb(n, j) * 0.25**j * 0.75 ** (n - j) for j in range(k, n + 1))
    assert one.p == pytest.approx(min(1.0, 3 * 2 * tail))
    assert one.examples[0].texts[-1] == ("ranked first", f"negation_main of {one.address['item']}")


def test_rewrites_that_come_first_by_chance_or_keep_the_meaning_are_no_finding() -> None:
    given = ranked(rows([2] * M))
    for chosen in (["typo"] * M, [SUBSETS[1 + i % 4] for i in range(M)]):
        found = of_run(RUN, given, in_families(chosen), FAMILIES)
        assert "outranked-by-changed-meaning" not in kinds(discovered(found))


def test_a_text_that_shares_more_words_than_the_match_is_a_blind_spot() -> None:
    given = ranked(rows([2] * M))
    near = {i: pairs().query[i] + " more" for i in range(M)}
    far = {i: f"nothing of it {i}" for i in range(M)}
    found = of_run(RUN, given, first_of(range(M), near))
    one = named(found, "outranked-by-shared-words")
    few = sum(i % 4 > 1 for i in range(M))  # the others' match is the query but for a letter, at an overlap of 1
    assert one.value == few / M
    assert named(of_run(RUN, given, first_of(range(M), far)), "outranked-by-shared-words").p == 1.0
    half = replace(pairs(), match=[f"others about {i}" for i in range(M)])
    assert "outranked-by-shared-words" in kinds(
        discovered(of_run(RUN, ranked(rows([2] * M), half), first_of(range(M), near)))
    )


@each("times", [1, 2, 6])
def test_the_same_text_that_comes_first_again_and_again_is_a_hub(times: int) -> None:
    items = np.concatenate([np.full(times, 7), np.arange(100, 100 + M - times)])
    found = evalrank.repeated(items, np.arange(M, dtype=np.int64), BACKGROUND)
    q = 1 / BACKGROUND
    tail = 1 - sum(comb(M, j) * q**j * (1 - q) ** (M - j) for j in range(times))
    assert found.p == pytest.approx(min(1.0, 2 * BACKGROUND * tail))
    assert found.most == times
    assert found.items == (7,)
    first = first_of(items.tolist(), {int(i): f"text {i}" for i in items})
    shown = kinds(discovered(of_run(RUN, ranked(rows([2] * M), axes=()), first)))
    assert ("outranked-by-hubs" in shown) == (times == 6)


def test_one_group_of_pairs_makes_no_hub() -> None:
    found = evalrank.repeated(np.full(M, 7), np.zeros(M, dtype=np.int64), BACKGROUND)
    assert found.most == 1
    assert found.p == 1.0


def test_without_embeddings_only_kinds_are_tested() -> None:
    assert kinds(of_run(RUN, ranked(random_ranks(1)), None)) == {"worst-by-length", "worst-by-overlap"}


# --- baselines


def test_a_run_is_compared_with_the_baseline() -> None:
    below = of_baselines(ranked([(RUN, random_ranks(1, 0.2)), (BASELINE, random_ranks(2, 0.8))]))
    (one,) = discovered(below)
    assert (one.kind, one.level) == ("worse-than-baseline", Level.BLIND_SPOT)
    slow = [np.mean(1 / random_ranks(*of).raw.shown) for of in ((1, 0.2), (2, 0.8))]
    assert one.value == pytest.approx(slow[0] - slow[1])
    above = of_baselines(ranked([(RUN, random_ranks(1, 0.8)), (BASELINE, random_ranks(2, 0.2))]))
    assert kinds(discovered(above), Level.STRENGTH) == {"better-than-baseline"}
    alike = of_baselines(ranked([(RUN, random_ranks(1)), (BASELINE, random_ranks(2))]))
    assert kinds(discovered(alike)) == {"no-better-than-baseline"}
    assert of_baselines(ranked([(RUN, random_ranks(1))])) == []


# --- facts


def material(settings: Settings, *runs: RunRecord) -> Material:
    return Material(runs, (), Repository.at(settings.store), settings)


FAIR = {"mrr": 0.5, "mrr_filtered": 0.5, "mrr_optimistic": 0.5, "mrr_pessimistic": 0.5, "tied_pairs": 0.0, "pairs": 160}


def facts(settings: Settings, coverage: Mapping[str, int] | None = None, **metrics: float) -> list[Finding]:
    run = run_record("evalrank", "one", metrics={**FAIR, **metrics}, coverage=coverage)
    every = ranked([(run, random_ranks(1))])
    return findings(evalrank.facts(every, material(settings, run)))


def test_facts_are_counted_where_they_are(tmp_path: Path) -> None:
    settings = make_settings(tmp_path / "cache")
    assert facts(settings) == []
    (ties,) = facts(settings, tied_pairs=40.0, mrr_optimistic=0.6, mrr_pessimistic=0.4)
    assert (ties.kind, ties.value, ties.p) == ("ties", 0.25, None)
    assert ties.severity == pytest.approx(0.2)
    assert facts(settings, tied_pairs=1.0, mrr_optimistic=0.501) == []
    (raw,) = facts(settings, mrr_filtered=0.6)
    assert (raw.kind, raw.level) == ("raw-ranks-unfair", Level.CAUTION)
    assert raw.value == pytest.approx(0.1)
    counts = {"pairs": 160, "pairs_covered": 80, "items": 320, "items_covered": 200}
    (few,) = facts(settings, counts)
    assert (few.kind, few.value) == ("low-coverage", 0.5)
    training = training_overlap.training_set(
        "seen.txt", [[q, m] for q, m in zip(pairs().query, pairs().match, strict=True)][:40]
    )
    training_overlap.remember(
        settings.training,
        RUN.plan.dataset_digest,
        training,
        training_overlap.overlap(pairs().query, pairs().match, training),
    )
    (seen,) = facts(settings)
    assert seen.value == 0.25
    assert seen.level is Level.CAUTION


# --- chance


@pytest.mark.slow
def test_chance_shows_a_blind_spot_in_at_most_one_of_twenty_stores() -> None:
    """Three runs and a baseline of one quality, whose ranks have nothing to do with the pairs."""
    rng = np.random.default_rng(11)
    runs = [RUN, OTHER, run_record("evalrank", "one~center")]
    given, axes = pairs(), axes_of(pairs())
    changed = np.array(SUBSETS[1:])
    false = 0
    for i in range(200):
        store = ranked([(run, random_ranks(1_000 * i + j)) for j, run in enumerate([*runs, BASELINE])], given, axes)
        found: list[Finding] = []
        for run in runs:
            missed = np.flatnonzero(store.rows[run.run_id].filtered.greater > 0)
            items = rng.integers(0, BACKGROUND, len(missed))
            if i % 2:
                texts = {int(item): f"words about {rng.integers(M)}" for item in items}
                found += of_run(run, store, first_of(items.tolist(), texts, missed))
            else:
                texts = {int(n): f"{rng.choice(changed)} of {n}" for n in missed}
                found += of_run(run, store, first_of(missed.tolist(), texts, missed), FAMILIES)
        found += of_baselines(store)
        false += bool(kinds(discovered(found), Level.BLIND_SPOT))
    assert false <= 10


# --- what comes first, from embeddings


@pytest.mark.parametrize("metric", ["cos", "l2"])
@pytest.mark.parametrize("variant", ["trigrams", "trigrams~center"])
def test_the_first_ranked_text_is_the_first_of_the_slow_ranking_that_is_a_mistake(
    small: World, metric: str, variant: str
) -> None:
    run = small.run("evalrank", variant, "small-pairs", metric=metric)
    given = Material([run], (), small.repository, small.settings)
    (every,) = evalrank.read(given)
    missed = np.flatnonzero(every.rows[run.run_id].filtered.greater > 0)
    found = first_ranked(run, every.pairs, missed, small.settings, small.repository)
    assert found is not None
    assert found.background == len(SMALL_PAIRS.items)
    for place, item in zip(found.places.tolist(), found.items.tolist(), strict=True):
        query, match = int(every.pairs.query_no[place]), int(every.pairs.match_no[place])
        slow = around_match(run, query, match, small.settings, small.repository)
        above = [one for one in slow if one.relation is Relation.ABOVE and not one.left_out]
        assert item in [one.item_no for one in above if one.similarity >= above[0].similarity - 1e-6]
        assert found.texts[item] == SMALL_PAIRS.items[item]


def test_few_are_looked_at_where_pairs_are_many(small: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(outranking, "PRODUCTS", 0)
    monkeypatch.setattr(outranking, "FEWEST", 2)
    outranking._first_ranked.cache_clear()
    run = small.run("evalrank", "trigrams", "small-pairs")
    (every,) = evalrank.read(Material([run], (), small.repository, small.settings))
    missed = np.flatnonzero(every.rows[run.run_id].filtered.greater > 0)
    found = first_ranked(run, every.pairs, missed, small.settings, small.repository)
    assert found is not None
    assert found.places.tolist() == [missed[0], missed[-1]]
    outranking._first_ranked.cache_clear()


def test_embeddings_that_are_gone_and_the_toolkit_have_no_first_ranked_texts(small: World) -> None:
    outranking._first_ranked.cache_clear()
    runs = [small.run("evalrank", "trigrams", "small-pairs", protocol=p) for p in ("definition", "toolkit")]
    (one, other) = (evalrank.read(Material([run], (), small.repository, small.settings))[0] for run in runs)
    for folder in (small.settings.embeddings).iterdir():
        folder.rename(small.cache / folder.name)
    missed = np.arange(1, dtype=np.int64)
    for run, every in zip(runs, (one, other), strict=True):
        assert first_ranked(run, every.pairs, missed, small.settings, small.repository) is None


def test_the_demo_pairs_are_families_of_rewrites(tmp_path: Path) -> None:
    settings = make_settings(tmp_path / "cache")
    found = families_of("demo-pairs", settings)
    assert found is not None
    assert len(found.places) == 1_400
    assert families_of("demo-words", settings) is None
    assert families_of("evalrank-sent", settings) is None
    assert families_of("no such", settings) is None


# --- through the store


def test_findings_of_stored_runs(small: World) -> None:
    """The runs of a definition, of a similarity, and of an encoder that lacks texts are looked at apart."""
    small.add(GramEncoder("partial", lacks=lambda text: "sofa" in text), GramEncoder("random-projection", size=1))
    runs = [small.run("evalrank", v, "small-pairs") for v in ("trigrams", "trigrams~center", "partial")]
    small.run("evalrank", "trigrams", "small-pairs", protocol="toolkit")
    base = small.run("evalrank", "random-projection", "small-pairs")
    found = findings(evalrank.evidence(Material(runs, [base], small.repository, small.settings)))
    assert len({finding.id for finding in found}) == len(found)
    assert {"outranked-by-hubs", "low-coverage", "raw-ranks-unfair"} <= kinds(found)
    assert all(finding.page == ENTRY.deeper for finding in found)
    assert findings(evalrank.evidence(Material([], [], small.repository, small.settings))) == []
