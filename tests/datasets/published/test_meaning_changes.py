"""Sets that change the meaning in a known way: what is read, what is refused, and the counts of the real files."""

from __future__ import annotations

import csv
import json
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from blindspot.datasets import fetch
from blindspot.datasets.catalog import find_dataset
from blindspot.datasets.kinds.minimal_pairs import MinimalPairSet
from blindspot.datasets.kinds.scored_pairs import ScoredPairs
from blindspot.datasets.published import meaning_changes as sets
from blindspot.datasets.published.meaning_changes import MEANING_CHANGES
from blindspot.errors import DataCorrupt
from blindspot.settings import Settings
from tests.support.tables import each

CAPTIONS = {"caption": "a  red dog ", "caption2": "a dog that is red", "negative_caption": "a blue dog"}
HEADER = "ItemNum,Sentence,Plausibility,Voice,TrialType,SynonymPair,NumSyn"
FORMS = [
    "1,The cat saw it.,Plausible,active,AI,1,NA",
    "1,It saw the cat.,Implausible,active,AI,1,NA",
    "1,It was seen by the cat.,Plausible,passive,AI,1,NA",
    "1,The cat was seen by it.,Implausible,passive,AI,1,NA",
]
GLUE = "Lexical Semantics\tLogic\tDomain\tPremise\tHypothesis\tLabel\n"


def text(dataset: MinimalPairSet, subset: str = "") -> list[str]:
    return [dataset.items[i] for i in (dataset.rewrites[subset] if subset else dataset.originals)]


def captions(folder: Path, name: str, *items: object) -> Path:
    path = folder / f"{name}.json"
    path.write_text(json.dumps(items), "utf-8")
    return path


def example(number: int, version: str, first: str, second: str, label: str) -> str:
    return json.dumps(
        {
            "pairID": f"{number}_{version}",
            "version": version,
            "sentence1": first,
            "sentence2": second,
            "gold_label": label,
        }
    )


def events(folder: Path, *rows: str) -> Path:
    path = folder / "e.csv"
    path.write_text("\n".join([HEADER, *rows, *(row.replace("1,", "2,", 1) for row in FORMS)]), "utf-8")
    return path


def test_captions_have_a_paraphrase_a_foil_and_the_kind_of_their_file(tmp_path: Path) -> None:
    other = CAPTIONS | {"caption": "a cat"}
    paths = [captions(tmp_path, "replace_att", CAPTIONS), captions(tmp_path, "swap_obj", other, CAPTIONS)]
    dataset = sets.sugarcrepe("x", paths)
    assert text(dataset) == ["a red dog", "a cat", "a red dog"]
    assert text(dataset, "paraphrase") == ["a dog that is red"] * 3
    assert text(dataset, "foil") == ["a blue dog"] * 3
    (kind,) = dataset.own_columns
    assert (kind.name, kind.cells) == ("kind", ["attribute replaced", "objects swapped", "objects swapped"])


def test_an_event_has_its_passive_and_both_swaps(tmp_path: Path) -> None:
    dataset = sets.events_adapt("x", events(tmp_path, *FORMS))
    assert text(dataset) == ["The cat saw it."] * 2
    assert text(dataset, "paraphrase") == ["It was seen by the cat."] * 2
    assert text(dataset, "role_swap") == ["It saw the cat."] * 2
    assert text(dataset, "role_swap_passive") == ["The cat was seen by it."] * 2
    assert dataset.own_columns[0].cells == ["animate agent, inanimate patient"] * 2


def test_the_sentence_that_stays_is_the_original_and_the_entailment_is_right(tmp_path: Path) -> None:
    rows = [
        example(1, "Orig", "p", "not h", "contradiction"),
        example(1, "Mod2", "p", "h", "entailment"),
        example(2, "Orig", "not p2", "h2", "entailment"),
        example(2, "Mod1", "p2", "h2", "neutral"),
        example(3, "Orig", "not p3", "h3", "neutral"),  # neither is an entailment
        example(3, "Mod1", "p3", "h3", "contradiction"),
        example(4, "Orig", "not p4", "not h4", "entailment"),  # both are changed: nothing stays
        example(4, "Mod", "p4", "h4", "neutral"),
    ]
    path = tmp_path / "x.jsonl"
    path.write_text("\n".join(rows), "utf-8")
    dataset = sets.xnli_negation("x", path)
    assert text(dataset) == ["p", "h2"]
    assert text(dataset, "entailed") == ["h", "not p2"]
    assert text(dataset, "not_entailed") == ["not h", "p2"]
    assert {column.name: column.cells for column in dataset.own_columns} == {
        "kind": ["contradiction to entailment", "entailment to neutral"],
        "cue removed from": ["hypothesis", "premise"],
    }


def test_a_pair_is_in_the_set_of_each_of_its_phenomena(tmp_path: Path) -> None:
    path = tmp_path / "g.tsv"
    path.write_text(
        f'{GLUE}A;B\tC\tNews\tone\t"two"\tentailment\n\tC\tNews\tthree\tfour\tneutral\n\t\tNews\t5\t6\tneutral\n',
        "utf-8",
    )
    dataset = sets.glue_diagnostic("x", path)
    assert dataset.sets == ("A", "B", "C")
    assert [(row[1], row[2], row[4]) for row in dataset.rows(0, 9)] == [
        ("A", 2.0, '"two"'),
        ("B", 2.0, '"two"'),
        ("C", 2.0, '"two"'),
        ("C", 1.0, "four"),
    ]


def test_ratings_are_sorted_into_sets_by_line(tmp_path: Path) -> None:
    for name, content in {"all": "a;b;0.5\nc;d;0.25\ne;f;1\n", "adv": "2\n", "plain": "0\n"}.items():
        (tmp_path / name).write_text(content, "utf-8")
    dataset = sets.sts3k("x", *(tmp_path / name for name in ("all", "adv", "plain")))
    assert dataset.sets == ("not adversarial", "adversarial", "adversarial, opposites")
    assert [(row[1], row[2], row[3]) for row in dataset.rows(0, 9)] == [
        ("not adversarial", 0.5, "a"),
        ("adversarial", 1.0, "e"),
        ("adversarial, opposites", 0.25, "c"),
    ]
    (tmp_path / "plain").write_text("2\n", "utf-8")
    with pytest.raises(DataCorrupt, match="do not fit"):
        sets.sts3k("x", *(tmp_path / name for name in ("all", "adv", "plain")))


@each(
    ("load", "name", "content"),
    [
        (lambda path: sets.sugarcrepe("x", [path]), "swap_obj.json", "[{"),
        (lambda path: sets.sugarcrepe("x", [path]), "swap_obj.json", '{"caption": "a"}'),
        (lambda path: sets.sugarcrepe("x", [path]), "swap_obj.json", json.dumps([CAPTIONS | {"caption": " "}])),
        (lambda path: sets.events_adapt("x", path), "e.csv", "\n".join([HEADER, *FORMS[:3]])),
        (lambda path: sets.events_adapt("x", path), "e.csv", "\n".join([HEADER, *FORMS, FORMS[0]])),
        (lambda path: sets.events_adapt("x", path), "e.csv", f"{HEADER}\n{FORMS[0].replace('AI', 'B')}"),
        (lambda path: sets.xnli_negation("x", path), "n.jsonl", example(1, "Mod1", "a", "b", "neutral")),
        (lambda path: sets.xnli_negation("x", path), "n.jsonl", example(1, "Orig", "a", "b", "yes")),
        (lambda path: sets.xnli_negation("x", path), "n.jsonl", example(1, "Orig", "a", "b", "neutral")),
        (lambda path: sets.glue_diagnostic("x", path), "g.tsv", f"{GLUE}A\t\tNews\tone\ttwo\tmaybe\n"),
    ],
)
def test_another_form_is_refused(tmp_path: Path, load: Callable[[Path], Any], name: str, content: str) -> None:
    (tmp_path / name).write_text(content, "utf-8")
    with pytest.raises(DataCorrupt, match=name):
        load(tmp_path / name)


# --- the real files


def loaded(name: str, settings: Settings) -> Any:
    return fetch.load(find_dataset(name), settings)


def files(name: str, settings: Settings) -> list[Path]:
    return [fetch.local_path(file, settings) for file in find_dataset(name).files]


@pytest.mark.realdata
def test_captions_of_the_files(shared_settings: Settings) -> None:
    dataset = loaded("sugarcrepe-pp", shared_settings)
    assert Counter(dataset.own_columns[0].cells) == {
        "attribute replaced": 788,
        "object replaced": 1_652,
        "relation replaced": 1_406,
        "attributes swapped": 666,
        "objects swapped": 245,
    }
    rows = [row for path in files("sugarcrepe-pp", shared_settings) for row in json.loads(path.read_text("utf-8"))]
    for subset, column in (("", "caption"), ("paraphrase", "caption2"), ("foil", "negative_caption")):
        assert text(dataset, subset) == [" ".join(row[column].split()) for row in rows]


@pytest.mark.realdata
def test_events_of_the_file(shared_settings: Settings) -> None:
    dataset = loaded("events-adapt", shared_settings)
    (path,) = files("events-adapt", shared_settings)
    with path.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert (len(rows), len(dataset.items)) == (1_564, 1_564)
    assert sorted(Counter(dataset.own_columns[0].cells).values()) == [128, 129, 134]
    for row in rows:
        number = int(row["ItemNum"])
        assert row["Sentence"] in dataset.items, number


@pytest.mark.realdata
@pytest.mark.parametrize(
    ("code", "rows", "used"),
    [("en", 1_960, 632), ("de", 2_497, 749), ("fr", 1_544, 449), ("zh", 2_310, 480), ("bg", 1_637, 562)],
)
def test_negations_of_the_files(shared_settings: Settings, code: str, rows: int, used: int) -> None:
    dataset = loaded(f"xnli-negation-{code}", shared_settings)
    (path,) = files(f"xnli-negation-{code}", shared_settings)
    examples = [json.loads(line) for line in path.read_text("utf-8").split("\n") if line]
    assert (len(examples), len(dataset.originals)) == (rows, used)
    labels = {(e["pairID"].split("_")[0], e["version"]): e for e in examples}
    slowly = 0
    for (number, version), changed in labels.items():
        if version == "Orig":
            continue
        before = labels[number, "Orig"]
        differ = sum(before[s].split() != changed[s].split() for s in ("sentence1", "sentence2"))
        slowly += differ == 1 and [before["gold_label"], changed["gold_label"]].count("entailment") == 1
    assert slowly == used


@pytest.mark.realdata
def test_scored_pairs_of_the_files(shared_settings: Settings) -> None:
    glue, sts3k = (loaded(name, shared_settings) for name in ("glue-diagnostic", "sts3k"))
    assert isinstance(glue, ScoredPairs)
    sizes = Counter(glue.set_numbers.tolist())
    assert sizes[glue.sets.index("Negation")] == 82
    assert sizes[glue.sets.index("Common sense")] == 150
    (path,) = files("glue-diagnostic", shared_settings)
    rows = [line.split("\t") for line in path.read_text("utf-8").split("\n")[1:] if line]
    assert len(rows) == 1_104
    assert sum(sets.LABELS[r[-1]] * sum(len(c.split(";")) for c in r[:4] if c) for r in rows) == glue.scores.sum()
    assert [sts3k.set_numbers.tolist().count(n) for n in range(3)] == [1_065, 1_664, 71]
    ratings = [line.split(";")[2] for line in files("sts3k", shared_settings)[0].read_text("utf-8").split("\n") if line]
    assert sts3k.scores.sum() == pytest.approx(sum(map(float, ratings)), abs=1e-9)


def test_each_says_what_it_asks_and_its_licence() -> None:
    assert len(MEANING_CHANGES) == 10
    for entry in MEANING_CHANGES.values():
        assert entry.licence
        assert "?" in entry.description
