"""The view *transfer* of the page Probing: correlations with transfer tasks over models, and the published ones."""

from __future__ import annotations

import numpy as np
import streamlit as st

from blindspot.datasets.kinds.probing import PROBES
from blindspot.diagnostics.probing import figures
from blindspot.diagnostics.probing.correlation import FEWEST, OF_ALL, Scores, WithTransfer, published, with_transfer
from blindspot.diagnostics.transfer import definition as transfer
from blindspot.diagnostics.transfer.page import PAGE as TRANSFER_PAGE
from blindspot.diagnostics.transfer.page.runs import Runs, TransferView
from blindspot.diagnostics.transfer.tasks import probe_asked, score
from blindspot.store.records import RunRecord
from blindspot.ui.page_state import link
from blindspot.ui.resources import repository
from blindspot.ui.widgets import shown_runs, tables


def show(shown: TransferView) -> None:
    """The figure, and a row per probing task with the published mean beside the measured one."""
    correlation = with_transfer(_scores(shown, shown.runs), _scores(shown, _transfer_runs(shown)))
    if np.isnan(correlation.rho).all():
        most = int(correlation.models.max(initial=0))
        st.info(
            f"A correlation takes {FEWEST} models with both a probing and a transfer score by `{shown.classifier}`; "
            f"there {'is' if most == 1 else 'are'} {most}. Run more tasks here and under *Transfer*. Below: what "
            "was published.",
            icon=":material/info:",
        )
        link("transfer", label="To Transfer", icon=":material/category:")
    else:
        _figure(shown, correlation)
    _table(shown, correlation)


def _transfer_runs(shown: TransferView) -> Runs:
    """The runs on transfer tasks with the same classifier and seed, comparable within a task."""
    params = transfer.ENTRY.check_params({"classifier": shown.classifier, "seed": shown.seed})
    by_task: dict[str, list[RunRecord]] = {}
    for run in repository().finished(transfer.ENTRY, params=params):
        if run.plan.dataset not in TRANSFER_PAGE.demos and run.plan.variant in shown.variants:
            by_task.setdefault(run.plan.dataset, []).append(run)
    return shown_runs.by_variant({task: by_task[task] for task in sorted(by_task, key=TRANSFER_PAGE.place)}, shown.own)


def _scores(shown: TransferView, runs: Runs) -> Scores:
    """Scores by task and model, for the models that are shown."""
    out = {}
    for task, by_variant in runs.items():
        scores_of_task = {v: score(run, shown.measure, overlap=shown.overlap) for v, run in by_variant.items()}
        out[task] = {
            v: estimate.value for v, estimate in scores_of_task.items() if estimate is not None and v in shown.variants
        }
    return out


def _figure(shown: TransferView, correlation: WithTransfer) -> None:
    probes = [shown.page.titled(task) for task in correlation.probes]
    tasks = [TRANSFER_PAGE.titled(task) for task in correlation.tasks]
    figure = figures.correlations(correlation.rho, correlation.models, probes, tasks, shown.scheme)
    st.plotly_chart(figure, key="probing_correlations")


def _table(shown: TransferView, correlation: WithTransfer) -> None:
    """Measured tasks first, then published ones that were not run, then the means."""
    printed = {printed_row.task: printed_row for printed_row in published()}
    rows = []
    for task, rho, mean in zip(correlation.probes, correlation.rho, correlation.means, strict=True):
        probe = probe_asked(task)
        beside = printed.get(probe.id) if probe and task not in shown.page.demos else None
        rows.append((shown.page.titled(task), int(np.count_nonzero(~np.isnan(rho))), mean, beside))
    there = {probe.id for task in correlation.probes if task not in shown.page.demos and (probe := probe_asked(task))}
    rows += [
        (PROBES[name].title, 0, float("nan"), printed_row)
        for name, printed_row in printed.items()
        if name in PROBES.keys() - there
    ]
    counted = correlation.of([task not in shown.page.demos for task in correlation.probes])
    rows.append(("mean", int(np.count_nonzero(~np.isnan(counted.rho))), counted.mean, printed.get(OF_ALL)))
    frame = {
        "probing task": [name for name, *_ in rows],
        "correlations": [count for _, count, *_ in rows],
        "measured": [mean for *_, mean, _ in rows],
        "published": [float("nan") if printed_row is None else printed_row.spearman for *_, printed_row in rows],
    }
    number = st.column_config.NumberColumn
    tables.draw(
        frame,
        key="probing_published",
        placeholder="–",
        column_config={
            "correlations": number(help="Transfer tasks with enough models; for the mean, pairs of tasks"),
            "measured": number("mean Spearman's ρ, measured", format="%.2f"),
            "published": number("published", format="%.2f"),
        },
    )
    of_all = printed[OF_ALL]
    st.caption(
        f"Published: {of_all.source}, over {of_all.encoders} encoders and {of_all.transfer_tasks} transfer tasks; its "
        f"text prints these three numbers. Measured: over the models shown, by {shown.axis}; the mean leaves out the "
        "demos. Correlations over few models are uncertain, and models of one family are not independent: *Do scores "
        "predict tasks?* on *Lab* has intervals."
    )
