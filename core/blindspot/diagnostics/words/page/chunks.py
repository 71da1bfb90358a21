"""View *chunks* of the page Words: phrases found by kind, the sentences of one model, and published scores."""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd
import streamlit as st

from blindspot.diagnostics.words.chunking import published
from blindspot.diagnostics.words.chunking.answers import answers, as_found
from blindspot.diagnostics.words.page.drill_down import ROWS, choose_dataset, choose_rows, choose_variant
from blindspot.diagnostics.words.page.table import WordsView
from blindspot.diagnostics.words.view import ALL_PHRASES, PhraseKind, phrase_kinds
from blindspot.figures.dots import dot, dots
from blindspot.numerics.statistics.written import percent
from blindspot.store.records import RunRecord
from blindspot.texts import same_text
from blindspot.ui.resources import cached, repository
from blindspot.ui.widgets import tables
from blindspot.variants import Variant

KINDS = {
    "NP": "noun phrase",
    "VP": "verb phrase",
    "PP": "preposition",
    "ADVP": "adverb phrase",
    "ADJP": "adjective phrase",
    "SBAR": "subordinating word",
    "PRT": "particle",
    "CONJP": "conjunction phrase",
    "INTJ": "interjection",
    "LST": "list marker",
    "UCP": "unlike phrases joined",
}


def chunks(shown: WordsView) -> None:
    """F1 of all models by kind of phrase, then the kinds and sentences of one model, then the paper's scores."""
    runs = choose_dataset(shown, "chunking")
    if runs:
        _figure(shown, runs)
        run = choose_variant(runs, "chunks_by")
        _kinds(run)
        _sentences(run)
    _published()


def _named(kind: str) -> str:
    return f"{kind}, {KINDS[kind]}" if kind in KINDS else kind


@cached(32)
def _by_kind(run_id: str) -> list[PhraseKind]:
    return phrase_kinds(answers([run_id], repository())[run_id])


def _figure(shown: WordsView, runs: Mapping[Variant, RunRecord]) -> None:
    rows = [
        dot(variant, phrase_kind.kind, phrase_kind.f1)
        for variant, run in runs.items()
        for phrase_kind in _by_kind(run.run_id)
    ]
    figure = dots(rows, shown.styles, shown.scheme, axis="F1")
    st.plotly_chart(figure, key="words_chunks")
    first = next(iter(runs.values()))
    least = min(runs.values(), key=lambda run: run.metrics["known_tokens"])
    st.caption(
        f"{int(first.metrics['phrases']):,} phrases in {int(first.metrics['sentences']):,} tested sentences, after "
        f"training on {int(first.metrics['trained']):,}. {percent(least.metrics['known_tokens'], 1)} of the tested "
        "tokens have a vector; the others share one of their own. Bars: 95% CI over sentences (bootstrap)."
    )


def _kinds(run: RunRecord) -> None:
    rows = [
        {
            "kind": _named(phrase_kind.kind),
            "phrases": phrase_kind.phrases,
            "found": phrase_kind.found,
            "right": phrase_kind.right,
            "precision": phrase_kind.precision,
            "recall": phrase_kind.recall,
            "f1": phrase_kind.f1.value,
            "low": phrase_kind.f1.low,
            "high": phrase_kind.f1.high,
        }
        for phrase_kind in _by_kind(run.run_id)
    ]
    scores = ("precision", "recall", "f1", "low", "high")
    titles = {"f1": "F1", "low": "95% CI from", "high": "to"}
    tables.draw(
        rows,
        key="words_chunk_kinds",
        placeholder="–",
        column_config={name: st.column_config.NumberColumn(titles.get(name, name), format="%.3f") for name in scores}
        | {"right": st.column_config.NumberColumn("found right", help="First word, last word and kind are right")},
    )


@cached(8, "Reading the sentences …")
def _found(run_id: str) -> pd.DataFrame:
    return as_found(answers([run_id], repository())[run_id])


def _sentences(run: RunRecord) -> None:
    frame = _found(run.run_id)
    kinds = [phrase_kind.kind for phrase_kind in _by_kind(run.run_id) if phrase_kind.kind != ALL_PHRASES]
    kind, word, only_wrong = choose_rows(
        "chunk", "chunk_kind", "Wrong phrases of kind", kinds, placeholder="any", format_func=_named
    )
    wrong = int((frame["errors"] > 0).sum())
    rows = frame[frame["errors"] > 0] if only_wrong or kind else frame
    if kind:
        rows = rows[rows["kinds"].str.split().map(lambda kinds_of_sentence: kind in kinds_of_sentence)]
    if word:
        rows = rows[
            rows["given"].str.split().map(lambda words_of_cell: word in {same_text(other) for other in words_of_cell})
        ]
    st.caption(
        f"{wrong:,} of {len(frame):,} sentences have a wrong phrase; {len(rows):,} are listed"
        + (f", the first {ROWS:,} of them." if len(rows) > ROWS else ".")
    )
    tables.draw(
        rows.head(ROWS)[["given", "found", "missed", "wrong"]],
        key="words_chunk_sentences",
        column_config={
            "given": st.column_config.TextColumn("phrases", width="large"),
            "found": st.column_config.TextColumn("found by the model", width="large"),
            "missed": st.column_config.TextColumn("missed", width="medium", help="Given and not found"),
            "wrong": st.column_config.TextColumn("wrong", width="medium", help="Found and not given"),
        },
    )


def _published() -> None:
    with st.expander(f"Published scores: {published.SOURCE}", icon=":material/menu_book:"):
        rows = [
            {
                "model": printed_row.model,
                "dev": 100 * printed_row.dev,
                "test": 100 * printed_row.test,
                "p": printed_row.p,
            }
            for printed_row in published.table_4()
        ]
        tables.draw(
            rows,
            key="words_chunks_published",
            placeholder="best",
            column_config={
                "dev": st.column_config.NumberColumn("F1 × 100, dev", format="%.2f"),
                "test": st.column_config.NumberColumn("F1 × 100, test", format="%.2f"),
                "p": st.column_config.NumberColumn(
                    format="%.3f", help="Against the best row, by randomization over sentences"
                ),
            },
        )
        st.caption(
            "On CoNLL-2000, and not comparable with the scores above: there the CRF has words, parts of speech and "
            "their combinations as features too, which alone reach 93.78 (Baseline). Here it sees vectors only."
        )
