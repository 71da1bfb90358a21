"""A user's own list of queries: what is read, and what is refused in words."""

from __future__ import annotations

import pytest

from blindspot.errors import InputError
from blindspot.studies.judgments import own_queries
from blindspot.studies.judgments.own_queries import LONGEST, MAX_BYTES, MAX_ROWS
from blindspot.studies.judgments.types import Query
from tests.support.tables import each


def test_a_list_has_one_query_a_line() -> None:
    found = own_queries.of_text("\ufeffdog\r\n\r\n  a  sentence,\twith <b>signs</b>\nDog\n\ncat")
    assert [q.text for q in found.queries] == ["dog", "a sentence, with <b>signs</b>", "cat"]
    assert found.about == "3 queries of a list of my own. 1 more were repetitions and are left out."


def test_a_query_in_another_unicode_form_is_a_repetition() -> None:
    found = own_queries.of_text("caf\u00e9\nCafe\u0301\ncafe")
    assert [q.text for q in found.queries] == ["caf\u00e9", "cafe"]
    assert "1 more were repetitions" in found.about


@each("name", ["list.txt", "list", "LIST.TXT"])
def test_a_text_file_is_a_list(name: str) -> None:
    assert own_queries.of_file(name, b"\xef\xbb\xbfword\nAm\xc3\xa9lie\n").queries == (Query("word"), Query("Amélie"))


@each(
    ("name", "text"),
    [
        ("q.csv", 'Word,Part of speech,concreteness,category,notes\n"run, Forrest",V,ABSTRACT,films,x\n\ndog,,,,\n'),
        ("q.csv", "part_of_speech;query;category;concreteness\nverb;run, Forrest;films;abstract\n;dog;;\n"),
        ("q.tsv", "text\tpart_of_speech\tconcreteness\tcategory\nrun, Forrest\tv\tabstract\tfilms\ndog\t\t\t\n"),
    ],
)
def test_a_table_says_more_of_the_queries(name: str, text: str) -> None:
    found = own_queries.of_file(name, text.encode())
    assert found.queries == (Query("run, Forrest", "verb", "abstract", "films"), Query("dog"))


def test_a_table_may_have_one_column_only() -> None:
    assert own_queries.of_file("q.csv", b"word\ndog\ncat\ndog\n").queries == (Query("dog"), Query("cat"))


@each(
    ("name", "data", "said"),
    [
        ("a.txt", b" \n\n", "a.txt has no queries"),
        ("a.csv", b"", "a.csv has no column of queries: it is empty; expected a first line with a column word, query"),
        ("a.csv", b"noun,count\ndog,1\n", "no column of queries: noun, count"),
        ("a.csv", b"word\n", "a.csv has no queries"),
        ("a.csv", b"word,category\n,animals\n", "line 2: there is no query"),
        ("a.csv", b"word,part_of_speech\n\ndog,article\n", "line 3: part_of_speech is 'article'"),
        ("a.csv", b"word,concreteness\ndog,very\n", "line 2: concreteness is 'very'"),
        ("a.csv", b'word,category\n"dog,animals\n', "begins in line 2"),
        ("a.txt", b"dog\ncaf\xe9\n", r"a.txt is not UTF-8 \(byte 7\)"),
        ("a.txt", b"dog\nca\x00t\n", "line 2: a control character"),
        ("a.txt", b"dog\n" + b"x" * (LONGEST + 1), "line 2: 'x{30}…' has 501 characters; expected at most 500"),
        ("a.txt", b"\n".join(b"w%d" % i for i in range(MAX_ROWS + 1)), "a.txt has more than 10,000 queries"),
        ("a.txt", b"x" * (MAX_BYTES + 1), "a.txt has 4.0 MB; expected at most 4 MB"),
    ],
)
def test_what_is_wrong_is_said(name: str, data: bytes, said: str) -> None:
    with pytest.raises(InputError, match=said):
        own_queries.of_file(name, data)


def test_as_many_as_are_allowed_are_read() -> None:
    found = own_queries.of_text("\n".join(f"w{i}" for i in range(MAX_ROWS)))
    assert len(found.queries) == MAX_ROWS
