"""Pages of the app. A page's url_path is its file's stem, so that a cold deep link finds it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import streamlit as st
from streamlit.navigation.page import Page

from blindspot.datasets.kinds.base import DatasetKind
from blindspot.diagnostic import DIAGNOSE, Diagnostic, Picker, all_diagnostics
from blindspot.diagnostic import Page as DiagnosticPage
from blindspot.settings import ASSETS, ROOT
from blindspot.store.records import RunRecord
from blindspot.transforms.chain import SHRINKING, STEPS
from blindspot.ui.shutdown import end_soon_when_told

_IN_APP = "_app_py_ran"  # set by app.py before it runs a page


@dataclass(frozen=True)
class PageEntry:
    """A page (``stem`` is the name of its file and its address) or a part of one (``stem`` is its name in the address).

    Attributes:
        documentation: the page that documents it, without ``.md``.
        pickers: the shared ones that change what the page shows; none where people judge without knowing the models.
        parts: what the reader switches between, the first by default. Stems are unique among pages and parts, except
            that the first part may share its page's.
        measures_with: whether a page that belongs to no diagnostic measures with this one, and so on its datasets.
        steps: of post-processing, where the page is about runs with one of them.
    """

    stem: str
    title: str
    icon: str
    documentation: str
    pickers: tuple[Picker, ...] = ()
    parts: tuple[PageEntry, ...] = ()
    measures_with: Callable[[Diagnostic], bool] | None = None
    steps: tuple[str, ...] = ()

    @property
    def _diagnostics(self) -> list[Diagnostic]:
        meant = self.measures_with or (lambda entry: entry.page is not None and entry.page.stem == self.stem)
        return [entry for entry in all_diagnostics().values() if meant(entry)]

    @property
    def kinds(self) -> set[DatasetKind]:
        """Kinds of the datasets that the page is about; empty for all."""
        return {entry.dataset_kind for entry in self._diagnostics}

    def shows(self, run: RunRecord) -> bool:
        """Whether a run is among what the page is about."""
        diagnostics = {entry.id for entry in self._diagnostics}
        steps = {step.partition(":")[0] for step in run.plan.variant.transform.split("+")}
        return (not diagnostics or run.plan.diagnostic in diagnostics) and (
            not self.steps or not steps.isdisjoint(self.steps)
        )


APP = "Blindspot"
DOCUMENTATION = "docs"  # the stem of the page that shows it
TOPIC = "topic"  # its parameter: which text
PART = "part"  # the parameter of pages with parts: which is shown
_DATASET, _MODELS, _POST, _BASELINE, _SIMILARITY = Picker
# Pages that belong to no diagnostic. Sections are menus of the top bar, those of "" are links in it: few of either, so
# that all of them fit beside the pickers where the window is 1280 pixels wide.
_FIXED: Mapping[str, tuple[PageEntry, ...]] = {
    "": (
        PageEntry("findings", "Findings", ":material/lightbulb:", "guides/findings", (_MODELS, _POST, _SIMILARITY)),
        PageEntry(
            "compare",
            "Compare",
            ":material/balance:",
            "guides/compare",
            parts=(
                PageEntry(
                    "compare",
                    "Two models",
                    ":material/balance:",
                    "guides/compare",
                    (_MODELS, _POST, _BASELINE, _SIMILARITY),
                ),
                PageEntry(
                    "overview",
                    "Several models",
                    ":material/dashboard:",
                    "guides/quote",
                    (_DATASET, _MODELS, _POST, _SIMILARITY),
                ),
                PageEntry("training", "Steps of a training", ":material/trending_up:", "guides/python"),
            ),
        ),
        PageEntry("try_it", "Try it", ":material/edit_note:", "guides/try"),
        # On a demo the picked dataset decides whose runs these are: a visitor's own, or those that all share.
        PageEntry("run", "Run", ":material/play_circle:", "guides/run", (_DATASET,)),
    ),
    DIAGNOSE: (
        PageEntry("classification", "Classification", ":material/category:", "diagnostics/transfer"),
        PageEntry("languages", "Languages", ":material/translate:", "guides/languages"),
    ),
    "Space": (
        PageEntry(
            "neighbors",
            "Neighbors",
            ":material/hub:",
            "guides/space",
            parts=(
                PageEntry(
                    "neighbors",
                    "Nearest texts",
                    ":material/hub:",
                    "guides/space",
                    (_DATASET, _MODELS, _POST, _BASELINE, _SIMILARITY),
                ),
                PageEntry(
                    "map", "Map", ":material/scatter_plot:", "guides/space", (_DATASET, _MODELS, _POST, _SIMILARITY)
                ),
            ),
        ),
    ),
    "Decide": (
        PageEntry(
            "threshold",
            "Threshold",
            ":material/straighten:",
            "guides/threshold",
            (_DATASET, _MODELS, _POST, _BASELINE, _SIMILARITY),
            measures_with=lambda entry: entry.dataset_kind in (DatasetKind.SCORED_PAIRS, DatasetKind.LABELED_TEXTS),
        ),
        PageEntry(
            "size",
            "Size",
            ":material/compress:",
            "guides/size",
            (_DATASET,),
            measures_with=lambda entry: entry.judges_sizes,
            steps=tuple(sorted(SHRINKING)),
        ),
        PageEntry(
            "repair",
            "Repair",
            ":material/healing:",
            "guides/repair",
            (_DATASET,),
            measures_with=lambda entry: entry.has_triplets,
            steps=("repair", "repair-queries"),
        ),
        PageEntry(
            "lab",
            "Lab",
            ":material/science:",
            "guides/lab",
            parts=(
                PageEntry(
                    "lab",
                    "Post-processing and size",
                    ":material/science:",
                    "guides/lab",
                    (_DATASET,),
                    steps=tuple(name for name in STEPS if name != "none"),
                ),
                PageEntry(
                    "evidence", "Do scores predict tasks?", ":material/query_stats:", "guides/evidence", (_MODELS,)
                ),
            ),
        ),
    ),
    "Library": (
        PageEntry("models", "Models", ":material/deployed_code:", "guides/encoders", (_DATASET, _SIMILARITY)),
        PageEntry("data", "Data", ":material/database:", "guides/data", (_DATASET,)),
        PageEntry(
            "people",
            "People",
            ":material/how_to_vote:",
            "guides/judgments",
            parts=(
                PageEntry("intruder", "Intruder", ":material/person_search:", "guides/judgments"),
                PageEntry("compare_votes", "Votes", ":material/how_to_vote:", "guides/judgments"),
            ),
        ),
        PageEntry(DOCUMENTATION, "Documentation", ":material/menu_book:", "index"),
    ),
}


@cache
def sections() -> Mapping[str, tuple[PageEntry, ...]]:
    """All pages by section, as the navigation lists them; pages of diagnostics come first in their own section."""
    by_section: dict[str, tuple[PageEntry, ...]] = {}
    of_diagnostics = list(dict.fromkeys(entry.page for entry in all_diagnostics().values() if entry.page))
    for section, fixed in _FIXED.items():
        pages_of_section = [page for page in of_diagnostics if page.section == section]
        alone = [_entry(page) for page in pages_of_section if not page.part_of]
        held = [
            replace(
                entry,
                parts=tuple(_entry(page) for page in pages_of_section if page.part_of == entry.stem) or entry.parts,
            )
            for entry in fixed
        ]
        by_section[section] = (*alone, *held) if section == DIAGNOSE else (*held, *alone)
    return by_section


def _entry(page: DiagnosticPage) -> PageEntry:
    diagnostic = next(entry for entry in all_diagnostics().values() if entry.page == page)
    return PageEntry(page.stem, page.title, page.icon, f"diagnostics/{diagnostic.id}", page.pickers)


def pages() -> dict[str, list[Page]]:
    """The pages for ``st.navigation``, by section: copies, since the page that is chosen is marked so."""
    return {section: [copy(page) for page in pages_of_section] for section, pages_of_section in _pages().items()}


@cache
def _pages() -> dict[str, list[Page]]:
    """The pages by section, made once: each looks for its file.

    Streamlit's default page has no address but the empty one. So the default is a hidden page that runs the first
    page's file, and every page in the navigation has its own address.
    """
    first = next(iter(sections().values()))[0]
    home = st.Page(_file(first), title=first.title, url_path="home", default=True, visibility="hidden")
    by_section = {
        section: [st.Page(_file(entry), title=entry.title, icon=entry.icon, url_path=entry.stem) for entry in entries]
        for section, entries in sections().items()
    }
    return {section: [home, *entries] if section == "" else entries for section, entries in by_section.items()}


def navigate() -> Page:
    """Draw the navigation, and name the browser's tab after the page to run."""
    page = st.navigation(pages(), position="top")
    st.set_page_config(page_title=f"{page.title} · {APP}")
    st.html(f"<style>{_highlight(page.url_path)}</style>")
    return page


def _highlight(page: str) -> str:
    """CSS that marks a page's link or menu in the bar; Streamlit marks links only, by their color."""
    current, (links, *menus) = page_of(page), sections().values()
    places = [[link] for link in links] + [list(menu) for menu in menus]
    number = next(i for i, entries in enumerate(places, 1) if current in entries)
    item = f'[data-testid="stTopNav"] > :nth-child({number})'
    return f"{item} :is(a, button) {{box-shadow: inset 0 -2px; border-radius: 0}} {item} p {{font-weight: 600}}"


def page_of(stem: str) -> PageEntry:
    """The page that has this stem or a part with it; the first page if there is none."""
    every = [entry for entries in sections().values() for entry in entries]
    holders = (entry for entry in every if stem in {entry.stem, *(part.stem for part in entry.parts)})
    return next(holders, every[0])


def entry_of(stem: str) -> PageEntry:
    """The part with this stem; for a page with parts its first part, for one without the page itself."""
    page = page_of(stem)
    return next((part for part in page.parts if part.stem == stem), page.parts[0] if page.parts else page)


def places() -> list[PageEntry]:
    """All that a reader can open: the pages without parts, and the parts of the others."""
    every = (entry for entries in sections().values() for entry in entries)
    return [part for entry in every for part in entry.parts or (entry,)]


def path_of(stem: str, parameters: Mapping[str, str | Sequence[str]] | None = None) -> str:
    """The address of a page, or of a part of one, below the server's: ``neighbors?part=map&item=3``."""
    page, of_part = place_of(stem)
    return f"{page.stem}?{urlencode({**of_part, **(parameters or {})}, doseq=True)}".removesuffix("?")


def pickers_of(stem: str) -> frozenset[Picker]:
    """The shared pickers of a page, or of a part of one."""
    return frozenset(entry_of(stem).pickers)


def draw_link(stem: str, address: Mapping[str, str | Sequence[str]], *, label: str, **look: Any) -> None:
    """Draw a link by query parameters; pages have ``page_state.link``."""
    page, of_part = place_of(stem)
    st.page_link(_file(page), label=label, query_params={**of_part, **address} or None, **look)


def switch_to(stem: str) -> None:
    """Go to a page, or to a part of one; ends the script's run."""
    page, parameters = place_of(stem)
    st.switch_page(_file(page), query_params=parameters)


def place_of(stem: str) -> tuple[PageEntry, dict[str, str]]:
    """The page that shows a page or part, and the parameters that name the part in the address."""
    page = page_of(stem)
    return page, {PART: entry_of(stem).stem} if page.parts else {}


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
