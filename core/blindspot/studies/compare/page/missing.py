"""Results that only one of two models has, with buttons that compute the rest."""

from __future__ import annotations

from collections.abc import Iterable

import streamlit as st

from blindspot.datasets.catalog import title_of
from blindspot.errors import BlindspotError
from blindspot.runs import requesting
from blindspot.runs.requests import RunRequest
from blindspot.studies.compare.page.compare_view import CompareView
from blindspot.studies.compare.rows import Missing, Why
from blindspot.texts import counted
from blindspot.ui import gone
from blindspot.ui.markdown import as_text
from blindspot.ui.resources import settings
from blindspot.ui.widgets.work import run_button
from blindspot.variants import Variant

LISTED = 6


def show(shown: CompareView) -> None:
    """Draw a line and a button per diagnostic and dataset, and one button for all."""
    missing_scores = shown.found.missing
    if not missing_scores:
        return
    able = set(gone.usable(list({variant for score in missing_scores for variant in score.lacking}), rankings=True))
    requests = {score: _requests(score, able) for score in missing_scores}
    every = list(dict.fromkeys(request for of_one in requests.values() for request in of_one))
    lacking = counted(len(missing_scores), "score cannot be compared yet", "scores cannot be compared yet")
    with st.expander(lacking, icon=":material/info:"):
        if len(every) > 1:
            title = f"{shown.names[0]} against {shown.names[1]}"
            run_button(f"Compute all {len(every)}", title, every, key="compute_all")
        for number, score in enumerate(missing_scores[:LISTED]):
            text, button = st.columns([4, 1], vertical_alignment="center")
            names = ", ".join(variant.label for variant in score.lacking)
            why = f"not computed for {names}" if score.why is Why.ONE_ONLY else str(score.why)
            text.markdown(as_text(f"{score.entry.title} on {title_of(score.dataset)}: {why}."))
            if requests[score]:
                with button:
                    title = f"{score.entry.title} on {score.dataset}"
                    run_button("Compute", title, requests[score], key=f"compute_{number}", primary=False)
        if len(missing_scores) > LISTED:
            st.caption(f"And {len(missing_scores) - LISTED} more.")


def _requests(gap: Missing, able: Iterable[Variant]) -> list[RunRequest]:
    """The runs that complete a row; none if a file is gone or nothing can be computed."""
    requests = []
    for variant in gap.lacking:
        if variant not in able:
            continue
        # Both anew where they ranked different items: each on what the other covers too.
        others = [v.encoder for v in gap.lacking if v != variant] if gap.why is Why.OTHER_ITEMS else []
        try:
            made = requesting.request(
                gap.diagnostic, variant.encoder, variant.transform, gap.dataset, dict(gap.params), settings(), others
            )
        except BlindspotError:
            continue
        requests.append(made)
    return requests
