"""Links to what is not here: a line that names it, why it is not, and what to do.

Streamlit drops such values silently. A link only names: nothing is loaded, downloaded or looked up on the disk for it.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass

import streamlit as st

from blindspot.datasets.catalog import title_of
from blindspot.diagnostic import Picker
from blindspot.encoders.catalog import SCHEMES
from blindspot.encoders.in_process import is_in_process
from blindspot.names import file_in_address
from blindspot.policy import MOST_NAMED
from blindspot.references import ModelRef, ModelsRef, version_of
from blindspot.runs.encoders_here import known_references
from blindspot.texts import listed
from blindspot.ui.markdown import as_text, from_address
from blindspot.ui.navigation import switch_to
from blindspot.ui.page_state import ABOUT, ITEM, ON, A, B
from blindspot.ui.pickers import ASKED, STALE, TO_RUN, Picks, current_page
from blindspot.ui.resources import allowed, repository, settings, shared_settings
from blindspot.ui.widgets.addressed import UNREAD, option_in_address, reads_chain
from blindspot.ui.widgets.doors import TO_ADD
from blindspot.variants import Variant

_DROPPED = "_dropped_from_address"  # a page, and parameters of the address with values that no widget of it took
_LEAVING = "_leaving_stale_link"  # the page to go to
_CUT = ("sentence", "lines")  # texts, which are taken in part where they are long
_MOST_PARTS = 3  # that are named
_SIDES = (A, B)
_OF_MODELS = (Picker.MODELS, Picker.BASELINE, ABOUT, *_SIDES)
_OF_DATASETS = (Picker.DATASET, ON)


@dataclass(frozen=True)
class _Absence:
    """What a link names in vain.

    Attributes:
        why: a clause, "" where there is nothing to say.
        variant: the same, if it can be run here.
        page: where the reader can add it, "" for nowhere.
        typed: what to type there, "" if a link does not say it, since it has no paths.
        parts: of several models as one, those that are not here either.
    """

    title: str
    why: str = ""
    variant: Variant | None = None
    page: str = ""
    typed: str = ""
    parts: Sequence[str] = ()

    @property
    def in_words(self) -> str:
        """As Markdown; title and parts come from the address."""
        parts = listed([from_address(part) for part in self.parts[:_MOST_PARTS]], "or")
        why = f"{self.why}; nor was {parts}" if parts else self.why
        return f"'{from_address(self.title)}'" + (f" ({why})" if why else "")


def stale_link_notice() -> None:
    """Draw the line about what a link asked for and that is not here, with buttons that lead on."""
    if page := st.session_state.pop(_LEAVING, ""):
        switch_to(page)
    page, dropped = st.session_state.get(_DROPPED, ("", ()))
    parameters = dict.fromkeys([*st.session_state.get(STALE, ()), *(dropped if page == current_page() else ())])
    if not parameters:
        return
    models_here = known_references(settings(), repository())
    absent = [_absence(name, value, models_here) for name, value in parameters]
    to_run = list(dict.fromkeys(absence.variant for absence in absent if absence.variant))
    missing = [absence for absence in absent if not absence.variant]
    named = dict.fromkeys(absence.in_words for absence in missing)
    instead = f"The dataset {as_text(title_of(Picks.current().dataset))} is picked instead"
    sentences: list[str] = [
        f"This link names what is not here: {', '.join(named)}" if named else "",
        f"Not run yet: {listed([as_text(variant.label) for variant in to_run])}" if to_run else "",
        instead if any(name == Picker.DATASET for name, _ in parameters) else "The rest is shown",
    ]
    text, buttons = st.columns([5, 2], vertical_alignment="center")
    text.warning(". ".join(filter(None, sentences)) + ".", icon=":material/link_off:")
    with buttons.container(horizontal=True):
        if not shared_settings().read_only:
            _buttons(to_run, missing)
        st.button("Dismiss", key="dismiss_stale", on_click=_dismiss)


def _buttons(to_run: Sequence[Variant], missing: Sequence[_Absence]) -> None:
    if to_run:
        label = "Run it" if len(to_run) == 1 else "Run them"
        st.button(label, key="run_stale", type="primary", on_click=_leave, args=("run", TO_RUN, to_run))
    models = [absence for absence in missing if absence.page == "models"]
    if typed := next((model.typed for model in models if model.typed), ""):
        st.button(
            "Add it" if len(models) == 1 else "Add the first",
            key="add_stale",
            on_click=_leave,
            args=("models", TO_ADD, typed),
            help="Opens *Models* with the name in its field. Nothing is loaded before you press *Check* there.",
        )
    elif models and current_page() != "models":
        st.button("Open Models", key="models_stale", on_click=_leave, args=("models",))
    if current_page() != "data" and any(absence.page == "data" for absence in missing):
        st.button("Open Data", key="data_stale", on_click=_leave, args=("data",))


def _absence(name: str, value: str, models_here: Sequence[ModelRef]) -> _Absence:
    asked = Variant.parse(value)
    file = file_in_address(value) or file_in_address(asked.encoder)
    if name in _OF_DATASETS or value.startswith("file:"):
        return _Absence(file or title_of(value), "a dataset that was not added here", page="data")
    if name == ITEM:
        return _Absence(f"item {value}")
    if name in _OF_MODELS or file or _names_model(asked.encoder):
        return _absent_model(asked, file, models_here)
    return _Absence(asked.label)


def _names_model(reference: ModelRef) -> bool:
    """Whether it can only be a model's reference."""
    return isinstance(reference, ModelsRef) or (reference.partition(":")[0] in SCHEMES and ":" in reference)


def _absent_model(asked: Variant, file: str, models_here: Sequence[ModelRef]) -> _Absence:
    """A model that is not here, or not in the results that a page shows.

    Args:
        file: the model's name, if the link names it by a file or folder.
    """
    if model := option_in_address(asked.encoder, models_here):
        return _without_results(Variant(model, asked.transform))
    chain = "" if asked.transform == "none" or file_in_address(str(asked)) else f" + {asked.transform}"
    title = f"{file or asked.encoder}{chain}"
    if is_in_process(asked.encoder) or version_of(asked.encoder)[1]:
        return _Absence(asked.label, "its results are not stored here")
    if not allowed().changes:
        return _Absence(title, "a model that was not added here; on a hosted demo it cannot be added")
    if file:
        return _Absence(title, "a model from a file or folder that was not added here", page="models")
    parts = asked.encoder.models if isinstance(asked.encoder, ModelsRef) else ()
    lacking = [str(part) for part in parts if part and option_in_address(part, models_here) is None]
    can_be_typed = (":" in asked.encoder or "/" in asked.encoder) and len(asked.encoder) <= MOST_NAMED
    typed = str(asked.encoder) if can_be_typed else ""
    return _Absence(title, "a model that was not added here", page="models", typed=typed, parts=lacking)


def _without_results(variant: Variant) -> _Absence:
    """A variant of a model that is here."""
    if not reads_chain(variant.transform):
        return _Absence(variant.label, "there is no such post-processing")
    if variant in repository().variants():
        return _Absence(variant.label, "not run on what this page shows")
    return _Absence(variant.label, variant=variant)


def _leave(page: str, key: str = "", value: object = None) -> None:
    """Go to a page, which takes what the session has under a key; a callback."""
    st.session_state[_LEAVING] = page
    if key:
        st.session_state[key] = value
    _dismiss()


def _dismiss() -> None:
    for key in (STALE, _DROPPED):
        st.session_state.pop(key, None)


def note_dropped() -> None:
    """Note what else the address asked for, when the session began, and no widget of the page could take.

    To be called when a page is drawn. What the page has no widget for asks nothing of it; but where nothing was run,
    pages have none for the models that a link compares.
    """
    asked: Mapping[str, Sequence[str]] = st.session_state.get(ASKED, {})
    st.session_state[ASKED] = {}
    named_elsewhere = {*Picker, ITEM, *_CUT}
    undrawn: Collection[str] = () if repository().variants() else _SIDES
    dropped = [
        (name, value)
        for name, values in asked.items()
        if (name in st.session_state or name in undrawn) and name not in named_elsewhere
        for value in values
        if value and not _is_taken(name, value)
    ]
    if dropped:
        st.session_state[_DROPPED] = current_page(), dropped
        st.rerun()


def _is_taken(name: str, value: str) -> bool:
    """Whether a widget has what the address asked for; a default is not in the address."""
    held = st.session_state.get(name)
    if held is None or value in st.session_state.get(f"{UNREAD}{name}", ()):
        return False
    several = held if isinstance(held, list | tuple) else [held]
    return value in st.query_params.get_all(name) or any(_means(value, picked) for picked in several)


def _means(value: str, held: object) -> bool:
    if isinstance(held, bool | str):
        return value.casefold() == str(held).casefold() or option_in_address(value, [str(held)]) is not None
    with suppress(ValueError):
        return float(value) == held
    return value == str(held)
