"""Checks on the demo datasets: agreement of ranks with a reference, and whether a known prefix makes a model better."""

from __future__ import annotations

from collections.abc import Sequence, Set
from dataclasses import dataclass

import numpy as np

from blindspot.datasets import fetch
from blindspot.datasets.catalog import DATASETS
from blindspot.datasets.kinds.pairs import PairSet
from blindspot.datasets.kinds.retrieval import RELEVANT, RetrievalDataset
from blindspot.diagnostics.retrieval.outcomes import groups
from blindspot.numerics.ranking import graded, judged
from blindspot.numerics.ranking.ranks import rank_pairs
from blindspot.numerics.similarity import Similarity
from blindspot.numerics.statistics.compare import Verdict, compare, decide, share_by_item
from blindspot.numerics.statistics.estimate import Unit
from blindspot.numerics.statistics.pairs import Dependence
from blindspot.numerics.statistics.written import p_in_words, percent, with_ci
from blindspot.runs.comparison import ends
from blindspot.settings import Settings
from blindspot.studies.setup_check.fitting import SCHEMES
from blindspot.studies.setup_check.models import Model, cosines, unit
from blindspot.studies.setup_check.results import Result, State
from blindspot.studies.setup_check.space import similarities
from blindspot.types import CancelToken, Float32, Float64, Int64, no_progress

PAIRS, RETRIEVAL = "demo-pairs", "demo-retrieval"
SENTENCES, REWRITES = 40, 160  # of the demo pairs: with a paraphrase each, and wrong rewrites
NEAREST = 10
SCORE = "ndcg@10"
AGREES, DIFFERS = 0.9995, 0.98  # median cosines: int8 weights leave 0.9996, 4 bits 0.95
ALIKE = 0.99  # of the worst text; weights in int8 leave 0.999
# Checks that say why vectors differ, and those that say why some do, or a little.
EXPLAIN = frozenset(
    {"order", "batch", "asked", "distinct", "dimension", "space", "pooling", "layer", "tokens", "prompt"}
)
EXPLAIN_SOME = frozenset({"precision", "limit", "case", "accents", "newlines", "spaces", "composition"})
# Correlation of the cosines between texts, and median cosine with the reference's, below which it is another model:
# random weights leave 0.3 and 0.01, another prefix or suffix 0.7 and 0.87.
ANOTHER, UNRELATED = 0.8, 0.5
WORST = 20  # texts kept


def pairs_of(settings: Settings) -> tuple[list[str], int]:
    """Texts and the number of pairs among them: 2i and 2i + 1 are a pair, and wrong rewrites follow."""
    data = fetch.load(DATASETS[PAIRS], settings)
    if not isinstance(data, PairSet):
        raise TypeError(f"{PAIRS} is no set of pairs")
    match = dict(zip(data.queries.tolist(), data.matches.tolist(), strict=True))
    pairs = [item for query, other in match.items() if query < other for item in (query, other)][: 2 * SENTENCES]
    wrong = [item for item in range(len(data.items)) if item not in match][:REWRITES]
    return [data.items[item] for item in (*pairs, *wrong)], len(pairs) // 2


def retrieval_of(settings: Settings) -> RetrievalDataset:
    data = fetch.load(DATASETS[RETRIEVAL], settings)
    if not isinstance(data, RetrievalDataset):
        raise TypeError(f"{RETRIEVAL} is no retrieval dataset")
    return data


@dataclass(frozen=True)
class Ranked:
    """Ranks of the paraphrases of the demo pairs by a model and by its reference, as EvalRank has them.

    Attributes:
        mrr: by the model and by the reference.
        same: share of equal ranks.
        nearest: mean share of the nearest texts that both find.
        queries: number of ranks.
    """

    mrr: tuple[float, float]
    same: float
    nearest: float
    queries: int

    @classmethod
    def of(cls, vectors: Float32, theirs: Float32, pairs: int) -> Ranked:
        """From vectors ``[n, d]`` and ``[n, D]`` of ``pairs_of``."""
        ranks = [_ranks(vectors, pairs) for vectors in (vectors, theirs)]
        mrr = [float((1 / r).mean()) for r in ranks]
        same = float((ranks[0] == ranks[1]).mean())
        return cls((mrr[0], mrr[1]), same, _shared(vectors, theirs), 2 * pairs)

    def __str__(self) -> str:
        return (
            f"MRR of {self.queries} demo queries is {self.mrr[0]:.3f}, by the reference {self.mrr[1]:.3f}; "
            f"{percent(self.same, 1)} of the ranks are the same, and {percent(self.nearest, 1)} of the {NEAREST} "
            "nearest texts."
        )


def _ranks(vectors: Float32, pairs: int) -> Float64:
    queries = np.arange(2 * pairs, dtype=np.int32)
    ranks = rank_pairs(vectors, queries, queries ^ 1, Similarity.COS, no_progress, CancelToken())
    return ranks.shown


def _shared(encoded: Float32, theirs: Float32) -> float:
    nearest = []
    for vectors in (encoded, theirs):
        similarity = unit(vectors) @ unit(vectors).T
        np.fill_diagonal(similarity, -np.inf)
        nearest.append(np.argsort(-similarity, axis=1, kind="stable")[:, :NEAREST].tolist())
    return float(np.mean([len(set(a) & set(b)) / NEAREST for a, b in zip(*nearest, strict=True)]))


def agreement(
    vectors: Float32, theirs: Float32, ranked: Ranked | None, kinds: Sequence[str], wrong: Set[str]
) -> Result:
    """Cosines of the probes' vectors ``[n, d]`` with the reference's ``[n, D]``.

    Args:
        kinds: of the probes.
        wrong: ids of the other checks that found something.
    """
    figures: dict[str, object] = {}
    about_ranks = ""
    if ranked is not None:
        about_ranks = f" {ranked}"
        figures |= {"mrr": ranked.mrr[0], "reference_mrr": ranked.mrr[1]}
        figures |= {"same_ranks": ranked.same, "shared_nearest": ranked.nearest}
    d = vectors.shape[1]
    if d > theirs.shape[1]:
        return Result("agreement", State.WRONG, f"The dimensions differ.{about_ranks}", "", figures)
    alike = cosines(vectors, theirs[:, :d])
    middle, least = float(np.median(alike)), float(alike.min())
    figures |= {"median_cosine": middle, "least_cosine": least}
    text = (
        f"The cosine with the reference's vector is {middle:.5f} in the median and at least {least:.3f}.{about_ranks}"
    )
    if middle >= AGREES and least >= ALIKE:
        return Result("agreement", State.OK, text, "", figures)
    worst = kinds[int(np.argmin(alike))]
    most = f"The text that differs most is of the kind “{worst}”."
    is_wrong = middle < DIFFERS or least < DIFFERS
    between = float(np.corrcoef(similarities(vectors), similarities(theirs))[0, 1])
    figures["between_texts"] = between
    is_explained = bool(wrong & EXPLAIN) or (between >= ANOTHER and bool(wrong & EXPLAIN_SOME) and middle >= DIFFERS)
    if is_explained:
        advice = f"The other checks say what differs. {most}"
    elif between < ANOTHER and middle < UNRELATED:
        text = f"Another model: {text} Cosines between texts have a correlation of {between:.2f} with the reference's."
        advice = (
            "The vectors are not the reference's in any way that is known: check which model the server has loaded."
        )
    else:
        text = (
            f"Something differs: {text} Cosines between texts have a correlation of {between:.2f} with the "
            "reference's: it is a similar model, or gets other texts."
        )
        advice = f"No other check explains it: compare weights, prompt and template, and tokenizer. {most}"
    return Result("agreement", State.WRONG if is_wrong else State.LOOK, text, advice, figures)


def prefixes(model: Model, dataset: RetrievalDataset, size: int) -> Result:
    """nDCG@10 of the demo queries under each known prefix scheme, with the paired difference to none.

    Intervals are at 95%, p-values corrected for the number of schemes (Holm). Queries with the same relevant
    documents are one group.
    """
    texts: dict[str, list[str]] = {}
    queries, documents = list(dataset.query_texts), list(dataset.document_texts)
    for query, document in SCHEMES.values():
        texts |= {query + t: [] for t in queries} | {document + t: [] for t in documents}
    wanted = list(texts)
    row = {text: i for i, text in enumerate(wanted)}
    vectors = model.encode_all(wanted, size)
    if not np.isfinite(vectors).all():
        return Result("prefixes", State.UNCHECKED, "The model has no vector for some of the demo texts.")
    judgments = judged.Judged(dataset.offsets, dataset.judged)
    scores = {}
    for name, (query, document) in SCHEMES.items():
        rows = [row[document + t] for t in documents] + [row[query + t] for t in queries]
        places = judged.places(vectors[rows], judgments, Similarity.COS, no_progress, CancelToken())
        scores[name] = graded.score(judgments, places, dataset.grades)[SCORE]
    dependence = Dependence.of_groups(_groups(dataset), Unit.QUERIES)
    items = {name: share_by_item(SCORE, values, dependence) for name, values in scores.items()}
    none = items.pop("none")
    tests = dict(zip(items, decide(compare([(item, none) for item in items.values()], len(items))), strict=True))
    figures = {
        "none": none.value,
        "queries": len(none.parts),
        "schemes": {
            name: {"ndcg@10": test.a, "gain": test.value, **ends(test.interval), "p_holm": test.p_corrected}
            for name, test in tests.items()
        },
    }
    best = max(tests, key=lambda name: tests[name].value)
    gain = tests[best]
    tested = "" if gain.p_corrected is None else f", {p_in_words(gain.p_corrected, gain.p)} (Holm)"
    sentence = (
        f"Without a prefix nDCG@10 of {len(none.parts)} demo queries is {none.value:.3f}; the best of {len(tests)} "
        f"schemes, {best}, changes it by {with_ci(gain, '+.3f')}{tested}."
    )
    if gain.verdict is Verdict.BETTER:
        advice = f"The model seems to be trained with prefixes: read its card, and put {best} before the texts."
        return Result("prefixes", State.LOOK, sentence, advice, figures)
    return Result("prefixes", State.OK, sentence, "", figures)


def _groups(dataset: RetrievalDataset) -> Int64:
    """Number of each query's group, ``[q] int64``, as *Retrieval* makes them."""
    relevant: list[list[str]] = []
    for query in range(len(dataset.queries)):
        judged, grades = dataset.judgments_of(query)
        relevant.append([str(document) for document in judged[grades >= RELEVANT].tolist()])
    return groups(dataset.query_texts, relevant)
