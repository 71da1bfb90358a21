"""Form of the page *Run*: models, datasets and diagnostics to run, and their cost."""

from __future__ import annotations

from collections.abc import Sequence

import psutil
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from blindspot import names
from blindspot.datasets.catalog import DatasetRef, title_of
from blindspot.datasets.user_data.files import is_own as is_own_dataset
from blindspot.diagnostic import Parameter, all_diagnostics, find_diagnostic, in_words, parameters
from blindspot.errors import BlindspotError, require
from blindspot.runs import estimates, sweeps
from blindspot.runs.encoders_here import known_references
from blindspot.runs.estimates import Estimate
from blindspot.runs.requests import RunRequest
from blindspot.runs.sweeps import Expansion, Sweep
from blindspot.texts import counted, duration
from blindspot.transforms.chain import READY_CHAINS
from blindspot.ui.markdown import as_text
from blindspot.ui.options import options
from blindspot.ui.page_state import ON, PageState, link
from blindspot.ui.pickers import DEFAULT_DATASET, DEFAULT_METRIC, TO_RUN, Picks, is_readable, known_datasets
from blindspot.ui.resources import allowed, explained, jobs, repository, settings
from blindspot.ui.widgets import tables
from blindspot.ui.widgets.addressed import begin_with
from blindspot.ui.widgets.model_choice import MOST_OWN, USUAL_MODEL, own_at_first
from blindspot.ui.widgets.run_form import encoders_in_words, names_of_models, steps_in_words
from blindspot.ui.widgets.work import submit_each, submit_to_cluster

DEFAULT_DATASETS = (DatasetRef("demo-pairs"), DatasetRef("demo-minimal"))
_ENCODERS, _TRANSFORMS, _DATASETS, _DIAGNOSTICS = "run_encoders", "run_transforms", "run_datasets", "run_diagnostics"
_TAKEN = "_run_taken"  # the picks of other pages that the form took over last
MANY_RUNS = 500  # nobody waits for more; the command line has no limit
MANY_ON_CLUSTER = 5_000


def take_over(picks: Picks) -> None:
    """Copy what was picked on other pages into the form whenever that changes; call it before ``choose``."""
    asked = st.session_state.pop(TO_RUN, ())
    picked = (picks.dataset, picks.variants)
    if not asked and st.session_state.get(_TAKEN, (DEFAULT_DATASET, ())) == picked:
        return
    st.session_state[_TAKEN] = picked
    if picks.dataset in known_datasets():
        st.session_state[_DATASETS] = [picks.dataset]
        _tick_what_fits()
    if variants := asked or picks.variants:
        st.session_state[_ENCODERS] = list(dict.fromkeys(variant.encoder for variant in variants))
        st.session_state[_TRANSFORMS] = list(dict.fromkeys(variant.transform for variant in variants))


def _tick_what_fits() -> None:
    """Choose the diagnostics that run on the chosen datasets; also a callback."""
    st.session_state[_DIAGNOSTICS] = _fitting(st.session_state[_DATASETS])


def _fitting(datasets: Sequence[str]) -> list[str]:
    """Diagnostics with a page of their own that run on one of these datasets; all where a file is gone."""
    kinds = set()
    for reference in datasets:
        try:
            kinds.add(DatasetRef(reference).entry().kind)
        except BlindspotError:  # ``planned`` says what is wrong
            return [entry.id for entry in all_diagnostics().values() if entry.page]
    return [entry.id for entry in all_diagnostics().values() if entry.page and entry.dataset_kind in kinds]


def _own_datasets(references: Sequence[DatasetRef]) -> Sequence[DatasetRef]:
    """The reader's own datasets that were added last; without any, some that need no download."""
    user_datasets = [reference for reference in references if is_own_dataset(reference) and is_readable(reference)]
    return user_datasets[-MOST_OWN:] or DEFAULT_DATASETS


def choose() -> Sweep:
    """Draw the form; ``planned`` reports empty fields."""
    left, right = st.columns(2)
    offered = known_references(settings(), repository())
    begin_with(_ENCODERS, lambda: own_at_first() or [USUAL_MODEL])
    references = left.multiselect(
        "Models to run",
        offered,
        format_func=names_of_models(offered),
        key=_ENCODERS,
        persist_state="session",
        accept_new_options=True,
        wrap=True,
        placeholder="Choose, or type a reference",
        help=f"Choose models, or type a reference and press Enter:\n\n{encoders_in_words()}",
    )
    begin_with(_TRANSFORMS, lambda: ["none"])
    chains = right.multiselect(
        "Post-processing",
        READY_CHAINS,
        key=_TRANSFORMS,
        persist_state="session",
        accept_new_options=True,
        placeholder="Choose, or type a chain",
        help="Changes embeddings before they are compared; none leaves them unchanged. Every model runs with each of "
        "these. Type steps joined by `+`, for example `center+whiten:64`.\n\n" + steps_in_words(),
    )
    datasets = known_datasets()
    begin_with(_DATASETS, lambda: _own_datasets(datasets))
    chosen = left.multiselect(
        "Datasets to run on",
        datasets,
        key=_DATASETS,
        on_change=_tick_what_fits,
        persist_state="session",
        format_func=title_of,
        help="See the page *Data* for details, or to upload your own.",
    )
    begin_with(_DIAGNOSTICS, lambda: _fitting(chosen))
    titles = {entry.id: entry.title for entry in all_diagnostics().values()}
    asked = right.multiselect(
        "Diagnostics",
        list(titles),
        key=_DIAGNOSTICS,
        persist_state="session",
        format_func=lambda name: titles.get(name, name),
        help="\n".join(f"- **{e.title}**: {e.question}" for e in all_diagnostics().values())
        + "\n\nEach diagnostic runs only on datasets of its kind.",
    )
    with options():
        parameter_names = {name for diagnostic in asked for name in _parameters_of(diagnostic)}
        params = {name: _values_of(parameter) for name, parameter in parameters().items() if name in parameter_names}
        common = st.toggle(
            "Compare on texts that all models cover",
            value=True,
            key="run_common",
            persist_state="session",
            help="Word vectors and precomputed tables may lack some texts. On: EvalRank uses only texts for which all "
            "selected models have a vector, so their scores can be compared. Off: each model is tested on the texts "
            "that it covers.",
        )
    return Sweep(
        tuple(references),
        tuple(chains),
        tuple(chosen),
        tuple(asked),
        params,
        common,
    )


def _parameters_of(diagnostic: str) -> list[str]:
    return [parameter.name for parameter in find_diagnostic(diagnostic).parameters]


def _values_of(parameter: Parameter) -> tuple[str, ...]:
    """The chosen values of a parameter: every model runs with each; at first the default."""
    values = st.pills(
        parameter.label,
        list(map(str, parameter.choices)),
        selection_mode="multi",
        default=[str(parameter.default)],
        format_func=parameter.as_shown,
        key=f"run_{parameter.name}",
        persist_state="session",
        help=as_text(parameter.help),
    )
    if parameter.when:
        st.caption(parameter.when)
    return tuple(map(str, values))


def planned(sweep: Sweep) -> Expansion | None:
    """The runs of a choice; None, with an error on the page, if it is invalid."""
    try:
        expansion = sweeps.expand(sweep, settings())
    except BlindspotError as error:
        st.error(as_text(explained(error)), icon=":material/error:")
        return None
    _say_what_is_idle(sweep, expansion)
    # A demo has a lower limit, over runs that are not stored yet: ``submit_each``.
    if len(expansion.requests) > (most := MANY_ON_CLUSTER if _has_cluster() else MANY_RUNS):
        st.error(
            f"{len(expansion.requests):,} runs: this page starts at most {most:,} at once. "
            "Choose fewer, or use `blindspot sweep`.",
            icon=":material/error:",
        )
        return None
    return expansion


def _say_what_is_idle(sweep: Sweep, expansion: Expansion) -> None:
    """Name chosen diagnostics without a dataset of their kind, and the other way round."""
    running = {r.diagnostic for r in expansion.requests}
    for entry in (find_diagnostic(name) for name in sweep.diagnostics if name not in running):
        st.caption(f"Skipped: {entry.title} (no {entry.dataset_kind.in_words} selected)")
    fitting = {(r.diagnostic, r.dataset) for r in expansion.requests}
    if expansion.requests and len(fitting) < len(sweep.diagnostics) * len(sweep.datasets):
        st.caption("Each diagnostic runs only on datasets of its kind.")
    used = {r.dataset for r in expansion.requests}
    for dataset in (name for name in sweep.datasets if name not in used):
        st.caption(f"Skipped: {as_text(title_of(dataset))} (no selected diagnostic runs on it)")


def _has_cluster() -> bool:
    return bool(settings().ray) and allowed().changes


def cost_and_start(expansion: Expansion) -> None:
    """Draw the cost and the buttons that start the runs."""
    try:
        cost = estimates.estimate(expansion.requests, settings(), repository())
    except BlindspotError as error:  # a file that changed just now
        st.error(as_text(explained(error)), icon=":material/error:")
        return
    under_way = {request for job in jobs().active() for request in job.requests}
    wanted = [request for request in cost.wanted if request not in under_way]
    with st.container(border=True, key="estimate"):
        may_send = _sending(cost) if wanted else True
        text, button = st.columns([4, 1], vertical_alignment="center")
        with text:
            st.markdown(_summary(cost, len(cost.wanted) - len(wanted)))
            _warnings(cost)
        if cost.wanted:
            button.button(
                f"Run {len(wanted)}" if wanted else "Running …",
                key="run_all",
                type="primary",
                icon=":material/play_arrow:",
                disabled=not (wanted and may_send) or settings().read_only or len(expansion.requests) > MANY_RUNS,
                on_click=submit_each,
                args=(wanted,),
                width="stretch",
            )
            if _has_cluster():
                _cluster_button(button, expansion.requests, enabled=bool(wanted) and may_send)
        else:
            with button:
                _link_to_result(expansion)
        with st.expander(f"List of the {counted(len(cost.runs), 'run')}", icon=":material/list:"):
            tables.draw(
                [
                    {
                        "run": run.request.label,
                        "settings": in_words(dict(run.request.params)) or "–",
                        "state": "available" if run.is_stored else "to run",
                        "time": "–" if run.is_stored else _seconds(run.seconds),
                    }
                    for run in cost.runs
                ],
                key="estimate_runs",
                column_config={"run": st.column_config.TextColumn(width="large")},
            )


def _cluster_button(container: DeltaGenerator, requests: Sequence[RunRequest], *, enabled: bool) -> None:
    """The button that sends all runs to the cluster, which takes those that are stored from the store."""
    missing = ""
    try:
        require("ray", f"BLINDSPOT_RAY={settings().ray}")
    except BlindspotError as error:
        missing = explained(error)
    container.button(
        "Run on the cluster",
        key="run_on_cluster",
        icon=":material/dns:",
        help=as_text(missing or f"Sends the runs to {settings().ray}; their results come into this store."),
        disabled=bool(missing) or not enabled or settings().read_only,
        on_click=submit_to_cluster,
        args=(requests,),
        width="stretch",
    )
    if missing:
        st.caption(as_text(missing))


def _sending(cost: Estimate) -> bool:
    """Say which texts go to which server, and ask about those outside of one's own network; whether all may go."""
    for sending in cost.sendings:
        st.info(as_text(f"{sending.in_words}."), icon=":material/upload:")
    public = [sending.host for sending in cost.sendings if not sending.is_private]
    if not public:
        return True
    hosts = ", ".join(public)
    return st.checkbox(f"Send these texts to {as_text(hosts)}", key=f"run_send_{hosts}")


def _link_to_result(expansion: Expansion) -> None:
    first = expansion.requests[0]
    variants = list(dict.fromkeys(request.variant for request in expansion.requests))
    is_several = len(variants) > 1
    page, label = ("compare", "View the comparison") if is_several else ("findings", "View the findings")
    metric = dict(first.params).get("metric", DEFAULT_METRIC)
    state = PageState(metric=metric, models=variants).at({} if is_several else {ON: first.dataset})
    link(page, state, label=label, icon=":material/arrow_forward:")


def _summary(cost: Estimate, under_way: int) -> str:
    wanted, stored = len(cost.wanted), len(cost.runs) - len(cost.wanted)
    if not wanted:
        return f"**{counted(stored, 'result')} already available.** Add a model or dataset above to run more."
    runs = f"**{wanted} run{'s' if wanted != 1 else ''}** to compute"
    if under_way:
        runs += f" ({under_way} of them running or waiting)"
    if stored:
        runs += f", {stored} already available"
    parts = [
        f"about **{duration(cost.seconds)}**",
        f"{cost.memory_bytes / 1e9:.1f} GB of memory",
        f"{cost.disk_bytes / 1e6:,.0f} MB on disk" if cost.disk_bytes else "no new disk space",
    ]
    if cost.downloads:
        size = f"{cost.download_bytes / 1e6:.1f} MB" if cost.download_bytes else "size unknown"
        parts.append(f"a download of {cost.downloads_in_words} ({size})")
    return f"{runs}: {', '.join(parts)}."


def _warnings(cost: Estimate) -> None:
    for name, info in cost.infos.items():
        if info.prompt_warning:
            st.warning(as_text(f"{name} {info.prompt_warning}"), icon=":material/report:")
        for sentence in info.assumed:
            st.caption(as_text(f"{name}: {sentence}."))
    if cost.guessed:
        called = ", ".join(as_text(names.current().model(name)) for name in cost.guessed[:4])
        more = f" and {len(cost.guessed) - 4} more" if len(cost.guessed) > 4 else ""
        st.caption(f"Rough estimate, since these have not run on this machine yet: {called}{more}.")
    free = psutil.virtual_memory().available
    if cost.memory_bytes > free:
        st.warning(
            f"Only {free / 1e9:.1f} GB of memory are free. Close other programs, or choose a smaller model or dataset.",
            icon=":material/memory:",
        )


def _seconds(seconds: float | None) -> str:
    return "unknown" if seconds is None else f"about {duration(seconds)}"
