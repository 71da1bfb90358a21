"""Own columns of a file: which are kept, what their values are, and what reads them back."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from blindspot.datasets import fetch, uploads
from blindspot.datasets.catalog import find_dataset
from blindspot.datasets.kinds.own_columns import EMPTY, OwnColumn
from blindspot.datasets.user_data import attributes
from blindspot.datasets.user_data import files as own
from blindspot.datasets.user_data.columns import GROUPS, UNUSED
from blindspot.settings import Settings
from blindspot.store.purging import purge
from blindspot.store.repository import Repository, store_dataset
from tests.support.tables import each

HOSTILE = "<b>x</b> [a](javascript:b) $`"
N = 24


def rows(**more: list[object]) -> list[dict[str, object]]:
    return [
        {"query": f"question {i}", "match": f"answer {i}"}
        | {name: cells[i % len(cells)] for name, cells in more.items()}
        for i in range(N)
    ]


def written(path: Path, found: list[dict[str, object]]) -> Path:
    path.write_text("".join(f"{json.dumps(row)}\n" for row in found))
    return path


def labels(column: OwnColumn | str) -> list[str]:
    assert isinstance(column, OwnColumn)
    return column.cells


def test_values_by_hand() -> None:
    cells = ["a", None, " a ", "", float("nan"), HOSTILE, "a", HOSTILE, 1, 1.0, True, "true"]
    assert labels(attributes.own_column("x", cells)) == [
        *("a", EMPTY, "a", EMPTY, EMPTY, HOSTILE, "a", HOSTILE, "1", "1", "true", "true"),
    ]


@each(
    ("cells", "why"),
    [
        ([f"{i % 201}" for i in range(500)], "more than 200 different values"),
        (["same"] * 20, "the same value in every row"),
        ([f"id {i}" for i in range(20)], "hardly any value"),
        (["x" * 61, "y"] * 5, "more than 60 characters"),
        (["\ud800", "y"] * 5, "no text"),
        ([["a"], ["b"]] * 5, "neither text nor numbers"),
    ],
)
def test_what_is_no_group(cells: list[object], why: str) -> None:
    found = attributes.own_column("x", cells)
    assert isinstance(found, str)
    assert why in found


@given(st.lists(st.sampled_from(["a", "b ", "b", None, "", 2, 2.5, float("nan")]), min_size=10, max_size=60))
def test_values_against_a_loop(cells: list[object]) -> None:
    slow = [EMPTY if c is None or c != c or not str(c).strip() else str(c).strip() for c in cells]
    found = attributes.own_column("x", cells)
    fits = 2 <= len(set(slow)) <= len(slow) / 2
    assert (labels(found) == slow) if fits else isinstance(found, str)


def test_at_most_ten_columns(tmp_path: Path) -> None:
    path = written(tmp_path / "a.jsonl", rows(**{f"c{i}": ["x", "y"] for i in range(12)}))
    found = own.read(path)
    assert [c.name for c in found.own_columns] == [f"c{i}" for i in range(10)]
    assert [c.use for c in found.columns] == ["query", "match", *[GROUPS] * 10, UNUSED, UNUSED]
    assert "first 10" in found.columns[-1].why


@pytest.mark.parametrize("name", ["score", "label", "split", "text1", "negation", "count", HOSTILE])
def test_an_upload_keeps_them_whatever_they_are_called(tmp_path: Path, settings: Settings, name: str) -> None:
    """A column of such a name would make the file another kind if the kept file had it under that name."""
    named = rows(**{name: ["x", "y", HOSTILE, ""]})
    path = written(tmp_path / "a.jsonl", named)
    table = own.tabulate(path, path.read_bytes())
    contents = own.OWN_KINDS[own.DatasetKind.PAIR_SET].of(table.table, {"query": 0, "match": 1})
    upload = uploads.add(contents, path.read_bytes(), settings)
    entry = find_dataset(upload.reference)
    dataset = fetch.load(entry, settings)
    (column,) = dataset.own_columns
    assert (column.name, column.cells) == (name, [row[name] or EMPTY for row in named])
    assert uploads.damage(upload.path.parent) == ""


def test_they_are_no_part_of_the_content_and_follow_the_rows(tmp_path: Path, settings: Settings) -> None:
    plain = fetch.load(find_dataset(f"file:{written(tmp_path / 'a.jsonl', rows())}"), settings)
    more = fetch.load(find_dataset(f"file:{written(tmp_path / 'b.jsonl', rows(product=['x', 'y', 'z']))}"), settings)
    assert plain.content_digest == more.content_digest
    covered = np.ones(len(more.items), dtype=np.bool_)
    covered[[0, 7]] = False  # the query of pair 0, the match of pair 3
    part = more.part(covered)
    assert part.rows.tolist() == [i for i in range(N) if i not in {0, 3}]
    assert part.dataset.own_columns[0].cells == ["xyz"[i % 3] for i in range(N) if i not in {0, 3}]


def test_the_store_keeps_them_by_name_and_forgets_them(tmp_path: Path, settings: Settings) -> None:
    repository = Repository.at(settings.store)
    entry = find_dataset(f"file:{written(tmp_path / 'b.jsonl', rows(product=['x', 'y', 'z']))}")
    dataset = fetch.load(entry, settings)
    other = replace(dataset, id="other", own_columns=())
    with repository.database.transaction() as cursor:
        store_dataset(cursor, dataset)
    for one in (dataset, other, dataset):
        repository.remember_own_columns(one)
    digest = dataset.content_digest
    assert [c.cells for c in repository.own_columns(dataset.id, digest)] == [["xyz"[i % 3] for i in range(N)]]
    assert repository.own_columns("other", digest) == ()
    changed = OwnColumn("team", ("p", "q"), np.tile(np.array([0, 1], dtype=np.uint8), N // 2))
    repository.remember_own_columns(replace(dataset, own_columns=(changed,)))
    assert [c.name for c in repository.own_columns(dataset.id, digest)] == ["team"]
    purge(dataset.id, repository.database)
    assert repository.own_columns(dataset.id, digest) == ()
    repository.database.close()
    assert b"team" not in settings.store.read_bytes()
