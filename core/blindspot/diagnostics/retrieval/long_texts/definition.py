"""Long texts: does it matter where in a passage the answer is, and are longer texts more alike whatever they say?"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from blindspot.datasets.kinds.base import DatasetKind
from blindspot.datasets.kinds.retrieval import RetrievalDataset
from blindspot.diagnostic import SIGNED, Column, Cost, Diagnostic, DiagnosticResult, Overview, Roles, Score, Work
from blindspot.diagnostics.retrieval.definition import check_finite
from blindspot.diagnostics.retrieval.long_texts.arranged import (
    FEWEST,
    LENGTHS,
    MOST,
    NONE,
    PLACES,
    SEED,
    ArrangedDataset,
)
from blindspot.encoders.base import Encoder
from blindspot.errors import InputError
from blindspot.numerics.ranking.judged import DECIMALS, rounded_similarities
from blindspot.numerics.ranking.problem import TAU
from blindspot.numerics.ranking.ranks import expected_reciprocal_rank
from blindspot.numerics.similarity import Similarity, row_norms, unit_rows
from blindspot.numerics.statistics.against import change_against
from blindspot.numerics.statistics.estimate import Estimate, Unit
from blindspot.numerics.statistics.pairs import ALLOWING, Dependence
from blindspot.types import Bool, CancelToken, Float32, Float64, Int64, Progress

if TYPE_CHECKING:
    from blindspot.runs.findings import Material
    from blindspot.runs.findings.evidence import Evidence

LATER, LONGER = PLACES[1:], LENGTHS[1:]
FEW = 30  # passages that an interval needs: with fewer, a few that lose much make it too narrow
TEST = f"Student's t and sign flips over passages, {ALLOWING}, the largest p"  # of a moved answer (``evidence.moved``)
UNKNOWN = -1  # tokens that are not read
LACKING = -2.0  # stored where there is no such text
NO_SUCH = f"; {LACKING:g}: there is none"
CHANGES = {
    **{f"cosine_{where}_change": f"cosine of query and passage with the answer {where}, less that with it first"
       for where in LATER},
    **{f"mrr_{where}_change": f"the same of 1 divided by the passage's rank, answer {where} less first"
       for where in LATER},
    **{f"unrelated_{n}_change": f"mean cosine of unrelated passages' first {n} sentences, less that of one alone"
       for n in LONGER},
}  # fmt: skip


@dataclass(frozen=True, eq=False)
class Passages:
    """The measurements of ``r`` passages; NaN where there is no such text.

    Attributes:
        cosines: ``[r, 3]``, cosine of query and passage, by the answer's place (``PLACES``).
        reciprocal: ``[r, 3]``, 1 / rank of the passage among all that do not answer the query.
        unrelated: ``[r, 3]``, by ``LONGER``: mean cosine of its first sentences with as many of each unrelated passage.
        single: ``[r, 3]``, the same of the first sentence alone, with the same passages.
    """

    cosines: Float64
    reciprocal: Float64
    unrelated: Float64
    single: Float64

    def among(self, rows: Bool) -> Passages:
        return Passages(self.cosines[rows], self.reciprocal[rows], self.unrelated[rows], self.single[rows])

    def changes(self) -> dict[str, Float64]:
        """Each change by its name in ``CHANGES``, over the passages that have it, in their order."""
        out: dict[str, Float64] = {}
        for at, where in enumerate(LATER, 1):
            out[f"cosine_{where}_change"] = self.cosines[:, at] - self.cosines[:, 0]
            out[f"mrr_{where}_change"] = self.reciprocal[:, at] - self.reciprocal[:, 0]
        out |= {f"unrelated_{n}_change": self.unrelated[:, at] - self.single[:, at] for at, n in enumerate(LONGER)}
        return {name: values[~np.isnan(values)] for name, values in out.items()}


def change(name: str, values: Float64) -> tuple[Estimate, float]:
    """The mean of a change over passages ``[m]``, m > 0, with its t interval, and p of no change; NaN without a test.

    The change for unrelated passages is a mean over pairs, so each passage's influence counts twice (Hoeffding 1948).
    """
    mean, dependence = float(values.mean()), Dependence.of_groups(np.arange(len(values)), Unit.PASSAGES)
    estimate, p = change_against(mean, (2 if name.startswith("unrelated") else 1) * (values - mean), dependence)
    if estimate.interval is not None and len(values) < FEW:
        return replace(estimate, interval=None, refusal=f"fewer than {FEW} passages do not say how sure it is"), np.nan
    return estimate, p


def compute(
    embeddings: Float32 | Float64,
    dataset: ArrangedDataset,
    params: Mapping[str, str],  # noqa: ARG001 - it has none
    progress: Progress,
    cancel: CancelToken,
) -> DiagnosticResult:
    """See ``Diagnostic.compute``; ``embeddings`` are of ``dataset.encoded``. A row per passage.

    Raises:
        InputError: as ``ArrangedDataset.arrangement``, or the encoder has no vector for any passage.
        BlindspotError: embeddings that are not finite.
    """
    vectors = np.asarray(embeddings, dtype=np.float32)
    check_finite(vectors)
    arrangement, unread = dataset.arrangement, dataset.unread
    lost = np.full(len(arrangement.queries), UNKNOWN) if unread is None else unread
    has_vectors = vectors_of(vectors, dataset)
    counts = has_vectors & (lost <= 0)
    measured = measure(vectors, dataset, counts, progress, cancel)
    if not has_vectors.any():
        raise InputError(
            f"the model has no vectors for passages of '{dataset.id}' with a sentence moved",
            expected="an encoder that takes any text",
        )
    passages = measured.among(counts)
    metrics = {
        "passages": float(counts.sum()),
        "no_vector": float((~has_vectors).sum()),
        "documents": float(len(dataset.documents)),
        "short": float(arrangement.short),
        "unmatched": float(arrangement.unmatched),
        **({} if unread is None else {"cut": float((has_vectors & (lost > 0)).sum())}),
        **_scores(passages, arrangement.words[counts]),
    }
    numbers = {
        "document": arrangement.documents,
        "answer": arrangement.answers,
        "sentences": arrangement.sentences,
        "unread": lost,
        "has_vectors": has_vectors.astype(np.int32),
    }
    of_texts = (
        *((f"cosine_{where}", measured.cosines[:, at]) for at, where in enumerate(PLACES)),
        *((f"reciprocal_{where}", measured.reciprocal[:, at]) for at, where in enumerate(PLACES)),
        *((f"unrelated_{n}", measured.unrelated[:, at]) for at, n in enumerate(LONGER)),
        *((f"single_{n}", measured.single[:, at]) for at, n in enumerate(LONGER)),
    )
    columns = numbers | {name: np.where(np.isnan(values), LACKING, values) for name, values in of_texts}
    arrays = [pa.array(columns[field.name], field.type) for field in ENTRY.schema]
    covered = {
        "passages": len(counts),
        "passages_covered": int(has_vectors.sum()),
        "items": len(dataset.items),
        "items_covered": int((row_norms(vectors[: len(dataset.items)]) > 0).sum()),
    }
    return DiagnosticResult(
        metrics=metrics,
        items=pa.table(arrays, schema=ENTRY.schema),
        coverage=covered,
        item_numbers=arrangement.queries,
        seeds={"passages drawn": SEED},
    )


def vectors_of(vectors: Float32, dataset: ArrangedDataset) -> Bool:
    """Whether each query and all texts made of its passage have a vector, ``[r]``: zero vectors do not count."""
    arrangement, has_vector = dataset.arrangement, row_norms(vectors) > 0
    has_vectors: Bool = has_vector[dataset.queries[arrangement.queries]]
    for rows in (dataset.rows_of(arrangement.moved), dataset.rows_of(arrangement.starts)):
        has_vectors &= np.where(rows == NONE, True, has_vector[rows]).all(axis=1)
    return has_vectors


def measure(
    vectors: Float32, dataset: ArrangedDataset, counts: Bool, progress: Progress, cancel: CancelToken
) -> Passages:
    """Measure all passages; ``counts [r]`` says which passages' first sentences are compared."""
    arrangement = dataset.arrangement
    queries = dataset.queries[arrangement.queries]
    moved, starts = dataset.rows_of(arrangement.moved), dataset.rows_of(arrangement.starts)
    asked = unit_rows(vectors, queries)
    cosines = np.full(moved.shape, np.nan)
    for at in range(len(PLACES)):
        here = moved[:, at] != NONE
        cosines[here, at] = np.einsum("rd,rd->r", asked[here], unit_rows(vectors, moved[here, at]))
    # Cosines that differ only by rounding are the same, as with a mean of the same word vectors in another order.
    same = np.abs(cosines - cosines[:, :1]) <= TAU
    cosines = np.round(np.where(same, cosines[:, :1], cosines), DECIMALS)
    reciprocal = np.full(cosines.shape, np.nan)
    excluded = dataset.excluded()
    blocks = rounded_similarities(vectors[dataset.documents], vectors[queries], Similarity.COS, cancel, progress)
    for row, line in enumerate(line for block in blocks for line in block):
        others = np.delete(line, excluded[row])
        for at in np.flatnonzero(~np.isnan(cosines[row])).tolist():
            reciprocal[row, at] = expected_reciprocal_rank(*_places(others, cosines[row, at]))
    unrelated, single = _alike(vectors, starts, counts, arrangement.documents, excluded)
    return Passages(np.asarray(cosines, dtype=np.float64), reciprocal, unrelated, single)


def _places(others: Float64, score: float) -> tuple[Int64, Int64]:
    """How many of ``others`` are above the own similarity, and how many are equal to it; all are rounded."""
    return (
        np.asarray(np.count_nonzero(others > score + TAU / 2), dtype=np.int64),
        np.asarray(np.count_nonzero(np.abs(others - score) <= TAU / 2), dtype=np.int64),
    )


def _alike(
    vectors: Float32, starts: Int64, counts: Bool, documents: Int64, excluded: list[Int64]
) -> tuple[Float64, Float64]:
    """``Passages.unrelated`` and ``single``. Two passages are related if one answers the query of the other."""
    r = len(starts)
    row_of = {document: row for row, document in enumerate(documents.tolist())}
    unrelated = ~np.eye(r, dtype=np.bool_)
    for row, out in enumerate(excluded):
        for other in [row_of[document] for document in out.tolist() if document in row_of]:
            unrelated[row, other] = unrelated[other, row] = False
    longer: Float64 = np.full((r, len(LONGER)), np.nan)
    single = longer.copy()
    first = unit_rows(vectors, starts[:, 0])
    of_first = first @ first.T
    for at in range(len(LONGER)):
        here = counts & (starts[:, at + 1] != NONE)
        pairs = unrelated & here & here[:, np.newaxis]
        count = pairs.sum(axis=1)
        has = count > 0
        units = np.zeros_like(first)
        units[here] = unit_rows(vectors, starts[here, at + 1])
        for means, products in ((longer, units @ units.T), (single, of_first)):
            means[has, at] = np.where(pairs, products, 0.0).sum(axis=1)[has] / count[has]
    return longer, single


def _scores(passages: Passages, words: Int64) -> dict[str, float]:
    if not len(passages.cosines):  # the model reads none of them whole
        return {}
    out = {"cosine_first": float(passages.cosines[:, 0].mean()), "mrr_first": float(passages.reciprocal[:, 0].mean())}
    if not np.isnan(passages.single[:, 0]).all():
        out |= {"unrelated_1": float(np.nanmean(passages.single[:, 0])), "words_1": float(words[:, 0].mean())}
    for name, values in passages.changes().items():
        if not len(values):
            continue
        estimate, _ = change(name, values)
        out |= {name: estimate.value, name.replace("_change", "_passages"): float(len(values))}
        if estimate.interval is not None:
            out |= {f"{name}_low": estimate.interval.low, f"{name}_high": estimate.interval.high}
    for at, n in enumerate(LONGER):
        here = ~np.isnan(passages.unrelated[:, at])
        if here.any():
            out[f"unrelated_{n}"] = float(passages.unrelated[here, at].mean())
            out[f"words_{n}"] = float(words[here, at + 1].mean())
    return out


def longest(metrics: Mapping[str, float]) -> int:
    """The largest of ``LONGER`` that at least half of the passages have; 0 without any."""
    half = metrics.get("passages", 0.0) / 2
    return max((n for n in LONGER if metrics.get(f"unrelated_{n}_passages", 0.0) >= max(half, 1.0)), default=0)


class LongTexts(Diagnostic):
    """The diagnostic Long texts."""

    id = "long_texts"
    version = 1
    title = "Long texts"
    question = "Does it matter where in a passage the answer is, and how long the passage is?"
    how = rf"""
A passage is a document of {FEWEST} sentences or more that answers a query: for each query its relevant document of the
highest grade that is not another query's passage, at most {MOST} in all, drawn where there are more. The sentence that
answers is the one that shares most with the query: the sum of $\log(1 + n / \text{{df}})$ over their common words, no
stop words, with a word in df of the n passages; the first of equals. Nothing of this depends on the model.

**Position.** That sentence is moved to the first, middle and last place, the others keep their order, and a title stays
in front. For each place:

- the **cosine** of query and passage;
- **MRR**: the mean of 1 / rank of the passage among all documents but those that answer the query, too, and those with
  the same text; ties at their expectation.

The **change** is that of the last (or middle) place less that of the first, passage by passage. A model that averages
the vectors of words has none. Cosines that differ by at most {TAU:g} are equal.

**Length.** Of each passage the first {", ".join(map(str, LENGTHS[:-1]))} and {LENGTHS[-1]} sentences, without a title,
as far as it has so many, and the mean cosine with as many sentences of each unrelated passage: of two passages neither
answers the other's query. The **change** is that from one sentence to more of the same passages.

**What the model does not read.** A passage that is longer than the model's input, counted in its own tokens, is left
out of all of this: an answer behind the end is not seen, which is truncation and no bias. How many there are is said.

**Intervals** are Student's t over passages, which are independent units; none below {FEW} passages. A moved answer is
tested by {TEST}: with few passages it can be above 0.05 where the interval leaves out 0. Each unrelated passage is in
many pairs: its part counts twice, as in the variance of a U-statistic (Hoeffding 1948).
"""
    how_to_read = """
- A change of the **cosine** below 0: the model overlooks what is at the end. That of **MRR** says what it costs in your
  search. If both are there, cut documents into passages (`?passages=128/32` after the model's reference), or put what
  matters first.
- **Unrelated texts** that are more alike the longer they are: one threshold for a cosine does not fit short and long
  texts. Set it on texts of the length that you have.
"""
    limits = """
- The sentence that answers is guessed from common words: an answer in other words, or one that takes two sentences, is
  missed. Queries that share no word with their passage are left out and counted.
- Moving a sentence may break the text ("this", "therefore"), but in the first place as in the last.
- Sentences are split at full stops; abbreviations can end one too early.
- Longer texts of one field may share topics: part of what makes them alike may be right.
"""
    citation = (
        "Lee, Goel and Ramchandran 2024, Quantifying Positional Biases in Text Embedding Models (arXiv 2412.15241); "
        "Zeng et al. 2025, An Empirical Study of Position Bias in Modern Information Retrieval (arXiv 2505.13950); "
        "Zhou et al. 2025, Length-Induced Embedding Collapse in PLM-based Models (arXiv 2410.24200)"
    )
    dataset_kind = DatasetKind.RETRIEVAL
    columns = (
        Column("document", pa.int32(), "number of the document"),
        Column("answer", pa.int32(), "place of the sentence that answers, from 0"),
        Column("sentences", pa.int32(), "sentences of the passage"),
        Column("unread", pa.int32(), f"tokens at the end that the model does not read; {UNKNOWN}: not known"),
        Column("has_vectors", pa.int32(), "1 if query, passage and its parts have vectors, else 0"),
        *(Column(f"cosine_{where}", pa.float64(), f"cosine with the answer {where}{NO_SUCH}") for where in PLACES),
        *(
            Column(f"reciprocal_{where}", pa.float64(), f"1 / rank with the answer {where}{NO_SUCH}")
            for where in PLACES
        ),
        *(
            Column(f"{name}_{n}", pa.float64(), f"{what.format(n=n)}{NO_SUCH}")
            for name, what in (
                ("unrelated", "mean cosine of its first {n} sentences with as many of unrelated passages"),
                ("single", "the same of the first sentence alone, of passages with {n} or more"),
            )
            for n in LONGER
        ),
    )
    metrics = (
        Score("cosine_first", "mean cosine of query and passage with the answer first", None, range=SIGNED),
        Score("mrr_first", "mean of 1 / rank of the passage with the answer first", None),
        *(
            Score(f"{name}{end}", f"{what}{of}", None, range=(-2.0, 2.0), is_end=bool(end))
            for name, what in CHANGES.items()
            for end, of in (
                ("", ""),
                ("_low", ": lower end of its 95% interval"),
                ("_high", ": upper end of its 95% interval"),
            )
        ),
        *(
            Score(name.replace("_change", "_passages"), f"passages with: {what}", None, is_count=True)
            for name, what in CHANGES.items()
        ),
        *(
            Score(f"unrelated_{n}", f"mean cosine of the first {n} of unrelated passages", None, range=SIGNED)
            for n in LENGTHS
        ),
        *(Score(f"words_{n}", f"mean number of words of the first {n}", None, is_count=True) for n in LENGTHS),
        Score("passages", "passages that the model reads whole", None, is_count=True),
        Score("cut", "passages whose end the model does not read: left out", None, is_count=True),
        Score("no_vector", "passages without a vector: left out", None, is_count=True),
        Score("short", "queries without a passage of several sentences of their own", None, is_count=True),
        Score("unmatched", "queries that share no word with their passage: left out", None, is_count=True),
        Score("documents", "documents that a passage is ranked among", None, is_count=True),
    )
    headline = "cosine_last_change"
    headline_instead = "passages"
    overview = Overview(
        "Cosine with the answer last, less that with it first",
        {
            "cosine_last_change": "cosine, answer last less first",
            "mrr_last_change": "MRR, answer last less first",
            "unrelated_2_change": "unrelated passages, two sentences less one",
        },
        "See position and length",
        "retrieval",
        counted=("passages", "passages"),
    )
    roles = Roles("queries", "documents and what is made of them", declared_too=True)
    cost = Cost(
        units=lambda work: float(min(work.pairs, MOST)) * work.texts * work.dimension,
        units_of_run=lambda run: run.metrics.get("passages", 0.0) * run.metrics.get("documents", 0.0) * run.dimension,
        seconds_per_unit={"": 1e-9},
    )
    compute = staticmethod(compute)

    def as_read(self, dataset: RetrievalDataset, encoder: Encoder) -> ArrangedDataset:
        if dataset.cutter is not None:
            raise InputError(
                f"{self.id} measures whole passages, and '{encoder.identity.reference}' reads documents in pieces",
                expected="a model without passages",
                remedy="leave out passages",
            )
        return ArrangedDataset.of(dataset, encoder)

    def further_texts(self, work: Work) -> int:
        return min(work.pairs, MOST) * (len(PLACES) + len(LENGTHS))

    @property
    def place(self) -> tuple[str, dict[str, str]]:
        return "retrieval", {"view": "long"}

    def evidence(self, material: Material) -> Iterable[Evidence]:
        from blindspot.diagnostics.retrieval.long_texts.evidence import evidence

        return evidence(material)


ENTRY = LongTexts()
