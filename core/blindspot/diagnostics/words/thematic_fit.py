"""Thematic fit, which stands in for selectional preference: is the typical patient of an event nearer than another?

Schnabel 2015, section 3.1, after Baroni, Dinu and Kruszewski 2014, correlates ratings of a noun as a verb's argument
with its cosine with the mean vector of the verb's most associated nouns. Those ratings (UP, McRae) are not public.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from blindspot.datasets.kinds.base import DatasetKind
from blindspot.datasets.kinds.relations import Events
from blindspot.diagnostic import Column, Cost, Diagnostic, DiagnosticResult, Overview, Reading, Score
from blindspot.diagnostics.words.analogy import PAGE, unit_rows
from blindspot.errors import BlindspotError
from blindspot.numerics.ranking.problem import TAU
from blindspot.types import CancelToken, Float32, Float64, Int64, Progress

if TYPE_CHECKING:
    from blindspot.numerics.statistics.compare import ItemScores
    from blindspot.runs.findings import Material
    from blindspot.runs.findings.evidence import Evidence
    from blindspot.store.records import RunRecord
    from blindspot.store.repository import Repository


@dataclass(frozen=True, eq=False)
class Fit:
    """Cosines of the typical and the atypical patient, ``[m, 2]`` each, with ...

    Attributes:
        event: the mean of the unit vectors of agent and verb.
        verb, agent: either alone.
        others: the mean of the unit vectors of the typical patients of the verb's other events; 0 without any.
        fillers: ``[m]``, the number of different patients in that mean.
    """

    event: Float64
    verb: Float64
    agent: Float64
    others: Float64
    fillers: Int64


def fit(embeddings: Float32 | Float64, events: Events) -> Fit:
    """Cosines of each event's two patients; an event's own patients are no fillers, even where other events have them.

    Args:
        embeddings: ``[n, d]``; a zero vector has cosine 0 with everything.
    """
    units = unit_rows(embeddings)
    patients = np.stack([events.typical, events.atypical], axis=1)
    agents, verbs = units[events.agents], units[events.verbs]
    m = len(events.verbs)
    others, fillers = np.zeros((m, units.shape[1])), np.zeros(m, dtype=np.int64)
    for verb in np.unique(events.verbs):
        of_verb = np.flatnonzero(events.verbs == verb)
        typical = np.unique(events.typical[of_verb])
        for event in of_verb.tolist():
            rivals = np.setdiff1d(typical, patients[event])
            fillers[event] = len(rivals)
            if len(rivals):
                others[event] = units[rivals].mean(axis=0)
    shown = units[patients]

    def cosines(with_: Float64) -> Float64:
        return np.asarray(np.einsum("mpd,md->mp", shown, unit_rows(with_)))

    return Fit(cosines(agents + verbs), cosines(verbs), cosines(agents), cosines(others), fillers)


def right(cosines: Float64, tau: float = TAU) -> Float64:
    """Per event ``[m]``: 1 if the typical patient's cosine is higher, 0 if lower, a half if they are tied."""
    apart = cosines[:, 0] - cosines[:, 1]
    return np.where(apart > tau, 1.0, np.where(apart < -tau, 0.0, 0.5))


def compute(
    embeddings: Float32 | Float64,
    dataset: Events,
    params: Mapping[str, str],  # noqa: ARG001 - it has none
    progress: Progress,
    cancel: CancelToken,
) -> DiagnosticResult:
    """Accuracy over all events by what the patients are compared with; see ``base.Compute``. Row i is event i.

    Raises:
        BlindspotError: the embeddings are not all finite.
    """
    if not np.isfinite(embeddings).all():
        raise BlindspotError("some embeddings contain NaN or infinite values", expected="finite numbers")
    cancel.check()
    m = len(dataset.verbs)
    progress("comparing", 0, m)
    fitted = fit(embeddings, dataset)
    hit, by_others, with_others = right(fitted.event), right(fitted.others), fitted.fillers > 0
    metrics = {
        "accuracy": float(hit.mean()),
        "accuracy_verb": float(right(fitted.verb).mean()),
        "accuracy_agent": float(right(fitted.agent).mean()),
    }
    if with_others.any():
        metrics["accuracy_fillers"] = float(by_others[with_others].mean())
    progress("comparing", m, m)
    return DiagnosticResult(
        metrics=metrics
        | {
            "advantage": float((fitted.event[:, 0] - fitted.event[:, 1]).mean()),
            "chance": 0.5,
            "cases": float(m),
            "verbs": float(len(np.unique(dataset.verbs))),
            "with_fillers": float(np.count_nonzero(with_others)),
            "tied_cases": float(np.count_nonzero(hit == 0.5)),
        },
        items=pa.table(
            {
                "hit": hit,
                "hit_verb": right(fitted.verb),
                "hit_agent": right(fitted.agent),
                "hit_fillers": by_others,
                "fillers": fitted.fillers,
                "cosine_typical": fitted.event[:, 0],
                "cosine_atypical": fitted.event[:, 1],
            },
            schema=ENTRY.schema,
        ),
        coverage={
            "events": m,
            "events_covered": m,
            "items": len(dataset.items),
            "items_covered": len(dataset.items),
        },
    )


class ThematicFit(Diagnostic):
    """The diagnostic Thematic fit."""

    id = "thematic_fit"
    version = 1
    title = "Thematic fit"
    question = (
        "Is what an agent typically does something to nearer than what it hardly does, as an award is to an actor "
        "who wins?"
    )
    how = r"""
An event has an agent, a verb, a **typical** and an **atypical** patient: *the actor won the award* (*the battle*). The
model is right if the typical patient has the higher cosine with

- **accuracy**: the mean of the unit vectors of agent and verb;
- **by verb**, **by agent**: either alone;
- **by fillers**: the mean of the unit vectors of the typical patients of the same verb's other events. That is the
  procedure of Baroni et al. 2014, which Schnabel et al. 2015 follow for *selectional preference*, with a set's own
  typical patients in place of a corpus's most associated nouns; of events whose verb has another one. The event's own
  patients are left out of the mean, the atypical one too where it is typical of another event.

Cosines within $10^{-6}$ are tied and count half; guessing reaches 0.5. Events with a word without a vector are left out
and counted (*coverage*). Events of one verb or one agent are not independent: intervals are
dyadic-robust where most events are connected by these.
"""
    how_to_read = """
- A model that knows only what goes with a verb is right by verb and by fillers; in DTFit both patients often go
  with the verb and only one with the agent, so that *by agent* is often better.
- Look at the events that a model gets wrong.
"""
    limits = """
- It stands in for the **selectional preference** of Schnabel's table 1, whose ratings (UP, McRae) are not public. The
  published correlations are of other data and another score: they do not compare with these accuracies.
- The file says which patient is typical, not how typical people rate it: there is no correlation with ratings.
- Verbs are compared in the past tense, as they are in the sentences.
"""
    citation = (
        "Kauf et al. 2023, Event Knowledge in Large Language Models (DTFit as published with it; Vassallo et al. "
        "2018); Schnabel, Labutov, Mimno and Joachims 2015, section 3.1; Baroni, Dinu and Kruszewski 2014, "
        "Don't count, "
        "predict!"
    )
    dataset_kind = DatasetKind.EVENTS
    parameters = ()
    columns = (
        Column("hit", pa.float64(), "1 if the typical patient is nearer to agent and verb, 0 if not, 0.5 if tied"),
        Column("hit_verb", pa.float64(), "the same with the verb alone"),
        Column("hit_agent", pa.float64(), "the same with the agent alone"),
        Column(
            "hit_fillers", pa.float64(), "the same with typical patients of the verb's other events; 0.5 without any"
        ),
        Column("fillers", pa.int64(), "number of these"),
        Column("cosine_typical", pa.float64(), "cosine of the typical patient with the mean of agent and verb"),
        Column("cosine_atypical", pa.float64(), "cosine of the atypical one"),
    )
    metrics = (
        Score("accuracy", "share of events whose typical patient is nearer to agent and verb", True),
        Score("accuracy_verb", "share of events whose typical patient is nearer to the verb", True),
        Score("accuracy_agent", "share of events whose typical patient is nearer to the agent", True),
        Score("accuracy_fillers", "share of events whose typical patient is nearer to the verb's other ones", True),
        Score("advantage", "mean cosine of typical patients less that of atypical ones", True, range=(-2.0, 2.0)),
        Score("chance", "accuracy of guessing", None),
        Score("cases", "events", None, is_count=True),
        Score("verbs", "different verbs", None, is_count=True),
        Score("with_fillers", "events whose verb has another typical patient", None, is_count=True),
        Score("tied_cases", "events whose two patients are tied", None, is_count=True),
    )
    headline = "accuracy"
    overview = Overview(
        "Typical patients nearer to the event (higher is better)",
        {
            "accuracy": "accuracy",
            "accuracy_verb": "by verb",
            "accuracy_agent": "by agent",
            "accuracy_fillers": "by fillers",
        },
        "See which events they get wrong",
        counted=("cases", "events"),
    )
    page = PAGE
    readings = (Reading("accuracy", "thematic fit"),)
    cost = Cost(
        units=lambda work: float(work.pairs) * work.dimension,
        units_of_run=lambda run: run.metrics.get("cases", 0.0) * run.dimension,
        seconds_per_unit={"": 1e-7},
    )
    two_in_address = {"view": "events", "events_of": "{dataset}"}
    won = ("events", "is right")
    item_in_address = {"view": "events", "events_of": "{dataset}", "events_by": "{a}"}
    compute = staticmethod(compute)

    def item_scores(self, runs: Sequence[RunRecord], repository: Repository) -> Sequence[Mapping[str, ItemScores]]:
        from blindspot.diagnostics.words.item_scores import scores_of_cases

        return scores_of_cases(runs, repository)

    def evidence(self, material: Material) -> Iterable[Evidence]:
        from blindspot.diagnostics.words.evidence_of_cases import of_cases

        return of_cases(material)


ENTRY = ThematicFit()
