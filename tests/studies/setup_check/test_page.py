"""The set-up check on Models by AppTest: a stored report, the link to it, and the button."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from blindspot.files.writing import write_atomically
from blindspot.studies.setup_check.results import Report, Result, State
from blindspot.studies.setup_check.task import SetupCheck, find, path_of
from blindspot.ui.resources import jobs
from tests.conftest import make_settings
from tests.support.pages import OpenApp

REPORT = Report(
    "minilm-cls",
    "minilm",
    (
        Result("repeat", State.OK, "Fine.", "", {"most": 0.0}),
        Result("pooling", State.WRONG, "Fits <b>another</b>.", "Set the pooling.", {"best": "first token"}),
    ),
    (("<i>a text</i>", "emoji", 0.25),),
    400,
    60,
    12.5,
    "identity",
    "2026-11-23T12:00:00+00:00",
)


def keep(report: Report, cache: Path) -> None:
    import json

    path = path_of(SetupCheck(report.encoder, report.reference), make_settings(cache))
    write_atomically(path, lambda file: file.write(json.dumps(report.to_json()).encode()))


def tables(app: object) -> str:
    return " ".join(element.proto.body for element in app.get("html"))  # type: ignore[attr-defined]


def test_a_kept_report_is_shown_where_the_link_says(open_app: OpenApp, demo_copy: Path) -> None:
    keep(REPORT, demo_copy)
    keep(replace(REPORT, reference="", results=REPORT.results[:1], made="2026-11-22T12:00:00+00:00"), demo_copy)
    app = open_app(demo_copy, "models", shown="minilm-cls", reference_model="minilm")
    shown = tables(app)
    assert shown.index("Fits &lt;b&gt;another") < shown.index("Fine.")
    assert "&lt;i&gt;a text" in shown
    assert app.error[0].value == REPORT.headline
    assert app.warning  # the identity is another now
    assert app.query_params["reference_model"] == "minilm"


def test_without_a_choice_the_last_report_is_shown_and_linked(open_app: OpenApp, demo_copy: Path) -> None:
    keep(REPORT, demo_copy)
    app = open_app(demo_copy, "models", shown="minilm-cls")
    assert app.selectbox(key="reference_model").value == "minilm"
    assert app.query_params["reference_model"] == "minilm"
    app.selectbox(key="shown").set_value("minilm").run()
    assert app.selectbox(key="reference_model").value is None
    assert "Fits" not in tables(app)


def test_the_button_queues_the_check(open_app: OpenApp, demo_copy: Path) -> None:
    app = open_app(demo_copy, "models", shown="random-projection")
    assert find("random-projection", "", make_settings(demo_copy)) is None
    app.button(key="setup_check").click().run()
    (job,) = [job for job in jobs().jobs() if job.space_tasks]
    assert job.tasks == (SetupCheck("random-projection"),)


@pytest.mark.heavy
def test_what_learns_from_texts_is_not_offered_a_check(open_app: OpenApp, demo_copy: Path) -> None:
    app = open_app(demo_copy, "models", shown="lsa")
    assert not any(button.key == "setup_check" for button in app.button)
