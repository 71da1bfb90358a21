"""Steps of a training, on *Compare*: the score at each step, and the items lost and won on the way."""

from __future__ import annotations

import math

import pandas as pd
import streamlit as st

from blindspot import ui
from blindspot.datasets.catalog import title_of as title_of_dataset
from blindspot.diagnostic import find_diagnostic
from blindspot.figures.html_tables import Column, html_table, quiet
from blindspot.numerics.statistics.compare import PairedTest
from blindspot.runs.comparison import Changes, changes, headline_test
from blindspot.store.records import RunRecord
from blindspot.studies.training import figures
from blindspot.studies.training.steps import Evaluated, Series, evaluated, series_of, title_of, trainings
from blindspot.studies.training.view import StepsView, steps_view
from blindspot.ui import headline
from blindspot.ui.boundary import fragment
from blindspot.ui.markdown import as_text
from blindspot.ui.navigation import DOCUMENTATION, TOPIC, page_of
from blindspot.ui.page_state import PageState, link, state_of
from blindspot.ui.pickers import known_datasets
from blindspot.ui.resources import allowed, cached, repository, scheme, settings
from blindspot.ui.widgets import tables
from blindspot.ui.widgets.addressed import begin_with, one_named, tab_named
from blindspot.ui.widgets.browse_table import BrowseTable

TABLE = BrowseTable("training_items", unit="item", number="no.")
LOST, WON = "lost", "won"
LINES = 40  # items drawn at once, the largest change first
MOST_CHANGES = 5_000  # read for the address of one

HOW = r"""
- Each step is an evaluation of the model in training by `bs.Evaluator`, and an ordinary run of the model
  *training/step*: other pages show it, too. *Compare* tests two steps in all scores.
- **Lost** between two steps are the items whose part of the score is lower at the later one: in EvalRank
  $1/\text{rank}$ of the match, in HEROS whether the headline's order is right. The score is the mean of these parts.
- The **difference** of the score between the two steps is tested on the same items, as the diagnostic's own page does.
  It is one test of two steps that you chose: the more steps you try, the more differ by chance.
- Error bars are 95% intervals of the score at each step. Neighboring steps may differ significantly although their
  intervals overlap, since they are measured on the same items.
"""

SNIPPET = """import blindspot as bs

# pairs: [(query, match), ...], a frame, a file
evaluator = bs.Evaluator(pairs, name="my training", store={store!r})
# args: eval_strategy="steps", eval_steps=20
trainer = SentenceTransformerTrainer(
    model=model, args=args, train_dataset=train, loss=loss, evaluator=evaluator
)
evaluator(model, steps=0)  # before the training
trainer.train()
"""


def show() -> None:
    ui.page("Training", "Which pairs did my training win, which did it lose, and when?")
    with ui.errors_shown():
        _training()
    ui.how(HOW)


def _training() -> None:
    names = trainings(repository())
    shown = known_datasets()
    by_name = {name: [series for series in series_of(name, repository()) if series.dataset in shown] for name in names}
    by_name = {name: series for name, series in by_name.items() if series}
    if not by_name:
        st.session_state.setdefault("training", None)  # there is no picker: what a link names is not here
        _empty()
        return
    with st.container(horizontal=True, vertical_alignment="bottom"):
        name = one_named("Training", list(by_name), index=0, key="training", name=str, width=280) or next(iter(by_name))
        series = _series(by_name[name])
        container = st.container(horizontal=True, vertical_alignment="bottom")
    scores = _read(series.training, tuple(step.run.run_id for step in series.steps), series)
    labels = series.labels
    with container:
        before = one_named("From", labels, index=0, key="training_from", name=title_of, width=180)
        after = one_named("To", labels, index=len(labels) - 1, key="training_to", name=title_of, width=180)
    first, last = (series.steps[series.place(label or labels[0])] for label in (before, after))
    steps = steps_view(scores, first, last, None if first == last else _difference(last.run, first.run))
    score = f"{figures.score_title(scores)} on {title_of_dataset(series.dataset)}"
    headline.show(steps.in_words(as_text(score)))
    marked = () if steps.before == steps.after else (steps.before.label, steps.after.label)
    figure = figures.score_over_steps(scores, scheme(), marked)
    st.plotly_chart(figure, key="training_score", config={"displayModeBar": False})
    if steps.before == steps.after:
        st.caption("Choose two different steps to see what changed between them.")
    else:
        _items(steps)
    tables.show_limits([series.dataset])


def _empty() -> None:
    store = str(settings().cache) if allowed().server_files else "cache"
    with st.container(border=True, key="empty"):
        st.subheader("No training yet", anchor=False)
        st.markdown(
            "Give your training the evaluator below. Every evaluation appears here, during the training, too: the "
            "score over the steps, and each pair that was lost or won on the way."
        )
        st.code(SNIPPET.format(store=store), language="python")
        guide = PageState(options={TOPIC: "guides/python"})
        link(DOCUMENTATION, guide, label="Python API", icon=":material/menu_book:")


def _series(among: list[Series]) -> Series:
    """The training that the reader chooses, if there are several."""
    by_id = {series.id: series for series in among}
    if len(by_id) == 1:
        return among[0]
    titles = {series.id: f"{series.entry.title}, {title_of_dataset(series.dataset)}" for series in among}
    chosen = one_named(
        "Evaluated on", list(by_id), index=0, key="training_on", name=lambda series_id: titles[series_id], width=320
    )
    return by_id[chosen or among[0].id]


@cached(8, "Reading the steps …", shared=True)
def _read(_training: str, runs: tuple[str, ...], _series: Series) -> Evaluated:  # noqa: ARG001 - runs are the key
    return evaluated(_series, repository())


@cached(64)
def _difference(after: RunRecord, before: RunRecord) -> PairedTest | None:
    return headline_test(after, before, repository())


@fragment  # the score above is not drawn again
def _items(shown: StepsView) -> None:
    """Draw the items of one side: their lines, the table, and the chosen one."""
    sides = {LOST: shown.lost, WON: shown.won}
    titles = {LOST: f"Lost {len(sides[LOST]):,}", WON: f"Won {len(sides[WON]):,}"}
    begin_with("training_side", lambda: None if len(shown.lost) else WON)
    side = tab_named(
        shown.unit.capitalize(),
        list(sides),
        key="training_side",
        name=lambda series_id: titles[series_id],
        on_change=TABLE.to_first_page,
    )
    listed = sides[side].rename(columns={"item_no": "no."}).reset_index(drop=True)
    about = f"{shown.series.id} {side} {shown.before.label} {shown.after.label}"
    if listed.empty:
        st.caption(f"No {shown.unit} were {side} between {shown.before.title} and {shown.after.title}.")
        return
    numbers = listed["no."].tolist()
    chosen = TABLE.wanted(about)
    figure = figures.items_over_steps(shown.evaluated, numbers[:LINES], chosen, scheme())
    st.plotly_chart(figure, key="training_lines", config={"displayModeBar": False})
    drawn = f"A line for each of the {LINES} largest changes" if len(numbers) > LINES else "A line for each"
    TABLE.show(
        _frame(listed, shown),
        about,
        _columns(shown),
        hint=f"{drawn}, a little apart where they are equal. Choose a row to bring its line out.",
    )
    number = TABLE.chosen(listed, about, shown.evaluated.numbers.tolist(), "is not in the data")
    if number is not None:
        _item(number, shown)


def _frame(listed: pd.DataFrame, shown: StepsView) -> pd.DataFrame:
    titles = {"before": shown.before.title, "after": shown.after.title}
    frame = listed[["no.", "text", "before", "after", "gain"]].rename(columns=titles)
    return frame.rename(columns={"gain": "change"})


def _columns(shown: StepsView) -> dict[str, object]:
    number = st.column_config.NumberColumn
    each = "Rank of the match" if shown.evaluated.is_rank else "The item's part of the score"
    part = "1/rank" if shown.evaluated.is_rank else "the item's part of the score"
    return {
        "no.": number(width=60),
        "text": st.column_config.TextColumn(width=520),
        shown.before.title: number(format="%g", width="small", help=f"{each} at this step."),
        shown.after.title: number(format="%g", width="small", help=f"{each} at this step."),
        "change": number(format="%+.3f", width="small", help=f"Change of {part}."),
    }


def _item(number: int, shown: StepsView) -> None:
    """Draw the chosen item at every step, with a link to its diagnostic's page."""
    scores, series, theme = shown.evaluated, shown.series, scheme()
    row = scores.numbers.tolist().index(number)
    rows = [(quiet("text", theme), scores.texts[row])]
    word = "rank " if scores.is_rank else ""
    rows += [
        (quiet(step.title, theme), "–" if math.isnan(value) else f"{word}{value:,.6g}")
        for step, value in zip(series.steps, scores.shown[row].tolist(), strict=True)
    ]
    columns = (
        Column("", style="width:11rem", names_rows=True),
        Column("", style="overflow-wrap:anywhere;white-space:pre-wrap"),
    )
    st.html(html_table(columns, rows, theme, "The chosen item", has_head=False))
    page, address = series.entry.place
    after, before = shown.after.run.plan, shown.before.run.plan
    state = state_of(after, after.variant, before.variant).at(address, _address(number, shown)).with_(is_visit=True)
    link(page, state, label=f"Open in {page_of(page).title}", icon=":material/arrow_forward:")


def _address(number: int, shown: StepsView) -> dict[str, str]:
    rows = _changes(shown.after.run, shown.before.run).rows if all(shown.series.entry.won) else ()
    change_address = next((dict(change.address) for change in rows if change.item_no == number), None)
    return change_address or (dict(shown.test.address) if shown.test else {})


@cached(16)
def _changes(after: RunRecord, before: RunRecord) -> Changes:
    return changes(find_diagnostic(after.plan.diagnostic), after, before, repository(), MOST_CHANGES)
