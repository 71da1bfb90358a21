"""The shared pickers in the sidebar; their values live in the address, so that a copied link restores the view."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass

import streamlit as st
from streamlit.errors import StreamlitAPIException

from core.datasets import uploads
from core.datasets.catalog import DATASETS, OWN_PREFIX
from core.numerics.similarity import Similarity
from core.types import Variant
from core.ui.navigation import has_pickers
from core.ui.resources import allowed, repository, settings, shared_settings, upload_settings, visitor
from core.ui.widgets.choices import one_of

LARGEST = 2**53  # a browser's numbers are exact up to here
_TEXTS = frozenset({"q", "search", "sent_search", "session", "facilitator", "set", "area", "data", "enc"})


def drop_impossible_numbers() -> None:
    """Remove numbers from the address that no widget can hold: not finite, or too large for a browser.

    Streamlit fails on them. Call it before any widget that is bound to the address.
    """
    impossible = [
        name
        for name in st.query_params
        if name not in _TEXTS and any(_is_impossible(value) for value in st.query_params.get_all(name))
    ]
    dropped = False
    for name in impossible:
        with suppress(StreamlitAPIException):  # held by a widget already, which then took it
            del st.query_params[name]
            dropped = True
    if dropped:
        st.rerun()  # widgets read the address as it was when the script began


def _is_impossible(value: str) -> bool:
    try:
        number = float(value)
    except ValueError:
        return False
    return not math.isfinite(number) or abs(number) > LARGEST


# Defaults never enter the address, so they must never change.
DEFAULT_DATASET = "demo-pairs"
DEFAULT_METRIC = Similarity.COS.value
PROTOCOLS = ("definition", "toolkit")
DEFAULT_PROTOCOL = PROTOCOLS[0]
_NAMES = ("data", "enc", "metric", "protocol")
_PICKED = "_picks"
_PAGE = "_picks_page"
_STALE = "_stale_link"
_FOLLOWED = "via"  # marks an address that a link of the app's own names


@dataclass(frozen=True)
class Picks:
    """The reader's picks; no variants means all."""

    dataset: str
    metric: str
    protocol: str
    variants: tuple[Variant, ...]

    @property
    def params(self) -> dict[str, str]:
        """The picked parameters of a diagnostic."""
        return {"metric": self.metric, "protocol": self.protocol}

    def keeps(self, variant: Variant) -> bool:
        return not self.variants or variant in self.variants

    @staticmethod
    def current() -> Picks:
        """The picks of this run of the script."""
        picks: Picks = st.session_state[_PICKED]
        return picks


def picked_variants() -> tuple[Variant, ...]:
    """The picked variants; none where no picker was drawn yet."""
    picks: Picks | None = st.session_state.get(_PICKED)
    return picks.variants if picks else ()


def link_to(dataset: str, metric: str, variants: Sequence[Variant]) -> dict[str, str | list[str]]:
    """Query parameters for ``st.page_link`` to another page with these picks."""
    return {"data": dataset, "metric": metric, "enc": [str(v) for v in variants], _FOLLOWED: "link"}


def shared_pickers(page: str) -> Picks:
    """Draw the pickers; app.py calls it before the page, with the page's path."""
    drop_impossible_numbers()
    if not has_pickers(page):
        return _keep_out_of_sight(page)
    _keep_over_change_of_page(page)
    known = [str(v) for v in repository().variants()]
    choices = pickable_datasets()
    addresses = [_in_address(name) for name in choices]
    _note_stale_link({"data": addresses, "metric": list(Similarity), "protocol": PROTOCOLS, "enc": known})
    _follow_link(dict(zip(addresses, choices, strict=True)), known)
    with st.sidebar:
        dataset = st.selectbox(
            "Dataset",
            choices,
            index=choices.index(DEFAULT_DATASET),
            key="data",
            bind="query-params",
            format_func=_in_address,
            on_change=_forget_pair,
            help="What the encoders are tested on; the page *Data* shows each of them. Texts of your own appear here "
            "once you uploaded them on that page or ran them with "
            "`python -m core run evalrank --dataset file:PATH`.",
        )
        variants = st.multiselect(
            "Variants",
            known,
            key="enc",
            bind="query-params",
            placeholder="All that were run" if known else "None yet",
            help="An encoder and the transform of its embeddings, as encoder~transform. Empty means all.",
        )
        metric = one_of("Similarity", Similarity, "metric", "cos: cosine. l2: 1/(1 + distance).")
        protocol = one_of(
            "Protocol",
            PROTOCOLS,
            "protocol",
            "How EvalRank counts ranks. definition: the paper's, exact, with ties. toolkit: the published "
            "toolkit's arithmetic, rounding included; only its scores can be compared with published ones.",
        )
    picks = Picks(dataset, metric.value, protocol, tuple(Variant.parse(v) for v in variants))
    st.session_state[_PICKED] = picks
    return picks


def known_datasets() -> list[str]:
    """References of the catalog's datasets, of uploads, and of users' files that were run.

    No other file: a link must not make the server read whatever it names. On a demo only the reader's own uploads, and
    only while one of them is picked: their results are kept apart.
    """
    if not allowed().server_files and not settings().session:
        return list(DATASETS)
    own = [upload.reference for upload in uploads.found(settings())]
    if allowed().server_files:
        own += [name for name in repository().datasets() if name.startswith(OWN_PREFIX)]
    return [*DATASETS, *dict.fromkeys(own)]


def pickable_datasets() -> list[str]:
    """``known_datasets``; on a demo the reader's own uploads, too, while none of them is picked."""
    mine = [upload.reference for upload in uploads.found(upload_settings())] if visitor() else []
    return list(dict.fromkeys([*known_datasets(), *mine]))


def _in_address(reference: str) -> str:
    """A dataset's name in the picker, which is also its name in the address: the id, or an upload's short name."""
    return uploads.short_name(reference, shared_settings())


def pick_dataset(reference: str) -> None:
    """Pick a dataset from within a page; call it in a callback, before the picker is drawn."""
    st.session_state["data"] = reference
    _forget_pair()


def _keep_over_change_of_page(page: str) -> None:
    """Keep the picks when a page's link was clicked before the browser had drawn the pickers.

    The browser then sends neither their values nor the address's parameters, and Streamlit would start from the
    defaults. Going back in the history is not affected: there Streamlit lets the address win.
    """
    before = st.session_state.get(_PAGE, page)
    st.session_state[_PAGE] = page
    picks: Picks | None = st.session_state.get(_PICKED)
    if before == page or picks is None or any(name in st.query_params for name in _NAMES):
        return
    st.session_state["data"] = picks.dataset
    st.session_state["enc"] = [str(v) for v in picks.variants]
    st.session_state["metric"] = picks.metric
    st.session_state["protocol"] = picks.protocol


def _keep_out_of_sight(page: str) -> Picks:
    """Keep the picks for the next page, without pickers on screen or names in the address."""
    st.session_state[_PAGE] = page
    st.session_state.pop(_STALE, None)
    for name in {*_NAMES, _FOLLOWED} & set(st.query_params):
        with suppress(StreamlitAPIException):  # bound by the page before: Streamlit takes it away after this run
            del st.query_params[name]
    picks: Picks = st.session_state.setdefault(_PICKED, Picks(DEFAULT_DATASET, DEFAULT_METRIC, DEFAULT_PROTOCOL, ()))
    return picks


def _follow_link(datasets_by_address: Mapping[str, str], known: Sequence[str]) -> None:
    """Take the picks of the app's own link, which carries a mark: pickers that are on screen would keep their values.

    Any other address may be a moment behind the pickers.
    """
    if _FOLLOWED not in st.query_params:
        return
    del st.query_params[_FOLLOWED]
    address = st.query_params
    if dataset := datasets_by_address.get(address.get("data", "")):
        if st.session_state.get("data") != dataset:
            _forget_pair()
        st.session_state["data"] = dataset
    if (metric := address.get("metric")) in list(Similarity):
        st.session_state["metric"] = metric
    if (protocol := address.get("protocol")) in PROTOCOLS:
        st.session_state["protocol"] = protocol
    st.session_state["enc"] = [value for value in address.get_all("enc") if value in known]


def _forget_pair() -> None:
    """Forget the numbers of a pair and an item and an area of ranks: they mean nothing in another dataset."""
    for number in ("pair", "item"):
        if number in st.session_state:
            st.session_state[number] = None
    if "area" in st.session_state:
        st.session_state["area"] = ""


def stale_link_notice() -> None:
    """Name what a link asked for and is not here; Streamlit drops such values silently."""
    if missing := st.session_state.get(_STALE):
        text, button = st.columns([6, 1], vertical_alignment="center")
        text.warning(f"This link names what is not here: {missing}. The rest is shown.", icon=":material/link_off:")
        button.button("Dismiss", key="dismiss_stale", on_click=lambda: st.session_state.pop(_STALE))


def _note_stale_link(known: Mapping[str, Sequence[str]]) -> None:
    missing = [
        value for name, values in known.items() for value in st.query_params.get_all(name) if value not in values
    ]
    missing += [f"pair {value}" for value in st.query_params.get_all("pair") if not value.isdecimal()]
    if missing:
        st.session_state[_STALE] = ", ".join(f"`{value[:80].replace('`', '')}`" for value in missing)
