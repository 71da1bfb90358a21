"""Versions of a model: a file whose vectors change between runs; both are shown and compared, only one can be run."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from blindspot import names
from blindspot.datasets import fetch
from blindspot.datasets.catalog import find_dataset
from blindspot.datasets.kinds.retrieval import RetrievalDataset
from blindspot.diagnostic import find_diagnostic
from blindspot.encoders import on_disk, source_files
from blindspot.encoders.catalog import canonical_encoder, resolve_encoder
from blindspot.encoders.on_disk import revision_on_disk
from blindspot.errors import BlindspotError, InputError
from blindspot.names import Names
from blindspot.references import ModelRef, version_of
from blindspot.runs.encoders_here import known_references, read_library
from blindspot.runs.spaces import open_spaces
from blindspot.settings import ASSETS, Settings
from blindspot.store.changed_models import MARK, changes
from blindspot.store.naming import names_of
from blindspot.store.records import RunRecord
from blindspot.ui.navigation import places
from blindspot.variants import Variant
from tests.support.commands import Command
from tests.support.pages import OpenApp, written
from tests.support.world import World, small_world

PAGES = [place.stem for place in places()]
PARAMS = {"metric": "cos", "protocol": "definition"}


class Changed:
    """A user's vectors on a user's pairs, before and after the file with the vectors changed."""

    def __init__(self, world: World, folder: Path) -> None:
        self.world = world
        data = Path(shutil.copy(ASSETS / "demo" / "own_pairs.csv", folder / "pairs.csv"))
        self.words = sorted({w for w in data.read_text("utf-8").lower().replace(",", " ").split() if w.isalpha()})
        self.path, self.dataset = folder / "house.txt", f"file:{data}"
        self.model = f"vectors:{self.path}"
        self.write(0, 4)
        self.before = [self.run(t) for t in ("none", "center")]
        self.variants_before, self.versions_before = world.repository.variants(), world.repository.versions()
        self.write(1, 5)
        self.after = [self.run(t) for t in ("none", "center")]
        self.older = f"{self.model}@version-{self.before[0].manifest['encoder']['revision'][:8]}"

    def write(self, seed: int, dimension: int) -> None:
        rng = np.random.default_rng(seed)
        lines = [f"{w} {' '.join(f'{x:.4f}' for x in rng.normal(size=dimension))}" for w in self.words]
        self.path.write_text("\n".join(lines), "utf-8")

    def run(self, transform: str) -> RunRecord:
        return self.world.run("evalrank", f"{self.model}~{transform}", self.dataset)

    @property
    def pair(self) -> list[str]:
        return [f"{self.older}~none", f"{self.model}~none"]


@pytest.fixture(scope="module")
def changed(module_world: World, tmp_path_factory: pytest.TempPathFactory) -> Changed:
    return Changed(module_world, tmp_path_factory.mktemp("versions"))


@pytest.fixture
def settings(changed: Changed) -> Settings:
    return changed.world.settings


def test_with_one_version_nothing_is_told_apart(changed: Changed) -> None:
    assert changed.variants_before == [Variant(changed.model, "none"), Variant(changed.model, "center")]
    assert changed.versions_before == []
    assert [run.plan.variant for run in changed.before] == changed.variants_before


def test_each_version_is_a_variant_and_the_newest_keeps_the_reference(changed: Changed) -> None:
    repository = changed.world.repository
    both = [Variant(model, chain) for model in (changed.older, changed.model) for chain in ("none", "center")]
    assert repository.variants() == both
    stored = {run.run_id: run for run in repository.runs()}
    for old, new in zip(changed.before, changed.after, strict=True):
        assert stored[old.run_id].metrics == old.metrics, "scores of the old one are as they were"
        assert stored[old.run_id].plan.variant == Variant(changed.older, old.plan.variant.transform)
        assert stored[new.run_id].plan == new.plan
    assert [r.run_id for r in repository.runs(encoder=changed.older)] == [r.run_id for r in changed.before[::-1]]
    (found,) = repository.runs(variants=[Variant(changed.model, "center")])
    assert found.run_id == changed.after[1].run_id
    (board,) = repository.leaderboards(find_diagnostic("evalrank"), changed.after[0].plan.params, [], None, 10)
    assert board.variants == 4
    assert {run.plan.variant for run in board.runs} == set(both)


def test_versions_are_numbered_and_dated(changed: Changed) -> None:
    versions = dict(changed.world.repository.versions())
    at = changed.before[0].started_at
    assert versions == {changed.older: f"version 1 of {at:%-d %b}", changed.model: f"version 2 of {at:%-d %b}"}
    called = Names.of([changed.model], {}, {("model", changed.model): "KB"}, versions)
    assert called.model(changed.older) == f"KB ({versions[changed.older]})"
    assert called.model(changed.model) == f"KB ({versions[changed.model]})"
    assert called.every_version(changed.older) == "KB"
    with names.in_force(called):
        assert [Variant.parse(v).label_within(20) for v in changed.pair] == ["KB v1", "KB v2"]
        assert Variant(changed.older, "center").label_within(20) == "KB v1 + center"
        assert Variant(changed.older, "center").label.endswith(" + center")


def test_the_library_has_one_model_and_offers_only_it(changed: Changed) -> None:
    world = changed.world
    assert changed.older not in known_references(world.settings, world.repository)
    summary = read_library(world.settings, world.repository).find(changed.model)
    assert summary is not None
    assert len(summary.runs) == 4


@pytest.fixture
def replaced(changed: Changed) -> Iterator[Changed]:
    """The file as after a third training, with which nothing was run."""
    changed.write(2, 5)
    yield changed
    changed.write(1, 5)


def test_stored_scores_of_replaced_files_are_marked_until_the_files_are_back(replaced: Changed) -> None:
    repository, settings = replaced.world.repository, replaced.world.settings
    newest = f"{replaced.after[-1].started_at:%Y-%m-%d %H:%M}"
    called = names_of(repository, settings)
    assert called.model(replaced.model).endswith(f"{MARK})")
    assert MARK not in called.model(replaced.older)
    assert called.model_within(replaced.model, 30).endswith(f" v2 ({MARK})"), "where it is narrow, too"
    (sentence,) = changes(map(ModelRef.parse, [replaced.model, replaced.older, "lsa"]), repository, settings)
    assert newest in sentence
    assert changes([ModelRef("lsa")], repository, settings) == []
    assert len(changes([ModelRef.parse(f"fuse:{replaced.model}+bm25")], repository, settings)) == 1, "as a part"
    replaced.write(1, 5)
    assert changes([ModelRef(replaced.model)], repository, settings) == []
    assert MARK not in names_of(repository, settings).model(replaced.model)


def test_a_file_of_rankings_has_versions_too_alone_and_in_a_fusion(tmp_path: Path) -> None:
    with small_world(tmp_path) as world:
        _check_rankings(world, tmp_path)


def _check_rankings(world: World, folder: Path) -> None:
    path = folder / "ranked.txt"
    models = [f"run:{path}", f"fuse:bm25+run:{path}"]
    ids = fetch.load(find_dataset("demo-retrieval"), world.settings)
    assert isinstance(ids, RetrievalDataset)

    def write(step: int) -> None:
        rows = [
            f"{query} Q0 {ids.document_ids[(n * step + place) % len(ids.document_ids)]} {place + 1} {9 - place} x"
            for n, query in enumerate(ids.query_ids)
            for place in range(3)
        ]
        path.write_text("\n".join(rows), "utf-8")

    write(1)
    runs = [world.run("retrieval", model, "demo-retrieval") for model in models]
    stored = [run.plan.variant.encoder for run in runs]
    assert changes(stored, world.repository, world.settings) == []
    write(2)
    assert len(changes(stored, world.repository, world.settings)) == 2
    again = [world.run("retrieval", model, "demo-retrieval") for model in models]
    encoders = {run.run_id: run.plan.variant.encoder for run in world.repository.runs()}
    for old, new in zip(runs, again, strict=True):
        assert version_of(encoders[old.run_id])[1]
        assert not version_of(encoders[new.run_id])[1]
    assert len(world.repository.versions()) == 4
    assert changes(stored, world.repository, world.settings) == []


def test_unchanged_files_are_not_read_again(replaced: Changed, monkeypatch: pytest.MonkeyPatch) -> None:
    model, settings = ModelRef.parse(replaced.model), replaced.world.settings
    revision = revision_on_disk(model, settings)

    def read(path: Path) -> str:
        raise AssertionError(path)

    source_files._sha256.cache_clear()
    on_disk._REMEMBERED.clear()  # as in another process
    monkeypatch.setattr(source_files, "sha256_of", read)
    assert revision_on_disk(model, settings) == revision
    replaced.write(3, 5)
    with pytest.raises(AssertionError):
        revision_on_disk(model, settings)


def test_a_page_and_a_command_say_that_files_were_replaced(
    replaced: Changed, open_app: OpenApp, blindspot: Command
) -> None:
    newest = f"{replaced.after[-1].started_at:%Y-%m-%d %H:%M}"
    app = open_app(replaced.world.cache, "evalrank", data=replaced.dataset, model=replaced.pair)
    assert newest in " ".join(warning.value for warning in app.warning)
    runs = blindspot("runs", "--json")
    assert len(runs.json["runs"]) == len([*replaced.before, *replaced.after])
    both = [run.run_id for run in replaced.after]
    commands = [
        ("findings", "--json"),
        ("compare", *(f"{replaced.model}~{transform}" for transform in ("none", "center")), "--json"),
        ("runs", "show", both[0]),
        ("runs", "compare", *both, "--json"),
    ]
    for said in (runs, *(blindspot(*command) for command in commands)):
        assert newest in said.err
        assert [warning for warning in said.json["warnings"] if newest in warning], "for who does not read stderr"
    assert "warnings" not in blindspot("list", "diagnostics", "--json").json


@pytest.mark.parametrize("page", ["evalrank", "compare", "models"])
def test_a_page_opens_with_an_older_version(open_app: OpenApp, changed: Changed, page: str) -> None:
    app = open_app(changed.world.cache, page, data=changed.dataset, model=changed.pair)
    assert not app.exception
    assert "@version-" not in written(app)


def test_an_older_version_cannot_be_run(changed: Changed) -> None:
    assert canonical_encoder(changed.older) == changed.older
    with pytest.raises(InputError, match=changed.older.split("@version-")[1]):
        resolve_encoder(changed.older, changed.world.settings)
    with pytest.raises(InputError, match=changed.older.split("@version-")[1]):
        changed.world.run("evalrank", f"{changed.older}~whiten", changed.dataset)


def test_a_file_with_such_a_name_is_a_file(changed: Changed, tmp_path: Path) -> None:
    path = tmp_path / "x.txt@version-0123abcd"
    path.write_bytes(changed.path.read_bytes())
    assert resolve_encoder(f"vectors:{path}", changed.world.settings).identity.reference == f"vectors:{path}"


def test_kept_embeddings_still_make_a_space(changed: Changed) -> None:
    world = changed.world
    dataset = fetch.load(find_dataset(changed.dataset), world.settings)
    old, new = open_spaces([Variant.parse(v) for v in changed.pair], dataset, world.settings)
    assert (old.vectors.shape[1], new.vectors.shape[1]) == (4, 5)
    other = fetch.load(find_dataset("demo-pairs"), world.settings)
    with pytest.raises(BlindspotError, match=changed.older.split("@version-")[1]):
        open_spaces([Variant(changed.older, "none")], other, world.settings)


def test_both_are_compared_on_a_page_and_on_the_command_line(
    open_app: OpenApp, changed: Changed, blindspot: Command
) -> None:
    app = open_app(changed.world.cache, "evalrank", data=changed.dataset, model=changed.pair)
    assert app.multiselect(key="model").value == changed.pair
    options = app.multiselect(key="model").options
    assert any("house v1" in option for option in options)
    assert any("house v2" in option for option in options)
    found = blindspot.json("compare", *changed.pair)
    assert (found["a"]["dimension"], found["b"]["dimension"]) == (4, 5), "what the older version cost is known too"
    (row,) = [row for row in found["rows"] if row["score"] == "mrr" and row["params"].items() >= PARAMS.items()]
    assert row["runs"] == [changed.before[0].run_id, changed.after[0].run_id]
    assert (row["a"], row["b"]) == (changed.before[0].metrics["mrr"], changed.after[0].metrics["mrr"])


def test_without_the_newer_runs_the_older_version_is_the_model_again(tmp_path: Path) -> None:
    with small_world(tmp_path) as world:
        _check_deleting(Changed(world, tmp_path))


def _check_deleting(changed: Changed) -> None:
    repository = changed.world.repository
    for run in changed.after:
        repository.delete(repository.run(run.run_id))
    assert repository.variants() == changed.variants_before
    assert repository.versions() == []
    repository.delete(repository.run(changed.before[1].run_id))
    assert repository.variants() == changed.variants_before[:1]


@given(st.text(alphabet="ab@:/?-=~1", max_size=12), st.text(alphabet="0123456789abcdef", min_size=1, max_size=8))
def test_a_version_is_found_again_in_its_reference(model: str, revision: str) -> None:
    assert version_of(f"vectors:/{model}@version-{revision}") == (f"vectors:/{model}", revision)
    assert version_of(f"vectors:/{model}")[1] == ""
