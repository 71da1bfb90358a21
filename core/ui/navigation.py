"""Which pages there are. A page's url_path is its file's stem, so that a cold deep link finds it."""

from __future__ import annotations

from dataclasses import dataclass

import streamlit as st
from streamlit.navigation.page import Page

from core.settings import ASSETS, ROOT

_IN_APP = "_app_py_ran"  # set by app.py before it runs a page


@dataclass(frozen=True)
class PageEntry:
    """A page: its file's stem, which is its address, its title and an icon."""

    stem: str
    title: str
    icon: str


SECTIONS: dict[str, tuple[PageEntry, ...]] = {
    "": (PageEntry("overview", "Overview", ":material/dashboard:"),),
    "Diagnostics": (PageEntry("evalrank", "EvalRank", ":material/leaderboard:"),),
}


HOME = "pages/overview.py"


def _home() -> None:
    st.switch_page(HOME, query_params=st.query_params.to_dict())


def pages() -> dict[str, list[Page]]:
    """The pages for ``st.navigation``, grouped.

    Streamlit gives its default page the empty address and no other, so that page is a hidden one which
    leads to ``HOME``: every real page keeps its own address.
    """
    home = st.Page(_home, title="Home", url_path="home", default=True, visibility="hidden")
    found = {
        section: [
            st.Page(ROOT / "pages" / f"{entry.stem}.py", title=entry.title, icon=entry.icon, url_path=entry.stem)
            for entry in entries
        ]
        for section, entries in SECTIONS.items()
    }
    return {section: [home, *entries] if section == "" else entries for section, entries in found.items()}


def set_up() -> None:
    """Title, icon and layout of the browser's page, and the mark that app.py runs."""
    st.set_page_config(page_title="Blindspot", page_icon=str(ASSETS / "icon.svg"), layout="wide")
    st.logo(str(ASSETS / "logo.svg"), icon_image=str(ASSETS / "icon.svg"), size="large")
    st.session_state[_IN_APP] = True


def ran_through_app() -> bool:
    """Whether app.py ran this page, asked once per run.

    Because there is a ``pages/`` folder, Streamlit runs a page that is opened by its address on a fresh server
    on its own, without app.py.
    """
    return bool(st.session_state.pop(_IN_APP, False))
