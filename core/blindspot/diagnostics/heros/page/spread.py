"""View *spread* of the HEROS page: distribution of similarities, and the profile under post-processing."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from blindspot.datasets.catalog import title_of
from blindspot.diagnostic import Diagnostic
from blindspot.diagnostics.heros.figures import spread as figures
from blindspot.diagnostics.heros.figures.profile import label
from blindspot.diagnostics.heros.orderings import Cosines
from blindspot.diagnostics.heros.page.heros_view import BY_RUNS, HerosView, subsets_of
from blindspot.diagnostics.heros.transforms import ChainProfile, chain_profile, newest_by_chain, not_yet_run
from blindspot.diagnostics.heros.view import Spread, spread_view
from blindspot.errors import BlindspotError
from blindspot.figures import theme
from blindspot.runs import requesting
from blindspot.store.records import RunRecord
from blindspot.ui.markdown import as_text
from blindspot.ui.resources import cached, explained, repository, settings
from blindspot.ui.widgets.choices import one_of
from blindspot.ui.widgets.work import run_button

NORMALIZED, RAW = "normalized", "raw cosine"
MAX_VARIANTS = 8
MAX_RIDGES = 64  # 128 places up and back each: 16,384 points


def show(shown: HerosView) -> None:
    """The distribution of every subset, and how an encoder's profile moves from transform to transform."""
    scale = one_of(
        "Similarity on the axis",
        (NORMALIZED, RAW),
        "heros_scale",
        "raw cosine: the model's own. normalized: rescaled so that unrelated sentences score 0 and the same "
        "direction 1, to compare models.",
    )
    near = st.toggle(
        "Zoom to the data",
        key="heros_near",
        persist_state="session",
        help="The marks of unrelated sentences may then be outside.",
    )
    runs = shown.runs[:MAX_VARIANTS]
    if len(runs) < len(shown.runs):
        st.caption(f"The first {MAX_VARIANTS} of {len(shown.runs):,} models. Pick others under Models.")
    subsets = _chosen(shown.subsets, MAX_RIDGES // len(runs))
    if not subsets:
        st.info("Choose a kind of rewrite.", icon=":material/info:")
    else:
        rows = _spread(shown, runs, subsets, scale == RAW)
        axis = "cosine" if scale == RAW else "normalized similarity"
        figure = figures.ridges(
            rows, shown.styles, shown.scheme, axis=axis, baseline="two unrelated sentences", near=near
        )
        st.plotly_chart(figure, key="spread")
        st.caption(
            f"Density of {rows[0].n:,} similarities per model and rewrite (Gaussian kernel, Silverman's bandwidth, "
            "scaled to equal height). Dot: median; bar: quartiles; hover for 5% and 95%. Dotted mark: "
            + (
                "mean cosine of unrelated sentences (cos_avg). The higher it is, the more similar all sentences look "
                "to the model (anisotropy)."
                if scale == RAW
                else "0, the mean of unrelated sentences."
            )
        )
    _transforms(shown)


def _chosen(subsets: Sequence[str], most: int) -> list[str]:
    """All subsets, or the reader's choice where there are too many for a figure."""
    if len(subsets) <= most:
        return list(subsets)
    chosen = st.multiselect(
        f"Rewrites (at most {most} at a time)",
        subsets,
        default=subsets[:most],
        max_selections=most,
        format_func=label,
        key="heros_spread_subsets",
        persist_state="session",
    )
    return [subset for subset in subsets if subset in chosen]


@cached(16, "Computing distributions …", keys=BY_RUNS)
def _spread(shown: HerosView, runs: Sequence[RunRecord], subsets: Sequence[str], is_raw: bool) -> list[Spread]:
    return spread_view(runs, shown.rows, subsets, is_raw=is_raw)


# --- the profile under the transforms


def _transforms(shown: HerosView) -> None:
    """One encoder's profile per transform, whatever the sidebar picks, and a button for those not run yet."""
    st.subheader("What does post-processing change?", anchor=False)
    encoder = _encoder(shown.runs)
    # Without parameters: transforms are fitted on the dataset's own sentences.
    finished = repository().finished(shown.entry, encoder=encoder, dataset=shown.dataset, params={})
    runs = newest_by_chain(finished)
    if len(runs) > 1:
        try:
            _draw(_profiles(shown.entry, list(runs.values())), shown, encoder)
        except BlindspotError as error:
            st.warning(as_text(explained(error)))
    elif runs:
        st.info(
            f"{as_text(encoder)} was run on this dataset with only one post-processing "
            f"({as_text(next(iter(runs)))}): nothing to compare it with yet.",
            icon=":material/info:",
        )
    _offer(shown, encoder, not_yet_run(list(runs)))


def _encoder(runs: Sequence[RunRecord]) -> str:
    """The encoder that the reader chooses among those shown."""
    encoders = list(dict.fromkeys(run.plan.variant.encoder for run in runs))
    if len(encoders) == 1:
        return encoders[0]
    if st.session_state.get("heros_encoder", encoders[0]) not in encoders:  # the sidebar has left it out since
        st.session_state["heros_encoder"] = encoders[0]
    return str(st.selectbox("Model", encoders, key="heros_encoder", persist_state="session"))


@cached(16, "Reading runs …")
def _profiles(entry: Diagnostic, runs: Sequence[RunRecord]) -> list[ChainProfile]:
    rows = repository().items(entry, [run.run_id for run in runs], texts=False)
    subsets = subsets_of(entry, runs, rows)
    by_run = dict(tuple(rows.groupby("run_id")))
    same_texts = repository().same_texts(runs[0].plan.dataset_digest)
    return [chain_profile(run, Cosines.of_rows(by_run[run.run_id], same_texts, subsets)) for run in runs]


def _draw(profiles: Sequence[ChainProfile], shown: HerosView, encoder: str) -> None:
    kept = profiles[0].kept
    ordering = kept.ordering.in_words(label) if kept else ""
    looks = dict(zip(profiles[0].means, theme.looks(len(profiles[0].means), shown.scheme), strict=True))
    st.plotly_chart(figures.chains(profiles, looks, ordering, shown.scheme), key="chains")
    st.caption(
        f"{as_text(encoder)} on this dataset, one row per post-processing, whatever is picked. Where lines cross, "
        "post-processing changes which rewrite is closer."
        + (
            f" Right: share of sentences with *{as_text(ordering)}* and 95% CI (Wilson); dotted: half."
            if ordering
            else ""
        )
    )


def _offer(shown: HerosView, encoder: str, missing: Sequence[str]) -> None:
    """A button that runs the usual transforms that are missing."""
    if not missing:
        return
    try:
        requests = [
            requesting.request(shown.entry.id, encoder, chain, shown.dataset, {}, settings()) for chain in missing
        ]
    except BlindspotError as error:  # an encoder or a file that is gone
        st.caption(f"More post-processing cannot be run: {as_text(explained(error))}")
        return
    several = f"{len(missing)} kinds of post-processing" if len(missing) > 1 else "1 kind of post-processing"
    run_button(
        f"Run {several} for {as_text(encoder)}: {', '.join(missing)}",
        f"Post-processing of {encoder} on {title_of(shown.dataset)}",
        requests,
        key="run_chains",
        primary=False,
    )
    st.caption("Fitted on this dataset's own sentences. Cached embeddings are reused.")
