"""Minimal pairs made on the page *Data*: kinds, preview, rejections, the dataset, and what a visitor of a demo may."""

from __future__ import annotations

from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from blindspot.datasets import uploads
from blindspot.datasets.kinds.base import DatasetKind
from blindspot.datasets.perturbations import making
from blindspot.settings import Mode
from tests.conftest import make_settings
from tests.support.data_page import rows
from tests.support.pages import OpenApp

TEXTS = (
    "She went home before 9:40 on Monday.",
    "The dog chased 12 cats and <b>John</b>.",
    "Maria was in Berlin with all the others.",
    "Кошка спит.",
)


def typed(app: AppTest, texts: tuple[str, ...] = TEXTS) -> AppTest:
    return app.text_area(key="make_texts").set_value("\n".join(texts)).run()


def boxes(app: AppTest) -> list[str]:
    return [box.key for box in app.checkbox if box.key and box.key.startswith("make_accept_")]


def test_texts_become_a_picked_dataset_without_what_was_rejected(open_app: OpenApp, tmp_path: Path) -> None:
    app = open_app(tmp_path, "data")
    assert len(rows(app, "right")) == 19
    typed(app)
    assert not app.exception
    made = making.propose(TEXTS)
    frame = next(f.value for f in app.dataframe if "accepted" in f.value)
    by_kind = dict(zip(frame["kind"], frame["accepted"], strict=True))
    assert by_kind["date"] == sum(p.rule.kind == "date" for p in made.proposals)
    assert by_kind["position"] == 30
    assert 0 in by_kind.values(), "no text has anything of these kinds"
    assert sum(by_kind.values()) == len(made.proposals)
    first = made.proposals[0]
    assert boxes(app)[0] == f"make_accept_{first.id}"
    app.checkbox(key=f"make_accept_{first.id}").set_value(False).run()
    assert len(app.selectbox(key="make_shown").options) == 1 + len({p.rule.kind for p in made.proposals})
    app.selectbox(key="make_shown").set_value("word_order").run()
    app.button(key="make_reject_all").click().run()
    app.multiselect(key="make_kinds").set_value([]).run()
    app.selectbox(key="make_shown").set_value("all kinds").run()
    assert not app.checkbox(key=f"make_accept_{first.id}").value, "kept as long as texts and seed are the same"
    rejected = {first.id, *(p.id for p in made.proposals if p.rule.kind == "word_order")}
    app.button(key="make_keep").click().run()
    assert not app.error
    (stored,) = uploads.found(make_settings(tmp_path))
    assert stored.kind is DatasetKind.MINIMAL_PAIR_SET
    assert stored.rows == len(making.rows(made, rejected))
    assert app.selectbox(key="data").value == stored.reference


def test_changed_words_are_marked_and_texts_are_no_html(open_app: OpenApp, tmp_path: Path) -> None:
    app = typed(open_app(tmp_path, "data"), TEXTS[:2])
    app.selectbox(key="make_shown").set_value("number").run()
    shown = "".join(html.proto.body for html in app.get("html"))
    assert "<ins" in shown
    assert "&lt;b&gt;John" in shown
    assert "<b>" not in shown


def test_reasons_are_shown_and_what_no_rule_can_change(open_app: OpenApp, tmp_path: Path) -> None:
    app = typed(open_app(tmp_path, "data"))
    app.selectbox(key="make_shown").set_value("date").run()
    assert any("Cyrillic" in reason for reason in rows(app, "reason"))
    app.multiselect(key="make_kinds").set_value(["entity", "date"])
    typed(app, ("12 34", "56"))
    assert len(app.error) == 1
    assert not any(button.key == "make_keep" for button in app.button)
    app.multiselect(key="make_kinds").set_value([])
    typed(app, ("Hi.",))
    assert not app.exception
    assert not app.error


def test_another_seed_starts_anew(open_app: OpenApp, tmp_path: Path) -> None:
    app = typed(open_app(tmp_path, "data"))
    (first, *_) = boxes(app)
    app.checkbox(key=first).set_value(False).run()
    app.number_input(key="make_seed").set_value(1).run()
    assert all(app.checkbox(key=key).value for key in boxes(app))
    app.number_input(key="make_seed").set_value(0).run()
    assert not app.checkbox(key=first).value


@pytest.mark.process
def test_a_visitors_are_the_visitors_and_limited(
    open_app: OpenApp, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BLINDSPOT_MODE", Mode.DEMO)
    app = typed(open_app(tmp_path, "data"))
    app.button(key="make_keep").click().run()
    assert not app.error
    settings = make_settings(tmp_path)
    assert not uploads.found(settings)
    (upload,) = settings.sessions.rglob("upload.json")
    assert upload.is_file()
    many = b"\n".join(b"Text number %d is long." % n for n in range(501))
    box = next(box for box in app.file_uploader if box.key == "make_file")
    box.set_value(("many.txt", many, "text/plain")).run()
    assert any("500" in error.value for error in app.error)
