"""The contract of every kind of file that users bring, on a small one of each."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from blindspot.datasets import fetch, uploads
from blindspot.datasets.catalog import find_dataset
from blindspot.datasets.kinds import KINDS
from blindspot.datasets.kinds.base import DatasetKind
from blindspot.datasets.user_data import files as own
from blindspot.datasets.user_data.kinds import OWN_KINDS
from blindspot.datasets.user_data.reference import ROLES
from blindspot.errors import InputError
from blindspot.settings import Settings
from tests.support.own_files import ENDINGS, read_as, write
from tests.support.tables import each

N = 24
SAMPLES: dict[DatasetKind, list[dict[str, Any]]] = {
    DatasetKind.PAIR_SET: [{"query": f"q {i}", "match": f"m {i}"} for i in range(N)],
    DatasetKind.MINIMAL_PAIR_SET: [{"original": f"o {i}", "typo": f"t {i}"} for i in range(N)],
    DatasetKind.RETRIEVAL: [{"query": f"q {i}", "document": f"d {i}"} for i in range(N)],
    DatasetKind.PROBING: [
        {"text": f"t {i}", "label": "pq"[i % 2], "split": ("train", "dev", "test")[i % 3], "probing task": "tree_depth"}
        for i in range(N)
    ],
    DatasetKind.LABELED_TEXTS: [{"text": f"t {i}", "label": "pq"[i % 2]} for i in range(N)],
    DatasetKind.SCORED_PAIRS: [{"text1": f"a {i}", "text2": f"b {i}", "score": i / 8} for i in range(N)],
    DatasetKind.VOCABULARY: [{"word": f"w{chr(97 + i)}", "count": i + 0.5} for i in range(N)],
}
every_kind = pytest.mark.parametrize("kind", OWN_KINDS)


def test_the_table_and_the_samples_have_the_same_kinds() -> None:
    assert set(OWN_KINDS) == set(SAMPLES)
    for kind in OWN_KINDS.values():
        named = {role.name for role in kind.roles}
        assert named == {role for form in kind.forms for role in form} | set(kind.optional)
        assert named <= set(ROLES)


@every_kind
@each("ending", ENDINGS)
def test_a_file_in_every_format(tmp_path: Path, settings: Settings, kind: DatasetKind, ending: str) -> None:
    path = write(tmp_path, ending, SAMPLES[kind])
    entry = find_dataset(f"file:{path}")
    assert entry.own is not None
    assert (entry.kind, entry.title, entry.unit) == (kind, path.stem, "text")
    assert (entry.own.rows, entry.texts, entry.own.format) == (N, entry.own.distinct_texts, ending)
    assert entry.size == KINDS[kind].size(N, 1, entry.texts)
    assert {column.why for column in entry.own.columns} == {"by its name"}
    assert entry.own.summary.startswith(f"{path.name}: ")
    assert "\n" not in entry.own.summary
    assert json.loads(json.dumps(entry.own.as_manifest()))["rows"] == N
    first = entry.own.first_rows(3)
    assert [len(row) for row in first.cells] == [len(first.headings)] * 3
    dataset = fetch.load(entry, settings)
    assert type(dataset) is KINDS[kind]
    assert len(dataset.items) == entry.texts


@every_kind
def test_columns_under_other_names_are_kept_and_read_back(
    tmp_path: Path, settings: Settings, kind: DatasetKind
) -> None:
    names = {name: f"column {i}" for i, name in enumerate(SAMPLES[kind][0])}
    path = write(tmp_path, "jsonl", [{names[name]: cell for name, cell in row.items()} for row in SAMPLES[kind]])
    data = path.read_bytes()
    needed = OWN_KINDS[kind].forms[0]
    asked = dict(zip(needed, names.values(), strict=True))
    contents = read_as(OWN_KINDS[kind], own.tabulate(path, data), **asked)
    assert {column.why for column in contents.columns} == {"as asked"}
    upload = uploads.add(contents, data, settings)
    assert (upload.kind, upload.rows, upload.texts) == (kind, N, contents.distinct_texts)
    assert [column for _, column in upload.columns] == list(names.values())
    back = find_dataset(upload.reference).own
    assert back is not None
    assert (back.kind, list(back.kept_rows())) == (kind, list(contents.kept_rows()))
    assert back.dataset("x").content_digest == contents.dataset("x").content_digest
    assert upload.original.read_bytes() == data
    assert uploads.damage(upload.path.parent) == ""


@every_kind
def test_what_is_wrong_is_one_line(tmp_path: Path, kind: DatasetKind) -> None:
    path = write(tmp_path, "csv", SAMPLES[kind])
    table = own.tabulate(path, path.read_bytes())
    first, second, *rest = zip(OWN_KINDS[kind].forms[0], SAMPLES[kind][0], strict=True)
    cases = [
        ({first[0]: first[1], second[0]: "other", **dict(rest)}, "has no column 'other'; expected one of"),
        ({first[0]: first[1], second[0]: first[1], **dict(rest)}, "cannot be both|2 columns for"),
    ]
    for asked, message in cases[: 1 if kind is DatasetKind.MINIMAL_PAIR_SET else 2]:
        with pytest.raises(InputError, match=message):
            read_as(OWN_KINDS[kind], table, **asked)
    lines = path.read_text().splitlines()
    for content, message in (
        ("\n".join(lines[:2]), "has 1 .*; expected at least"),
        ("\n".join([*lines, lines[-1].replace(lines[-1].split(",")[0], "")]), "line 26, column .*: nothing there"),
    ):
        with pytest.raises(InputError, match=message) as caught:
            own.parse(path, content.encode())
        assert "\n" not in str(caught.value)
