"""Views *grid*, *ranking*, *agreement* and *order* of the Lab."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np
import streamlit as st

from blindspot.figures import grids
from blindspot.names import current
from blindspot.numerics.statistics.written import number, percent
from blindspot.studies.evidence.page import beside
from blindspot.studies.lab.grid import Measure, Scores
from blindspot.studies.lab.orders import Effect, Knob, Order, effects, in_words, orders, places
from blindspot.studies.lab.orders import agreement as agreement_of
from blindspot.studies.lab.page.progress import LabView
from blindspot.texts import counted
from blindspot.ui.markdown import as_text
from blindspot.ui.widgets import tables
from blindspot.ui.widgets.choices import one_of

KINDS = {"kendall": "Kendall's τ-b", "spearman": "Spearman's ρ"}
MOST_SETTINGS = 60  # in a chart
MOST_PAIRS = 40


def grid(shown: LabView) -> None:
    """A heat map per chosen score."""
    for measure in shown.measures:
        with st.container():  # keeps its place, so that a first figure moves nothing below
            _one(shown, measure)
    with st.expander("The numbers", icon=":material/table:"):
        tables.draw(_numbers(shown.scores), key="lab_numbers")


def _one(shown: LabView, measure: Measure) -> None:
    keep = [i for i, setting in enumerate(shown.scores.settings) if setting.measure == measure]
    scores = shown.scores.only(keep)
    st.markdown(f"**{as_text(measure.label)}**")
    if np.isnan(scores.values).all():
        st.caption("No runs yet: compute the grid above.")
        return
    missing, cells = int(np.isnan(scores.values).sum()), scores.values.size
    scores = scores.without_gaps()
    labels = [f"{setting.chain} · {setting.metric}" for setting in scores.settings]
    figure = grids.score_grid(scores.values, _names(scores), labels, measure.direction, shown.scheme)
    st.plotly_chart(figure, key=f"lab_grid_{measure}")
    what = next((m.description for m in measure.task.entry.metrics if m.name == measure.score), "")
    order = {
        1: "Higher is better: bluer.",
        -1: "Lower is better: bluer.",
        0: "It describes the space; neither is better.",
    }
    sentences = [f"{what[:1].upper()}{what[1:]}.", order[measure.direction]]
    if measure.is_described and measure.direction:
        sentences.append("It only describes the space, so it is not in the sentences above.")
    if not measure.task.entry.has_metric:
        sentences.append("Cosine only.")
    if missing:
        dashes = " (–), rows and columns without a score left out" if cells > missing else ""
        sentences.append(f"{missing} of {cells} cells not computed{dashes}.")
    st.caption(as_text(" ".join(sentences)))


def _numbers(scores: Scores) -> dict[str, list[object]]:
    columns: dict[str, list[object]] = {
        "score": [s.measure.label for s in scores.settings],
        "post-processing": [s.chain for s in scores.settings],
        "similarity": [s.metric for s in scores.settings],
    }
    for row, name in enumerate(_names(scores)):
        columns[name] = [None if np.isnan(v) else float(v) for v in scores.values[row]]
    return columns


# --- rankings


def ranking(shown: LabView) -> None:
    """A slope chart of the encoders' places."""
    if not _can_rank(shown):
        return
    scores = _first(shown.ranked)
    of_each = places(scores, shown.decimals)
    figure = grids.place_lines(of_each, scores.values, _names(scores), _labels(scores), shown.styles, shown.scheme)
    st.plotly_chart(figure, key="lab_places")
    st.caption(
        "One row per setting. Models whose lines do not cross keep their order. Ties share the mean of their places; "
        f"scores are compared to {shown.decimals} decimals."
    )


def agreement(shown: LabView) -> None:
    """The effect of each choice alone on the ranking, and the correlation of every two settings."""
    if not _can_rank(shown):
        return
    ranked_effects = effects(shown.ranked, shown.decimals)
    if ranked_effects:
        st.markdown("\n".join(f"- {_effect_in_words(effect)}" for effect in ranked_effects))
        tables.draw(_effect_table(ranked_effects), key="lab_effects")
    kind = one_of(
        "Correlation",
        KINDS,
        "lab_correlation",
        "Correlation of two rankings. kendall: τ-b, pairs of models in the same order minus pairs in the opposite "
        "order. spearman: correlation of the places.",
    )
    scores = _first(shown.ranked)
    values = agreement_of(scores, kind, shown.decimals)
    st.plotly_chart(grids.agreement_matrix(values, _labels(scores), shown.scheme), key="lab_agreement")
    few = int((~np.isnan(scores.values)).sum(axis=0).min())
    st.caption(
        f"{KINDS[kind]} of the rankings of {counted(few, 'model')} by every two settings: 1 is the same ranking, −1 "
        "the opposite. With few models it moves in large steps. Empty: all models are tied under a setting."
    )


def _effect_in_words(effect: Effect) -> str:
    pairs = f"{effect.pairs:,} pair{'s' if effect.pairs != 1 else ''} of settings"
    if effect.same == 1.0:
        return f"**The {effect.knob}** alone never changes the ranking ({pairs})."
    return (
        f"**The {effect.knob}** alone leaves the ranking unchanged in {percent(effect.same)} of cases ({pairs}); τ-b "
        f"is {number(effect.mean, '.2f')} on average, {number(effect.least, '.2f')} at least."
    )


def _effect_table(ranked_effects: Sequence[Effect]) -> dict[str, object]:
    return {
        "choice": [str(e.knob) for e in ranked_effects],
        "pairs of settings": [e.pairs for e in ranked_effects],
        "same ranking": [percent(e.same) for e in ranked_effects],
        "mean τ-b": [round(e.mean, 3) for e in ranked_effects],
        "least τ-b": [round(e.least, 3) for e in ranked_effects],
    }


def _first(scores: Scores) -> Scores:
    if len(scores.settings) <= MOST_SETTINGS:
        return scores
    st.caption(f"The first {MOST_SETTINGS} of {len(scores.settings)} settings. Choose fewer above.")
    return scores.only(range(MOST_SETTINGS))


def _names(scores: Scores) -> list[str]:
    return list(map(current().model, scores.encoders))


def _labels(scores: Scores) -> list[str]:
    measures = {s.measure for s in scores.settings}
    names = Counter(measure.name for measure in measures)  # without the dataset, where that is clear: rows are narrow
    return [
        " · ".join(
            [s.measure.name if names[s.measure.name] == 1 else s.measure.label] * (len(measures) > 1)
            + [s.chain, s.metric]
        )
        for s in scores.settings
    ]


def _can_rank(shown: LabView) -> bool:
    if len(shown.grid.encoders) < 2:
        st.info("One model cannot be ranked alone: choose a second one above.", icon=":material/info:")
        return False
    if not shown.ranked.settings:
        st.info(
            "No setting has scores of two models to rank yet. Compute the grid above, or choose other scores under "
            "Options.",
            icon=":material/info:",
        )
        return False
    return True


# --- order


def by_pair(shown: LabView) -> None:
    """A sentence per pair of models, filtered by stability and by the choice that the order depends on."""
    rankings = orders(shown.ranked, shown.decimals)
    if not rankings:
        st.info(
            "No two models have a score under the same setting yet: choose two models, and compute the grid above.",
            icon=":material/info:",
        )
        return
    stable = sum(v.is_stable for v in rankings)
    tied = sum(v.is_tied for v in rankings)
    equal = f", {tied} score the same throughout" if tied else ""
    st.markdown(
        f"Of {counted(len(rankings), 'pair')} of models, **{stable} keep their order** under every choice{equal}; the "
        f"order of **{len(rankings) - stable - tied} depends** on a choice. This compares scores, which are not tested."
    )
    left, right = st.columns(2)
    about = "stable: one model never scores worse. depends: each scores better somewhere."
    which = one_of("Order", ("all", "stable", "depends"), "lab_order", about, container=left)
    knobs = right.pills(
        "Depends on",
        [str(knob) for knob in Knob],
        selection_mode="multi",
        key="lab_knob",
        bind="query-params",
        help="Only pairs whose order this choice alone reverses; with several, any of them.",
    )
    kept = [v for v in rankings if _keeps(v, which, [str(k) for k in knobs])]
    for order in kept[:MOST_PAIRS]:
        icon = "lock" if order.is_stable else "equal" if order.is_tied else "swap_vert"
        st.markdown(f":material/{icon}: {as_text(in_words(order))}")
    if len(kept) > MOST_PAIRS:
        st.caption(f"and {len(kept) - MOST_PAIRS} more pairs")
    if not kept:
        st.caption("No pair matches. Remove a filter.")
    st.caption(
        "A case is a set of settings that differ in this choice alone; the choice reverses it if each model "
        f"scores better somewhere in it. Scores are compared to {shown.decimals} decimals. *Compare* tests two models."
    )


def _keeps(order: Order, which: str, knobs: Sequence[str]) -> bool:
    if which == "stable" and not order.is_stable:
        return False
    if which == "depends" and (order.is_stable or order.is_tied):
        return False
    return not knobs or any(str(flip.knob) in knobs for flip in order.flips)


# --- published


def published(shown: LabView | None = None) -> None:  # noqa: ARG001 - it reads all runs of the store
    """What papers found when they changed the similarity or the post-processing, beside all runs of the store."""
    for table in ("wang-10", "wang-1b", "eger-2"):
        beside.show(table)
