"""What-if ranks are those that a run would store; on a sample, those of the same pairs among all items."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from blindspot.diagnostic import find_diagnostic
from blindspot.diagnostics.evalrank import uncertainty, what_if
from blindspot.diagnostics.evalrank.definition import scores
from blindspot.diagnostics.evalrank.pairs import pair_table
from blindspot.diagnostics.evalrank.what_if import Basis, Slider, basis
from blindspot.errors import InputError
from blindspot.numerics.ranking.ranks import expected_hit, expected_reciprocal_rank
from blindspot.numerics.similarity import Similarity
from blindspot.numerics.statistics.pairs import difference
from blindspot.runs import pipeline, requesting
from blindspot.runs.embeddings import EmbeddingsGone
from blindspot.store.records import RunRecord
from blindspot.transforms.chain import TransformChain
from tests.support.animals import ANIMALS, write_vectors
from tests.support.small_world import SMALL_PAIRS, GramEncoder
from tests.support.tables import each
from tests.support.world import World

ENTRY = find_diagnostic("evalrank")
DEMO = [("center", Similarity.COS), ("abtt:2", Similarity.COS), ("center+whiten:64+normalize", Similarity.L2)]


def check_equals_run(base: Basis, real: RunRecord, world: World) -> None:
    """Every pair's counts and every score, raw and filtered, to the last bit."""
    result = what_if.what_if(base, real.plan.variant.chain, Similarity(real.plan.params["metric"]), world.settings)
    rows = world.repository.items(ENTRY, [real.run_id], texts=False).set_index("item_no")
    numbers = base.pairs["item_no"].to_numpy()[base.sample]
    for suffix, found in (("", result.raw), ("_filtered", result.filtered)):
        assert found.after.greater.tolist() == rows.loc[numbers, f"greater{suffix}"].tolist()
        assert found.after.ties.tolist() == rows.loc[numbers, f"ties{suffix}"].tolist()
        if base.is_whole:
            for name, score in scores(found.after, suffix).items():
                assert score == real.metrics[name], name
            for name, score in scores(found.before, suffix).items():
                assert score == base.run.metrics[name], name


@pytest.fixture(scope="module")
def demo_basis(demo: World) -> Basis:
    return basis(demo.run("evalrank", "minilm", "demo-pairs"), ENTRY, demo.repository)


@pytest.fixture
def small(world: World) -> Iterator[GramEncoder]:
    encoder = GramEncoder()
    world.add(SMALL_PAIRS, encoder)
    yield encoder
    what_if._transformed.cache_clear()


@pytest.mark.parametrize(("transform", "metric"), DEMO)
def test_on_all_pairs_the_scores_are_those_of_a_run(
    demo: World, demo_basis: Basis, transform: str, metric: Similarity
) -> None:
    assert demo_basis.is_whole
    assert len(demo_basis.sample) == 400
    check_equals_run(demo_basis, demo.run("evalrank", f"minilm~{transform}", "demo-pairs", metric=metric), demo)


def test_a_sample_is_ranked_among_all_items(demo: World, demo_basis: Basis, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(what_if, "PRODUCTS", 1)
    part = basis(demo_basis.run, ENTRY, demo.repository)
    assert not part.is_whole
    assert len(part.sample) == what_if.FEWEST
    check_equals_run(part, demo.run("evalrank", "minilm~abtt:2", "demo-pairs"), demo)


def test_what_is_stored_changes_nothing(demo: World, demo_basis: Basis) -> None:
    result = what_if.what_if(demo_basis, TransformChain.parse("none"), Similarity.COS, demo.settings)
    for found in (result.raw, result.filtered):
        assert (found.gained, found.lost) == (0, 0)
        assert all(c.difference.value == 0 for c in found.changes())
        assert all(c.difference.interval is None and c.difference.refusal for c in found.changes())


@pytest.mark.parametrize(("suffix", "side"), [("", "raw"), ("_filtered", "filtered")])
def test_a_change_is_the_difference_that_a_against_b_shows(
    demo: World, demo_basis: Basis, suffix: str, side: str
) -> None:
    """To the last digit, the interval too: one way of computing it (they were [-0.0023, 0.0008] and another)."""
    ids = [demo.run("evalrank", "minilm~center", "demo-pairs").run_id, demo_basis.run.run_id]
    metrics = [f"{name}{suffix}" for name in what_if.SHOWN]
    scores = uncertainty.one_group(pair_table(ENTRY, ids, demo.repository), ids, metrics)
    changes = getattr(
        what_if.what_if(demo_basis, TransformChain.parse("center"), Similarity.COS, demo.settings), side
    ).changes()
    sides = [[scores[run_id][metric] for run_id in ids] for metric in metrics]
    assert [c.difference for c in changes] == [one.statistic.difference(one, other) for one, other in sides]
    assert changes[0].difference.interval is not None


@pytest.mark.parametrize(
    ("transform", "metric"), [("center", Similarity.COS), ("abtt:2", Similarity.L2), ("none", Similarity.L2)]
)
def test_oddities_and_nothing_is_encoded_again(
    small: GramEncoder, world: World, transform: str, metric: Similarity
) -> None:
    """Near-duplicates, rival matches, pairs of a text with itself, zero vectors."""
    base = basis(world.run("evalrank", "trigrams", "small-pairs"), ENTRY, world.repository)
    encoded = small.encoded
    what_if.what_if(base, TransformChain.parse(transform), metric, world.settings)
    assert small.encoded == encoded
    check_equals_run(base, world.run("evalrank", f"trigrams~{transform}", "small-pairs", metric=metric), world)


@pytest.mark.parametrize("common", [False, True])
def test_a_partial_encoder_is_ranked_on_its_run_s_items(world: World, tmp_path: Path, common: bool) -> None:
    world.add(ANIMALS)
    first = write_vectors(tmp_path / "first.txt", ["cat", "dog", "cow", "pig", "hen", "owl", "emu", "zebra"], 1)
    second = write_vectors(tmp_path / "second.txt", ["dog", "cat", "hen", "fox", "ant", "yak", "emu"], 2)

    def run(transform: str, metric: Similarity) -> RunRecord:
        covered_by, params = [second] if common else [], {"metric": metric}
        request = requesting.request("evalrank", first, transform, "animals", params, world.settings, covered_by)
        return pipeline.run(request, world.settings, world.repository).record

    what_if._transformed.cache_clear()
    stored = run("none", Similarity.COS)
    base = basis(stored, ENTRY, world.repository)
    assert len(base.items) == stored.coverage["items_covered"] < len(ANIMALS.items)
    for metric in Similarity:
        check_equals_run(base, run("center", metric), world)


@pytest.mark.usefixtures("small")
def test_embeddings_that_are_gone_are_said(world: World) -> None:
    base = basis(world.run("evalrank", "trigrams", "small-pairs"), ENTRY, world.repository)
    shutil.rmtree(world.settings.embeddings)
    for transform in ("none", "center"):
        with pytest.raises(EmbeddingsGone):
            what_if.what_if(base, TransformChain.parse(transform), Similarity.COS, world.settings)


@pytest.mark.parametrize("transform", ["centre", "abtt", "whiten:385", "truncate:500"])
def test_a_transform_that_does_not_fit_is_refused(demo: World, demo_basis: Basis, transform: str) -> None:
    with pytest.raises(InputError):
        what_if.what_if(demo_basis, TransformChain.parse(transform), Similarity.COS, demo.settings)


def test_changes_are_differences_of_the_scores(demo: World, demo_basis: Basis) -> None:
    found = what_if.what_if(demo_basis, TransformChain.parse("whiten:128"), Similarity.COS, demo.settings).raw
    before, after = scores(found.before), scores(found.after)
    up = sum(a < b for a, b in zip(found.after.shown, found.before.shown, strict=True))
    down = sum(a > b for a, b in zip(found.after.shown, found.before.shown, strict=True))
    assert (found.gained, found.lost) == (up, down)
    assert up > 0
    assert down > 0
    assert found.factors == pytest.approx(found.before.shown / found.after.shown)
    for change in found.changes():
        assert (change.before, change.after) == (before[change.name], after[change.name])
        assert change.difference.low < change.difference.value < change.difference.high
        if change.name == "mrr":
            values = [expected_reciprocal_rank(c.greater, c.ties) for c in (found.after, found.before)]
        else:
            k = int(change.name[-1])
            values = [expected_hit(c.greater, c.ties, k) for c in (found.after, found.before)]
        assert change.difference == difference(*values, found.known)


# --- the sample


def test_the_sample_is_always_the_same_and_no_larger_than_can_be_paid() -> None:
    drawn = what_if.sample(6_989, 24_957, 384)
    assert len(drawn) == 1_000
    assert np.all(np.diff(drawn) > 0)
    assert drawn[0] >= 0
    assert drawn[-1] < 6_989
    assert np.array_equal(drawn, what_if.sample(6_989, 24_957, 384))
    assert len(what_if.sample(6_989, 24_957, 768)) == 500
    assert len(what_if.sample(1_000_000, 1_000_000, 4_096)) == what_if.FEWEST
    assert what_if.sample(400, 1_400, 384).tolist() == list(range(400))


# --- sliders


@each(
    ("chain", "dimension", "expected"),
    [
        ("none", 384, []),
        ("center+normalize", 384, []),
        ("whiten", 384, []),
        ("abtt:2", 384, [Slider(0, "K of abtt", 2, 1, 30)]),
        ("abtt:40", 384, [Slider(0, "K of abtt", 40, 1, 40)]),
        ("pcr", 10, [Slider(0, "K of pcr", 1, 1, 9)]),
        ("center+whiten:64", 384, [Slider(1, "K of whiten", 64, 1, 384)]),
        (
            "truncate:128+whiten:64+abtt:3",
            384,
            [
                Slider(0, "D of truncate", 128, 1, 384),
                Slider(1, "K of whiten", 64, 1, 128),
                Slider(2, "K of abtt", 3, 1, 30),
            ],
        ),
        ("truncate:500", 384, []),
        (
            "random-project:500+whiten:400",
            384,
            [Slider(0, "D of random-project", 500, 1, 500), Slider(1, "K of whiten", 400, 1, 500)],
        ),
        ("flow", 384, []),
        ("truncate:1+abtt:1", 384, [Slider(0, "D of truncate", 1, 1, 384)]),
    ],
)
def test_sliders_move_within_what_fits(chain: str, dimension: int, expected: list[Slider]) -> None:
    assert list(what_if.sliders(TransformChain.parse(chain), dimension)) == expected


def test_a_slider_changes_its_step_alone() -> None:
    chain = TransformChain.parse("truncate:128+whiten:64+normalize")
    assert str(what_if.with_argument(chain, 1, 12)) == "truncate:128+whiten:12+normalize"
    assert str(what_if.with_argument(chain, 0, 5)) == "truncate:5+whiten:64+normalize"
