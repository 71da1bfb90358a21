"""The pipeline with the real MiniLM on the built-in pairs and a real store."""

from __future__ import annotations

import hashlib
import os
import shutil
import signal
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import blindspot
from blindspot.datasets import fetch
from blindspot.datasets.catalog import find_dataset
from blindspot.datasets.kinds.pairs import PairSet
from blindspot.diagnostic import find_diagnostic
from blindspot.encoders.cache import TEXTS_PER_CHUNK, EmbeddingCache
from blindspot.encoders.in_a_row import EncodersInARow
from blindspot.errors import BlindspotError, Cancelled, DataCorrupt, DataMissing, InputError
from blindspot.runs import pipeline, planning, requesting
from blindspot.runs.pipeline import RunOutcome
from blindspot.runs.requests import RunRequest
from blindspot.settings import Settings
from blindspot.store.records import RunState
from blindspot.store.repository import Repository
from blindspot.types import CancelToken
from blindspot.variants import Variant
from tests.support.small_world import GramEncoder, register_encoder
from tests.support.tables import each

ENTRY = find_diagnostic("evalrank")
TEXTS = 1_400
SPAWN = get_context("spawn")
Run = Callable[..., RunOutcome]


def asked(settings: Settings, transform: str = "none", dataset: str = "demo-pairs", **params: str) -> RunRequest:
    return requesting.request("evalrank", "minilm", transform, dataset, params, settings)


@pytest.fixture(scope="module")
def demo(shared_settings: Settings) -> PairSet:
    return fetch.load(find_dataset("demo-pairs"), shared_settings)


@pytest.fixture(scope="module")
def encoded(demo_cache: Path, shared_settings: Settings, tmp_path_factory: pytest.TempPathFactory) -> RunOutcome:
    """The demo run once; its embeddings are in the session's cache."""
    repository = Repository.at(tmp_path_factory.mktemp("first") / "results.duckdb")
    return pipeline.run(asked(shared_settings), shared_settings, repository)


@pytest.fixture
def repository(tmp_path: Path) -> Iterator[Repository]:
    """A store of the test's own next to the session's embeddings."""
    repository = Repository.at(tmp_path / "results.duckdb")
    yield repository
    repository.database.close()


@pytest.fixture
def run(encoded: RunOutcome, shared_settings: Settings, repository: Repository) -> Run:
    """Runs on the demo's pairs, whose embeddings are there, into the test's own store."""

    def run(transform: str = "none", metric: str = "cos", **options: Any) -> RunOutcome:
        return pipeline.run(asked(shared_settings, transform, metric=metric), shared_settings, repository, **options)

    return run


def expected_counts(matrix: np.ndarray, dataset: PairSet) -> tuple[np.ndarray, np.ndarray]:
    """How many items are above the match and tied with it, by cosine, all in float64."""
    rows = np.asarray(matrix, dtype=np.float64)
    rows = rows / np.linalg.norm(rows, axis=1, keepdims=True)
    greater, ties = [], []
    for query, match in zip(dataset.queries, dataset.matches, strict=True):
        difference = np.delete(rows @ rows[query] - rows[match] @ rows[query], [query, match])
        greater.append(np.count_nonzero(difference > 1e-6))
        ties.append(np.count_nonzero(np.abs(difference) <= 1e-6))
    return np.array(greater), np.array(ties)


# --- a run


def test_a_run_stores_what_it_computed(
    run: Run, shared_settings: Settings, repository: Repository, demo: PairSet
) -> None:
    told: list[tuple[str, int, int]] = []
    outcome = run("center", progress=lambda stage, done, total, fraction=None: told.append((stage, done, total)))
    record = outcome.record
    assert outcome.computed
    assert record.state is RunState.DONE
    assert record.plan.variant == Variant("minilm", "center")
    assert record.plan.params == {"metric": "cos", "protocol": "definition"}
    assert {metric.name for metric in ENTRY.metrics} - set(record.metrics) == {
        "above_themselves",
        "rescored",
    }  # the toolkit's, and that of rescore:M
    assert dict(record.coverage) == {"pairs": 400, "pairs_covered": 400, "items": TEXTS, "items_covered": TEXTS}
    assert set(record.timings) == {"load", "encode", "transform", "compute"}
    assert (record.dimension, record.parameters, record.device) == (384, 22_713_216, "cpu")
    assert record.texts_per_second is not None
    assert record.texts_per_second > 0
    assert told[-1] == ("storing", 1, 1)
    assert ("ranking", TEXTS, TEXTS) in told

    embedded = EmbeddingCache(shared_settings.embeddings).read(record.plan.embedding_digest)
    assert embedded is not None
    greater, ties = expected_counts(embedded.matrix - embedded.matrix.mean(axis=0, dtype=np.float64), demo)
    items = repository.items(ENTRY, [record.run_id], texts=True)
    np.testing.assert_array_equal(items["greater"], greater)
    np.testing.assert_array_equal(items["ties"], ties)
    assert items["query"].tolist() == [demo.items[i] for i in demo.queries]
    assert record.metrics["hits@1_pessimistic"] == np.mean(greater + ties == 0)
    assert record.metrics["mrr_optimistic"] == pytest.approx(np.mean(1 / (1 + greater)))


def test_the_manifest_says_what_is_needed_to_do_it_again(encoded: RunOutcome, demo: PairSet) -> None:
    manifest = encoded.record.manifest
    assert manifest["blindspot"] == blindspot.__version__
    assert manifest["encoder"]["reference"] == "minilm"
    assert manifest["encoder"]["revision"] == "53aa51172d142c89"
    assert (manifest["encoder"]["device"], manifest["encoder"]["dimension"]) == ("cpu", 384)
    assert manifest["embeddings"]["digest"] == encoded.record.plan.embedding_digest
    assert manifest["dataset"]["digest"] == demo.content_digest
    assert manifest["transform"] == {
        "chain": "none",
        "n": TEXTS,
        "d_in": 384,
        "d_out": 384,
        "steps": [],
        "fitted_on": "1400 items of demo-pairs",
    }
    assert manifest["params"] == {"metric": "cos", "protocol": "definition"}
    assert {library.split("==")[0] for library in manifest["libraries"]} >= {"numpy", "torch", "numba", "duckdb"}
    assert (manifest["machine"]["cores"], manifest["machine"]["device"]) == (os.cpu_count(), "cpu")


def slow_chain(text: str, rows: np.ndarray) -> np.ndarray:
    """Chains by numpy's SVD, in float64 from end to end."""
    for step in text.split("+"):
        name, _, argument = step.partition(":")
        k = int(argument or 0)
        mean = rows.mean(axis=0)
        left, singular, right = np.linalg.svd(rows if name == "pcr" else rows - mean, full_matrices=False)
        rows = {
            "center": lambda rows=rows, mean=mean: rows - mean,
            "zscore": lambda rows=rows, mean=mean: (rows - mean) / rows.std(axis=0),
            "normalize": lambda rows=rows: rows / np.linalg.norm(rows, axis=1, keepdims=True),
            "truncate": lambda rows=rows, k=k: rows[:, :k],
            "whiten": lambda left=left, k=k: left[:, :k] * len(left) ** 0.5,
            "abtt": lambda left=left, singular=singular, right=right, k=k: (left * singular)[:, k:] @ right[k:],
            "pcr": lambda left=left, singular=singular, right=right, k=k: (left * singular)[:, k:] @ right[k:],
        }[name]()
    return rows


@pytest.mark.heavy
@pytest.mark.parametrize(
    ("transform", "dimension"),
    [
        ("zscore", 384),
        ("abtt:2", 384),
        ("pcr:1", 384),
        ("whiten:128", 128),
        ("truncate:64", 64),
        ("center+whiten:64+normalize", 64),
        ("truncate:100+abtt:3+zscore", 100),
    ],
)
def test_a_transformed_run_counts_what_a_slow_reference_counts(
    run: Run, shared_settings: Settings, repository: Repository, demo: PairSet, transform: str, dimension: int
) -> None:
    record = run(transform).record
    embedded = EmbeddingCache(shared_settings.embeddings).read(record.plan.embedding_digest)
    assert embedded is not None
    greater, _ = expected_counts(slow_chain(transform, np.asarray(embedded.matrix, dtype=np.float64)), demo)
    stored = repository.items(ENTRY, [record.run_id], texts=True)["greater"].to_numpy()
    # float32 may put one of the 560,000 differences on the other side of the tolerance
    assert np.abs(stored - greater).sum() <= 2
    assert record.manifest["encoder"]["dimension"] == dimension
    fit = record.manifest["transform"]
    assert (fit["chain"], fit["n"], fit["d_in"], fit["d_out"]) == (transform, TEXTS, 384, dimension)
    assert [step["step"] for step in fit["steps"]] == transform.split("+")
    assert fit["fitted_on"] == "1400 items of demo-pairs"


def test_a_transform_that_the_embeddings_do_not_allow_leaves_no_finished_run(run: Run, repository: Repository) -> None:
    said = "'whiten:385' .* expected at most 384"
    with pytest.raises(InputError, match=said):
        run("whiten:385")
    assert repository.runs(state=RunState.DONE) == []


def test_the_same_request_finds_the_run(run: Run, encoded: RunOutcome, repository: Repository) -> None:
    first, second = run(), run()
    assert (first.computed, second.computed) == (True, False)
    assert second.record == first.record
    assert first.record.run_id == encoded.record.run_id, "an id does not depend on the store"
    assert len(repository.runs()) == 1


def test_another_metric_or_transform_uses_the_embeddings_again(
    run: Run, encoded: RunOutcome, repository: Repository
) -> None:
    outcomes = [run(transform, metric) for transform in ("none", "center") for metric in ("cos", "l2")]
    assert all(outcome.computed for outcome in outcomes)
    assert [outcome.record.manifest["embeddings"]["encoded_now"] for outcome in outcomes] == [0] * 4
    assert {outcome.record.plan.embedding_digest for outcome in outcomes} == {encoded.record.plan.embedding_digest}
    assert len({outcome.record.run_id for outcome in outcomes}) == 4
    assert len(repository.runs(state=RunState.DONE)) == 4
    cos, l2, centred_cos, centred_l2 = (
        repository.items(ENTRY, [outcome.record.run_id], texts=False)["similarity"].to_numpy() for outcome in outcomes
    )
    np.testing.assert_allclose(l2, 1 / (1 + np.sqrt(np.maximum(2 - 2 * cos, 0))), atol=1e-3)  # unit vectors
    np.testing.assert_allclose(centred_l2, l2, atol=1e-5)  # all are moved by the same vector
    assert centred_cos.mean() < cos.mean()


def test_two_threads_with_the_same_request_agree(
    encoded: RunOutcome, shared_settings: Settings, repository: Repository
) -> None:
    repositories = [repository, Repository.at(repository.database.path)]
    barrier = threading.Barrier(2)

    def work(mine: Repository) -> RunOutcome:
        barrier.wait(300)
        return pipeline.run(asked(shared_settings), shared_settings, mine)

    with ThreadPoolExecutor(2) as pool:
        one, other = pool.map(work, repositories)
    assert one.record.run_id == other.record.run_id
    assert one.record.metrics == other.record.metrics == encoded.record.metrics
    assert len(repository.runs(state=RunState.DONE)) == 1
    assert len(repository.items(ENTRY, [one.record.run_id], texts=False)) == 400
    repositories[1].database.close()


def test_a_found_run_is_not_encoded_again_unless_its_embeddings_are_wanted(
    run: Run, shared_settings: Settings, repository: Repository, tmp_path: Path
) -> None:
    run()
    elsewhere = replace(shared_settings, cache=tmp_path / "emptied")
    assert not pipeline.run(asked(elsewhere), elsewhere, repository).computed
    assert not elsewhere.embeddings.exists()
    stop = CancelToken()
    stop.cancel()
    with pytest.raises(Cancelled):  # as soon as it begins to encode
        pipeline.run(asked(elsewhere), elsewhere, repository, cancel=stop, keep_embeddings=True)
    assert not run(keep_embeddings=True).computed


# --- requests


def test_a_request_is_canonical(settings: Settings) -> None:
    plain = asked(settings, "center")
    assert plain == asked(settings, "none+center", metric="cos")
    assert plain == asked(settings, " center ", protocol="definition", metric="cos")
    assert plain != asked(settings, "center", metric="l2")
    assert plain != asked(settings, "center+center")
    assert asked(settings, "none+pcr") == asked(settings, "pcr:01")
    assert plain.params == (("metric", "cos"), ("protocol", "definition"))
    assert plain.label == "EvalRank of minilm + center on Demo pairs"


@each(
    ("wrong", "complaint", "nearest"),
    [
        ({"diagnostic": "evalrnk"}, "unknown diagnostic 'evalrnk'", "evalrank"),
        ({"encoder": "minilmm"}, "unknown encoder 'minilmm'", "minilm"),
        ({"transform": "centre"}, "unknown transform 'centre'", "center"),
        ({"transform": "none+centr"}, "unknown transform 'centr'", "center"),
        ({"dataset": "demo-pair"}, "unknown dataset 'demo-pair'", "demo-pairs"),
        ({"params": {"metric": "coz"}}, "unknown metric 'coz'", "cos"),
        ({"params": {"metrics": "cos"}}, "unknown parameter of evalrank 'metrics'", "metric"),
        ({"params": {"protocol": "definitions"}}, "unknown protocol 'definitions'", "definition"),
    ],
)
def test_bad_ids_are_refused_before_any_work(
    settings: Settings, wrong: dict[str, Any], complaint: str, nearest: str
) -> None:
    right = {"diagnostic": "evalrank", "encoder": "minilm", "transform": "none", "dataset": "demo-pairs", "params": {}}
    with pytest.raises(InputError) as caught:
        requesting.request(**{**right, **wrong}, settings=settings)
    assert caught.value.what == complaint
    assert caught.value.remedy.startswith(f"did you mean '{nearest}'?")
    assert caught.value.exit_code == 2
    assert "\n" not in str(caught.value)
    assert not settings.cache.exists()


@pytest.mark.parametrize("transform", ["", "center:3", "+", "abtt", "abtt:0", "whiten:x"])
def test_a_transform_that_means_nothing_is_refused(settings: Settings, transform: str) -> None:
    with pytest.raises(InputError, match="transform"):
        asked(settings, transform)


def test_a_stored_run_can_be_asked_for_again(encoded: RunOutcome, shared_settings: Settings) -> None:
    assert requesting.request_of(encoded.record, shared_settings) == asked(shared_settings)


# --- what goes wrong


def test_data_that_cannot_be_had_leave_no_run(settings: Settings, repository: Repository, tmp_path: Path) -> None:
    offline = replace(settings, mirror=str(tmp_path / "empty mirror"))
    with pytest.raises(DataMissing):
        pipeline.run(asked(offline, dataset="evalrank-sent"), offline, repository)
    target = fetch.local_path(find_dataset("evalrank-sent").files[0], offline)
    target.write_text("not the file")
    with pytest.raises(DataCorrupt, match="blindspot data fetch evalrank-sent"):
        pipeline.run(asked(offline, dataset="evalrank-sent"), offline, repository)
    assert repository.runs() == []


class Changing(GramEncoder):
    """On a server, which is asked for its model while somebody else writes the file."""

    path: Path

    def verify(self, cancel: CancelToken) -> None:
        cancel.check()
        self.path.write_text("text1,text2\nsnow,ice\nsun,light\n")


def test_a_file_that_changes_as_a_run_begins_is_described_as_it_was_read(
    settings: Settings, repository: Repository, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    encoder = Changing("changing")
    register_encoder(monkeypatch, encoder)
    encoder.path = tmp_path / "pairs.csv"
    encoder.path.write_text("text1,text2\ncat,dog\nhouse,home\n")
    read = hashlib.sha256(encoder.path.read_bytes()).hexdigest()
    request = requesting.request("evalrank", "changing", "none", f"file:{encoder.path}", {}, settings)
    named = planning.load(request, planning.Work(EncodersInARow(settings), repository))
    assert "cat" in named.dataset.items
    assert named.dataset_entry.revision == read != hashlib.sha256(encoder.path.read_bytes()).hexdigest()


def test_a_run_cancelled_before_encoding_is_interrupted(settings: Settings, repository: Repository) -> None:
    cancel = CancelToken()
    cancel.cancel()
    with pytest.raises(Cancelled):
        pipeline.run(asked(settings), settings, repository, cancel=cancel)
    (record,) = repository.runs()
    assert record.state is RunState.INTERRUPTED, "also while its process lives on"
    assert record.metrics == {}


def test_a_run_cancelled_while_ranking_can_be_done_again(run: Run, encoded: RunOutcome, repository: Repository) -> None:
    cancel = CancelToken()

    def progress(stage: str, done: int, total: int, fraction: float | None = None) -> None:
        if stage == "ranking":
            cancel.cancel()

    with pytest.raises(Cancelled):
        run(progress=progress, cancel=cancel)
    assert [r.state for r in repository.runs()] == [RunState.INTERRUPTED]
    outcome = run()
    assert outcome.computed
    assert outcome.record.metrics == encoded.record.metrics
    assert outcome.record.manifest["embeddings"]["encoded_now"] == 0
    assert len(repository.runs()) == 1


def test_damaged_embeddings_are_one_clear_line(
    encoded: RunOutcome, shared_settings: Settings, settings: Settings, repository: Repository
) -> None:
    shutil.copytree(shared_settings.embeddings, settings.embeddings)
    matrix = settings.embeddings / f"{encoded.record.plan.embedding_digest}.npy"
    matrix.write_bytes(matrix.read_bytes()[:1_000])
    with pytest.raises(BlindspotError) as caught:
        pipeline.run(asked(settings), settings, repository)
    assert str(matrix) in str(caught.value)
    assert [r.state for r in repository.runs()] == [RunState.INTERRUPTED]


def run_demo_in_child(settings: Settings) -> None:
    pipeline.run(asked(settings), settings, Repository.at(settings.store))


@pytest.mark.heavy
def test_a_run_killed_while_encoding_goes_on_where_it_was(encoded: RunOutcome, settings: Settings) -> None:
    child = SPAWN.Process(target=run_demo_in_child, args=(settings,))
    child.start()
    while not list(settings.embeddings.glob("*.parts/0*.npz")) and child.is_alive():
        threading.Event().wait(0.02)
    child.kill()
    child.join(60)
    assert child.exitcode == -signal.SIGKILL
    finished = len(list(settings.embeddings.glob("*.parts/0*.npz")))
    assert finished >= 1

    repository = Repository.at(settings.store)
    assert [r.state for r in repository.runs()] == [RunState.INTERRUPTED]
    outcome = pipeline.run(asked(settings), settings, repository)
    assert outcome.record.manifest["embeddings"]["encoded_now"] == max(TEXTS - finished * TEXTS_PER_CHUNK, 0)
    assert outcome.record.run_id == encoded.record.run_id
    assert outcome.record.metrics == pytest.approx(encoded.record.metrics, abs=1e-6)
    assert len(repository.items(ENTRY, [outcome.record.run_id], texts=False)) == 400
    poolings = 5  # of MiniLM, out of one pass
    assert sorted(p.suffix for p in settings.embeddings.iterdir()) == [".json"] * poolings + [".npy"] * poolings
    repository.database.close()
