"""View *ranks* of the page Evidence: models ranked by a task and by other scores (figure 4 of Wang 2022)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from blindspot.names import shortened
from blindspot.numerics.statistics.written import number
from blindspot.studies.evidence.figures import Column, Line, bump_chart
from blindspot.studies.evidence.page.choices import EvidenceView, choose
from blindspot.studies.evidence.scores import Measure, ScoreTable
from blindspot.studies.evidence.view import ranks_view
from blindspot.types import Float64
from blindspot.ui.widgets import tables
from blindspot.ui.widgets.addressed import names_of_variants, one_named
from blindspot.variants import Variant

# Figure 4's; ids of measures.
PIVOTS = ("mr", "sst2", "cr")
COLUMNS = ("sst2", "evalrank:evalrank-sent:mrr", "similarity:stsb-test:spearman", "similarity:str:spearman")
WORD_COLUMNS = ("evalrank:evalrank-word:mrr", "similarity:ws353:spearman", "similarity:rw:spearman")
USUAL = 4  # columns besides the pivot
ENCODER_WIDTH, TRANSFORM_WIDTH = 18, 12  # characters of a variant's short name


def show(shown: EvidenceView) -> None:
    """A bump chart and its numbers."""
    table = shown.table
    left, middle, right = st.columns([2, 3, 2], vertical_alignment="top")
    with left:
        measures = (*table.tasks, *table.evaluators)
        by_id = {m.id: m for m in measures}
        pivot = choose("Rank by", measures, "ev_pivot", next((by_id[i] for i in PIVOTS if i in by_id), measures[0]))
    columns = _columns(middle, table, pivot)
    ids = [str(variant) for variant in table.variants]
    called = names_of_variants(ids)
    highlight = one_named(
        "Highlight",
        [*table.family_list, *ids],
        key="ev_highlight",
        name=lambda name: called(name) if name in ids else name,
        container=right,
        placeholder="None",
        help="A family or one model; the others are faded.",
    )
    if not columns:
        st.info("No other score to rank by.", icon=":material/info:")
        return
    table = table.columns([pivot, *columns])
    whole = len(table.variants)
    table = table.rows(~np.isnan(row).any() for row in table.values)
    if len(table.variants) < 2:
        st.info(
            f"{len(table.variants)} of {whole} models have all of these {len(table.measures)} scores: choose fewer "
            "columns, or rank by another score.",
            icon=":material/info:",
        )
        return
    ranks = ranks_view(table)
    heads = [
        Column(_short(m, table.measures), "ranked by" if m == pivot else _rho(rho))
        for m, rho in zip(table.measures, ranks.rho, strict=True)
    ]
    st.plotly_chart(bump_chart(_lines(table, ranks.places, shown, highlight), heads, shown.scheme), key="ev_bump")
    left_out = whole - len(table.variants)
    st.caption(
        f"{len(table.variants)} models of {len(table.family_list)} families, the best on top; ties share the mean of "
        "their ranks. Numbers at both ends: rank in the first column. Below a column's name: its rho with the first "
        "column, over these models. Where lines cross, two scores disagree on the order."
        + (f" {left_out} models lack one of these scores and are left out." if left_out else "")
    )
    with st.expander("The ranks", icon=":material/table:"):
        tables.draw(_rows(table, ranks.places), key="ev_places")


def _lines(table: ScoreTable, places: Float64, shown: EvidenceView, highlight: str | None) -> list[Line]:
    return [
        Line(
            variant.label,
            short_name(variant),
            places[row].tolist(),
            [f"{value:.4g}" for value in table.values[row]],
            shown.styles[variant],
            is_faint=bool(highlight) and highlight not in {family, str(variant)},
        )
        for row, (variant, family) in enumerate(zip(table.variants, table.families, strict=True))
    ]


def _columns(container: DeltaGenerator, table: ScoreTable, pivot: Measure) -> list[Measure]:
    others = [m for m in (*table.tasks, *table.evaluators) if m != pivot]
    usual = [m for i in (*COLUMNS, *WORD_COLUMNS) for m in others if m.id == i]
    usual = list(dict.fromkeys([*(m for m in others if m.is_task), *usual] if len(usual) < USUAL else usual))
    usual = (usual if len(usual) > 1 else list(dict.fromkeys([*usual, *others])))[:USUAL]
    chosen = container.multiselect(
        "Columns",
        [m.id for m in others],
        key="ev_columns",
        bind="query-params",
        wrap=True,
        placeholder="As in figure 4, where available",
        help="Further tasks and scores to rank by, in this order.",
    )
    return [m for i in chosen for m in others if m.id == i] or usual


def _short(measure: Measure, among: Sequence[Measure]) -> str:
    """A column's name, with its source if another column has the same name."""
    if measure.is_task:
        return measure.label
    if measure.diagnostic == "similarity":
        return measure.source
    same = sum(m.name == measure.name for m in among) > 1
    return f"{measure.name}{f' {measure.source}' if same else ''}"


def _rho(rho: float) -> str:
    return "all tied" if np.isnan(rho) else f"ρ {number(rho, '.2f')}"


def short_name(variant: Variant) -> str:
    """A variant's label, shortened to fit next to the lines."""
    encoder = Variant(variant.encoder, "none").label.rpartition(":")[2].removesuffix(".txt")
    encoder = shortened(encoder, ENCODER_WIDTH)
    return encoder if variant.transform == "none" else f"{encoder} + {shortened(variant.transform, TRANSFORM_WIDTH)}"


def _rows(table: ScoreTable, places: Float64) -> dict[str, Sequence[object]]:
    order = np.argsort(places[:, 0], kind="stable")
    return {
        "model": [table.variants[i].label for i in order],
        "family": [table.families[i] for i in order],
        **{measure.label: places[order, column].tolist() for column, measure in enumerate(table.measures)},
    }
