"""Tables of a folder with a header: read by their names in any order, refused where a name is lacking."""

from __future__ import annotations

from itertools import permutations
from pathlib import Path

import pytest

from blindspot.datasets.catalog import find_dataset
from blindspot.datasets.kinds.retrieval import RetrievalDataset
from blindspot.datasets.user_data import rankings
from blindspot.errors import InputError

DOCUMENTS = {"1": "plums are blue", "2": "pears are green", "3": "lemons are yellow"}
QUERIES = {"2": "color of plums", "3": "color of pears"}
GRADES = {("2", "1"): 1, ("3", "2"): 2, ("3", "3"): 0}


def written(folder: Path, **tables: str) -> Path:
    (folder / "qrels").mkdir(parents=True, exist_ok=True)
    usual = {
        "corpus.tsv": "id\ttext\n" + "".join(f"{i}\t{text}\n" for i, text in DOCUMENTS.items()),
        "queries.tsv": "id\ttext\n" + "".join(f"{i}\t{text}\n" for i, text in QUERIES.items()),
        "qrels/test.tsv": "".join(f"{q}\t{d}\t{g}\n" for (q, d), g in GRADES.items()),
    }
    given = {name.replace("__", "/").replace("_tsv", ".tsv").replace("_csv", ".csv"): t for name, t in tables.items()}
    for name, text in (usual | given).items():
        other = next((n for n in given if n.rpartition(".")[0] == name.rpartition(".")[0]), name)
        if other == name:
            (folder / name).write_text(text, "utf-8")
    return folder


def loaded(folder: Path, options: str = "") -> RetrievalDataset:
    entry = find_dataset(f"dir:{folder}{options}")
    dataset = entry.load(entry.id, ())
    assert isinstance(dataset, RetrievalDataset)
    return dataset


def judged(data: RetrievalDataset) -> dict[tuple[str, str], int]:
    return {
        (data.query_ids[q], data.document_ids[d]): int(g)
        for q, d, g in zip(data.judged_queries, data.judged, data.grades, strict=True)
    }


@pytest.mark.parametrize(("name", "is_offered"), [("Points", True), ("rank", False), ("position rank", False)])
def test_ranks_are_not_offered_as_grades(tmp_path: Path, name: str, is_offered: bool) -> None:
    rows = "".join(f"{q}\t{d}\t{n}\n" for n, (q, d) in enumerate(GRADES, 1))
    folder = written(tmp_path, qrels__test_tsv=f"query-id\tcorpus-id\t{name}\n{rows}")
    with pytest.raises(InputError, match="no column of the grade") as caught:
        find_dataset(f"dir:{folder}")
    assert (f"judgments.grade is '{name}'" in str(caught.value)) is is_offered


def test_judgments_by_names_in_any_order(tmp_path: Path) -> None:
    headers = (
        ("query-id", "corpus-id", "score"),
        ("query_id", "doc_id", "relevance"),
        ("qid", "docid", "rel"),
        ("topic", "docno", "grade"),
        ("QueryID", "PID", "Label"),
        ("query_id", "document_id", "relevance"),
    )
    wrong = []
    for number, header in enumerate(headers):
        for order in permutations(range(3)):
            for more, between, ending in (((), "\t", "tsv"), (("iteration",), "\t", "tsv"), ((), ",", "csv")):
                lines = [between.join([*(header[i] for i in order), *more])]
                for (q, d), grade in GRADES.items():
                    cells = (q, d, str(grade))
                    lines.append(between.join([*(cells[i] for i in order), *("0" for _ in more)]))
                folder = tmp_path / f"{number}-{order}-{len(more)}{ending}"
                written(folder, **{f"qrels__test_{ending}": "\n".join([*lines, ""])})
                if judged(loaded(folder)) != GRADES:
                    wrong.append((header, order, more, ending))
    assert not wrong


def test_documents_and_queries_by_names(tmp_path: Path) -> None:
    corpus = 'title\tpid\turl\tcontents\nA\t1\tx\t"said ""so"""\nB\t2\tx\t"pears are green"\nC\t3\tx\t"lemons"\n'
    data = loaded(written(tmp_path / "a", corpus_tsv=corpus, queries_tsv="question\tqid\nwhat\t2\nwhich\t3\n"))
    assert data.document_texts == ('A said "so"', "B pears are green", "C lemons")
    assert data.query_texts == ("what", "which")
    comment = "# made on Monday\n\nid;text\n1;one; or two\n"
    with pytest.raises(InputError, match=r"corpus\.csv, line 4: 3 cells"):
        loaded(written(tmp_path / "b", corpus_csv=comment))
    data = loaded(written(tmp_path / "c", corpus_csv='sep=;\nid;text\n1;"one; or two"\n2;two\n3;three\n'))
    assert data.document_texts == ("one; or two", "two", "three")


def test_without_a_header_places_count(tmp_path: Path) -> None:
    data = loaded(written(tmp_path, corpus_tsv="1\tplums\n2\tpears\n3\tlemons\n", queries_tsv="2\tplum?\n3\tpear?\n"))
    assert data.document_texts == ("plums", "pears", "lemons")
    assert judged(data) == GRADES


def test_an_unknown_header_is_refused_with_what_was_understood(tmp_path: Path) -> None:
    for number, (tables, said) in enumerate(
        (
            ({"qrels__test_tsv": "query-id\tpassage key\tscore\n2\t1\t1\n"}, "understood: query is 'query-id'"),
            ({"corpus_tsv": "id\twording here\n1\tone\n2\ttwo\n"}, "understood: id is 'id'"),
            ({"qrels__test_tsv": "query-id,corpus-id,score\n2,1,1\n"}, "line 1: ',' between the cells; expected tabs"),
            ({"corpus_tsv": "1;one\n2;two\n"}, "line 1: ';' between the cells; expected tabs"),
            ({"queries_tsv": "qid\ttext\tquery\n2\ta\tb\n3\ta\tb\n"}, "two columns of the text"),
        )
    ):
        with pytest.raises(InputError) as caught:
            loaded(written(tmp_path / str(number), **tables))
        assert said in str(caught.value)
        assert "line 1" in str(caught.value)


def test_swapped_ids_that_overlap_are_asked_about(tmp_path: Path) -> None:
    swapped = "".join(f"{d}\t{q}\t{g}\n" for (q, d), g in GRADES.items())
    for options in ("", "?missing=skip"):
        with pytest.raises(InputError, match="read the other way round"):
            loaded(written(tmp_path, qrels__test_tsv=swapped), options)


def test_empty_documents_are_left_out_and_counted_where_asked(tmp_path: Path) -> None:
    folder = written(tmp_path, corpus_tsv="id\ttext\n1\tplums\n2\tpears\n3\tlemons\n7\t\n8\t \n")
    with pytest.raises(InputError, match="missing=skip"):
        loaded(folder)
    assert len(loaded(folder, "?missing=skip").documents) == 3
    own = find_dataset(f"dir:{folder}?missing=skip").own
    assert own is not None
    assert "2 documents without a text" in own.summary
    assert "3 of 5" in own.assumptions
    assert own.as_manifest()["left_out"]["empty_documents"] == 2


def test_runs_by_names_and_ranks_that_contradict_scores(tmp_path: Path) -> None:
    data = loaded(written(tmp_path / "data"))
    rows = [("2", "1", 1, 0.1), ("2", "3", 2, 0.4), ("3", "2", 1, 0.2), ("3", "1", 2, 0.9)]
    plain = tmp_path / "plain.run"
    plain.write_text("".join(f"{q} Q0 {d} {r} {s} engine\n" for q, d, r, s in rows), "utf-8")
    named = tmp_path / "named.csv"
    named.write_text("score,doc_id,rank,query_id\n" + "".join(f"{s},{d},{r},{q}\n" for q, d, r, s in rows), "utf-8")
    tabs = tmp_path / "tabs.tsv"
    tabs.write_text("qid\tdocid\tscore\n" + "".join(f"{q}\t{d}\t{s}\n" for q, d, _, s in rows), "utf-8")
    found = [rankings.read(path, data) for path in (plain, named, tabs)]
    for one in found[1:]:
        assert one.scores.tolist() == found[0].scores.tolist()
        assert one.documents.tolist() == found[0].documents.tolist()
    assert [one.contradicted for one in found] == [2, 2, 0]
    plain.with_name("ties.run").write_text("".join(f"{q} Q0 {d} {r} 0 engine\n" for q, d, r, _ in rows), "utf-8")
    assert rankings.read(plain.with_name("ties.run"), data).tied == 2
    assert [ranking.tied for ranking in found] == [0, 0, 0]
    right = rankings.read(plain, data, are_distances=True)
    assert (right.contradicted, right.scores.tolist()) == (0, [-score for score in found[0].scores.tolist()])
