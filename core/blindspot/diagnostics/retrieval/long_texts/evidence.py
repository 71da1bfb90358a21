"""Evidence on long texts: the place of the answer, the length of unrelated texts, and what a model does not read."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np
import pandas as pd

from blindspot.diagnostics.retrieval.long_texts.arranged import PLACES
from blindspot.diagnostics.retrieval.long_texts.definition import ENTRY, LACKING, LONGER, Passages, change, longest
from blindspot.numerics.statistics.estimate import Estimate, Unit
from blindspot.numerics.statistics.pairs import Dependence, p_values
from blindspot.numerics.statistics.written import number
from blindspot.runs.findings import MOST_EXAMPLES, Example, Material
from blindspot.runs.findings.evidence import Evidence
from blindspot.runs.findings.parts import low_coverage
from blindspot.store.records import RunRecord
from blindspot.types import Float64

LAST = "cosine_last_change"


def passages_of(rows: pd.DataFrame) -> Passages:
    """The measured passages of a run, from its rows."""

    def columns(name: str, of: tuple[object, ...]) -> Float64:
        values = rows[[f"{name}_{where}" for where in of]].to_numpy(dtype=np.float64)
        return np.where(values == LACKING, np.nan, values)

    return Passages(
        columns("cosine", PLACES),
        columns("reciprocal", PLACES),
        columns("unrelated", LONGER),
        columns("single", LONGER),
    )


def counts(rows: pd.DataFrame) -> pd.DataFrame:
    """The rows that scores count: passages that have vectors and, as far as is known, are read whole."""
    return rows[(rows["has_vectors"] == 1) & (rows["unread"] <= 0)]


def evidence(material: Material) -> Iterator[Evidence]:
    """See ``Diagnostic.evidence``."""
    yield from low_coverage(material.runs)
    for run in material.runs:
        if cut := int(run.metrics.get("cut", 0)):
            every = cut + int(run.metrics["passages"])
            most = int(run.manifest.get("encoder", {}).get("max_length", 0))
            yield Evidence("passages-cut", (run,), cut / every, every, facts={"cut": cut, "most": most})
        rows = counts(material.repository.items(ENTRY, [run.run_id], texts=True))
        if len(rows):
            changes = passages_of(rows).changes()
            yield from _place(run, rows, changes)
            yield from _length(run, changes)


def moved(values: Float64) -> tuple[Estimate, float]:
    """The mean change of the cosine ``[m]`` when the answer is last, and p of ``TEST``; NaN without a test."""
    estimate, p = change(LAST, values)
    if np.isnan(p):
        return estimate, p
    dependence = Dependence.of_groups(np.arange(len(values)), Unit.PASSAGES)
    return estimate, max(p, float(p_values(values[:, np.newaxis], dependence, np.inf)[0]))


def _place(run: RunRecord, rows: pd.DataFrame, changes: Mapping[str, Float64]) -> Iterator[Evidence]:
    estimate, p = moved(changes[LAST])
    if np.isnan(p):
        return
    lost = changes[LAST] * np.sign(estimate.value)
    worst = [int(row) for row in np.argsort(-lost, kind="stable")[:MOST_EXAMPLES] if lost[row] > 0]
    examples = tuple(
        Example(
            (("query", str(rows["query"].iloc[row])),),
            f"cosine {number(rows['cosine_first'].iloc[row], '.3f')} with the answer first, "
            f"{number(rows['cosine_last'].iloc[row], '.3f')} with it last",
        )
        for row in worst
    )
    facts = {
        "first": float(rows["cosine_first"].mean()),
        "last": float(rows["cosine_last"].mean()),
        "mrr_first": float(rows["reciprocal_first"].mean()),
        "mrr_last": float(rows["reciprocal_last"].mean()),
        "is_lower": estimate.value < 0,
    }
    yield Evidence("place-of-answer", (run,), estimate, estimate.units, p=p, facts=facts, examples=examples)


def _length(run: RunRecord, changes: Mapping[str, Float64]) -> Iterator[Evidence]:
    sentences = longest(run.metrics)
    if not sentences:
        return
    name = f"unrelated_{sentences}"
    estimate, p = change(f"{name}_change", changes[f"{name}_change"])
    if not np.isnan(p):
        longer = run.metrics[name]
        facts = {
            "sentences": sentences,
            "longer": longer,
            "single": longer - estimate.value,
            "is_higher": estimate.value > 0,
        }
        yield Evidence("unrelated-by-length", (run,), estimate, estimate.units, p=p, facts=facts)
