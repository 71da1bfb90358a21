"""Retrieval datasets: their arrays, counts and parts, against loops over texts."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from blindspot.datasets.kinds.retrieval import RetrievalDataset
from blindspot.datasets.published.retrieval import Document, Judgment, Query, retrieval_dataset

Judged = dict[tuple[str, str], int]


def judged(dataset: RetrievalDataset) -> Judged:
    return {
        (dataset.query_ids[query], dataset.document_ids[document]): int(grade)
        for query, document, grade in zip(dataset.judged_queries, dataset.judged, dataset.grades, strict=True)
    }


SMALL = retrieval_dataset(
    "small",
    [Query("1", "a"), Query("2", "d"), Query("3", "d")],
    [Document("x", "T", "b"), Document("y", "", "T b"), Document("z", "", "a")],
    [Judgment(1, 1, 2), Judgment(0, 2, -1), Judgment(1, 0, 0), Judgment(2, 2, 0)],
)


def test_by_hand() -> None:
    assert SMALL.items == ("a", "d", "T b")
    assert SMALL.queries.tolist() == [0, 1, 1]
    assert SMALL.documents.tolist() == [2, 2, 0]
    assert SMALL.offsets.tolist() == [0, 1, 3, 4]
    assert SMALL.judged.tolist() == [2, 0, 1, 2]
    assert SMALL.grades.tolist() == [-1, 0, 2, 0]
    assert SMALL.relevant_counts.tolist() == [0, 1, 0]
    counts = SMALL.counts
    assert (counts.queries, counts.documents, counts.judgments, counts.relevant) == (3, 3, 4, 1)
    assert (counts.unanswered, counts.same_documents, counts.grades) == (2, 2, (-1, 0, 2))
    assert SMALL.rows(1, 9) == [("2", "d", 1, "y"), ("3", "d", 0, "")]
    assert SMALL.related(1) == {2: "relevant"}
    assert all(array.dtype == np.int32 for array in (SMALL.queries, SMALL.documents, SMALL.judged, SMALL.grades))


def test_the_digest_is_of_ids_texts_and_grades() -> None:
    queries, documents, rows = [Query("1", "a")], [Document("x", "", "b"), Document("y", "", "c")], [Judgment(0, 0, 1)]
    digests = {
        retrieval_dataset("any", *changed).content_digest
        for changed in (
            (queries, documents, rows),
            ([Query("2", "a")], documents, rows),
            ([Query("1", "b")], documents, rows),
            (queries, documents[::-1], rows),
            (queries, [Document("z", "", "b"), documents[1]], rows),
            (queries, documents, [Judgment(0, 0, 2)]),
            (queries, documents, [Judgment(0, 1, 1)]),
        )
    }
    assert len(digests) == 7
    titled = retrieval_dataset("other", queries, [Document("x", "", "b"), Document("y", "c", "")], rows)
    assert titled.content_digest == retrieval_dataset("any", queries, documents, rows).content_digest


texts = st.sampled_from("abcdefg")


@given(
    st.lists(texts, min_size=1, max_size=5),
    st.lists(texts, min_size=1, max_size=6),
    st.lists(st.tuples(st.integers(0, 4), st.integers(0, 5), st.integers(-1, 3)), max_size=20),
    st.sets(texts),
)
def test_a_part_has_the_queries_whose_relevant_documents_all_have_a_vector(
    asked: list[str], found: list[str], grades: list[tuple[int, int, int]], lacking: set[str]
) -> None:
    queries = [Query(f"q{n}", text) for n, text in enumerate(asked)]
    documents = [Document(f"d{n}", "", text) for n, text in enumerate(found)]
    rows = [Judgment(*row) for row in grades if row[0] < len(queries) and row[1] < len(documents)]
    dataset = retrieval_dataset("x", queries, documents, rows)
    whole = {(f"q{query}", f"d{document}"): grade for query, document, grade in rows}
    assert judged(dataset) == whole
    covered = np.array([text not in lacking for text in dataset.items])
    part = dataset.part(covered)
    kept = {
        query.id
        for query in queries
        if query.text not in lacking
        and not any(
            documents[int(d[1:])].text in lacking for (q, d), grade in whole.items() if q == query.id and grade > 0
        )
    }
    left = {document.id for document in documents if document.text not in lacking}
    assert set(part.dataset.query_ids) == kept
    assert set(part.dataset.document_ids) == left
    assert judged(part.dataset) == {pair: g for pair, g in whole.items() if pair[0] in kept and pair[1] in left}
    assert [dataset.query_ids[row] for row in part.rows] == list(part.dataset.query_ids)
    assert part.dataset.document_texts == tuple(d.text for d in documents if d.id in left)
    coverage = dataset.coverage(covered)
    assert (coverage["queries"], coverage["queries_covered"]) == (len(queries), len(kept))
