"""Best of some runs on one dataset: its score, the significantly worse ones, its cost."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from blindspot.datasets.catalog import title_of
from blindspot.diagnostic import Diagnostic, GridRole
from blindspot.numerics.statistics.compare import PairedTest, Verdict
from blindspot.numerics.statistics.estimate import Estimate
from blindspot.numerics.statistics.intervals import Interval, chosen_among
from blindspot.numerics.statistics.written import number, with_ci
from blindspot.runs.comparison import headline_tests
from blindspot.store.records import RunRecord
from blindspot.store.repository import Repository
from blindspot.texts import counted

NAMED = 2  # models that the sentence names


@dataclass(frozen=True)
class Best:
    """The first of some runs, which are sorted best first, against the others.

    Attributes:
        label: of the score.
        estimate: the best one's score; of many models its interval allows for the choice. None where it has none.
        intervals: 95% intervals of the scores, by run id, where there are any.
        alike: runs without a significant difference from the best; None where that was not tested.
        refusal: why it was not tested, or "".
    """

    entry: Diagnostic
    runs: tuple[RunRecord, ...]
    label: str
    estimate: Estimate | None
    intervals: Mapping[str, Interval]
    alike: tuple[RunRecord, ...] | None
    refusal: str

    @property
    def best(self) -> RunRecord:
        return self.runs[0]

    @property
    def others(self) -> tuple[RunRecord, ...]:
        return self.runs[1:]


def best_of(entry: Diagnostic, runs: Sequence[RunRecord], repository: Repository) -> Best:
    """The best run by the headline score, tested against every other on the same items.

    Args:
        runs: finished runs on one dataset with the same parameters, best first; at least one has the headline score.
    """
    first = untested(entry, runs)
    best, *others = first.runs
    paired = [run for run in others if _items(run) == _items(best)]
    run_ids = repository.with_items(entry, [run.run_id for run in (best, *paired)])
    if best.run_id not in run_ids:
        return replace(first, refusal="their rows are not in the store" if paired else "")
    first = replace(first, estimate=_estimate(entry, first.runs, repository))
    paired = [run for run in paired if run.run_id in run_ids]
    tests = headline_tests(entry, [(best, run) for run in paired], repository) if paired else []
    intervals = _intervals(best, paired, tests)
    is_tested = len(paired) == len(others) and all(test.p_corrected is not None for test in tests)
    if not is_tested:
        refusal = next((test.refusal for test in tests if test.refusal), "they were tested on different texts")
        return replace(first, intervals=intervals, refusal=refusal)
    alike = tuple(run for run, test in zip(paired, tests, strict=True) if test.verdict is not Verdict.BETTER)
    return replace(first, intervals=intervals, alike=alike)


def _estimate(entry: Diagnostic, runs: Sequence[RunRecord], repository: Repository) -> Estimate | None:
    """The headline score of the first, which was chosen as the best of all."""
    (scores,) = entry.item_scores(runs[:1], repository)
    if entry.headline not in scores:
        return None
    return scores[entry.headline].best_of(chosen_among(len(runs)))


def untested(entry: Diagnostic, runs: Sequence[RunRecord]) -> Best:
    """As ``best_of``, without intervals and tests, which take time; for runs of which one has the headline score."""
    scored = tuple(run for run in runs if entry.headline in run.metrics)
    return Best(entry, scored, entry.title_of(entry.headline), None, {}, None, "")


def _items(run: RunRecord) -> tuple[str, str]:
    return run.plan.dataset_digest, run.plan.covered_digest


def _intervals(best: RunRecord, others: Sequence[RunRecord], tests: Sequence[PairedTest]) -> dict[str, Interval]:
    out = {run.run_id: test.b_interval for run, test in zip(others, tests, strict=True)}
    out |= {best.run_id: tests[0].a_interval} if tests else {}
    return {run_id: interval for run_id, interval in out.items() if interval is not None}


# --- in words


def at_first(best: Best) -> str:
    """One sentence of the best model while it is tested."""
    name, dataset = best.best.plan.variant.label, title_of(best.best.plan.dataset)
    end = "lowest" if best.entry.headline_is_lower_better else "highest"
    score = f"{best.label} {number(best.best.metrics[best.entry.headline], '.3f')}"
    others = counted(len(best.others), "other model")
    return f"{name} has the {end} {score} on {dataset}. Testing its difference from {others} …"


def verdict(best_here: Best) -> str:
    """One sentence: the best model, its score with the interval, and whether the others are significantly worse."""
    best = best_here.best
    name, dataset = best.plan.variant.label, title_of(best.plan.dataset)
    score = best_here.estimate
    value_text = number(best.metrics[best_here.entry.headline], ".3f") if score is None else with_ci(score, ".3f")
    value = f"{best_here.label} {value_text}"
    if not best_here.others:
        return f"{name}: {value} on {dataset}. Run another model to compare."
    if not _ranks(best_here.entry):
        end = "lowest" if best_here.entry.headline_is_lower_better else "highest"
        return f"{name} has the {end} {value} on {dataset}. This score describes a model; it does not rank models."
    top = f"{name} has the best {best_here.entry.title} score on {dataset}: {value}"
    if best_here.alike is None:
        why = f": {best_here.refusal}" if best_here.refusal else ""
        return f"{top}. The differences are not tested{why}."
    worse = len(best_here.others) - len(best_here.alike)
    if not best_here.alike:
        rest = "the other model" if worse == 1 else f"all {worse} others"
        return f"{name} is best by {best_here.entry.title} on {dataset}: {value}, significantly better than {rest}."
    named = [run.plan.variant.label for run in best_here.alike[:NAMED]]
    if more := len(best_here.alike) - len(named):
        named.append(f"{more} more")
    rest = f" It is significantly better than the other {worse}." if worse else ""
    names = f"{', '.join(named[:-1])} and {named[-1]}" if len(named) > 1 else named[0]
    return f"{top}. There is no significant difference from {names}.{rest}"


def _ranks(entry: Diagnostic) -> bool:
    """Whether the headline says which model is better."""
    declared = entry.declared(entry.headline)
    return declared is not None and declared.higher_is_better is not None and entry.grid is not GridRole.DESCRIPTION


def cost(best_here: Best) -> str:
    """The size of the best model; "" if nothing is known."""
    best = best_here.best
    parts = []
    if best.memory_bytes:
        parts.append(f"{best.memory_bytes / 1e6:,.0f} MB")
    dimension = best.manifest.get("encoder", {}).get("dimension", best.dimension)
    if dimension:
        parts.append(counted(int(dimension), "dimension"))
    return f"Cost: {', '.join(parts)}." if parts else ""
