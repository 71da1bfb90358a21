"""CoNLL-2000 and the built-in chunked sentences: counts, bad files, and the part that a model covers."""

from __future__ import annotations

import zipfile
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from blindspot.datasets import fetch
from blindspot.datasets.catalog import find_dataset
from blindspot.datasets.kinds.chunked import UNKNOWN, chunks_of
from blindspot.datasets.kinds.labeled_texts import TEST, TRAIN
from blindspot.datasets.published.chunked import chunked_sentences, conll2000, demo_chunks
from blindspot.errors import DataCorrupt
from blindspot.settings import Settings

LINES = "He PRP B-NP\nreckons VBZ B-VP\n. . O\n\nThe DT B-NP\ndeficit NN I-NP\n\n"


def archive(path: Path, train: str = LINES, test: str = LINES) -> Path:
    with zipfile.ZipFile(path, "w") as out:
        out.writestr("conll2000/train.txt", train)
        out.writestr("conll2000/test.txt", test)
    return path


def test_an_archive_by_hand(tmp_path: Path) -> None:
    data = conll2000("x", archive(tmp_path / "a.zip"))
    assert data.items == ("He", "reckons", ".", "The", "deficit")
    assert data.tag_names == ("B-NP", "B-VP", "I-NP", "O")
    assert data.splits.tolist() == [TRAIN, TRAIN, TEST, TEST]
    assert data.starts.tolist() == [0, 3, 5, 8, 10]
    assert data.rows(0, 1) == [("He reckons .", "train", "[NP He ] [VP reckons ] .")]
    assert data.stored_rows()["tags"].to_pylist()[1] == "B-NP I-NP"


@pytest.mark.parametrize(
    ("train", "told"),
    [
        ("He PRP B-NP\nreckons VBZ\n", "line 2"),
        ("He PRP B-NP\n\nreckons VBZ VP\n", "line 3"),
        ("\n", "without sentences"),
    ],
)
def test_a_line_of_another_form_is_named(tmp_path: Path, train: str, told: str) -> None:
    with pytest.raises(DataCorrupt, match=told):
        conll2000("x", archive(tmp_path / "a.zip", train))


def test_what_is_no_archive_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.zip"
    path.write_bytes(b"no zip")
    with pytest.raises(DataCorrupt, match="no archive"):
        conll2000("x", path)
    with zipfile.ZipFile(path, "w") as out:
        out.writestr("conll2000/train.txt", LINES)
    with pytest.raises(DataCorrupt, match=r"test\.txt"):
        conll2000("x", path)


def test_a_bad_line_of_the_built_in_sentences_is_named(tmp_path: Path) -> None:
    path = tmp_path / "a.tsv"
    path.write_text("train\t[NP He ] .\nvalid\t[NP He ] .\n")
    with pytest.raises(DataCorrupt, match="line 2"):
        demo_chunks("x", path)


def test_a_sentence_stays_whole_without_some_of_its_words() -> None:
    data = chunked_sentences("x", [(TRAIN, [[("a", "B-NP"), ("b", "I-NP")]]), (TEST, [[("b", "B-NP"), ("c", "O")]])])
    covered = np.array([False, True, False])
    part = data.part(covered)
    assert part.dataset.items == ("b",)
    assert part.dataset.words.tolist() == [UNKNOWN, 0, 0, UNKNOWN]
    assert part.rows.tolist() == [0, 1]
    assert data.coverage(covered) == {
        "sentences": 2,
        "sentences_covered": 2,
        "tokens": 4,
        "tokens_covered": 2,
        "items": 3,
        "items_covered": 1,
    }
    again = part.dataset.part(np.array([True])).dataset
    assert again.words.tolist() == part.dataset.words.tolist()
    assert len(data.part(np.zeros(3, dtype=bool)).rows) == 0
    assert data.content_digest != part.dataset.content_digest


def test_built_in_sentences_are_as_long_as_their_tags(shared_settings: Settings) -> None:
    data = fetch.load(find_dataset("demo-chunks"), shared_settings)
    rows = data.stored_rows()
    for sentence, tags in zip(rows["sentence"].to_pylist(), rows["tags"].to_pylist(), strict=True):
        assert len(sentence.split()) == len(tags.split())
        assert "[" not in sentence
    assert Counter(rows["split"].to_pylist()) == {"train": 90, "test": 40}


@pytest.mark.realdata
def test_conll2000_has_the_published_counts(shared_settings: Settings) -> None:
    """Tjong Kim Sang and Buchholz 2000, sections 2 and 3, and table 2: 23,852 phrases in the test part."""
    data = fetch.load(find_dataset("conll2000"), shared_settings)
    lengths = np.diff(data.starts)
    assert [int((data.splits == part).sum()) for part in (TRAIN, TEST)] == [8_936, 2_012]
    assert [int(lengths[data.splits == part].sum()) for part in (TRAIN, TEST)] == [211_727, 47_377]
    kinds = [
        Counter(kind for i in np.flatnonzero(data.splits == part) for *_, kind in chunks_of(data.tags_of(int(i))))
        for part in (TRAIN, TEST)
    ]
    assert [sum(each.values()) for each in kinds] == [106_978, 23_852]
    assert (kinds[0]["NP"], kinds[1]["NP"]) == (55_081, 12_422)
    assert len(data.tag_names) == 23
