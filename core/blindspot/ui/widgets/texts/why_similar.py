"""Heat map of what each word contributes to the similarity of two texts, in the drill-downs of pairs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import streamlit as st

from blindspot.errors import BlindspotError
from blindspot.figures import token_map
from blindspot.numerics.similarity import Similarity
from blindspot.numerics.statistics.written import SCORE, number
from blindspot.runs import why_similar
from blindspot.runs.spaces import Space
from blindspot.runs.why_similar import PairOfTexts
from blindspot.store.records import RunRecord
from blindspot.texts import counted
from blindspot.transforms.contributions import CannotExplain, Contributions, Way
from blindspot.types import CancelToken
from blindspot.ui.boundary import said_of
from blindspot.ui.markdown import as_text
from blindspot.ui.resources import cached, explained, load, repository, scheme, settings
from blindspot.ui.turns import turn
from blindspot.variants import Variant

MOST_MODELS = ABREAST = 2

Explain = Callable[[CancelToken], Contributions]


@dataclass(frozen=True)
class Asked:
    """A model to be asked.

    Attributes:
        key: all that decides the answer but the texts: of a run, its id.
        explain: the answer; raises ``BlindspotError``.
        texts: the two.
        heading: markdown above it, in place of the model's name.
        note: markdown below the sum, where the page shows another number than the cosine.
    """

    variant: Variant
    key: str
    texts: tuple[str, str]
    explain: Explain
    heading: str = ""
    note: str = ""


def is_open() -> bool:
    """The switch; off at first, since the answer can take the time to load a model."""
    return st.toggle(
        "Why this similarity?",
        key="why",
        bind="query-params",
        help="What each word of the two texts contributes to their cosine. The first time, the model is loaded.",
    )


def show(asked: Sequence[Asked], names: tuple[str, str], most: int = MOST_MODELS) -> None:
    """The answers of some models, two side by side.

    Args:
        names: of the two texts, as in "in the query".
        most: models that are shown.
    """
    asked = asked[:most]
    for start in range(0, len(asked), ABREAST):
        some = asked[start : start + ABREAST]
        for order, (column, comparison) in enumerate(zip(st.columns(len(some)), some, strict=True), start):
            with column, st.container(key=f"why_{order}"):
                st.markdown(comparison.heading or f"**{as_text(comparison.variant.label)}**")
                _one(comparison, names, is_narrow=len(asked) > 1)


def note_of(metric: str) -> str:
    """What to say where a page shows another similarity than the cosine."""
    return "" if metric == Similarity.COS else "The page shows 1/(1 + distance); this explains the cosine."


def _one(asked: Asked, names: tuple[str, str], *, is_narrow: bool) -> None:
    try:
        contributions = _found(asked)
    except BlindspotError as error:
        message = as_text(explained(error)) if isinstance(error, CannotExplain) else said_of(error)
        st.info(message, icon=":material/info:")
        return
    n, m = contributions.cells.shape
    if contributions.way is Way.SUM:
        what = "the cosine of the two texts" if asked.note else "the similarity shown"
        st.markdown(
            f"The {counted(n * m, 'contribution')} add up to **{number(contributions.cosine, SCORE)}**, {what}."
        )
    else:
        st.markdown(
            f"The cosine is **{number(contributions.cosine, SCORE)}**. This model, or its transform, does not add up "
            "over words: this is the effect of leaving words out, one at a time."
        )
    if asked.note:
        st.caption(asked.note)
    if not n or not m:
        st.info("One of the texts has no words.", icon=":material/info:")
        return
    label = f"Contributions to the similarity in {asked.variant.label}"
    st.html(token_map.token_map(contributions, scheme(), label, is_narrow=is_narrow))
    st.markdown("\n".join(f"- {as_text(sentence)}" for sentence in token_map.sentences(contributions, names)))
    for sentence in token_map.left_out(contributions, names):
        st.caption(as_text(sentence))
    st.caption(_HOW[contributions.way])


_HOW = {
    Way.SUM: "Blue raises the similarity, orange lowers it. A cell is the product of two words' vectors, each by its "
    "share in its text, over the lengths of the texts' vectors. In a transformer, a word's vector also carries its "
    "context, and its tokenizer adds words of its own, such as [CLS].",
    Way.LEAVING_OUT: "Blue: the two words match each other; leaving out only one of them takes away more than leaving "
    "out both. Last row and column: by how much the cosine falls without that word.",
}


@cached(
    64,
    "Asking the model. The first time, it is loaded …",
    shared=True,
    keys={Asked: lambda asked: (asked.key, asked.texts)},
)
def _found(asked: Asked) -> Contributions:
    with turn() as cancel:
        return asked.explain(cancel)


def of_run(run: RunRecord, pair: PairOfTexts, heading: str = "", note: str = "") -> Asked:
    """To ask the model of a stored run."""

    def explain(cancel: CancelToken) -> Contributions:
        dataset = load(run.plan.dataset.entry())
        return why_similar.of_run(pair, run, dataset, settings(), repository(), cancel)

    return Asked(run.plan.variant, f"{run.run_id} {pair.items}", pair.texts, explain, heading, note)


def of_space(space: Space, pair: PairOfTexts, heading: str = "", note: str = "") -> Asked:
    """To ask a model in the space of a variant."""

    def explain(cancel: CancelToken) -> Contributions:
        return why_similar.of_space(pair, space, settings(), cancel)

    return Asked(space.variant, f"{space.digest} {pair.items}", pair.texts, explain, heading, note)
