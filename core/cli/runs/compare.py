"""``python -m core runs compare`` and ``runs scores``: how sure are scores, do two runs differ by more than chance?"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict
from enum import StrEnum
from typing import Annotated, Any

import typer

from core import diagnostic as diagnostics
from core.cli import output
from core.cli.runs.finished import finished_run
from core.diagnostic import in_words
from core.diagnostics.evalrank import pairs as explore
from core.diagnostics.evalrank import uncertainty as numbers
from core.diagnostics.heros import comparison
from core.diagnostics.transfer.outcomes import outcomes
from core.diagnostics.transfer.paired import Paired
from core.errors import InputError
from core.numerics.statistics.estimate import Estimate
from core.numerics.statistics.intervals import Interval
from core.settings import Settings
from core.store.records import RunRecord
from core.store.repository import Repository


class Ranks(StrEnum):
    """Which ranks of EvalRank."""

    RAW = "raw"
    FILTERED = "filtered"


def compare(
    first: Annotated[str, typer.Argument(metavar="RUN_A", help="a run id, or how it begins")],
    second: Annotated[str, typer.Argument(metavar="RUN_B", help="another, over the same content")],
    ranks: Annotated[Ranks, typer.Option(help="of evalrank: which ranks")] = Ranks.RAW,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object on stdout.")] = False,
) -> None:
    """Whether two runs differ by more than chance, item by item."""
    repository = Repository.at(Settings.from_environment().store)
    one, other = repository.run(first), repository.run(second)
    entry = comparison.entry_of_both(one, other)
    if entry.id not in COMPARISONS:
        raise InputError(
            f"runs of {entry.id} cannot be compared", expected=f"two runs of {' or '.join(sorted(COMPARISONS))}"
        )
    COMPARISONS[entry.id](one, other, repository, ranks, as_json)


def scores(
    run_ids: Annotated[list[str], typer.Argument(metavar="RUN...", help="runs of evalrank over one dataset")],
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object on stdout.")] = False,
) -> None:
    """EvalRank's scores with 95% intervals that respect that pairs share texts."""
    repository = Repository.at(Settings.from_environment().store)
    runs = list({run.run_id: run for run in map(repository.run, run_ids)}.values())
    entry = diagnostics.find("evalrank")
    for run in runs:
        finished_run(run.run_id, repository, entry.id)
        if run is not runs[0]:
            comparison.entry_of_both(runs[0], run)
    table = explore.pair_table(entry, [run.run_id for run in runs], repository)
    found = numbers.samples(table, [run.run_id for run in runs], numbers.WITH_INTERVAL)
    estimates = {run_id: rows for sample in found for run_id, rows in sample.estimates().items()}
    methods = {run_id: sample for sample in found for run_id in sample.run_ids}
    if as_json:
        output.print_json(
            {
                "runs": [
                    _named(run)
                    | {"dataset": run.plan.dataset, **_independent(methods[run.run_id])}
                    | {"pairs": len(methods[run.run_id].queries)}
                    | {"scores": {m: _scored(e) for m, e in estimates[run.run_id].items()}}
                    for run in runs
                ]
            }
        )
        return
    output.print_table(
        f"EvalRank on {runs[0].plan.dataset}, with 95% intervals",
        ["score", *(f"{run.plan.variant.label}\n{in_words(run.plan.params)}" for run in runs)],
        [
            [metric, *(_estimate(metric, estimates[run.run_id][metric]) for run in runs)]
            for metric in _metrics_in_order()
        ],
    )
    for said in dict.fromkeys(numbers.method_in_words(sample) for sample in found):
        output.print_text(said)
    if len(found) > 1:
        output.print_text("These runs ranked different pairs: their scores are not comparable.")


def _metrics_in_order() -> list[str]:
    return [m.name for m in diagnostics.find("evalrank").metrics if m.name in numbers.WITH_INTERVAL]


def _independent(sample: numbers.Sample) -> dict[str, object]:
    """What the intervals take for independent, and how many of them there are."""
    known = sample.dependence
    return {"independent": {"unit": known.unit.value, "units": known.units, "effective": known.effective}}


def _scored(estimate: Estimate) -> dict[str, object]:
    return {"value": estimate.value, **_ends(estimate.interval), "no_interval": estimate.refusal or None}


def _estimate(metric: str, estimate: Estimate) -> str:
    value = numbers.shown(metric, estimate.value)
    return value if estimate.interval is None else f"{value} {numbers.shown_interval(metric, estimate.interval)}"


def _ends(interval: Interval | None) -> dict[str, float | None]:
    return {"low": interval.low, "high": interval.high} if interval else {"low": None, "high": None}


def _evalrank(first: RunRecord, second: RunRecord, repository: Repository, ranks: Ranks, as_json: bool) -> None:
    if first.plan.params["protocol"] != second.plan.params["protocol"]:
        raise InputError(
            f"run {first.run_id} is by the protocol {first.plan.params['protocol']}, "
            f"run {second.run_id} by {second.plan.params['protocol']}",
            expected="two runs by one protocol: ranks are counted differently",
        )
    ids = [first.run_id, second.run_id]
    table = explore.pair_table(diagnostics.find("evalrank"), ids, repository)
    suffix = "" if ranks is Ranks.RAW else "_filtered"
    metrics = [f"{metric}{suffix}" for metric in numbers.COMPARED]
    sample = numbers.one_sample(table, ids, metrics)
    differences = numbers.against(sample, second.run_id, metrics)
    words = numbers.summary(differences, {metric: metric for metric in metrics})
    said = [f"{_label(first)} against {_label(second)}: {words}", numbers.method_in_words(sample)]
    if as_json:
        rows = [
            {"metric": (m := d.contrast.metric), "first": sample.value(ids[0], m), "second": sample.value(ids[1], m)}
            | {
                "difference": d.value,
                **_ends(d.interval),
                "no_interval": d.estimate.refusal or None,
                "p_value": d.p_value,
                "p_corrected": d.p_corrected,
            }
            | {"smallest_detectable": d.smallest, "wins": d.wins, "ties": d.ties, "losses": d.losses}
            | {"verdict": d.verdict.value}
            for d in differences
        ]
        method = {"ranks": ranks.value, **_independent(sample), "pairs": len(sample.queries)}
        output.print_json(_both(first, second) | method | {"metrics": rows, "verdict": said})
        return
    output.print_table(
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
    )
    duel = differences[0]
    said.insert(1, f"Pairs that A ranks better: {duel.wins:,}, alike: {duel.ties:,}, worse: {duel.losses:,}.")
    print("\n".join(said))


def _label(run: RunRecord) -> str:
    """The variant, and the similarity where it is not the usual one."""
    metric = run.plan.params["metric"]
    return run.plan.variant.label if metric == "cos" else f"{run.plan.variant.label} ({metric})"


def _heros(first: RunRecord, second: RunRecord, repository: Repository, ranks: Ranks, as_json: bool) -> None:
    if ranks is not Ranks.RAW:
        raise InputError("HEROS has no filtered ranks", expected="--ranks only with runs of evalrank")
    tests = comparison.compare_orderings(first, second, repository)
    one, other = (run.plan.variant.label for run in (first, second))
    said = comparison.verdict(tests, one, other)
    if as_json:
        orderings = [
            {"ordering": str(t.ordering), "first_rate": t.first_rate, "second_rate": t.second_rate}
            | {"difference": t.difference, **asdict(t.test), "p_corrected": t.p_corrected}
            for t in tests
        ]
        output.print_json(_both(first, second) | {"orderings": orderings, "verdict": said})
        return
    output.print_table(
        f"HEROS on {first.plan.dataset}: A is {one}, B is {other}",
        ["ordering", "A", "B", "A - B", "only A", "only B", "alike", "p (McNemar)", "p (Holm)"],
        [
            [
                str(t.ordering),
                *(f"{rate:.4f}" for rate in (t.first_rate, t.second_rate)),
                f"{t.difference:+.4f}",
                *(str(n) for n in (t.test.first_better, t.test.second_better, t.test.alike)),
                *(f"{p:.3g}" if t.is_tested else "–" for p in (t.test.p_value, t.p_corrected)),
            ]
            for t in tests
        ],
    )
    print("\n".join(said))


def _both(first: RunRecord, second: RunRecord) -> dict[str, Any]:
    """What is compared with what."""
    runs = {name: _named(r) for name, r in (("first", first), ("second", second))}
    return {"diagnostic": first.plan.diagnostic, "dataset": first.plan.dataset, **runs}


def _named(run: RunRecord) -> dict[str, Any]:
    return {"run_id": run.run_id, "encoder": run.plan.variant.encoder, "transform": run.plan.variant.transform}


def _transfer(first: RunRecord, second: RunRecord, repository: Repository, ranks: Ranks, as_json: bool) -> None:
    if ranks is not Ranks.RAW:
        raise InputError("transfer has no filtered ranks", expected="--ranks only with runs of evalrank")
    one, other = first.plan.variant.label, second.plan.variant.label
    if (kinds := [run.plan.params["classifier"] for run in (first, second)])[0] != kinds[1]:
        one, other = f"{one} ({kinds[0]})", f"{other} ({kinds[1]})"
    found = outcomes(diagnostics.find("transfer"), [first.run_id, second.run_id], repository)
    rows = [Paired.of(found, first.run_id, second.run_id, "all")]
    if found.repeated.any() and not found.repeated.all():
        rows.append(Paired.of(found.without_overlap(), first.run_id, second.run_id, "without overlap"))
    said = [row.in_words(one, other) for row in rows]
    if as_json:
        examples = [
            {"examples": r.name, "tested": r.tested, "first_accuracy": r.first, "second_accuracy": r.second}
            | {"difference": r.first - r.second, **_ends(r.interval), **asdict(r.test)}
            for r in rows
        ]
        output.print_json(_both(first, second) | {"compared": examples, "verdict": said})
        return
    output.print_table(
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
    )
    print("\n".join(said))


# Per diagnostic, what prints the comparison of two of its runs.
COMPARISONS: Mapping[str, Callable[[RunRecord, RunRecord, Repository, Ranks, bool], None]] = {
    "evalrank": _evalrank,
    "heros": _heros,
    "transfer": _transfer,
}
