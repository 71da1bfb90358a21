"""Comparability of runs on the EvalRank page: texts ranked, coverage, prompts, training sets, protocol."""

from __future__ import annotations

from collections.abc import Collection, Sequence

import streamlit as st

from blindspot.datasets import training_overlap
from blindspot.datasets.catalog import title_of
from blindspot.diagnostic import Diagnostic
from blindspot.diagnostics.evalrank.page.evalrank_view import button_for
from blindspot.diagnostics.evalrank.trust import as_toolkit, other_protocol
from blindspot.errors import BlindspotError
from blindspot.numerics.statistics.written import percent
from blindspot.runs import manifests, requesting
from blindspot.runs.same_items import on_same_items
from blindspot.store.records import RunRecord
from blindspot.ui.markdown import as_text
from blindspot.ui.options import options
from blindspot.ui.pickers import DEFAULT_PROTOCOL, Picks
from blindspot.ui.resources import explained, repository, settings
from blindspot.ui.widgets import shown_runs
from blindspot.ui.widgets.work import run_button
from blindspot.variants import Variant


def comparable_runs(runs: Sequence[RunRecord], picks: Picks) -> list[RunRecord]:
    """One run per variant, best first, on common or own texts; the reader chooses which, if it matters."""
    is_own = False
    if any(r.plan.covered_digest for r in runs):
        with options():
            is_own = shown_runs.choose_own("Texts ranked", "texts", "covered")
    shown = sorted(on_same_items(runs, is_own), key=lambda r: -r.metrics["mrr"])
    if is_own:
        st.warning(
            "Each model is ranked on the texts that it covers itself: these scores are **not comparable**.",
            icon=":material/balance:",
        )
    elif lacking := {r.plan.variant for r in runs} - {r.plan.variant for r in shown}:
        _offer_common(runs, picks, lacking)
    return shown


def _offer_common(runs: Sequence[RunRecord], picks: Picks, lacking: Collection[Variant]) -> None:
    """Name the variants that ranked other texts, and offer to rank all on common ones."""
    names = ", ".join(f"`{v.label}`" for v in sorted(lacking, key=str))
    text, button = st.columns([4, 1], vertical_alignment="center")
    text.info(
        f"Not shown: {names} {'covers' if len(lacking) == 1 else 'cover'} only some of the texts. Rank all models on "
        "the texts they share to compare them.",
        icon=":material/balance:",
    )
    plans = {r.plan.variant: r.plan for r in runs}
    everybody = [v.encoder for v in plans]
    try:
        requests = [
            requesting.request(p.diagnostic, v.encoder, v.transform, p.dataset, p.params, settings(), everybody)
            for v, p in plans.items()
        ]
    except BlindspotError as error:
        st.warning(as_text(explained(error)))
    else:
        with button:
            run_button("Rank on shared texts", f"Shared texts of {title_of(picks.dataset)}", requests, key="run_common")


def same_items(runs: Sequence[RunRecord]) -> bool:
    return len({r.plan.covered_digest for r in runs}) == 1


def model_notes(runs: Sequence[RunRecord]) -> None:
    """Warn of prompts that models declare and that the runs did not use; say what was assumed, and what was cut."""
    for warning in manifests.prompt_warnings(runs):
        st.warning(as_text(warning), icon=":material/report:")
    for kind in (manifests.reading_notes, manifests.assumptions, manifests.truncation_warnings):
        for note in kind(runs):
            st.caption(as_text(note))


def training_notes(runs: Sequence[RunRecord]) -> None:
    """Warn of training sets that have pairs of the dataset, if somebody named any."""
    for digest in dict.fromkeys(run.plan.dataset_digest for run in runs):
        for kept in training_overlap.remembered(settings().training, digest):
            if kept.warning:
                st.warning(as_text(kept.warning), icon=":material/report:")


def coverage_notes(runs: Sequence[RunRecord]) -> None:
    """Say what was left out for lack of a vector; the toolkit leaves nothing out (``protocol_note``)."""
    if runs[0].plan.params["protocol"] != DEFAULT_PROTOCOL:
        return
    incomplete = [r for r in runs if r.coverage["items_covered"] < r.coverage["items"]]
    if len(incomplete) == len(runs) and same_items(runs):
        whose = "all these models have" if len(runs) > 1 or runs[0].plan.covered_by else "this model has"
        st.caption(f"Only texts for which {whose} a vector: {_covered(runs[0])}.")
        return
    for run in incomplete:
        st.caption(f"`{run.plan.variant.label}` has a vector for {_covered(run)}.")


def _covered(run: RunRecord) -> str:
    c = run.coverage
    pairs = f"{c['pairs_covered']:,} of {c['pairs']:,} pairs"
    return f"{c['items_covered']:,} of {c['items']:,} texts, and so for {pairs}"


def protocol_note(entry: Diagnostic, runs: Sequence[RunRecord], picks: Picks) -> None:
    """Under the toolkit protocol: what it does differently, with both numbers of the best model."""
    if picks.protocol == DEFAULT_PROTOCOL:
        return
    run, plan = runs[0], runs[0].plan
    definition = other_protocol(run, entry, repository())
    st.info(both_protocols(run, definition), icon=":material/compare_arrows:")
    if definition is None:
        params, transform = {**plan.params, "protocol": DEFAULT_PROTOCOL}, as_toolkit(plan.variant.transform)
        button_for("Compute it by definition", run, transform, params, key="run_definition", primary=False)


def both_protocols(run: RunRecord, definition: RunRecord | None) -> str:
    """Both numbers of one model, and why they differ, as Markdown.

    Args:
        run: under the toolkit protocol.
        definition: of the same embeddings; None while it is not computed.
    """
    # Four digits: the two differ by rounding alone, and the published ones have as many.
    toolkit = f"Hits@1 **{run.metrics['hits@1']:.4f}**, MRR **{run.metrics['mrr']:.4f}**"
    if definition is not None:
        m = definition.metrics
        label = definition.plan.variant.label
        exact = f"by definition Hits@1 **{m['hits@1']:.4f}**, MRR **{m['mrr']:.4f}** (`{label}`)"
        if m["pairs"] < run.metrics["pairs"]:
            exact += f" on the {m['pairs']:,.0f} pairs that it covers"
    else:
        exact = "by definition not computed yet"
    share = run.metrics["above_themselves"] / run.metrics["pairs"]
    unknown = run.coverage["pairs"] - run.coverage["pairs_covered"]
    why = (
        "The toolkit computes the similarity of the match in a separate product, which is rounded differently: in "
        f"{percent(share, 1)} of the pairs the match outranks itself and loses a rank."
    )
    if unknown:
        why = (
            f"All texts without a vector share one substitute: {unknown:,} of {run.coverage['pairs']:,} pairs contain "
            "one, rounding decides their ties, and another machine may give other digits. " + why
        )
    return f"`{run.plan.variant.label}`: by the published toolkit {toolkit}; {exact}. {why}"
