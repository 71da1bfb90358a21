"""Past runs on the page *Run*: list, manifest of one, comparison of two, repeat and delete."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Sequence

import pandas as pd
import streamlit as st

from blindspot.datasets.catalog import title_of
from blindspot.diagnostic import FIT_ON, all_diagnostics, find_diagnostic, in_words
from blindspot.errors import BlindspotError
from blindspot.numerics.statistics.written import score_written
from blindspot.runs import manifests, requesting
from blindspot.runs.manifests import NOT_THERE
from blindspot.runs.requests import Repetition
from blindspot.store.records import RunRecord, RunState
from blindspot.texts import counted
from blindspot.ui.markdown import as_text
from blindspot.ui.navigation import page_of
from blindspot.ui.page_state import link, state_of
from blindspot.ui.resources import allowed, explained, repository, scheme, settings
from blindspot.ui.widgets import downloads, tables
from blindspot.ui.widgets.downloads import Holds
from blindspot.ui.widgets.work import submit_each
from blindspot.workspace.run import flow_figure

PER_PAGE = 15
ALL = "all"
_CHOSEN = "_chosen_runs"  # ids, in the order of the choice
_ASKED = "_delete_asked"  # ids whose deletion waits for confirmation
_SAID = "_history_said"
_ROUND = "_history_round"


def history() -> list[RunRecord]:
    """Draw the stored runs, page by page; returns the selected ones."""
    st.subheader("Past runs", anchor=False)
    counts = repository().counts()
    if not counts:
        st.info("No runs yet. The defaults above need no download and take a few seconds.")
        return []
    first, second, third, fourth = st.columns(4)
    diagnostic = first.selectbox(
        "Diagnostic",
        [ALL, *dict.fromkeys(c.diagnostic for c in counts)],
        key="history_diagnostic",
        format_func=lambda name: all_diagnostics()[name].title if name in all_diagnostics() else name,
    )
    dataset = second.selectbox(
        "Dataset",
        [ALL, *dict.fromkeys(c.dataset for c in counts)],
        key="history_dataset",
        format_func=lambda name: name if name == ALL else title_of(name),
    )
    variants = {str(variant): variant for variant in repository().variants()}
    model = third.selectbox(
        "Model",
        [ALL, *variants],
        key="history_model",
        format_func=lambda name: variants[name].label if name in variants else name,
    )
    state = fourth.selectbox("State", [ALL, *RunState], key="history_state")
    page_no = int(st.session_state.get("history_page", 1))
    entries = all_diagnostics().values()
    headlines = list({name for entry in entries for name in (entry.headline, entry.headline_instead) if name})
    page = repository().page(
        diagnostic=None if diagnostic == ALL else diagnostic,
        dataset=None if dataset == ALL else dataset,
        state=None if state == ALL else RunState(state),
        variants=[variants[model]] if model in variants else None,
        metrics=headlines,
        limit=PER_PAGE,
        skip=(page_no - 1) * PER_PAGE,
    )
    if not page.runs and page_no > 1:  # deleted, or filtered away
        st.session_state["history_page"] = 1
        st.rerun()
    if not page.runs:
        st.info("No runs match these filters.")
        return _chosen_records()
    st.caption("Select one run for details, or two to compare them.")
    _table(page.runs)
    left, right = st.columns([3, 2], vertical_alignment="center")
    with left:
        st.pagination(-(-page.total // PER_PAGE), key="history_page")
    right.caption(counted(page.total, "run"))
    return _chosen_records()


def _table(runs: Sequence[RunRecord]) -> None:
    """Draw a page of runs; the selection is kept by id, since rows move as runs finish."""
    ids = [run.run_id for run in runs]
    chosen: list[str] = st.session_state.setdefault(_CHOSEN, [])
    round_no = st.session_state.get(_ROUND, 0)  # a table with a new key starts without a selection
    key = f"history_{round_no}_{hashlib.sha256(' '.join(ids).encode()).hexdigest()[:12]}"
    event = st.dataframe(
        pd.DataFrame([_row(run) for run in runs]),
        hide_index=True,
        key=key,
        height="content",
        on_select="rerun",
        selection_mode="multi-row",
        selection_default={"selection": {"rows": [i for i, run_id in enumerate(ids) if run_id in chosen]}},
        column_config={
            "started": st.column_config.DatetimeColumn("started (UTC)", format="YYYY-MM-DD HH:mm", width=112),
            "diagnostic": st.column_config.TextColumn(width=94),
            "model": st.column_config.TextColumn(width=97),
            "dataset": st.column_config.TextColumn(width=124),
            "settings": st.column_config.TextColumn(width=97),
            "score": st.column_config.TextColumn(width=160),
            "run": st.column_config.TextColumn(width=68, help="How its id begins; commands take that"),
            "time": st.column_config.TextColumn(width=60, help="All stages; encoding where it was not cached"),
        },
    )
    now = [ids[row] for row in event.selection.rows if row < len(ids)]
    kept = [run_id for run_id in chosen if run_id not in ids or run_id in now]
    st.session_state[_CHOSEN] = kept + [run_id for run_id in now if run_id not in kept]


def _row(run: RunRecord) -> dict[str, object]:
    entry = all_diagnostics().get(run.plan.diagnostic)
    headline = entry.headline_of(run.metrics) if entry else ""
    return {
        "started": run.started_at.replace(tzinfo=None),
        "diagnostic": entry.title if entry else run.plan.diagnostic,
        "model": run.plan.variant.label,
        "dataset": title_of(run.plan.dataset),
        "settings": in_words(run.plan.params) or NOT_THERE,
        "score": f"{entry.title_of(headline)} {score_written(run.metrics[headline])}"
        if entry and headline
        else NOT_THERE,
        "time": f"{sum(run.timings.values()):.1f} s" if run.state is RunState.DONE else str(run.state),
        "run": run.run_id[:8],
    }


def _chosen_records() -> list[RunRecord]:
    """The selected runs that still exist, in the order of selection."""
    chosen: list[str] = st.session_state.get(_CHOSEN, [])
    records = {r.run_id: r for run_id in chosen for r in repository().runs(run_id=run_id)}
    st.session_state[_CHOSEN] = [run_id for run_id in chosen if run_id in records]
    return [records[run_id] for run_id in st.session_state[_CHOSEN]]


# --- actions


def actions(runs: Sequence[RunRecord]) -> None:
    """Draw buttons that repeat, delete and deselect runs."""
    for went_well, message in st.session_state.pop(_SAID, []):
        (st.success if went_well else st.error)(as_text(message))
    if not runs:
        return
    if not allowed().changes:
        st.button("Clear selection", key="choose_none", on_click=_choose_none)
        st.caption("This demo is shared: stored runs cannot be deleted or repeated.")
        return
    many = f"{len(runs)} runs" if len(runs) > 1 else "this run"
    with st.container(horizontal=True, vertical_alignment="center"):
        st.button(
            f"Repeat {many}",
            key="repeat",
            icon=":material/replay:",
            on_click=_repeat,
            args=(runs,),
            help="Compute again and report whether the scores are the same. Stored results are kept.",
        )
        st.button(
            f"Delete {many} …", key="delete", icon=":material/delete:", on_click=_ask, args=([r.run_id for r in runs],)
        )
        st.button("Clear selection", key="choose_none", on_click=_choose_none)
    asked: list[str] = st.session_state.get(_ASKED, [])
    if asked and set(asked) == {r.run_id for r in runs}:
        with st.container(border=True, key="confirm_delete"):
            st.markdown(
                f"**Delete {many}?** This removes scores, rows, and manifest. Embeddings stay, so computing "
                "again is quick."
            )
            with st.container(horizontal=True):
                st.button("Delete", key="delete_yes", type="primary", on_click=_delete, args=(runs,))
                st.button("Keep", key="delete_no", on_click=_ask, args=([],))


def _ask(run_ids: list[str]) -> None:
    st.session_state[_ASKED] = run_ids


def _choose_none() -> None:
    st.session_state[_CHOSEN] = []
    st.session_state[_ROUND] = st.session_state.get(_ROUND, 0) + 1


def _delete(runs: Sequence[RunRecord]) -> None:
    if busy := [r for r in runs if r.state is RunState.RUNNING]:
        _say(False, f"Nothing was deleted: {busy[0].run_id} is running. Cancel it first.")
        return
    if not allowed().changes:
        _say(False, "Nothing was deleted: this demo is shared.")
        return
    for run in runs:
        repository().delete(run)
    _say(True, f"{len(runs)} run{'s were' if len(runs) > 1 else ' was'} deleted.")
    _choose_none()
    _ask([])


def _repeat(runs: Sequence[RunRecord]) -> None:
    tasks: list[Repetition] = []
    for run in runs:
        try:
            tasks.append(Repetition(run.run_id, requesting.request_of(run, settings())))
        except BlindspotError as error:  # made by a version that knew other encoders or datasets
            _say(False, f"{run.run_id} cannot be repeated: {explained(error)}")
    submit_each(tasks)


def _say(went_well: bool, what: str) -> None:
    """Show a message in the run of the script that follows a callback."""
    st.session_state.setdefault(_SAID, []).append((went_well, what))


def details(runs: Sequence[RunRecord]) -> None:
    """Draw one run's manifest, or the comparison of two."""
    if len(runs) == 1:
        _one(runs[0])
    elif len(runs) == 2:
        _two(*runs)
    elif runs:
        st.info(f"{len(runs)} runs are selected. Select two to compare them, or one to see its manifest.")


def _one(run: RunRecord) -> None:
    with st.container(border=True, key="manifest"):
        st.markdown(f"**{as_text(_title(run))}**")
        _link(run)
        if run.state is not RunState.DONE:
            st.caption(f"This run is {run.state} and has no scores. Repeat it to compute them.")
            return
        scores, facts = st.columns(2)
        entry = all_diagnostics().get(run.plan.diagnostic)
        meaning = {m.name: m.description for m in entry.metrics} if entry else {}
        names = _in_order(run.metrics, run)
        with scores:
            tables.draw(
                [{"score": n, "value": run.metrics[n], "meaning": meaning.get(n, "")} for n in names],
                key="manifest_scores",
                height=360,
                column_config={"value": "%.6g"},
            )
        with facts:
            stages = ", ".join(f"{name} {seconds:.2f} s" for name, seconds in run.timings.items())
            st.caption(f"Run `{run.run_id}` · {stages}")
            st.json(dict(run.manifest), expanded=1)
        _flows(run)
        downloads.button(
            "Download the manifest",
            lambda: json.dumps(dict(run.manifest), ensure_ascii=False, indent=2).encode(),
            Holds(run.plan.dataset, (run.run_id,)),
            file_name=f"{run.run_id}.json",
            mime=downloads.JSON,
            key="manifest_download",
        )


def _flows(run: RunRecord) -> None:
    """Draw the training curves of a run's flows."""
    steps = run.manifest.get("transform", {}).get("steps", [])
    for number, step in enumerate(step for step in steps if "curve" in step):
        st.markdown("**Training of the flow**")
        st.plotly_chart(
            flow_figure.likelihood(**step["curve"], kept=step["kept_after_steps"], scheme=scheme()),
            key=f"flow_{number}",
        )
        st.caption(
            f"Log-likelihood of the texts under the flow, seed {step['seed']}. The step with the highest held-out "
            "likelihood is kept."
        )


def _two(first: RunRecord, second: RunRecord) -> None:
    with st.container(border=True, key="comparison"):
        st.markdown(
            f"**A:** {as_text(_title(first))} `{first.run_id}`  \n**B:** {as_text(_title(second))} `{second.run_id}`"
        )
        facts = manifests.compare(first, second)
        different = [f for f in facts if f.differs]
        matter = list(dict.fromkeys(f.group for f in different if f.can_matter))
        if matter:
            st.markdown(f"They differ in: **{', '.join(matter)}**.")
        else:
            st.markdown("No setting that affects the numbers differs.")
        tables.draw(
            pd.DataFrame(
                [{"setting": f"{f.group} {f.name}".strip(), "A": f.first, "B": f.second} for f in different],
                columns=["setting", "A", "B"],
            ),
            key="differences",
        )
        shared = _in_order([name for name in first.metrics if name in second.metrics], first)
        if shared:
            st.markdown("**Scores**")
            tables.draw(
                [
                    {
                        "score": name,
                        "A": first.metrics[name],
                        "B": second.metrics[name],
                        "B - A": second.metrics[name] - first.metrics[name],
                    }
                    for name in shared
                ],
                key="compared_scores",
                column_config=dict.fromkeys(("A", "B", "B - A"), "%.6g"),
            )
        with st.expander(f"{len(facts) - len(different)} settings are identical", icon=":material/equal:"):
            same = [{"setting": f"{f.group} {f.name}".strip(), "both": f.first} for f in facts if not f.differs]
            tables.draw(pd.DataFrame(same, columns=["setting", "both"]), key="same_facts")


def _in_order(names: Iterable[str], run: RunRecord) -> list[str]:
    """Scores in the order of their diagnostic, its headline first."""
    entry = all_diagnostics().get(run.plan.diagnostic)
    if entry is None:
        return sorted(names)
    order = {name: i for i, name in enumerate([entry.headline, *(m.name for m in entry.metrics)][::-1])}
    return sorted(names, key=lambda name: -order.get(name, -1))


def _title(run: RunRecord) -> str:
    entry = all_diagnostics().get(run.plan.diagnostic)
    params = f" ({in_words(run.plan.params)})" if run.plan.params else ""
    name = entry.title if entry else run.plan.diagnostic
    return f"{name} of {run.plan.variant.label} on {title_of(run.plan.dataset)}{params}"


def _link(run: RunRecord) -> None:
    """A link to the run's page."""
    plan = run.plan
    if run.state is not RunState.DONE or plan.diagnostic not in all_diagnostics():
        return
    entry = find_diagnostic(plan.diagnostic)
    if entry.page is None:
        return
    if FIT_ON in plan.params:
        st.caption(f"{entry.title} shows only runs whose post-processing was fitted on the tested texts.")
        return
    address = {"protocol": plan.params.get("protocol", "definition")}
    address |= {p.name: plan.params[p.name] for p in entry.parameters if p.only_if_chosen and p.name in plan.params}
    label = f"Open in {page_of(entry.page.stem).title}"
    link(entry.page.stem, state_of(plan).at(address), label=label, icon=":material/arrow_forward:")
