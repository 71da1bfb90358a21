"""Do two runs of EvalRank differ by more than chance, score by score?"""

from __future__ import annotations

from core.diagnostics.evalrank import uncertainty as numbers
from core.diagnostics.evalrank.definition import ENTRY
from core.diagnostics.evalrank.pairs import pair_table
from core.errors import InputError
from core.runs.comparison import Comparison, ends
from core.store.records import RunRecord
from core.store.repository import Repository


def compare(first: RunRecord, second: RunRecord, repository: Repository, *, filtered: bool) -> Comparison:
    """See ``core.runs.comparison.Compare``."""
    if first.plan.params["protocol"] != second.plan.params["protocol"]:
        raise InputError(
            f"run {first.run_id} is by the protocol {first.plan.params['protocol']}, "
            f"run {second.run_id} by {second.plan.params['protocol']}",
            expected="two runs by one protocol: ranks are counted differently",
        )
    ids = [first.run_id, second.run_id]
    table = pair_table(ENTRY, ids, repository)
    ranks, suffix = ("filtered", "_filtered") if filtered else ("raw", "")
    metrics = [f"{metric}{suffix}" for metric in numbers.COMPARED]
    sample = numbers.one_sample(table, ids, metrics)
    differences = numbers.against(sample, second.run_id, metrics)
    words = numbers.summary(differences, {metric: metric for metric in metrics})
    said = [f"{_label(first)} against {_label(second)}: {words}", numbers.method_in_words(sample)]
    duel = differences[0]
    wins = f"Pairs that A ranks better: {duel.wins:,}, alike: {duel.ties:,}, worse: {duel.losses:,}."
    return Comparison(
        f"EvalRank on {first.plan.dataset}, {ranks} ranks: A is {_label(first)}, B is {_label(second)}",
        ["score", "A", "B", "A - B", "95% interval", "p", "p (Holm)", "smallest detectable", "A is"],
        [
            [
                (m := d.contrast.metric),
                *(numbers.shown(m, sample.value(run_id, m)) for run_id in ids),
                numbers.shown(m, d.value, sign=True),
                numbers.shown_interval(m, d.interval, sign=True),
                *("–" if p is None else f"{p:.4f}" for p in (d.p_value, d.p_corrected)),
                "–" if d.smallest is None else numbers.shown(m, d.smallest),
                d.verdict.value,
            ]
            for d in differences
        ],
        [said[0], wins, said[1]],
        {
            "ranks": ranks,
            **independent(sample),
            "pairs": len(sample.queries),
            "metrics": [
                {
                    "metric": (m := d.contrast.metric),
                    "first": sample.value(ids[0], m),
                    "second": sample.value(ids[1], m),
                }
                | {"difference": d.value, **ends(d.interval), "no_interval": d.estimate.refusal or None}
                | {"p_value": d.p_value, "p_corrected": d.p_corrected}
                | {"smallest_detectable": d.smallest, "wins": d.wins, "ties": d.ties, "losses": d.losses}
                | {"verdict": d.verdict.value}
                for d in differences
            ],
            "verdict": said,
        },
    )


def independent(sample: numbers.Sample) -> dict[str, object]:
    """What the intervals take for independent, and how many of them there are."""
    known = sample.dependence
    return {"independent": {"unit": known.unit.value, "units": known.units, "effective": known.effective}}


def _label(run: RunRecord) -> str:
    """The variant, and the similarity where it is not the usual one."""
    metric = run.plan.params["metric"]
    return run.plan.variant.label if metric == "cos" else f"{run.plan.variant.label} ({metric})"
