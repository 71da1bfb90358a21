"""Retrieval by passages: whole runs equal float64 loops over passages encoded one by one, and trec_eval."""

from __future__ import annotations

import numpy as np
import pytest

from blindspot.datasets.kinds.passages import Cut
from blindspot.datasets.kinds.retrieval import RetrievalDataset
from blindspot.diagnostics.retrieval.definition import ENTRY
from blindspot.diagnostics.retrieval.outcomes import Side, query_table
from blindspot.encoders.catalog import resolve_encoder
from blindspot.encoders.references import Passages
from blindspot.encoders.transformer.passages import TokenCutter
from blindspot.errors import InputError
from blindspot.runs import pipeline, requesting
from blindspot.runs.manifests import truncation_warnings
from blindspot.store.records import RunRecord
from blindspot.types import CancelToken, Float64
from tests.support import retrieval_world as toy
from tests.support.pages import OpenApp
from tests.support.small_world import SMALL_PAIRS, GramEncoder
from tests.support.world import World

MODEL = "minilm?passages=12/3"


def long_documents() -> RetrievalDataset:
    """Queries about a thing, in documents that go on about others; some have a title, some are short."""
    plain = toy.dataset()
    texts = [" ".join(plain.document_texts[i : i + 1 + i % 5]) for i in range(24)] + [plain.document_texts[0]]
    titles = ["On things" if i % 3 == 0 else "" for i in range(len(texts))]
    documents = [f"{title} {text}".strip() for title, text in zip(titles, texts, strict=True)]
    asked = [plain.query_texts[i] for i in range(8)] + [documents[-1]]
    judged = [{d: 1 + (d % 2) for d, text in enumerate(texts) if q.split()[-1].strip("?.") in text} for q in asked]
    judged = [one | {(3 * q) % 24: 0} for q, one in enumerate(judged)]
    made = toy.made("long-documents", asked, documents, judged)
    vars(made)["titles"] = tuple(titles)
    return made


DATA = long_documents()


@pytest.fixture(scope="module")
def made(module_world: World) -> World:
    lacking = GramEncoder("lacking", 3, lacks=lambda text: text == DATA.document_texts[2])
    module_world.add(lacking, GramEncoder("trigrams", 3), DATA, SMALL_PAIRS)
    return module_world


@pytest.fixture(scope="module")
def cut(made: World) -> Cut:
    encoder = resolve_encoder("minilm", made.settings)
    found = DATA.in_passages(TokenCutter(Passages(12, 3), MODEL, encoder)).cut
    assert found is not None
    return found


@pytest.fixture(scope="module")
def similarity(made: World, cut: Cut) -> Float64:
    """Of every query to every passage."""
    encoder = resolve_encoder("minilm", made.settings)
    vectors = encoder.encode(list(cut.texts), CancelToken()).astype(np.float64)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    return vectors[cut.queries] @ vectors[cut.passages].T


def best(cut: Cut, similarity: Float64) -> Float64:
    """Of every query to every document."""
    documents = range(len(DATA.documents))
    return np.array([[line[cut.starts[d] : cut.starts[d + 1]].max() for d in documents] for line in similarity])


@pytest.mark.heavy
def test_the_best_passage_of_a_document_counts(made: World, cut: Cut, similarity: Float64) -> None:
    assert 30 < len(cut.passages) > 1.5 * len(DATA.documents)
    exact = best(cut, similarity)
    run = made.run(ENTRY.id, MODEL, DATA.id, ties="trec_eval")
    for name, of_queries in toy.by_trec_eval(DATA, np.round(exact, 6)).items():
        assert run.metrics[name] == pytest.approx(np.mean(list(of_queries.values())), abs=1e-6), name
    expected = made.run(ENTRY.id, MODEL, DATA.id)
    assert expected.metrics["ndcg@10"] == pytest.approx(run.metrics["ndcg@10"], abs=0.02)
    check_rows(made, expected, cut, similarity)


def check_rows(made: World, run: RunRecord, cut: Cut, similarity: Float64) -> None:
    exact = best(cut, similarity)
    table = query_table(ENTRY, [run.run_id], made.repository)
    for row, query in enumerate(table.numbers.tolist()):
        for one in table.judged(run.run_id, row):
            own = exact[query, DATA.document_ids.index(one.document)]
            assert one.greater == (exact[query] > own + 1e-6).sum()
            assert one.ties == (abs(exact[query] - own) <= 1e-6).sum() - 1
        top, spans = table.top(Side(run.run_id), row), table.spans(Side(run.run_id), row)
        assert [score for _, score in top] == pytest.approx(np.sort(exact[query])[::-1], abs=1e-5)
        for document, _ in top:
            number = DATA.document_ids.index(document)
            rows = range(cut.starts[number], cut.starts[number + 1])
            chosen = next(r for r in rows if tuple(cut.spans[r]) == spans[document])
            assert similarity[query, chosen] == pytest.approx(exact[query, number], abs=1e-5)
    assert not table.spans(Side(run.run_id, is_bm25=True), 0)


@pytest.mark.heavy
def test_long_passages_are_whole_documents(made: World) -> None:
    whole, passages = (made.run(ENTRY.id, model, DATA.id) for model in ("minilm", "minilm?passages=200/50"))
    assert passages.metrics == pytest.approx(whole.metrics, abs=1e-6)
    assert passages.run_id != whole.run_id
    assert passages.plan.embedding_digest != whole.plan.embedding_digest


def test_a_stored_run_is_found_again(made: World) -> None:
    run = made.run(ENTRY.id, MODEL, DATA.id)
    found = pipeline.find(made.request(ENTRY.id, MODEL, DATA.id), made.settings, made.repository)
    assert found is not None
    assert found.run_id == run.run_id
    assert run.manifest["encoder"]["reference"] == MODEL


@pytest.mark.heavy
def test_transforms_are_fitted_on_passages(made: World, cut: Cut) -> None:
    run = made.run(ENTRY.id, f"{MODEL}~center", DATA.id)
    encoder = resolve_encoder("minilm", made.settings)
    vectors = encoder.encode(list(cut.texts), CancelToken()).astype(np.float64)
    vectors -= vectors.mean(axis=0)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    check_rows(made, run, cut, vectors[cut.queries] @ vectors[cut.passages].T)


def test_a_part_of_the_documents_has_its_passages(made: World, cut: Cut, similarity: Float64) -> None:
    request = requesting.request(ENTRY.id, MODEL, "none", DATA.id, {}, made.settings, ["lacking"])
    run = pipeline.run(request, made.settings, made.repository).record
    assert run.metrics["documents"] == len(DATA.documents) - 1
    exact = np.delete(best(cut, similarity), 2, axis=1)
    table = query_table(ENTRY, [run.run_id], made.repository)
    assert 0 < len(table) < len(DATA.queries)
    for row, query in enumerate(table.numbers.tolist()):
        scores = [score for _, score in table.top(Side(run.run_id), row)]
        assert scores == pytest.approx(np.sort(exact[query])[::-1], abs=1e-5)


def test_passages_can_be_fused(made: World, cut: Cut, similarity: Float64) -> None:
    run = made.run(ENTRY.id, f"fuse:{MODEL}+bm25", DATA.id)
    whole = made.run(ENTRY.id, "fuse:minilm+bm25", DATA.id)
    table = query_table(ENTRY, [run.run_id, whole.run_id], made.repository)
    assert any(table.top(Side(run.run_id), row) != table.top(Side(whole.run_id), row) for row in range(len(table)))
    exact = np.round(best(cut, similarity), 6)
    first = DATA.document_ids[int(np.argmax(exact[8]))]
    assert table.top(Side(run.run_id), 8)[0][0] == first  # a query that is a document


@pytest.mark.heavy
def test_what_a_model_does_not_read_is_counted_and_named(open_app: OpenApp, made: World) -> None:
    long, longer = "word " * 300, "thing " * 400
    data = toy.made("cut-off", ["word", "thing", "short " * 260], ["short", longer, long], [{0: 1}, {1: 1}, {2: 1}])
    made.add(data)
    run = made.run(ENTRY.id, "minilm", data.id)
    facts = run.manifest["embeddings"]
    assert (facts["truncated_documents"], facts["truncated_queries"]) == (2, 1)
    assert facts["most_truncated"] == {"d1": 400 + 2 - 256, "d2": 300 + 2 - 256}
    assert facts["truncated_share"] == 3 / 6
    (said,) = truncation_warnings([run])
    assert all(part in said for part in ("256", "2 of 3", "66.7%", "d1, d2", "1 query"))
    app = open_app(made.cache, "retrieval", data=data.id, model="minilm~none")
    assert any("d1, d2" in caption.value for caption in app.caption)
    passages = made.run(ENTRY.id, "minilm?passages=200/20", data.id)
    facts = passages.manifest["embeddings"]
    assert (facts["truncated_documents"], facts["truncated_queries"]) == (0, 1)
    assert not made.run(ENTRY.id, MODEL, DATA.id).manifest["embeddings"].get("truncated_documents")


@pytest.mark.parametrize("diagnostic", ["evalrank", "geometry"])
def test_other_diagnostics_refuse_passages(made: World, diagnostic: str) -> None:
    with pytest.raises(InputError, match="passages"):
        made.run(diagnostic, MODEL, SMALL_PAIRS.id)
    with pytest.raises(InputError, match="passages"):
        made.encode(MODEL, SMALL_PAIRS.id)


@pytest.mark.matrix
def test_the_page_shows_the_passage_that_matched(open_app: OpenApp, made: World, cut: Cut) -> None:
    run = made.run(ENTRY.id, MODEL, DATA.id)
    address = {"view": "queries", "item": "3", "with": "bm25", "b": f"{MODEL}~none"}
    app = open_app(made.cache, "retrieval", data=DATA.id, model=f"{MODEL}~none", **address)
    assert not app.exception
    table = query_table(ENTRY, [run.run_id], made.repository)
    row = int(np.flatnonzero(table.numbers == 3)[0])
    html = [str(one.proto.body) for one in app.get("html") if "<table" in str(one.proto.body)][-1]  # B's
    shown = 0
    for document, (start, end) in list(table.spans(Side(run.run_id), row).items())[:10]:
        number = DATA.document_ids.index(document)
        text, title = DATA.document_texts[number], DATA.titles[number]
        if (start, end) != (0, len(text)):
            shown += 1
            marked = text[start:end] if start else text[:end].removeprefix(title).lstrip()
            assert f">{marked}</mark>" in html
    assert shown
