"""The Frequency page's view: how well a linear classifier tells frequent from rare (Schnabel 2015, figure 3)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd
import streamlit as st

from core.datasets.kinds.vocabulary import Vocabulary
from core.datasets.word_frequency import Frequencies
from core.diagnostics.frequency import classes
from core.diagnostics.frequency.classes import Accuracy
from core.diagnostics.frequency.definition import ENTRY, rows_of
from core.diagnostics.frequency.figures import classes as figures
from core.diagnostics.frequency.figures.classes import CHANCE
from core.diagnostics.frequency.page.shown import Shown
from core.errors import BlindspotError
from core.runs import pipeline
from core.runs.spaces import Space
from core.store.records import RunRecord, RunState
from core.types import Variant
from core.ui.markdown import as_text
from core.ui.resources import cached, repository, settings
from core.ui.widgets.work import run_button

CLEARLY = 0.05  # above the control, in accuracy: more than a control of a few hundred items strays


def show(shown: Shown) -> None:
    """Accuracy by threshold and variant; of a vocabulary by its stored runs, of other datasets computed here."""
    try:
        if isinstance(shown.dataset, Vocabulary) and shown.frequencies.source == shown.dataset.id:
            found = _stored(shown, shown.dataset)
        else:
            found = _computed(shown)
    except BlindspotError as error:
        st.info(as_text(str(error)), icon=":material/info:")
        return
    if not found:
        return
    per_class = int(next(iter(found.values()))["words_per_class"].iloc[0])
    axis = "Occurrences from which it is frequent"
    if not shown.dataset.of_words:
        axis = "Occurrences per billion from which it is frequent"
    few = classes.strays(per_class) if per_class < classes.ENOUGH else None
    if few is not None:
        enough = f"{classes.ENOUGH:,} + {classes.ENOUGH:,}"
        st.warning(
            f"Too few {shown.entry.unit}s for a verdict: of {per_class:,} + {per_class:,} at a threshold, guessing "
            f"gets {CHANCE - few:.0%} to {CHANCE + few:.0%} (grey), 19 times in 20. From {enough} on it stays within "
            f"{100 * classes.strays(classes.ENOUGH):.0f} percentage points of chance.",
            icon=":material/data_alert:",
        )
    figure = figures.accuracy_lines(found, axis, shown.styles, shown.scheme, guessing=few)
    st.plotly_chart(figure, key="accuracy_lines")
    _verdict(found, enough=few is None)
    bands = "Bands: its standard deviation over the draws. " if few is None else ""
    st.caption(
        f"At every threshold {per_class:,} frequent and {per_class:,} rare {shown.entry.unit}s, drawn {classes.DRAWS} "
        f"times (seed {classes.SEED}) and the same for every variant: 50% is chance. Lines: mean over the draws of the "
        f"accuracy in five-fold cross-validation. {bands}Dotted: the same with shuffled labels."
    )
    zero = {s.variant: int((np.einsum("nd,nd->n", s.vectors, s.vectors) == 0).sum()) for s in shown.spaces}
    if any(zero.values()):
        names = ", ".join(f"{v.label}: {n:,}" for v, n in zero.items() if n)
        st.caption(as_text(f"Zero vectors have no direction and stay zero ({names})."))
    with st.expander("The numbers", icon=":material/table:"):
        _table(found)


def _verdict(found: Mapping[Variant, pd.DataFrame], *, enough: bool) -> None:
    """In a sentence per variant, whether frequency can be read off; of too few items only the numbers."""
    lines = []
    for variant, rows in found.items():
        mean, control, best = rows["accuracy"].mean(), rows["control"].mean(), rows["accuracy"].max()
        what = " tells frequent from rare" if mean - control >= CLEARLY else " hardly tells frequent from rare"
        lines.append(
            f"- {as_text(variant.label)}{what if enough else ''}: **{mean:.1%}** on average over the thresholds, "
            f"{best:.1%} at best, {control:.1%} with shuffled labels."
        )
    st.markdown("\n".join(lines))


def _table(found: Mapping[Variant, pd.DataFrame]) -> None:
    first = next(iter(found.values()))
    columns: dict[str, Sequence[object]] = {
        "threshold": first["threshold"].tolist(),
        "from so many on": first["count"].tolist(),
        "rare": first["rare_share"].tolist(),
    }
    for variant, rows in found.items():
        columns[variant.label] = _with_sd(rows, "accuracy")
        columns[f"{variant.label}, shuffled"] = _with_sd(rows, "control")
    st.dataframe(
        pd.DataFrame(columns),
        hide_index=True,
        key="accuracy_numbers",
        column_config={"rare": st.column_config.NumberColumn(format="percent")},
    )


def _with_sd(rows: pd.DataFrame, name: str) -> list[str]:
    return [f"{mean:.3f} ± {sd:.3f}" for mean, sd in zip(rows[name], rows[f"{name}_sd"], strict=True)]


# --- stored


def _stored(shown: Shown, vocabulary: Vocabulary) -> dict[Variant, pd.DataFrame]:
    """Rows of the runs on the words that all shown variants have; offers the runs that there are not."""
    support = np.zeros(len(vocabulary.items), dtype=np.bool_)
    support[shown.spaces[0].items] = True
    wanted = [space.variant for space in shown.spaces]
    runs = _runs(vocabulary, wanted, vocabulary.part(support).digest)
    if lacking := [v for v in wanted if v not in runs]:
        names = ", ".join(v.label for v in lacking)
        st.info(as_text(f"Not computed yet: {names}. It takes some ten seconds each, and is kept."))
        encoders = [v.encoder for v in wanted]
        requests = [
            pipeline.request(ENTRY.id, v.encoder, v.transform, vocabulary.id, {}, settings(), encoders) for v in lacking
        ]
        run_button("Compute", f"Frequency on {shown.entry.title}", requests, key="frequency_run")
    if not runs:
        return {}
    ids = tuple(run.run_id for run in runs.values())
    rows = _rows(ids)
    return {v: _ordered(rows[run.run_id]) for v in wanted if (run := runs.get(v)) is not None}


def _runs(vocabulary: Vocabulary, wanted: Sequence[Variant], support_digest: str) -> dict[Variant, RunRecord]:
    found = repository().runs(
        diagnostic=ENTRY.id,
        version=ENTRY.version,
        dataset=vocabulary.id,
        params={},  # fitted on its own words
        state=RunState.DONE,
        current=True,
        metrics=[],
    )
    return {
        run.plan.variant: run
        for run in reversed(found)  # the newest last
        if run.plan.variant in wanted
        and run.plan.support_digest == support_digest
        and run.plan.dataset_digest == vocabulary.content_digest
    }


@cached(16)
def _rows(run_ids: tuple[str, ...]) -> dict[str, pd.DataFrame]:
    frame = repository().items(ENTRY, run_ids, texts=False)
    return {str(run_id): rows for run_id, rows in frame.groupby("run_id")}


def _ordered(rows: pd.DataFrame) -> pd.DataFrame:
    return rows.sort_values("item_no").reset_index(drop=True)


# --- computed here


def _computed(shown: Shown) -> dict[Variant, pd.DataFrame]:
    """Rows per variant, computed once for as long as the app runs; says where a variant has nothing to tell apart.

    Raises:
        BlindspotError: too few items, or too few different counts.
    """
    design = classes.design(shown.frequencies.counts, with_paper=shown.dataset.of_words)
    out = {}
    bar = st.empty()
    for done, space in enumerate(shown.spaces):
        if len(shown.spaces) > 1:
            bar.progress(done / len(shown.spaces), text=f"Classifying: {as_text(space.variant.label)}")
        accuracies = _accuracies(space, shown.frequencies, design)
        if accuracies is None:
            st.info(
                as_text(f"{space.variant.label}: all vectors have the same direction, so there is nothing to tell."),
                icon=":material/info:",
            )
        else:
            out[space.variant] = rows_of(accuracies, design.per_class).to_pandas()
    bar.empty()
    return out


@cached(64, "Telling frequent from rare …")
def _accuracies(space: Space, frequencies: Frequencies, design: classes.Design) -> tuple[Accuracy, ...] | None:
    """None where all vectors are alike."""
    if classes.all_alike(space.vectors):
        return None
    return classes.classify(space.vectors, frequencies.counts, design)
