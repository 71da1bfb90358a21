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
from blindspot.ui.navigation import page_link
from blindspot.ui.resources import repository
from blindspot.ui.widgets import shown_runs, tables


def show(shown: TransferView) -> None:
    """The figure, and a row per probing task with the published mean beside the measured one."""
    found = with_transfer(_scores(shown, shown.runs), _scores(shown, _transfer_runs(shown)))
    if np.isnan(found.rho).all():
        most = int(found.models.max(initial=0))
        st.info(
            f"A correlation takes {FEWEST} models with both a probing and a transfer score by `{shown.classifier}`; "
            f"there {'is' if most == 1 else 'are'} {most}. Run more tasks here and under *Transfer*. Below: what "
            "was published.",
            icon=":material/info:",
        )
        page_link("transfer", label="To Transfer", icon=":material/category:")
    else:
        _figure(shown, found)
    _table(shown, found)


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
        found = {v: score(run, shown.measure, overlap=shown.overlap) for v, run in by_variant.items()}
        out[task] = {v: one.value for v, one in found.items() if one is not None and v in shown.variants}
    return out


def _figure(shown: TransferView, found: WithTransfer) -> None:
    probes = [shown.page.titled(task) for task in found.probes]
    tasks = [TRANSFER_PAGE.titled(task) for task in found.tasks]
    figure = figures.correlations(found.rho, found.models, probes, tasks, shown.scheme)
    st.plotly_chart(figure, key="probing_correlations")


def _table(shown: TransferView, found: WithTransfer) -> None:
    """Measured tasks first, then published ones that were not run, then the means."""
    printed = {one.task: one for one in published()}
    rows = []
    for task, rho, mean in zip(found.probes, found.rho, found.means, strict=True):
        probe = probe_asked(task)
        beside = printed.get(probe.id) if probe and task not in shown.page.demos else None
        rows.append((shown.page.titled(task), int(np.count_nonzero(~np.isnan(rho))), mean, beside))
    there = {probe.id for task in found.probes if task not in shown.page.demos and (probe := probe_asked(task))}
    rows += [
        (PROBES[name].title, 0, float("nan"), one) for name, one in printed.items() if name in PROBES.keys() - there
    ]
    counted = found.of([task not in shown.page.demos for task in found.probes])
    rows.append(("mean", int(np.count_nonzero(~np.isnan(counted.rho))), counted.mean, printed.get(OF_ALL)))
    frame = {
        "probing task": [name for name, *_ in rows],
        "correlations": [count for _, count, *_ in rows],
        "measured": [mean for *_, mean, _ in rows],
        "published": [float("nan") if one is None else one.spearman for *_, one in rows],
    }
    number = st.column_config.NumberColumn
    tables.draw(
        frame,
        key="probing_published",
        placeholder="–",
        column_config={
            "correlations": number(help="Transfer tasks with enough models; for the mean, pairs of tasks"),
            "measured": number("mean Spearman's rho, measured", format="%.2f"),
            "published": number("published", format="%.2f"),
        },
    )
    one = printed[OF_ALL]
    st.caption(
        f"Published: {one.source}, over {one.encoders} encoders and {one.transfer_tasks} transfer tasks; its text "
        f"prints these three numbers. Measured: over the models shown, by {shown.axis}; the mean leaves out the demos. "
        "Correlations over few models are uncertain, and models of one family are not independent: *Do scores "
        "predict tasks?* on *Lab* has intervals."
    )
