"""View *what if* of the EvalRank page: another transform or similarity, from cached embeddings."""

from __future__ import annotations

from dataclasses import replace

import pandas as pd
import streamlit as st

from blindspot.diagnostic import Diagnostic
from blindspot.diagnostics.evalrank import what_if
from blindspot.diagnostics.evalrank.figures.what_if import change_bars, rank_scatter
from blindspot.diagnostics.evalrank.page.evalrank_view import EvalRankView, button_for
from blindspot.diagnostics.evalrank.page.pairs import draw_ranking, encode_again, query_and_match
from blindspot.diagnostics.evalrank.pairs import around_match
from blindspot.diagnostics.evalrank.what_if import Basis, Change, WhatIf
from blindspot.errors import BlindspotError
from blindspot.numerics.similarity import Similarity
from blindspot.numerics.statistics.written import CHANGE, SCORE, interval, number
from blindspot.runs.embeddings import EmbeddingsGone
from blindspot.store.records import RunRecord
from blindspot.transforms.chain import READY_CHAINS, STEPS, TransformChain
from blindspot.transforms.trained_flows import NotTrained
from blindspot.ui.boundary import fragment
from blindspot.ui.headline import subject_first
from blindspot.ui.markdown import as_text
from blindspot.ui.page_state import ITEM
from blindspot.ui.pickers import DEFAULT_PROTOCOL
from blindspot.ui.resources import cached, explained, repository, scheme, settings
from blindspot.ui.turns import turn
from blindspot.ui.widgets import tables
from blindspot.ui.widgets.addressed import leave_out_unread, names_of_variants, number_named, one_named
from blindspot.ui.widgets.browse_table import choose_row
from blindspot.ui.widgets.choices import one_of
from blindspot.variants import Variant

DEFAULT_TRANSFORM = "center"  # defaults never enter the address, so they must never change
AS_PICKED = "as stored"
MOST_CHANGED = 12


def show(shown: EvalRankView) -> None:
    if shown.picks.protocol != DEFAULT_PROTOCOL:
        st.info(
            "This view needs the protocol *definition*. Under the toolkit protocol, rounding decides many ranks and "
            "every transform is preceded by centering, so the effect of a transform cannot be isolated. Choose "
            "*definition* among the options.",
            icon=":material/info:",
        )
        return
    _compare(shown)


@fragment
def _compare(shown: EvalRankView) -> None:
    run, transform, metric = _pick(shown)
    try:
        chain = TransformChain.parse(transform)
        base = _basis(run, shown.entry)
        _sliders(chain, run.dimension)
        if str(chain) == run.plan.variant.transform and metric == run.plan.params["metric"]:
            st.info(
                "This is the current setting. Choose a different transform or similarity to compare.",
                icon=":material/info:",
            )
            return
        among = len(base.items) if base.candidates is None else int(base.candidates.sum())
        text = f"Ranking {len(base.sample):,} pairs among {among:,} texts …"
        with st.spinner(f"{text} The first time, kernels are compiled.", show_time=True):
            result = _result(base, chain, metric)
        _changes(base, result, shown, str(chain), metric)
    except EmbeddingsGone as gone:
        encode_again(gone, run, key="if_again")
    except NotTrained:
        st.info("A flow must be trained on all texts first: compute a run.", icon=":material/info:")
        _on_all_pairs(base, shown, str(chain), metric)
    except BlindspotError as error:
        st.error(as_text(explained(error)))


def _pick(shown: EvalRankView) -> tuple[RunRecord, str, Similarity]:
    """A stored run, and another transform and similarity; all of it in the address."""
    runs = {str(run.plan.variant): run for run in subject_first(shown.runs, shown.picks)}
    subject = next(iter(runs))
    first, second, third = st.columns([3, 3, 2], vertical_alignment="bottom")
    variant = one_named(
        "Model",
        list(runs),
        key="if_variant",
        name=names_of_variants(runs),
        container=first,
        placeholder=runs[subject].plan.variant.label,
        help="Its embeddings come from the cache.",
    )
    leave_out_unread("if_transform")
    transform = second.selectbox(
        "Post-processing",
        READY_CHAINS,
        index=None,  # and not that of a default: the sliders set this picker's value
        key="if_transform",
        bind="query-params",
        placeholder=DEFAULT_TRANSFORM,
        accept_new_options=True,
        help="Replaces the model's own post-processing. Choose one, or type steps joined by `+`, for example "
        "`center+whiten:64`.\n\n" + "\n".join(f"- `{s.usage}`: {s.help}" for s in STEPS.values()),
    )
    about = "cos: cosine. l2: 1/(1 + distance). As stored: the similarity in the sidebar."
    metric = one_of("Similarity", [AS_PICKED, *Similarity], "if_metric", about, container=third)
    run = runs.get(variant or subject, runs[subject])
    return (
        run,
        transform or DEFAULT_TRANSFORM,
        Similarity(run.plan.params["metric"] if metric == AS_PICKED else metric),
    )


def _sliders(chain: TransformChain, dimension: int | None) -> None:
    """Sliders for the arguments of the chain's steps; moving one sets the chain, and with it the address."""
    sliders = what_if.sliders(chain, dimension) if dimension else ()
    for slider, column in zip(sliders, st.columns(max(len(sliders), 2)), strict=False):
        key = f"if_argument_{slider.step}_{slider.name}"
        st.session_state[key] = slider.value
        column.slider(
            slider.name,
            min_value=slider.low,
            max_value=slider.high,
            key=key,
            on_change=_move,
            args=(chain, slider.step, key),
        )


def _move(chain: TransformChain, step: int, key: str) -> None:
    st.session_state["if_transform"] = str(what_if.with_argument(chain, step, int(st.session_state[key])))


@cached(4, "Reading ranks …", shared=True)
def _basis(run: RunRecord, entry: Diagnostic) -> Basis:
    return what_if.basis(run, entry, repository())


@cached(64, shared=True, keys={Basis: lambda base: base.run.run_id})
def _result(base: Basis, chain: TransformChain, metric: Similarity) -> WhatIf:
    with turn() as cancel:
        return what_if.what_if(base, chain, metric, settings(), cancel)


def _changes(base: Basis, result: WhatIf, shown: EvalRankView, transform: str, metric: Similarity) -> None:
    change = result.filtered if shown.filtered else result.raw
    n = len(base.sample)
    way = "filtered" if shown.filtered else "raw"
    whole = "all" if base.is_whole else "a random sample of"
    st.markdown(
        f"**{change.gained:,}** of {n:,} pairs move up, **{change.lost:,}** move down, "
        f"{n - change.gained - change.lost:,} stay. By {way} ranks among all {len(base.items):,} texts."
    )
    table, note = st.columns([3, 2], vertical_alignment="center")
    with table:
        tables.draw(_score_table(change), key="if_scores", column_config=_SCORE_COLUMNS)
    with note:
        if base.is_whole:
            st.caption(f"On {whole} {n:,} pairs: a run would store these scores.")
        else:
            st.caption(
                f"On {whole} {n:,} of {len(base.pairs):,} pairs, always the same sample: estimates of the change in a "
                "full run."
            )
        st.caption(
            f"95% CI of the paired difference. {_independent(change)} An interval that contains 0 may be chance."
        )
        _on_all_pairs(base, shown, transform, metric)
    numbers = base.pairs["item_no"].to_numpy()[base.sample]
    scatter, bars = st.columns(2)
    with scatter:
        st.markdown("**Rank of the match before and after.** Below the diagonal: improved.")
        items = len(base.items)
        figure = rank_scatter(change.before.shown, change.after.shown, numbers, items, scheme())
        st.plotly_chart(figure, key="if_scatter")
    with bars:
        st.markdown("**How far do matches move?**")
        st.plotly_chart(change_bars(change.factors, scheme()), key="if_bars")
    _most_changed(base, change)
    _drill(base, transform, metric)


_SCORE_COLUMNS = dict.fromkeys(("before", "after"), f"%{SCORE}") | {"change": f"%{CHANGE}"}


def _score_table(change: Change) -> list[dict[str, object]]:
    return [
        {
            "score": what_if.SHOWN[change.name],
            "before": change.before,
            "after": change.after,
            "change": change.difference.value,
            "95% CI": interval(change.difference.interval, CHANGE),
        }
        for change in change.changes()
    ]


def _independent(change: Change) -> str:
    """What the intervals treat as independent, and why there are none or some are missing."""
    without: dict[str, list[str]] = {}
    for score in change.changes():
        if score.difference.refusal:
            without.setdefault(score.difference.refusal, []).append(what_if.SHOWN[score.name])
    reasons = [f"No interval for {', '.join(scores)}: {why}." for why, scores in without.items()]
    return " ".join([f"From {change.known.independent}.", *reasons])


def _on_all_pairs(base: Basis, shown: EvalRankView, transform: str, metric: Similarity) -> None:
    """The score of a run with these choices on all pairs, or a button to compute it."""
    plan = base.run.plan
    variant = Variant(plan.variant.encoder, transform)
    params = {**plan.params, "metric": metric.value}
    stored = repository().finished(shown.entry, variants=[variant], dataset=plan.dataset, params=params)
    if same := [r for r in stored if r.plan.covered_digest == plan.covered_digest]:
        name = "mrr_filtered" if shown.filtered else "mrr"
        before, after = base.run.metrics[name], same[0].metrics[name]
        st.caption(f"Stored for all {len(base.pairs):,} pairs: MRR {number(before, SCORE)} → {number(after, SCORE)}.")
        return
    button_for("Compute it on all pairs", base.run, transform, params, key="if_run", covered_by=plan.covered_by)


def _most_changed(base: Basis, change: Change) -> None:
    """The pairs whose matches move farthest; a row opens the pair below."""
    frame = base.pairs.iloc[base.sample][["item_no", "query", "match"]].reset_index(drop=True)
    frame.insert(1, "before", change.before.shown)
    frame.insert(2, "after", change.after.shown)
    moved = frame[change.factors != 1.0]
    if moved.empty:
        st.caption("No match moves.")
        return
    farthest = pd.Series(change.factors).loc[moved.index].map(lambda factor: max(factor, 1 / factor))
    top = moved.loc[farthest.sort_values(ascending=False, kind="stable").index[:MOST_CHANGED]]
    st.markdown("**Pairs that change most**")
    rank = st.column_config.NumberColumn(format="localized", help="Rank of the match; 1 is best, .5 is a tie")
    choose_row(
        top.rename(columns={"item_no": "pair"}),
        top["item_no"].tolist(),
        lambda number: st.session_state.update(pair=number),
        table="if_pairs",
        drawn=base.run.run_id,
        column_config={
            "pair": st.column_config.NumberColumn(width="small", help="Number of the pair in the dataset"),
            "before": rank,
            "after": rank,
            "query": st.column_config.TextColumn(width=340),
            "match": st.column_config.TextColumn("match", width=340),
        },
    )


def _drill(base: Basis, transform: str, metric: Similarity) -> None:
    """The ranking of the chosen pair, before and after."""
    number = number_named(
        "Pair",
        key=ITEM,
        placeholder="a number",
        help="Choose a row of the table, or type a pair's number.",
        width=220,
    )
    if number is None:
        st.caption("Choose a row to see what outranks the match before and after.")
        return
    rows = base.pairs[base.pairs["item_no"] == number]
    if rows.empty:
        st.warning(f"There is no pair {number} among the {len(base.pairs):,} that this model ranked.")
        return
    pair, plan = rows.iloc[0], base.run.plan
    after = replace(
        base.run,
        plan=replace(
            plan, variant=Variant(plan.variant.encoder, transform), params={**plan.params, "metric": metric.value}
        ),
    )
    with st.container(border=True, key="drill"):
        query_and_match(pair)
        for column, run, title in zip(st.columns(2), (base.run, after), ("before", "after"), strict=True):
            with column:
                how = f"{run.plan.variant.label}, {run.plan.params['metric']}"
                st.markdown(f"{title}: **{as_text(how)}**")
                items = around_match(run, int(pair["query_no"]), int(pair["match_no"]), settings(), repository())
                draw_ranking(pair, items, how)
