"""EvalRank's intervals and tests, computed from stored rows: against loops, and on the command line."""

from __future__ import annotations

import numpy as np
import pytest
from statsmodels.stats.multitest import multipletests

from blindspot.datasets.kinds.pairs import PairSet
from blindspot.datasets.published import pairs as loaders
from blindspot.diagnostic import find_diagnostic
from blindspot.diagnostics.evalrank import uncertainty as numbers
from blindspot.diagnostics.evalrank.pairs import pair_table
from blindspot.diagnostics.evalrank.uncertainty import COMPARED, TESTED, WITH_INTERVAL, Contrast, Sample, Verdict
from blindspot.errors import InputError
from blindspot.numerics.statistics import pairs as statistics
from blindspot.numerics.statistics import resampling
from blindspot.numerics.statistics.estimate import Unit
from blindspot.runs.comparison import paired_tests
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
        mate = query[: 6 if i % 2 else 4] + SYLLABLES[i % 12] + ("" if i % 3 else SYLLABLES[i % 7])
        pairs += [(query, mate + "x" * (i // 12)), (mate + "x" * (i // 12), query)]
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


def sample_of(world: World, shared: float) -> tuple[list[RunRecord], Sample]:
    runs = [world.run("evalrank", encoder, f"words-{shared}") for encoder in ENCODERS]
    ids = [run.run_id for run in runs]
    return runs, numbers.one_sample(pair_table(ENTRY, ids, world.repository), ids, WITH_INTERVAL)


@pytest.mark.parametrize(("shared", "unit"), [(0.0, Unit.COMPONENTS), (0.6, Unit.TEXTS)], ids=["groups", "texts"])
def test_values_are_the_stored_scores_and_the_data_decide_what_is_independent(
    world: World, shared: float, unit: Unit
) -> None:
    runs, sample = sample_of(world, shared)
    assert sample.dependence.unit is unit
    estimates = sample.estimates()
    for run in runs:
        assert set(estimates[run.run_id]) == set(WITH_INTERVAL)
        for metric, estimate in estimates[run.run_id].items():
            assert estimate.value == run.metrics[metric]
            assert (estimate.unit, estimate.units) == (unit, sample.dependence.units)
            if unit is Unit.TEXTS and "median" in metric:
                assert estimate.interval is None
                assert "median" in estimate.refusal
            else:
                assert estimate.interval.low <= estimate.value <= estimate.interval.high
                assert estimate.interval.low < estimate.interval.high or "median" in metric
    said = numbers.method_in_words(sample)
    assert sample.dependence.independent in said
    assert ("dyadic" in said) == (unit is Unit.TEXTS)


def test_estimates_are_those_of_the_pairs_and_medians_a_loop_over_drawn_groups(world: World) -> None:
    runs, sample = sample_of(world, 0.0)
    first, second = (run.run_id for run in runs[:2])
    rows = world.repository.items(ENTRY, [first, second], texts=False).set_index(["run_id", "item_no"]).sort_index()
    rank = {r: (1 + rows.loc[r]["greater"] + rows.loc[r]["ties"] / 2).to_numpy() for r in (first, second)}
    groups = sample.dependence.groups
    number = groups.max() + 1
    draw = np.random.default_rng(resampling.SEED)
    medians = []
    for _ in range(2_000):
        drawn = np.concatenate([np.flatnonzero(groups == c) for c in draw.integers(number, size=number)])
        medians.append([np.median(rank[r][drawn]) for r in (first, second)])
    found = sample.estimates()[first]["median_rank"].interval
    assert (found.low, found.high) == pytest.approx(tuple(np.quantile(np.array(medians)[:, 0], [0.025, 0.975])))
    (moved,) = sample.differences([Contrast("median_rank", first, second)])
    expected = np.quantile(np.array(medians) @ [1, -1], [0.025, 0.975])
    assert (moved.interval.low, moved.interval.high) == pytest.approx(tuple(expected))

    (difference,) = sample.differences([Contrast("mean_rank", first, second)])
    assert difference.estimate == statistics.difference(rank[first], rank[second], sample.dependence, np.inf)
    assert sample.dependence.units < 60
    assert difference.p_value is difference.smallest is None, "a single rank can outweigh all others"
    (by_mrr,) = sample.differences([Contrast("mrr", first, second)])
    paired = (sample.values[first, "mrr"] - sample.values[second, "mrr"])[:, np.newaxis]
    assert by_mrr.smallest == statistics.smallest_detectable(paired, sample.dependence, 1, 0.05)[0]
    assert by_mrr.p_value == statistics.p_values(paired, sample.dependence)[0]
    assert by_mrr.p_value >= resampling.sign_flip_p_values(paired, groups)[0], "whole groups are turned"
    assert sample.estimates()[first]["mean_rank"] == statistics.mean_rank(rank[first], sample.dependence)
    reciprocal = sample.values[first, "mrr"]
    assert sample.estimates()[first]["mrr"] == statistics.share(reciprocal, sample.dependence)
    assert difference.wins == np.count_nonzero(rank[first] < rank[second])
    assert difference.losses == np.count_nonzero(rank[first] > rank[second])
    assert difference.wins + difference.ties + difference.losses == len(rank[first])


@pytest.mark.heavy
def test_the_scores_of_two_runs_are_corrected_together_and_as_everywhere(world: World) -> None:
    runs, sample = sample_of(world, 0.0)
    differences = numbers.against(sample, runs[0].run_id, COMPARED)
    assert len(differences) == 2 * len(COMPARED)
    tested = [d for d in differences if d.p_value is not None]
    assert {d.contrast.metric for d in tested} == set(TESTED) - {"mean_rank"}
    for run in runs[1:]:
        own = {d.contrast.metric: d for d in tested if d.contrast.run_id == run.run_id}
        for family in (("mrr", "hits@1"), ("hits@3", "hits@10")):
            corrected = multipletests([own[metric].p_value for metric in family], method="holm")[1]
            assert [own[metric].p_corrected for metric in family] == pytest.approx(corrected.tolist())
        (main,) = paired_tests(ENTRY, [(run, runs[0])], world.repository)
        assert [test.score for test in main] == ["mrr", "hits@1"]
        for test in main:
            same = own[test.score]
            assert (test.value, test.p_corrected, test.verdict) == (same.value, same.p_corrected, same.verdict)
    assert {d.verdict for d in differences if d.p_value is None} <= {Verdict.UNTESTED, Verdict.ALIKE}
    assert {d.verdict for d in tested} >= {Verdict.WORSE, Verdict.ALIKE}
    for d in tested:
        if d.verdict in {Verdict.BETTER, Verdict.WORSE}:
            assert d.p_corrected < 0.05
            assert (d.verdict is Verdict.BETTER) == ((d.value > 0) != (d.contrast.metric == "mean_rank"))
    reverse = numbers.against(sample, runs[1].run_id, COMPARED)
    back = next(d for d in reverse if d.contrast == Contrast("mrr", runs[0].run_id, runs[1].run_id))
    forth = next(d for d in differences if d.contrast == Contrast("mrr", runs[1].run_id, runs[0].run_id))
    assert back.value == -forth.value
    assert (back.p_value, back.wins, back.losses) == (forth.p_value, forth.losses, forth.wins)
    assert {back.verdict, forth.verdict} in ({Verdict.BETTER, Verdict.WORSE}, {Verdict.ALIKE})


def test_a_run_is_the_same_as_itself_and_among_the_best(world: World) -> None:
    runs, sample = sample_of(world, 0.0)
    (none,) = sample.differences([Contrast("mrr", runs[0].run_id, runs[0].run_id)])
    assert (none.verdict, none.p_value, none.value, none.smallest) == (Verdict.ALIKE, 1.0, 0.0, None)
    marked = numbers.best_and_inseparable(sample)
    assert set(marked) == {f"{name}{suffix}" for suffix in ("", "_filtered") for name in TESTED}
    for metric, ids in marked.items():
        values = {run.run_id: run.metrics[metric] for run in runs}
        best = (min if metric.startswith("mean_rank") else max)(values, key=values.__getitem__)
        assert best in ids
        if not metric.endswith("_filtered"):
            others = numbers.against(sample, best, TESTED)
            same_family = {d.contrast.run_id: d for d in others if d.contrast.metric == metric}
            for run_id, d in same_family.items():
                if d.verdict is Verdict.WORSE and d.p_corrected < 0.01:
                    assert run_id not in ids
    assert runs[2].run_id not in marked["mrr"], "the worst by far"


def test_pairs_that_are_worth_too_little_have_neither_interval_nor_verdict(world: World) -> None:
    """All pairs share one text: A was called better than B in 65 to 86 of 100 such cases without a difference."""
    runs, sample = sample_of(world, 1.0)
    reason = "share one text"
    assert reason in sample.dependence.refusal
    for estimate in sample.estimates()[runs[0].run_id].values():
        assert estimate.interval is None
        assert reason in estimate.refusal
    assert reason in numbers.method_in_words(sample)
    differences = numbers.against(sample, runs[0].run_id, COMPARED)
    assert all(d.interval is None and d.smallest is None and d.p_value is None for d in differences)
    assert {d.verdict for d in differences} <= {Verdict.UNTESTED, Verdict.ALIKE}
    assert reason in numbers.summary(differences, {m: m for m in COMPARED})
    marked = numbers.best_and_inseparable(sample)
    assert all(len(ids) == 1 for ids in marked.values()), "what is not tested is not called alike"


@pytest.fixture(scope="module")
def on_own_support(world: World, tmp_path_factory: pytest.TempPathFactory) -> list[RunRecord]:
    """Two files of vectors that cover different words."""
    folder, words = tmp_path_factory.mktemp("vectors"), list(pairs_of_words(0.0).items)
    files = [write_vectors(folder / "a.txt", words[:80], 1), write_vectors(folder / "b.txt", words[20:], 2)]
    return [world.run("evalrank", file, "words-0.0") for file in files]


def test_on_own_support_scores_have_intervals_and_cannot_be_compared(
    on_own_support: list[RunRecord], repository: Repository
) -> None:
    ids = [run.run_id for run in on_own_support]
    table = pair_table(ENTRY, ids, repository)
    found = numbers.samples(table, ids, WITH_INTERVAL)
    assert [sample.run_ids for sample in found] == [(ids[0],), (ids[1],)]
    for sample, run in zip(found, on_own_support, strict=True):
        assert len(sample.queries) == run.metrics["pairs"]
        assert all(e.value == run.metrics[m] for m, e in sample.estimates()[run.run_id].items())
    with pytest.raises(InputError, match=r"ranked different pairs.*--support common"):
        numbers.one_sample(table, ids, WITH_INTERVAL)


# --- the command line


@pytest.mark.heavy
def test_scores_and_comparison_on_the_command_line_are_the_same_numbers(
    world: World, repository: Repository, blindspot: Command
) -> None:
    runs, _ = sample_of(world, 0.0)
    ids = [run.run_id for run in runs[:2]]
    sample = numbers.one_sample(pair_table(ENTRY, ids, repository), ids, WITH_INTERVAL)
    done = blindspot("runs", "scores", *ids, "--json")
    assert (done.code, done.err) == (0, "")
    for run, said in zip(runs, done.json["runs"], strict=False):
        known = sample.dependence
        assert said["run_id"] == run.run_id
        assert said["independent"] == {"unit": known.unit, "units": known.units, "effective": known.effective}
        for metric, estimate in sample.estimates()[run.run_id].items():
            expected = {"value": estimate.value, "low": estimate.low, "high": estimate.high, "no_interval": None}
            assert said["scores"][metric] == expected
    table = blindspot("runs", "scores", *ids).out
    shown = sample.estimates()[ids[0]]["mrr"]
    assert f"{shown.value:.4f} [{shown.interval.low:.4f}, {shown.interval.high:.4f}]" in table

    for ranks, suffix in (("raw", ""), ("filtered", "_filtered")):
        expected = numbers.against(sample, ids[1], [f"{m}{suffix}" for m in COMPARED])
        done = blindspot("runs", "compare", *ids, "--ranks", ranks, "--json")
        assert (done.code, done.err) == (0, "")
        for row, d in zip(done.json["metrics"], expected, strict=True):
            assert (row["metric"], row["difference"], row["p_value"]) == (d.contrast.metric, d.value, d.p_value)
            assert (row["p_corrected"], row["smallest_detectable"]) == (d.p_corrected, d.smallest)
            assert (row["low"], row["high"]) == (d.estimate.low, d.estimate.high)
            assert row["no_interval"] == (d.estimate.refusal or None)
            assert (row["wins"], row["ties"], row["losses"]) == (d.wins, d.ties, d.losses)
            assert row["verdict"] == d.verdict
    table = blindspot("runs", "compare", *ids).out
    assert numbers.summary(numbers.against(sample, ids[1], COMPARED), {m: m for m in COMPARED}) in table


def test_what_cannot_be_compared_is_said_in_one_line(
    on_own_support: list[RunRecord], world: World, blindspot: Command
) -> None:
    ids = [run.run_id for run in on_own_support]
    encoder = on_own_support[0].plan.variant.encoder
    toolkit = world.run("evalrank", encoder, "words-0.0", protocol="toolkit").run_id
    for arguments, said in [
        (ids, "the runs ranked different pairs"),
        ((ids[0], toolkit), f"run {ids[0]} is by the protocol definition, run {toolkit} by toolkit"),
    ]:
        done = blindspot("runs", "compare", *arguments)
        assert done.code == 2
        assert done.error.startswith(said)
    done = blindspot("runs", "scores", *ids)
    assert done.code == 0
    assert "not comparable" in done.out
