"""Packs from somebody else: whatever is wrong with one is a line, and nothing of it is in the store."""

from __future__ import annotations

import errno
import hashlib
import json
import os
import shutil
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, BinaryIO

import pyarrow as pa
import pytest
from pyarrow import parquet

from blindspot.datasets.kinds import KINDS
from blindspot.errors import BlindspotError, InputError
from blindspot.files import writing
from blindspot.runs import computing
from blindspot.runs.packs import format, importing
from blindspot.runs.packs.folders import folder_at
from blindspot.runs.packs.importing import Imported, Refused
from blindspot.runs.packs.results import PackResults
from blindspot.store.repository import Repository
from tests.support.small_world import SMALL_PAIRS, GramEncoder
from tests.support.world import World, small_world


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A folder with two packs."""
    with small_world(tmp_path_factory.mktemp("world")) as world:
        world.add(GramEncoder("trigrams", 3), GramEncoder("bigrams", 2), SMALL_PAIRS)
        folder = tmp_path_factory.mktemp("made") / "packs"
        requests = [world.request("evalrank", name, "small-pairs") for name in ("trigrams", "bigrams")]
        found = list(computing.compute(requests, world.settings, PackResults(folder_at(str(folder)))))
        assert all(isinstance(one, computing.Done) for one in found)
        yield folder


@pytest.fixture
def packs(made: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(made, tmp_path / "packs"))


def first(packs: Path) -> Path:
    return min((packs / "runs").glob("*.json"))


def edited(packs: Path, *, key: str, value: Any) -> None:
    """A manifest with another value, and a digest that fits it again: who forges a pack can do that, too."""
    path = first(packs)
    facts = json.loads(path.read_text())
    *inside, last = key.split(".")
    target = facts
    for name in inside:
        target = target[name]
    target[last] = value
    del facts["digest"]
    facts["digest"] = hashlib.sha256(json.dumps(facts, sort_keys=True).encode()).hexdigest()
    path.write_text(json.dumps(facts))


def table_edited(path: Path, edit: Callable[[pa.Table], pa.Table]) -> None:
    parquet.write_table(edit(parquet.read_table(path)), path)


def items_edited(packs: Path, edit: Callable[[pa.Table], pa.Table]) -> None:
    path = first(packs).with_suffix(".parquet")
    table_edited(path, edit)
    rows = parquet.read_metadata(path).num_rows
    edited(packs, key="items", value={"rows": rows, "sha256": hashlib.sha256(path.read_bytes()).hexdigest()})


def dataset_file(packs: Path, name: str) -> Path:
    (found,) = (packs / "datasets").glob(f"*/{name}.parquet")
    return found


LONG = "x" * 5_000
EDITS: Sequence[tuple[str, Any]] = [
    ("version", 2),
    ("version", -1),
    ("version", True),
    ("format", "another format"),
    ("run", []),
    ("run.run_id", "../../etc/passwd"),
    ("run.run_id", "0" * 16),
    ("run.dataset_digest", "../../../tmp/evil"),
    ("run.dataset_digest", "0" * 64),
    ("run.diagnostic", "no-such"),
    ("run.diagnostic_version", 99),
    ("run.diagnostic_version", 2.0),
    ("run.encoder", LONG),
    ("run.encoder", "\x1b[2J"),
    ("run.encoder", ""),
    ("run.encoder", 7),
    ("run.transform", "center"),
    ("run.transform", "no-such-step"),
    ("run.params", {}),
    ("run.params", {"metric": "cos", "protocol": "definition", "more": "x"}),
    ("run.params", "cos"),
    ("run.support", "all"),
    ("run.support_digest", "0" * 16),
    ("run.own_support", 1),
    ("run.started_at", "yesterday"),
    ("run.started_at", "2026-01-01T00:00:00"),
    ("run.finished_at", "0001-01-01T00:00:00+23:59"),
    ("fitted_on", "0" * 64),
    ("metrics.mrr", "1"),
    ("metrics.mrr", None),
    ("metrics.mrr", 10**400),
    ("metrics", {str(n): 1.0 for n in range(20_000)}),
    ("coverage.items", -1),
    ("coverage.items", 1.5),
    ("timings", [1]),
    ("manifest", "x"),
    ("items.rows", 10**9),
    ("items.sha256", "0" * 64),
    ("support", {"items": 8, "ranked": "AA=="}),
    ("dataset.kind", "minimal-pair set"),
    ("dataset.rows_digest", ""),
    ("dataset.rows_digest", "0" * 64),
    ("embeddings", [{"digest": "x"}]),
    ("embeddings", {}),
    ("own_columns", [{"name": "a", "values": ["x"], "codes": "/w=="}]),
    ("own_columns", [{"name": "a", "values": ["x"], "codes": "not base64"}]),
]


def refusals(packs: Path, store: Path) -> list[Refused]:
    """What an import refuses; the other pack is imported, and nothing of what was refused is in the store."""
    repository = Repository.at(store)
    found = list(importing.import_packs(folder_at(str(packs)), repository))
    refused = [one for one in found if isinstance(one, Refused)]
    taken = {one.run_id for one in found if isinstance(one, Imported)}
    assert {run.run_id for run in repository.runs()} == taken
    if taken:
        with repository.database.cursor() as cursor:
            counts = [
                cursor.execute(f"SELECT count(DISTINCT run_seq) FROM {table}").fetchall()[0][0]
                for table in ("run", "metric", "result_evalrank_v2")
            ]
        assert set(counts) == {len(taken)}
    for one in refused:
        assert "\n" not in str(one.error)
        assert "\x1b" not in str(one.error)
        assert len(str(one.error)) < 4_000
    return refused


@pytest.mark.hostile
@pytest.mark.parametrize(("key", "value"), EDITS, ids=lambda value: str(value)[:40])
def test_a_forged_manifest_is_refused_and_the_other_pack_imported(
    packs: Path, tmp_path: Path, key: str, value: Any
) -> None:
    edited(packs, key=key, value=value)
    (refused,) = refusals(packs, tmp_path / "store.duckdb")
    assert refused.name == first(packs).stem


@pytest.mark.hostile
@pytest.mark.parametrize(
    "content",
    [b"", b"{", b"[]", b"null", b"\xff\xfe", b'{"format": NaN}', b"[" * 100_000, b'{"a": 1' + b"0" * 10_000 + b"}"],
    ids=["nothing", "half", "list", "null", "bytes", "NaN", "deep", "huge number"],
)
def test_what_is_no_manifest_is_refused(packs: Path, tmp_path: Path, content: bytes) -> None:
    first(packs).write_bytes(content)
    assert len(refusals(packs, tmp_path / "store.duckdb")) == 1


@pytest.mark.hostile
def test_an_edited_manifest_does_not_fit_its_digest(packs: Path, tmp_path: Path) -> None:
    path = first(packs)
    path.write_text(path.read_text().replace('"mrr": 0.', '"mrr": 1.'))
    assert len(refusals(packs, tmp_path / "store.duckdb")) == 1


@pytest.mark.hostile
@pytest.mark.parametrize(
    "edit",
    [
        lambda table: table.drop_columns([table.column_names[-1]]),
        lambda table: table.append_column("more", pa.array([1] * table.num_rows)),
        lambda table: table.set_column(1, table.column_names[1], pa.array(["1"] * table.num_rows)),
        lambda table: table.set_column(1, table.column_names[1], pa.array([[1]] * table.num_rows)),
        lambda table: table.set_column(0, "item_no", pa.nulls(table.num_rows, pa.int32())),
        lambda table: table.set_column(0, "item_no", pa.array([-1] * table.num_rows, pa.int32())),
        lambda table: table.rename_columns(["item_no; DROP TABLE run", *table.column_names[1:]]),
    ],
    ids=["lacks one", "one more", "texts", "lists", "nulls", "negative", "sql"],
)
def test_other_columns_of_items_are_refused(packs: Path, tmp_path: Path, edit: Callable[[pa.Table], pa.Table]) -> None:
    items_edited(packs, edit)
    assert len(refusals(packs, tmp_path / "store.duckdb")) == 1


@pytest.mark.hostile
@pytest.mark.parametrize("name", ["texts", "rows", "parts"])
def test_texts_that_are_not_of_the_digest_are_refused(packs: Path, tmp_path: Path, name: str) -> None:
    path = dataset_file(packs, name)
    table_edited(path, lambda table: table.slice(1))
    assert len(refusals(packs, tmp_path / "short.duckdb")) == 2  # both packs are of this dataset
    path.write_bytes(b"PAR1PAR1")
    assert len(refusals(packs, tmp_path / "damaged.duckdb")) == 2
    path.unlink()
    assert len(refusals(packs, tmp_path / "missing.duckdb")) == 2


@pytest.mark.hostile
def test_pairs_that_were_swapped_are_refused_whatever_manifests_say(packs: Path, tmp_path: Path) -> None:
    path = dataset_file(packs, "rows")
    table_edited(path, lambda table: table.set_column(2, "match_no", table["query_no"]))
    edited(packs, key="dataset.rows_digest", value=format.digest_of_table(parquet.read_table(path)))
    assert len(refusals(packs, tmp_path / "store.duckdb")) == 2


@pytest.mark.hostile
def test_what_is_larger_than_it_may_be_is_not_read(
    packs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(format, "MOST_JSON", 100)
    assert len(refusals(packs, tmp_path / "json.duckdb")) == 2
    monkeypatch.undo()
    monkeypatch.setattr(format, "MOST_PACKED", 100)
    assert len(refusals(packs, tmp_path / "packed.duckdb")) == 2
    monkeypatch.undo()
    monkeypatch.setattr(format, "MOST_UNPACKED", 100)
    assert len(refusals(packs, tmp_path / "unpacked.duckdb")) == 2


@pytest.mark.hostile
def test_links_pipes_and_other_names_are_refused(packs: Path, tmp_path: Path) -> None:
    runs = packs / "runs"
    os.mkfifo(runs / f"{'a' * 16}.json")
    (runs / f"{'b' * 16}.json").symlink_to("/dev/zero")
    (runs / f"{'c' * 16}.json").mkdir()
    (runs / "no-run.json").write_text("{}")
    assert len(refusals(packs, tmp_path / "store.duckdb")) == 4


@pytest.mark.hostile
def test_a_pack_under_another_name_is_refused(packs: Path, tmp_path: Path) -> None:
    first(packs).rename(packs / "runs" / f"{'f' * 16}.json")
    assert len(refusals(packs, tmp_path / "store.duckdb")) == 1


@pytest.mark.hostile
def test_rows_have_the_columns_that_datasets_give() -> None:
    assert set(format.ROWS) == {kind.stored_as for kind in KINDS.values() if kind.stored_as}


# --- disks


@pytest.mark.hostile
def test_a_full_disk_leaves_no_pack_and_is_named(world: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    world.add(GramEncoder("trigrams", 3), SMALL_PAIRS)
    request, folder = world.request("evalrank", "trigrams", "small-pairs"), folder_at(str(tmp_path / "packs"))
    whole = writing.write_atomically

    def full(path: Path, write: Callable[[BinaryIO], object]) -> None:
        def half(file: BinaryIO) -> None:
            file.write(b"half")
            raise OSError(errno.ENOSPC, "No space left on device")

        whole(path, half if path.suffix == ".json" and path.parent.name == "runs" else write)

    monkeypatch.setattr("blindspot.runs.packs.folders.write_atomically", full)
    (found,) = computing.compute([request], world.settings, PackResults(folder))
    assert isinstance(found, computing.Failed)
    assert "No space left" in str(found.error)
    assert format.ids_in(folder) == []
    assert not list((tmp_path / "packs").rglob("*.tmp"))
    monkeypatch.undo()
    world.add(GramEncoder("trigrams", 3), SMALL_PAIRS)
    (found,) = computing.compute([request], world.settings, PackResults(folder))
    assert isinstance(found, computing.Done)


@pytest.mark.hostile
def test_an_import_that_fails_midway_leaves_nothing(
    packs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The last table cannot be written; all before it is taken back, and a second import has everything."""
    repository = Repository.at(tmp_path / "store.duckdb")
    name = "blindspot.store.whole_runs.with_number"

    def full(column: str, number: int, table: pa.Table) -> pa.Table:
        if "item_no" in table.column_names:
            raise BlindspotError("no space left")
        return table.add_column(0, column, pa.array([number] * table.num_rows, pa.int32()))

    monkeypatch.setattr(name, full)
    with pytest.raises(BlindspotError, match="no space"):
        list(importing.import_packs(folder_at(str(packs)), repository))
    assert repository.runs() == []
    with repository.database.cursor() as cursor:
        for table in ("run", "metric", "dataset", "dataset_text", "embedding"):
            assert cursor.execute(f"SELECT count(*) FROM {table}").fetchall() == [(0,)]
    monkeypatch.undo()
    assert not refusals(packs, tmp_path / "store.duckdb")


@pytest.mark.hostile
def test_a_run_that_is_computed_here_meanwhile_is_taken_over(packs: Path, tmp_path: Path) -> None:
    repository = Repository.at(tmp_path / "store.duckdb")
    plan = format.read_pack(folder_at(str(packs)), first(packs).stem).run.plan
    run_seq = repository.begin(plan)
    assert not refusals(packs, tmp_path / "store.duckdb")
    assert repository.runs(run_id=plan.run_id)[0].run_seq == run_seq
    assert repository.runs(run_id=plan.run_id)[0].metrics


@pytest.mark.hostile
def test_a_folder_that_no_one_reaches_is_bad_input() -> None:
    with pytest.raises(InputError):
        folder_at("nosuch://bucket/packs")
