"""The page *Data*: retrieval datasets, built in, uploaded and in a folder."""

from __future__ import annotations

from pathlib import Path

from blindspot.datasets import uploads
from blindspot.datasets.catalog import DATASETS, find_dataset
from blindspot.datasets.kinds.base import DatasetKind
from blindspot.datasets.kinds.retrieval import RetrievalDataset
from tests.conftest import make_settings
from tests.support.data_page import keep, rows, upload
from tests.support.pages import OpenApp, written
from tests.support.retrieval_folders import BEIR, Files
from tests.support.three_files import COLUMNS, DOCUMENTS, GRADES, JUDGMENTS, QUERIES, judged

KB = "question,answer\n" + "".join(
    f"How do I do number {n}?,Press button number {n} and wait until the green light goes out\n" for n in range(12)
)


def test_queries_and_documents_are_shown(open_app: OpenApp, tmp_path: Path) -> None:
    app = open_app(tmp_path, "data", data="demo-retrieval")
    dataset = DATASETS["demo-retrieval"].load("demo-retrieval", ())
    assert isinstance(dataset, RetrievalDataset)
    assert rows(app, "text") == list(dataset.query_texts[:10])
    assert rows(app, "relevant") == dataset.relevant_counts[:10].tolist()
    assert rows(app, "document") == list(dataset.document_ids[:10])
    assert rows(app, "text, with its title") == list(dataset.document_texts[:10])
    counts = dataset.counts
    said = written(app)
    for number in (counts.queries, counts.documents, counts.judgments, counts.relevant):
        assert f"**{number:,}**" in said


def test_pairs_that_look_like_it_are_asked_about_and_read_as_chosen(open_app: OpenApp, tmp_path: Path) -> None:
    app = upload(open_app(tmp_path, "data"), KB.encode())
    assert len(app.warning) == 1
    (kind,) = [one for one in app.segmented_control if (one.key or "").startswith("upload_kind_")]
    kind.set_value(DatasetKind.RETRIEVAL).run()
    assert not app.warning
    for use, name in (("query", "question"), ("document", "answer")):
        (box,) = [b for b in app.selectbox if (b.key or "").startswith(f"upload_RETRIEVAL_{use}_")]
        assert box.value == name, "as guessed for pairs"
    keep(app)
    (stored,) = uploads.found(make_settings(tmp_path))
    assert (stored.kind, stored.rows, stored.texts) == (DatasetKind.RETRIEVAL, 12, 24)
    dataset = find_dataset(stored.reference).load("x", ())
    assert isinstance(dataset, RetrievalDataset)
    assert (dataset.counts.documents, dataset.counts.relevant) == (12, 12)


def sent(*files: Files) -> list[tuple[str, bytes, str]]:
    every = {name: content for one in files for name, content in one.items()}
    return [(f"mine/{name}", str(content).encode(), "text/plain") for name, content in every.items()]


def test_a_folder_is_uploaded_as_it_was_corrected(open_app: OpenApp, tmp_path: Path) -> None:
    app = open_app(tmp_path, "data")
    dev = "q1\td2\t1\nq1\td9\t1\n"
    app.file_uploader[1].set_value(sent(BEIR, {"qrels/dev.tsv": dev})).run()
    assert rows(app, "read as") == ["documents", "queries", "judgments"]
    assert rows(app, "file")[-1] == "qrels/test.tsv"
    (split,) = [box for box in app.selectbox if (box.key or "").startswith("upload_split_")]
    assert split.value == "test"
    split.set_value("dev").run()
    (error,) = app.error
    assert "mine/qrels/dev.tsv, line 2" in error.value
    assert not any(button.key == "upload_keep" for button in app.button)
    (box,) = [box for box in app.checkbox if (box.key or "").startswith("upload_missing_")]
    box.check().run()
    assert rows(app, "relevant") == [1]
    keep(app)
    (stored,) = uploads.found(make_settings(tmp_path))
    assert stored.reference.endswith("?split=dev&missing=skip")
    assert "data" in app.query_params
    app.button(key="remove_for_good").click().run()
    assert not uploads.found(make_settings(tmp_path))


def test_a_folder_that_is_wrong_is_said_in_one_line_and_leaves_nothing(open_app: OpenApp, tmp_path: Path) -> None:
    app = open_app(tmp_path, "data")
    app.file_uploader[1].set_value(sent(BEIR, {"qrels/test.tsv": "q1\td7\t1\nq2\td1\t1\n"})).run()
    (error,) = app.error
    assert "mine/qrels/test.tsv, line 1" in error.value
    assert not any(button.key == "upload_keep" for button in app.button)
    assert not uploads.found(make_settings(tmp_path))


def test_three_files_are_uploaded_with_their_columns(open_app: OpenApp, tmp_path: Path) -> None:
    app = open_app(tmp_path, "data")
    files = [("rated.csv", JUDGMENTS), ("one.csv", DOCUMENTS), ("two.csv", QUERIES)]
    sent = [(name, content.encode(), "text/csv") for name, content in files]
    app.file_uploader[2].set_value(sent[:2]).run()
    assert "2 files of 3" in app.info[0].value
    app.file_uploader[2].set_value(sent).run()
    assert not app.error

    def box(start: str):
        return next(one for one in app.selectbox if (one.key or "").startswith(f"upload_{start}_"))

    assert [box(part).value for part in ("documents", "queries", "judgments")] == ["one.csv", "two.csv", "rated.csv"]
    for option, name in COLUMNS.items():
        if option != "documents.title":
            assert box(option.replace(".", "_")).value == name
    why = dict(zip(rows(app, "column"), rows(app, "because"), strict=True))
    assert (why["Key"], why["Body"], why["Name"]) == ("by its values", "by its name", "–")
    box("documents_title").set_value("Name").run()
    assert rows(app, "relevant") == [1, 1]
    keep(app)
    (stored,) = uploads.found(make_settings(tmp_path))
    assert judged(stored.reference) == GRADES
