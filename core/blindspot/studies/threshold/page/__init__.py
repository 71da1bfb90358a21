"""Page *Threshold*: the answer, the curves, and what the threshold depends on."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import partial

import streamlit as st

from blindspot import ui
from blindspot.errors import InputError
from blindspot.studies.threshold import figures, view
from blindspot.studies.threshold.page import views
from blindspot.studies.threshold.page.source import Source, say_pairs, source
from blindspot.studies.threshold.page.views import Shown
from blindspot.studies.threshold.pairs import Measured, Rule
from blindspot.ui import headline
from blindspot.ui.markdown import as_text
from blindspot.ui.resources import explained, scheme
from blindspot.ui.variant_looks import variant_styles
from blindspot.ui.widgets import downloads, tables
from blindspot.ui.widgets.addressed import one_named
from blindspot.ui.widgets.downloads import Holds
from blindspot.ui.widgets.views import View, choose_view
from blindspot.variants import Variant

CUTS = 20  # steps of the scores' range

HOW = r"""
- **Precision** is the share of the pairs called the same that are, **recall** the share of the same pairs that are
  called. A pair is called the same if its similarity is at least the threshold.
- **Which texts are the same**: of scored pairs those from the chosen score on; of labeled pairs those with the chosen
  label. Of labeled single texts pairs are sampled: half of one class, a quarter random pairs of different classes, a
  quarter *hard* ones, which share most words with a text of another class; no text is in two pairs.
- **Bands** and intervals are pointwise 95% Wilson intervals for the effective number of independent pairs: pairs that
  share a text, directly or through others, are not independent.
- **The threshold** is the lowest with the wished precision from which on there are at least eight pairs. Its interval
  begins at the lowest threshold whose interval of precision reaches the wish, and ends at the lowest that is safe, by
  an exact bound that holds for all thresholds at once: a threshold is called safe wrongly in at most 5% of cases.
- **Precision depends on the share of same pairs.** A threshold found where half of the pairs are the same has a lower
  precision where one in a hundred is. Use pairs as they occur in your application.
- **Calibration**: isotonic regression and Platt's logistic curve, cross-fitted in five folds of whole groups of pairs.
  Brier's score is the mean squared error; the ECE the mean distance of ten bins from the diagonal.
"""

# The keys are also in the address; the first is the default.
VIEWS: Mapping[str, View[Shown]] = {
    "groups": View("Does the threshold move with length, shared words or domain?", views.show_groups),
    "calibration": View("Which probability does a similarity stand for?", views.show_calibration),
    "another model": View("What if this threshold is used with another model?", views.show_other),
}


def show() -> None:
    """The page."""
    picks = ui.page("Threshold", "From which similarity on are two texts the same?")
    with ui.errors_shown():
        if chosen_source := source(picks):
            _answer(chosen_source)
    ui.how(HOW)


def _answer(chosen_source: Source) -> None:
    measured = chosen_source.measured
    with st.container(horizontal=True, vertical_alignment="bottom"):
        precision = st.number_input(
            "Wished precision",
            0.5,
            0.999,
            view.PRECISION,
            0.01,
            format="%.3f",
            key="wish",
            bind="query-params",
            width=160,
        )
        rule = _rule(measured)
        container = st.container()
    if doubt := views.doubt(measured, rule):
        st.warning(doubt, icon=":material/swap_vert:")
    try:
        wished = views.answered(measured, chosen_source.a, rule, float(precision))
    except InputError as error:  # too few pairs, or all of one kind
        st.info(as_text(explained(error)), icon=":material/info:")
        return
    shown = Shown(chosen_source, rule, wished, scheme())
    if chosen_source.b is None or chosen_source.b == chosen_source.a:
        headline.show(view.in_words(shown.found))
        st.markdown(view.certainty(shown.found))
        figure = figures.curves(views.drawn(measured, chosen_source.a, rule), shown.found, shown.scheme)
    else:
        figure = figures.curves_of_two(_of_two(shown, chosen_source.b), shown.scheme)
    st.plotly_chart(figure, key="threshold_curves")
    say_pairs(chosen_source, int(measured.same(rule).sum()))
    tables.show_limits([measured.dataset])
    with container:
        downloads.button(
            "JSON",
            partial(_file, shown),
            Holds(measured.dataset, chosen_source.runs),
            file_name=f"{downloads.stem_of('threshold', measured.dataset, chosen_source.a.label)}.json",
            mime=downloads.JSON,
            key="threshold_json",
            help="Threshold, interval, precision, recall and both calibrations, for a program.",
        )
    choose_view(shown, VIEWS)


def _of_two(shown: Shown, b: Variant) -> list[figures.Curves]:
    """Say the threshold of both models; the curves of both."""
    measured, rule, wish = shown.source.measured, shown.rule, shown.found.precision
    answers = {shown.source.a: shown.found, b: views.answered(measured, b, rule, wish)}
    headline.show(view.of_two({as_text(variant.label): answer for variant, answer in answers.items()}, wish))
    for variant, answer in answers.items():
        sentence = view.certainty(answer)
        st.markdown(f"With {as_text(variant.label)}: {sentence[0].lower()}{sentence[1:]}")
    looks = variant_styles(answers)
    return [
        figures.Curves(variant.label, views.drawn(measured, variant, rule), answer, looks[variant])
        for variant, answer in answers.items()
    ]


def _rule(measured: Measured) -> Rule:
    """The reader's choice of what makes two texts the same."""
    usual = measured.usual_rule()
    if measured.says_same:
        return usual
    if measured.scores is not None and len(measured):
        low, high = float(measured.scores.min()), float(measured.scores.max())
        steps = [round(low + (high - low) * step / CUTS, 6) for step in range(1, CUTS + 1)]
        cuts = list(dict.fromkeys(f"{step:g}" for step in steps))
        index = cuts.index(f"{usual.cut:g}") if f"{usual.cut:g}" in cuts else len(cuts) - 1
        chosen = one_named("Same from score", cuts, index=index, key="cut", name=str, width=160)
        return Rule(cut=float(chosen or cuts[index]))
    if len(measured.classes) > 1:
        classes = list(measured.classes)
        label = one_named("Same is", classes, index=classes.index(usual.label), key="same", name=as_text, width=220)
        return Rule(label=label or usual.label)
    return usual


def _file(shown: Shown) -> bytes:
    return json.dumps(views.export(shown), ensure_ascii=False, indent=2, allow_nan=False).encode("utf-8")
