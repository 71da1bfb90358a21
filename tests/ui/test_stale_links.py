"""Links to models and datasets that were never added: a line says which, why, and leads on; nothing is loaded."""

from __future__ import annotations

from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from blindspot.encoders.transformer import hub
from blindspot.names import in_address
from blindspot.runs import encoders_here
from blindspot.ui.stale_links import STALE
from tests.support.pages import OpenApp, switch_page, written

HUB = "hf:org/never-added"


@pytest.fixture(autouse=True)
def nothing_is_added(monkeypatch: pytest.MonkeyPatch) -> None:
    def loaded(*_: object) -> None:
        pytest.fail("a link was enough to load a model")

    monkeypatch.setattr(encoders_here, "add", loaded)
    monkeypatch.setattr(hub, "snapshot", loaded)


def notice(app: AppTest) -> str:
    (line,) = [warning.value for warning in app.warning if "This link names" in warning.value]
    return str(line)


def led_on(app: AppTest) -> set[str]:
    """The buttons beside the line, but for the one that takes it away."""
    return {str(button.key) for button in app.button if str(button.key).endswith("_stale")} - {"dismiss_stale"}


@pytest.mark.parametrize(
    ("page", "address", "named", "keys"),
    [
        ("compare", {"a": f"{HUB}~none", "b": "minilm~none"}, ["'hf:org/never-added'"], {"add_stale"}),
        ("evalrank", {"base": "org/never-added"}, ["'org/never-added'"], {"add_stale"}),
        (
            "evalrank",
            {"model": [f"{HUB}~center", "fuse:minilm+hf:org/x", "fuse:+", "cat:minilm+lsa", "dir:/models/mine"]},
            [
                "'hf:org/never-added + center'",
                "'fuse:minilm+hf:org/x'",
                "nor was hf:org/x",
                "'fuse:+'",
                "'cat:minilm+lsa'",
                "'dir:/models/mine'",
            ],
            {"add_stale"},
        ),
        (
            "evalrank",
            {"model": in_address("dir:/models/mine~none"), "data": in_address("file:/texts/support.csv")},
            ["'mine'", "file or folder", "'support'"],
            {"models_stale", "data_stale"},
        ),
        (
            "evalrank",
            {"model": ["minilm@version-abcd1234~none", "minilm~whitten"]},
            ["not stored here", "no such post-processing"],
            set(),
        ),
        ("data", {"data": "file:/texts/support.csv"}, ["'support'"], set()),
    ],
)
def test_the_line_says_what_is_missing_and_leads_to_where_it_is_added(
    open_app: OpenApp,
    demo_cache: Path,
    page: str,
    address: dict[str, str | list[str]],
    named: list[str],
    keys: set[str],
) -> None:
    app = open_app(demo_cache, page, **address)
    assert all(part in notice(app) for part in named), notice(app)
    assert led_on(app) == keys


def test_the_button_fills_the_field_of_models_and_checks_nothing(open_app: OpenApp, demo_cache: Path) -> None:
    app = open_app(demo_cache, "compare", a=f"{HUB}~none", b="minilm~none")
    app.button(key="add_stale").click().run()
    switch_page(app, "models")  # the app does so itself, which AppTest cannot follow
    app.run()
    assert app.text_input(key="reference").value == HUB
    assert not app.error
    assert "This link names" not in written(app)
    assert STALE not in app.session_state


def test_a_link_to_two_models_is_said_where_nothing_was_run(open_app: OpenApp, tmp_path: Path) -> None:
    line = notice(open_app(tmp_path, "compare", a=f"{HUB}~none", b="dir:/models/mine"))
    assert "'hf:org/never-added'" in line
    assert "'dir:/models/mine'" in line


def test_a_demo_says_that_it_cannot_be_added(
    open_app: OpenApp, demo_cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BLINDSPOT_MODE", "demo")
    app = open_app(demo_cache, "evalrank", model=f"{HUB}~none")
    assert "cannot be added" in notice(app)
    assert led_on(app) == set()
