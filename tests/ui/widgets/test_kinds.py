"""Kinds of rows: where all are of one kind, that is said in place of a figure of one group."""

from __future__ import annotations

from streamlit.testing.v1 import AppTest


def _of_kinds(number: int) -> None:
    import numpy as np
    import streamlit as st

    from blindspot.numerics.statistics.groups import by_value
    from blindspot.ui.widgets.kinds import are_alike

    groups = by_value("query", "relevant documents", [(f"*{i}*", np.ones(3, dtype=np.bool_)) for i in range(number)])
    st.text(str(are_alike(groups, "queries")))


def test_rows_of_one_kind_are_said_to_be_of_it() -> None:
    for number, alike in ((1, "True"), (2, "False")):
        app = AppTest.from_function(_of_kinds, args=(number,)).run()
        assert not app.exception
        assert app.text[0].value == alike
        assert [r"\*0\*" in info.value for info in app.info] == [True] * (number == 1)
