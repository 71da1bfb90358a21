"""Labeled texts on the page *Data*: classes, what leaks, examples; and an upload of one's own."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from blindspot.datasets import uploads
from blindspot.datasets.catalog import find_dataset
from blindspot.datasets.kinds.base import DatasetKind
from blindspot.datasets.user_data.labeled_texts import OwnLabeledTexts
from tests.conftest import make_settings
from tests.support.data_page import keep, picker, rows, upload
from tests.support.pages import OpenApp, written
from tests.support.probing_world import length_lines


def lines(records: Sequence[dict[str, object]]) -> bytes:
    return "".join(f"{json.dumps(record)}\n" for record in records).encode()


SPLIT = lines(
    [
        {
            "text": "*same* $x$" if i in (3, 4) else f"text {i}",
            "kind of": ("p_q", "<b>r</b>")[i % 2],
            "when": ("train", "dev", "test")[i % 3 if i != 3 else 0],
        }
        for i in range(24)
    ]
)  # example 4 is a dev example; example 5 a test example
LEAKING = SPLIT.replace(b'"text 5"', b'"*Same*  $x$"')


@pytest.fixture
def uploaded(open_app: OpenApp, tmp_path: Path) -> AppTest:
    """The page with a file of which nothing is told by the header but the text."""
    app = upload(open_app(tmp_path, "data"), LEAKING, "mine.jsonl")
    next(c for c in app.segmented_control if c.label == "Read as").set_value("set of labelled texts").run()
    return app


def test_the_built_in_task_shows_classes_and_examples(open_app: OpenApp, tmp_path: Path) -> None:
    app = open_app(tmp_path, "data", data="demo-negation")
    said = written(app)
    assert "**1,400** examples of **2** classes · **1,400** distinct sentences" in said
    assert "affirmed" in said
    assert "71.4%" in said, "the baseline"
    assert not app.warning, "nothing repeats"
    assert DatasetKind.LABELED_TEXTS.in_words in said
    assert rows(app, "class") == ["affirmed"] * 10
    assert rows(app, "examples") == [1_000, 400]
    app.selectbox[next(i for i, b in enumerate(app.selectbox) if b.label == "Class")].set_value("negated").run()
    assert rows(app, "class") == ["negated"] * 10
    assert "part=transfer" in [link.proto.query_string for link in app.get("page_link")]
    assert next(t for t in app.toggle).disabled


@pytest.mark.matrix
def test_what_the_header_does_not_tell_is_chosen_and_kept(uploaded: AppTest, tmp_path: Path) -> None:
    app = uploaded
    assert not any(b.key == "upload_keep" for b in app.button)
    picker(app, "Label").set_value("kind of").run()
    assert "24 examples · 23 distinct texts" in written(app)
    (repeated,) = app.warning
    assert "**1** text has" in repeated.value
    next(b for b in app.selectbox if b.label.startswith("Split column")).set_value("when").run()
    assert "**1** of 8 test examples (12.5%)" in written(app)
    assert rows(app, "read as") == ["text", "label", "split"]
    keep(app)

    (stored,) = uploads.found(make_settings(tmp_path))
    assert app.selectbox(key="data").value == stored.reference
    assert isinstance(find_dataset(stored.reference).own, OwnLabeledTexts)
    assert rows(app, "text")[3:6] == ["*same* $x$", "*same* $x$", "*Same*  $x$"]
    assert rows(app, "also")[3:6] == ["", "", "in training"]
    next(t for t in app.toggle if t.key.startswith("example_leaks_")).set_value(True).run()
    assert rows(app, "number") == [5]
    assert rows(app, "split") == ["test"]
    next(b for b in app.selectbox if b.label == "Class").set_value("p_q").run()


def test_what_cannot_be_read_is_said_in_a_line(uploaded: AppTest) -> None:
    picker(uploaded, "Label").set_value("text").run()
    assert "each column once" in written(uploaded)
    picker(uploaded, "Text").set_value("when").run()
    (error,) = uploaded.error
    assert "class '*Same* $x$' has 1 different text (and 22 other classes)" in error.value.replace("\\", "")


def test_a_label_of_numbers_beside_two_texts_can_be_a_class(open_app: OpenApp, tmp_path: Path) -> None:
    content = lines([{"text1": f"a {i}", "text2": f"b {i}", "label": i % 2} for i in range(20)])
    app = upload(open_app(tmp_path, "data"), content, "pairs.jsonl")
    kind = next(c for c in app.segmented_control if c.label == "Read as")
    assert kind.value is None, "0 and 1 may mark matches, be scores or be classes: the reader is asked"
    kind.set_value("set of labelled texts").run()
    assert rows(app, "read as") == ["first text", "second text", "label"]
    keep(app)
    assert rows(app, "second text")[:2] == ["b 0", "b 1"]
    assert rows(app, "class")[:2] == ["0", "1"]


def test_rows_marked_as_no_match_are_asked_about_with_every_reading_in_view(open_app: OpenApp, tmp_path: Path) -> None:
    content = lines(
        [{"question1": f"a {i}", "question2": f"b {i}", "is_duplicate": int(i % 4 == 0)} for i in range(12)]
    )
    app = upload(open_app(tmp_path, "data"), content, "questions.jsonl")
    previews = [frame.value for frame in app.dataframe if set(frame.value.columns) & {"match", "score"}]
    assert list(previews[0]["match"]) == ["b 0", "b 4", "b 8"]
    assert any(list(frame["score"])[:2] == [1, 0] for frame in previews if "score" in frame)
    assert not any(button.key == "upload_keep" for button in app.button), "nothing is added before the reader chose"
    kind = next(c for c in app.segmented_control if c.label == "Read as")
    kind.set_value(kind.options[0]).run()
    keep(app)
    assert rows(app, "match") == ["b 0", "b 4", "b 8"]


def test_a_file_of_sentevals_needs_no_choice_of_columns(open_app: OpenApp, tmp_path: Path) -> None:
    content = "\n".join(length_lines()).encode()
    app = upload(open_app(tmp_path, "data"), content, "sentence_length.txt")
    assert rows(app, "read as") == ["split", "label", "text", "probing task"]
    assert rows(app, "examples") == [34, 34, 32]
    keep(app)
    (stored,) = uploads.found(make_settings(tmp_path))
    assert (stored.kind, stored.rows) == (DatasetKind.PROBING, 100)
    assert app.selectbox(key="data").value == stored.reference
    assert "part=probing" in [link.proto.query_string for link in app.get("page_link")]
