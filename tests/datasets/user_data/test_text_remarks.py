"""Remarks on texts that may not be what was meant, of files and of folders."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from pathlib import Path

import pytest

from blindspot.datasets.catalog import find_dataset
from blindspot.datasets.user_data.text_remarks import about_texts
from tests.support.retrieval_folders import folder

WORDS = "the cat sat on a mat while rain fell outside and nobody looked at it for long hours of this gray day".split()


def sentences(n: int, end: str = ".", seed: int = 0) -> list[str]:
    """Sentences of 40 to 400 characters."""
    rng = random.Random(seed)
    return [" ".join(rng.choices(WORDS, k=rng.randint(10, 80))) + end for _ in range(n)]


def cut_in(texts: list[str]) -> list[str]:
    return [remark for remark in about_texts("of column 'x'", texts) if "cut" in remark]


@pytest.mark.parametrize("most", [100, 255])
def test_texts_cut_at_a_length_are_said(most: int) -> None:
    cut = sum(len(text) >= most for text in sentences(100))
    (remark,) = cut_in([text[:most] for text in sentences(100)])
    assert remark.startswith(f"{cut} texts of column 'x' are the longest, all of exactly {most} characters")


def test_texts_cut_at_a_number_of_bytes_or_with_dots_are_said() -> None:
    greek = [text.replace("a", "α").encode()[:120].decode("utf-8", "ignore") for text in sentences(300)]
    assert "exactly 120 bytes" in cut_in(greek)[0]
    dots = [text if len(text) <= 97 else text[:97] + "..." for text in sentences(100)]
    assert "exactly 100 characters" in cut_in(dots)[0]


@pytest.mark.parametrize(
    "texts",
    [
        sentences(2_000),
        sentences(2_000, end=""),
        [f"{'the same sentence with another number in it, again' * 2} {i}" for i in range(10, 60)],  # all of one length
        [text[:150].rsplit(" ", 1)[0] + "." for text in sentences(200)],  # shortened at words
        ["word"] * 50,
        [],
    ],
)
def test_texts_of_their_own_lengths_are_not_called_cut(texts: list[str]) -> None:
    assert cut_in(texts) == []


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (lambda text: f"query: {text}", "all texts of the documents begin with 'query:'"),
        (lambda text: text.replace("a", "&amp;"), "characters as in HTML"),
        (lambda text: text.replace("a", "Ã¤"), "of the documents seem to be UTF-8 that was read as something else"),
        (lambda text: text[:60], "of the documents are the longest, all of exactly 60 characters"),
        (lambda text: text, ""),
    ],
)
def test_a_folders_texts_are_looked_at_as_a_files(tmp_path: Path, change: Callable[[str], str], told: str) -> None:
    plain = sentences(40, seed=1)
    documents = [text[:30] + "." for text in plain[:20]] + [change(text) for text in plain[20:]]
    if "all texts" in told:
        documents = [*map(change, plain)]
    rows = {
        "corpus.jsonl": [{"_id": f"d{n}", "text": text} for n, text in enumerate(documents)],
        "queries.jsonl": [{"_id": f"q{n}", "text": f"where {text[:20]} is it?"} for n, text in enumerate(plain)],
    }
    files = {name: "".join(json.dumps(row) + "\n" for row in of_it) for name, of_it in rows.items()}
    qrels = "".join(f"q{n}\td{n}\t{n % 2}\n" for n in range(40))
    path = folder(tmp_path, files, {"qrels/test.tsv": f"query-id\tcorpus-id\tscore\n{qrels}"})
    own = find_dataset(f"dir:{path}").own
    assert own is not None
    assert told in own.assumptions
    assert bool(own.assumptions) is bool(told)


def test_keywords_say_what_may_stand_for_nothing() -> None:
    """Queries of one word are no list of words, of which ``nan`` may be one."""
    assert not list(about_texts("of the queries", ["zebra", "nan", "lion"]))
    (remark,) = about_texts("of the queries", ["zebra", "nan", "lion"], may_be_words=False)
    assert remark == "1 text of the queries that may stand for nothing, taken as written: 'nan'"
