"""Page *Size*: how few dimensions and bits a model needs, what is lost first, and what it saves."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd
import streamlit as st

from blindspot import ui
from blindspot.datasets.catalog import DatasetRef
from blindspot.diagnostic import find_diagnostic
from blindspot.encoders.catalog import resolve_encoder
from blindspot.errors import BlindspotError, InputError
from blindspot.numerics.similarity import Similarity
from blindspot.numerics.statistics.written import percent
from blindspot.references import ModelRef
from blindspot.runs.comparison import Changes, changes
from blindspot.store.records import RunRecord, RunState
from blindspot.studies.lab.grid import cannot_be, stored_runs
from blindspot.studies.lab.page.progress import offer
from blindspot.studies.size import figures, speed
from blindspot.studies.size.grid import (
    PRECISIONS,
    USUAL_DIMENSIONS,
    USUAL_PRECISIONS,
    By,
    Grid,
    Setting,
    dimensions_of,
    entry_of,
    grid_of,
    measured_by_item,
)
from blindspot.studies.size.view import Cell, SizeView, answer, lost_by_kind, size_view
from blindspot.texts import counted
from blindspot.transforms.chain import STEPS
from blindspot.types import CancelToken, no_progress
from blindspot.ui import headline
from blindspot.ui.boundary import fragment
from blindspot.ui.markdown import as_text
from blindspot.ui.navigation import page_of
from blindspot.ui.page_state import link, state_of
from blindspot.ui.pickers import Picks
from blindspot.ui.resources import allowed, cached, explained, repository, scheme, settings
from blindspot.ui.widgets import tables
from blindspot.ui.widgets.addressed import one_named
from blindspot.ui.widgets.browse_table import BrowseTable
from blindspot.ui.widgets.choices import ask_tolerated, one_of, tolerated
from blindspot.ui.widgets.doubts import show_doubts
from blindspot.ui.widgets.missing_runs import readable
from blindspot.ui.widgets.model_choice import choose_model

RESCORED = (20, 50, 100, 200)
TABLE = BrowseTable("size_items", unit="item", number="no.")
TITLE = "Sizes"
COLUMNS = {"number": "no.", "full": "full size", "in_settings": "lost in settings"}  # of lost items
KINDS = 12  # of a column that a figure shows, those that lose most
MOST_CHANGES = 5_000  # read for the address of one
CHANGE_OF_ERROR = "By how much less the pair is off from people's score, as a share of the scale."

HOW = r"""
- A **setting** keeps the first dimensions (as of a Matryoshka model) or the first principal components, and stores each
  as a float of 32 bits, in a byte or in a bit. Each is an ordinary run of the model with such a transform, and other
  pages show it, too: `truncate:128+int8`.
- **int8** and **binary** are the codes of sentence-transformers' `quantize_embeddings`: 255 equal steps between the
  smallest and the largest value of each dimension over the dataset's items, compared as they are; the sign of each
  dimension, compared by the number of equal bits (Hamming distance, which is the cosine of vectors of signs).
  *int8-docs* and *binary-docs* compare codes of documents with float queries.
- **Rescoring**: codes find the list, of every query so many best and those that tie with the last of them, and floats
  decide in it. MB count the codes that are searched; the floats are besides, for example on disk.
- **Significant**: the diagnostic's paired test against full size on the same items, $p$ after Holm over its main
  scores. No significant loss is no proof of no loss, so see what a setting *loses at most*: the upper bound of a
  one-sided interval of the drop, at $1 - 0.05/k$ for $k$ settings, so that with 95% confidence all hold at once.
- **Lost**: items that do worse than at full size: whose part in the score is smaller (in EvalRank $1/\text{rank}$ of
  the match), or, in Similarity, which are misjudged here alone: off by more than a quarter of the scale.
- **Pareto front**: settings that no other one beats in both bytes and score.
- **MB per million texts** counts the vectors alone, without an index's own memory.
"""


def show() -> None:
    """The page."""
    picks = ui.page("Size", "How few dimensions and bits does a model need before its score drops?")
    with ui.errors_shown():
        top = st.container()
        if (grid := _form(picks)) is not None:
            _study(grid, top)
    ui.how(HOW)


def _form(picked: Picks) -> Grid | None:
    """The chosen grid, or None with a note on what is wrong."""
    if (picks := readable(measured_by_item(), picked)) is None:
        return None
    left, right = st.columns([2, 5])
    encoder = choose_model("size_enc", left, lambda model: _has_sizes(model, picks.dataset))
    dimensions = _dimensions(encoder, right)
    about = "\n".join(f"- `{name}`: {STEPS[name].description}" for name in PRECISIONS[1:])
    precisions = st.pills(
        "Precisions",
        PRECISIONS,
        selection_mode="multi",
        default=list(USUAL_PRECISIONS),
        key="size_precision",
        bind="query-params",
        help=about,
    )
    rescored = _rescored(picks)
    with ui.options():
        by = By(
            one_of(
                "Keep",
                [By.TRUNCATE.value, By.PCA.value],
                "size_by",
                "truncate: the first dimensions. pca: the directions of largest variance among the dataset's items.",
            )
        )
        metric = one_of("Similarity", [m.value for m in Similarity], "size_metric")
    if not dimensions or not precisions:
        st.info("Choose at least one number of dimensions and one precision.", icon=":material/info:")
        return None
    try:
        return _grid(encoder, picks.dataset, dimensions, precisions, by, metric, rescored)
    except InputError as error:
        st.info(as_text(explained(error)), icon=":material/info:")
        return None


def _has_sizes(model: ModelRef, dataset: DatasetRef) -> bool:
    runs = repository().runs(encoder=model, dataset=dataset, state=RunState.DONE, metrics=[])
    return any(run.plan.variant.transform != "none" for run in runs)


def _dimensions(encoder: str, area: st.delta_generator.DeltaGenerator) -> Sequence[int]:
    """The chosen numbers of dimensions, of those that the model has."""
    try:
        offered = dimensions_of(resolve_encoder(encoder, settings()).info.dimension)
    except BlindspotError:  # the form says what is wrong
        return USUAL_DIMENSIONS
    usual = [number for number in USUAL_DIMENSIONS if number in offered] or list(offered)
    chosen: Sequence[int] = area.pills(
        "Dimensions",
        offered,
        selection_mode="multi",
        default=usual,
        key="size_dim",
        bind="query-params",
        help="Below the model's own, which every setting is compared with: three quarters, half, and round numbers.",
    )
    return chosen


def _rescored(picks: Picks) -> Sequence[int]:
    """How many of the best to compare again; no choice if nothing is ranked."""
    try:
        if not entry_of(picks.dataset).takes_rescored:
            return ()
    except BlindspotError:  # the form says what is wrong
        return ()
    chosen = st.pills(
        "Rescore the best",
        RESCORED,
        selection_mode="multi",
        key="size_rescore",
        bind="query-params",
        help="Search with codes, then compare so many best of every query again in float32. The floats are read for "
        "these alone, so they can be on disk.",
    )
    return [int(factor) for factor in chosen]


def _grid(
    encoder: str,
    dataset: DatasetRef,
    dimensions: Sequence[int],
    precisions: Sequence[str],
    by: By,
    metric: str,
    rescored: Sequence[int],
) -> Grid:
    entry = entry_of(dataset)
    params = {"metric": metric} if entry.has_metric else {}
    numbers = [int(d) for d in dimensions]
    return grid_of(encoder, dataset, numbers, precisions, settings(), by=by, rescored=rescored, params=params)


def _study(grid: Grid, top: st.delta_generator.DeltaGenerator) -> None:
    possible = [request for request in grid.requests if not cannot_be(request, settings())]
    runs = stored_runs(possible, repository())
    offer(possible, runs, "size_study", TITLE)
    if left_out := len(grid.requests) - len(possible):
        st.caption(f"{counted(left_out, 'setting')} left out: more dimensions than the dataset's items allow.")
    measured = [(s, runs[r]) for s, r in zip(grid.settings, grid.requests, strict=True) if r in runs]
    if not measured:
        return
    if measured[0][0] != grid.full:
        st.caption("Every setting is compared with full size, which is not computed yet.")
        return
    result = _judged(grid.dataset, tuple((s.chain, run.run_id) for s, run in measured), grid, measured)
    with top:
        _headline(result)
        show_doubts(grid.entry, [run for _, run in measured])
    if len(result.cells) < 2:
        return
    tolerance = tolerated("size_drop")
    best = result.within(tolerance) or result.not_worse
    st.plotly_chart(
        figures.score_by_bytes(result, scheme(), best.setting.chain if best else ""),
        key="size_scores",
        config={"displayModeBar": False},
    )
    st.caption(
        "Numbers beside the marks: dimensions, where there is room. Bars: 95% intervals of each score. Wide line: the "
        "Pareto front. Dotted: full size. Large mark: the smallest setting that loses at most the tolerance, or, where "
        "there is none, that has no significant loss."
    )
    _table(grid, result)
    tables.show_limits([grid.dataset])
    _lost(result)


@cached(8, "Comparing the sizes …", shared=True)
def _judged(
    _dataset: str,
    runs: tuple[tuple[str, str], ...],  # noqa: ARG001 - the key
    _grid: Grid,
    _found: list[tuple[Setting, RunRecord]],
) -> SizeView:
    return size_view(_grid.entry, _found, repository())


def _headline(view: SizeView) -> None:
    first, *rest = answer(view, tolerated("size_drop"))
    headline.show(f"**{as_text(first)}** {as_text(' '.join(rest))}")


def _table(grid: Grid, view: SizeView) -> None:
    measured = speed.read(settings())
    number = st.column_config.NumberColumn
    tables.draw(
        view.rows(measured),
        key="size_table",
        placeholder="–",
        column_config={
            "MB per million": "localized",
            "score": "%.3f",
            "change": number(format="%+.3f", help="Score less that of full size."),
            "loses at most": number(
                format="%.3f", help="With 95% confidence for all settings at once. Empty: not known."
            ),
            "changed": number(format="percent", help="Items that do better or worse than at full size."),
            "lost": number(format="percent", help="Items that do worse than at full size."),
            "Pareto": st.column_config.CheckboxColumn(help="No other setting beats it in both bytes and score."),
            "faiss ms": number(format="%.2f", help="Per query, of an exhaustive index."),
            "own ms": number(format="%.2f", help="Per query, of Blindspot; codes are compared as floats."),
        },
    )
    with st.container(horizontal=True, vertical_alignment="bottom"):
        ask_tolerated(
            "size_drop",
            "Of the score. The answer above names the smallest setting that is shown to lose at most this much.",
        )
        lacking = [s for s in grid.settings if measured is None or measured.of(s) is None]
        if allowed().changes and lacking:
            pressed = st.button(
                "Measure search time",
                key="size_time",
                icon=":material/timer:",
                help=f"Searches {speed.VECTORS:,} random vectors at each setting, on this machine: about a minute.",
            )
            if pressed:
                with st.spinner("Timing searches …"):
                    speed.keep(speed.measure(grid.settings, no_progress, CancelToken()), settings())
                st.rerun()
    if measured is not None:
        st.caption(as_text(measured.in_words))


@fragment  # what is above is not drawn again
def _lost(view: SizeView) -> None:
    """What a setting loses: by kind, and item by item, starting with items that most settings lose."""
    st.subheader("What is lost first?", anchor=False)
    smaller = {cell.setting.chain: cell for cell in view.cells[1:]}
    usual = view.not_worse or view.cells[-1]
    chains = list(smaller)
    chain = one_named(
        "Setting",
        chains,
        index=chains.index(usual.setting.chain) if usual.setting.chain in smaller else 0,
        key="size_setting",
        name=lambda label: smaller[label].setting.label if label in smaller else label,
        width=320,
        on_change=TABLE.to_first_page,
    )
    cell = smaller.get(str(chain)) or view.cells[1]
    index = view.cells.index(cell)
    columns = repository().own_columns(cell.run.plan.dataset, cell.run.plan.dataset_digest)
    kinds = lost_by_kind(view, index, columns)
    lost = view.lost_items(index)
    st.markdown(
        as_text(
            f"{cell.setting.label} loses {counted(len(lost), 'item')} of {len(view.numbers):,} "
            f"({percent(cell.lost, 1)}), and does better on {percent(cell.won, 1)}."
        )
    )
    for column in dict.fromkeys(kind.column for kind in kinds):
        kinds_of_column = [kind for kind in kinds if kind.column == column]
        bars = f"Bars: 95% intervals, of all {len(kinds_of_column):,} at once."
        st.caption(as_text(f"By {column}, number of items in parentheses. {bars}"))
        st.plotly_chart(
            figures.lost_kinds(kinds_of_column[:KINDS], scheme()),
            key=f"size_kinds_{column}",
            config={"displayModeBar": False},
        )
    if not lost:
        st.caption("No item is lost.")
        return
    rows = pd.DataFrame(map(vars, lost)).rename(columns=COLUMNS)
    if view.parts is None:
        rows = rows.drop(columns=["full size", "here"])
    number = st.column_config.NumberColumn
    as_change = "Of the item's part in the score." if view.parts is not None else CHANGE_OF_ERROR
    about = f"{cell.run.plan.dataset} {chain}"
    TABLE.show(
        rows,
        about,
        {
            "no.": number(width=60),
            "text": st.column_config.TextColumn(width=460),
            "full size": number(format="%.3f", width="small", help="The item's part in the score."),
            "here": number(format="%.3f", width="small"),
            "change": number(format="%+.3f", width="small", help=as_change),
            "lost in settings": number(width="small", help=f"Of {len(view.cells) - 1:,} smaller settings."),
        },
        hint="Those that most settings lose come first.",
    )
    chosen = TABLE.chosen(rows, about, view.numbers.tolist(), "is not lost at this setting")
    if chosen is not None:
        _item(chosen, cell, view)


def _item(number: int, cell: Cell, view: SizeView) -> None:
    """Draw the whole text of an item, and a link to it on its diagnostic's page, both sizes side by side."""
    st.text(view.texts[view.numbers.tolist().index(number)])
    plan, full = cell.run.plan, view.full.run
    page, address = view.entry.place
    change_address = next(
        (dict(change.address) for change in _changes(cell.run, full).rows if change.item_no == number), {}
    )
    state = state_of(plan, plan.variant, full.plan.variant).at(address, change_address).with_(is_visit=True)
    link(page, state, label=f"Open in {page_of(page).title}", icon=":material/arrow_forward:")


@cached(16)
def _changes(run: RunRecord, full: RunRecord) -> Changes:
    return changes(find_diagnostic(run.plan.diagnostic), run, full, repository(), MOST_CHANGES)
