"""The table of scores: every cell says what a loop over cells would write, and the best stand out."""

from __future__ import annotations

import pandas as pd
import pyarrow as pa
from hypothesis import given, settings
from hypothesis import strategies as st
from streamlit.testing.v1 import AppTest

from blindspot.diagnostic import find_diagnostic
from blindspot.ui.widgets import tables

ENTRY = find_diagnostic("evalrank")
COLUMNS = {"mrr": "MRR", "mean_rank": "mean rank", "tied_pairs": "tied pairs"}  # more, less, and neither is better
FEW = st.sampled_from([0.0, 0.25, 0.250001, 0.5, 1.0])  # so that ties, and rows that only look alike, come up


@st.composite
def given_tables(draw: st.DrawFn) -> tuple[pd.DataFrame, dict[str, list[int]], dict[tuple[int, str], str]]:
    rows = draw(st.integers(1, 6))
    frame = pd.DataFrame(
        {"variant": [f"v{i}" for i in range(rows)]}
        | {title: draw(st.lists(FEW, min_size=rows, max_size=rows)) for title in COLUMNS.values()}
        | {"parameters": [None, *range(1_000, 1_000 + rows - 1)]}
    )
    alike = {"mrr": draw(st.lists(st.integers(0, rows - 1), unique=True))}
    cells = st.tuples(st.integers(0, rows - 1), st.sampled_from(list(COLUMNS)))
    written = draw(st.dictionaries(cells, st.sampled_from(["0.250 [0.1, 0.4]", "0.250 [0.2, 0.3]"]), max_size=8))
    return frame, alike, written


def shown(frame: pd.DataFrame, alike: dict[str, list[int]], written: dict[tuple[int, str], str]) -> list[list[str]]:
    """A loop over cells: what is written, with an asterisk in front where it is bold."""
    better = {m.name: m.higher_is_better for m in ENTRY.metrics}
    out = []
    for row in range(len(frame)):
        line = []
        for name, title in COLUMNS.items():
            values = [round(value, 3) for value in frame[title]]
            best = False
            if better[name] is not None and len(frame) > 1:
                best = values[row] == (max if better[name] else min)(values) or row in alike.get(name, [])
            text = written.get((row, name), f"{frame[title][row]:.3f}")
            sign = "★" if name in alike else "↑" if better[name] else "↓"
            line.append(f"*{sign} {text}" if best else text)
        number = frame["parameters"][row]
        out.append([str(frame["variant"][row]), *line, "–" if pd.isna(number) else f"{number:,.0f}"])
    return out


@settings(max_examples=25, deadline=None)
@given(given_tables())
def test_every_cell_is_written_as_by_a_loop(
    table: tuple[pd.DataFrame, dict[str, list[int]], dict[tuple[int, str], str]],
) -> None:
    frame, alike, written = table
    styler = tables.mark_best(frame, ENTRY, COLUMNS, alike, written)
    styler._compute()  # as Streamlit does, and reads what comes out
    drawn = styler._translate(sparse_index=False, sparse_cols=False)
    bold = {
        cell for style in drawn["cellstyle"] if ("font-weight", "bold") in style["props"] for cell in style["selectors"]
    }
    cells = [
        [f"*{c['display_value']}" if c["id"] in bold else c["display_value"] for c in row if c["type"] == "td"]
        for row in drawn["body"]
    ]
    assert cells == shown(frame, alike, written)


def test_percents_have_their_sign_and_the_highest_of_those_compared_its_mark() -> None:
    frame = pd.DataFrame(
        {"model": ["a", "b", "always the same"], "task": [53.75, 90.21, 95.0], "new": [None, 50.0, 1.0]}
    )
    styler = tables.mark_highest(frame, compared=2)
    styler._compute()
    drawn = styler._translate(sparse_index=False, sparse_cols=False)
    cells = [[cell["display_value"] for cell in row if cell["type"] == "td"][1:] for row in drawn["body"]]
    assert cells == [["53.7%", "–"], [f"{tables.HIGHEST} 90.2%", "50.0%"], ["95.0%", "1.0%"]]


def _drawn() -> None:
    import pandas as pd
    import streamlit as st

    from blindspot.ui.widgets import tables

    frame = pd.DataFrame(
        {
            "model": ["a", "b"],
            "difference": [-4.5, 12.75],
            "n": [-1, 2],
            "score": [0.5, 0.25],
            "share": [2 / 3, 1],
            "right": [53.75, 100.0],
            "points": [-0.0426, 0.123],
            "gain": [0.0, 0.12],
        }
    )
    number = st.column_config.NumberColumn
    config = {
        "difference": number(format="%+.1f", help="Points"),
        "score": number(format="%.2f"),
        "share": number(format="percent"),
        "right": number(format="%.1f%%"),
        "points": number(format="points"),
        "gain": number(format="%+.3f"),
    }
    tables.draw(frame, column_config=config, key="signed")


def test_negative_numbers_have_a_minus_sign_shares_one_digit_and_both_stay_numbers() -> None:
    app = AppTest.from_function(_drawn).run()
    (table,) = app.dataframe
    assert table.value["difference"].tolist() == [-4.5, 12.75]
    shown = pa.ipc.open_stream(table.proto.arrow_data.styler.display_values).read_pandas()
    assert shown["difference"].tolist() == ["−4.5", "+12.8"]
    assert shown["n"].tolist() == ["−1", "2"]
    assert shown["share"].tolist() == ["66.7%", "100.0%"], "as in sentences"
    assert shown["right"].tolist() == ["53.7%", "100.0%"], "as the share is written in a headline and a figure"
    assert shown["points"].tolist() == ["−4.3 points", "+12.3 points"]
    assert shown["gain"].tolist() == ["0.000", "+0.120"], "0 has no sign"
    assert shown["model"].tolist() == ["a", "b"]
