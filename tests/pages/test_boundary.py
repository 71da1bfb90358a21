"""The error boundary: what fails is said in one line in its place, logged with its traceback; the rest stays."""

from __future__ import annotations

import ast
import logging
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from tests.support import sources


def failing_parts() -> None:
    import streamlit as st

    from blindspot.errors import InputError
    from blindspot.ui.boundary import errors_shown, fragment

    @fragment
    def broken(key: str) -> None:
        st.button("again", key=key)
        {}["points"]

    with errors_shown():
        raise InputError("there is no file /srv/a/b.csv", remedy="put it back")
    broken("one")
    with errors_shown(), st.container(), st.form("form"):
        raise ValueError("<b>two</b>\nlines")
    st.caption("the end")


def test_the_rest_of_a_page_stands(unforeseen: list[logging.LogRecord]) -> None:
    app = AppTest.from_function(failing_parts).run()
    foreseen, lookup, value = (error.value for error in app.error)
    assert "there is no file /srv/a/b.csv; put it back" in foreseen
    assert "KeyError" in lookup
    assert "ValueError" in value
    assert "<b>" not in value, "shown as text"
    assert "\n" not in value, "in one line"
    assert [caption.value for caption in app.caption] == ["the end"]
    assert [type(record.exc_info[1]) for record in unforeseen if record.exc_info] == [KeyError, ValueError]
    numbers = [str(record.args[0]) for record in unforeseen if isinstance(record.args, tuple)]
    assert all(number in said for number, said in zip(numbers, (lookup, value), strict=True))
    app.button(key="one").click().run()
    unforeseen.clear()


def test_a_demo_does_not_say_what_an_unforeseen_error_was(
    monkeypatch: pytest.MonkeyPatch, unforeseen: list[logging.LogRecord], tmp_path: Path
) -> None:
    monkeypatch.setenv("BLINDSPOT_MODE", "demo")
    monkeypatch.setenv("BLINDSPOT_CACHE", str(tmp_path))
    app = AppTest.from_function(failing_parts).run()
    assert len(app.error) == 3
    assert not any(word in error.value for error in app.error for word in ("KeyError", "lines", "/srv"))
    assert app.error[0].value == "there is no file b.csv; put it back"
    assert len(unforeseen) == 2
    unforeseen.clear()


def test_every_fragment_is_within_the_boundary() -> None:
    for path in sources.product():
        text = sources.text(path)
        if path.name == "boundary.py" or not ("st.fragment" in text or "st.dialog" in text):
            continue
        bare = [
            node.lineno
            for node in ast.walk(sources.tree(path))
            if isinstance(node, ast.Attribute)
            and node.attr in {"fragment", "dialog"}
            and isinstance(node.value, ast.Name)
            and node.value.id == "st"
        ]
        assert not bare, f"{path.name}, line {bare}: use blindspot.ui.boundary.fragment"
