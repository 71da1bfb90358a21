"""Report buttons of the pages Findings and Compare."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import streamlit as st

from blindspot.settings import Settings
from blindspot.store.repository import Repository
from blindspot.studies.findings.collection import Selection
from blindspot.studies.report.content import gather
from blindspot.studies.report.making import FORMATS
from blindspot.ui.pickers import Picks
from blindspot.ui.resources import repository, settings
from blindspot.ui.widgets import downloads
from blindspot.ui.widgets.downloads import Holds
from blindspot.variants import Variant

_MIME = {".html": "text/html", ".md": "text/markdown", ".tex": "application/x-tex"}
_TITLES = {".html": "Download report", ".md": "Tables as Markdown", ".tex": "Tables as LaTeX"}


def report_buttons(
    picks: Picks, variants: Sequence[Variant], runs: Sequence[str], *, datasets: Sequence[str] = ()
) -> None:
    """Download buttons for a report on some variants (none: all) and its tables; made when they are pressed.

    Call it in a horizontal container.

    Args:
        runs: ids of the runs that it rests on, which must still be there then.
        datasets: only these; none: all.
    """
    selection = Selection(tuple(variants), picks.metric, tuple(datasets))
    stem = downloads.stem_of("report", *(variant.label for variant in variants[:3]))
    holds = Holds(picks.dataset, tuple(runs))

    def button(ending: str) -> None:
        make = partial(_made, ending, repository(), settings(), selection)
        name, mime = f"{stem}{ending}", _MIME[ending]
        downloads.button(_TITLES[ending], make, holds, file_name=name, mime=mime, key=f"report{ending}", help=_HELP)

    button(".html")
    with st.popover("Tables", icon=":material/table:"):
        button(".md")
        button(".tex")


_HELP = "One HTML file: findings, comparison, methods, and the commands that reproduce it."


def _made(ending: str, store: Repository, here: Settings, selection: Selection) -> bytes:
    return FORMATS[ending](gather(store, here, selection)).encode("utf-8", "replace")
