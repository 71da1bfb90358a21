"""Collecting findings: which runs they are made of, and which of them are shown."""

from __future__ import annotations

from dataclasses import replace

import pytest

from blindspot.diagnostic import all_diagnostics
from blindspot.errors import BlindspotError
from blindspot.runs.findings import Finding, Level, Material
from blindspot.runs.findings.rule import Compared, Rival, by_chance, furthest_ahead, p_of
from blindspot.store.records import RunRecord
from blindspot.studies.findings import collection, general, wording
from blindspot.studies.findings.collection import RunsOf, Selection, collect, discoveries, select
from blindspot.variants import Variant
from tests.support.small_world import SMALL_PAIRS, GramEncoder
from tests.support.world import World


@pytest.fixture(scope="module")
def filled(module_world: World) -> World:
    """EvalRank of two encoders, one of them centered too, and a run of l2; Geometry of one."""
    module_world.add(GramEncoder(), GramEncoder("bigrams", 2), SMALL_PAIRS)
    for variant in ("trigrams", "bigrams", "trigrams~center"):
        module_world.run("evalrank", variant, "small-pairs")
    module_world.run("evalrank", "trigrams", "small-pairs", metric="l2")
    module_world.run("geometry", "trigrams", "small-pairs")
    return module_world


def finding(run: RunRecord, p: float | None, severity: float = 0.5, level: Level = Level.BLIND_SPOT) -> Finding:
    """One with this p-value; None for a counted fact, a caution."""
    lead = 0.1 if level is Level.STRENGTH else -0.1
    against = () if p is None else by_chance(lead, p)
    level = Level.CAUTION if p is None else level
    return Finding(
        "kind", level, "{A} fails.", "evalrank", "d", (run,), 1.0, "a test", 10, severity, "evalrank",
        p=p, against=against,
    )  # fmt: skip


def compared(rival: Rival, lead: float, p: float) -> Compared:
    return Compared(rival, lead, p)


def test_a_strength_beats_chance_and_every_baseline_and_a_blind_spot_is_worse_than_one_of_them() -> None:
    chance, asked, baseline = Rival
    ahead, far_ahead = compared(chance, 0.1, 0.03), compared(baseline, 0.2, 0.001)
    behind, no_test = compared(baseline, -0.1, 0.002), compared(baseline, 0.1, float("nan"))
    less = compared(asked, -0.3, 1e-6)
    for level, against, p in (
        (Level.STRENGTH, (ahead,), 0.03),
        (Level.STRENGTH, (ahead, far_ahead), 0.03),
        (Level.STRENGTH, (ahead, behind), 1.0),
        (Level.STRENGTH, (compared(chance, -0.02, 0.5), far_ahead), 1.0),  # better than a baseline that is below chance
        (Level.STRENGTH, (ahead, no_test), 1.0),
        (Level.STRENGTH, (compared(asked, 0.2, 0.01), far_ahead), 0.01),
        (Level.BLIND_SPOT, (behind,), 0.002),
        (Level.BLIND_SPOT, (less, behind), 0.002),
        (Level.BLIND_SPOT, (less, compared(chance, 0.01, 0.7)), 1.0),
        (Level.BLIND_SPOT, by_chance(-0.1, 0.04), 0.04),
    ):
        assert p_of(level, against) == p
    for level, against in (
        (Level.STRENGTH, ()),
        (Level.STRENGTH, (far_ahead,)),  # chance is not compared
        (Level.BLIND_SPOT, (less,)),  # more may be asked for than anything reaches
    ):
        with pytest.raises(ValueError, match="against"):
            p_of(level, against)


def test_the_rival_that_is_surest_to_be_better_costs_the_choice() -> None:
    chance, _, baseline = Rival
    assert furthest_ahead([]) is None
    found = furthest_ahead([compared(chance, 0.1, 1e-9), compared(baseline, -0.2, 0.01)])
    assert found == compared(baseline, -0.2, 0.02)


@pytest.fixture(scope="module")
def run(filled: World) -> RunRecord:
    return filled.run("evalrank", "trigrams", "small-pairs")


def test_what_is_not_significant_is_left_out_and_the_worst_comes_first(run: RunRecord) -> None:
    given_ = [
        finding(run, 0.9),
        finding(run, 1e-6, 0.2),
        finding(run, 1e-6, 0.7),
        finding(run, None, 0.9, Level.CAUTION),
        finding(run, 1e-9, 1.0, Level.STRENGTH),
    ]
    shown = [(one.finding.level, one.finding.severity) for one in discoveries(given_)]
    assert shown == [
        (Level.BLIND_SPOT, 0.7),
        (Level.BLIND_SPOT, 0.2),
        (Level.CAUTION, 0.9),
        (Level.STRENGTH, 1.0),
    ]


def test_facts_do_not_count_as_tests(run: RunRecord) -> None:
    assert [one.adjusted for one in discoveries([finding(run, 0.04), *[finding(run, None)] * 9])][:1] == [0.04]
    assert discoveries([finding(run, 0.04), *[finding(run, 0.9)] * 9]) == []


def test_true_findings_of_one_level_make_no_room_for_false_ones_of_another(run: RunRecord) -> None:
    """Of all together 0.04 is within the false discovery rate; among the strengths it is not."""
    strengths = [finding(run, p, level=Level.STRENGTH) for p in (0.04, *[0.5] * 9)]
    for level in (Level.BLIND_SPOT, Level.CAUTION):
        many = [finding(run, 1e-9, level=level)] * 90
        assert {one.finding.level for one in discoveries([*strengths, *many])} == {level}


def test_a_caution_is_not_shown_beside_the_blind_spot_that_says_the_same(run: RunRecord) -> None:
    both = [finding(run, 1e-6, level=Level.CAUTION), finding(run, 1e-4)]
    assert [one.finding.level for one in discoveries(both)] == [Level.BLIND_SPOT]
    assert [one.finding.level for one in discoveries([both[0], finding(run, 0.2)])] == [Level.CAUTION]


def test_one_run_per_variant_at_default_parameters(filled: World) -> None:
    every, old = select(filled.repository, Selection(postprocessed=True))
    assert old == []
    assert {runs.entry.id: [str(run.plan.variant) for run in runs.chosen] for runs in every} == {
        "evalrank": ["trigrams~center", "bigrams~none", "trigrams~none"],
        "geometry": ["trigrams~none"],
    }
    assert all(run.plan.params["metric"] == "cos" for runs in every for run in runs.chosen if run.plan.params)
    assert all("mrr" in run.metrics for run in every[0].chosen)


def test_the_similarity_and_variants_that_are_picked(filled: World) -> None:
    every, _ = select(filled.repository, Selection(metric="l2"))
    assert [(r.plan.variant.encoder, r.plan.params["metric"]) for r in every[0].chosen] == [("trigrams", "l2")]
    every, _ = select(filled.repository, Selection((Variant("bigrams", "none"),)))
    assert [str(run.plan.variant) for runs in every for run in runs.chosen] == ["bigrams~none"]
    assert select(filled.repository, Selection(datasets=("other",))) == ([], [])


def test_named_runs_are_looked_at_as_they_are(filled: World) -> None:
    l2 = filled.run("evalrank", "trigrams", "small-pairs", metric="l2")
    usual = filled.run("evalrank", "bigrams", "small-pairs")
    every, _ = select(filled.repository, Selection(runs=(l2.run_id, usual.run_id)))
    assert sorted([run.run_id for run in runs.chosen] for runs in every) == sorted([[l2.run_id], [usual.run_id]])


def test_baselines_are_of_the_same_dataset_whether_chosen_or_not(
    filled: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(collection, "KNOW_NO_MEANING", ("bigrams",))
    (runs, *_), _ = select(filled.repository, Selection((Variant("trigrams", "center"),)))
    assert [str(run.plan.variant) for run in runs.baselines] == ["bigrams~none"]


def test_rows_that_are_gone_cost_one_line(filled: World) -> None:
    def making(runs: RunsOf, *_: object) -> list[Finding]:
        if runs.entry.id == "evalrank":
            raise BlindspotError("the rows are gone", remedy="run it again")
        return [finding(runs.chosen[0], 1e-6)]

    found = collect(filled.repository, filled.settings, Selection(postprocessed=True), making)
    assert found.failures == (f"{all_diagnostics()['evalrank'].title}: the rows are gone; run it again",)
    assert found.hypotheses == 1
    assert len(found.runs) == 4
    assert [one.finding.level for one in found.at(Level.BLIND_SPOT)] == [Level.BLIND_SPOT]


def test_a_transform_that_is_fitted_on_what_it_is_tested_on(filled: World, run: RunRecord) -> None:
    found = collect(filled.repository, filled.settings, Selection(postprocessed=True), lambda *_: [])
    (one,) = found.discoveries
    assert one.finding.kind == "fitted-on-what-is-tested"
    assert one.finding.variants == (Variant("trigrams", "center"),)
    assert general.fitted_on_tested([run]) == []


def test_what_ranked_other_items_is_not_compared(filled: World, run: RunRecord) -> None:
    others = [filled.run("evalrank", name, "small-pairs") for name in ("bigrams", "trigrams~center")]
    apart = replace(run, plan=replace(run.plan, covered_digest="x"))
    (made,) = wording.findings(general.not_comparable(others, [apart]))
    assert (made.n, made.severity, made.runs) == (3, pytest.approx(1 / 3), (apart,))
    assert general.not_comparable(others, []) == []


def test_runs_of_older_versions_are_named(filled: World, run: RunRecord) -> None:
    old = replace(run, plan=replace(run.plan, diagnostic_version=0))
    (made,) = wording.findings(general.of_older_versions([old]))
    assert (made.n, made.page) == (1, "run")
    assert general.of_older_versions([]) == []


def test_a_finding_out_of_range_is_refused(run: RunRecord) -> None:
    for wrong in ({"p": 1.1}, {"p": float("nan")}, {"severity": 2.0}, {"runs": ()}):
        with pytest.raises(ValueError, match="kind"):
            replace(finding(run, 0.1, level=Level.CAUTION), **wrong)
    material = Material((run,), (), None, None)  # type: ignore[arg-type]
    assert material.runs == (run,)
