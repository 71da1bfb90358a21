"""Results that only one of two models has, with buttons that compute the rest."""

from __future__ import annotations

from collections.abc import Iterable

import streamlit as st

from blindspot.datasets.catalog import title_of
from blindspot.errors import BlindspotError
from blindspot.runs import requesting
from blindspot.runs.requests import RunRequest
from blindspot.studies.compare.page.shown import CompareView
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
    found = shown.found.missing
    if not found:
        return
    able = set(gone.usable(list({variant for one in found for variant in one.lacking}), rankings=True))
    requests = {one: _requests(one, able) for one in found}
    every = list(dict.fromkeys(request for of_one in requests.values() for request in of_one))
    lacking = counted(len(found), "score cannot be compared yet", "scores cannot be compared yet")
    with st.expander(lacking, icon=":material/info:"):
        if len(every) > 1:
            title = f"{shown.names[0]} against {shown.names[1]}"
            run_button(f"Compute all {len(every)}", title, every, key="compute_all")
        for number, one in enumerate(found[:LISTED]):
            text, button = st.columns([4, 1], vertical_alignment="center")
            names = ", ".join(variant.label for variant in one.lacking)
            why = f"not computed for {names}" if one.why is Why.ONE_ONLY else str(one.why)
            text.markdown(as_text(f"{one.entry.title} on {title_of(one.dataset)}: {why}."))
            if requests[one]:
                with button:
                    title = f"{one.entry.title} on {one.dataset}"
                    run_button("Compute", title, requests[one], key=f"compute_{number}", primary=False)
        if len(found) > LISTED:
            st.caption(f"And {len(found) - LISTED} more.")


def _requests(one: Missing, able: Iterable[Variant]) -> list[RunRequest]:
    """The runs that complete a row; none if a file is gone or nothing can be computed."""
    requests = []
    for variant in one.lacking:
        if variant not in able:
            continue
        # Both anew where they ranked different items: each on what the other covers too.
        others = [v.encoder for v in one.lacking if v != variant] if one.why is Why.OTHER_ITEMS else []
        try:
            made = requesting.request(
                one.diagnostic, variant.encoder, variant.transform, one.dataset, dict(one.params), settings(), others
            )
        except BlindspotError:
            continue
        requests.append(made)
    return requests
