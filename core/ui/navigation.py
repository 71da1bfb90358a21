"""Pages of the app. A page's url_path is its file's stem, so that a cold deep link finds it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import streamlit as st
from streamlit.navigation.page import Page

from core.diagnostic import Page as DiagnosticPage
from core.diagnostic import all_diagnostics
from core.settings import ASSETS, ROOT
from core.ui.shutdown import end_soon_when_told

_IN_APP = "_app_py_ran"  # set by app.py before it runs a page


@dataclass(frozen=True)
class PageEntry:
    """A page; ``stem`` is its file and its address. No ``pickers`` where people judge without knowing the encoders."""

    stem: str
    title: str
    icon: str
    pickers: bool = True


# Pages that belong to no diagnostic.
_FIXED: Mapping[str, tuple[PageEntry, ...]] = {
    "": (
        PageEntry("findings", "Findings", ":material/lightbulb:"),
        PageEntry("overview", "Overview", ":material/dashboard:"),
        PageEntry("run", "Run", ":material/play_circle:"),
    ),
    "Diagnostics": (PageEntry("lab", "Lab", ":material/science:"),),
    "Does it matter?": (PageEntry("evidence", "Evidence", ":material/query_stats:"),),
    "Inside the space": (
        PageEntry("neighbours", "Neighbours", ":material/hub:"),
        PageEntry("map", "Map", ":material/scatter_plot:"),
    ),
    "Human judgement": (
        PageEntry("intruder", "Intruder", ":material/person_search:", pickers=False),
        PageEntry("compare_votes", "Compare votes", ":material/how_to_vote:", pickers=False),
    ),
    "Library": (
        PageEntry("models", "Models", ":material/deployed_code:"),
        PageEntry("data", "Data", ":material/database:"),
    ),
}


@cache
def sections() -> Mapping[str, tuple[PageEntry, ...]]:
    """All pages by section, in the sidebar's order: diagnostics first, except those that come ``after`` a page."""
    found: dict[str, list[PageEntry]] = {}
    of_diagnostics = list(dict.fromkeys(entry.page for entry in all_diagnostics().values() if entry.page))
    for section, fixed in _FIXED.items():
        own = [page for page in of_diagnostics if page.section == section]
        found[section] = [*(_entry(page) for page in own if not page.after), *fixed]
        for page in (page for page in own if page.after):
            stems = [entry.stem for entry in found[section]]
            found[section].insert(stems.index(page.after) + 1, _entry(page))
    return {section: tuple(entries) for section, entries in found.items()}


def _entry(page: DiagnosticPage) -> PageEntry:
    return PageEntry(page.stem, page.title, page.icon)


def pages() -> dict[str, list[Page]]:
    """The pages for ``st.navigation``, by section.

    Streamlit's default page has no address but the empty one. So the default is a hidden page that runs the first
    page's file, and every page in the sidebar has its own address.
    """
    first = next(iter(sections().values()))[0]
    home = st.Page(_file(first), title=first.title, url_path="home", default=True, visibility="hidden")
    found = {
        section: [st.Page(_file(entry), title=entry.title, icon=entry.icon, url_path=entry.stem) for entry in entries]
        for section, entries in sections().items()
    }
    return {section: [home, *entries] if section == "" else entries for section, entries in found.items()}


def has_pickers(page: str) -> bool:
    """Whether the page of an address shows the shared pickers."""
    return all(entry.pickers for entries in sections().values() for entry in entries if entry.stem == page)


def _file(entry: PageEntry) -> Path:
    return ROOT / "pages" / f"{entry.stem}.py"


def set_up() -> None:
    """Title, icon and layout of the browser's page, and the mark that app.py runs."""
    configure()
    st.logo(str(ASSETS / "logo.svg"), icon_image=str(ASSETS / "icon.svg"), size="large")
    st.session_state[_IN_APP] = True
    end_soon_when_told()


def configure() -> None:
    """Title, icon and layout of the browser's page; call it before any ``st.navigation``.

    Without an icon the browser would fetch that of the page in the sidebar from an outside server.
    """
    st.set_page_config(page_title="Blindspot", page_icon=str(ASSETS / "icon.svg"), layout="wide")


def ran_through_app() -> bool:
    """Whether app.py ran this page; ask once per run.

    Since there is a ``pages/`` folder, a fresh server runs a page that is opened by its address without app.py.
    """
    return bool(st.session_state.pop(_IN_APP, False))
