"""Do two runs of transfer differ by more than chance, example by example?"""

from __future__ import annotations

from dataclasses import asdict

from core.diagnostics.transfer.definition import ENTRY
from core.diagnostics.transfer.outcomes import outcomes
from core.diagnostics.transfer.paired import Paired
from core.errors import InputError
from core.runs.comparison import Comparison, ends
from core.store.records import RunRecord
from core.store.repository import Repository


def compare(first: RunRecord, second: RunRecord, repository: Repository, *, filtered: bool) -> Comparison:
    """See ``core.runs.comparison.Compare``."""
    if filtered:
        raise InputError("transfer has no filtered ranks", expected="--ranks only with runs of evalrank")
    one, other = first.plan.variant.label, second.plan.variant.label
    if (kinds := [run.plan.params["classifier"] for run in (first, second)])[0] != kinds[1]:
        one, other = f"{one} ({kinds[0]})", f"{other} ({kinds[1]})"
    found = outcomes(ENTRY, [first.run_id, second.run_id], repository)
    rows = [Paired.of(found, first.run_id, second.run_id, "all")]
    if found.repeated.any() and not found.repeated.all():
        rows.append(Paired.of(found.without_overlap(), first.run_id, second.run_id, "without overlap"))
    said = [row.in_words(one, other) for row in rows]
    return Comparison(
        f"Transfer on {first.plan.dataset}: A is {one}, B is {other}",
        ["examples", "tested", "A", "B", "A - B", "95% interval", "only A right", "only B right", "p (McNemar)"],
        [
            [
                r.name,
                f"{r.tested:,}",
                *(f"{accuracy:.4f}" for accuracy in (r.first, r.second)),
                f"{r.first - r.second:+.4f}",
                "–" if r.interval is None else f"[{r.interval.low:+.4f}, {r.interval.high:+.4f}]",
                *(f"{n:,}" for n in (r.test.first_better, r.test.second_better)),
                f"{r.test.p_value:.3g}",
            ]
            for r in rows
        ],
        said,
        {
            "compared": [
                {"examples": r.name, "tested": r.tested, "first_accuracy": r.first, "second_accuracy": r.second}
                | {"difference": r.first - r.second, **ends(r.interval), **asdict(r.test)}
                for r in rows
            ],
            "verdict": said,
        },
    )
