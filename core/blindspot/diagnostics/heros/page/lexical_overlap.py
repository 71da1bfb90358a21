"""View *the data* of the HEROS page: the words that a sentence and its rewrites share (Chiang 2023, table 1)."""

from __future__ import annotations

import math
from collections.abc import Mapping

import streamlit as st

from blindspot.datasets.published.scored_pairs.similarity_sets import SIMILARITY
from blindspot.diagnostics.heros.figures import lexical_overlap as figures
from blindspot.diagnostics.heros.figures.profile import label
from blindspot.diagnostics.heros.lexical_overlap import PUBLISHED, Overlap, mean_of, overlap
from blindspot.diagnostics.heros.page.heros_view import HerosView
from blindspot.encoders.transformer.word_pieces import bert_uncased
from blindspot.numerics.statistics.written import percent
from blindspot.ui.markdown import as_text
from blindspot.ui.turns import turn
from blindspot.ui.widgets import dataset_offer, tables

KEPT = 64  # results in memory, each of a few numbers
OTHERS = {"stsb-test": "STS-B", "sick-test": "SICK-R"}  # datasets of scored pairs, and their names in the paper
CLOSE = 0.5  # of STS-B's distance: below this share, words alone make a rewrite similar
DIFFERENT = 0.05  # of R1: from this on, a difference between subsets is worth telling the reader
ROWS_UNSCROLLED = 30


def show(shown: HerosView) -> None:
    """The overlap per subset, then the overlap in data that models are usually tested on, measured and published."""
    overlaps, others = _own(shown), _others()
    mean = mean_of(list(overlaps.values()))
    st.markdown(_reading(overlaps, mean, others.get("STS-B", PUBLISHED["STS-B"])))
    all_subsets = {"all subsets": mean} if len(overlaps) > 1 else {}
    rows = [(label(name), "measured here", o) for name, o in (overlaps | all_subsets).items()]
    rows += [(f"{name} test", "measured here", o) for name, o in others.items()]
    rows += [(name, "published", o) for name, o in PUBLISHED.items()]
    st.plotly_chart(figures.overlap_dots(rows, shown.scheme), key="heros_overlap")
    _table(rows)
    for dataset, name in OTHERS.items():
        if not dataset_offer.is_here(SIMILARITY[dataset]):
            dataset_offer.offer(SIMILARITY[dataset], f"Measuring {name}", key=f"fetch_{dataset}")
    _how()


def _reading(overlaps: Mapping[str, Overlap], mean: Overlap, other: Overlap) -> str:
    """Sentences on how close rewrites are, compared with the pairs of STS-B, and whether subsets differ in this."""
    text = (
        f"A rewrite changes **{percent(mean.levenshtein)}** of the word pieces of its original; the sentences of a "
        f"pair of STS-B differ in {percent(other.levenshtein)} of theirs. "
    )
    if mean.levenshtein < CLOSE * other.levenshtein:
        text += (
            "A model that only compares words finds all rewrites similar, so look at the order of the rewrites, not at "
            "how high their similarities are."
        )
    by_words = sorted((o.rouge_1, name) for name, o in overlaps.items() if not math.isnan(o.rouge_1))
    if by_words and by_words[-1][0] - by_words[0][0] > DIFFERENT:
        (least, low), (most, high) = by_words[0], by_words[-1]
        text += (
            f" Kinds of rewrite differ in how many words they share: {label(high)} {percent(most)}, {label(low)} "
            f"{percent(least)}. This alone may explain part of the difference in similarity."
        )
    return text


def _own(shown: HerosView) -> dict[str, Overlap]:
    """The overlap of each subset shown, in the texts that the runs were computed on."""
    run = shown.runs[0]
    rows = shown.rows[shown.rows["run_id"] == run.run_id]
    out = {}
    for subset in shown.subsets:
        pairs = rows[rows["subset"] == subset]
        texts = (pairs[side].tolist() for side in ("original", "rewrite"))
        out[subset] = _once(f"{run.plan.dataset_digest} {subset}", label(subset), *texts)
    return out


def _others() -> dict[str, Overlap]:
    """The overlap of each test split that is on this machine."""
    out = {}
    for dataset, name in OTHERS.items():
        if not dataset_offer.is_here(SIMILARITY[dataset]):
            continue
        if (scored := dataset_offer.scored_pairs(SIMILARITY[dataset])) is not None:
            firsts, seconds = ([scored.items[i] for i in numbers] for numbers in (scored.firsts, scored.seconds))
            out[name] = _once(scored.content_digest, name, firsts, seconds)
    return out


@st.cache_resource(show_spinner=False)
def _known() -> dict[str, Overlap]:
    """Results by content, for all sessions."""
    return {}


def _once(key: str, name: str, firsts: list[str], seconds: list[str]) -> Overlap:
    """The overlap, computed the first time under a progress bar; a click elsewhere ends it."""
    stored = _known()
    result = stored.get(key)
    if result is None:
        bar = st.progress(0.0, text=f"Comparing words: {as_text(name)}")

        def progress(stage: str, done: int, total: int, fraction: float | None = None) -> None:  # noqa: ARG001 - Progress
            bar.progress(done / total, text=f"Comparing words: {as_text(name)}, {done:,} of {total:,} pairs")

        with turn() as cancel:  # longest common parts of long texts, which may be a reader's, take long
            result = overlap(firsts, seconds, bert_uncased, progress, cancel)
        bar.empty()
        while len(stored) >= KEPT:
            stored.pop(next(iter(stored)), None)
        stored[key] = result
    return result


def _table(rows: list[tuple[str, str, Overlap]]) -> None:
    column = st.column_config.NumberColumn
    tables.draw(
        [
            {
                "pairs of": name,
                "from": source,
                "R1": 100 * o.rouge_1,
                "R2": 100 * o.rouge_2,
                "RL": 100 * o.rouge_l,
                "Lev": o.levenshtein,
                "length": o.length,
                "pairs": o.pairs,
            }
            for name, source, o in rows
        ],
        key="heros_overlap_table",
        height="content" if len(rows) <= ROWS_UNSCROLLED else "auto",
        column_config={
            "R1": column(format="%.1f%%", help="ROUGE-1: shared words, F1"),
            "R2": column(format="%.1f%%", help="ROUGE-2: shared pairs of adjacent words, F1"),
            "RL": column(format="%.1f%%", help="ROUGE-L: shared words in the same order, F1"),
            "Lev": column(
                format="%.2f", help="Levenshtein distance over word pieces, by the longer text: 0 is the same"
            ),
            "length": column(format="%.1f", help="Mean number of word pieces of a sentence"),
            "pairs": "localized",
        },
    )


def _how() -> None:
    with st.expander("How are shared words counted?", icon=":material/functions:", key="heros_overlap_how"):
        st.markdown(
            "- **R1, R2, RL** are ROUGE F1 as the package `rouge` 1.0.1 computes it: texts are split at full stops and "
            "spaces, case and other punctuation count, and a repeated word or pair counts once.\n"
            "- **Lev** is the number of word pieces to insert, delete or replace, divided by the length of the longer "
            "text; **length** is the number of word pieces (uncased BERT, without [CLS] and [SEP]).\n"
            "- **Published** are table 1 and appendix B of Chiang, Chuang, Glass and Lee 2023; there HEROS is the mean "
            "of its six subsets, STS-B and SICK-R are test splits.\n"
            "- On STS-B and SICK-R, Lev, length and RL agree with the paper; R1 and R2 are slightly lower (55.6 and "
            "32.0; 60.4 and 36.1). Lowercase words without punctuation, repeats counted, give the published values "
            "with one exception (55.8 and 32.5; 61.2 and 37.5, published 37.4): the paper probably counted that way."
        )
