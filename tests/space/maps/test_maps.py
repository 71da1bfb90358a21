"""Maps: PCA and UMAP of a small dataset; UMAP in a real child, which is fitted once for the module."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import psutil
import pytest

from blindspot.datasets.catalog import DatasetRef
from blindspot.datasets.kinds.base import Dataset
from blindspot.datasets.published import pairs as loaders
from blindspot.errors import BlindspotError, Cancelled, InputError
from blindspot.jobs.queue import JobQueue, JobState
from blindspot.numerics.similarity import Similarity
from blindspot.runs.spaces import Space, open_spaces
from blindspot.settings import ROOT, Settings
from blindspot.space.maps import maps
from blindspot.space.maps.child import fit_in_child
from blindspot.space.maps.maps import MapRequest, Method, NoMap
from blindspot.space.maps.projection import as_compared, quality
from blindspot.space.maps.worker import ABANDONED
from blindspot.store.repository import Repository
from blindspot.types import CancelToken, no_progress
from blindspot.variants import Variant
from tests.support.commands import Command
from tests.support.small_world import GramEncoder, wait_until
from tests.support.world import World

N = 240
TEXTS = [f"{a} {b} {c}" for a in ("red", "green", "blue", "grey") for b in ("dog", "cat", "cow") for c in range(20)]
MANY = loaders.pair_set("many", pairs=[(TEXTS[0], TEXTS[1])], background=TEXTS[2:])
VARIANT = Variant("trigrams", "none")
REQUEST = MapRequest(VARIANT, DatasetRef(MANY.id))


@pytest.fixture(scope="module")
def numba_cache() -> Iterator[None]:
    """UMAP takes a minute to compile itself: the result is kept with the packages."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("NUMBA_CACHE_DIR", str(Path(sys.prefix) / "numba-cache"))
        yield


@pytest.fixture(scope="module")
def settings(module_world: World, numba_cache: None) -> Settings:
    """A cache with small datasets encoded."""
    three = loaders.pair_set("three", pairs=[("red dog", "green dog")], background=["a cow"])
    module_world.add(MANY, three, GramEncoder(), GramEncoder("constant", constant=True))
    for dataset in (MANY.id, three.id):
        for encoder in ("trigrams", "constant"):
            module_world.encode(encoder, dataset)
    return module_world.settings


def space_in(settings: Settings, dataset: Dataset = MANY, variant: Variant = VARIANT) -> Space:
    return open_spaces([variant], dataset, settings)[0]


@pytest.fixture(scope="module")
def stages(settings: Settings) -> list[tuple[str, int, int]]:
    """The progress while two threads made the same map at once: the only fit of these tests."""
    told: list[tuple[str, int, int]] = []

    def ask() -> None:
        maps.make(REQUEST, settings, lambda stage, done, total, fraction=None: told.append((stage, done, total)))

    threads = [threading.Thread(target=ask) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return told


@pytest.fixture(scope="module")
def made(settings: Settings, stages: list[tuple[str, int, int]]) -> maps.Map:
    found = maps.find(REQUEST, space_in(settings), settings)
    assert found is not None
    return found


def leftovers(settings: Settings) -> list[str]:
    return sorted(path.name for path in settings.maps.iterdir() if path.suffix != ".npz")


@pytest.mark.process
def test_umap_keeps_neighbors_and_its_quality_is_that_of_its_picture(settings: Settings, made: maps.Map) -> None:
    assert made.coordinates.shape == (N, 2)
    assert np.isfinite(made.coordinates).all()
    vectors = as_compared(space_in(settings).vectors, Similarity.COS)
    found = quality(vectors, Similarity.COS, made.coordinates, maps.QUALITY_K, np.arange(N))
    assert made.quality == found
    assert found.kept > 5 * found.by_chance
    assert made.seconds > 0


@pytest.mark.process
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


@pytest.mark.process
def test_the_map_survives_a_restart_and_nothing_half_made_is_left(settings: Settings, made: maps.Map) -> None:
    """Another process finds it, without UMAP."""
    code = (
        "import sys, numpy; from pathlib import Path;"
        "print(len(numpy.load(next(Path(sys.argv[1]).glob('*.npz')))['coordinates']))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(settings.maps)], capture_output=True, text=True, check=True, cwd=ROOT
    )
    assert int(done.stdout) == N
    before = maps.make(REQUEST, settings, pytest.fail)  # type: ignore[arg-type]  # there is no progress
    np.testing.assert_array_equal(before.coordinates, made.coordinates)
    assert before.quality == made.quality
    assert leftovers(settings) == []


def children() -> list[psutil.Process]:
    found = []
    for process in psutil.Process().children(recursive=True):
        with suppress(psutil.Error):
            if "blindspot.space.maps.worker" in process.cmdline():
                found.append(process)
    return found


def has_ended(child: psutil.Process) -> bool:
    try:
        return child.status() == psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:  # also between two looks at it
        return True


@pytest.mark.process
def test_cancel_ends_the_child_and_leaves_nothing(settings: Settings) -> None:
    repository = Repository.at(settings.store)
    queue = JobQueue(settings, repository)
    other = replace(REQUEST, n_neighbors=7)
    try:
        job_id = queue.submit("a map", [other])
        assert queue.submit("the same", [other]) == job_id
        wait_until(lambda: bool(children()))
        (child,) = children()
        queue.cancel(job_id)
        wait_until(lambda: has_ended(child))
        wait_until(lambda: queue.jobs()[0].state is JobState.CANCELLED)
        assert queue.jobs()[0].encoders == {"trigrams"}
        assert queue.jobs()[0].datasets == {MANY.id}
        assert queue.jobs()[0].requests == ()
    finally:
        queue.close()
    assert not children()
    assert leftovers(settings) == []
    assert maps.find(other, space_in(settings), settings) is None


@pytest.mark.process
def test_a_child_ends_when_its_parent_is_gone(tmp_path: Path, numba_cache: None) -> None:
    np.save(tmp_path / "vectors.npy", np.eye(30, dtype=np.float32))
    parameters = {"metric": "cos", "n_neighbors": 5, "min_dist": 0.1, "seed": 0}
    (tmp_path / "parameters.json").write_text(json.dumps(parameters), "utf-8")
    child = subprocess.Popen(
        [sys.executable, "-m", "blindspot.space.maps.worker", str(tmp_path)],
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert child.stdin
    assert child.stdout
    assert json.loads(child.stdout.readline())["stage"] == "finding neighbors"  # it is at work
    child.stdin.close()  # what the kernel does for a parent that is killed
    assert child.wait(300) == ABANDONED
    child.stdout.close()
    assert not (tmp_path / "coordinates.npy").exists()


@pytest.mark.process
def test_what_a_killed_parent_left_is_removed(settings: Settings, made: maps.Map) -> None:
    left = settings.maps / ".work-abc"
    left.mkdir()
    (left / "vectors.npy").touch()
    maps.remove_leftovers(settings.maps)
    assert not left.exists()
    assert maps.find(REQUEST, space_in(settings), settings) is not None


@pytest.mark.process
def test_a_child_that_fails_is_reported_in_a_line(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    vectors = np.eye(5, dtype=np.float32)
    parameters = {"n_neighbors": 9, "min_dist": 0.1, "seed": 0}  # more than there are
    with pytest.raises(BlindspotError, match="UMAP failed: ValueError: k is 8, with 5 items") as error:
        fit_in_child(vectors, Similarity.COS, parameters, settings.maps, settings, no_progress, CancelToken())
    assert "\n" not in str(error.value)
    assert leftovers(settings) == []


@pytest.mark.process
def test_a_cancelled_wait_for_the_lock_ends(settings: Settings) -> None:
    cancel, stopped = CancelToken(), []

    def ask() -> None:
        with pytest.raises(Cancelled) as error:
            maps.make(replace(REQUEST, n_neighbors=9), settings, cancel=cancel)
        stopped.append(error.value)

    with maps.exclusive(settings.maps / ".umap.lock", CancelToken()):
        waiting = threading.Thread(target=ask)
        waiting.start()
        waiting.join(0.2)
        assert waiting.is_alive()
        assert not children()
        cancel.cancel()
        waiting.join(60)
    assert stopped


@pytest.mark.process
def test_a_damaged_map_is_made_again(settings: Settings) -> None:
    request = replace(REQUEST, method=Method.PCA)
    made = maps.make(request, settings)
    path = settings.maps / f"{request.key(space_in(settings))}.npz"
    whole = path.read_bytes()
    for damaged in (b"", whole[: len(whole) // 2], b"nonsense"):
        path.write_bytes(damaged)
        assert maps.find(request, space_in(settings), settings) is None
    np.testing.assert_array_equal(maps.make(request, settings).coordinates, made.coordinates)
    assert made.explained is not None
    assert made.explained[0] >= made.explained[1] > 0


@pytest.mark.process
@pytest.mark.parametrize(
    ("request_", "reason"),
    [
        (MapRequest(Variant("trigrams", "none"), DatasetRef("three")), "needs 17 texts, and there are 3"),
        (MapRequest(Variant("constant", "none"), DatasetRef("many")), "every text the same vector"),
        (MapRequest(Variant("constant", "none"), DatasetRef("many"), method=Method.PCA), "every text the same vector"),
    ],
)
def test_what_cannot_be_drawn_is_said(settings: Settings, request_: MapRequest, reason: str) -> None:
    with pytest.raises(NoMap, match=reason):
        maps.make(request_, settings)


@pytest.mark.process
def test_three_items_have_a_plane(settings: Settings) -> None:
    made = maps.make(MapRequest(VARIANT, DatasetRef("three"), method=Method.PCA), settings)
    assert made.coordinates.shape == (3, 2)
    assert made.quality is not None
    assert made.quality.k == 1


@pytest.mark.process
def test_the_key_knows_all_that_decides_a_map(settings: Settings) -> None:
    space, centred = space_in(settings), space_in(settings, variant=Variant("trigrams", "center"))
    keys = [REQUEST.key(space), REQUEST.key(centred)]
    changes = ({"metric": Similarity.L2}, {"method": Method.PCA}, {"most": 9}, {"n_neighbors": 5}, {"min_dist": 0.5})
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


@pytest.mark.process
def test_the_estimate_learns_from_maps_that_were_made(settings: Settings, made: maps.Map) -> None:
    few, many = (maps.estimated_seconds(n, REQUEST, settings) for n in (1_000, 20_000))
    assert 0 < few < many
    assert maps.estimated_seconds(10**6, REQUEST, settings) == maps.estimated_seconds(
        maps.MOST_ITEMS, REQUEST, settings
    )


MAP = ("map", "--dataset", "many", "--encoder", "trigrams")


@pytest.mark.process
def test_the_command_writes_a_file(blindspot: Command, made: maps.Map, tmp_path: Path) -> None:
    facts = blindspot(*MAP, "--out", str(tmp_path / "map.parquet"), "--json").json
    assert (facts["method"], facts["items"], facts["seed"]) == ("umap", N, 0)
    assert made.quality is not None
    assert facts["quality"]["kept"] == made.quality.kept
    frame = pd.read_parquet(tmp_path / "map.parquet")
    assert frame["text"].tolist() == list(MANY.items)
    np.testing.assert_array_equal(frame[["x", "y"]].to_numpy(), made.coordinates)
    said = blindspot(*MAP, "--out", str(tmp_path / "map.csv"), "--method", "pca", "--transform", "center")
    assert "true neighbors kept" in said.out
    assert pd.read_csv(tmp_path / "map.csv").columns.tolist() == ["item", "text", "x", "y"]


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (["--out", "map.png"], " 'map.png'"),
        (["--out", "/no/such/map.csv"], "there is no folder"),
        (["--out", "map.csv", "--seed", "-1"], "seed is '-1'"),
        (["--out", "map.csv", "--neighbors", "1"], "n_neighbors is 1"),
    ],
)
def test_what_the_command_refuses(blindspot: Command, args: list[str], message: str) -> None:
    said = blindspot(*MAP, *args)
    assert said.code == 2
    assert message in said.error
