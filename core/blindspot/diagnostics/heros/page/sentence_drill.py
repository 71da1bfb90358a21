"""Details of one sentence on the HEROS page: its rewrites, their similarities and ranks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd
import streamlit as st

from blindspot.diagnostics.heros import browsing, retrieval
from blindspot.diagnostics.heros.browsing import Sentences
from blindspot.diagnostics.heros.figures import sentences as figures
from blindspot.diagnostics.heros.figures.profile import label
from blindspot.diagnostics.heros.page.heros_view import HerosView
from blindspot.figures.html_tables import TableRow, ranking_table
from blindspot.numerics.ranking.problem import Relation
from blindspot.runs.embeddings import EmbeddingsGone
from blindspot.runs.why_similar import PairOfTexts
from blindspot.store.records import RunRecord
from blindspot.texts import word_changes
from blindspot.types import Float64
from blindspot.ui.markdown import as_text
from blindspot.ui.resources import cached, explained, repository, settings
from blindspot.ui.widgets import tables
from blindspot.ui.widgets.texts import why_similar
from blindspot.ui.widgets.two_variants import Sides
from blindspot.ui.widgets.work import rerun_button
from blindspot.variants import Variant

MARKS = {Relation.ABOVE: "▲", Relation.TIED: "=", Relation.MATCH: "●", Relation.BELOW: "▽"}


def show(shown: HerosView, sentences: Sentences, chosen: Sides, index: int) -> None:
    """Everything about the original in row ``index`` of ``sentences``."""
    with st.container(border=True, key="heros_drill"):
        with st.container(horizontal=True, gap="small"):
            st.markdown(f"**Sentence {sentences.numbers[index]}**", width="content")
            st.text(sentences.originals[index])  # as text: never as HTML or markdown
        _rewrites(shown, sentences, chosen, index)
        st.markdown("**Similarity by model**")
        runs = chosen.first(shown.runs)
        similarities = {str(run.plan.variant): sentences.similarity[run.run_id][index] for run in runs}
        texts = dict(zip(sentences.subsets, sentences.rewrites[index], strict=True))
        frame = pd.DataFrame(similarities, index=sentences.subsets)
        variants = [run.plan.variant for run in runs]
        figure = figures.rewrite_dots(frame, texts, variants, shown.styles, shown.scheme)
        st.plotly_chart(figure, key="rewrite_dots")
        st.markdown("**Would a search for the sentence find its rewrites?**")
        _retrieval(shown, sentences, chosen, index)


def _rewrites(shown: HerosView, sentences: Sentences, chosen: Sides, index: int) -> None:
    """The rewrites with their changed words marked, A's most similar first."""
    similarities = [sentences.similarity[run.run_id][index] for run in chosen.by_letter.values()]
    notes = browsing.same_texts(sentences, index)
    rows = [
        figures.RewriteRow(
            sentences.subsets[i],
            word_changes(sentences.originals[index], sentences.rewrites[index][i]),
            [float(values[i]) for values in similarities],
            notes[i] if notes[i] in {"", "unchanged"} else f"same as {label(notes[i])}",
        )
        for i in np.argsort(-similarities[0], kind="stable")
    ]
    columns = ["similarity"] if chosen.b is None else list(chosen.by_letter)
    st.html(figures.rewrites_table(rows, columns, shown.scheme, f"Rewrites of original {sentences.numbers[index]}"))
    whose = " and ".join(f"{side}: {as_text(run.plan.variant.label)}" for side, run in chosen.by_letter.items())
    st.caption(f"Underlined: added. Struck through: removed. Normalized similarity ({whose}), most similar first.")


@cached(64, "Comparing with all sentences …")
def _cosines(run: RunRecord, original: int) -> Float64:
    return retrieval.cosines_to_all(run, original, settings(), repository())


def _retrieval(shown: HerosView, sentences: Sentences, chosen: Sides, index: int) -> None:
    """Ranks of all rewrites in all variants, and the sentences above one of them."""
    original = int(sentences.original_items[index])
    cosines: dict[Variant, Float64] = {}
    gone: list[RunRecord] = []
    for run in chosen.first(shown.runs):
        try:
            cosines[run.plan.variant] = _cosines(run, original)
        except EmbeddingsGone as error:
            if not gone:
                st.warning(as_text(explained(error)))
            gone.append(run)
    if gone:
        names = ", ".join(as_text(run.plan.variant.label) for run in gone)
        st.caption(f"No ranks without embeddings: {names}.")
        rerun_button("Encode again", "Encoding again for HEROS", gone, key="encode_again")
    if cosines:
        _ranks(sentences, index, cosines)
        _above(shown, sentences, chosen, index, cosines)


def _ranks(sentences: Sentences, index: int, cosines: Mapping[Variant, Float64]) -> None:
    """A row per rewrite, a column per variant."""
    original = int(sentences.original_items[index])
    items = sentences.rewrite_items[index].tolist()
    columns: dict[str, Sequence[object]] = {"rewrite": [label(subset) for subset in sentences.subsets]}
    config = {}
    for i, (variant, values) in enumerate(cosines.items()):
        columns[str(i)] = [retrieval.rank_of(values, original, item).rank for item in items]
        config[str(i)] = st.column_config.NumberColumn(variant.label, format="%,.4g", help="Realistic rank")
    tables.draw(columns, key="rewrite_ranks", column_config=config)
    candidates = len(next(iter(cosines.values()))) - 1
    st.caption(
        f"Rank of each rewrite among all {candidates:,} other sentences and rewrites of the dataset; 1 is the nearest. "
        "Cosines within 0.000001 are ties, which count half (realistic rank)."
    )


def _above(
    shown: HerosView, sentences: Sentences, chosen: Sides, index: int, cosines: Mapping[Variant, Float64]
) -> None:
    """The sentences above a rewrite that the reader chooses, in A and B."""
    if st.session_state.get("sent_rewrite") not in sentences.subsets:
        st.session_state.pop("sent_rewrite", None)
    subset = st.selectbox("What ranks above the rewrite", sentences.subsets, key="sent_rewrite", bind="query-params")
    runs = [run for run in chosen.first(shown.runs) if run.plan.variant in cosines][: len(chosen.by_letter)]
    for column, run in zip(st.columns(len(runs)), runs, strict=True):
        with column:
            st.markdown(f"**{as_text(run.plan.variant.label)}**")
            rows = _ranking(sentences, index, subset, cosines[run.plan.variant], run)
            name = f"Ranking by {run.plan.variant.label}"
            st.html(ranking_table(sentences.originals[index], rows, shown.scheme, name))
    st.caption(
        "▲ above the rewrite, ● the rewrite, = tied, ▽ below. Underlined: added words. In brackets: the text's role in "
        "the dataset. Similarity: cosine, not normalized."
    )
    if why_similar.is_open():
        number = sentences.column(subset)
        pair = PairOfTexts(
            (sentences.originals[index], sentences.rewrites[index][number]),
            (int(sentences.original_items[index]), int(sentences.rewrite_items[index, number])),
        )
        note = "Above, similarities are normalized by the average of unrelated sentences; this is the plain cosine."
        why_similar.show([why_similar.of_run(run, pair, note=note) for run in runs], ("original", "rewrite"))


def _ranking(sentences: Sentences, index: int, subset: str, cosines: Float64, run: RunRecord) -> list[TableRow]:
    original = int(sentences.original_items[index])
    rewrite = int(sentences.rewrite_items[index, sentences.column(subset)])
    near = retrieval.neighbors(cosines, original, rewrite)
    items = [neighbor.item_no for neighbor in near]
    texts = repository().texts(run.plan.dataset_digest, items)
    roles = browsing.roles(sentences, items, label)
    return [
        TableRow(
            n.position, MARKS[n.relation], n.cosine, texts[n.item_no], roles.get(n.item_no, ""), n.item_no == rewrite
        )
        for n in near
    ]
