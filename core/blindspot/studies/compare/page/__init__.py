"""Page *Compare*: two models over all results that both have, their costs, and the items that changed."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import streamlit as st

from blindspot import ui
from blindspot.datasets.catalog import title_of
from blindspot.diagnostic import Picker
from blindspot.errors import BlindspotError
from blindspot.runs import requesting
from blindspot.runs.requests import RunRequest
from blindspot.studies.compare import figures
from blindspot.studies.compare.page import items, missing
from blindspot.studies.compare.page.compare_view import CompareView, among_of
from blindspot.studies.compare.page.reading import compared, costs_of, tested
from blindspot.studies.compare.rows import RANGES, Row, headline, legend, method_in_words, reasons
from blindspot.studies.compare.view import TwoModels
from blindspot.studies.report.page import report_buttons
from blindspot.ui.markdown import as_text
from blindspot.ui.page_state import link
from blindspot.ui.pickers import Picks
from blindspot.ui.resources import repository, scheme, settings
from blindspot.ui.variant_looks import variant_styles
from blindspot.ui.widgets import tables
from blindspot.ui.widgets.doors import doors
from blindspot.ui.widgets.doubts import ask
from blindspot.ui.widgets.two_variants import two_names
from blindspot.ui.widgets.views import View, choose_view
from blindspot.ui.widgets.work import run_button
from blindspot.variants import Variant

LINKS = 24  # most links to rows
ANOTHER = ("lsa", "minilm", "random-projection")  # to compare an only model with, quick ones first

HOW = f"""
- The axis is the difference as a share of the score's range: {RANGES}
- Each diagnostic tests the difference in its **headline score** on the same items, with the parameters in the
  sidebar and defaults for the rest. The newest run of each model counts, and both must cover the same items.
- Each diagnostic has its own paired test, named in the view *numbers*. Pairs that share a text, examples with the same
  text, queries with the same relevant documents, questions that share a word pair and words of one class count as
  dependent: the signs of whole groups are flipped, and flips are made stricter where differences are skewed, as a few
  large gains against many small losses. What is tested is that the mean difference is 0. **Frequency** has no paired
  test and is not counted.
- p-values are **Holm**-corrected over the main scores of a diagnostic on a dataset, as on every page. How many
  differences also hold after correction over all rows is said beside the figure: of these, the chance of one or more
  false ones is at most 5%.
"""


def show() -> None:
    picks = ui.page("Compare", "Which model is better, on what, by how much, and at what cost?")
    with ui.errors_shown():
        _compare(picks)
    ui.how(HOW)


def _compare(picks: Picks) -> None:
    variants = repository().variants()
    if doors(are_open=not variants):
        return
    among = among_of(variants, picks)
    if len(among) < 2:
        _too_few(variants, among)
        return
    first, second = two_names([str(variant) for variant in among], compare=_have_common(picks))
    if second is None:
        return
    a, b = Variant.parse(first), Variant.parse(second)
    shown = CompareView(picks, compared(a, b, picks), tuple(among), variant_styles(variants), scheme())
    _headline(shown)
    if shown.found.rows:
        _forest(shown)
    _costs(shown)
    missing.show(shown)
    choose_view(shown, VIEWS)


def _have_common(picks: Picks) -> Callable[[str, str], bool]:
    """Whether two models, by their names, have a diagnostic on a dataset in common with the picked parameters."""
    of = tested(picks)
    return lambda a, b: not of.get(a, frozenset()).isdisjoint(of.get(b, frozenset()))


def _headline(shown: CompareView) -> None:
    ask(shown.found.doubts)
    with st.container(border=True, key="headline"):
        st.markdown(f"**{as_text(headline(shown.found, *shown.names))}**")
    if shown.found.rows:
        runs = [run.run_id for row in shown.found.rows for run in (row.a, row.b)]
        with st.container(horizontal=True):
            report_buttons(shown.picks, (shown.found.a, shown.found.b), runs)


def _forest(shown: CompareView) -> None:
    told = shown.told
    names, styles = (told.a.label, told.b.label), (shown.styles[told.a], shown.styles[told.b])
    if figures.drawn(told.rows):
        figure = figures.forest(told.rows, names, styles, shown.scheme)
        st.plotly_chart(figure, key="forest", config={"displayModeBar": False})
    st.caption(as_text(" ".join(legend(shown.told.rows))))
    tables.show_limits(row.dataset for row in shown.found.rows)
    st.caption("Open a row's page:")
    with st.container(horizontal=True, key="row_links"):
        for row in sorted(shown.found.rows, key=lambda row: row.difference.advantage is None)[:LINKS]:
            entry = row.entry
            page, address = entry.place
            link(
                page,
                shown.state(row.dataset, row.difference.address, address),
                label=as_text(f"{entry.title}: {title_of(row.dataset)}"),
                icon=":material/arrow_forward:",
            )
    if (left := len(shown.found.rows) - LINKS) > 0:
        st.caption(f"And {left:,} more, in the view *numbers*.")


def _costs(shown: CompareView) -> None:
    """Draw both costs and their ratio."""
    told = shown.told
    cost_a, other = costs_of([told.a, told.b]).values()
    a, b = told.a.label, told.b.label
    rows = [
        {"cost": row.title, a: row.a, b: row.b, f"{a} / {b}": row.ratio}
        for row in TwoModels(told, (cost_a, other)).cost_rows
    ]
    st.markdown("**Cost**")
    tables.draw(rows, key="costs")


def _numbers(shown: CompareView) -> None:
    """Draw a table of all rows with their tests."""
    told = shown.told
    if not told.rows:
        st.caption("No diagnostic has results of both models on the same data yet.")
        return
    tables.draw(
        [_numbers_of(row, told.a.label, told.b.label) for row in told.rows],
        key="compare_numbers",
    )
    st.caption(as_text(" ".join([*reasons(told.rows), method_in_words(shown.found)])))


def _numbers_of(row: Row, a: str, b: str) -> dict[str, object]:
    difference, cells = row.difference, row.cells(a, b)
    return {
        **{name: cells[name] for name in ("diagnostic", "dataset", "score", a, b)},
        f"{a} − {b}": cells[f"{a} - {b}"],
        "95% interval": cells["95% interval"],
        "independent observations": f"{difference.n:,} {difference.unit}",
        **{name: cells[name] for name in ("p (Holm)", f"{a} is")},
        "test": difference.test if difference.p_corrected is not None else f"none: {difference.refusal}",
    }


def _too_few(variants: list[Variant], among: list[Variant]) -> None:
    """Say what to do with fewer than two models, with the button that does it."""
    with st.container(border=True, key="empty"):
        if len(variants) > 1:
            st.subheader("Pick a second model", anchor=False)
            st.markdown("Your selection leaves fewer than two models. Pick two or more, or clear it to see all.")
            st.button("Choose among all models", key="all_models", type="primary", on_click=_pick_all)
            return
        only = among[0] if among else variants[0]
        st.subheader("One model has results so far", anchor=False)
        other = next(name for name in ANOTHER if name != only.encoder)
        requests = _same_for(other, only)
        st.markdown(
            as_text(
                f"{only.label} needs another model to be compared with. Run {other} on the same data, or choose one."
            )
        )
        if requests:
            run_button(f"Run {other}", f"{other} on the data of {only.label}", requests, key="run_another")
        link("run", label="Choose a model to run", icon=":material/play_circle:")


def _pick_all() -> None:
    st.session_state[Picker.MODELS] = []


def _same_for(encoder: str, only: Variant) -> list[RunRequest]:
    """The runs of a variant, for another encoder."""
    requests: dict[RunRequest, None] = {}
    for run in repository().runs(variants=[only], metrics=[]):
        plan = run.plan
        try:
            request = requesting.request(plan.diagnostic, encoder, "none", plan.dataset, plan.params, settings())
        except BlindspotError:  # a file that is gone
            continue
        requests[request] = None
    return list(requests)


# The keys are also in the address; the first is the default.
VIEWS: Mapping[str, View[CompareView]] = {
    "items": View("Where do the two models differ most?", items.show),
    "numbers": View("The numbers and tests behind the figure", _numbers),
}
