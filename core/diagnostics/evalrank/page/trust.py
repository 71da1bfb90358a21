"""The EvalRank page's view of trust: what each choice of counting does to the score, and what training has seen."""

from __future__ import annotations

import streamlit as st

from core.datasets import catalog as datasets
from core.diagnostic import DiagnosticEntry
from core.diagnostics.evalrank.figures.choices import ChoiceRow, choices_table
from core.diagnostics.evalrank.page import comparability
from core.diagnostics.evalrank.page import training as evalrank_training
from core.diagnostics.evalrank.page.shown import BY_RUNS, Shown
from core.diagnostics.evalrank.pairs import PairTable, Score, rows_of_runs
from core.diagnostics.evalrank.trust import (
    Choice,
    PairTexts,
    as_toolkit,
    choices,
    other_protocol,
    other_support,
    score_of_run,
    with_first_items,
)
from core.errors import BlindspotError
from core.runs import pipeline
from core.runs.embeddings import EmbeddingsGone
from core.store.records import RunRecord
from core.types import Variant
from core.ui.markdown import as_text
from core.ui.pickers import DEFAULT_PROTOCOL, PROTOCOLS
from core.ui.resources import cached, repository, scheme, settings
from core.ui.widgets.work import rerun_button, run_button

TOOLKIT = PROTOCOLS[1]


def show(shown: Shown) -> None:
    """What each choice does to the score of one encoder; below, the overlap with a training set, of all."""
    run = _run(shown)
    found = _from_rows(shown.entry, run, shown.pairs, shown.filtered)
    found += _among_fewer(shown, run)
    protocol = other_protocol(run, shown.entry, repository())
    found += _by_protocol(shown, run, protocol) + _by_support(shown, run)
    _table(found)
    comparability.coverage_notes([run])
    _not_computed(shown, run, protocol)
    _why_published_numbers_differ(run, protocol)
    st.subheader("Was the encoder trained on these pairs?", anchor=False)
    evalrank_training.card(shown)


def _run(shown: Shown) -> RunRecord:
    """The run of the encoder that the reader chooses, the best one at first."""
    by_variant = {run.plan.variant: run for run in shown.runs}
    variant: Variant = st.selectbox(
        "Variant", list(by_variant), format_func=lambda v: v.label, key="trust_of", persist_state="session", width=420
    )
    return by_variant[variant]


@cached(32, keys=BY_RUNS)
def _from_rows(entry: DiagnosticEntry, run: RunRecord, pairs: PairTable, filtered: bool) -> list[Choice]:
    rows = rows_of_runs(entry, [run.run_id], repository())[run.run_id]
    return choices(rows, PairTexts.of(rows, pairs.frame), filtered=filtered)


# --- what needs more than the run's rows


def _among_fewer(shown: Shown, run: RunRecord) -> list[Choice]:
    """The score without the frequent words that were added as background, where some were (the paper's table 4)."""
    dataset = datasets.DATASETS.get(run.plan.dataset)
    if dataset is None or not dataset.core_texts or run.plan.params["protocol"] != DEFAULT_PROTOCOL:
        return []
    try:
        score = _without_frequent_words(shown.entry, run, shown.filtered, dataset.core_texts)
    except EmbeddingsGone as gone:
        st.warning(str(gone))
        rerun_button("Encode again", f"Encoding for {run.plan.variant.label}", [run], key="trust_again")
        return []
    return [
        Choice(
            "background",
            "without frequent words",
            score,
            f"Mates compete with the {dataset.core_texts:,} words of the similarity sets only, not with the most "
            "frequent words of English (the ablation of the paper's table 4); transforms are not fitted anew.",
        )
    ]


@cached(64, "Ranking among fewer words …")
def _without_frequent_words(entry: DiagnosticEntry, run: RunRecord, filtered: bool, first: int) -> Score:
    return with_first_items(run, first, settings(), repository(), entry).score(filtered)


def _by_protocol(shown: Shown, run: RunRecord, other: RunRecord | None) -> list[Choice]:
    if other is None:
        return []
    score = score_of_run(other, shown.entry, repository(), filtered=shown.filtered)
    label = other.plan.variant.label
    if other.plan.params["protocol"] == TOOLKIT:
        meaning = "As the published toolkit counts: the mate's similarity is rounded otherwise than everybody else's."
        if as_toolkit(run.plan.variant.transform) != run.plan.variant.transform:
            meaning += " It also centres the embeddings, always."
    else:
        meaning = f"By definition, exact and with ties: {label}."
    return [Choice("protocol", other.plan.params["protocol"], score, meaning)]


def _by_support(shown: Shown, run: RunRecord) -> list[Choice]:
    """Coverage where it is not complete, and the score on the other support where it is stored."""
    if not run.plan.support_digest:
        return []
    other = other_support(run, shown.entry, repository())
    if other is None:
        return []
    c = other.coverage
    items = f"{c['items_covered']:,} of {c['items']:,} items"
    meaning = (
        f"On all that this encoder has a vector for ({items}); not comparable with other encoders."
        if other.plan.own_support
        else f"On the items that the compared encoders all cover ({items})."
    )
    way = "own" if other.plan.own_support else "common"
    return [Choice("support", way, score_of_run(other, shown.entry, repository(), filtered=shown.filtered), meaning)]


# --- on screen


def _table(found: list[Choice]) -> None:
    """One row per choice, with the difference from the shown score."""
    base = next(choice.score for choice in found if choice.is_shown)
    rows = [
        ChoiceRow(
            about=c.about,
            way=c.way,
            meaning=c.meaning,
            mrr=c.score.mrr,
            mrr_difference=None if c.is_shown else c.score.mrr - base.mrr,
            hits_at_1=c.score.hits_at_1,
            hits_difference=None if c.is_shown else c.score.hits_at_1 - base.hits_at_1,
            pairs=c.score.pairs,
            is_shown=c.is_shown,
        )
        for c in found
    ]
    st.html(choices_table(rows, scheme(), "What each choice does to the score"))
    st.caption("Δ: difference from the score that the page shows, which is the first row.")


def _not_computed(shown: Shown, run: RunRecord, protocol: RunRecord | None) -> None:
    """The choices whose runs are not stored, with the buttons that make them."""
    plan = run.plan
    transform, other = plan.variant.transform, TOOLKIT
    if plan.params["protocol"] == TOOLKIT:
        other, transform = DEFAULT_PROTOCOL, as_toolkit(transform)
    if protocol is None:
        _offer(
            f"Not computed yet: the same by the protocol {other}.",
            "Compute it",
            run,
            transform,
            {**plan.params, "protocol": other},
            key="trust_protocol",
        )
    if plan.support_digest and not plan.own_support and other_support(run, shown.entry, repository()) is None:
        _offer(
            "Not computed yet: the same on all items that this encoder covers itself.",
            "Compute it",
            run,
            plan.variant.transform,
            dict(plan.params),
            key="trust_support",
        )


def _offer(said: str, label: str, run: RunRecord, transform: str, params: dict[str, str], *, key: str) -> None:
    try:
        request = pipeline.request(
            run.plan.diagnostic, run.plan.variant.encoder, transform, run.plan.dataset, params, settings()
        )
    except BlindspotError as error:
        st.caption(f"{said} {as_text(str(error))}")
        return
    text, button = st.columns([4, 1], vertical_alignment="center")
    text.info(said)
    with button:
        run_button(label, request.label, [request], key=key, primary=False)


def _why_published_numbers_differ(run: RunRecord, other: RunRecord | None) -> None:
    """Both numbers of this encoder, and in a few sentences why they differ."""
    with st.container(border=True, key="why_published"):
        st.markdown("**Why published numbers differ**")
        if other is None:
            st.markdown(
                "Published EvalRank scores come from a toolkit that computes the mate's similarity by a product of its "
                "own, which rounds otherwise than everybody else's, so that a mate often counts above itself and loses "
                "a rank. Compute both protocols to see both numbers of this encoder."
            )
            return
        toolkit, definition = (run, other) if run.plan.params["protocol"] == TOOLKIT else (other, run)
        st.markdown(comparability.both_protocols(toolkit, definition))
