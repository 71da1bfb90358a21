"""Test of the difference between two retrieval runs, on the queries that both evaluated."""

from __future__ import annotations

import numpy as np

from blindspot.diagnostics.retrieval.definition import ENTRY
from blindspot.diagnostics.retrieval.outcomes import Side, lost, query_table
from blindspot.errors import InputError
from blindspot.numerics.ranking.graded import NAMES
from blindspot.numerics.statistics import pairs as statistics
from blindspot.numerics.statistics.compare import after_holm
from blindspot.numerics.statistics.intervals import ALPHA
from blindspot.numerics.statistics.p_values import p_in_cell
from blindspot.runs.comparison import Compared, ends
from blindspot.store.records import RunRecord
from blindspot.store.repository import Repository


def compare(first: RunRecord, second: RunRecord, repository: Repository, *, filtered: bool) -> Compared:
    """See ``blindspot.runs.comparison.Compare``; p-values are corrected after Holm over all scores."""
    if filtered:
        raise InputError("retrieval has no filtered ranks", expected="--ranks only with runs of evalrank")
    for parameter in ENTRY.parameters:
        name, (one, other) = parameter.name, (parameter.value_in(run.plan.params) for run in (first, second))
        if one != other:
            raise InputError(
                f"run {first.run_id} has {name} {one}, run {second.run_id} {other}", expected="the same parameters"
            )
    table = query_table(ENTRY, [first.run_id, second.run_id], repository)
    a, b = Side(first.run_id), Side(second.run_id)
    known = table.known
    values = [(table.scores(a, name), table.scores(b, name)) for name in NAMES]
    paired = np.column_stack([one - other for one, other in values])
    p = statistics.p_values(paired, known)
    corrected = after_holm(p)
    smallest = statistics.smallest_detectable(paired, known, len(NAMES), ALPHA)
    found = [statistics.difference(one, other, known) for one, other in values]
    means = [(float(one.mean()), float(other.mean())) for one, other in values]
    names = first.plan.variant.label, second.plan.variant.label
    better = [name for name, d, q in zip(NAMES, found, corrected, strict=True) if q < ALPHA and d.value > 0]
    worse = [name for name, d, q in zip(NAMES, found, corrected, strict=True) if q < ALPHA and d.value < 0]
    parts = [
        f"significantly {word} in {', '.join(some)}" for word, some in (("better", better), ("worse", worse)) if some
    ]
    verdict = "; ".join(parts) or (known.refusal and f"not tested: {known.refusal}") or "no significant difference"
    seen = lost(table, a, b)
    said = [
        f"{names[0]} against {names[1]}: {verdict}.",
        f"From A to B, {seen.losing:,} of {len(table):,} queries lose a relevant document from the top ten and "
        f"{seen.gaining:,} gain one; {seen.first:,} have another first document; the top tens share "
        f"{seen.overlap:.0%}.",
        f"From {known.independent}.",
    ]
    return Compared(
        f"Retrieval on {first.plan.dataset}: A is {names[0]}, B is {names[1]}",
        ["score", "A", "B", "A - B", "95% interval", "p", "p (Holm)", "smallest detectable"],
        [
            [
                name,
                *(f"{mean:.4f}" for mean in means[i]),
                f"{found[i].value:+.4f}",
                "–" if (ci := found[i].interval) is None else f"[{ci.low:+.4f}, {ci.high:+.4f}]",
                p_in_cell(float(p[i])),
                p_in_cell(float(corrected[i]), float(p[i])),
                "–" if np.isnan(smallest[i]) else f"{smallest[i]:.4f}",
            ]
            for i, name in enumerate(NAMES)
        ],
        said,
        {
            "queries": len(table),
            "metrics": [
                {"metric": name, "first": means[i][0], "second": means[i][1], "difference": found[i].value}
                | ends(found[i].interval)
                | {
                    key: None if np.isnan(numbers[i]) else float(numbers[i])
                    for key, numbers in (("p_value", p), ("p_corrected", corrected), ("smallest_detectable", smallest))
                }
                for i, name in enumerate(NAMES)
            ],
            "top_ten": {"losing": seen.losing, "gaining": seen.gaining, "overlap": seen.overlap, "first": seen.first},
            "verdict": said,
        },
    )
