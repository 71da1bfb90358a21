"""The view *scores* of the page Similarity: three correlations with intervals, and the order by each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import streamlit as st

from blindspot.datasets.kinds.own_columns import OwnColumn, choices_of
from blindspot.datasets.published.meaning_changes import CEILINGS
from blindspot.diagnostics.similarity import figures, words_alone
from blindspot.diagnostics.similarity.definition import ENTRY, NAMES
from blindspot.diagnostics.similarity.page.runs import BY_RUNS, SimilarityView
from blindspot.diagnostics.similarity.pairs import ScoredTable
from blindspot.diagnostics.similarity.view import (
    ALL,
    MEAN,
    Disagreement,
    Row,
    ScoresView,
    disagreements,
    scores_view,
)
from blindspot.figures import grids
from blindspot.figures.dots import dot, dots
from blindspot.figures.theme import Style, of_no_model
from blindspot.numerics.statistics.correlations import KINDS
from blindspot.numerics.statistics.written import CHANGE, SCORE, interval, number
from blindspot.numerics.words_alone import MEANING, TOKENS
from blindspot.runs.findings.baselines import VARIANTS, AgainstWords, in_words
from blindspot.ui import headline
from blindspot.ui.markdown import as_text
from blindspot.ui.resources import cached
from blindspot.ui.widgets import tables
from blindspot.ui.widgets.addressed import tab_named
from blindspot.ui.widgets.choices import one_of
from blindspot.ui.widgets.doubts import show_doubts
from blindspot.variants import Variant

Rows = Mapping[Variant, Sequence[Row]]
SETS = "set"
SCALE = "ρ is 1 where a model sorts the pairs as people do, and 0 where its order has nothing to do with theirs."
GROUPS_HELP = "The sets of the dataset, or another of its columns. A pair without a value counts as (empty)."
GROUPS_CAPTION = (
    f"**{ALL}**: one correlation over the pairs of every group together. **{MEAN}**: the mean of the groups' "
    "correlations, weighted by their pairs. Papers use one name for both; they can differ by points."
)


def show(shown: SimilarityView) -> None:
    """Correlations over all pairs, per set and as the weighted mean; the order of the variants by each."""
    view = _view(shown.table)
    turned = len(shown.runs) > 1 and bool(_disagreements(shown.table))
    with_alone = _by_variant(shown, view)
    styles = _styles(shown)
    left, right = st.columns(2) if turned else (st.container(), None)
    with left:
        if turned or shown.own or len(shown.table.sets) > 1:  # else there is no other part
            st.markdown(f"**Over {ALL}**")
        of_all = [
            dot(variant, figures.NAMES[kind], estimate)
            for variant, (whole, *_) in with_alone.items()
            for kind, estimate in whole.estimates.items()
        ]
        figure = dots(of_all, styles, shown.scheme, axis="correlation (0: none)")
        st.plotly_chart(figures.with_zero(figure, shown.scheme), key="sim_all")
    if right is not None:
        with right:
            st.markdown("**Order by each correlation**")
            _order(shown, view)
    if len(shown.runs) > 1:
        _say_whether_they_agree(shown)
    labels = {run.run_id: as_text(run.plan.variant.label) for run in shown.runs}
    near_zero = ", ".join(labels[run_id] for run_id in view.near_zero())
    about = f" Spearman's ρ cannot be told from 0: {near_zero}." if near_zero else ""
    about += (
        f" Hollow: Spearman's ρ of shared words alone ({'; '.join(f'{w}: {MEANING[w]}' for w in view.words)}). {TOKENS}"
        if view.words
        else ""
    )
    st.caption(f"{len(shown.table.frame):,} pairs. {view.bars}{_ceiling(shown)}{about}")
    if shown.own or len(shown.table.sets) > 1:
        with_alone = _grouped(shown)
        _per_group(shown, with_alone)
    _table(with_alone)


def show_headline(shown: SimilarityView) -> None:
    """A model's Spearman with its interval, and how the other models differ from it."""
    runs = headline.subject_first(shown.runs, shown.picks)
    estimate = _view(shown.table).runs[runs[0].run_id][0].estimates.get("spearman")
    if estimate is None:  # all similarities or all scores are equal: the view says so
        return
    interval, gold = headline.sure(estimate, ".3f"), shown.table.gold
    text = (
        f"Similarities by **{as_text(runs[0].plan.variant.label)}** follow people's scores of "
        f"{len(shown.table.frame):,} pairs ({number(gold.min(), 'g')} to {number(gold.max(), 'g')}) with Spearman's "
        f"ρ = **{number(estimate.value, '.3f')}**{interval}"
    )
    rivals = [] if show_doubts(ENTRY, shown.runs) else headline.rivals(ENTRY, runs, ".3f")
    headline.show(f"{headline.in_words(text, rivals, 'more closely', 'less closely')} {SCALE}")
    if against := _against_words(shown.table, runs[0].run_id):
        name = f"**{as_text(runs[0].plan.variant.label)}**"
        st.markdown(in_words(against, name, words_alone.SCORE, ".3f"))


@cached(16, "Computing intervals …", keys=BY_RUNS)
def _view(
    table: ScoredTable,
    of_column: str = "",  # noqa: ARG001 - of the key
    _column: OwnColumn | None = None,
) -> ScoresView:
    return scores_view(table, _column)


def _by_variant(shown: SimilarityView, view: ScoresView) -> Rows:
    """The rows of the models and of shared words."""
    of_words = {VARIANTS[words]: rows for words, rows in view.words.items()}
    return {run.plan.variant: view.runs[run.run_id] for run in shown.runs} | of_words


@cached(64, "Comparing with words …", keys=BY_RUNS)
def _against_words(table: ScoredTable, run_id: str) -> AgainstWords | None:
    return words_alone.against(table.similarity[run_id], _view(table).alone, table)


def _styles(shown: SimilarityView) -> Mapping[Variant, Style]:
    return {**shown.styles, **of_no_model(list(VARIANTS.values()), shown.scheme)}


def _ceiling(shown: SimilarityView) -> str:
    """The correlation of raters with each other, where it is published."""
    ceilings = CEILINGS.get(shown.runs[0].plan.dataset, {})
    ceilings_text = ", ".join(f"{value:.2f} over {pairs}" for pairs, value in ceilings.items())
    return f" Ceiling: two halves of the raters agree at Pearson's r = {ceilings_text}." if ceilings_text else ""


def _order(shown: SimilarityView, view: ScoresView) -> None:
    run_ids, values, places = view.order()
    if run_ids:
        variants = [run.plan.variant for run_id in run_ids for run in shown.runs if run.run_id == run_id]
        styles = {variant.label: shown.styles[variant] for variant in variants}
        names = list(figures.NAMES.values())
        st.plotly_chart(grids.place_lines(places, values, list(styles), names, styles, shown.scheme), key="sim_order")


# --- agreement


@cached(16, "Comparing the orders …", keys=BY_RUNS)
def _disagreements(table: ScoredTable) -> tuple[Disagreement, ...]:
    return disagreements(table)


def _say_whether_they_agree(shown: SimilarityView) -> None:
    differences = _disagreements(shown.table)
    n = len(shown.runs)
    if not differences:
        st.caption(f"Pearson, Spearman and Kendall rank the {n} models in the same order.")
        return
    variants = {run.run_id: as_text(run.plan.variant.label) for run in shown.runs}
    total = n * (n - 1) // 2
    clear = [disagreement for disagreement in differences if disagreement.beyond_chance]
    some = f"The correlations rank {len(differences)} of {total} pairs of models in different orders"
    if clear:
        st.warning(
            f"{some}; for {len(clear)} of them the better one **depends significantly on the correlation**:\n\n"
            + "\n".join(_in_words(disagreement, variants) for disagreement in clear),
            icon=":material/swap_vert:",
        )
    else:
        st.info(f"{some}, none of them significantly.", icon=":material/swap_vert:")
    if len(clear) < len(differences):
        with st.expander("Different orders, not significant", icon=":material/swap_vert:"):
            st.markdown(
                "\n".join(
                    _in_words(disagreement, variants) for disagreement in differences if not disagreement.beyond_chance
                )
            )
    st.caption(f"In parentheses: 95% CI, of all {len(KINDS) * total:,} differences at once.")


def _in_words(disagreement: Disagreement, variants: Mapping[str, str]) -> str:
    values = [
        (kind, number(d.value, CHANGE), interval(d.interval, CHANGE)) for kind, d in disagreement.differences.items()
    ]
    differences = ", ".join(f"{figures.NAMES[kind]} {value} ({ends})" for kind, value, ends in values)
    return f"- **{variants[disagreement.first]}** minus **{variants[disagreement.second]}**: {differences}"


# --- per set, or per value of an own column


def _grouped(shown: SimilarityView) -> Rows:
    """The scores by the chosen way to group pairs."""
    user_columns = choices_of(shown.own, [SETS])
    ways = [*([SETS] if len(shown.table.sets) > 1 else ()), *user_columns]
    column = None
    if len(ways) > 1 or user_columns:
        column = user_columns.get(tab_named("Group pairs by", ways, key="sim_by", name=as_text, help=GROUPS_HELP))
    return _by_variant(shown, _view(shown.table, column.digest if column else "", column))


def _per_group(shown: SimilarityView, rows: Rows) -> None:
    in_words = "\n".join(f"- **{name}**: {words}" for name, words in NAMES.items())
    kind = one_of("Correlation per group", KINDS, "sim_kind", in_words, default="spearman")
    lines = [
        dot(variant, row.of, estimate)
        for variant, of_variant in rows.items()
        for row in of_variant
        if (estimate := row.estimates.get(kind))
    ]
    figure = dots(lines, _styles(shown), shown.scheme, axis=NAMES[kind])
    st.plotly_chart(figure, key="sim_sets")
    st.caption(GROUPS_CAPTION)


def _table(rows: Rows) -> None:
    out = []
    for variant, of_variant in rows.items():
        for row in of_variant:
            line: dict[str, object] = {"model": variant.label, "over": row.of, "pairs": row.pairs}
            for kind, name in figures.NAMES.items():
                estimate = row.estimates.get(kind)
                line[name] = estimate.value if estimate else None
                line[f"{name}, 95% CI"] = interval(estimate.interval if estimate else None, SCORE)
            out.append(line)
    with st.expander("All scores as a table", icon=":material/table:"):
        tables.draw(
            out,
            key="sim_scores",
            placeholder="–",
            column_config=dict.fromkeys(figures.NAMES.values(), f"%{SCORE}"),
        )
