"""Maps: PCA and UMAP of a small dataset; UMAP in a real child, which is fitted once for the module."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np
import psutil
import pytest

from core.cli import main
from core.datasets.kinds.base import Dataset
from core.datasets.published import pairs as loaders
from core.errors import BlindspotError, Cancelled, InputError
from core.jobs.queue import JobQueue, JobState
from core.numerics.similarity import Metric
from core.runs import pipeline
from core.runs.pipeline import EncodeRequest
from core.runs.spaces import Space, open_spaces
from core.settings import ROOT, Settings
from core.space.maps import maps
from core.space.maps.child import fit_in_child
from core.space.maps.maps import MapRequest, Method, NoMap
from core.space.maps.projection import as_compared, quality
from core.space.maps.worker import ABANDONED
from core.store.repository import Repository
from core.types import CancelToken, Float32, Variant, no_progress
from tests.conftest import make_settings
from tests.support.small_world import (
    SMALL_PAIRS,
    GramEncoder,
    register_dataset,
    register_encoder,
    wait_until,
)

N = 240
TEXTS = [f"{a} {b} {c}" for a in ("red", "green", "blue", "grey") for b in ("dog", "cat", "cow") for c in range(20)]
MANY = loaders.pair_set("many", pairs=[(TEXTS[0], TEXTS[1])], background=TEXTS[2:])
VARIANT = Variant("trigrams", "none")
REQUEST = MapRequest(VARIANT, MANY.id)


@dataclass
class Constant(GramEncoder):
    """Gives every text the same vector."""

    reference: str = "constant"
    device: str = field(default="cpu")

    def encode(self, texts: tuple[str, ...], cancel: CancelToken) -> Float32:  # type: ignore[override]
        return np.full((len(texts), self.info.dimension), 0.5, dtype=np.float32)


@pytest.fixture(scope="module")
def numba_cache() -> Iterator[None]:
    """UMAP compiles itself for a minute: what it compiled is kept beside the packages, for the next time too."""
    before = os.environ.get("NUMBA_CACHE_DIR")
    os.environ["NUMBA_CACHE_DIR"] = str(Path(sys.prefix) / "numba-cache")
    yield
    if before is None:
        del os.environ["NUMBA_CACHE_DIR"]
    else:
        os.environ["NUMBA_CACHE_DIR"] = before


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory, numba_cache: None) -> Iterator[Settings]:
    """A cache with small datasets encoded."""
    patch = pytest.MonkeyPatch()
    settings = make_settings(tmp_path_factory.mktemp("maps"))
    repository = Repository.at(settings.store)
    three = loaders.pair_set("three", pairs=[("red dog", "green dog")], background=["a cow"])
    for dataset in (MANY, SMALL_PAIRS, three):
        register_dataset(patch, dataset)
        for encoder in (GramEncoder(), Constant()):
            register_encoder(patch, encoder)
            pipeline.encode(EncodeRequest(encoder.reference, dataset.id), settings, repository)
    yield settings
    patch.undo()


def space_in(settings: Settings, dataset: Dataset = MANY, variant: Variant = VARIANT) -> Space:
    return open_spaces([variant], dataset, settings)[0]


@pytest.fixture(scope="module")
def stages(world: Settings) -> list[tuple[str, int, int]]:
    """What was told while two threads asked for the same map at once: the only fit of these tests."""
    told: list[tuple[str, int, int]] = []

    def ask() -> None:
        maps.make(REQUEST, world, lambda stage, done, total, fraction=None: told.append((stage, done, total)))

    threads = [threading.Thread(target=ask) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return told


@pytest.fixture(scope="module")
def made(world: Settings, stages: list[tuple[str, int, int]]) -> maps.Map:
    found = maps.find(REQUEST, space_in(world), world)
    assert found is not None
    return found


def leftovers(settings: Settings) -> list[str]:
    return sorted(path.name for path in settings.maps.iterdir() if path.suffix != ".npz")


def test_umap_keeps_neighbours_and_its_quality_is_that_of_its_picture(world: Settings, made: maps.Map) -> None:
    assert made.coordinates.shape == (N, 2)
    assert np.isfinite(made.coordinates).all()
    vectors = as_compared(space_in(world).vectors, Metric.COS)
    found = quality(vectors, Metric.COS, made.coordinates, maps.QUALITY_K, np.arange(N))
    assert made.quality == found
    assert found.kept > 5 * found.by_chance
    assert made.seconds > 0


def test_two_requests_at_once_make_one_fit_with_progress_in_stages_and_epochs(
    stages: list[tuple[str, int, int]],
) -> None:
    names = [stage for stage, *_ in stages]
    assert names[0] == "reading the vectors"
    assert any(name.startswith("loading UMAP") for name in names)
    epochs = [(done, total) for stage, done, total in stages if "epoch" in stage]
    assert epochs
    assert epochs == sorted(epochs)
    assert names.count("waiting for another map") == 2
    assert names.count("measuring the picture") == 1


def test_the_map_survives_a_restart_and_nothing_half_made_is_left(world: Settings, made: maps.Map) -> None:
    """Another process finds it, without UMAP."""
    code = (
        "import sys, numpy; from pathlib import Path;"
        "print(len(numpy.load(next(Path(sys.argv[1]).glob('*.npz')))['coordinates']))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(world.maps)], capture_output=True, text=True, check=True, cwd=ROOT
    )
    assert int(done.stdout) == N
    before = maps.make(REQUEST, world, pytest.fail)  # type: ignore[arg-type]  # nothing is told of
    np.testing.assert_array_equal(before.coordinates, made.coordinates)
    assert before.quality == made.quality
    assert leftovers(world) == []


def children() -> list[psutil.Process]:
    return [p for p in psutil.Process().children(recursive=True) if "core.space.maps.worker" in " ".join(_line(p))]


def _line(process: psutil.Process) -> list[str]:
    try:
        return process.cmdline()
    except psutil.Error:
        return []


def test_cancel_ends_the_child_and_leaves_nothing(world: Settings) -> None:
    repository = Repository.at(world.store)
    queue = JobQueue(world, repository)
    other = replace(REQUEST, n_neighbors=7)
    try:
        job_id = queue.submit("a map", [other])
        assert queue.submit("the same", [other]) == job_id
        wait_until(lambda: bool(children()))
        (child,) = children()
        queue.cancel(job_id)
        wait_until(lambda: not child.is_running() or child.status() == psutil.STATUS_ZOMBIE)
        wait_until(lambda: queue.jobs()[0].state is JobState.CANCELLED)
        assert queue.jobs()[0].encoders == {"trigrams"}
        assert queue.jobs()[0].datasets == {MANY.id}
        assert queue.jobs()[0].requests == ()
    finally:
        queue.close()
    assert not children()
    assert leftovers(world) == []
    assert maps.find(other, space_in(world), world) is None


def test_a_child_ends_when_its_parent_is_gone(tmp_path: Path, numba_cache: None) -> None:
    np.save(tmp_path / "vectors.npy", np.eye(30, dtype=np.float32))
    parameters = {"metric": "cos", "n_neighbors": 5, "min_dist": 0.1, "seed": 0}
    (tmp_path / "parameters.json").write_text(json.dumps(parameters), "utf-8")
    child = subprocess.Popen(
        [sys.executable, "-m", "core.space.maps.worker", str(tmp_path)],
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert child.stdin
    assert child.stdout
    assert json.loads(child.stdout.readline())["stage"] == "finding neighbours"  # it is at work
    child.stdin.close()  # what the kernel does for a parent that is killed
    assert child.wait(300) == ABANDONED
    child.stdout.close()
    assert not (tmp_path / "coordinates.npy").exists()


def test_what_a_killed_parent_left_is_removed(world: Settings, made: maps.Map) -> None:
    left = world.maps / ".work-abc"
    left.mkdir()
    (left / "vectors.npy").touch()
    maps.remove_leavings(world.maps)
    assert not left.exists()
    assert maps.find(REQUEST, space_in(world), world) is not None


def test_a_child_that_fails_is_told_of_in_a_line(world: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    vectors = np.eye(5, dtype=np.float32)
    parameters = {"n_neighbors": 9, "min_dist": 0.1, "seed": 0}  # more than there are
    with pytest.raises(BlindspotError, match="UMAP failed: ValueError: k is 8, with 5 items") as error:
        fit_in_child(vectors, Metric.COS, parameters, world.maps, world, no_progress, CancelToken())
    assert "\n" not in str(error.value)
    assert leftovers(world) == []


def test_a_cancelled_wait_for_the_lock_ends(world: Settings) -> None:
    cancel, stopped = CancelToken(), []

    def ask() -> None:
        with pytest.raises(Cancelled) as error:
            maps.make(replace(REQUEST, n_neighbors=9), world, cancel=cancel)
        stopped.append(error.value)

    with maps.exclusive(world.maps / ".umap.lock", CancelToken()):
        waiting = threading.Thread(target=ask)
        waiting.start()
        waiting.join(0.2)
        assert waiting.is_alive()
        assert not children()
        cancel.cancel()
        waiting.join(60)
    assert stopped


def test_a_damaged_map_is_as_good_as_none(world: Settings) -> None:
    request = replace(REQUEST, method=Method.PCA)
    made = maps.make(request, world)
    path = world.maps / f"{request.key(space_in(world))}.npz"
    whole = path.read_bytes()
    for damaged in (b"", whole[: len(whole) // 2], b"nonsense"):
        path.write_bytes(damaged)
        assert maps.find(request, space_in(world), world) is None
    np.testing.assert_array_equal(maps.make(request, world).coordinates, made.coordinates)
    assert made.explained is not None
    assert made.explained[0] >= made.explained[1] > 0


@pytest.mark.parametrize(
    ("request_", "reason"),
    [
        (MapRequest(Variant("trigrams", "none"), "three"), "UMAP with 15 neighbours needs 17 items, and there are 3"),
        (MapRequest(Variant("constant", "none"), "many"), "every item the same vector"),
        (MapRequest(Variant("constant", "none"), "many", method=Method.PCA), "every item the same vector"),
    ],
)
def test_what_cannot_be_drawn_is_said(world: Settings, request_: MapRequest, reason: str) -> None:
    with pytest.raises(NoMap, match=reason):
        maps.make(request_, world)


def test_three_items_have_a_plane(world: Settings) -> None:
    made = maps.make(MapRequest(VARIANT, "three", method=Method.PCA), world)
    assert made.coordinates.shape == (3, 2)
    assert made.quality is not None
    assert made.quality.k == 1


def test_the_key_knows_all_that_decides_a_map(world: Settings) -> None:
    space, centred = space_in(world), space_in(world, variant=Variant("trigrams", "center"))
    keys = [REQUEST.key(space), REQUEST.key(centred)]
    changes = ({"metric": Metric.L2}, {"method": Method.PCA}, {"most": 9}, {"n_neighbors": 5}, {"min_dist": 0.5})
    keys += [replace(REQUEST, **change).key(space) for change in changes]
    keys += [replace(REQUEST, seed=seed).key(space) for seed in (1, None)]
    assert len(set(keys)) == len(keys)
    plane = replace(REQUEST, method=Method.PCA)
    assert replace(plane, n_neighbors=5, seed=None).key(space) == plane.key(space)


def test_a_sample_is_random_ascending_and_always_the_same() -> None:
    assert maps.sample_rows(5, 9).tolist() == [0, 1, 2, 3, 4]
    found = maps.sample_rows(1_000, 100)
    assert (np.diff(found) > 0).all()
    assert len(found) == 100
    assert 350 < found.mean() < 650
    np.testing.assert_array_equal(found, maps.sample_rows(1_000, 100))


def test_parameters_out_of_range_are_refused() -> None:
    for wrong in ((1, 0.1), (201, 0.1), (15, -0.1), (15, 1.5), (15, float("nan"))):
        with pytest.raises(InputError):
            maps.checked(*wrong)


def test_the_estimate_learns_from_maps_that_were_made(world: Settings, made: maps.Map) -> None:
    few, many = (maps.estimated_seconds(n, REQUEST, world) for n in (1_000, 20_000))
    assert 0 < few < many
    assert maps.estimated_seconds(10**6, REQUEST, world) == maps.estimated_seconds(maps.MOST_ITEMS, REQUEST, world)


@pytest.fixture
def run(world: Settings, monkeypatch: pytest.MonkeyPatch) -> Callable[..., int]:
    monkeypatch.setenv("BLINDSPOT_CACHE", str(world.cache))
    monkeypatch.setenv("BLINDSPOT_DEVICE", "cpu")
    return lambda *args: main(["map", "--dataset", "many", "--encoder", "trigrams", *args])


def test_the_command_writes_a_file(
    run: Callable[..., int], made: maps.Map, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    import pandas as pd

    assert run("--out", str(tmp_path / "map.parquet"), "--json") == 0
    facts = json.loads(capsys.readouterr().out)
    assert (facts["method"], facts["items"], facts["seed"]) == ("umap", N, 0)
    assert made.quality is not None
    assert facts["quality"]["kept"] == made.quality.kept
    frame = pd.read_parquet(tmp_path / "map.parquet")
    assert frame["text"].tolist() == list(MANY.items)
    np.testing.assert_array_equal(frame[["x", "y"]].to_numpy(), made.coordinates)
    assert run("--out", str(tmp_path / "map.csv"), "--method", "pca", "--transform", "center") == 0
    assert "true neighbours kept" in capsys.readouterr().out
    assert pd.read_csv(tmp_path / "map.csv").columns.tolist() == ["item", "text", "x", "y"]


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (["--out", "map.png"], "cannot tell the format of 'map.png'"),
        (["--out", "/no/such/map.csv"], "there is no folder"),
        (["--out", "map.csv", "--seed", "-1"], "seed is '-1'"),
        (["--out", "map.csv", "--neighbors", "1"], "n_neighbors is 1"),
    ],
)
def test_what_the_command_refuses(
    run: Callable[..., int], args: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(*args) == 2
    error = capsys.readouterr().err
    assert message in error
    assert error.count("\n") == 1
