"""The first screen of an empty store."""

from __future__ import annotations

from pathlib import Path

import pytest

from blindspot.settings import ROOT
from blindspot.ui.pickers import WITH_DOORS
from blindspot.ui.widgets.doors import PROMISE
from tests.support.pages import OpenApp, written


@pytest.mark.parametrize("page", WITH_DOORS)
def test_an_empty_store_has_one_demo_button_a_field_and_no_pickers(
    open_app: OpenApp, tmp_path: Path, page: str
) -> None:
    app = open_app(tmp_path, page)
    assert [button.label for button in app.button if "demo" in button.label] == ["Run the demo"]
    assert app.text_input(key="door_model").label == "Or test your own model"
    assert not {"data", "model", "base", "metric"} & {str(one.key) for one in (*app.selectbox, *app.multiselect)}
    assert app.get("image"), "what the demo finds"
    assert PROMISE in written(app)


def test_what_is_typed_is_checked_on_models(open_app: OpenApp, tmp_path: Path) -> None:
    app = open_app(tmp_path, "findings")
    app.text_input(key="door_model").set_value(f"  {tmp_path / 'nothing here'} ").run()
    app.switch_page("pages/models.py").run()  # the app does so itself, which AppTest cannot follow
    assert "nothing here" in app.text_input(key="reference").value
    assert "nothing here" in "".join(error.value for error in app.error), "it was looked at"


def test_a_link_that_names_what_is_not_here_keeps_its_pickers(open_app: OpenApp, tmp_path: Path) -> None:
    app = open_app(tmp_path, "findings", model="gone~none")
    assert app.multiselect(key="model")
    assert "'gone'" in written(app)


def test_every_place_promises_the_same_time() -> None:
    for file in ("README.md", "docs/start.md"):
        assert PROMISE.rstrip(".") in " ".join((ROOT / file).read_text("utf-8").split()), file
