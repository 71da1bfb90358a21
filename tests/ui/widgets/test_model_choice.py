"""The model that a page begins with."""

from __future__ import annotations

import pytest
from streamlit.testing.v1 import AppTest

from blindspot.references import ModelRef
from blindspot.ui.widgets import model_choice
from blindspot.ui.widgets.model_choice import USUAL_MODEL

NEW, OLD = (ModelRef.parse(f"dir:/models/{name}") for name in ("new", "old"))


def page(with_results: list[str]) -> None:
    import streamlit as st

    from blindspot.ui.widgets.model_choice import choose_model

    st.text(choose_model("enc", st.container(), lambda model: model in with_results))


@pytest.mark.parametrize(("with_results", "first"), [([], NEW), ([OLD], OLD), ([NEW, OLD], NEW), ([USUAL_MODEL], NEW)])
def test_it_is_the_newest_own_one_with_results_else_the_newest_own_one(
    monkeypatch: pytest.MonkeyPatch, with_results: list[ModelRef], first: ModelRef
) -> None:
    monkeypatch.setattr(model_choice, "known_references", lambda *_, **__: [NEW, OLD, USUAL_MODEL])
    monkeypatch.setattr(model_choice, "own_references", lambda *_: [NEW, OLD])
    app = AppTest.from_function(page, args=(list(map(str, with_results)),)).run()
    assert app.text[0].value == first
