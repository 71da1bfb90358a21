"""View *classifier* of the Frequency page: accuracy of frequent vs. rare by threshold (Schnabel 2015, figure 3)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd
import streamlit as st

from blindspot.datasets.catalog import title_of
from blindspot.datasets.kinds.vocabulary import Vocabulary
from blindspot.datasets.word_frequency import Frequencies
from blindspot.diagnostics.frequency import classes
from blindspot.diagnostics.frequency.classes import Accuracy
from blindspot.diagnostics.frequency.definition import ENTRY, rows_of
from blindspot.diagnostics.frequency.figures import classes as figures
from blindspot.diagnostics.frequency.figures.classes import CHANCE
from blindspot.diagnostics.frequency.page.frequency_view import FrequencyView
from blindspot.diagnostics.frequency.view import told
from blindspot.errors import BlindspotError
from blindspot.numerics.statistics.written import ci, percent
from blindspot.runs import requesting
from blindspot.runs.spaces import Space
from blindspot.ui.markdown import as_text
from blindspot.ui.resources import cached, explained, repository, settings
from blindspot.ui.widgets import tables
from blindspot.ui.widgets.missing_runs import offer_switch
from blindspot.ui.widgets.work import run_button
from blindspot.variants import Variant

CLEARLY = 0.05  # accuracy above the control: more than a control of a few hundred items strays


def show(shown: FrequencyView) -> None:
    """Accuracy by threshold and variant, from a vocabulary's stored runs or computed here for other datasets."""
    try:
        if isinstance(shown.dataset, Vocabulary) and shown.frequencies.source == shown.dataset.id:
            by_variant = _stored(shown, shown.dataset)
        else:
            by_variant = _computed(shown)
    except BlindspotError as error:
        st.info(as_text(explained(error)), icon=":material/info:")
        return
    if not by_variant:
        return
    per_class = int(next(iter(by_variant.values()))["words_per_class"].iloc[0])
    axis = f"Frequency threshold ({'occurrences' if shown.dataset.of_words else 'per billion words'})"
    few = classes.strays(per_class) if per_class < classes.ENOUGH else None
    _verdict(by_variant, shown, few)
    if few is not None:
        stray = classes.strays(classes.ENOUGH)
        st.caption(
            f":material/warning: Few {shown.entry.unit}s: with {per_class:,} frequent and {per_class:,} rare ones per "
            f"threshold, guessing reaches {percent(CHANCE - few)} to {percent(CHANCE + few)} (gray) in 95% of cases. "
            f"{classes.ENOUGH:,} of each would narrow that to {percent(CHANCE - stray)} to {percent(CHANCE + stray)}."
        )
    figure = figures.accuracy_lines(by_variant, axis, shown.styles, shown.scheme, guessing=few)
    st.plotly_chart(figure, key="accuracy_lines")
    bands = "Bands: standard deviation over the draws. " if few is None else ""
    of_texts = "" if shown.dataset.of_words else f"A {shown.entry.unit}'s frequency is the mean of its words'. "
    st.caption(
        f"{of_texts}Each point: a threshold that splits the {shown.entry.unit}s into frequent and rare (log scale), "
        f"{per_class:,} of each drawn {classes.DRAWS} times, the same for every model; mean accuracy on held-out "
        f"{shown.entry.unit}s (five folds). {bands}Open circles: the same classifier with shuffled labels."
    )
    zero = {s.variant: int((np.einsum("nd,nd->n", s.vectors, s.vectors) == 0).sum()) for s in shown.spaces}
    if any(zero.values()):
        names = ", ".join(f"{v.label}: {n:,}" for v, n in zero.items() if n)
        st.caption(as_text(f"Zero vectors stay zero ({names})."))
    with st.expander("The numbers", icon=":material/table:"):
        _table(by_variant)


def _verdict(by_variant: Mapping[Variant, pd.DataFrame], shown: FrequencyView, few: float | None) -> None:
    """A sentence on the first model, one on the others, and how to read them.

    Args:
        few: how far guessing strays from chance; with so few items, less than that is no verdict.
    """
    unit = shown.entry.unit
    (variant, rows), *others = by_variant.items()
    outcome = told(rows)
    if few is not None and outcome.mean.value - CHANCE <= few:
        does = "may or may not show"  # too few
    else:
        does = "show" if outcome.mean.value - outcome.control >= CLEARLY else "hardly show"
    which = f"which {unit}s are frequent" if shown.dataset.of_words else f"which {unit}s use frequent words"
    text = (
        f"In {as_text(shown.entry.title)}, vectors of **{as_text(variant.label)}** {does} {which}: a linear classifier "
        f"is right on **{percent(outcome.mean.value, 1)}**{ci(outcome.mean, '.1%')}, the mean over thresholds, of "
        f"which none is below {percent(outcome.least, 1)} or above {percent(outcome.most, 1)}; with shuffled labels it "
        f"is right on {percent(outcome.control, 1)}"
    )
    also = [f"**{as_text(v.label)}** {percent(told(other).mean.value, 1)}" for v, other in others]
    st.markdown(f"{text}{'; ' if also else ''}{', '.join(also)}.")
    st.caption(
        "50% is chance. **Lower is better** where vectors should be about meaning, not about how common words are. "
        "Differences between models are not tested."
    )
    if not shown.dataset.of_words:
        _instead(shown, list(by_variant))


def _instead(shown: FrequencyView, variants: Sequence[Variant]) -> None:
    """The stored runs on words, whose accuracy other pages show, with a button to their dataset."""
    runs = repository().finished(ENTRY, metrics=[ENTRY.headline])
    newest = next((run.plan.dataset for run in runs if run.plan.variant in variants), "")
    if not newest:
        return
    by_variant = {run.plan.variant: run for run in reversed(runs) if run.plan.dataset == newest}
    scores = [f"{v.label} {percent(by_variant[v].metrics[ENTRY.headline], 1)}" for v in variants if v in by_variant]
    text = f"Computed here over the {shown.entry.unit}s of {shown.entry.title}. Other pages show the accuracy over "
    offer_switch(as_text(f"{text}words, on {title_of(newest)}: {', '.join(scores)}."), newest)


def _table(by_variant: Mapping[Variant, pd.DataFrame]) -> None:
    first = next(iter(by_variant.values()))
    columns: dict[str, Sequence[object]] = {
        "threshold": first["threshold"].tolist(),
        "from": first["count"].tolist(),
        "rare": first["rare_share"].tolist(),
    }
    for variant, rows in by_variant.items():
        columns[variant.label] = _with_sd(rows, "accuracy")
        columns[f"{variant.label}, shuffled"] = _with_sd(rows, "control")
    tables.draw(
        columns,
        key="accuracy_numbers",
        column_config={"rare": "percent", "from": "%.4g"},
    )


def _with_sd(rows: pd.DataFrame, name: str) -> list[str]:
    return [f"{percent(mean, 1)} ± {percent(sd, 1)}" for mean, sd in zip(rows[name], rows[f"{name}_sd"], strict=True)]


def _stored(shown: FrequencyView, vocabulary: Vocabulary) -> dict[Variant, pd.DataFrame]:
    """Rows of the runs on the words that all shown variants have; offers to compute missing runs."""
    covered = np.zeros(len(vocabulary.items), dtype=np.bool_)
    covered[shown.spaces[0].items] = True
    digests = (vocabulary.part(covered).digest, vocabulary.content_digest)
    wanted = [space.variant for space in shown.spaces]
    stored = repository().finished(ENTRY, dataset=vocabulary.id, params={}, metrics=[])  # fitted on its own words
    plans = {run.run_id: run.plan for run in reversed(stored)}  # the newest last
    runs = {p.variant: run for run, p in plans.items() if (p.covered_digest, p.dataset_digest) == digests}
    if lacking := [v for v in wanted if v not in runs]:
        names = ", ".join(v.label for v in lacking)
        st.info(as_text(f"Not computed yet: {names}. About ten seconds each."))
        encoders = [v.encoder for v in wanted]
        requests = [
            requesting.request(ENTRY.id, v.encoder, v.transform, vocabulary.id, {}, settings(), encoders)
            for v in lacking
        ]
        run_button("Compute", f"Frequency on {shown.entry.title}", requests, key="frequency_run")
    have = [variant for variant in wanted if variant in runs]
    return dict(zip(have, _rows(tuple(runs[variant] for variant in have)), strict=True)) if have else {}


@cached(16)
def _rows(run_ids: tuple[str, ...]) -> list[pd.DataFrame]:
    """The thresholds of each run, in their order."""
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
    """Accuracies of a space; None if all vectors have the same direction."""
    if classes.all_alike(space.vectors):
        return None
    return classes.classify(space.vectors, frequencies.counts, design)
