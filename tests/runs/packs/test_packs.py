"""Result packs: what is computed into a folder and imported is what one process computes into its store."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from blindspot.errors import InputError
from blindspot.runs import computing, estimates, pipeline, sweeps
from blindspot.runs.packs import groups, importing
from blindspot.runs.packs.exporting import Exported, export_packs
from blindspot.runs.packs.folders import folder_at
from blindspot.runs.packs.format import ids_in
from blindspot.runs.packs.results import PackResults
from blindspot.runs.requests import RunRequest
from blindspot.settings import Settings
from blindspot.store.repository import Repository
from tests.support.small_world import SMALL_PAIRS, GramEncoder
from tests.support.whole_store import everything
from tests.support.world import World

_FOLDERS = itertools.count()


@pytest.fixture
def requests(world: World) -> Sequence[RunRequest]:
    world.add(GramEncoder("trigrams", 3), GramEncoder("bigrams", 2), SMALL_PAIRS)
    sweep = sweeps.Sweep(
        ("trigrams", "bigrams"), ("none", "center"), ("small-pairs", "demo-pairs"), ("evalrank",), {"metric": ("cos",)}
    )
    return sweeps.expand(sweep, world.settings).requests


@pytest.fixture(params=["local", "memory"])
def address(request: pytest.FixtureRequest, tmp_path: Any) -> str:
    return str(tmp_path / "packs") if request.param == "local" else f"memory://packs-{next(_FOLDERS)}"


def in_one_process(requests: Sequence[RunRequest], settings: Settings, repository: Repository) -> None:
    for request in requests:
        pipeline.run(request, settings, repository)


@pytest.mark.heavy
def test_imported_runs_are_those_of_one_process(
    requests: Sequence[RunRequest], address: str, world: World, tmp_path: Any
) -> None:
    folder, imported = folder_at(address), Repository.at(tmp_path / "imported.duckdb")
    found = list(computing.compute(requests, world.settings, PackResults(folder)))
    assert all(isinstance(one, computing.Done) and one.computed for one in found)
    assert not world.settings.store.exists()
    taken = list(importing.import_packs(folder, imported))
    assert [one.is_new for one in taken if isinstance(one, importing.Imported)] == [True] * len(requests)
    in_one_process(requests, world.settings, world.repository)
    assert everything(imported) == everything(world.repository)

    assert all(
        isinstance(one, importing.Imported) and not one.is_new for one in importing.import_packs(folder, imported)
    )
    again = list(computing.compute(requests, world.settings, PackResults(folder)))
    assert all(isinstance(one, computing.Done) and not one.computed for one in again)


def test_shards_are_all_groups_once(requests: Sequence[RunRequest], world: World, tmp_path: Any) -> None:
    for n in (1, 2, 3, 7):
        found = groups.of_requests(requests, world.settings, n)
        shards = [groups.shard(found, i, n) for i in range(1, n + 1)]
        assert sorted(r.label for s in shards for g in s for r in g.requests) == sorted(r.label for r in requests)
        for one in found:  # texts are encoded once: all transforms of a model on a dataset are in one group
            together = {(r.variant.encoder, r.dataset) for r in one.requests}
            assert together.isdisjoint(
                (r.variant.encoder, r.dataset) for g in found if g is not one for r in g.requests
            )
    with pytest.raises(InputError):
        groups.shard(found, 8, 7)


def test_nothing_is_asked_of_a_store(requests: Sequence[RunRequest], world: World) -> None:
    before = groups.of_requests(requests, world.settings, 3)
    pipeline.run(requests[0], world.settings, world.repository)
    assert groups.of_requests(requests, world.settings, 3) == before
    assert estimates.estimate(requests, world.settings, world.repository).wanted == requests[1:]


def test_a_run_is_not_exported_with_other_texts(address: str, world: World) -> None:
    world.add(GramEncoder("trigrams"), SMALL_PAIRS)
    run = world.run("evalrank", "trigrams", SMALL_PAIRS.id)
    folder = folder_at(address)
    assert list(export_packs([run], folder, world.settings, world.repository)) == [Exported(run.run_id)]
    world.add(replace(SMALL_PAIRS, items=(*SMALL_PAIRS.items[:-1], "Another text.")))
    (refused,) = export_packs([run], folder, world.settings, world.repository)
    assert isinstance(refused, importing.Refused)
    assert SMALL_PAIRS.id in str(refused.error)
    assert ids_in(folder) == [run.run_id], "what was exported before stays"


def test_a_folder_without_packs_is_no_import(address: str, world: World) -> None:
    with pytest.raises(InputError):
        list(importing.import_packs(folder_at(address), world.repository))
    assert ids_in(folder_at(address)) == []
