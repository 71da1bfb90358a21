"""Queries that are documents themselves, as in ArguAna and Quora: each is left out of its own ranking.

It is where the id and the text are equal; an equal id alone says nothing, since many sets number queries and
documents alike. BEIR and MTEB (``ignore_identical_ids``) take what has the query's id out of the results, and not out
of the judgments: a document that was judged relevant to its own query is then never found. We do the same, and say so.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from blindspot.datasets.kinds.retrieval import RELEVANT, RetrievalDataset
from blindspot.numerics.ranking.judged import NOT_RETRIEVED, Judged, Places, Top
from blindspot.types import Bool, Int64


def own_documents(dataset: RetrievalDataset, evaluated: Int64) -> Int64:
    """For each evaluated query, the number of the document that is the query itself, ``[q]``; -1 if there is none."""
    numbers = {name: number for number, name in enumerate(dataset.document_ids)}
    documents = np.full(len(evaluated), -1, dtype=np.int64)
    for row, query in enumerate(evaluated.tolist()):
        document = numbers.get(dataset.query_ids[query], -1)
        if document < 0 or not _same_text(dataset, query, document):
            continue
        documents[row] = document
    return documents


def judged_relevant(dataset: RetrievalDataset, evaluated: Int64, document_of_query: Int64) -> int:
    """How many of these own documents are judged relevant to their queries."""
    count = 0
    for query, document in zip(evaluated.tolist(), document_of_query.tolist(), strict=True):
        judged, grades = dataset.judgments_of(query)
        count += bool(((judged == document) & (grades >= RELEVANT)).any())
    return count


def _same_text(dataset: RetrievalDataset, query: int, document: int) -> bool:
    asked, text = dataset.items[dataset.queries[query]], dataset.items[dataset.documents[document]]
    title = dataset.titles[document]
    return asked.strip() in {text.strip(), text.removeprefix(f"{title} ").strip() if title else text.strip()}


@dataclass(frozen=True, eq=False)
class Asked:
    """The judgments to rank for, with every query's own document among them, so that it can be taken out again.

    Attributes:
        judged: for each query its judged documents, then its own document unless that is judged.
        plain: the judgments alone.
        own: ``[q]``, number of each query's own document, -1 for none.
        is_added: ``[j]``, which documents of ``judged`` were added and are not judgments.
    """

    judged: Judged
    plain: Judged
    own: Int64
    is_added: Bool

    @classmethod
    def of(cls, judged: Judged, document_of_query: Int64) -> Asked:
        starts, documents, added = [0], list[int](), list[bool]()
        if not (document_of_query >= 0).any():
            return cls(judged, judged, document_of_query, np.zeros(len(judged.documents), dtype=np.bool_))
        for row, document in enumerate(document_of_query.tolist()):
            mine = judged.documents[judged.starts[row] : judged.starts[row + 1]].tolist()
            more = [document] if document >= 0 and document not in mine else []
            documents += mine + more
            added += [False] * len(mine) + [True] * len(more)
            starts.append(len(documents))
        both = Judged(np.asarray(starts, dtype=np.int64), np.asarray(documents, dtype=np.int64))
        return cls(both, judged, document_of_query, np.asarray(added, dtype=np.bool_))

    @property
    def left_out(self) -> int:
        """Number of queries whose own document is left out."""
        return int((self.own >= 0).sum())

    def without_own(self, places: Places, best: Top, in_order: bool, tau: float) -> tuple[Places, Top]:
        """Places and best documents as if no query's own document were there.

        Args:
            places: of ``judged``.
            in_order: whether documents of equal scores have an order.
            tau: two scores no further apart are tied, where ties have no order.
        """
        if not self.left_out:
            return places, best
        greater, ties = places.greater.copy(), places.ties.copy()
        for row in np.flatnonzero(self.own >= 0).tolist():
            rows = np.arange(self.judged.starts[row], self.judged.starts[row + 1])
            is_own = self.judged.documents[rows] == self.own[row]
            (mine,) = rows[is_own]
            if greater[mine] != NOT_RETRIEVED:
                others = rows[~is_own & (greater[rows] != NOT_RETRIEVED)]
                ahead = places.scores[mine] - places.scores[others]
                above = places.greater[mine] < places.greater[others] if in_order else ahead > tau
                greater[others] -= above
                if not in_order:
                    ties[others] -= np.abs(ahead) <= tau
            greater[mine], ties[mine] = NOT_RETRIEVED, 0
        kept = ~self.is_added
        return Places(greater[kept], ties[kept], places.scores[kept]), self._shortened(best)

    def _shortened(self, best: Top) -> Top:
        """The lists without the own documents; -1 takes the last place."""
        is_own = (best.documents == self.own[:, None]) & (self.own >= 0)[:, None]
        order = np.argsort(is_own, axis=1, kind="stable")
        gone = np.take_along_axis(is_own, order, axis=1)
        documents, scores = (np.take_along_axis(array, order, axis=1) for array in (best.documents, best.scores))
        passages = None if best.passages is None else np.take_along_axis(best.passages, order, axis=1)
        return replace(
            best, documents=np.where(gone, -1, documents), scores=np.where(gone, -np.inf, scores), passages=passages
        )
