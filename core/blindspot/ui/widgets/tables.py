"""Tables of scores: the best is marked by a sign and bold type, not by color alone.

A star means tested: best, or not significantly worse than the best. Without a test an arrow means highest or lowest,
no more.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import streamlit as st

from blindspot.datasets.catalog import catalogued, limits_of, title_of
from blindspot.diagnostic import Diagnostic
from blindspot.numerics.statistics.written import SCORE, has_half, number
from blindspot.store.records import RunRecord
from blindspot.ui.markdown import as_text

if TYPE_CHECKING:
    from pandas.io.formats.style import Styler  # a quarter of a second of the first page's start

# Shown to the last digit that a tie or a change of batch size cannot move.
_DECIMALS = 3  # of scores, as in ``written.SCORE``

TESTED, HIGHEST, LOWEST = "★", "↑", "↓"


def dataset_title(dataset: str) -> str:
    """Title of a dataset, as Markdown."""
    return as_text(title_of(dataset))


def about_dataset(dataset: str) -> str:
    """What the catalog says of a dataset and its limits, after its title, as Markdown; "" for a user's file."""
    entry = catalogued(dataset)
    return f"**{dataset_title(dataset)}**: {as_text(entry.about)}" if entry else ""


def show_limits(datasets: Iterable[str]) -> None:
    """What scores on these datasets do not say, below them."""
    for sentence in limits_of(datasets):
        st.caption(as_text(sentence))


SHARES = {"percent": ".1%", "points": "+.1%"}  # Streamlit's percents have two decimals


def draw(
    rows: pd.DataFrame | Styler | Sequence[Any] | Mapping[str, Any],
    *,
    column_config: Mapping[str, Any] | None = None,
    **look: Any,
) -> None:
    """A table without its index, and with a minus sign before negative numbers, as figures and texts have it.

    Args:
        rows: records, columns by name, or a frame with its styles.
        column_config: as of ``st.dataframe``; text is the printf format of a column of numbers. *percent* is the
            format of shares, *points* that of differences of shares.
        look: as for ``st.dataframe``.
    """
    config: dict[str, Any] = {
        name: st.column_config.NumberColumn(format=column) if isinstance(column, str) else column
        for name, column in (column_config or {}).items()
    }
    if not isinstance(rows, pd.DataFrame | Sequence | Mapping):  # its styles say how to write numbers
        st.dataframe(rows, hide_index=True, column_config=config, **look)
        return
    frame = rows if isinstance(rows, pd.DataFrame) else pd.DataFrame(rows)
    columns = {name: _spec_of(frame[name], config.get(name)) for name in frame.columns}
    specs = {name: spec for name, spec in columns.items() if spec is not None}
    if not specs:
        st.dataframe(frame, hide_index=True, column_config=config, **look)
        return
    for name in specs.keys() & config.keys():
        options = {key: value for key, value in config[name]["type_config"].items() if key != "format"}
        config[name] = {**config[name], "type_config": options}  # a format would win over the Styler's text
    others = {name: "{}" for name in frame.columns if name not in specs}
    signed = {name: partial(_in_percent if spec.endswith("f%") else number, spec=spec) for name, spec in specs.items()}
    styled = frame.style.format({**others, **signed}, na_rep=look.get("placeholder", "–"))
    st.dataframe(styled, hide_index=True, column_config=config, **look)


def _spec_of(column: pd.Series[Any], config: Any) -> str | None:
    """Format of a column of shares, of percents (``_in_percent``), of numbers, some below 0, of differences, since a
    browser gives 0 a sign, and of scores that it rounds otherwise (``has_half``); None for any other, and for bars."""
    options = config.get("type_config", {}) if isinstance(config, Mapping) else {}
    if not pd.api.types.is_numeric_dtype(column) or options.get("type", "number") != "number":
        return None
    form = options.get("format")
    if form in SHARES or str(form).endswith("f%%"):
        return SHARES.get(str(form), str(form)[1:-1])
    is_rounded = form == f"%{SCORE}" and any(has_half(value) for value in column)
    if not (column < 0).any() and not is_rounded and not str(form).startswith("%+"):
        return None
    if form is None:
        return "" if pd.api.types.is_integer_dtype(column) else ".4g"
    if form == "localized":
        return ",g" if pd.api.types.is_float_dtype(column) else ","
    return str(form).removeprefix("%") if str(form).startswith("%") else None


def _in_percent(value: Any, spec: str = ".1f%") -> str:
    """A number of percents as texts and figures write the share: a half in the last digit is rounded alike."""
    return number(value / 100, spec.replace("f", ""))


def score_table(runs: Sequence[RunRecord], columns: Mapping[str, str]) -> pd.DataFrame:
    """A row per run: its variant, then the metrics named by ``columns`` (metric name to heading)."""
    return pd.DataFrame(
        [{"variant": r.plan.variant.label} | {title: r.metrics[name] for name, title in columns.items()} for r in runs]
    )


def cost_table(runs: Sequence[RunRecord]) -> pd.DataFrame:
    """Costs of the models, a row per run."""
    return pd.DataFrame(
        [
            {
                "dimension": r.manifest.get("encoder", {}).get("dimension", r.dimension),
                "parameters": r.parameters,
                "memory, MB": None if r.memory_bytes is None else r.memory_bytes / 1e6,
            }
            for r in runs
        ]
    )


def mark_best(
    frame: pd.DataFrame,
    entry: Diagnostic,
    columns: Mapping[str, str],
    alike: Mapping[str, Collection[int]] | None = None,
    written: Mapping[tuple[int, str], str] | None = None,
) -> Styler:
    """``frame`` with the best value of every score marked, and all that tie with it.

    Args:
        alike: per tested metric the rows (from 0) not significantly worse than the best; they get the star, too.
        written: text of a cell (row, metric), where it is not the bare number.
    """
    texts: dict[str, list[str]] = {}
    bold = np.zeros(frame.shape, dtype=bool)
    better = {m.name: m.higher_is_better for m in entry.metrics}
    for name, title in columns.items():
        column = frame[title]
        shown = column.round(_DECIMALS)
        higher = better[name]
        best = np.zeros(len(frame), dtype=bool)
        if higher is not None and len(frame) >= 2:
            best = (shown == (shown.max() if higher else shown.min())).to_numpy(dtype=bool, copy=True)
            best[sorted((alike or {}).get(name, ()))] = True
            bold[:, frame.columns.get_loc(title)] = best
        sign = TESTED if name in (alike or {}) else HIGHEST if higher else LOWEST
        cells = [(written or {}).get((row, name), number(value, SCORE)) for row, value in enumerate(column)]
        texts[title] = [f"{sign} {cell}" if is_best else cell for cell, is_best in zip(cells, best, strict=True)]
    styles = np.where(bold, "font-weight: bold", "")
    styler = frame.style.apply(lambda _: pd.DataFrame(styles, frame.index, frame.columns), axis=None)
    return _written(styler, frame, texts)


def mark_highest(frame: pd.DataFrame, compared: int) -> Styler:
    """A column of names, then percents: the highest of the first ``compared`` rows is marked in each column; rows below
    are in faint italics."""
    numbers = list(frame.columns[1:])
    styled = frame.style.format(dict.fromkeys(numbers, _in_percent), na_rep="–").set_properties(
        subset=pd.IndexSlice[frame.index[compared:], :], **{"font-style": "italic", "opacity": "0.75"}
    )
    for name in numbers:
        values = frame[name].iloc[:compared].round(1)
        if values.notna().sum() > 1:
            cells = pd.IndexSlice[values.index[values == values.max()], [name]]
            styled = styled.format(lambda value: f"{HIGHEST} {_in_percent(value)}", subset=cells)
            styled = styled.set_properties(subset=cells, **{"font-weight": "bold"})
    return styled


def signs_in_words(
    entry: Diagnostic, columns: Collection[str], alike: Mapping[str, Collection[int]] | None = None
) -> str:
    """Legend of the signs of ``mark_best`` that these columns can have."""
    better = {m.name: m.higher_is_better for m in entry.metrics if m.name in columns and m.higher_is_better is not None}
    untested = [is_higher for name, is_higher in better.items() if name not in (alike or {})]
    sentences = [f"{TESTED} best, or not significantly worse than the best."] if len(untested) < len(better) else []
    plain = [f"{HIGHEST} highest"] * any(untested) + [f"{LOWEST} lowest"] * (not all(untested))
    if plain:
        sentences.append(f"{', '.join(plain)} in its column (differences not tested).")
    return " ".join(sentences)


def _written(styler: Styler, frame: pd.DataFrame, texts: Mapping[str, Sequence[str]]) -> Styler:
    """Cells of some columns by their ``texts``, and the columns of costs as whole numbers.

    A Styler's formatter gets a cell's value, not its row. So one function per column looks the text up by the value;
    only cells whose value has another text in another row are set one by one, at a millisecond each.
    """
    formatters: dict[Any, str | Callable[[Any], str] | None] = {}
    apart: list[tuple[int, str, str]] = []
    for title, cells in texts.items():
        written_as: dict[float, str] = {}
        for row, (value, text) in enumerate(zip(frame[title], cells, strict=True)):
            if written_as.setdefault(float(value), text) != text:
                apart.append((row, title, text))
        formatters[title] = written_as.__getitem__
    formatters |= {c: "{:,.0f}" for c in ("dimension", "parameters", "memory, MB") if c in frame}
    styler = styler.format(formatters, na_rep="–")
    for row, title, text in apart:
        # No replacement fields: literal braces of the text are doubled.
        as_format = text.replace("{", "{{").replace("}", "}}")
        styler = styler.format(as_format, subset=pd.IndexSlice[[frame.index[row]], [title]])
    return styler
