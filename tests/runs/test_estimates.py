"""Estimates of costs: from the store's runs, else guesses marked as such."""

from __future__ import annotations

from dataclasses import replace

import pytest

from blindspot.datasets import fetch
from blindspot.datasets.catalog import DATASETS, FAMILIES, find_dataset
from blindspot.datasets.kinds.labeled_texts import TEST, TRAIN
from blindspot.datasets.kinds.minimal_pairs import MinimalPairSet
from blindspot.datasets.kinds.pairs import PairSet
from blindspot.datasets.published.labeled_texts import Example, labeled_texts
from blindspot.diagnostics.transfer.definition import ENTRY, FOLDS
from blindspot.runs import estimates, pipeline, requesting
from blindspot.runs.requests import RunRequest
from blindspot.settings import Settings
from blindspot.store import records
from blindspot.store.repository import Repository
from tests.support.small_world import SMALL_PAIRS, GramEncoder, dataset_entry
from tests.support.world import World


def asked(settings: Settings, encoder: str, dataset: str = "demo-pairs", transform: str = "none") -> RunRequest:
    return requesting.request("evalrank", encoder, transform, dataset, {}, settings)


EVALRANK = 2e-10  # guessed seconds per pair, candidate and dimension


def blended(seconds: float, units: float, guess: float) -> float:
    """Seconds per unit of a run that took ``seconds``, and two more at the guessed speed."""
    return (seconds + 2) / (units + 2 / guess)


def test_a_small_first_run_which_is_mostly_overhead_hardly_moves_the_guess(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """100 own pairs took 12 s, nearly all of them to compile; 112 languages were then "about 14 h"."""
    world.add(GramEncoder("grams"))
    world.add(SMALL_PAIRS)
    before = estimates.estimate([asked(world.settings, "grams")], world.settings, world.repository).seconds
    timed = pipeline.run(asked(world.settings, "grams", SMALL_PAIRS.id), world.settings, world.repository).record
    slow = replace(timed, timings={**timed.timings, "compute": 12.0})
    monkeypatch.setattr(Repository, "runs", lambda _self, **_: [slow])
    after = estimates.estimate([asked(world.settings, "grams")], world.settings, world.repository).seconds
    assert after < before + 1, "400 pairs among 1,400 take a moment"


@pytest.mark.parametrize("name", ["demo-pairs", "demo-minimal", "demo-words"])
def test_the_catalogs_counts_are_those_of_the_data(name: str, settings: Settings) -> None:
    counts_are_right(name, settings)


@pytest.mark.realdata
@pytest.mark.parametrize("name", ["evalrank-sent", "evalrank-word"])
def test_the_catalogs_counts_are_those_of_the_real_data(name: str, shared_settings: Settings) -> None:
    counts_are_right(name, shared_settings)


def counts_are_right(name: str, settings: Settings) -> None:
    entry = find_dataset(name)
    dataset = fetch.load(entry, settings)
    assert entry.texts == len(dataset.items)
    if isinstance(dataset, PairSet):
        assert entry.pairs == len(dataset.queries)
    if isinstance(dataset, MinimalPairSet):
        assert entry.pairs == len(dataset.originals) * len(dataset.subsets)


def test_nothing_is_known_at_first_and_it_is_said(settings: Settings, repository: Repository) -> None:
    requests = [asked(settings, e, transform=t) for e in ("minilm", "minilm-cls") for t in ("none", "center")]
    cost = estimates.estimate(requests, settings, repository)
    assert cost.wanted == tuple(requests)
    assert cost.guessed == ("minilm", "minilm-cls")
    assert cost.seconds > 0
    alone = estimates.estimate([asked(settings, "minilm-cls")], settings, repository)
    operations = 2 * 22_713_216 * estimates.TOKENS_PER_TEXT * 1_400
    assert alone.seconds > operations / estimates.GUESSED_FLOPS > alone.seconds - 10, "the rest is ranking"
    first, *others = cost.runs
    assert first.disk_bytes == 5 * 4 * 1_400 * 384, "one pass gives the vectors of all five poolings"
    assert [run.disk_bytes for run in others] == [0, 0, 0]
    assert first.seconds > sum(run.seconds or 0 for run in others), "the others find the texts encoded"
    assert cost.memory_bytes > 4 * 22_713_216
    assert cost.downloads == ()
    assert not settings.store.exists()


def test_what_was_run_is_in_the_store_and_gives_the_speed(world: World) -> None:
    world.add(GramEncoder("grams"))
    world.add(SMALL_PAIRS)
    done = pipeline.run(asked(world.settings, "grams"), world.settings, world.repository).record
    wanted = [
        asked(world.settings, "grams"),
        asked(world.settings, "grams", transform="center"),
        asked(world.settings, "grams", SMALL_PAIRS.id),
    ]
    cost = estimates.estimate(wanted, world.settings, world.repository)
    assert [run.is_stored for run in cost.runs] == [True, False, False]
    assert cost.wanted == tuple(wanted[1:])
    assert cost.guessed == ()
    assert cost.runs[0].seconds == 0.0
    assert cost.runs[1].disk_bytes == 0, "its texts are encoded"
    per_unit = blended(done.timings["compute"], 400 * 1_400 * GramEncoder("grams").info.dimension, EVALRANK)
    ranking = per_unit * 400 * 1_400 * GramEncoder("grams").info.dimension
    assert cost.runs[1].seconds == pytest.approx(estimates.SECONDS_PER_RUN + ranking)
    assert cost.seconds == sum(run.seconds or 0.0 for run in cost.runs)

    assert done.texts_per_second is not None
    faster = asked(world.settings, "grams", "demo-words")
    (words,) = estimates.estimate([faster], world.settings, world.repository).runs
    ranking = per_unit * 664 * 20_029 * GramEncoder("grams").info.dimension
    assert words.seconds == pytest.approx(
        estimates.SECONDS_PER_RUN + 20_029 / done.texts_per_second + ranking, rel=1e-6
    )


def test_other_parameters_or_another_coverage_are_other_runs(world: World) -> None:
    world.add(GramEncoder("grams"))
    pipeline.run(asked(world.settings, "grams"), world.settings, world.repository)
    other = requesting.request("evalrank", "grams", "none", "demo-pairs", {"metric": "l2"}, world.settings)
    assert estimates.stored_requests([asked(world.settings, "grams"), other], world.repository) == {
        asked(world.settings, "grams")
    }


def test_common_coverage_that_leaves_nothing_out_is_found_once_all_have_run(world: World) -> None:
    """Such runs are stored without the others' names, for they are the same as those on all that each covers."""
    info = replace(GramEncoder().info, is_partial=True)  # these may leave texts out, and leave out none
    for encoder in (GramEncoder("trigrams", info=info), GramEncoder("bigrams", 2, info=info)):
        world.add(encoder)
    world.add(SMALL_PAIRS)
    names = ("trigrams", "bigrams")
    both = [requesting.request("evalrank", name, "none", SMALL_PAIRS.id, {}, world.settings, names) for name in names]
    assert [request.covered_by for request in both] == [("bigrams",), ("trigrams",)]
    pipeline.run(both[0], world.settings, world.repository)
    assert estimates.stored_requests(both, world.repository) == set()  # nobody knows yet what the other one covers
    pipeline.run(both[1], world.settings, world.repository)
    assert estimates.stored_requests(both, world.repository) == set(both)
    elsewhere = replace(both[0], covered_by=("bigrams", "lsa"))
    assert estimates.stored_requests([elsewhere], world.repository) == set()


def test_a_download_is_named_with_its_size(settings: Settings, repository: Repository) -> None:
    cost = estimates.estimate([asked(settings, "minilm", "evalrank-sent")], settings, repository)
    assert cost.downloads == ("evalrank-sent",)
    assert cost.download_bytes == 884_824 + 1_627_520


def test_a_classifier_is_trained_in_every_fold_and_each_takes_its_own_time(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(records, "FEWEST_TEXTS", 1)
    world.add(GramEncoder("grams"))
    dimension = GramEncoder("grams").info.dimension

    def wanted(dataset: str, classifier: str) -> RunRequest:
        return requesting.request("transfer", "grams", "none", dataset, {"classifier": classifier}, world.settings)

    def seconds(request: RunRequest) -> float:
        (run,) = estimates.estimate([request], world.settings, world.repository).runs
        assert run.seconds is not None
        return run.seconds

    def computing(request: RunRequest, texts_per_second: float) -> float:
        encoding = find_dataset(request.dataset).texts / texts_per_second
        return seconds(request) - estimates.SECONDS_PER_RUN - encoding

    untrained, per_feature = estimates.GUESSED_UNTRAINED, ENTRY.cost.seconds_per_unit[""]
    assert computing(wanted("cr", "mlp"), untrained) == pytest.approx(per_feature * dimension * 3_771 * FOLDS)
    assert computing(wanted("trec", "mlp"), untrained) == pytest.approx(per_feature * dimension * 5_952)
    examples = [Example("pq"[i % 2], f"{'pq'[i % 2]} word {i}", split=TEST if i % 3 else TRAIN) for i in range(60)]
    small = labeled_texts("small", ("p", "q"), examples)
    entry = replace(dataset_entry(small), pairs=60, texts=60, is_split=True)
    world.patch.setitem(DATASETS, "small", entry)
    done = pipeline.run(wanted("small", "logreg"), world.settings, world.repository).record
    assert done.texts_per_second is not None
    cr = computing(wanted("cr", "logreg"), done.texts_per_second)
    assert cr == pytest.approx(
        blended(done.timings["compute"], 60 * dimension, per_feature) * dimension * 3_771 * FOLDS, rel=1e-6
    )
    other = computing(wanted("cr", "mlp"), done.texts_per_second)
    assert other == pytest.approx(per_feature * dimension * 3_771 * FOLDS), "that of logreg says nothing of it"


def test_many_downloads_of_a_family_are_counted() -> None:
    members = tuple(FAMILIES["tatoeba"].members)[:4]
    cost = estimates.Estimate((), ("evalrank-sent", *members, "demo-x"), 0, {})
    assert cost.downloads_in_words == "evalrank-sent, 4 datasets of Tatoeba, demo-x"
    assert estimates.Estimate((), members[:2], 0, {}).downloads_in_words == ", ".join(members[:2])
