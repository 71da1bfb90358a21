"""View *classifier* of the Frequency page: accuracy of frequent vs. rare by threshold (Schnabel 2015, figure 3)."""

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
from core.diagnostics.frequency.page.shown import FrequencyView
from core.errors import BlindspotError
from core.runs import pipeline
from core.runs.spaces import Space
from core.types import Variant
from core.ui.markdown import as_text
from core.ui.resources import cached, repository, settings
from core.ui.widgets.work import run_button

CLEARLY = 0.05  # accuracy above the control: more than a control of a few hundred items strays


def show(shown: FrequencyView) -> None:
    """Accuracy by threshold and variant, from a vocabulary's stored runs or computed here for other datasets."""
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
    axis = f"Frequency threshold ({'occurrences' if shown.dataset.of_words else 'per billion words'})"
    few = classes.strays(per_class) if per_class < classes.ENOUGH else None
    _verdict(found, enough=few is None)
    if few is not None:
        enough = f"{classes.ENOUGH:,} + {classes.ENOUGH:,}"
        st.caption(
            f":material/data_alert: Too few {shown.entry.unit}s for a verdict: with {per_class:,} + {per_class:,} per "
            f"threshold, chance is within {CHANCE - few:.0%} to {CHANCE + few:.0%} (gray) in 95% of cases. It takes "
            f"{enough} to bring that within {100 * classes.strays(classes.ENOUGH):.0f} percentage points of 50%."
        )
    figure = figures.accuracy_lines(found, axis, shown.styles, shown.scheme, guessing=few)
    st.plotly_chart(figure, key="accuracy_lines")
    bands = "Bands: standard deviation over the draws. " if few is None else ""
    st.caption(
        f"Mean accuracy in five-fold cross-validation over {classes.DRAWS} draws of {per_class:,} frequent and "
        f"{per_class:,} rare {shown.entry.unit}s per threshold (seed {classes.SEED}), the same for every model; chance "
        f"is 50%. {bands}Dotted: shuffled labels."
    )
    zero = {s.variant: int((np.einsum("nd,nd->n", s.vectors, s.vectors) == 0).sum()) for s in shown.spaces}
    if any(zero.values()):
        names = ", ".join(f"{v.label}: {n:,}" for v, n in zero.items() if n)
        st.caption(as_text(f"Zero vectors stay zero ({names})."))
    with st.expander("The numbers", icon=":material/table:"):
        _table(found)


def _verdict(found: Mapping[Variant, pd.DataFrame], *, enough: bool) -> None:
    """A sentence on the first model, one on the others; without a verdict if there are too few items."""
    lines: list[str] = []
    ends = {v: (float(rows["accuracy"].min()), float(rows["accuracy"].max())) for v, rows in found.items()}
    for variant, rows in found.items():
        mean, control = rows["accuracy"].mean(), rows["control"].mean()
        what = " tells frequent from rare" if mean - control >= CLEARLY else " hardly tells frequent from rare"
        lines.append(
            f"**{as_text(variant.label)}**{what if enough else ''}: **{mean:.1%}** accuracy on average "
            f"({ends[variant][0]:.1%} to {ends[variant][1]:.1%} over thresholds), {control:.1%} with shuffled labels."
            if not lines
            else f"{as_text(variant.label)}{what if enough else ''} **{mean:.1%}**"
        )
    first, *others = lines
    st.markdown(f"{first} {'; '.join(others)}{'.' if others else ''}")


def _table(found: Mapping[Variant, pd.DataFrame]) -> None:
    first = next(iter(found.values()))
    columns: dict[str, Sequence[object]] = {
        "threshold": first["threshold"].tolist(),
        "from": first["count"].tolist(),
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


def _stored(shown: FrequencyView, vocabulary: Vocabulary) -> dict[Variant, pd.DataFrame]:
    """Rows of the runs on the words that all shown variants have; offers to compute missing runs."""
    support = np.zeros(len(vocabulary.items), dtype=np.bool_)
    support[shown.spaces[0].items] = True
    digests = (vocabulary.part(support).digest, vocabulary.content_digest)
    wanted = [space.variant for space in shown.spaces]
    found = repository().finished(ENTRY, dataset=vocabulary.id, params={}, metrics=[])  # fitted on its own
    plans = {run.run_id: run.plan for run in reversed(found)}  # the newest last
    runs = {p.variant: run for run, p in plans.items() if (p.support_digest, p.dataset_digest) == digests}
    if lacking := [v for v in wanted if v not in runs]:
        names = ", ".join(v.label for v in lacking)
        st.info(as_text(f"Not computed yet: {names}. About ten seconds each."))
        encoders = [v.encoder for v in wanted]
        requests = [
            pipeline.request(ENTRY.id, v.encoder, v.transform, vocabulary.id, {}, settings(), encoders) for v in lacking
        ]
        run_button("Compute", f"Frequency on {shown.entry.title}", requests, key="frequency_run")
    have = [variant for variant in wanted if variant in runs]
    return dict(zip(have, _rows(tuple(runs[variant] for variant in have)), strict=True)) if have else {}


@cached(16)
def _rows(run_ids: tuple[str, ...]) -> list[pd.DataFrame]:
    """Of each run its thresholds in their order."""
    rows = repository().items(ENTRY, run_ids, texts=False).sort_values("item_no")
    return [rows[rows["run_id"] == run_id].reset_index(drop=True) for run_id in run_ids]


def _computed(shown: FrequencyView) -> dict[Variant, pd.DataFrame]:
    """Rows per variant, computed and cached; raises ``BlindspotError`` for too few items or different counts."""
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


@cached(64, "Training classifiers …")
def _accuracies(space: Space, frequencies: Frequencies, design: classes.Design) -> tuple[Accuracy, ...] | None:
    """None if all vectors have the same direction."""
    if classes.all_alike(space.vectors):
        return None
    return classes.classify(space.vectors, frequencies.counts, design)
