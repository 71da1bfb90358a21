"""Evidence of Transfer and Probing: what can a classifier not learn from a model's vectors?

A task is learned if the accuracy is more than a tenth of the way from the majority class's to 1. The negation probe
asks for more: whether a sentence is negated decides what it means, so the least is halfway.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from blindspot.datasets.kinds.base import DatasetKind
from blindspot.diagnostic import Diagnostic, find_diagnostic
from blindspot.diagnostics.transfer.classifiers import MANY_CLASSES
from blindspot.diagnostics.transfer.definition import CLEAN
from blindspot.diagnostics.transfer.outcomes import Measure
from blindspot.diagnostics.transfer.tasks import DEMO, probe_asked, score
from blindspot.numerics.statistics import pairs as statistics
from blindspot.numerics.statistics.against import share_against, stored_against
from blindspot.numerics.statistics.intervals import ALPHA
from blindspot.numerics.statistics.pairs import Dependence
from blindspot.numerics.statistics.written import percent
from blindspot.runs.findings import MOST_EXAMPLES, Compared, Example, Material
from blindspot.runs.findings.baselines import AgainstBaseline, against_baselines, for_choice
from blindspot.runs.findings.evidence import Evidence, Fact
from blindspot.runs.findings.parts import Rows, Together, low_coverage, rows_of, together
from blindspot.runs.findings.rule import Rival
from blindspot.store.records import RunRecord
from blindspot.types import Bool

LEARNED, PROBED = 0.1, 0.5  # of the way from the majority to all right
LIFT = 0.005  # accuracy that overlap must add to be worth mentioning
FEWEST = 10  # examples of a class


def evidence(material: Material) -> Iterator[Evidence]:
    """See ``Diagnostic.evidence``."""
    if not material.runs:
        return
    entry = _entry(material.runs[0])
    yield from low_coverage(material.runs)
    for group in together(material):
        rows = rows_of(entry, group.every, material.repository)
        answers = Answers.of(group, rows) if rows.values else None
        rivals = {comparison.run.run_id: comparison.compared for comparison in answers.compared} if answers else {}
        for run in group.runs:
            yield from _learned(run, rivals.get(run.run_id))
            yield from _lifted(run)
        if answers:
            yield from _of_rows(group, rows, answers)


def _entry(run: RunRecord) -> Diagnostic:
    """Transfer or Probing."""
    return find_diagnostic(run.plan.diagnostic)


def _what(run: RunRecord) -> tuple[str, str]:
    """What a classifier reads or learns, and which of the two verbs fits."""
    if run.plan.dataset == DEMO:
        return "Negation", "read"
    if _entry(run).dataset_kind is not DatasetKind.PROBING:
        return "The classes", "learned"
    probe = probe_asked(run.plan.dataset)
    return (probe.title if probe else "The property"), "read"


# --- from the scores


def _learned(run: RunRecord, baseline: Compared | None) -> Iterator[Evidence]:
    accuracy = score(run, Measure.ACCURACY, overlap=True)
    if accuracy is None or accuracy.interval is None:
        return
    value, majority, tested = accuracy.value, run.metrics["majority"], int(run.metrics["tested"])
    is_half = run.plan.dataset == DEMO
    least = majority + (PROBED if is_half else LEARNED) * (1 - majority)
    p = stored_against(value, accuracy.interval, least) if 0 < least < 1 else np.nan
    if np.isnan(p):
        return
    what, verb = _what(run)
    asked = Compared(Rival.ASKED, value - least, p)
    chance = Compared(Rival.CHANCE, value - majority, stored_against(value, accuracy.interval, majority))
    against = (asked, chance, *([baseline] if baseline else []))
    facts: dict[str, Fact] = {"what": what, "verb": verb, "chance": majority, "least": least, "is_half": is_half}
    yield Evidence("learned", (run,), accuracy, tested, against=against, facts=facts)


def _lifted(run: RunRecord) -> Iterator[Evidence]:
    m = run.metrics
    without = m.get(f"accuracy{CLEAN}")
    if without is None or not m["overlap"] or m["accuracy"] - without < LIFT:
        return
    facts: dict[str, Fact] = {
        "overlap": int(m["overlap"]),
        "in_training": m["trained"] < run.coverage["examples_covered"],
        "without": without,
        "accuracy": m["accuracy"],
    }
    yield Evidence("lifted-by-overlap", (run,), m["accuracy"] - without, int(m["tested"]), facts=facts)


# --- from the rows


@dataclass(frozen=True, eq=False)
class Answers:
    """The examples, and what runs predicted for them, ``[n]`` each.

    Attributes:
        known: which examples are independent.
        compared: the runs against the best baseline.
    """

    label: np.ndarray[Any, Any]
    known: Dependence
    predicted: Mapping[str, np.ndarray[Any, Any]]
    compared: Sequence[AgainstBaseline]

    @classmethod
    def of(cls, group: Together, rows: Rows) -> Answers:
        about = rows.about
        texts = [about[name].fillna("").tolist() for name in ("first", "second") if about[name].notna().any()]
        dependence = Dependence.of_texts(*texts)
        label = about["label"].to_numpy(dtype=object)
        predicted = {
            run.run_id: rows.words(run.run_id, "predicted") for run in group.every if run.run_id in rows.values
        }
        here = np.logical_and.reduce([rows.has(run_id) for run_id in predicted])
        if not here.any():
            return cls(label, dependence, predicted, [])
        right = {run_id: (answers == label)[here].astype(np.float64) for run_id, answers in predicted.items()}
        runs, baselines = ([run for run in some if run.run_id in right] for some in (group.runs, group.baselines))
        majority = group.runs[0].metrics.get("majority", 0.0)
        compared = against_baselines(runs, baselines, right, dependence.among(here), majority)
        return cls(label, dependence, predicted, compared)


def _of_rows(group: Together, rows: Rows, answers: Answers) -> Iterator[Evidence]:
    best = {comparison.run.run_id: answers.predicted[comparison.best.run_id] for comparison in answers.compared}
    for run in group.runs:
        if run.run_id in answers.predicted:
            yield from _classes(run, rows, answers, best.get(run.run_id), len(group.baselines))
    for compared in answers.compared:
        yield from _against_baseline(compared, rows, answers)


def _classes(
    run: RunRecord, rows: Rows, answers: Answers, of_baseline: np.ndarray[Any, Any] | None, baselines: int
) -> Iterator[Evidence]:
    """Classes that are recognized less often than by guessing each class as often as it occurs. None for a task of many
    classes, since each has few examples.

    A classifier that knows nothing always guesses the class that is frequent in training: that alone is a caution.
    """
    label, predicted = answers.label, answers.predicted[run.run_id]
    here = rows.has(run.run_id)
    if len(set(label[here])) >= MANY_CLASSES:
        return
    tested = int(np.count_nonzero(here))
    for name in sorted(set(label[here])):
        of_class = here & (label == name)
        examples = int(np.count_nonzero(of_class))
        share = examples / tested
        if examples < FEWEST or examples == tested:
            continue
        right = predicted[of_class] == name
        estimate, p = share_against(right.astype(np.float64), answers.known.among(of_class), share, tested)
        if np.isnan(p):
            continue
        fewer = Compared(Rival.ASKED, estimate.value - share, p)
        lead, p = _informed(str(name), answers, here, predicted, of_baseline)
        yield Evidence(
            "class-missed-{label}",
            (run,),
            estimate,
            estimate.units,
            against=(fewer, *([] if np.isnan(lead) else [Compared(Rival.BASELINE, lead, for_choice(p, baselines))])),
            facts={
                "label": str(name),
                "never": not (predicted[here] == name).any(),
                "examples": examples,
                "share": share,
            },
            examples=_surest(run, rows, label, of_class & (predicted != name)) if fewer.behind < ALPHA else (),
        )


def _informed(
    name: str, answers: Answers, here: Bool, predicted: np.ndarray[Any, Any], of_baseline: np.ndarray[Any, Any] | None
) -> tuple[float, float]:
    """How much better than the best baseline a class is recognized, and the p-value of that; NaN without a baseline.

    We compare how much more often the class is predicted where it is right than where it is not (Youden 1950), since
    classifiers without knowledge also differ in how often they predict a class.
    """
    if of_baseline is None or any(answer is None for answer in of_baseline[here]):
        return np.nan, np.nan
    is_right = (answers.label == name)[here]
    weight = np.where(is_right, 1 / is_right.mean(), -1 / (~is_right).mean())
    apart = weight * ((predicted == name)[here].astype(np.float64) - (of_baseline == name)[here])
    dependence = answers.known.among(here)
    return float(apart.mean()), float(
        statistics.p_values(apart[:, np.newaxis], dependence, float(np.abs(weight).max()))[0]
    )


def _against_baseline(against: AgainstBaseline, rows: Rows, answers: Answers) -> list[Evidence]:
    """The finding against a baseline; the examples of a worse run are its surest mistakes that the baseline avoids."""
    label, predicted = answers.label, answers.predicted
    examples: tuple[Example, ...] = ()
    if against.p < ALPHA and against.score < against.reached:
        mistakes = (predicted[against.run.run_id] != label) & (predicted[against.best.run_id] == label)
        examples = _surest(against.run, rows, label, mistakes)
    return against.evidence(examples=examples, of_negation=against.run.plan.dataset == DEMO)


def _surest(run: RunRecord, rows: Rows, label: np.ndarray[Any, Any], wrong: Bool) -> tuple[Example, ...]:
    """The surest of the ``wrong [n]`` answers."""
    probability = np.where(wrong, rows.numbers(run.run_id, "probability"), -1.0)
    few = np.argsort(-probability, kind="stable")[:MOST_EXAMPLES]
    few = few[wrong[few]]
    predicted = rows.words(run.run_id, "predicted")
    out = []
    for number in few:
        row = rows.about.iloc[number]
        texts = [("text", str(row["first"]))]
        if isinstance(row["second"], str):
            texts = [("first text", str(row["first"])), ("second text", row["second"])]
        note = f"is '{label[number]}', predicted '{predicted[number]}' with {percent(probability[number])}"
        out.append(Example(tuple(texts), note))
    return tuple(out)
