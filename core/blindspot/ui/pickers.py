"""The shared pickers in the sidebar; their values live in the address, so that a copied link restores the view."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

import streamlit as st
from streamlit.errors import StreamlitAPIException
from streamlit.runtime.scriptrunner import get_script_run_ctx

from blindspot.datasets import uploads
from blindspot.datasets.catalog import DATASETS, DatasetRef, family_of, title_of
from blindspot.datasets.kinds.base import DatasetKind
from blindspot.datasets.user_data.files import is_own
from blindspot.diagnostic import Picker
from blindspot.errors import BlindspotError
from blindspot.names import in_address
from blindspot.numerics.similarity import Similarity
from blindspot.runs.default_models import default_models, place_of, usual_baseline
from blindspot.runs.default_models import is_own as is_own_model
from blindspot.store.records import RunState
from blindspot.ui.boundary import redraw_page
from blindspot.ui.navigation import PageEntry, entry_of, pickers_of
from blindspot.ui.page_state import ABOUT, FOLLOWED, ITEM, VISIT, A, B, PageState, forget_of_page, shown_part
from blindspot.ui.resources import allowed, repository, settings, upload_settings, visitor
from blindspot.ui.widgets.addressed import (
    names_of_variants,
    now_chosen,
    one_named,
    option_in_address,
    some_named,
)
from blindspot.ui.widgets.choices import one_of
from blindspot.variants import Variant

LARGEST = 2**53  # a browser's numbers are exact up to here
_AREAS = ("area", "query_area")  # of figures
_TEXTS = frozenset(
    ("base", "q", "search", "sent_search", "sentence", "lines", "session", "facilitator", "set", "data", "model")
) | {"training", *_AREAS}


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
DEFAULT_DATASET = DatasetRef("demo-pairs")
DEFAULT_METRIC = Similarity.COS.value
PROTOCOLS = ("definition", "toolkit")
DEFAULT_PROTOCOL = PROTOCOLS[0]
WITH_DOORS = ("findings", "compare", "overview")  # pages that lead into an empty store
_PICKED = "_picks"
_BY_RULE = "_about_by_rule"  # the model that this session wrote into the address
_KEPT = "_kept_picks"  # by picker its value, for the next page that has it
_PAGE = "_picks_page"
STALE = "_stale_link"  # parameters of the address, with values that are not here
ASKED = "_address_at_first"
TO_RUN = "_to_run"  # variants for the form of *Run*
WIDTH = 30  # characters of a model's name that a menu of the sidebar shows
_VISITED = "_visited"  # that page, and by picker what the link picked and what was picked before


@dataclass(frozen=True)
class Picks:
    """The reader's picks; no variants means all.

    Attributes:
        protocol: the definition's; pages that show another have ``choose_protocol``.
        variants: those to show; a baseline that the reader chose is one of them.
        baseline: what the others are compared with; None where nothing was run.
        postprocessed: whether post-processed variants are shown where none are picked; see ``asked_for``.
        known: all of the store, by first appearance.
        subject: the model that sentences are about, if the reader or a link chose it.
    """

    dataset: DatasetRef
    metric: str
    protocol: str
    variants: tuple[Variant, ...]
    baseline: Variant | None = None
    postprocessed: bool = False
    known: tuple[Variant, ...] = field(default=(), compare=False)
    subject: Variant | None = field(default=None, compare=False)
    _subjects: list[Variant] = field(default_factory=list, init=False, repr=False, compare=False)  # the first one asked

    @property
    def params(self) -> dict[str, str]:
        """The picked parameters of a diagnostic."""
        return {"metric": self.metric, "protocol": self.protocol}

    @property
    def state(self) -> PageState:
        """Of a page with these picks."""
        return PageState(self.dataset, self.metric, self.variants)

    def keeps(self, variant: Variant) -> bool:
        return not self.variants or variant in self.variants

    def asked_for(self, variants: Iterable[Variant]) -> list[Variant]:
        """Those of a page's variants that the reader asked for, in their order; see ``default_models``."""
        kept = list(dict.fromkeys(variant for variant in variants if self.keeps(variant)))
        if self.variants:
            return kept
        return default_models(kept, self.known, self.baseline, postprocessed=self.postprocessed)

    def subject_first(self, variants: Iterable[Variant]) -> list[Variant]:
        """The variants, with the subject of the page's sentences in front: the chosen one, else the newest of the
        reader's own models, if possible without post-processing, else the usual baseline.

        A page has one subject, that of the first variants asked about; others are about another model only where they
        lack it. The newest is written into the address, so that a copied link is about the same model when there is a
        newer one.
        """
        shown = list(variants)
        user_models = [v for v in self.known if v in shown and is_own_model(v.encoder)]
        newest = [*reversed([v for v in user_models if v.transform == "none"]), *reversed(user_models)]
        subject = next((v for v in (*self._subjects, self.subject, *newest) if v in shown), None)
        if subject is not None and not self._subjects:
            self._subjects.append(subject)
            if subject != self.subject:
                st.query_params[ABOUT] = st.session_state[_BY_RULE] = in_address(str(subject))
        return sorted(shown, key=lambda variant: variant != (subject or self.baseline))

    @staticmethod
    def current() -> Picks:
        """The picks of this run of the script."""
        picks: Picks = st.session_state[_PICKED]
        return picks


def picked_variants() -> tuple[Variant, ...]:
    """The picked variants; empty before any picker is drawn."""
    picks: Picks | None = st.session_state.get(_PICKED)
    return picks.variants if picks else ()


def current_page() -> str:
    """The stem of the page, or of its part that is shown; "" before any pickers were drawn."""
    return str(st.session_state.get(_PAGE, ""))


def came_by_address() -> bool:
    """Whether the session begins with this run, by an address with parameters: a copied link says all that is not
    usual."""
    return bool(st.session_state.get(ASKED))


def shared_pickers(page: str) -> Picks:
    """Draw the pickers that change what a page shows; app.py calls this before the page, with the page's path.

    The other pickers keep their values for the next page.
    """
    st.session_state.setdefault(ASKED, {name: st.query_params.get_all(name) for name in st.query_params})
    drop_impossible_numbers()
    page = shown_part(page).stem
    wanted = frozenset() if _has_doors(page) else pickers_of(page)
    _keep_out_of_sight(wanted)
    _keep_over_change_of_page(page, wanted)
    _end_visit(page, wanted)
    if not wanted:
        st.session_state.pop(STALE, None)
        st.sidebar.caption("Nothing to pick on this page.")  # else the sidebar goes, and the page jumps
        return _remember(st.session_state.get(_PICKED, Picks(DEFAULT_DATASET, DEFAULT_METRIC, DEFAULT_PROTOCOL, ())))
    choices = pickable_datasets()
    by_name = {str(variant): variant for variant in repository().variants()}
    models = _own_first(by_name)
    answers: dict[Picker, Sequence[str]] = {
        Picker.DATASET: choices,
        Picker.MODELS: models,
        Picker.POSTPROCESSED: ["true", "false"],
        Picker.BASELINE: models,
        Picker.SIMILARITY: [str(metric) for metric in Similarity],  # as the widget has them
    }
    _note_stale_link({picker: answers[picker] for picker in wanted} | {ABOUT: models})
    _follow_link({picker: answers[picker] for picker in wanted})
    _begin_with_own(page, wanted, choices)
    with st.sidebar:
        return _remember(_drawn(wanted, choices, by_name))


def _has_doors(page: str) -> bool:
    """Whether a page only leads into an empty store, where there is nothing to pick."""
    is_asked = STALE in st.session_state or any(picker in st.query_params for picker in Picker)  # of a link
    return entry_of(page).stem in WITH_DOORS and not is_asked and visitor() is None and not repository().variants()


def _own_first(by_name: Mapping[str, Variant]) -> list[str]:
    """Names of models as pickers list them: a user's own, then others, then baselines that nobody would deploy."""
    return sorted(by_name, key=lambda name: place_of(by_name[name].encoder))


def _begin_with_own(page: str, wanted: Collection[Picker], choices: Collection[str]) -> None:
    """Before anything is picked, pick the user's own dataset that was run last, if possible one that fits the page."""
    kept: dict[Picker, Any] = st.session_state.setdefault(_KEPT, {})
    is_asked = option_in_address(st.query_params.get(Picker.DATASET), list(choices)) is not None
    if Picker.DATASET in kept or Picker.DATASET in st.session_state or is_asked:
        return
    entry = entry_of(page)
    if (first := own_dataset(entry.kinds, entry) or own_dataset()) in choices:
        kept[Picker.DATASET] = first
        if Picker.DATASET in wanted:
            st.session_state[Picker.DATASET] = first


def own_dataset(kinds: Collection[DatasetKind] = (), page: PageEntry | None = None) -> DatasetRef | None:
    """The reader's own dataset that can be read and was run last, else that was added last; of some kinds, if any.

    Args:
        page: what it shows comes first, so that it opens on results where there are any.
    """
    names = _user_datasets()
    runs = repository().runs(state=RunState.DONE, metrics=[]) if page and len(names) > 1 else []
    of_page = [run.plan.dataset for run in runs if page and page.shows(run)]
    last_run = [*of_page, *reversed(repository().datasets())]
    readable = filter(is_readable, dict.fromkeys([*filter(set(names).__contains__, last_run), *reversed(names)]))
    return next((name for name in readable if not kinds or name.entry().kind in kinds), None)


def is_readable(dataset: DatasetRef) -> bool:
    """Whether a dataset can be read; False if its file is gone."""
    try:
        dataset.entry()
    except BlindspotError:
        return False
    return True


def _remember(picks: Picks) -> Picks:
    st.session_state[_PICKED] = picks
    return picks


def _drawn(wanted: Collection[Picker], datasets: Sequence[str], by_name: Mapping[str, Variant]) -> Picks:
    """Draw the wanted pickers; the others count with what was picked on other pages."""
    kept: dict[Picker, Any] = st.session_state.setdefault(_KEPT, {})
    called = names_of_variants(list(by_name), WIDTH)
    models = _own_first(by_name)
    if Picker.DATASET in wanted:
        kept[Picker.DATASET] = one_named(
            "Dataset",
            datasets,
            index=datasets.index(DEFAULT_DATASET),
            key=Picker.DATASET,
            name=title_of,
            on_change=_forget_pair,
            help="What the models are tested on; the page *Data* shows each of them. Texts of your own appear here "
            "once you uploaded them on that page or ran them with "
            "`blindspot run evalrank --dataset file:PATH`.",
        )
    if Picker.MODELS in wanted:
        kept[Picker.MODELS] = some_named(
            "Models",
            models,
            key=Picker.MODELS,
            name=called,
            placeholder="All that were run" if by_name else "None yet",
            help="Models, some with post-processing of their embeddings. Empty means all.",
        )
    if Picker.POSTPROCESSED in wanted and (now_chosen(Picker.POSTPROCESSED) or _hides_postprocessed(by_name.values())):
        kept[Picker.POSTPROCESSED] = st.toggle(
            "With post-processing",
            key=Picker.POSTPROCESSED,
            bind="query-params",
            help="Where no models are picked, pages leave post-processed ones out, those of *Size* too, as long as "
            "there are two others.",
        )
    if Picker.BASELINE in wanted:
        usual = usual_baseline(by_name.values())
        kept[Picker.BASELINE] = one_named(
            "Baseline model",
            models,
            key=Picker.BASELINE,
            name=called,
            placeholder=usual.label if usual else "None yet",
            on_change=_forget_sides,
            help="The model that the others are compared with. Chosen here, it is shown on every page that compares.",
        )
    if Picker.SIMILARITY in wanted:
        about = "cos: cosine. l2: 1/(1 + distance)."
        kept[Picker.SIMILARITY] = one_of("Similarity", Similarity, Picker.SIMILARITY, about).value
    models_shown = [by_name[name] for name in kept.get(Picker.MODELS, ()) if name in by_name]
    baseline = by_name.get(str(kept.get(Picker.BASELINE)))
    if models_shown and baseline and baseline not in models_shown and Picker.BASELINE in wanted:
        models_shown.insert(0, baseline)
    return Picks(
        DatasetRef(kept.get(Picker.DATASET, DEFAULT_DATASET)),
        kept.get(Picker.SIMILARITY, DEFAULT_METRIC),
        DEFAULT_PROTOCOL,
        tuple(models_shown),
        baseline or usual_baseline(by_name.values()),
        bool(kept.get(Picker.POSTPROCESSED)),
        tuple(by_name.values()),
        baseline or _subject_of_link(by_name),
    )


def _subject_of_link(by_name: Mapping[str, Variant]) -> Variant | None:
    """The model that a link says the page is about; what this session wrote gives way to a newer model."""
    asked = st.query_params.get(ABOUT)
    if asked == st.session_state.get(_BY_RULE):
        return None
    named = option_in_address(asked, list(by_name))
    return next((variant for name, variant in by_name.items() if name == named), None)


def _hides_postprocessed(variants: Iterable[Variant]) -> bool:
    """Whether some page may leave variants out."""
    plain = [variant.transform == "none" for variant in variants]
    return sum(plain) > 1 and not all(plain)


def show_postprocessed() -> None:
    """Callback that shows post-processed variants, too."""
    st.session_state[Picker.POSTPROCESSED] = True


def known_datasets() -> list[DatasetRef]:
    """References of uploads, of users' files that were run, and of the catalog's datasets.

    No other file: a link must not make the server read whatever it names. On a demo only the reader's own uploads, and
    only while one of them is picked: their results are kept apart.
    """
    return list(dict.fromkeys([*_user_datasets(), *map(DatasetRef, [*DATASETS, *_members_asked_for()])]))


def _user_datasets() -> list[DatasetRef]:
    """The part of ``known_datasets`` that is the reader's own."""
    if not allowed().server_files and not settings().session:
        return []
    names = [upload.reference for upload in uploads.found(settings())]
    if allowed().server_files:
        names += [name for name in repository().datasets() if is_own(name)]
    return [*map(DatasetRef, dict.fromkeys(names))]


def _members_asked_for() -> list[str]:
    """Members of families that a link names or that are picked: no list has the hundreds of others."""
    kept: Mapping[Picker, Any] = st.session_state.get(_KEPT, {})
    asked = [*st.query_params.get_all(Picker.DATASET), st.session_state.get(Picker.DATASET), kept.get(Picker.DATASET)]
    return list(dict.fromkeys(name for name in asked if name and family_of(name)))


def pickable_datasets() -> list[DatasetRef]:
    """``known_datasets``, and on a demo the reader's own uploads even if none of them is picked."""
    mine = [DatasetRef(upload.reference) for upload in uploads.found(upload_settings())] if visitor() else []
    return list(dict.fromkeys([*mine, *known_datasets()]))


def pick_dataset(reference: str) -> None:
    """Pick a dataset from within a page; call it in a callback, before the picker is drawn."""
    st.session_state["data"] = reference
    _forget_pair()
    redraw_page()


def _keep_over_change_of_page(page: str, wanted: Collection[Picker]) -> None:
    """Restore what was picked on an earlier page where the browser does not.

    It does not for a picker that the page before did not have; and not for any where a page's link was clicked before
    the browser had drawn the pickers: it then sends neither their values nor the address's parameters, and Streamlit
    would start from the defaults. Going back in the history is another matter: there the address wins.
    """
    before = st.session_state.get(_PAGE, page)
    st.session_state[_PAGE] = page
    if before != page:
        forget_of_page()
    kept: Mapping[Picker, Any] = st.session_state.get(_KEPT, {})
    context = get_script_run_ctx()
    if before == page or (context is not None and context.is_history_navigation):
        return
    undrawn = not any(picker in st.query_params for picker in Picker)
    had = pickers_of(before)
    for picker in wanted & kept.keys():
        if picker not in st.query_params and (undrawn or picker not in had):
            st.session_state[picker] = kept[picker]


def _keep_out_of_sight(wanted: Collection[Picker]) -> None:
    """Take the pickers that are not on screen out of the address."""
    for name in {*set(Picker) - set(wanted), *(() if wanted else (FOLLOWED,))} & set(st.query_params):
        with suppress(StreamlitAPIException):  # bound by the page before: Streamlit takes it away after this run
            del st.query_params[name]


def _follow_link(answers: Mapping[Picker, Sequence[str]]) -> None:
    """Take the picks of one of the app's own links, which carry a mark: pickers on screen would keep their values.

    Any other address may be a moment behind the pickers.
    """
    if FOLLOWED not in st.query_params:
        return
    is_visit = st.query_params[FOLLOWED] == VISIT
    del st.query_params[FOLLOWED]
    address = st.query_params
    kept: Mapping[Picker, Any] = st.session_state.get(_KEPT, {})
    before = {
        Picker.DATASET: kept.get(Picker.DATASET, DEFAULT_DATASET),
        Picker.MODELS: list(kept.get(Picker.MODELS, ())),
    }
    if dataset := option_in_address(address.get(Picker.DATASET), answers.get(Picker.DATASET, ())):
        if st.session_state.get(Picker.DATASET) != dataset:
            _forget_pair()
        st.session_state[Picker.DATASET] = dataset
    for picker in (Picker.SIMILARITY, Picker.BASELINE):
        if value := option_in_address(address.get(picker), answers.get(picker, ())):
            st.session_state[picker] = value
    if Picker.MODELS in answers:
        asked = (option_in_address(value, answers[Picker.MODELS]) for value in address.get_all(Picker.MODELS))
        st.session_state[Picker.MODELS] = [model for model in asked if model]
    if is_visit:
        linked = {picker: st.session_state.get(picker) for picker in before}
        st.session_state[_VISITED] = (current_page(), linked, before)


def _end_visit(page: str, wanted: Collection[Picker]) -> None:
    """After a visit (``PageState.is_visit``), give the pickers that nobody touched their earlier values again."""
    if (visit := st.session_state.get(_VISITED)) is None or visit[0] == page:
        return
    del st.session_state[_VISITED]
    context = get_script_run_ctx()
    if context is not None and context.is_history_navigation:  # the address wins
        return
    _, linked, before = visit
    kept: dict[Picker, Any] = st.session_state.setdefault(_KEPT, {})
    for picker, value in before.items():
        if kept.get(picker) == linked[picker]:
            kept[picker] = value
            if picker in wanted:
                st.session_state[picker] = value


def usual_sides(names: Sequence[str]) -> tuple[str, list[str]]:
    """What a page compares at first, by the variants' names: the baseline ("" if it is not among them) and the others.

    Other models come before other post-processing of the same model, a user's own before the rest, the newest first.
    A new baseline replaces the first side.
    """
    picks: Picks | None = st.session_state.get(_PICKED)
    baseline = picks.baseline if picks else None
    places = {str(variant): order for order, variant in enumerate(picks.known if picks else ())}
    others = [name for name in names if name != str(baseline)]
    others.sort(key=lambda name: (_is_of(baseline, name), _place(name), -places.get(name, -1)))
    return str(baseline) if str(baseline) in names else "", others


def _place(name: str) -> int:
    return place_of(Variant.parse(name).encoder)


def _is_of(baseline: Variant | None, name: str) -> bool:
    return baseline is not None and Variant.parse(name).encoder == baseline.encoder


def _forget_sides() -> None:
    """Let the new baseline become the first side, and choose the second anew if it was that model."""
    for key, is_first in ((A, True), (B, False)):
        if key in st.session_state and (is_first or st.session_state[key] == st.session_state[Picker.BASELINE]):
            st.session_state[key] = None


def _forget_pair() -> None:
    """Forget the number of an item and an area of ranks: they mean nothing in another dataset."""
    if ITEM in st.session_state:
        st.session_state[ITEM] = None
    for area in _AREAS:
        if area in st.session_state:
            st.session_state[area] = ""


def _note_stale_link(choices: Mapping[str, Sequence[str]]) -> None:
    address = st.query_params
    absent = [(name, v) for name, values in choices.items() for v in address.get_all(name) if _is_absent(v, values)]
    absent += [(ITEM, value) for value in address.get_all(ITEM) if not value.isdecimal()]
    if absent:
        st.session_state[STALE] = absent


def _is_absent(value: str, options: Sequence[str]) -> bool:
    return option_in_address(value, options) is None
