"""Page *Try it*: a sentence and its rewrites, or a few lines, as some models see them. Nothing of it is stored."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import streamlit as st

from blindspot import ui
from blindspot.datasets.perturbations import keeping, making
from blindspot.datasets.perturbations.making import Made
from blindspot.encoders.catalog import encoder_of
from blindspot.errors import BlindspotError, InputError
from blindspot.figures.theme import Scheme
from blindspot.numerics.statistics.written import SCORE, number
from blindspot.runs import own_scale
from blindspot.runs.encoders_here import known_references
from blindspot.runs.requests import EncodeRequest
from blindspot.runs.sending import sendings
from blindspot.studies.sentence import asking, written
from blindspot.studies.sentence.asking import MOST_LINES, MOST_MODELS
from blindspot.studies.sentence.view import (
    APART,
    IN_OTHER_LANGUAGES,
    Answer,
    Compared,
    Explained,
    LinesView,
    lines_view,
    sentence_view,
    texts_of,
)
from blindspot.texts import counted, listed
from blindspot.transforms.contributions import CannotExplain, Contributions
from blindspot.types import CancelToken, digest_of_strings
from blindspot.ui.boundary import fragment
from blindspot.ui.markdown import as_text
from blindspot.ui.page_state import VIEW, link
from blindspot.ui.pickers import Picks, pick_dataset
from blindspot.ui.resources import allowed, cached, explained, repository, scheme, shared_settings, upload_settings
from blindspot.ui.turns import for_reader, turn
from blindspot.ui.widgets.addressed import begin_with, give_text, names_of_variants, some_named, tab_named, take_text
from blindspot.ui.widgets.model_choice import own_at_first
from blindspot.ui.widgets.texts import why_similar
from blindspot.variants import Variant

TITLE = "Try it"
SENTENCE, LINES = "sentence", "lines"
VIEWS = {SENTENCE: "Rewrites of a sentence", LINES: "Lines against each other"}
DEFAULT = ("minilm~none", "minilm-static~none")  # one pass gives both; never in the address, so it must never change
EXAMPLES = (
    "The train to Glasgow leaves at half past six on Monday.",
    "Anna paid 5 dollars before the meeting with Peter.",
    "The patient may not take more than two of these tablets.",
)
EXAMPLE_LINES = (
    "The ferry does not run in winter.\nIn winter there is no ferry service.\nIn winter the ferry runs.\n"
    "The soup was too salty for me."
)
KEPT_SECONDS = 900  # what was asked for, in memory
_SAID = "_try_said"  # how keeping a test ended

_IN_OTHERS = [name.replace("_", " ") for name in IN_OTHER_LANGUAGES]
HOW = f"""
- **Rewrites** are those of *Make minimal pairs* (page *Data*) with the seed {making.SEED}. The rules change one thing
  each and read closed lists of English words; of other languages they change {listed(_IN_OTHERS)} (of numbers those in
  digits). They err: look at the text.
- **Similarity** is the cosine of two texts' vectors. Post-processing and LSA are fitted on the built-in sentences.
- **Counted** are rewrites that change the meaning and are more similar to your sentence, by more than a millionth, than
  the least similar one that keeps it: no threshold could tell these apart. {" and ".join(APART)} are left out: they put
  other sentences around yours, and these move a vector more than a change of the sentence does.
- **A model's own scale**: similarities of different models are not comparable. *Unrelated* are pairs of built-in
  sentences about different things, *paraphrases* are built-in pairs that were scored 4.5 or 5 of 5 for the same
  meaning. 0% of the way is the median of the first, 100% that of the second.
- **What each word contributes** is exact where a model's vector is a mean over words or tokens.
- One sentence shows what can happen, not how often: for that, make a test of your own sentences and run *HEROS*.
- Nothing that you type is stored, unless you make a test of it; it is kept in the server's memory for a quarter of an
  hour.
"""


def show() -> None:
    """The page."""
    ui.page(TITLE, "Which rewrites of a sentence does each model take for the same?")
    with ui.errors_shown():
        view = tab_named("View", list(VIEWS), key=VIEW, name=VIEWS.__getitem__)
        offered = _offered()
        if view == SENTENCE:
            _sentence(offered)
        else:
            _lines(offered)
    ui.how(HOW)


# --- what is asked for


@fragment
def _sentence(offered: Offered) -> None:
    """Redrawn alone. It has few elements, since each costs milliseconds: what was asked before comes at once."""
    longest = allowed().line
    take_text("sentence", longest + 1)
    text = st.text_input(
        "Sentence",
        key="sentence",
        persist_state="session",
        max_chars=longest + 1,  # a longer one of a link is cut to this, and refused
        placeholder="Type a sentence and press Enter",
    )
    if not give_text("sentence", text):
        _too_long_for_a_link()
    st.pills("Examples", EXAMPLES, key="try_examples", on_change=_put_example)
    variants = _models(offered)
    if not text.strip() or not variants:
        return
    _show_sentence(text, variants, offered)


@fragment
def _lines(offered: Offered) -> None:
    longest = allowed().line
    most = MOST_LINES * (longest + 1)
    take_text("lines", most)
    typed = st.text_area(
        "Lines",
        key="lines",
        persist_state="session",
        max_chars=most,
        height=175,
        placeholder=f"Two to {MOST_LINES} sentences, one per line",
        help="Ctrl+Enter, or a click elsewhere, compares them.",
    )
    if not give_text("lines", typed):
        _too_long_for_a_link()
    with st.container(horizontal=True, gap="small", key="try_examples"):
        st.button("Compare", key="try_compare", type="primary", width="content")  # leaving the box sends its text
        st.button("An example", key="try_example_lines", type="tertiary", on_click=_put, args=("lines", EXAMPLE_LINES))
    variants = _models(offered)
    lines = tuple(line.strip() for line in typed.splitlines() if line.strip())
    if not lines or not variants:
        return
    if len(lines) == 1:
        st.info("Type a second line to compare with, or see the rewrites of this one.", icon=":material/info:")
        return
    _show_lines(lines, variants, offered)


def _too_long_for_a_link() -> None:
    st.caption("This is too long for a link: the address does not have it.")


def _put(key: str, text: str) -> None:
    st.session_state[key] = text


def _put_example() -> None:
    """Put the chosen example into the box; no example stays chosen."""
    if example := st.session_state["try_examples"]:
        _put("sentence", example)
        st.session_state["try_examples"] = None


@dataclass(frozen=True)
class Offered:
    """Models to choose from, and which of them have runs; variants, as strings."""

    models: tuple[str, ...]
    stored: tuple[str, ...]


def _offered() -> Offered:
    models_here = [str(Variant(reference, "none")) for reference in known_references(shared_settings(), repository())]
    stored = tuple(str(variant) for variant in repository().variants())
    references = dict.fromkeys([*DEFAULT, *models_here, *stored])
    return Offered(tuple(reference for reference in references if Variant.parse(reference).encoder.has_vectors), stored)


def _models(offered: Offered) -> list[Variant]:
    begin_with("try_models", lambda: [str(Variant(reference, "none")) for reference in own_at_first(2)])
    chosen = some_named(
        "Models",
        offered.models,
        key="try_models",
        name=names_of_variants(offered.models),
        default=DEFAULT,
        max_selections=MOST_MODELS,
        placeholder="Choose a model",
        help=f"At most {MOST_MODELS}. Add your own on the page *Models*.",
    )
    if not chosen:
        st.info("Choose a model.", icon=":material/info:")
    variants = [Variant.parse(name) for name in chosen[:MOST_MODELS]]
    references = dict.fromkeys(variant.encoder for variant in variants)
    for sending in sendings(
        [EncodeRequest(reference, own_scale.DATASET) for reference in references], shared_settings()
    ):
        st.caption(as_text(f"{sending.in_words}, and your text."))
    return variants


# --- what models answer


@cached(256, "Making rewrites …", shared=True, ttl=KEPT_SECONDS)
def _made(text: str) -> Made:
    return for_reader(making.rewrites, (text,))


@cached(
    256,
    "Asking the model. The first time, it is loaded, and asked for its own scale …",
    shared=True,
    ttl=KEPT_SECONDS,
    keys={Variant: str},
)
def _answer(texts: tuple[str, ...], variant: Variant, revision: str) -> Answer:  # noqa: ARG001 - of the cache's key
    with turn() as cancel:
        return asking.answer(texts, variant, shared_settings(), cancel)


@cached(64, "Asking what each word contributes …", shared=True, ttl=KEPT_SECONDS, keys={Variant: str})
def _explained(texts: tuple[str, str], variant: Variant, revision: str) -> Explained:  # noqa: ARG001 - likewise
    with turn() as cancel:
        return asking.explained(texts, variant, shared_settings(), cancel)


def _revision(variant: Variant) -> str:
    return encoder_of(variant.encoder, shared_settings()).identity.embedding_digest("")


@dataclass(frozen=True)
class Asked:
    """A model that answered, as the key of its cached answers."""

    variant: Variant
    revision: str
    answer: Answer = field(compare=False)


def _ask(texts: tuple[str, ...], variants: Sequence[Variant]) -> list[Asked]:
    """The models that can be asked; the page says what is wrong with the others."""
    answers = []
    for variant in variants:
        try:
            revision = _revision(variant)
            answers.append(Asked(variant, revision, _answer(texts, variant, revision)))
        except BlindspotError as error:
            st.error(as_text(f"{variant.label}: {explained(error)}"), icon=":material/error:")
    return answers


def _is_refused(lines: Sequence[str]) -> bool:
    try:
        asking.check(lines, allowed().line)
    except InputError as error:
        st.warning(as_text(explained(error)), icon=":material/report:")
        return True
    return False


# --- a sentence


def _show_sentence(text: str, variants: Sequence[Variant], offered: Offered) -> None:
    if _is_refused([text]):
        return
    made = _made(text)
    above = st.container()
    with_apart = any(proposal.rule.kind in APART for proposal in made.proposals) and st.toggle(
        "Padding and position",
        key="try_apart",
        bind="query-params",
        help="Your sentence with others after it, and at each of ten places among nine others. Not counted above.",
    )
    with above:
        asked = _ask(texts_of(made, with_apart=with_apart), variants)
        if not asked:
            return
        counted_ones, apart = _written(text, tuple(asked), with_apart, scheme(), made)
        st.html(counted_ones)
    if apart:
        st.html(apart)
    _ways_on((text,), variants, offered)


def _key(asked: Asked) -> tuple[str, str]:
    return str(asked.variant), asked.revision


@cached(256, shared=True, ttl=KEPT_SECONDS, keys={Asked: _key})
def _written(
    text: str,  # noqa: ARG001 - of the cache's key
    asked: tuple[Asked, ...],
    with_apart: bool,  # noqa: ARG001 - likewise
    seen_in: Scheme,
    _made: Made,
) -> tuple[str, str]:
    """HTML of what is counted, and of padding and position; "" if these are not asked for."""
    view = sentence_view(_made, [model_asked.answer for model_asked in asked])
    return written.sentence(view, seen_in), written.not_counted(view, seen_in)


# --- lines


def _show_lines(lines: tuple[str, ...], variants: Sequence[Variant], offered: Offered) -> None:
    if _is_refused(lines):
        return
    asked = _ask(lines, variants)
    if not asked:
        return
    why: list[Explained] = []
    if len(lines) == 2:
        why = [_explained((lines[0], lines[1]), model_asked.variant, model_asked.revision) for model_asked in asked]
    view = lines_view(lines, [model_asked.answer for model_asked in asked], why)
    if len(lines) == 2:
        _two(view)
    else:
        _many(view)
    _ways_on(lines, variants, offered)


def _two(view: LinesView) -> None:
    for model in view.models:
        value = model.similarities[0][1]
        text = "it has no vector for one of the lines." if value is None else f"similarity **{number(value, SCORE)}**."
        st.markdown(f"**{as_text(model.label)}**: {text}")
        _scale_and_notes(model)
    asked = [_asked(view, model, number) for number, model in enumerate(view.models)]
    why_similar.show(asked, ("first line", "second line"), most=MOST_MODELS)


def _asked(view: LinesView, model: Compared, number: int) -> why_similar.Asked:
    def contributions(_cancel: CancelToken) -> Contributions:
        if model.contributions is None:
            raise CannotExplain(model.why_not)
        return model.contributions

    texts = view.lines[0], view.lines[1]
    value = None if model.contributions is None else model.contributions.cosine
    key = digest_of_strings(["try", model.model, model.transform, repr(value), model.why_not, str(number)])
    return why_similar.Asked(Variant(model.model, model.transform), key, texts, contributions)


def _scale_and_notes(model: Compared) -> None:
    if model.scale is not None:
        st.caption(model.scale.in_words())
    for note in model.notes:
        st.caption(as_text(note))


def _many(view: LinesView) -> None:
    if view.disagreements:
        st.markdown(f"**{counted(len(view.disagreements), 'pair')} that two models see most differently**")
        st.html(written.disagreements_table(view, scheme()))
        st.caption("Of the way from unrelated sentences (0%) to paraphrases (100%) on each model's own scale.")
    for index, model in enumerate(view.models):
        with st.container(key=f"try_matrix_{index}", gap="small"):
            st.markdown(f"**{as_text(model.label)}**")
            st.html(written.matrix(view, index, scheme()))
            _scale_and_notes(model)


# --- ways on


def _ways_on(lines: tuple[str, ...], variants: Sequence[Variant], offered: Offered) -> None:
    with st.container(horizontal=True, vertical_alignment="center", key="try_ways_on"):
        st.button(
            "Make this a test",
            key="try_keep",
            icon=":material/playlist_add:",
            on_click=_keep,
            args=(lines,),
            help="Keeps your text with its rewrites as minimal pairs, a dataset of your own for HEROS.",
        )
        stored = [variant for variant in variants if str(variant) in offered.stored]
        neighbors = Picks.current().state.with_(models=stored, options={"q": lines[0]})
        link("neighbors", neighbors, label="Find it in a dataset", icon=":material/hub:")
    if message := st.session_state.pop(_SAID, None):
        was_kept, what = message
        if was_kept:
            st.success(what, icon=":material/check:")
            link("run", label="Run models on it", icon=":material/play_circle:")
        else:
            st.warning(what, icon=":material/report:")


def _keep(lines: tuple[str, ...]) -> None:
    """Callback that keeps the lines with their rewrites as minimal pairs, and picks them."""
    try:
        rows = making.rows(for_reader(making.propose, lines))
        upload = keeping.keep(keeping.name_of(" ".join(lines[0].split()[:4])), rows, upload_settings())
    except BlindspotError as error:
        st.session_state[_SAID] = (False, as_text(explained(error)))
        return
    pick_dataset(upload.reference)
    text = f"{as_text(upload.name)} was added with {counted(len(rows), 'row')} and is now selected."
    st.session_state[_SAID] = (True, text)
