"""Pages of the app. A page's url_path is its file's stem, so that a cold deep link finds it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import streamlit as st
from streamlit.navigation.page import Page

from blindspot.diagnostic import Page as DiagnosticPage
from blindspot.diagnostic import Picker, all_diagnostics
from blindspot.settings import ASSETS, ROOT
from blindspot.ui.shutdown import end_soon_when_told

_IN_APP = "_app_py_ran"  # set by app.py before it runs a page


@dataclass(frozen=True)
class PageEntry:
    """A page; ``stem`` is its file and its address.

    Attributes:
        documentation: its page of documentation, without ``.md``.
        pickers: that change what the page shows; none where people judge without knowing the models.
    """

    stem: str
    title: str
    icon: str
    documentation: str
    pickers: tuple[Picker, ...] = ()


APP = "Blindspot"
DOCUMENTATION = "docs"  # the stem of the page that shows it
TOPIC = "topic"  # its parameter: which part
_DATASET, _MODELS, _POST, _BASELINE, _SIMILARITY, _PROTOCOL = Picker
# Pages that belong to no diagnostic. Sections are menus of the top bar, those of "" are links in it: few of either, so
# that all of them fit beside the pickers where the window is 1280 pixels wide.
_FIXED: Mapping[str, tuple[PageEntry, ...]] = {
    "": (
        PageEntry(
            "findings", "Findings", ":material/lightbulb:", "guides/findings", (_DATASET, _MODELS, _POST, _SIMILARITY)
        ),
        PageEntry(
            "compare",
            "Compare",
            ":material/balance:",
            "guides/compare",
            (_MODELS, _POST, _BASELINE, _SIMILARITY, _PROTOCOL),
        ),
        PageEntry(
            "overview",
            "Overview",
            ":material/dashboard:",
            "guides/quote",
            (_DATASET, _MODELS, _POST, _SIMILARITY, _PROTOCOL),
        ),
        PageEntry("try_it", "Try it", ":material/edit_note:", "guides/try"),
        # On a demo the picked dataset decides whose runs these are: a visitor's own, or those that all share.
        PageEntry("run", "Run", ":material/play_circle:", "guides/run", (_DATASET,)),
    ),
    "Diagnose": (PageEntry("languages", "Languages", ":material/translate:", "guides/languages"),),
    "Space": (
        PageEntry(
            "neighbors",
            "Neighbors",
            ":material/hub:",
            "guides/space",
            (_DATASET, _MODELS, _POST, _BASELINE, _SIMILARITY),
        ),
        PageEntry("map", "Map", ":material/scatter_plot:", "guides/space", (_DATASET, _MODELS, _POST, _SIMILARITY)),
    ),
    "Decide": (
        PageEntry(
            "threshold",
            "Threshold",
            ":material/straighten:",
            "guides/threshold",
            (_DATASET, _MODELS, _POST, _BASELINE, _SIMILARITY),
        ),
        PageEntry("size", "Size", ":material/compress:", "guides/size", (_DATASET,)),
        PageEntry("repair", "Repair", ":material/healing:", "guides/repair", (_DATASET,)),
        PageEntry("training", "Training", ":material/trending_up:", "guides/python"),
        PageEntry("lab", "Lab", ":material/science:", "guides/lab", (_DATASET,)),
        PageEntry("evidence", "Evidence", ":material/query_stats:", "guides/evidence", (_MODELS,)),
    ),
    "Library": (
        PageEntry("models", "Models", ":material/deployed_code:", "guides/encoders", (_DATASET, _SIMILARITY)),
        PageEntry("data", "Data", ":material/database:", "guides/data", (_DATASET,)),
        PageEntry("intruder", "Intruder", ":material/person_search:", "guides/judgments"),
        PageEntry("compare_votes", "Compare votes", ":material/how_to_vote:", "guides/judgments"),
        PageEntry(DOCUMENTATION, "Documentation", ":material/menu_book:", "index"),
    ),
}


@cache
def sections() -> Mapping[str, tuple[PageEntry, ...]]:
    """All pages by section, as the navigation has them: diagnostics first, except those that come ``after`` a page."""
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
    diagnostic = next(entry for entry in all_diagnostics().values() if entry.page == page)
    return PageEntry(page.stem, page.title, page.icon, f"diagnostics/{diagnostic.id}", page.pickers)


def pages() -> dict[str, list[Page]]:
    """The pages for ``st.navigation``, by section.

    Streamlit's default page has no address but the empty one. So the default is a hidden page that runs the first
    page's file, and every page in the navigation has its own address.
    """
    first = next(iter(sections().values()))[0]
    home = st.Page(_file(first), title=first.title, url_path="home", default=True, visibility="hidden")
    found = {
        section: [st.Page(_file(entry), title=entry.title, icon=entry.icon, url_path=entry.stem) for entry in entries]
        for section, entries in sections().items()
    }
    return {section: [home, *entries] if section == "" else entries for section, entries in found.items()}


def navigate() -> Page:
    """Draw the navigation, and name the browser's tab after the page to run."""
    page = st.navigation(pages(), position="top")
    st.set_page_config(page_title=f"{page.title} · {APP}")
    st.html(f"<style>{_highlight(page.url_path)}</style>")
    return page


def _highlight(page: str) -> str:
    """CSS that marks a page's link or menu in the bar; Streamlit marks links only, by their color."""
    current, (links, *menus) = entry_of(page), sections().values()
    places = [[link] for link in links] + [list(menu) for menu in menus]
    number = next(i for i, entries in enumerate(places, 1) if current in entries)
    item = f'[data-testid="stTopNav"] > :nth-child({number})'
    return f"{item} :is(a, button) {{box-shadow: inset 0 -2px; border-radius: 0}} {item} p {{font-weight: 600}}"


def entry_of(page: str) -> PageEntry:
    """The entry of the page of an address; an unknown one is the first page's."""
    every = [entry for entries in sections().values() for entry in entries]
    return next((entry for entry in every if entry.stem == page), every[0])


def pickers_of(page: str) -> frozenset[Picker]:
    """The shared pickers of the page of an address; an unknown one is the first page's."""
    return frozenset(entry_of(page).pickers)


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

    Without an icon the browser would fetch that of the page from an outside server.
    """
    st.set_page_config(page_title=APP, page_icon=str(ASSETS / "icon.svg"), layout="wide")


def ran_through_app() -> bool:
    """Whether app.py ran this page; ask once per run.

    Since there is a ``pages/`` folder, a fresh server runs a page that is opened by its address without app.py.
    """
    return bool(st.session_state.pop(_IN_APP, False))
