"""Queries, documents and judgments in three files with headers of their own."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest

import blindspot as bs
from blindspot import policy
from blindspot.cli import main
from blindspot.datasets import uploads
from blindspot.datasets.catalog import DatasetRef, find_dataset
from blindspot.datasets.kinds.retrieval import RetrievalDataset
from blindspot.datasets.user_data.reference import reference_of_files
from blindspot.datasets.user_data.retrieval_folder import guess
from blindspot.datasets.user_data.retrieval_folder.options import FolderOptions
from blindspot.errors import InputError
from blindspot.settings import Mode, Settings
from tests.support.tables import each
from tests.support.three_files import COLUMNS, GRADES, judged, three, with_columns


def test_one_reference_names_files_and_columns(tmp_path: Path) -> None:
    reference = reference_of_files(with_columns(three(tmp_path)))
    assert reference.startswith(f"dir:{tmp_path}?documents=more%20files/articles.csv&queries=asked.csv")
    assert judged(reference) == GRADES
    path, _, options = reference.partition("?")
    other_order = f"{path}?{'&'.join(reversed(options.split('&')))}"
    assert DatasetRef.parse(other_order) == reference
    own = find_dataset(reference).own
    assert own is not None
    assert "grade is 'Points'" in own.summary
    assert own.as_manifest()["columns"] == COLUMNS


def test_unknown_headers_are_refused_with_the_reference_that_reads_them(tmp_path: Path) -> None:
    with pytest.raises(InputError) as caught:
        find_dataset(reference_of_files(three(tmp_path)))
    said = str(caught.value)
    assert "no column of the id; understood: text is 'Body'" in said
    assert "judgments.grade is 'Points'" in said
    (better,) = [part for part in said.split('"') if part.startswith("dir:")]
    entry = find_dataset(better)
    assert "Plums turn blue in late summer." in entry.load(entry.id, ()).items, "nothing says that Name is a title"
    assert judged(f"{better}&documents.title=Name") == GRADES


KNOWN = {
    "queries": "query_id,query\n7,Which plums are blue?\n8,Which pears are green?\n",
    "documents": "doc_id,title,document\nd1,Plums,Plums turn blue in late summer.\nd2,,Pears stay green on the tree.\n"
    "d3,,No fruit here.\n",
    "judgments": "doc_id,query_id,relevance\nd1,7,2\nd2,8,1\nd3,8,0\n",
}


@each(
    "changed, grades",
    [
        ({}, GRADES),
        ({"judgments": "query_id,doc_id\n7,d1\n8,d2\n"}, {("7", "d1"): 1, ("8", "d2"): 1}),
        ({"judgments": "query_id,doc_id,label\n7,d1,yes\n8,d2,yes\n8,d3,no\n"}, {**GRADES, ("7", "d1"): 1}),
        (
            {"queries": '{"qid": 7, "text": "Which plums are blue?"}\n{"qid": 8, "text": "Which pears are green?"}\n'},
            GRADES,
        ),
    ],
)
def test_usual_names_need_no_words(tmp_path: Path, changed: dict[str, str], grades: dict[tuple[str, str], int]) -> None:
    files = {}
    for part, content in (KNOWN | changed).items():
        path = tmp_path / f"my {part}.{'jsonl' if content.startswith('{') else 'csv'}"
        path.write_text(content, "utf-8")
        files[part] = str(path)
    reference = reference_of_files(files)
    assert judged(reference) == grades
    own = find_dataset(reference).own
    assert own is not None
    assert bool(own.assumptions) == (grades != GRADES), "grades that are not numbers are said"


def test_a_column_beside_both_ids_may_be_the_grade_and_is_asked_about(tmp_path: Path) -> None:
    files = three(tmp_path)
    Path(files["judgments"]).write_text("query_id,doc_id,Points\n7,d1,2\n8,d2,1\n", "utf-8")
    with pytest.raises(InputError, match="no column of the grade; understood: query is 'query_id'"):
        find_dataset(reference_of_files(with_columns(files) | {"judgments": files["judgments"]}))


@each(
    "changed, message",
    [
        ({"queries": ""}, "no file of queries"),
        ({"queries": "gone.csv"}, "gone.csv does not exist"),
        ({"queries": "."}, "is no file"),
        ({"queries": "{queries}?key=No"}, "unknown role of a column of the queries 'key'"),
        ({"queries": "{queries}?id="}, "expected id=NAME"),
        ({"queries": "{queries}?id=Nein&text=Wording"}, "no column called 'Nein'"),
        ({"queries": "{queries}?id=No&text=No"}, "cannot be both id and text"),
        ({"judgments": "{judgments}?query=Article&document=Asked&grade=Points"}, "the other way round"),
        ({"judgments": "{judgments}?query=Asked&document=Article&grade=Article"}, "cannot be both"),
    ],
)
def test_what_is_wrong_is_one_line(tmp_path: Path, changed: dict[str, str], message: str) -> None:
    files = three(tmp_path)
    given = with_columns(files) | {part: text.format(**files) for part, text in changed.items()}
    with pytest.raises(InputError) as caught:
        find_dataset(reference_of_files(given))
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


@each("path", ["../asked.csv", "/etc/passwd", "~/x.csv", "a/../../b.csv", "%2e%2e/b.csv"])
def test_named_files_are_below_the_folder(tmp_path: Path, path: str) -> None:
    with pytest.raises(InputError, match="no path below the folder"):
        find_dataset(f"dir:{tmp_path}?queries={path}")


def test_the_commands_take_three_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("BLINDSPOT_CACHE", str(tmp_path / "cache"))
    options = [text for part, path in with_columns(three(tmp_path / "d")).items() for text in (f"--{part}", path)]
    reference = reference_of_files(dict(zip(("queries", "documents", "judgments"), options[1::2], strict=True)))
    model = ["--encoder", "random-projection"]
    assert main(["data", "show", "--json", *options]) == 0
    assert json.loads(capsys.readouterr().out)["id"] == reference
    assert main(["run", "retrieval", "--json", *model, *options]) == 0
    (run,) = json.loads(capsys.readouterr().out)["runs"]
    assert run["dataset"] == reference
    recorded = str(tmp_path / "old.json")
    assert main(["gate", "--record", recorded, *model, *options]) == 0
    capsys.readouterr()
    assert main(["gate", "--baseline", recorded, *model, "--data", reference]) == 0
    assert "on 2 items" in capsys.readouterr().out
    for wrong in (["data", "show"], ["data", "show", "demo-pairs", *options], ["run", "retrieval", *model]):
        assert main(wrong) == 2
        assert capsys.readouterr().err.count("\n") == 1


def test_the_python_api_takes_frames(tmp_path: Path) -> None:
    frames = {
        "queries": pd.DataFrame({"No": [7, 8], "Wording": ["Which plums are blue?", "Which pears are green?"]}),
        "documents": pd.DataFrame(
            {
                "Key": ["d1", "d2", "d3"],
                "Name": ["Plums", None, None],
                "Body": ["Plums turn blue in late summer.", "Pears stay green on the tree.", "No fruit here."],
            }
        ),
        "judgments": pd.DataFrame({"Article": ["d1", "d2", "d3"], "Asked": [7, 8, 8], "Points": [2, 1, 0]}),
    }
    of_frames = bs.texts_of(frames, columns=COLUMNS, store=tmp_path / "store")
    of_files = bs.texts_of(three(tmp_path / "d"), columns=COLUMNS, store=tmp_path / "store")
    assert of_frames == of_files
    frames["judgments"]["Asked"] = [7.0, 8.0, 8.0]
    with pytest.raises(InputError, match=r"the id 7\.0 is no text and no whole number"):
        bs.texts_of(frames, columns=COLUMNS, store=tmp_path / "store")
    with pytest.raises(InputError, match="unknown role of a column"):
        bs.texts_of(frames, columns={"queries.key": "No"}, store=tmp_path / "store")


def test_an_upload_is_the_dataset_that_it_is_on_disk(tmp_path: Path, settings: Settings) -> None:
    files = three(tmp_path)
    sent = uploads.folder_of_files([(Path(p).name, Path(p).read_bytes()) for p in files.values()], settings)
    parts = guess.parts({path.name: data for path, data in sent.contents.items()})
    assert parts == {part: Path(path).name for part, path in files.items()}
    stored = uploads.add_folder(sent, FolderOptions.of(parts | COLUMNS), settings)
    assert judged(stored.reference) == GRADES
    assert uploads.damage(stored.path.parent) == ""
    with pytest.raises(InputError, match="two files are called"):
        uploads.folder_of_files([("a.csv", b"x"), ("dir/a.csv", b"y"), ("b.csv", b"z")], settings)


LISTS = [["d1"], ["d2", "d1"]]


@each(
    "ending, lists",
    [(ending, lists) for ending in ("jsonl", "parquet") for lists in (LISTS, [[one] for one in LISTS])],
)
def test_lists_of_relevant_documents_beside_the_queries_as_autorag_has_them(
    tmp_path: Path, ending: str, lists: list[list[object]]
) -> None:
    asked = pd.DataFrame(
        {
            "qid": ["q1", "q2"],
            "query": ["which plums are blue", "which fruit is there"],
            "retrieval_gt": lists,
            "generation_gt": [["plums"], ["pears"]],
        }
    )
    corpus = pd.DataFrame({"doc_id": ["d1", "d2", "d3"], "contents": ["plums turn blue", "pears too", "no fruit"]})
    files = {"queries": asked, "judgments": asked, "documents": corpus}
    paths = {part: str(tmp_path / f"{'corpus' if part == 'documents' else 'qa'}.{ending}") for part in files}
    for part, frame in files.items():
        frame.to_parquet(paths[part]) if ending == "parquet" else frame.to_json(
            paths[part], orient="records", lines=True
        )
    entry = find_dataset(reference_of_files(paths))
    data = entry.load(entry.id, ())
    assert isinstance(data, RetrievalDataset)
    assert [data.document_ids[d] for d in data.judged.tolist()] == ["d1", "d1", "d2"]
    assert data.grades.tolist() == [1, 1, 1]
    assert entry.own is not None
    assert "has no grades" in entry.own.assumptions


def test_judgments_may_have_the_texts_beside_the_ids(tmp_path: Path) -> None:
    files = three(tmp_path)
    rows = "query_id,query,doc_id,document,label\n7,Which plums are blue?,d1,a b,2\n8,Which,d2,c d,1\n8,Which,d3,e,0\n"
    Path(files["judgments"]).write_text(rows, "utf-8")
    given = with_columns(files) | {"judgments": files["judgments"]}
    assert judged(reference_of_files(given)) == GRADES


def test_a_demo_takes_a_visitors_three_files_and_leads_nowhere_else(tmp_path: Path, settings: Settings) -> None:
    demo = replace(settings, mode=Mode.DEMO, session="visitor")
    files = three(tmp_path)
    sent = uploads.folder_of_files([(Path(p).name, Path(p).read_bytes()) for p in files.values()], demo)
    parts = guess.parts({path.name: data for path, data in sent.contents.items()})
    upload = uploads.add_folder(sent, FolderOptions.of(parts | COLUMNS), demo)
    policy.check_dataset(upload.reference, demo)
    policy.check_delivery(upload.reference, demo, reader_is_gone=False)
    with pytest.raises(InputError, match="cannot be named on a hosted demo"):
        policy.check_dataset(reference_of_files(with_columns(files)), demo)
    folder = upload.reference.partition("?")[0]
    for way_up in ("documents=..%2F..%2Fx.csv", "documents=%2Fetc%2Fpasswd", "queries=a%2F..%2F..%2Fx.csv"):
        with pytest.raises(InputError, match="no path below the folder"):
            find_dataset(f"{folder}?{way_up}")
    with pytest.raises(InputError, match="format that is not accepted"):
        uploads.folder_of_files([("a.parquet", b"PAR1")], demo)
    with pytest.raises(InputError, match="on this demo"):
        uploads.folder_of_files([("a.csv", b"x" * 2**20), ("b.csv", b"x" * 2**20), ("c.csv", b"x")], demo)
