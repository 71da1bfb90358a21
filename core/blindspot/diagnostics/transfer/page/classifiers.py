"""The view *classifiers* of the page Transfer: how the ranking of encoders changes with the classifier."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import streamlit as st

from blindspot.diagnostics.transfer import stability
from blindspot.diagnostics.transfer.definition import CLASSIFIERS
from blindspot.diagnostics.transfer.outcomes import Measure
from blindspot.diagnostics.transfer.page import offer
from blindspot.diagnostics.transfer.page.runs import TransferView, outcomes_of
from blindspot.diagnostics.transfer.stability import Flip
from blindspot.diagnostics.transfer.view import MEAN, Crossed, choices, crossed, mean_of
from blindspot.figures import grids
from blindspot.ui.markdown import as_text
from blindspot.ui.resources import cached
from blindspot.ui.variant_looks import variant_styles
from blindspot.ui.widgets import tables


def show(shown: TransferView) -> None:
    """A row per task, then the ranks by one task or the mean, and the models whose order changes."""
    tasks = dict.fromkeys(task for by_task in shown.every.values() for task in by_task)
    by_task = {task: crossing for task in tasks if (crossing := _crossed(shown, task))}
    if not by_task:
        _offer(shown)
        return
    mean = mean_of([crossed for task, crossed in by_task.items() if task not in shown.page.demos])
    _agreements(shown, by_task, mean)
    chosen = _choose(shown, by_task, mean)
    crossing = mean if mean and chosen == MEAN else by_task[chosen]
    _places(shown, crossing)
    _flips(shown, crossing, list(by_task.values()) if crossing is mean else [crossing])
    if crossing is not mean and (lacking := [c for c in CLASSIFIERS if c not in crossing.classifiers]):
        offer.classifiers(shown, chosen, lacking, crossing.variants)


def _crossed(shown: TransferView, task: str) -> Crossed | None:
    """A task's scores by classifier, for the models that have the chosen classifier or, without it, the first one."""
    by_classifier = {c: shown.every[c][task] for c in CLASSIFIERS if task in shown.every.get(c, {})}
    wanted = by_classifier.get(shown.classifier, next(iter(by_classifier.values())))
    among = [v for v in shown.variants if v in wanted]
    return crossed(task, by_classifier, among, shown.measure, overlap=shown.overlap)


def _title(shown: TransferView, of: str, by_task: Mapping[str, Crossed]) -> str:
    counted = sum(task not in shown.page.demos for task in by_task)
    return f"mean of {counted} tasks" if of == MEAN else shown.page.titled(of)


def _agreements(shown: TransferView, by_task: Mapping[str, Crossed], mean: Crossed | None) -> None:
    rows = [
        {
            "task": _title(shown, crossed.task, by_task),
            "models": crossed.agreement.encoders,
            "classifiers": len(crossed.classifiers),
            "same ranking": f"{crossed.agreement.same} of {crossed.agreement.pairs}",
            "Kendall": crossed.agreement.kendall,
            "least Kendall": crossed.agreement.least_kendall,
            "Spearman": crossed.agreement.spearman,
            "changed pairs": f"{crossed.turned} of {crossed.pairs}",
        }
        for crossed in [*([mean] if mean else []), *by_task.values()]
    ]
    number = st.column_config.NumberColumn
    tables.draw(
        rows,
        key="transfer_agreement",
        placeholder="–",
        column_config={
            "same ranking": st.column_config.TextColumn(help="Pairs of classifiers that rank all models alike"),
            "Kendall": number("Kendall's τ-b", format="%.2f", help="Mean over pairs of classifiers"),
            "least Kendall": number("least τ-b", format="%.2f"),
            "Spearman": number("Spearman's ρ", format="%.2f", help="Mean over pairs of classifiers"),
            "changed pairs": st.column_config.TextColumn(help="Pairs of models whose order depends on the classifier"),
        },
    )
    few = min(len(crossed.variants) for crossed in by_task.values())
    st.caption(
        f"Rankings by {shown.axis}, compared between every two classifiers: 1 same order, -1 opposite order."
        + (f" With {few} models these numbers move in large steps." if few < 6 else "")
    )


def _choose(shown: TransferView, by_task: Mapping[str, Crossed], mean: Crossed | None) -> str:
    names = [*([MEAN] if mean else []), *by_task]
    default = shown.picks.dataset if shown.picks.dataset in by_task else names[0]
    if st.session_state.get("ranking_of") not in (None, *names):  # of other variants
        st.session_state["ranking_of"] = None
    chosen = st.selectbox(
        "Ranking of",
        names,
        index=None,
        key="ranking_of",
        bind="query-params",
        placeholder=_title(shown, default, by_task),
        width=280,
        help="A task, or the mean over the tasks that were run, with equal weights.",
    )
    return str(chosen or default)


def _places(shown: TransferView, crossing: Crossed) -> None:
    looks = variant_styles(crossing.variants)
    styles = {v.label: looks[v] for v in crossing.variants}
    labels = [v.label for v in crossing.variants]
    figure = grids.place_lines(crossing.places, crossing.values, labels, crossing.classifiers, styles, shown.scheme)
    st.plotly_chart(figure, key="transfer_places")
    tables.draw(
        {"model": labels, **dict(zip(crossing.classifiers, 100 * crossing.values.T, strict=True))},
        key="transfer_by_classifier",
        column_config=dict.fromkeys(crossing.classifiers, "%.1f%%"),
    )
    st.caption(
        "A row per classifier. Where lines cross, the order of two models depends on the classifier. Table: "
        f"{shown.axis}."
    )
    if rows := choices(crossing):
        st.markdown("**What dev chose**")
        about = st.column_config.NumberColumn(format="percent", help="Share of the folds with z-norm")
        tables.draw(rows, key="transfer_chosen", placeholder="–", column_config={"z-norm": about})
        st.caption("C: strength of the regression, median over the folds. Both are chosen on training data alone.")


def _flips(shown: TransferView, crossing: Crossed, tasks: Sequence[Crossed]) -> None:
    if not crossing.turned:
        st.success(
            f"The {len(crossing.classifiers)} classifiers rank the {len(crossing.variants)} models in the same order, "
            "ties aside.",
            icon=":material/check_circle:",
        )
        return
    counted = [t for t in tasks if t.task not in shown.page.demos or len(tasks) == 1]
    flips = _tested(crossing, counted, shown.measure, overlap=shown.overlap)
    encoders = [f"**{as_text(v.label)}**" for v in crossing.variants]
    classifiers = [f"`{name}`" for name in crossing.classifiers]
    clear = [flip for flip in flips if flip.is_clear]
    chance = [flip for flip in flips if not flip.is_clear]
    some = f"The order of {len(flips)} of {crossing.pairs} pairs of models depends on the classifier"
    if clear:
        flips_listed = "\n".join(f"- {stability.in_words(flip, encoders, classifiers)}" for flip in clear)
        st.warning(
            f"{some}, **significantly** for {len(clear)} of them:\n\n{flips_listed}", icon=":material/swap_vert:"
        )
    else:
        st.info(
            f"{some}; none of these flips is **significant**.",
            icon=":material/swap_vert:",
        )
    if chance:
        with st.expander("Flips that are not significant", icon=":material/swap_vert:", expanded=not clear):
            st.markdown("\n".join(f"- {stability.in_words(flip, encoders, classifiers)}" for flip in chance))
    st.caption(
        "In parentheses: 95% CI of the difference over the tested examples, those that share a text being dependent; "
        "it holds for all differences of two models with a classifier at once, since the largest are shown. A flip is "
        "significant where both intervals exclude 0."
    )


def _key_of(crossed: Crossed) -> object:
    """A cache key: with the measure and the overlap it decides the values of a task; the tasks decide their mean."""
    return crossed.task, crossed.variants, crossed.classifiers, [[run.run_id for run in row] for row in crossed.runs]


@cached(32, "Are these flips chance? …", keys={Crossed: _key_of})
def _tested(crossing: Crossed, tasks: Sequence[Crossed], measure: Measure, *, overlap: bool) -> list[Flip]:
    run_ids = [task.run_ids(crossing.variants, crossing.classifiers) for task in tasks]
    outcomes = [outcomes_of([run for row in task.runs for run in row], overlap=overlap) for task in tasks]
    return stability.flips(crossing.values, run_ids, outcomes, measure)


def _offer(shown: TransferView) -> None:
    picked = shown.picks.dataset if shown.is_task else ""
    variants = [v for v in shown.variants if v in shown.runs.get(picked, {})] or list(shown.variants)
    if len(variants) < 2:
        st.info(
            "A ranking needs at least two models. Pick another one in the sidebar, or run one in the view *tasks*.",
            icon=":material/info:",
        )
        return
    st.info(
        "A ranking needs two encoders with two classifiers on the same task, and no task has them yet.",
        icon=":material/info:",
    )
    offer.classifiers(shown, picked or next(iter(shown.runs), shown.page.demos[0]), CLASSIFIERS, variants)
