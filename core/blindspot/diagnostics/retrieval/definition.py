"""Retrieval: does a model find the documents that people judged relevant to a query, compared with keyword search?

Documents are ranked by their similarity to the query among all documents of the dataset; scores have trec_eval's
meaning (``blindspot.numerics.ranking.graded``).
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from blindspot.datasets.kinds.base import DatasetKind
from blindspot.datasets.kinds.passages import Cut
from blindspot.datasets.kinds.retrieval import RetrievalDataset
from blindspot.diagnostic import (
    Column,
    Cost,
    Diagnostic,
    DiagnosticResult,
    GridRole,
    Overview,
    Page,
    Parameter,
    Picker,
    Reading,
    Roles,
    Score,
)
from blindspot.diagnostics.retrieval import bm25
from blindspot.diagnostics.retrieval.own_documents import Asked, judged_relevant, own_documents
from blindspot.encoders.rankings.base import Ranking, Way
from blindspot.encoders.rankings.bm25 import KeywordRanking
from blindspot.errors import BlindspotError, InputError
from blindspot.numerics.ranking import graded, passages
from blindspot.numerics.ranking.judged import (
    NOT_RETRIEVED,
    Judged,
    Places,
    Top,
    condensed,
    order_of_ids,
    rank_by_scores,
    rounded_similarities,
    search,
)
from blindspot.numerics.ranking.problem import TAU
from blindspot.numerics.ranking.rescoring import BEHIND, Rescoring, Side, Twice
from blindspot.numerics.similarity import Similarity, row_norms
from blindspot.types import Bool, CancelToken, Float32, Float64, Int64, Progress

if TYPE_CHECKING:
    from blindspot.numerics.statistics.compare import ItemScores
    from blindspot.runs.findings import Material
    from blindspot.runs.findings.evidence import Evidence
    from blindspot.runs.training_data.examples import Triplet
    from blindspot.settings import Settings
    from blindspot.store.records import RunRecord
    from blindspot.store.repository import Repository

EXPECTED, TREC_EVAL = "expected", "trec_eval"
ALL, CONDENSED = "all", "condensed"
TIES = Parameter(
    "ties",
    (EXPECTED, TREC_EVAL),
    EXPECTED,
    "tied documents: expected score over all their orders, or trec_eval's order, the later id first",
    f"of retrieval, tied documents: {EXPECTED} score over all their orders, or {TREC_EVAL}'s order",
    title="Ties",
    when="Choose trec_eval to compare with scores that it computed.",
)
JUDGED = Parameter(
    "judged",
    (ALL, CONDENSED),
    ALL,
    f"documents that scores are of: {ALL}, where unjudged ones count as irrelevant, or {CONDENSED} lists, from which "
    "unjudged ones are removed",
    f"of retrieval, documents that scores are of: {ALL}, or {CONDENSED} lists without the unjudged ones",
    only_if_chosen=True,
    title="Scored documents",
    when="Choose condensed where the judgments come from other systems' results, so that a new model's finds are "
    "unjudged; read both.",
)
LEAVE_OUT, COUNT = "leave_out", "count"
OWN_DOCUMENT = Parameter(
    "own_document",
    (LEAVE_OUT, COUNT),
    LEAVE_OUT,
    "a query that is a document itself, of equal id and text: left out of its own ranking, as BEIR and MTEB do, or "
    "counted",
    f"of retrieval, a query that is a document itself: {LEAVE_OUT} of its own ranking, or {COUNT}",
    only_if_chosen=True,
    title="The query's own document",
    when="Choose count where finding the query itself is right.",
)
BM25 = "bm25."  # prefix of keyword search's scores
SHOWN = 10  # documents that a searcher looks at: the top ten
DECIMALS = 6  # of stored similarities and keyword search's scores
ZEROS = "those that share no word with the query included"

TITLES = {
    "ndcg@10": "nDCG@10",
    "ndcg@100": "nDCG@100",
    "recall@10": "Recall@10",
    "recall@100": "Recall@100",
    "mrr": "MRR",
    "mrr@10": "MRR@10",
    "map": "MAP",
    "p@10": "Precision@10",
    **{f"hits@{k}": f"Hits@{k}" for k in graded.HITS_AT},
}
MEANINGS = {
    "ndcg@10": "nDCG of the top 10, gains are the grades",
    "ndcg@100": "nDCG of the top 100, gains are the grades",
    "recall@10": "share of the relevant documents in the top 10",
    "recall@100": "share of the relevant documents in the top 100",
    "mrr": "1 divided by the rank of the first relevant document",
    "mrr@10": "the same, 0 if that rank is above 10",
    "map": "average precision: mean of the precision at the rank of each relevant document",
    "p@10": "relevant documents among the top 10, divided by 10",
    **{f"hits@{k}": f"whether a relevant document is in the top {k}" for k in graded.HITS_AT},
}


def column_of(score: str) -> str:
    """The column with a score of each query; also for the scores of keyword search."""
    return score.replace("@", "_").replace(".", "_")


def compute(
    embeddings: Float32 | Float64,
    dataset: RetrievalDataset,
    params: Mapping[str, str],
    progress: Progress,
    cancel: CancelToken,
) -> DiagnosticResult:
    """Rank all documents for every query; see ``Diagnostic.compute``. A row per query that has judgments.

    Raises:
        InputError: no query has a judgment.
        BlindspotError: the embeddings are not all finite.
    """
    evaluated, asked = _evaluated(dataset, params)
    judged = asked.judged
    cancel.check()
    in_order, metric = params["ties"] == TREC_EVAL, Similarity(params["metric"])
    places, best = _ranked(embeddings, dataset, evaluated, judged, metric, in_order, progress, cancel)
    return _result(
        dataset, evaluated, asked, places, _rounded(best), 0.0 if in_order else TAU, params, progress, cancel
    )


def compute_twice(
    twice: Twice, dataset: RetrievalDataset, params: Mapping[str, str], progress: Progress, cancel: CancelToken
) -> DiagnosticResult:
    """As ``compute``, but compare the best documents of every query again with finer vectors. The scores in the stored
    lists are those of ``Rescoring``.

    Raises:
        InputError: no query has a judgment.
        BlindspotError: the embeddings are not all finite.
    """
    evaluated, asked = _evaluated(dataset, params)
    judged = asked.judged
    in_order, metric = params["ties"] == TREC_EVAL, Similarity(params["metric"])
    searched, finer = (_side(vectors, dataset, evaluated) for vectors in (twice.searched, twice.finer))
    order = order_of_ids(dataset.document_ids) if in_order else None
    rescoring = Rescoring(searched, finer, twice.depth, metric, order=order)
    tau = 0.0 if in_order else TAU
    places, best = rank_by_scores(rescoring.blocks(cancel, progress), judged, order, tau=tau)
    if dataset.cut:
        first, again = (
            passages.best_passages(side.passages, side.starts, side.queries, best, metric) for side in (searched, finer)
        )
        best = replace(best, passages=np.where(best.scores > -BEHIND / 2, again, first))
    result = _result(dataset, evaluated, asked, places, _rounded(best), tau, params, progress, cancel)
    return replace(result, metrics={**result.metrics, "rescored": float(np.mean(rescoring.listed))})


def _side(vectors: Float32, dataset: RetrievalDataset, evaluated: Int64) -> Side:
    """Vectors of the documents, or of their passages, and of the queries with judgments."""
    if cut := dataset.cut:
        return Side(vectors[cut.passages], cut.starts, vectors[cut.queries[evaluated]])
    return Side.of(vectors[dataset.documents], vectors[dataset.queries[evaluated]])


def rank(
    ranking: Ranking, dataset: RetrievalDataset, params: Mapping[str, str], progress: Progress, cancel: CancelToken
) -> DiagnosticResult:
    """Scores of a ranking without vectors; see ``Diagnostic.rank``.

    Raises:
        InputError: no query has a judgment, or the ranking has no document for any query with a judgment.
    """
    evaluated, asked = _evaluated(dataset, params)
    judged = asked.judged
    in_order = params["ties"] == TREC_EVAL
    way = Way(Similarity(params["metric"]), in_order, progress, cancel)
    order = order_of_ids(dataset.document_ids) if in_order else None
    places, best = rank_by_scores(ranking.scores(dataset, evaluated, way), judged, order)
    if isinstance(ranking, KeywordRanking):  # no list shows what it does not find
        best = Top(np.where(best.scores > 0, best.documents, -1), best.scores)
    unranked = int(np.count_nonzero(best.documents[:, 0] < 0))
    if unranked == len(evaluated):
        raise InputError(
            f"'{ranking.identity.reference}' ranks no document for the queries of '{dataset.id}' that have judgments"
        )
    counts = {"unranked": float(unranked), "ignored": float(ranking.facts(dataset).get("ignored", 0))}
    result = _result(dataset, evaluated, asked, places, best, 0.0, params, progress, cancel)
    return replace(result, metrics={**result.metrics, **counts})


def _evaluated(dataset: RetrievalDataset, params: Mapping[str, str]) -> tuple[Int64, Asked]:
    """Numbers of the queries with judgments, and the judgments; raises ``InputError`` if no query has any."""
    evaluated = np.flatnonzero(np.diff(dataset.offsets) > 0).astype(np.int64)
    if not len(evaluated):
        raise InputError(f"no query of '{dataset.id}' has a judged document", expected="judgments of documents")
    judged = Judged(np.append(dataset.offsets[evaluated], dataset.offsets[-1]), dataset.judged)
    counts = OWN_DOCUMENT.value_in(params) == COUNT
    document_of_query = np.full(len(evaluated), -1, dtype=np.int64) if counts else own_documents(dataset, evaluated)
    return evaluated, Asked.of(judged, document_of_query)


def _result(
    dataset: RetrievalDataset,
    evaluated: Int64,
    asked: Asked,
    places: Places,
    best: Top,
    tau: float,
    params: Mapping[str, str],
    progress: Progress,
    cancel: CancelToken,
) -> DiagnosticResult:
    """Scores of a ranking beside those of keyword search; scores that differ by ``tau`` at most are tied."""
    in_order, is_condensed = params["ties"] == TREC_EVAL, JUDGED.value_in(params) == CONDENSED
    places, best = asked.without_own(places, best, in_order, tau)
    judged = asked.plain
    keywords = bm25.search(dataset, evaluated, asked, in_order, progress, cancel)
    scored = _condensed(judged, places, tau) if is_condensed else places
    of_queries = dict(graded.score(judged, scored, dataset.grades))
    of_keywords = keywords.condensed if is_condensed else keywords.scores
    of_queries |= {f"{BM25}{name}": values for name, values in of_keywords.items()}
    unjudged, bm25_unjudged = (_unjudged(found_top, judged) for found_top in (best, keywords.top))
    shown, bm25_shown = (
        float((best_documents.documents[:, :SHOWN] >= 0).sum(axis=1).mean()) for best_documents in (best, keywords.top)
    )
    relevant = dataset.relevant_counts[evaluated]
    metrics = {name: float(values.mean()) for name, values in of_queries.items()} | {
        "unjudged@10": float(unjudged.mean() / shown),
        f"{BM25}unjudged@10": float(bm25_unjudged.mean() / bm25_shown),
        "queries": float(len(evaluated)),
        "unanswerable": float(np.count_nonzero(relevant == 0)),
        "documents": float(len(dataset.documents)),
        "relevant": float(dataset.relevant.sum()),
        "tied": float(_tied(scored, judged, dataset.relevant).sum()),
    }
    if asked.left_out:
        metrics["own_documents"] = float(asked.left_out)
        if lost := judged_relevant(dataset, evaluated, asked.own):
            metrics["own_relevant"] = float(lost)
    items = {column_of(name): values for name, values in of_queries.items()} | {
        "relevant": relevant.astype(np.int32),
        "unjudged_10": unjudged.astype(np.int32),
        "bm25_unjudged_10": bm25_unjudged.astype(np.int32),
        "judged": _judgments(dataset, places, judged),
        "top": _as_json(best, dataset),
        "bm25_top": _as_json(_rounded(keywords.top), dataset),
    }
    return DiagnosticResult(
        metrics=metrics,
        items=pa.table(items, schema=ENTRY.schema),
        coverage=dataset.coverage(np.ones(len(dataset.items), dtype=np.bool_)),
        item_numbers=evaluated,
    )


def _ranked(
    embeddings: Float32 | Float64,
    dataset: RetrievalDataset,
    evaluated: Int64,
    judged: Judged,
    metric: Similarity,
    in_order: bool,
    progress: Progress,
    cancel: CancelToken,
) -> tuple[Places, Top]:
    vectors = np.asarray(embeddings, dtype=np.float32)
    queries = dataset.queries[evaluated]
    if not in_order and not dataset.cut:
        matrix = vectors[np.concatenate([dataset.documents, queries])]
        return search(matrix, judged, metric, progress, cancel)
    check_finite(vectors)
    order = order_of_ids(dataset.document_ids) if in_order else None
    if dataset.cut:
        return _by_passages(vectors, dataset.cut, evaluated, judged, metric, order, progress, cancel)
    blocks = rounded_similarities(vectors[dataset.documents], vectors[queries], metric, cancel, progress)
    return rank_by_scores(blocks, judged, order)


def check_finite(vectors: Float32) -> None:
    """Raise ``BlindspotError`` for embeddings ``[n, d]`` that are not all finite."""
    broken = int(np.count_nonzero(~np.isfinite(row_norms(vectors))))
    if broken:
        raise BlindspotError(
            f"{broken} of {len(vectors)} embeddings have NaN or infinite values",
            expected="finite numbers",
            remedy="use another encoder or transform",
        )


def _by_passages(
    vectors: Float32,
    cut: Cut,
    evaluated: Int64,
    judged: Judged,
    metric: Similarity,
    order: Int64 | None,
    progress: Progress,
    cancel: CancelToken,
) -> tuple[Places, Top]:
    """As ``_ranked``, but by the best passage of every document; ``vectors`` are of the cut texts."""
    of_passages, queries = vectors[cut.passages], vectors[cut.queries[evaluated]]
    blocks = passages.similarities(of_passages, cut.starts, queries, metric, cancel, progress)
    if order is None:
        places, best = rank_by_scores(blocks, judged, tau=TAU)
    else:
        places, best = rank_by_scores((np.round(block, DECIMALS) for block in blocks), judged, order)
    return places, replace(best, passages=passages.best_passages(of_passages, cut.starts, queries, best, metric))


def _condensed(judged: Judged, places: Places, tau: float) -> Places:
    """Places among the judged documents; where only equal scores tie, documents with as many others above are tied."""
    scores = places.scores if tau else -places.greater.astype(np.float64)
    among_judged, away = condensed(judged, scores, tau), places.greater == NOT_RETRIEVED
    greater, ties = np.where(away, NOT_RETRIEVED, among_judged.greater), np.where(away, 0, among_judged.ties)
    return Places(greater, ties, places.scores)


def _rounded(best: Top) -> Top:
    """The same documents with scores rounded as they are stored."""
    return replace(best, scores=np.round(best.scores, DECIMALS))


def _unjudged(best: Top, judged: Judged) -> Int64:
    """How many of each query's top ten nobody has judged, ``[q]``."""
    shown = best.documents[:, :SHOWN]
    is_judged = [
        (line < 0) | np.isin(line, judged.documents[start:stop])
        for line, start, stop in zip(shown, judged.starts[:-1], judged.starts[1:], strict=True)
    ]
    return np.asarray((~np.array(is_judged)).sum(axis=1), dtype=np.int64)


def _tied(places: Places, judged: Judged, relevant: Bool) -> Bool:
    """Whether a query has a relevant document that is tied with another document, ``[q]``."""
    out = np.zeros(len(judged.starts) - 1, dtype=np.bool_)
    out[judged.queries[relevant & (places.ties > 0)]] = True
    return out


def _judgments(dataset: RetrievalDataset, places: Places, judged: Judged) -> list[str]:
    """Each query's judged documents as JSON: id, grade, number of documents above (null: not retrieved), and tied."""
    ids = [dataset.document_ids[i] for i in dataset.judged.tolist()]
    above = [None if greater == NOT_RETRIEVED else greater for greater in places.greater.tolist()]
    rows = list(zip(ids, dataset.grades.tolist(), above, places.ties.tolist(), strict=True))
    ends = judged.starts.tolist()
    return [json.dumps(rows[start:stop]) for start, stop in pairwise(ends)]


def _as_json(best: Top, dataset: RetrievalDataset) -> list[str]:
    """Each query's retrieved top documents as JSON: id and score; for cut documents also the best passage's span."""
    ids, spans = dataset.document_ids, None
    if best.passages is not None and dataset.cut:
        spans = dataset.cut.spans[best.passages].tolist()
    return [
        json.dumps([(ids[d], s, *(spans[query][rank] if spans else ())) for rank, (d, s) in enumerate(line) if d >= 0])
        for query, line in enumerate(
            list(zip(documents, values, strict=True))
            for documents, values in zip(best.documents.tolist(), best.scores.tolist(), strict=True)
        )
    ]


class Retrieval(Diagnostic):
    """The diagnostic Retrieval."""

    id = "retrieval"
    version = 2
    title = "Retrieval"
    question = "Which model finds the relevant documents, and is it better than keyword search?"
    how = r"""
All documents are ranked by their similarity to the query, cosine or $1/(1+\lVert x-y\rVert)$ for `l2`. A document of
grade 1 or more is relevant. Scores mean what they mean in `trec_eval`, and are means over the queries that have
judgments:

$$\text{nDCG@}k = \frac{\sum_{i \le k} g_i / \log_2(i+1)}{\text{the same for the best possible ranking}}$$

with the grade $g_i$ of the document at rank $i$, 0 for an unjudged one.

- **Recall@k**: share of the relevant documents in the top k. **Precision@10**: share of the top 10 that is relevant.
- **MRR**: mean of 1/rank of the first relevant document; **MRR@10** counts 0 beyond rank 10. **Hits@k**: share of
  queries with a relevant document in the top k.
- **MAP**: mean over the relevant documents of the precision at their ranks, then over the queries.
- **Ties**: two similarities within $10^{-6}$ are tied, and every score is its expected value over all orders of tied
  documents (McSherry and Najork 2008). With `ties` = `trec_eval`, similarities are rounded to six decimals, and of
  equal ones the document with the later id is first, as `trec_eval` sorts them.
- Ranks are exact, among all documents.
- **Passages**: `?passages=WINDOW/OVERLAP` after a model's reference cuts documents, not queries, by the model's own
  tokenizer: windows of so many tokens, each beginning WINDOW − OVERLAP tokens after the one before; the last reaches
  the end. The title is put before every passage and is not counted. A document is as similar as its best passage, and
  one of a single passage stays as it is.
- **Unjudged documents** count as irrelevant. With `judged` = `condensed`, they are removed from every ranking, BM25's
  too, before scores are computed (condensed lists, Sakai 2007); the share unjudged is still that of the whole top ten.
- A query whose judged documents are all irrelevant scores 0; a query without judgments does not count.

**Keyword search.** BM25 (`bm25s`: Lucene's variant, $k_1 = 1.5$, $b = 0.75$; English stop words left out, no stemming)
ranks the same documents for the same queries. Documents that share no word with the query score 0 and are tied below
all others in the scores; lists, exports and shares show only what shares a word.

**Rankings without vectors.** `bm25` is keyword search as a model; `run:FILE` the ranking of another engine (TREC's run,
or MTEB's predictions): documents that it does not list add nothing, queries that it lacks score 0. `fuse:A+B` is the
reciprocal-rank fusion of two models, $\sum 1/(60 + \text{rank})$ over the first 100 documents of each (Cormack et al.
2009); tied documents have the mean of their ranks.

**Rescoring.** After a transform such as `binary+rescore:100`, the 100 best documents by the codes (and those tied with
the last of them; in `trec_eval`'s order exactly 100) are compared again with the vectors that the codes were made of;
the others follow in the order of the search. Their stored similarity is that of the search less 3.

**Confidence intervals and tests.** Queries that differ only in case, spaces or punctuation form one group, and so do
queries with the very same relevant documents; groups are independent. 95% intervals of scores are Wilson's with the
effective number of queries, of differences a t interval of the paired differences. Two models, or a model and BM25,
are compared by a permutation test that flips the signs of whole groups, made stricter where differences are skewed, and
corrected after Holm for all scores of two rankings. Below eight independent groups there is neither interval nor test.
"""
    how_to_read = """
- **nDCG@10** is 1 where the best documents are at the top in the order of their grades. Read it beside BM25's: a model
  that is not above keyword search has no use for this search.
- **Recall@100** says what a second stage (a reranker, a language model) could still find.
- A score belongs to its documents: more of them make it lower. Compare models on one dataset.
- Look at the queries that a model loses to BM25 or to another model, and read both top tens side by side.
"""
    limits = """
- An unjudged document counts as irrelevant. If judgments were collected from other systems' results, a new model's
  relevant finds are missing from them: see the share of *unjudged* documents in its top ten. Condensed lists favor the
  new model instead: what it ranks high by mistake is unjudged, too, and is removed. The truth is between the two.
- Long documents are cut off where the model's input ends; what follows cannot be found. `?passages=128/32` after the
  model's reference encodes documents in passages instead.
- BM25 here is a plain one: no stemming, English stop words, no tuning.
"""
    citation = (
        "Järvelin and Kekäläinen 2002, Cumulated gain-based evaluation of IR techniques; McSherry and Najork "
        "2008, Computing information retrieval performance measures efficiently in the presence of tied scores; Sakai "
        "2007, Alternatives to Bpref; Robertson and Zaragoza 2009, The Probabilistic Relevance Framework: BM25 "
        "and Beyond; "
        "Thakur et al. 2021, BEIR; Cormack, Clarke and Büttcher 2009, Reciprocal "
        "Rank Fusion outperforms Condorcet and individual Rank Learning Methods"
    )
    dataset_kind = DatasetKind.RETRIEVAL
    parameters = (
        Parameter(
            "metric", tuple(Similarity), Similarity.COS, "similarity: cosine, or 1/(1 + distance)", is_of_use=True
        ),
        TIES,
        JUDGED,
        OWN_DOCUMENT,
    )
    columns = (
        *(Column(column_of(name), pa.float64(), f"{MEANINGS[name]}") for name in graded.NAMES),
        *(Column(column_of(f"{BM25}{name}"), pa.float64(), f"by BM25: {MEANINGS[name]}") for name in graded.NAMES),
        Column("relevant", pa.int32(), "relevant documents"),
        Column("unjudged_10", pa.int32(), "documents in the top 10 that nobody judged"),
        Column("bm25_unjudged_10", pa.int32(), f"documents in BM25's top 10 that nobody judged, {ZEROS}"),
        Column(
            "judged",
            pa.string(),
            "JSON: id, grade, documents above (null: not retrieved) and tied, per judged document",
        ),
        Column(
            "top",
            pa.string(),
            "JSON: id and similarity of the 100 most similar documents; of those in passages also the first character "
            "and last + 1 of the best one",
        ),
        Column("bm25_top", pa.string(), "JSON: id and BM25 score of its first 100 documents"),
    )
    metrics = (
        *(Score(name, f"mean over queries: {MEANINGS[name]}", True) for name in graded.NAMES),
        *(Score(f"{BM25}{name}", f"by BM25, mean over queries: {MEANINGS[name]}", None) for name in graded.NAMES),
        Score("unjudged@10", "share of the top 10 that nobody judged", None),
        Score(f"{BM25}unjudged@10", f"share of BM25's top 10 that nobody judged, {ZEROS}", None),
        Score("queries", "queries with judgments", None, is_count=True),
        Score("unanswerable", "of these, queries without a relevant document: they score 0", None, is_count=True),
        Score("documents", "documents that are ranked", None, is_count=True),
        Score("relevant", "relevant documents, summed over the queries", None, is_count=True),
        Score("tied", "queries with a relevant document that is tied with another document", None, is_count=True),
        Score("unranked", "queries for which a ranking has no document: they score 0", None, is_count=True),
        Score("rescored", "documents compared again with finer vectors, mean over queries", None, is_count=True),
        Score("own_documents", "queries whose own document is left out of their ranking", None, is_count=True),
        Score("own_relevant", "of these, those to which it is judged relevant: it is never found", None, is_count=True),
        Score("ignored", "queries that only a run file has: they do not count", None, is_count=True),
    )
    headline = "ndcg@10"
    overview = Overview(
        "nDCG@10 (higher is better)",
        {
            "ndcg@10": "nDCG@10",
            "recall@100": "Recall@100",
            "mrr@10": "MRR@10",
            "map": "MAP",
            "bm25.ndcg@10": "nDCG@10 of BM25",
        },
        "See which queries they lose",
        counted=("queries", "queries"),
    )
    page = Page(
        "retrieval",
        "Retrieval",
        ":material/search:",
        (Picker.DATASET, Picker.MODELS, Picker.POSTPROCESSED, Picker.BASELINE, Picker.SIMILARITY),
    )
    readings = (Reading("ndcg@10", "Retrieval nDCG@10"),)
    grid = GridRole.TASK
    roles = Roles("queries", "documents", declared_too=True)
    ignores_order = True
    won = ("queries", "ranks relevant documents higher")
    item_in_address = {
        "view": "queries",
        "item": "{number}",
        "a": "{a}",
        "b": "{b}",
    }
    is_gate = True
    two_in_address = {"view": "queries", "a": "{a}", "b": "{b}"}
    cost = Cost(
        units=lambda work: float(work.pairs) * work.texts * work.dimension,
        units_of_run=lambda run: run.metrics.get("queries", 0.0) * run.metrics.get("documents", 0.0) * run.dimension,
        seconds_per_unit={EXPECTED: 5e-10, TREC_EVAL: 2e-9},
        way="ties",
    )
    compute = staticmethod(compute)
    rank = staticmethod(rank)
    compute_twice = staticmethod(compute_twice)

    def item_scores(self, runs: Sequence[RunRecord], repository: Repository) -> Sequence[Mapping[str, ItemScores]]:
        from blindspot.diagnostics.retrieval.item_scores import item_scores

        return item_scores(runs, repository)

    def doubts(self, runs: Sequence[RunRecord], repository: Repository) -> Sequence[str]:
        from blindspot.diagnostics.retrieval.grades import doubts

        return doubts(runs, repository)

    def triplets(
        self, run: RunRecord, settings: Settings, repository: Repository, *, most: int, margin: float
    ) -> Iterable[Triplet]:
        from blindspot.diagnostics.retrieval.exports import triplets

        return triplets(run, settings, repository, most=most, margin=margin)

    def evidence(self, material: Material) -> Iterable[Evidence]:
        from blindspot.diagnostics.retrieval.evidence import evidence

        return evidence(material)


ENTRY = Retrieval()
