"""SemAntoNeg: what is read, what is refused, and that the names of the subsets are true of every item."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from blindspot.datasets import fetch
from blindspot.datasets.catalog import find_dataset
from blindspot.datasets.kinds.minimal_pairs import MinimalPairSet
from blindspot.datasets.published import semantoneg
from blindspot.datasets.published.minimal_pairs import words
from blindspot.errors import DataCorrupt
from blindspot.settings import Settings

ITEM = {"idx": 0, "label": 2, "input": "It is bad.", "sentences": ["It is good.", "It is not bad.", "It is not good."]}
OTHER = {"idx": 1, "label": 2, "input": "I am not ill.", "sentences": ["I am not well.", "I am ill.", "I am well."]}
NEGATIONS = {"not", "no", "cannot", "never"}


def write(path: Path, *items: object) -> Path:
    path.write_text("".join(f"{json.dumps(item, ensure_ascii=False)}\n" for item in items), "utf-8")
    return path


def texts(dataset: MinimalPairSet, subset: str) -> list[str]:
    return [dataset.items[i] for i in dataset.rewrites[subset]]


def test_an_item_becomes_an_original_and_three_rewrites(tmp_path: Path) -> None:
    dataset = semantoneg.load("x", write(tmp_path / "a.json", ITEM, OTHER))
    assert dataset.subsets == ("paraphrase", "antonym", "negation")
    assert [dataset.items[i] for i in dataset.originals] == ["It is bad.", "I am not ill."]
    assert texts(dataset, "paraphrase") == ["It is not good.", "I am well."]
    assert texts(dataset, "antonym") == ["It is good.", "I am not well."]
    assert texts(dataset, "negation") == ["It is not bad.", "I am ill."]


@pytest.mark.parametrize(
    "line",
    [
        "no JSON",
        "[1]",
        json.dumps(ITEM | {"label": 1}),  # then the names would not be true
        json.dumps(ITEM | {"sentences": ITEM["sentences"][:2]}),
        json.dumps(ITEM | {"sentences": [*ITEM["sentences"][:2], " "]}),
        json.dumps(ITEM | {"sentences": "abc"}),
        json.dumps({"input": "x"}),
    ],
)
def test_another_kind_of_line_is_named(tmp_path: Path, line: str) -> None:
    path = write(tmp_path / "a.json", ITEM)
    path.write_text(f"{path.read_text()}{line}\n")
    with pytest.raises(
        DataCorrupt, match=r"a\.json, line 2: .*; expected a JSON object with an input, three sentences"
    ):
        semantoneg.load("x", path)


def test_what_is_no_file_of_items(tmp_path: Path) -> None:
    with pytest.raises(DataCorrupt, match=r"has 1 item\(s\)"):
        semantoneg.load("x", write(tmp_path / "a.json", ITEM))
    (tmp_path / "a.json").write_bytes(b"\xff")
    with pytest.raises(DataCorrupt, match="not UTF-8"):
        semantoneg.load("x", tmp_path / "a.json")


def negations(text: str) -> int:
    return sum(word in NEGATIONS for word in words(text))


@pytest.mark.realdata
def test_the_names_are_true_of_every_item(shared_settings: Settings) -> None:
    dataset = fetch.load(find_dataset("semantoneg"), shared_settings)
    assert isinstance(dataset, MinimalPairSet)
    assert len(dataset.originals) == 3_152
    tags = 0
    for original, paraphrase, antonym, negation in zip(
        (dataset.items[i] for i in dataset.originals),
        *(texts(dataset, subset) for subset in ("paraphrase", "antonym", "negation")),
        strict=True,
    ):
        assert len({original, paraphrase, antonym, negation}) == 4
        assert negations(antonym) == negations(original), "another word, as many negations"
        assert negations(paraphrase) == negations(negation), "the paraphrase has both changes"
        is_tag = original.endswith("?") and ", " in original and negations(negation) == negations(original)
        tags += is_tag  # "It's bad, isn't it?": the tag turns with the clause
        assert is_tag or abs(negations(negation) - negations(original)) == 1, original
        assert set(words(negation)) - NEGATIONS != set(words(antonym)) - NEGATIONS
    assert 0 < tags <= 64
