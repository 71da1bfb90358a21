"""The browse table: whichever way a row is chosen, table, box and address say the same."""

from __future__ import annotations

import json

import pandas as pd
import pytest
from streamlit.proto.WidgetStates_pb2 import WidgetState
from streamlit.testing.v1 import AppTest

from blindspot.ui.widgets.browse_table import ROWS_PER_PAGE

ROWS = 25
ORDER = [number * 7 % ROWS for number in range(ROWS)]  # of the numbers in the table; 7 and 25 share no factor


def page_with_a_table(rows: int, missing: int, dataset: str) -> None:
    import pandas as pd
    import streamlit as st

    from blindspot.ui.widgets.browse_table import BrowseTable

    table = BrowseTable("things", unit="thing", number="no.")
    numbers = [number * 7 % rows for number in range(rows)]
    found = pd.DataFrame({"no.": numbers, "name": [f"thing {number}" for number in numbers], "hidden": 0})
    if st.toggle("Few", key="few", on_change=table.to_first_page):
        found = found[found["no."] < 5]
    config = {"no.": st.column_config.NumberColumn(), "gone": None}
    table.show(found, dataset, config, hint="Choose.", view=lambda page: page[["no.", "name"]])
    numbers = set(range(rows)) - {missing}
    chosen = table.chosen(found, dataset, numbers, "is missing", last=rows)
    st.text(f"chosen: {chosen}")


def opened(dataset: str = "one", **query: str) -> AppTest:
    app = AppTest.from_function(page_with_a_table, args=(ROWS, ORDER[3], dataset))
    for name, value in query.items():
        app.query_params[name] = value
    app.run()
    return app


def says(app: AppTest, chosen: int | None, *, typed: bool = False) -> None:
    """Box, address and what the page was given name the chosen row; what is typed, a browser puts into the address."""
    assert app.text[0].value == f"chosen: {chosen}"
    assert app.number_input(key="item").value == chosen
    if not typed:
        assert app.query_params.get("item") == (None if chosen is None else str(chosen))


def listed(app: AppTest) -> list[int]:
    frame: pd.DataFrame = app.dataframe[0].value
    assert list(frame.columns) == ["no.", "name"]
    return frame["no."].tolist()


def marked(app: AppTest) -> list[int]:
    """The rows that are marked when the table is first drawn."""
    selection = json.loads(app.dataframe[0].proto.selection_default or "{}").get("selection", {})
    return list(selection.get("rows", []))


def choose_row(app: AppTest, row: int, table: str = "") -> AppTest:
    """What a browser sends when a row is chosen; AppTest has no click for it."""
    states = app._tree.get_widget_states()
    selection = json.dumps({"selection": {"rows": [row], "columns": [], "cells": []}})
    states.widgets.append(WidgetState(id=table or app.dataframe[0].proto.id, string_value=selection))
    return app._run(states)


def test_pages_and_the_chosen_row() -> None:
    app = opened()
    says(app, None)
    assert listed(app) == ORDER[:ROWS_PER_PAGE]
    choose_row(app, 2)
    says(app, ORDER[2])
    assert listed(app) == ORDER[:ROWS_PER_PAGE], "the table stays where it was chosen"
    choose_row(app, 99)  # no browser sends this, but a visitor can
    says(app, ORDER[2])


def test_a_link_turns_the_table_to_the_page_of_its_row() -> None:
    app = opened(item=str(ORDER[13]))
    says(app, ORDER[13])
    assert listed(app) == ORDER[12:18]
    assert marked(app) == [1]


def test_a_typed_number_wins_over_the_chosen_row() -> None:
    app = choose_row(opened(), 2)
    before = app.dataframe[0].proto.id
    app.number_input(key="item").set_value(ORDER[24]).run()
    says(app, ORDER[24], typed=True)
    assert listed(app) == ORDER[24:]
    assert marked(app) == [0]
    choose_row(app, 5, table=before)  # a table that is no longer on screen sends its choice once more
    says(app, ORDER[24], typed=True)


def test_previous_and_next_follow_the_table() -> None:
    app = opened()
    assert app.button(key="previous_thing").disabled
    app.button(key="next_thing").click().run()
    says(app, ORDER[0])
    assert app.button(key="previous_thing").disabled
    app.number_input(key="item").set_value(ORDER[5]).run()
    app.button(key="next_thing").click().run()
    says(app, ORDER[6])
    assert listed(app) == ORDER[6:12]
    app.button(key="previous_thing").click().run()
    says(app, ORDER[5])
    assert listed(app) == ORDER[:6]
    app.number_input(key="item").set_value(ORDER[-1]).run()
    assert app.button(key="next_thing").disabled


def test_what_is_filtered_away_can_still_be_looked_into() -> None:
    app = opened(item="12")
    app.toggle(key="few").set_value(True).run()
    says(app, 12)
    assert sorted(listed(app)) == [0, 1, 2, 3, 4]
    assert app.button(key="previous_thing").disabled
    app.button(key="next_thing").click().run()
    says(app, listed(app)[0])


@pytest.mark.parametrize("number", [ORDER[3], ROWS + 1])
def test_a_number_that_is_not_there(number: int) -> None:
    app = opened(item=str(number))
    assert app.text[0].value == "chosen: None"
    (warning,) = app.warning
    assert str(number) in warning.value
    assert ("is missing" in warning.value) == (number == ORDER[3])


def test_a_link_that_is_no_number_is_no_choice() -> None:
    says(opened(item="seven"), None)


def test_a_number_means_nothing_in_another_dataset() -> None:
    app = opened(item="3")
    app.args = (ROWS, ORDER[3], "two")
    app.run()
    says(app, None)
