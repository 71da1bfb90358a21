"""EvalRank's intervals and tests, computed from stored rows: against loops, and on the command line."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from statsmodels.stats.multitest import multipletests

from blindspot.datasets.kinds.pairs import PairSet
from blindspot.datasets.published import pairs as loaders
from blindspot.diagnostic import find_diagnostic
from blindspot.diagnostics.evalrank import uncertainty as numbers
from blindspot.diagnostics.evalrank.page import uncertainty
from blindspot.diagnostics.evalrank.pairs import pair_table
from blindspot.diagnostics.evalrank.uncertainty import WITH_INTERVAL
from blindspot.errors import InputError
from blindspot.numerics.statistics import pairs as statistics
from blindspot.numerics.statistics import resampling
from blindspot.numerics.statistics.compare import FILTERED, MAIN, PairedTest, Verdict, best_and_alike
from blindspot.numerics.statistics.estimate import Unit
from blindspot.runs.comparison import fields, in_words, paired_tests
from blindspot.settings import Settings
from blindspot.store.records import RunRecord
from blindspot.store.repository import Repository
from tests.support.animals import write_vectors
from tests.support.commands import Command
from tests.support.small_world import GramEncoder
from tests.support.world import World

ENTRY = find_diagnostic("evalrank")
ENCODERS = ("bigrams", "trigrams", "pentagrams")
SYLLABLES = "ba de fi go lu ma ne pi ro su ta ve".split()


def pairs_of_words(shared: float, count: int = 40) -> PairSet:
    """Made-up words and their variations, both ways round; the share ``shared`` of them vary one word.

    In between 0 and 1 every word is also paired with the next one, which connects all of them.
    """
    draw = np.random.default_rng(4)
    words = ["".join(draw.choice(SYLLABLES, 3)) for _ in range(3 * count)]
    pairs = []
    for i in range(count):
        query = words[0] if i < shared * count else words[i]
        match = query[: 6 if i % 2 else 4] + SYLLABLES[i % 12] + ("" if i % 3 else SYLLABLES[i % 7])
        pairs += [(query, match + "x" * (i // 12)), (match + "x" * (i // 12), query)]
        if 0 < shared < 1:
            pairs.append((words[i], words[(i + 1) % count]))
    return loaders.pair_set(f"words-{shared}", pairs, words)


@pytest.fixture(scope="module")
def world(module_world: World) -> World:
    encoders = (GramEncoder(name, size) for size, name in zip((2, 3, 5), ENCODERS, strict=True))
    return module_world.add(*encoders, *(pairs_of_words(shared) for shared in (0.0, 0.6, 1.0)))


@pytest.fixture
def settings(world: World) -> Settings:
    return world.settings


def scores_of(world: World, shared: float) -> tuple[list[RunRecord], numbers.Scores]:
    runs = [world.run("evalrank", encoder, f"words-{shared}") for encoder in ENCODERS]
    ids = [run.run_id for run in runs]
    return runs, numbers.one_group(pair_table(ENTRY, ids, world.repository), ids)


def against(world: World, run: RunRecord, baseline: RunRecord, family: str = MAIN) -> dict[str, PairedTest]:
    (tests,) = paired_tests(ENTRY, [(run, baseline)], world.repository, family, every=True)
    return {test.score: test for test in tests}


@pytest.mark.parametrize(("shared", "unit"), [(0.0, Unit.COMPONENTS), (0.6, Unit.TEXTS)], ids=["groups", "texts"])
def test_values_are_the_stored_scores_and_the_data_decide_what_is_independent(
    world: World, shared: float, unit: Unit
) -> None:
    runs, scores = scores_of(world, shared)
    known = scores[runs[0].run_id]["mrr"].known
    assert known.unit is unit
    found = numbers.Estimated.of(scores)
    for run in runs:
        assert set(found.estimates[run.run_id]) == set(WITH_INTERVAL)
        for metric, estimate in found.estimates[run.run_id].items():
            assert estimate.value == run.metrics[metric]
            assert (estimate.unit, estimate.units) == (unit, known.units)
            if unit is Unit.TEXTS and "median" in metric:
                assert estimate.interval is None
                assert "median" in estimate.refusal
            else:
                assert estimate.interval.low <= estimate.value <= estimate.interval.high
                assert estimate.interval.low < estimate.interval.high or "median" in metric
    assert known.independent in found.method
    assert ("dyadic" in found.method) == (unit is Unit.TEXTS)


def test_estimates_are_those_of_the_pairs_and_medians_a_loop_over_drawn_groups(world: World) -> None:
    runs, scores = scores_of(world, 0.0)
    first, second = (run.run_id for run in runs[:2])
    rows = world.repository.items(ENTRY, [first, second], texts=False).set_index(["run_id", "item_no"]).sort_index()
    rank = {r: (1 + rows.loc[r]["greater"] + rows.loc[r]["ties"] / 2).to_numpy() for r in (first, second)}
    known = scores[first]["mrr"].known
    number = known.groups.max() + 1
    draw = np.random.default_rng(resampling.SEED)
    medians = []
    for _ in range(2_000):
        drawn = np.concatenate([np.flatnonzero(known.groups == c) for c in draw.integers(number, size=number)])
        medians.append([np.median(rank[r][drawn]) for r in (first, second)])
    found = scores[first]["median_rank"].estimate.interval
    assert (found.low, found.high) == pytest.approx(tuple(np.quantile(np.array(medians)[:, 0], [0.025, 0.975])))
    tests = against(world, *runs[:2])
    moved, expected = tests["median_rank"], np.quantile(np.array(medians) @ [1, -1], [0.025, 0.975])
    assert (moved.interval.low, moved.interval.high) == pytest.approx(tuple(expected))
    assert moved.value == np.median(rank[first]) - np.median(rank[second])
    assert (moved.p, moved.verdict, moved.refusal) == (None, Verdict.UNTESTED, "tests are of means, not of medians")

    difference = tests["mean_rank"]
    assert difference.interval == statistics.difference(rank[first], rank[second], known, np.inf).interval
    assert known.units < 60
    assert difference.p is difference.detectable is None, "a single rank can outweigh all others"
    by_mrr, one, other = tests["mrr"], scores[first]["mrr"].parts, scores[second]["mrr"].parts
    paired = (one - other)[:, np.newaxis]
    assert by_mrr.detectable == statistics.smallest_detectable(paired, known, 2, 0.05)[0]
    assert by_mrr.p == statistics.p_values(paired, known)[0]
    assert by_mrr.p >= resampling.sign_flip_p_values(paired, known.groups)[0], "whole groups are turned"
    assert scores[first]["mean_rank"].estimate == statistics.mean_rank(rank[first], known)
    assert scores[first]["mrr"].estimate == statistics.share(one, known)
    assert (by_mrr.wins, by_mrr.losses) == (np.count_nonzero(one > other), np.count_nonzero(one < other))
    assert by_mrr.wins + by_mrr.alike + by_mrr.losses == len(one)
    some = scores[first]["median_rank"].among(scores[first]["mrr"].numbers[:30])
    assert some.value == np.median(rank[first][:30])
    assert some.estimate.units == known.of_some(np.arange(30)).units


@pytest.mark.heavy
def test_the_scores_of_two_runs_are_corrected_in_families(world: World) -> None:
    runs, _ = scores_of(world, 0.0)
    verdicts = set()
    for run in runs[1:]:
        for family, by in ((MAIN, ""), (FILTERED, "_filtered")):
            own = against(world, run, runs[0], family)
            assert list(own) == [f"{name}{by}" for name in numbers.NAMES]
            for names in (("mrr", "hits@1"), ("hits@3", "hits@10")):
                some = [own[f"{name}{by}"] for name in names]
                corrected = multipletests([test.p for test in some], method="holm")[1]
                assert [test.p_corrected for test in some] == pytest.approx(corrected.tolist())
            assert {name for name, test in own.items() if test.p is None} == {f"mean_rank{by}", f"median_rank{by}"}
            verdicts |= {test.verdict for test in own.values() if test.p is not None}
        (main,) = paired_tests(ENTRY, [(run, runs[0])], world.repository)
        forth = against(world, run, runs[0])
        assert [replace(test, detectable=None) for test in list(forth.values())[:2]] == list(main)
        back = against(world, runs[0], run)["mrr"]
        assert (back.value, back.p) == (-forth["mrr"].value, forth["mrr"].p)
        assert {back.verdict, forth["mrr"].verdict} in ({Verdict.BETTER, Verdict.WORSE}, {Verdict.ALIKE})
    assert verdicts >= {Verdict.WORSE, Verdict.ALIKE}


def test_a_run_is_the_same_as_itself_and_among_the_best(world: World) -> None:
    runs, scores = scores_of(world, 0.0)
    none = against(world, runs[0], runs[0])["mrr"]
    assert (none.verdict, none.p, none.value, none.detectable) == (Verdict.ALIKE, 1.0, 0.0, None)
    marked = best_and_alike(scores)
    names = {name for name in numbers.NAMES if not name.endswith("_rank")}  # of ranks there are too few groups
    assert set(marked) == names | {f"{name}_filtered" for name in names}
    for metric, ids in marked.items():
        values = {run.run_id: run.metrics[metric] for run in runs}
        best = max(values, key=values.__getitem__)
        family = FILTERED if metric.endswith("_filtered") else MAIN
        for run in runs:
            test = against(world, run, next(one for one in runs if one.run_id == best), family)[metric]
            assert (run.run_id in ids) == (run.run_id == best or test.verdict is Verdict.ALIKE)
    assert runs[2].run_id not in marked["mrr"], "the worst by far"


def test_pairs_that_are_worth_too_little_have_neither_interval_nor_verdict(world: World) -> None:
    """All pairs share one text: A was called better than B in 65 to 86 of 100 such cases without a difference."""
    runs, scores = scores_of(world, 1.0)
    reason = "share one text"
    found = numbers.Estimated.of(scores)
    assert reason in found.refusal
    assert reason in found.method
    for estimate in found.estimates[runs[0].run_id].values():
        assert estimate.interval is None
        assert reason in estimate.refusal
    tests = against(world, *runs[:2]).values()
    assert all(test.interval is None and test.detectable is None and test.p is None for test in tests)
    assert {test.verdict for test in tests} == {Verdict.UNTESTED}
    assert reason in in_words(list(tests), "A", "B")[0]
    assert best_and_alike(scores) == {}, "what is not tested is not called alike"


def test_rows_are_marked_where_all_runs_were_compared(world: World) -> None:
    runs, scores = scores_of(world, 0.0)
    estimated = numbers.Estimated.of(scores)
    marked = uncertainty.marks([estimated], runs) or {}
    assert marked.keys() == estimated.alike.keys() != set()
    for metric, rows in marked.items():
        assert {runs[row].run_id for row in rows} == set(estimated.alike[metric])
    assert uncertainty.marks([estimated], runs[:1]) is None
    assert uncertainty.marks([estimated, estimated], runs) is None


@pytest.fixture(scope="module")
def on_own_items(world: World, tmp_path_factory: pytest.TempPathFactory) -> list[RunRecord]:
    """Two files of vectors that cover different words."""
    folder, words = tmp_path_factory.mktemp("vectors"), list(pairs_of_words(0.0).items)
    files = [write_vectors(folder / "a.txt", words[:80], 1), write_vectors(folder / "b.txt", words[20:], 2)]
    return [world.run("evalrank", file, "words-0.0") for file in files]


def test_on_own_coverage_scores_have_intervals_and_cannot_be_compared(
    on_own_items: list[RunRecord], repository: Repository
) -> None:
    ids = [run.run_id for run in on_own_items]
    table = pair_table(ENTRY, ids, repository)
    found = numbers.groups(table, ids)
    assert [list(group) for group in found] == [[ids[0]], [ids[1]]]
    for group, run in zip(found, on_own_items, strict=True):
        estimated = numbers.Estimated.of(group)
        assert estimated.pairs == run.metrics["pairs"]
        assert all(e.value == run.metrics[m] for m, e in estimated.estimates[run.run_id].items())
    with pytest.raises(InputError, match=r"ranked different pairs.*--support common"):
        numbers.one_group(table, ids)


# --- the command line


@pytest.mark.heavy
def test_scores_and_comparison_on_the_command_line_are_the_same_numbers(world: World, blindspot: Command) -> None:
    runs, scores = scores_of(world, 0.0)
    ids = [run.run_id for run in runs[:2]]
    done = blindspot("runs", "scores", *ids, "--json")
    assert (done.code, done.err) == (0, "")
    known = scores[ids[0]]["mrr"].known
    for run, said in zip(runs, done.json["runs"], strict=False):
        assert said["run_id"] == run.run_id
        assert said["independent"] == {"unit": known.unit, "units": known.units, "effective": known.effective}
        for metric, score in scores[run.run_id].items():
            estimate = score.estimate
            expected = {"value": estimate.value, "low": estimate.low, "high": estimate.high, "no_interval": None}
            assert said["scores"][metric] == expected
    table = blindspot("runs", "scores", *ids).out
    shown = scores[ids[0]]["mrr"].estimate
    assert f"{shown.value:.3f} ({shown.interval.low:.3f} to {shown.interval.high:.3f})" in table

    for ranks, family in (("raw", MAIN), ("filtered", FILTERED)):
        expected = against(world, runs[0], runs[1], family)
        done = blindspot("runs", "compare", *ids, "--ranks", ranks, "--json")
        assert (done.code, done.err) == (0, "")
        assert done.json["scores"] == [fields(test) for test in expected.values()]
    out = " ".join(blindspot("runs", "compare", *ids).out.split())
    assert all(sentence in out for sentence in in_words(list(against(world, *runs[:2]).values()), *ENCODERS[:2]))


def test_what_cannot_be_compared_is_said_in_one_line(
    on_own_items: list[RunRecord], world: World, blindspot: Command
) -> None:
    ids = [run.run_id for run in on_own_items]
    encoder = on_own_items[0].plan.variant.encoder
    toolkit = world.run("evalrank", encoder, "words-0.0", protocol="toolkit").run_id
    for arguments, said in [
        (ids, "the runs ranked different pairs"),
        ((ids[0], toolkit), f"run {ids[0]} has protocol definition, run {toolkit} toolkit"),
    ]:
        done = blindspot("runs", "compare", *arguments)
        assert done.code == 2
        assert done.error.startswith(said)
    done = blindspot("runs", "scores", *ids)
    assert done.code == 0
    assert "not comparable" in done.out
