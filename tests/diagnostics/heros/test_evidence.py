"""Evidence of HEROS: each kind where it is and where it is not, slow references, and what chance does."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from math import comb
from typing import Any

import numpy as np
import pandas as pd
import pytest

from blindspot.diagnostic import find_diagnostic
from blindspot.diagnostics.heros import browsing, evidence, orderings, words_alone
from blindspot.diagnostics.heros.orderings import Cosines, Ordering
from blindspot.numerics.statistics.intervals import p_of_more
from blindspot.runs.findings import Finding, Level, Material
from blindspot.settings import Settings
from blindspot.store.records import RunRecord
from blindspot.studies.findings import wording
from blindspot.types import Float64
from tests.support.finding_runs import discovered, kinds, run_record
from tests.support.heros_world import HerosWorld, heros_world
from tests.support.pages import OpenApp
from tests.support.tables import each

SUBSETS = ("synonym", "antonym", "negation_main", "negation_antonym", "random_mlm", "typo")
RUN = run_record("heros")


def cosines(n: int = 200, seed: int = 0, subsets: Sequence[str] = SUBSETS, **shifts: float) -> Cosines:
    """Cosines of coin tosses, those of some subsets shifted by so many standard deviations."""
    values = np.random.default_rng(seed).normal(size=(n, len(subsets)))
    for subset, shift in shifts.items():
        values[:, subsets.index(subset)] += shift
    return Cosines(tuple(subsets), 0.8 + 0.01 * values)


def named(found: Sequence[Finding], kind: str) -> Finding:
    (one,) = (finding for finding in found if finding.kind == kind)
    return one


# --- a changed meaning that is nearer


def test_an_antonym_that_is_nearer_than_the_synonym_is_a_blind_spot_with_the_slowly_counted_share() -> None:
    given = cosines(antonym=2.0)
    found = named(wording.findings(evidence.of_run(RUN, given)), "antonym-nearer-than-synonym")
    wrong = sum(
        given.values[i, 1] > given.values[i, 0] for i in range(len(given.values))
    )  # no two of the random numbers are tied
    assert found.value == wrong / 200
    assert found.level is Level.BLIND_SPOT
    assert found.p == pytest.approx(min(1.0, 2 * sum(comb(200, k) for k in range(wrong, 201)) / 2**200))
    assert found.interval is not None
    assert found.interval.low < found.value < found.interval.high
    assert found.n == 200
    assert found.severity == found.value
    assert found in discovered(wording.findings(evidence.of_run(RUN, given)))


def test_an_antonym_that_is_farther_is_none() -> None:
    found = wording.findings(
        evidence.of_run(RUN, cosines(antonym=-1.0, negation_main=-1.0, negation_antonym=-1.0, random_mlm=-1.0))
    )
    assert named(found, "antonym-nearer-than-synonym").p == 1.0
    assert not kinds(discovered(found), Level.BLIND_SPOT)


def test_ties_count_half_in_the_share_and_not_in_the_test() -> None:
    values = np.array([[0.5, 0.5]] * 6 + [[0.5, 0.6]] * 4)
    found = named(
        wording.findings(evidence.of_run(RUN, Cosines(("synonym", "antonym"), values))), "antonym-nearer-than-synonym"
    )
    assert found.value == 0.7
    assert found.p == 2 * 0.5**4


def test_what_is_tested_is_fixed_by_the_subsets() -> None:
    assert {str(o) for o in orderings.tested(SUBSETS)} == {
        *(f"synonym>{far}" for far in ("antonym", "negation_main", "negation_antonym", "random_mlm")),
        "typo>random_mlm",
    }
    assert orderings.tested(("paraphrase", "opposite_1", "opposite_2")) == (
        Ordering("paraphrase", "opposite_1"),
        Ordering("paraphrase", "opposite_2"),
    )
    assert orderings.tested(("formal", "informal")) == ()
    for seed in range(5):
        found = wording.findings(evidence.of_run(RUN, cosines(seed=seed)))
        assert [f.p is not None for f in found] == [True] * 6


@each(("count", "n", "chance"), [(7, 10, 0.5), (10, 10, 0.5), (3.5, 10, 0.25), (2, 10, 0.5), (0, 0, 0.5)])
def test_the_test_of_a_share_against_a_sum_of_probabilities(count: float, n: int, chance: float) -> None:
    k = int(count)
    tail = sum(comb(n, j) * chance**j * (1 - chance) ** (n - j) for j in range(k, n + 1))
    assert p_of_more(count, n, chance) == pytest.approx(min(1.0, 2 * tail) if k > chance * n else 1.0)


# --- what is kept apart


def test_a_run_that_keeps_meanings_apart_has_one_strength() -> None:
    shifts = dict.fromkeys(("antonym", "negation_main", "negation_antonym", "random_mlm"), -4.0)
    given = cosines(**shifts)
    found = wording.findings(evidence.of_run(RUN, given))
    assert kinds(discovered(found)) == {"meaning-kept-apart"}
    strength = named(found, "meaning-kept-apart")
    best = max(float(given.outcomes(o).mean()) for o in orderings.tested(SUBSETS))
    assert strength.level is Level.STRENGTH
    assert strength.value == best
    assert strength.p is not None
    assert strength.p < 1e-6


def test_more_often_right_than_wrong_is_no_strength_yet() -> None:
    found = wording.findings(
        evidence.of_run(RUN, cosines(antonym=-0.6, negation_main=-0.6, negation_antonym=-0.6, random_mlm=-0.6))
    )
    assert 0.55 < named(found, "meaning-kept-apart").value < 0.75
    assert not discovered(found)


# --- guessing


def of_choices(right: float, n: int = 120) -> Cosines:
    """Cosines of a paraphrase and two opposites; the paraphrase is nearest in the first ``right * n``."""
    values = np.tile([0.5, 0.6, 0.4], (n, 1))
    values[: round(right * n), 0] = 0.9
    return Cosines(("paraphrase", "opposite_1", "opposite_2"), values)


def test_a_paraphrase_found_less_often_than_by_guessing_is_a_blind_spot() -> None:
    found = named(wording.findings(evidence.of_run(RUN, of_choices(0.1))), "paraphrase-below-guessing")
    assert found.value == 0.1
    assert found.p == pytest.approx(
        min(1.0, 2 * sum(comb(120, k) * (1 / 3) ** k * (2 / 3) ** (120 - k) for k in range(13)))
    )
    assert named(wording.findings(evidence.of_run(RUN, of_choices(0.5))), "paraphrase-below-guessing").p == 1.0
    assert "paraphrase-below-guessing" not in kinds(wording.findings(evidence.of_run(RUN, cosines())))


# --- baselines

BASELINE = run_record("heros", "random-projection")
OTHER = run_record("heros", "lsa")


def against(own: Cosines, *others: Cosines) -> list[Finding]:
    runs = [RUN, *(BASELINE, OTHER)[: len(others)]]
    by_run = {run.run_id: one for run, one in zip(runs, (own, *others), strict=True)}
    return wording.findings(evidence.of_baselines([RUN], runs[1:], by_run))


RIGHT = {"antonym": -1.5, "negation_main": -1.5, "negation_antonym": -1.5, "random_mlm": -1.5}
WRONG = {name: -shift for name, shift in RIGHT.items()}


def test_a_run_below_the_best_baseline_is_a_blind_spot() -> None:
    own, best = cosines(seed=1, **WRONG), cosines(seed=2)
    found = against(own, cosines(seed=3, **WRONG), best)
    assert kinds(discovered(found)) == {"worse-than-baseline"}
    (one,) = discovered(found)
    slow = [
        np.mean([float(c.outcomes(o)[i]) for o in orderings.tested(SUBSETS)]) for c in (own, best) for i in range(200)
    ]
    assert one.value == pytest.approx(np.mean(slow[:200]) - np.mean(slow[200:]))
    assert one.runs == (RUN, OTHER)
    assert one.level is Level.BLIND_SPOT


def test_a_run_that_is_no_better_is_a_caution_and_one_that_is_better_a_strength() -> None:
    found = against(cosines(seed=1), cosines(seed=2))
    assert kinds(discovered(found)) == {"no-better-than-baseline"}
    assert named(found, "no-better-than-baseline").level is Level.CAUTION
    better = against(cosines(seed=1, **RIGHT), cosines(seed=2))
    assert kinds(discovered(better), Level.STRENGTH) == kinds(better) == {"better-than-baseline"}


def test_a_baseline_is_not_compared_with_itself_nor_across_datasets() -> None:
    elsewhere = run_record("heros", "random-projection", "another")
    one = cosines()
    every = {run.run_id: one for run in (BASELINE, elsewhere, RUN)}
    assert wording.findings(evidence.of_baselines([BASELINE], [BASELINE], every)) == []
    assert wording.findings(evidence.of_baselines([RUN], [elsewhere], every)) == []


# --- chance


@pytest.mark.heavy
def test_coin_tosses_show_a_blind_spot_in_at_most_one_of_twenty_stores() -> None:
    """Four variants and a baseline, whose orderings are coin tosses; the variants share half of their noise."""
    rng = np.random.default_rng(7)
    runs = [run_record("heros", f"encoder-{i}") for i in range(4)]
    false = 0
    for _ in range(100):
        common = rng.normal(size=(60, 6))
        given = {run.run_id: _noise(common, rng) for run in (*runs, BASELINE)}
        found = [finding for run in runs for finding in wording.findings(evidence.of_run(run, given[run.run_id]))]
        found += wording.findings(evidence.of_baselines(runs, [BASELINE], given))
        false += bool(kinds(discovered(found), Level.BLIND_SPOT))
    assert false <= 5


def _noise(common: Float64, rng: np.random.Generator) -> Cosines:
    return Cosines(SUBSETS, 0.8 + 0.01 * (common + rng.normal(size=common.shape)))


# --- through the store


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Any:
    with heros_world(tmp_path_factory.mktemp("findings")) as world:
        world.compute("six", "trigrams", "bigrams", "trigrams~center")
        world.compute("alone", "trigrams")
        yield world
        world.repository.database.close()


def test_findings_of_stored_runs_are_those_of_their_rows_with_examples_and_a_view_of_them(made: HerosWorld) -> None:
    runs = [run for (dataset, _), run in made.runs.items() if dataset == "six"]
    found = wording.findings(evidence.evidence(_material(made, runs)))
    of_words = [finding for finding in found if "words" in finding.kind]
    assert len({finding.id for finding in found}) == len(found) == 6 * len(runs) + len(of_words)
    rows = made.repository.items(find_diagnostic("heros"), [runs[0].run_id], texts=True)
    shown = [finding for finding in found if finding.examples and finding.runs == (runs[0],)]
    assert shown
    for finding in shown:
        far, near = finding.address["sent_above"].split(" above ")
        pivot = rows.pivot(index="item_no", columns="subset", values="cosine")
        margins = (pivot[far] - pivot[near]).sort_values(ascending=False)
        assert finding.value == pytest.approx(_share(margins))
        assert int(finding.address["item"]) in margins[margins == margins.iloc[0]].index
        first = rows[rows["item_no"] == int(finding.address["item"])]
        texts = dict(zip(first["subset"], first["rewrite"], strict=True))
        assert [text for _, text in finding.examples[0].texts] == [first["original"].iloc[0], texts[near], texts[far]]
        for (_, text), marks in zip(finding.examples[0].texts, finding.examples[0].marked, strict=True):
            assert all(0 <= start < end <= len(text) for start, end in marks)
            assert all(one[1] < other[0] for one, other in itertools.pairwise(marks))


def test_shared_words_alone_against_every_run(made: HerosWorld) -> None:
    runs = [run for (dataset, _), run in made.runs.items() if dataset == "six"]
    rows = made.repository.items(find_diagnostic("heros"), [runs[0].run_id], texts=True)
    alone = words_alone.of_words(browsing.sentences(rows, tuple(dict.fromkeys(rows["subset"]))))
    reached = max(float(outcomes.mean()) for outcomes in alone.outcomes.values())
    found = [
        finding for finding in wording.findings(evidence.evidence(_material(made, runs))) if "words" in finding.kind
    ]
    tested = {finding.runs[0].run_id: finding for finding in found if finding.p is not None}
    assert tested.keys() == {run.run_id for run in runs}
    for run in runs:
        one = tested[run.run_id]
        own = made.repository.items(find_diagnostic("heros"), [run.run_id], texts=False)
        same = made.repository.same_texts(run.plan.dataset_digest)
        score = float(words_alone.outcomes(Cosines.of_rows(own, same)).mean())
        assert one.value == pytest.approx(score - reached)
        assert one.level is (Level.BLIND_SPOT if one.value < 0 else Level.STRENGTH)
        as_good = [finding for finding in found if finding.runs == (run,) and finding.p is None]
        assert [finding.kind for finding in as_good] == ["words-alone-as-good"] * (one.p >= 0.05)
        assert all(finding.level is Level.CAUTION for finding in as_good)


def _share(margins: pd.Series) -> float:
    return float(np.mean([0.5 if abs(m) <= 1e-6 else float(m > 0) for m in margins]))


def test_sets_without_an_ordering_have_no_findings(made: HerosWorld) -> None:
    assert wording.findings(evidence.evidence(_material(made, [made.runs["alone", "trigrams"]]))) == []
    assert wording.findings(evidence.evidence(_material(made, []))) == []


def _material(made: HerosWorld, runs: Sequence[RunRecord]) -> Material:
    settings: Settings = made.settings
    return Material(runs, (), made.repository, settings)


def test_the_address_of_a_finding_opens_its_sentences(made: HerosWorld, open_app: OpenApp) -> None:
    run = made.runs["six", "trigrams"]
    shown = next(finding for finding in wording.findings(evidence.evidence(_material(made, [run]))) if finding.examples)
    app = open_app(made.settings.cache, shown.page, data="six", model=str(run.plan.variant), **shown.address)
    assert not app.exception
    assert not app.warning
    assert str(app.session_state["item"]) == shown.address["item"]
    assert app.session_state["sent_above"] == [shown.address["sent_above"]]
    table = app.dataframe[0].value
    assert str(table["no"].iloc[0]) == shown.address["item"]


@each(
    "kept, changed, said",
    [
        ("synonym", "negation_main", "the synonym closer to the original than the negated clause in"),
        ("paraphrase", "negated", "the paraphrase closer to the original than the rewrite “negated” in"),
        (
            "positive",
            "opposite_of_it",
            "the rewrite “positive” closer to the original than the rewrite “opposite of it” in",
        ),
    ],
)
def test_a_sentence_has_an_own_column_by_its_name(kept: str, changed: str, said: str) -> None:
    found = wording.findings(evidence.of_run(RUN, cosines(subsets=(kept, changed), **{changed: -9.0})))
    assert any(said in finding.sentence for finding in found), [finding.sentence for finding in found]
