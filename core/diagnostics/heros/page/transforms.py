"""How HEROS's profile of an encoder moves under the transforms, from all its stored runs on the dataset."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from core.datasets import uploads
from core.diagnostic import DiagnosticEntry
from core.diagnostics.heros import transforms as chain_profiles
from core.diagnostics.heros.figures import spread as figures
from core.diagnostics.heros.figures.profile import label
from core.diagnostics.heros.orderings import Cosines
from core.diagnostics.heros.page import runs as heros_parts
from core.diagnostics.heros.page.shown import Shown
from core.diagnostics.heros.transforms import ChainProfile
from core.errors import BlindspotError
from core.figures import theme
from core.runs import pipeline
from core.store.records import RunRecord, RunState
from core.ui.markdown import as_text
from core.ui.resources import cached, repository, settings
from core.ui.widgets.work import run_button


def show(shown: Shown) -> None:
    """One encoder's profile per transform, whatever the sidebar picks, and a button for those not run yet."""
    st.subheader("How does the profile move under the transforms?", anchor=False)
    encoder = _encoder(shown.runs)
    runs = _by_chain(shown, encoder)
    profiles: list[ChainProfile] = []
    if len(runs) > 1:
        try:
            profiles = _profiles(shown.entry, runs)
        except BlindspotError as error:
            st.warning(as_text(str(error)))
    if profiles:
        _draw(profiles, shown, encoder)
    elif len(runs) == 1:
        st.info(
            f"Of {as_text(encoder)} only {as_text(runs[0].plan.variant.transform)} was run on this dataset: nothing to "
            "lay beside it yet.",
            icon=":material/info:",
        )
    _offer(shown, encoder, [r.plan.variant.transform for r in runs])


def _encoder(runs: Sequence[RunRecord]) -> str:
    """Whose profile: one of the encoders shown."""
    encoders = list(dict.fromkeys(run.plan.variant.encoder for run in runs))
    if len(encoders) == 1:
        return encoders[0]
    if st.session_state.get("heros_encoder", encoders[0]) not in encoders:  # the sidebar has left it out since
        st.session_state["heros_encoder"] = encoders[0]
    return str(st.selectbox("Encoder", encoders, key="heros_encoder", persist_state="session"))


def _by_chain(shown: Shown, encoder: str) -> list[RunRecord]:
    """Its newest run per chain, also of variants that the sidebar leaves out."""
    found = repository().runs(
        diagnostic=shown.entry.id,
        version=shown.entry.version,
        encoder=encoder,
        dataset=shown.dataset,
        params={},  # fitted on its own sentences
        state=RunState.DONE,
        current=True,
    )
    return list(chain_profiles.newest_by_chain(found).values())


@cached(16, "Reading the runs of all transforms …")
def _profiles(entry: DiagnosticEntry, runs: Sequence[RunRecord]) -> list[ChainProfile]:
    rows = repository().items(entry, [run.run_id for run in runs], texts=False)
    subsets = heros_parts.subsets_of(entry, runs, rows)
    own = dict(tuple(rows.groupby("run_id")))
    return [chain_profiles.chain_profile(run, Cosines.of_rows(own[run.run_id], subsets)) for run in runs]


def _draw(profiles: Sequence[ChainProfile], shown: Shown, encoder: str) -> None:
    subsets = list(profiles[0].means)
    looks = theme.looks(len(subsets), shown.scheme)
    ordering = chain_profiles.followed(subsets)
    named = "" if ordering is None else ordering.in_words(label)
    rows = [
        figures.ChainRow(
            p.chain,
            p.means,
            (p.kept.value, p.kept.interval.low, p.kept.interval.high) if p.kept else None,
        )
        for p in profiles
    ]
    figure = figures.chains(rows, dict(zip(subsets, looks, strict=True)), named, shown.scheme)
    st.plotly_chart(figure, key="chains")
    st.caption(
        f"{as_text(encoder)} on this dataset, a row per transform, also of those that the sidebar leaves out. A "
        "transform that only spreads similarities moves all subsets alike; where lines cross, it changes what is "
        "nearer."
        + (
            f" On the right: in how many originals *{as_text(named)}* holds, with a 95% Wilson interval; dotted: half."
            if named
            else ""
        )
    )


def _offer(shown: Shown, encoder: str, stored: Sequence[str]) -> None:
    """A button that runs what is usual and not here yet; nothing where all of it is."""
    missing = chain_profiles.not_yet_run(stored)
    if not missing:
        return
    try:
        requests = [
            pipeline.request(shown.entry.id, encoder, chain, shown.dataset, {}, settings()) for chain in missing
        ]
    except BlindspotError as error:  # an encoder or a file that is gone
        st.caption(f"More transforms cannot be run: {as_text(str(error))}")
        return
    several = f"{len(missing)} transforms" if len(missing) > 1 else "1 transform"
    name = as_text(encoder)
    run_button(
        f"Run {several} of {name}: {', '.join(missing)}",
        f"Transforms of {encoder} on {uploads.short_name(shown.dataset, settings())}",
        requests,
        key="run_chains",
        primary=False,
    )
    st.caption(
        "Each is fitted on this dataset's own sentences. The sentences are encoded only if their embeddings are no "
        "longer in the cache; the new variants then stand in the sidebar's picker too."
    )
