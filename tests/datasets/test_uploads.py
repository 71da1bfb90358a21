"""Uploaded pairs: kept whole or not at all, read back to the letter, under names that stay where they belong."""

from __future__ import annotations

import json
import shutil
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest

from blindspot.datasets import fetch, uploads
from blindspot.datasets.catalog import find_dataset
from blindspot.datasets.kinds.base import DatasetKind
from blindspot.datasets.user_data import files as own
from blindspot.datasets.user_data.pairs import OwnPairs
from blindspot.errors import BlindspotError, InputError
from blindspot.files import tables as own_files
from blindspot.names import in_address
from blindspot.settings import Mode, Settings
from tests.support.own_files import read_as
from tests.support.tables import each

CONTENT = b"id,left,right\n1,a dog runs,a dog is running\n2,it rains,rain falls\n3,old,aged\n"
COLUMNS = ("right", "left")


def read(content: bytes = CONTENT, name: str = "pairs.csv", columns: tuple[str, str] | None = COLUMNS) -> OwnPairs:
    named = {} if columns is None else dict(zip(("query", "match"), columns, strict=True))
    return read_as(OwnPairs, own.tabulate(Path(name), content), **named)


def files_below(folder: Path) -> dict[str, bytes]:
    return {str(p.relative_to(folder)): p.read_bytes() for p in folder.rglob("*") if p.is_file()}


def test_a_choice_of_columns_survives_in_a_dataset_like_any_other(settings: Settings) -> None:
    upload = uploads.add(read(), CONTENT, settings)
    entry = find_dataset(upload.reference)
    assert entry.id == upload.reference == f"file:{upload.path}"
    assert entry.own is not None
    assert entry.own.pairs == (("a dog is running", "a dog runs"), ("rain falls", "it rains"), ("aged", "old"))
    assert fetch.load(entry, settings).items[:2] == ("a dog is running", "a dog runs")
    assert upload.original.read_bytes() == CONTENT
    assert (upload.name, upload.kind, upload.rows, upload.texts) == ("pairs.csv", DatasetKind.PAIR_SET, 3, 6)
    assert upload.columns == (("query", "right"), ("match", "left"))
    assert upload.size == "3 pairs, 6 texts"
    assert uploads.found(settings) == (upload,)


def test_every_text_is_read_back_to_the_letter(settings: Settings) -> None:
    texts = [
        "two\nlines",
        "a\ttab",
        'a "quote"',
        "cr\rhere",
        "line\u2028end",
        "\ufeffmark",
        "{}",
        " spaces ",
        "1984",
        "é🙂",
    ]
    rows = [{"a": text, "b": f"{text}!"} for text in texts]
    content = "".join(json.dumps(row) + "\n" for row in rows).encode()
    upload = uploads.add(read(content, "odd.jsonl", None), content, settings)
    assert own.find(upload.reference).pairs == tuple((row["a"], row["b"]) for row in rows)


def test_the_same_again_is_found_and_another_reading_stands_beside_it(settings: Settings) -> None:
    first = uploads.add(read(), CONTENT, settings)
    before = files_below(settings.uploads)
    assert uploads.add(read(), CONTENT, settings) == first
    assert files_below(settings.uploads) == before
    other = uploads.add(read(columns=("left", "right")), CONTENT, settings)
    named = uploads.add(read(name="other.csv"), CONTENT, settings)
    assert uploads.found(settings) == (first, other, named)
    assert len({upload.reference for upload in (first, other, named)}) == 3
    assert before.items() <= files_below(settings.uploads).items()


def test_many_visitors_who_keep_the_same_file_have_one(settings: Settings) -> None:
    with ThreadPoolExecutor(8) as pool:
        kept = set(pool.map(lambda _: uploads.add(read(), CONTENT, settings), range(16)))
    assert kept == set(uploads.found(settings))
    assert [p.name for p in settings.uploads.iterdir()] == [kept.pop().path.parent.name]


@each(
    ("sent", "kept"),
    [
        ("pairs.csv", "pairs.csv"),
        ("My pairs (2).csv", "My_pairs_2.csv"),
        ("../../etc/passwd.csv", "passwd.csv"),
        ("C:\\data\\x.tsv", "x.tsv"),
        (".hidden.csv", "hidden.csv"),
        ("日本語.jsonl", "日本語.jsonl"),
        ("<b>$x$ *y*</b>.csv", "b.csv"),
        ("!!!.csv", "pairs.csv"),
        ("a\0b\n.csv", "a_b.csv"),
        ("语" * 300 + ".parquet", "语" * 33 + ".parquet"),
    ],
)
def test_a_name_never_leads_elsewhere(settings: Settings, sent: str, kept: str) -> None:
    assert uploads.safe_name(sent) == kept
    upload = uploads.add(replace(read(), path=Path(sent)), CONTENT, settings)
    assert upload.path.resolve().parent.parent == settings.uploads.resolve()
    assert upload.original.is_file()
    assert upload.original.name == kept


def test_what_is_no_upload_is_left_out(settings: Settings, caplog: pytest.LogCaptureFixture) -> None:
    upload = uploads.add(read(), CONTENT, settings)
    half = settings.uploads / ".0123.tmp"
    shutil.copytree(upload.path.parent, half)
    for name, record in {"broken": "{", "list": "[]", "poor": "{}", "words": '{"pairs": "three"}'}.items():
        (settings.uploads / name).mkdir()
        (settings.uploads / name / own.RECORD).write_text(record)
    (settings.uploads / "empty").mkdir()
    assert uploads.found(settings) == (upload,)
    assert len(caplog.records) == 4


def test_a_disk_that_refuses_is_said_and_leaves_nothing(settings: Settings) -> None:
    settings.cache.mkdir(parents=True)
    settings.uploads.write_text("a file where the folder should be")
    with pytest.raises(BlindspotError, match="cannot write") as caught:
        uploads.add(read(), CONTENT, settings)
    assert "\n" not in str(caught.value)
    assert [p.name for p in settings.cache.iterdir()] == ["uploads"]


def test_pairs_that_grow_too_large_are_refused_before_anything_is_written(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    pairs = read()
    monkeypatch.setattr(own_files, "MAX_BYTES", len(CONTENT))  # written out, every row names its columns
    with pytest.raises(InputError, match=r"pairs\.jsonl has .* bytes"):
        uploads.add(pairs, CONTENT, settings)
    assert not settings.uploads.exists()


def test_removing_takes_the_original_along_and_twice_is_fine(settings: Settings) -> None:
    stays = uploads.add(read(name="stays.csv"), CONTENT, settings)
    upload = uploads.add(read(), CONTENT, settings)
    uploads.remove(upload, settings)
    assert uploads.found(settings) == (stays,)
    assert [p.name for p in settings.uploads.iterdir()] == [stays.path.parent.name]
    uploads.remove(upload, settings)
    with pytest.raises(InputError, match="there is no file"):
        find_dataset(upload.reference)


def test_a_demo_server_keeps_and_removes_nothing(settings: Settings) -> None:
    upload = uploads.add(read(), CONTENT, settings)
    demo = replace(settings, mode=Mode.DEMO)
    with pytest.raises(InputError, match="on a hosted demo"):
        uploads.add(read(name="other.csv"), CONTENT, demo)
    with pytest.raises(InputError, match="on a hosted demo"):
        uploads.remove(upload, demo)
    assert uploads.found(demo) == (upload,)


def test_the_address_of_an_upload_moves_with_the_cache(settings: Settings) -> None:
    one = uploads.add(read(), CONTENT, settings)
    other = uploads.add(read(columns=("left", "right")), CONTENT, settings)
    names = [in_address(upload.reference) for upload in (one, other)]
    assert names == [f"pairs~{upload.path.parent.name[:6]}" for upload in (one, other)]
    assert len(set(names)) == 2
    elsewhere = one.reference.replace(str(settings.uploads), "/somewhere/uploads")
    assert in_address(elsewhere) == names[0]


@pytest.mark.parametrize(
    ("positives", "what"), [(["x" * 2_001], "characters in one cell"), ([f"d{n}" for n in range(2_001)], "rows")]
)
def test_a_demo_counts_the_texts_of_lists(settings: Settings, positives: list[str], what: str) -> None:
    data = json.dumps({"query": "a", "positives": positives}).encode()
    with pytest.raises(InputError, match=f"{what}.*on this demo"):
        uploads.tabulate("a.jsonl", data, True, replace(settings, mode=Mode.DEMO))
    assert uploads.tabulate("a.jsonl", data, True, settings).kind is DatasetKind.RETRIEVAL
