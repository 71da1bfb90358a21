"""Vocabularies with frequencies: built in, counted, and a user's own."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from blindspot.datasets import fetch
from blindspot.datasets.catalog import find_dataset
from blindspot.datasets.kinds.base import DatasetKind
from blindspot.datasets.kinds.vocabulary import Vocabulary
from blindspot.datasets.published import vocabularies
from blindspot.datasets.user_data import files as own
from blindspot.datasets.user_data.columns import COUNT
from blindspot.datasets.user_data.vocabulary import OwnVocabulary
from blindspot.errors import DataCorrupt, InputError
from blindspot.settings import Settings
from tests.support.own_files import read_as
from tests.support.tables import each

CONTENT = b"word,count,pos\nthe,1000,D\ncat,20.5,N\nTiger,1e1,N\n"


def read(text: str, name: str = "words.csv") -> OwnVocabulary:
    found = own.parse(Path(name), text.encode())
    assert isinstance(found, OwnVocabulary)
    return found


def test_wordfreq_counts_are_per_billion(settings: Settings) -> None:
    from wordfreq import zipf_frequency

    data = fetch.load(find_dataset("vocab-wordfreq"), settings)
    assert isinstance(data, Vocabulary)
    assert len(data.items) == len(data.counts) == 20_000
    for number in (0, 137, 19_999):
        assert np.log10(data.counts[number]) == pytest.approx(zipf_frequency(data.items[number], "en"), abs=0.006)
    asked = {data.items[i] for i in data.queries}
    assert {"tiger", "cat", "computer", "keyboard"} <= asked
    assert 400 < len(asked) <= 437


def test_a_file_of_counts_is_cut_after_so_many_words_and_its_corpus_is_the_whole(tmp_path: Path) -> None:
    path = tmp_path / "counts.txt"
    path.write_text("the 100\none 50\ntiger 7\nnew york 3\n")
    data = vocabularies.counted("c", path, 3)
    assert data.items == ("the", "one", "tiger")
    assert data.counts.tolist() == [100.0, 50.0, 7.0]
    assert data.corpus_size == 160.0
    assert data.queries.tolist() == [2]


@pytest.mark.parametrize(
    ("line", "message"),
    [("the", "line 2: 'the'"), ("a -3", "line 2: 'a -3'"), ("a 0", "line 2"), ("a b", "line 2"), ("x 5", "twice")],
)
def test_a_broken_file_of_counts_is_refused(tmp_path: Path, line: str, message: str) -> None:
    path = tmp_path / "counts.txt"
    path.write_text(f"x 9\n{line}\n")
    with pytest.raises(DataCorrupt, match=message):
        vocabularies.counted("c", path, 3)


@pytest.mark.realdata
def test_the_counts_of_wikipedia(shared_settings: Settings) -> None:
    data = fetch.load(find_dataset("vocab-wiki"), shared_settings)
    assert isinstance(data, Vocabulary)
    assert data.items[:4] == ("the", "one", "zero", "two")  # digits were spelled out
    assert data.corpus_size == 3_484_135_472
    assert len(data.items) == 50_000
    assert data.counts[-1] == 1_641


def test_a_part_of_a_vocabulary_is_numbered_anew() -> None:
    whole = vocabularies.vocabulary("v", ["the", "cat", "zzz", "tiger"], [9, 5, 2, 1], 100)
    assert whole.queries.tolist() == [1, 3]
    part = whole.part(np.array([True, False, True, True]))
    assert part.dataset.items == ("the", "zzz", "tiger")
    assert part.dataset.counts.tolist() == [9.0, 2.0, 1.0]
    assert [part.dataset.items[i] for i in part.dataset.queries] == ["tiger"]
    assert part.dataset.corpus_size == 100.0
    assert part.items.tolist() == [0, 2, 3]
    assert part.digest
    assert whole.part(np.ones(4, dtype=np.bool_)).digest == ""
    assert whole.part(np.ones(4, dtype=np.bool_)).dataset is whole


def test_all_that_decides_numbers_is_in_the_digest() -> None:
    def digest(words: str = "a b", counts: tuple[float, ...] = (2, 1), size: float = 10) -> str:
        return vocabularies.vocabulary("v", words.split(), counts, size).content_digest

    assert len({digest(), digest("a c"), digest(counts=(2, 2)), digest(size=11)}) == 4
    assert digest() == digest()


# --- a user's own


def test_a_file_is_read_by_the_names_of_its_columns(settings: Settings, tmp_path: Path) -> None:
    path = tmp_path / "words.csv"
    path.write_bytes(CONTENT)
    entry = find_dataset(f"file:{path}")
    assert (entry.kind, entry.size, entry.texts) == (DatasetKind.VOCABULARY, "3 words with their counts", 3)
    data = fetch.load(entry, settings)
    assert isinstance(data, Vocabulary)
    assert data.items == ("the", "cat", "Tiger")
    assert data.counts.tolist() == [1000.0, 20.5, 10.0]
    assert data.corpus_size == 1030.5
    assert data.queries.tolist() == [1, 2]
    assert entry.own is not None
    assert "word is column 'word' (by its name) and count is column 'count' (by its name)" in entry.own.summary
    assert entry.own.as_manifest()["corpus_size"] == 1030.5
    assert data.rows(1, 9) == [
        (1, "cat", 20.5, pytest.approx(20.5 / 1030.5 * 1e6)),
        (2, "Tiger", 10.0, pytest.approx(10 / 1030.5 * 1e6)),
    ]


@each("names", [("Word", "Frequency"), ("token", "freq"), ("term", "occurrences")])
def test_other_names_are_known(names: tuple[str, str]) -> None:
    assert read(f"{names[1]}\t{names[0]}\n3\ta\n1\tb\n", "words.tsv").words == ("a", "b")


def test_pairs_with_counts_stay_pairs() -> None:
    content = b"word1,word2,count\na,b,3\nd,e,4\n"
    assert own.parse(Path("p.csv"), content).kind is DatasetKind.PAIR_SET


@each(
    ("rows", "message"),
    [
        ("a,1\nb,2\na,3", "line 4: 'a' occurs twice, first in line 2"),
        ("caf\u00e9,1\nb,2\ncafe\u0301,3", "occurs twice, first in line 2"),
        ("a,1\nb,-2", "line 3, column 'count': -2"),
        ("a,0\nb,2", "line 2, column 'count': 0"),
        ("a,1\nb,nan", "line 3, column 'count': nan"),
        ("a,inf\nb,1", "line 2, column 'count': inf"),
        ("a,1\nb,many", "line 3, column 'count': 'many' is no number"),
        ("a,1\nb,", "line 3, column 'count': nothing there"),
        ("a,1\n,2", "line 3, column 'word': nothing there"),
        ("a,1", "has 1 word"),
    ],
)
def test_what_is_wrong_is_said_in_one_line(rows: str, message: str) -> None:
    with pytest.raises(InputError) as caught:
        read(f"word,count\n{rows}\n")
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)
    assert caught.value.expected


@each("value", [True, [3], {"n": 3}])
def test_json_that_is_no_number_is_no_count(value: object) -> None:
    lines = [{"word": "a", "count": 1}, {"word": "b", "count": value}]
    with pytest.raises(InputError, match="is no number"):
        read("".join(json.dumps(line) + "\n" for line in lines), "words.jsonl")


def test_columns_can_be_chosen(tmp_path: Path) -> None:
    table = own.tabulate(Path("w.csv"), b"lemma,per million\na,3\nb,1\n")
    assert table.kind is DatasetKind.PAIR_SET  # its names say nothing
    found = read_as(OwnVocabulary, table, word="lemma", count="per million")
    assert found.words == ("a", "b")
    assert found.used[COUNT].why == "as asked"
    with pytest.raises(InputError, match="no columns word and count"):
        read_as(OwnVocabulary, table)
