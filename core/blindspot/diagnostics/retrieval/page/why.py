"""Why documents are where they are: a line below each that outranks the relevant ones, and the map of its words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import streamlit as st

from blindspot.datasets.kinds.retrieval import RELEVANT, RetrievalDataset
from blindspot.diagnostics.retrieval.exports import outranking
from blindspot.diagnostics.retrieval.outcomes import Judgment, QueryTable, Side
from blindspot.diagnostics.retrieval.page.retrieval_view import BY_RUNS, RetrievalView
from blindspot.diagnostics.retrieval.reasons import TopTens, in_words
from blindspot.encoders.catalog import resolve_encoder
from blindspot.encoders.transformer.reading import unread, whole_tokenizer
from blindspot.errors import BlindspotError
from blindspot.runs.why_similar import PairOfTexts
from blindspot.store.records import RunRecord
from blindspot.ui.resources import cached, settings
from blindspot.ui.widgets.addressed import one_named
from blindspot.ui.widgets.texts import why_similar

CHARACTERS = 60  # of a document's text in the list to choose from


def lines(
    shown: RetrievalView,
    dataset: RetrievalDataset,
    numbers: Mapping[str, int],
    side: Side,
    run: RunRecord,
    query: str,
    top: Sequence[tuple[str, float]],
    judged: Mapping[str, Judgment],
) -> dict[str, str]:
    """What may have put a document where it is, by id, for those above the first relevant one and for that one.

    Args:
        numbers: of the documents by their ids.
        top: the query's whole list.
    """
    relevant = [document for document, judgment in judged.items() if judgment.grade >= RELEVANT]
    above = [document for document, _ in outranking(top, relevant)]
    if not above:
        return {}
    first = [document for document, _ in top if document in relevant][:1]
    tens = _top_tens(shown.table, side, len(dataset.document_ids))
    out = {}
    for document in [*above, *first]:
        if document in numbers:
            text = dataset.document_texts[numbers[document]]
            lost = 0 if side.is_bm25 else _unread(run, text)
            out[document] = in_words(query, document, text, tens, lost)
    return out


@cached(16, "Counting top tens …", shared=True, keys=BY_RUNS)
def _top_tens(table: QueryTable, side: Side, documents: int) -> TopTens:
    return TopTens.of(table, side, documents)


def _unread(run: RunRecord, text: str) -> int:
    """Tokens at a document's end that the run's model does not read."""
    most = int(run.manifest.get("encoder", {}).get("max_length") or 0)
    if not most or not run.manifest.get("embeddings", {}).get("truncated_share"):
        return 0
    tokenizer = _tokenizer(run.plan.variant.encoder)
    if tokenizer is None:
        return 0
    left = unread(tokenizer, text, most, str(run.manifest["encoder"].get("prompt") or ""))
    return 0 if left is None else left.tokens


@cached(8, shared=True)
def _tokenizer(encoder: str) -> Any:
    try:
        return whole_tokenizer(resolve_encoder(encoder, settings()))
    except BlindspotError:  # the encoder is gone, its results are not
        return None


def show(
    shown: RetrievalView,
    dataset: RetrievalDataset,
    numbers: Mapping[str, int],
    runs: Sequence[RunRecord],
    number: int,
    documents: Sequence[str],
) -> None:
    """What each word of the query and of a document contributes, under the models.

    Args:
        number: of the query in the dataset.
        documents: ids to choose from, the first at first.
    """
    listed = [document for document in dict.fromkeys(documents) if document in numbers]
    if not listed or not why_similar.is_open():
        return
    if st.session_state.get("why_document") not in (None, *listed):  # of another query
        st.session_state["why_document"] = listed[0]
    texts = {document: dataset.document_texts[numbers[document]] for document in listed}
    chosen = one_named(
        "Document",
        listed,
        key="why_document",
        name=lambda text_id: f"{text_id}: {texts[text_id][:CHARACTERS]}",
        index=0,
    )
    document = chosen or listed[0]
    items = int(dataset.queries[number]), int(dataset.documents[numbers[document]])
    pair = PairOfTexts((dataset.query_texts[number], texts[document]), items)
    note = why_similar.note_of(shown.picks.metric)
    why_similar.show([why_similar.of_run(run, pair, note=note) for run in runs], ("query", "document"))
