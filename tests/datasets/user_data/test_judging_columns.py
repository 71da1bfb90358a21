"""Columns that may say which rows are matches, under any name: asked about, never passed over."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest

from blindspot.datasets.catalog import DatasetRef, find_dataset
from blindspot.datasets.kinds.base import DatasetKind
from blindspot.datasets.user_data.columns import UnclearColumns
from blindspot.datasets.user_data.files import UnclearKind
from blindspot.datasets.user_data.retrieval import OwnRetrieval
from blindspot.errors import InputError
from tests.support.tables import each

N = 24
FRACTIONS = tuple(f"{(7 * i % 23) / 23:.3f}" for i in range(N))


def written(folder: Path, header: tuple[str, ...], *further: tuple[object, ...]) -> str:
    """A file of two columns of texts and further ones, whose cells repeat."""
    path = folder / "own.csv"
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(header)
        for i in range(N):
            texts = (f"who waters the plant number {i}", f"the person that pours for pot {i}")
            writer.writerow([*texts, *(cells[i % len(cells)] for cells in further)])
    return f"file:{path}"


@pytest.mark.parametrize(
    ("name", "cells"),
    [
        *((name, FRACTIONS) for name in ("confidence", "probability", "p_match", "rank", "kappa", "fit of both", "f1")),
        *((name, (1, 2, 3, 4, 5)) for name in ("stars", "votes", "level", "usefulness", "y")),
        ("agreed", ("0,5", "0,25", "1,0")),
        ("how alike", ("50%", "75 %", "100%")),
        ("speaks for it", (1, 2)),
        ("annotations", ("[4, 5, 3]", "[2, 2, 0]", "[1]")),
        ("of the raters", ("4;5;3", "2; 2 ;0", "1|1")),
        ("scores", ("[0.75, 20]", "[12.5, 80]")),
    ],
)
def test_numbers_of_any_name_are_asked_about(tmp_path: Path, name: str, cells: tuple[object, ...]) -> None:
    for header in (("query", "match"), ("left side", "right side")):
        reference = written(tmp_path, (*header, name), cells)
        with pytest.raises(UnclearKind, match=f"column '{name}'"):
            find_dataset(reference)
        with pytest.raises(UnclearKind):  # nor does who runs EvalRank say that every row is a match
            find_dataset(DatasetRef(reference).of_kind(DatasetKind.PAIR_SET))
        named = "?" + "&".join(f"{role}={one}" for role, one in zip(("query", "match"), header, strict=True))
        assert find_dataset(reference + named.replace(" ", "%20")).kind is DatasetKind.PAIR_SET


@pytest.mark.parametrize(
    ("name", "cells"),
    [
        ("relation", ("entailment", "neutral", "contradiction")),
        ("verdict", ("SUPPORTS", "REFUTES", "NOT ENOUGH INFO")),
        ("label", ("yes", "no", "maybe")),
        ("esci_label", ("E", "S", "C", "I")),
        ("status", ("accepted", "rejected")),
        ("checked", ("pass", "fail", "unclear")),
        ("ok", ("x", "")),
        ("ok", (1, "")),
        ("ok", ("✓", "✗")),
        ("category", ("match", "no match")),
        ("how", ("same", "different", "partly")),
        ("is_negative", (1, 0)),
        ("different", ("yes", "no")),
    ],
)
def test_words_that_judge_a_pair_are_asked_about(tmp_path: Path, name: str, cells: tuple[object, ...]) -> None:
    for header in (("query", "match"), ("text_a", "text_b"), ("query", "document")):
        reference = written(tmp_path, (*header, name), cells)
        if header[0] == "text_a" and name in ("label", "category"):
            assert find_dataset(reference).kind is DatasetKind.LABELED_TEXTS
            continue
        with pytest.raises(UnclearColumns, match=f"column '{name}'"):
            find_dataset(reference)
        with pytest.raises(UnclearColumns):
            find_dataset(DatasetRef(reference).of_kind(DatasetKind.PAIR_SET))


@pytest.mark.parametrize(
    ("name", "cells"),
    [
        ("product", ("tea", "pot")),
        ("sentiment", ("positive", "negative")),
        ("gender", ("m", "f")),
        ("page", (1, 2, 3)),
        ("year", (2001, 2002)),
        ("price", FRACTIONS),
        ("ticket", tuple(range(N))),
        ("difficulty", ("hard", "easy")),
    ],
)
def test_what_is_about_something_else_is_not_asked_about(tmp_path: Path, name: str, cells: tuple[object, ...]) -> None:
    assert find_dataset(written(tmp_path, ("query", "match", name), cells)).kind is DatasetKind.PAIR_SET
    assert find_dataset(written(tmp_path, ("query", "document", name), cells)).kind is DatasetKind.RETRIEVAL


def test_numbers_beside_documents_are_asked_about_with_ready_references(tmp_path: Path) -> None:
    reference = written(tmp_path, ("query", "document", "clicks"), (0, 3, 9))
    with pytest.raises(UnclearColumns, match="'clicks'") as caught:
        find_dataset(DatasetRef(reference).of_kind(DatasetKind.RETRIEVAL))
    every, graded = (f"{reference}?query=query&document=document{more}" for more in ("", "&relevance=clicks"))
    assert all(f'"{one}"' in str(caught.value) for one in (every, graded))
    grades = []
    for one in (every, graded):
        found = find_dataset(one).own
        assert isinstance(found, OwnRetrieval)
        grades.append({judgment.grade for judgment in found.judgments})
    assert grades == [{1}, {0, 3, 9}]
    with pytest.raises(UnclearColumns) as caught:  # the first rank is no grade of 1
        find_dataset(written(tmp_path, ("query", "document", "rank"), (1, 2, 3)))
    assert "relevance=rank" not in str(caught.value)


@pytest.mark.parametrize(
    ("header", "name"),
    [
        (("sentence1", "sentence2", "sentence3"), "sentence3"),
        (("text_a", "text_b", "text_c"), "text_c"),
        (("query", "positive", "positive 2"), "positive 2"),
        (("query", "match", "rejected"), "rejected"),
        (("source", "target", "negative"), "negative"),
        (("a", "b", "c"), "c"),
    ],
)
def test_texts_that_belong_to_those_that_are_read_are_asked_about(
    tmp_path: Path, header: tuple[str, ...], name: str
) -> None:
    third = tuple(f"and whoever brings can {i}" for i in range(N))
    with pytest.raises(UnclearColumns, match=f"column '{name}' would not be used"):
        find_dataset(written(tmp_path, header, third))


def test_negatives_are_no_matches(tmp_path: Path) -> None:
    for header in (("query", "negative"), ("anchor", "hard negative"), ("prompt", "rejected")):
        with pytest.raises(InputError, match="be read as the match"):
            find_dataset(written(tmp_path, header))


@pytest.mark.parametrize("header", [("query", "positive"), ("query", "document"), ("anchor", "positive")])
@pytest.mark.parametrize("name", ["negative", "negatives", "hard_negatives", "neg_1", "random_negative"])
def test_a_positive_with_negatives_is_retrieval(tmp_path: Path, header: tuple[str, str], name: str) -> None:
    negatives = tuple(f"and whoever brings can {i}" for i in range(N))
    found = find_dataset(written(tmp_path, (*header, name), negatives)).own
    assert isinstance(found, OwnRetrieval)
    assert sorted(judgment.grade for judgment in found.judgments) == [0] * N + [1] * N


@pytest.mark.parametrize(
    ("grades", "is_said"),
    [((1, 2, 3, 4, 5), True), ((1, 2), True), ((0, 1, 2), False), ((1,), False), ((-1, 2), False)],
)
def test_grades_of_which_none_is_irrelevant_are_said(tmp_path: Path, grades: tuple[int, ...], is_said: bool) -> None:
    found = find_dataset(written(tmp_path, ("query", "document", "relevance"), grades)).own
    assert isinstance(found, OwnRetrieval)
    assert ("none is 0" in found.assumptions) is is_said


@pytest.mark.parametrize("header", [("query", "match"), ("query", "document")])
def test_that_all_splits_are_used_is_said(tmp_path: Path, header: tuple[str, str]) -> None:
    for cells, is_said in ((("train", "test"), True), (("test",), False), (("a", "b"), False)):
        found = find_dataset(written(tmp_path, (*header, "Split"), cells)).own
        assert found is not None
        assert ("every split" in found.assumptions) is is_said


WRITTEN_LISTS = {
    "python": """["it's {i}", 'a "b" {i}\\nc']""",
    "json": """["it's {i}", "a \\"b\\" {i}\\nc"]""",
    "numpy": """["it's {i}"\n 'a "b" {i}\\nc']""",
}


@pytest.mark.parametrize("how", WRITTEN_LISTS)
def test_lists_that_are_written_out_are_lists(tmp_path: Path, how: str) -> None:
    rows = [{"query": f"query {i}", "positives": WRITTEN_LISTS[how].replace("{i}", str(i))} for i in range(3)]
    path = tmp_path / "own.csv"
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, rows[0])
        writer.writeheader()
        writer.writerows(rows)
    found = find_dataset(f"file:{path}").own
    assert isinstance(found, OwnRetrieval)
    assert [one.text for one in found.documents[:2]] == ["it's 0", 'a "b" 0\nc']
    assert len(found.documents) == 6


def test_lists_and_objects_that_are_written_out_are_no_texts(tmp_path: Path) -> None:
    for cell in ("['a text']", "{'text': ['a'], 'start': [1]}", "[['a']]", "['\\x']"):
        path = tmp_path / "own.csv"
        path.write_text("query,match\n" + "".join(f'query {i},"{cell}"\n' for i in range(3)), "utf-8")
        with pytest.raises(InputError, match="is not text"):
            find_dataset(f"file:{path}")
    path.write_text("query,match\n" + "".join(f"query {i},[see {i}] and [this]\n" for i in range(3)), "utf-8")
    assert find_dataset(f"file:{path}").kind is DatasetKind.PAIR_SET


@each(
    "header",
    [
        *(("claim", "wrong answer"), ("sent_a", "sent_incorrect"), ("sentence", "ungrammatical sentence")),
        *(("sentence", "negated_sentence"), ("text", "a random text"), ("phrase", "Antonym")),
    ],
)
def test_what_is_no_match_by_its_name_is_asked_about(tmp_path: Path, header: tuple[str, str]) -> None:
    with pytest.raises(UnclearColumns, match="would be read as the match"):
        find_dataset(written(tmp_path, header))


@each(
    "further",
    [
        {"positive": "doc-7"},
        {"pos": ["p1", "p22"]},
        {"positive": "the whole text", "negatives": ["1002"]},
        {"match": "https://example.org/faq/3"},
    ],
)
def test_ids_in_the_place_of_texts_are_asked_about(tmp_path: Path, further: dict[str, object]) -> None:
    rows = [{"query": f"who waters the plant number {i}", **further} for i in range(N)]
    (path := tmp_path / "own.jsonl").write_text("\n".join(map(json.dumps, rows)), "utf-8")
    with pytest.raises(UnclearColumns, match="seems to hold ids"):
        find_dataset(f"file:{path}")


@each(
    "header, row, is_asked",
    [
        ("query,document,relevance", "{i},{j},1", True),
        ("sentence1,sentence2,score", "s{i},s{j},0.{i}", True),
        ("query,match", "{i},the gardener of pot {j}", False),
        ("text,class", "T-{i},{k}", True),
        ("one,other", "en-{i},de-{j}", True),
        ("original,negated", "s{i},n{i}", True),
        ("original,typo", "a plant in pot {i},t{i}", True),
        ("original,typo", "pot {i},pto {i}", False),
        ("query,match", "pot {i},pot {j}", False),
        ("word1,word2,score", "cup{i},mug,0.{i}", False),
        ("query,match", "猫{i},犬{j}", False),
    ],
)
def test_a_file_of_ids_alone_is_asked_about(tmp_path: Path, header: str, row: str, is_asked: bool) -> None:
    reference = pairs_file(tmp_path / "own.csv", header, *(row.format(i=i, j=i + 40, k=i % 2) for i in range(N)))
    if is_asked:
        with pytest.raises(UnclearColumns, match="seems to hold ids"):
            find_dataset(reference)
    else:
        find_dataset(reference)


@each(
    "line",
    ["bank,who waters the plants of ours,the gardener pours on our plants", "news,who waters them?,it pours.,train"],
)
def test_a_first_line_with_two_texts_is_no_header(tmp_path: Path, line: str) -> None:
    rows = [f"{i} {line} {i}".replace("who", f"who {i}").replace("pours", f"pours {i}") for i in range(6)]
    with pytest.raises(InputError, match=r"has texts, not names: 'who waters .* and '.*pours"):
        find_dataset(pairs_file(tmp_path / "own.csv", line, *rows))


@each(
    "text, begins",
    [
        ("query: who waters {}", "query:"),
        ("b'who waters {}'", "b'"),
        ("  <p>who waters {}</p>", "<p>"),
        ("who waters {}: him", ""),
        ("(who waters {})", ""),
        ("क्या {} है", ""),
        ("cafe\u0301 {}", ""),
    ],
)
def test_what_all_texts_begin_with_is_said(tmp_path: Path, text: str, begins: str) -> None:
    own = find_dataset(
        pairs_file(tmp_path / "x.csv", "query,match", *(f"{text.format(i)},he waters {i}" for i in range(6)))
    ).own
    assert own is not None
    assert bool(own.assumptions) is bool(begins)
    assert f"all texts of column 'query' begin with {begins!r}" in own.assumptions or not begins


def test_a_split_under_any_name_is_said(tmp_path: Path) -> None:
    own = find_dataset(written(tmp_path, ("query", "match", "usage"), ("Train", "TEST"))).own
    assert own is not None
    assert "the rows of every split are used (Train, TEST in column 'usage')" in own.assumptions
    for name, cells in (("is_test", ("True", "False")), ("held_out", (0, 1)), ("in dev", ("x", "")), ("tester", "ab")):
        rows = [f"who waters plant {i},{'garden' if i % 3 else 'house'},{cells[i % 2]}" for i in range(N)]
        own = find_dataset(pairs_file(tmp_path / "x.csv", f"text,label,{name}", *rows)).own
        assert own is not None
        assert (f"column '{name}' is not read as a split" in own.assumptions) is (name != "tester"), name


@each(
    "objects, said",
    [
        # RAGAS: what was retrieved, and what was generated, are not what is right
        ({"question": 0, "contexts": [1, 2], "answer": 1, "ground_truth": 2}, "'ground_truth' would not be used"),
        ({"question": 0, "contexts": [1, 2]}, "no two columns of text"),
        ({"question": 0, "answer": 1, "reference": 2}, "'reference' would not be used"),
        ({"question": 0, "prediction": 1}, "'prediction' would be read as the match"),
        ({"query": 0, "positives": [{"text": 1, "label": 1}, {"text": 2, "label": 0}]}, "with a column relevance"),
        ({"query": 0, "positives": [{"text": 1}, {"text": 2, "is_relevant": False}]}, "with a column relevance"),
        ({"query": 0, "positives": [{"text": 1}, {"text": 2, "isRelevant": "No"}]}, "with a column relevance"),
        ({"query": 0, "positives": [{"text": 1, "label": None}]}, ""),  # not judged
        ({"query": 0, "positives": [{"text": 1, "score": 0}]}, ""),  # a search's
        ({"question": 0, "hits": [1, 2], "gold": 1}, ""),
        ({"question": 0, "A": 1, "B": 2}, "'question' would not be used"),  # of several answers to choose from
        ({"prompt": 0, "source": 1, "target": 2}, "'prompt' would not be used"),
        ({"question": 0, "a": 1, "B": 2, "id": 0}, "'question' would not be used"),
    ],
)
def test_what_may_be_wrong_is_no_match(tmp_path: Path, objects: dict[str, object], said: str) -> None:
    def filled(cell: object, row: int) -> object:
        match cell:
            case list():
                return [filled(one, row) for one in cell]
            case dict():
                return cell | {"text": filled(cell["text"], row)}
        return (f"who waters plant {row}", f"the gardener of pot {row}", f"nobody in room {row}")[int(str(cell))]

    rows = [json.dumps({name: filled(cell, row) for name, cell in objects.items()}) for row in range(6)]
    (tmp_path / "own.jsonl").write_text("\n".join(rows), "utf-8")
    reference = f"file:{tmp_path / 'own.jsonl'}"
    if not said:
        find_dataset(reference)
        return
    with pytest.raises(InputError, match=said):
        find_dataset(reference)


def test_single_quotes_around_every_text_are_said(tmp_path: Path) -> None:
    rows = [f"'who waters plant {i}','the gardener of {i}'" for i in range(6)]
    own = find_dataset(pairs_file(tmp_path / "x.csv", "query,match", *rows)).own
    assert own is not None
    assert "texts of column 'query' are in single quotes" in own.assumptions
    own = find_dataset(pairs_file(tmp_path / "x.csv", "query,match", *rows, "who is 'it',that is 'it'")).own
    assert own is not None
    assert not own.assumptions


@each(
    "text, said",
    [
        ("it&#39;s me", "1 text of column 'match' with characters as in HTML, taken as written: '&#39;'"),
        ("R&D; and us", ""),
        (r"first this.\nThen that", r"1 text of column 'match' with characters as in JSON, taken as written: '\n'"),
        (r"the caf\u00e9 of ours", r"taken as written: '\u00e9'"),
        (r"in C:\new\temp it is", ""),
        ("7", "1 text of column 'match' that is only a number"),
        ("nan", "x.csv: 1 text of column 'match' that may stand for nothing, taken as written: 'nan'"),
        ("in 1984", ""),
        ('"[""a plant"", ""a pot""]"', "1 text of column 'match' written like a list and taken as one text"),
        ("[see a plant]", ""),
        ("the caf\ufffd of ours", "texts of column 'match' seem to be UTF-8 that was read as something else"),
    ],
)
def test_texts_that_are_probably_not_meant_are_said(tmp_path: Path, text: str, said: str) -> None:
    rows = [f"who waters plant {i},the gardener of {i}" for i in range(6)]
    own = find_dataset(pairs_file(tmp_path / "x.csv", "query,match", *rows, f"who is it,{text}")).own
    assert own is not None
    assert said in own.assumptions
    assert bool(own.assumptions) is bool(said)
    assert own.assumptions.count(" text of column ") <= 1  # one cause, one remark


def test_rows_that_annotators_discarded_are_said(tmp_path: Path) -> None:
    for cells, is_said in ((("accept", "reject"), True), ([f"reject{i}" for i in range(N - 1)] + ["reject"], False)):
        rows = [f"who waters plant {i},{'garden' if i % 3 else 'house'},{cells[i % len(cells)]}" for i in range(N)]
        own = find_dataset(pairs_file(tmp_path / "x.csv", "text,label,status", *rows)).own
        assert own is not None
        assert ("every row is used, also those with 'reject'" in own.assumptions) is is_said


def test_fractions_of_relevance_may_be_scores(tmp_path: Path) -> None:
    with pytest.raises(UnclearKind, match="may hold scores") as caught:
        find_dataset(written(tmp_path, ("search term", "product title", "relevance"), (1, 1.5, 2.25)))
    assert DatasetKind.SCORED_PAIRS in caught.value.readings


def pairs_file(path: Path, header: str, *rows: str, encoding: str = "utf-8") -> str:
    path.write_text("\n".join([header, *rows, ""]), encoding)
    return f"file:{path}"


@pytest.mark.parametrize("cell", ["nan", "None", "NULL", "#N/A", "#REF!", "N/A"])
def test_marks_of_missing_cells_are_said(tmp_path: Path, cell: str) -> None:
    texts = [f"a text of some words {i},another one of them {i}" for i in range(6)]
    own = find_dataset(pairs_file(tmp_path / "x.csv", "query,match", *texts, f"and this one,{cell}")).own
    assert own is not None
    assert f"1 text of column 'match' that may stand for nothing, taken as written: '{cell}'" in own.assumptions
    own = find_dataset(pairs_file(tmp_path / "words.csv", "word1,word2", "naan,nan", "zero,none", "soup,broth")).own
    assert own is not None
    assert not own.assumptions, "words"


def test_texts_that_were_decoded_wrongly_are_said(tmp_path: Path) -> None:
    for text, is_said in (
        ("café naïve", False),
        ("cafÃ© naÃ¯ve", True),
        ("it’s", False),
        ("itâ€™s", True),
        ("東京", False),
    ):
        own = find_dataset(pairs_file(tmp_path / "x.csv", "query,match", f"{text} one,two", "three,four")).own
        assert own is not None
        assert ("read as something else" in own.assumptions) is is_said, text


@each(
    "header, cell, is_said",
    [
        ("question,relevant documents", "boil it {i}|then pour {i}", True),
        ("query,positive,hard_negatives", "here {i},boil it {i}; or not", True),
        ("query,positives", "boil it; then pour {i}", True),
        ("query,positives", "boil it {i} and then pour", False),
        ("query,match", "boil it {i}; then pour", False),
    ],
)
def test_texts_that_may_be_several_are_said(tmp_path: Path, header: str, cell: str, is_said: bool) -> None:
    rows = [f"how does one make tea {i}," + cell.replace("{i}", str(i)) for i in range(6)]
    own = find_dataset(pairs_file(tmp_path / "x.csv", header, *rows)).own
    assert own is not None
    assert ("may be several texts" in own.assumptions) is is_said


def test_a_file_without_a_header_is_told_by_its_first_line(tmp_path: Path) -> None:
    own = find_dataset(pairs_file(tmp_path / "x.csv", "dog,hound", "cat,kitty", "car,auto", "big,large")).own
    assert own is not None
    assert "the first line, 'dog' and 'hound', is taken for the names" in own.assumptions
    own = find_dataset(
        pairs_file(
            tmp_path / "x.csv", "Frage,Antwort", "wer ist denn da,niemand ist da", "wo ist das Buch,im Haus am See"
        )
    ).own
    assert own is not None
    assert not own.assumptions
    with pytest.raises(UnclearColumns, match=r"has a number, not a name: '0\.9'"):
        find_dataset(pairs_file(tmp_path / "y.csv", "a dog,a hound,0.9", "a cat,a kitty,0.8", "a car,an auto,0.7"))
    numbered = pairs_file(tmp_path / "z.csv", "0,1,2", "a dog,a hound,80", "a cat,a kitty,1300", "a car,an auto,44")
    assert find_dataset(numbered).kind is DatasetKind.PAIR_SET


def test_other_files_are_named_for_what_they_are(tmp_path: Path) -> None:
    for name, content, said in (
        ("x.csv", b"version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 9\n", "git lfs pull"),
        ("x.csv", b"<!DOCTYPE html><html></html>", "a web page"),
        ("x.csv", b"PK\x03\x04 sheet", "save the sheet as .csv"),
        ("x.tsv", b"PAR1", "name it .parquet"),
        ("x.xlsx", b"PK\x03\x04 sheet", "save the sheet as .csv"),
        ("x.csv.gz", b"\x1f\x8b", "unpack it"),
        ("x.ndjson", b"{}", "name it .jsonl"),
        ("x.jsonl", b'[{"query": "a", "match": "b"}]', "a list of objects is a .json file"),
        ("x.csv", "query,match\na,b\n".encode("utf-16-le"), "if it is UTF-16"),
        ("x.csv", "query,match\n\u200b,b\nc,d\n".encode(), "nothing there"),
    ):
        (tmp_path / name).write_bytes(content)
        with pytest.raises(InputError) as caught:
            find_dataset(f"file:{tmp_path / name}")
        assert said in str(caught.value), name
