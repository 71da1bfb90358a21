"""Evidence of HEROS: changes of meaning that a run misses, those that it sees, and what a lexical baseline gets right.

What is tested of a run is fixed before its rows are read, so that the p-values can be corrected for all that was looked
at (``blindspot.runs.findings``): for every listed ordering of a kept and a changed meaning, whether the changed one is
nearer in more than half of the originals; for all orderings at once, which ones hold in more than three of four; the
share of orderings that are right against the best baseline's; and the score against the best measure of shared words.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from types import MappingProxyType

import numpy as np

from blindspot.datasets.kinds.minimal_pairs import after_the, subset_in_words
from blindspot.diagnostics.heros import browsing, words_alone
from blindspot.diagnostics.heros.browsing import Sentences
from blindspot.diagnostics.heros.definition import ENTRY, picks, right_of
from blindspot.diagnostics.heros.orderings import HALF, Cosines, Ordering, tested
from blindspot.numerics.ranking.problem import TAU
from blindspot.numerics.statistics.intervals import ALPHA, level_of_each, p_of_more
from blindspot.numerics.statistics.pairs import Dependence, observations, sure_share
from blindspot.runs.default_models import KNOW_NO_MEANING
from blindspot.runs.findings import MOST_EXAMPLES, Compared, Example, Material
from blindspot.runs.findings.baselines import ALL, AgainstWords, against_baselines, best_rival
from blindspot.runs.findings.evidence import Evidence, Fact
from blindspot.runs.findings.rule import Rival, by_chance
from blindspot.store.records import RunRecord
from blindspot.store.repository import Repository
from blindspot.texts import Ranges, changed_ranges
from blindspot.types import Float64

CLEARLY = 0.75  # of the originals: what holds in more of them is a strength
MOST_NAMED = 3  # orderings in one sentence


def evidence(material: Material) -> Iterator[Evidence]:
    """See ``Diagnostic.evidence``; raises ``BlindspotError`` if a run's stored rows are incomplete."""
    every = {run.run_id: run for run in (*material.runs, *material.baselines)}
    rows = material.repository.items(ENTRY, list(every), texts=False)
    by_run = dict(tuple(rows.groupby("run_id"))) if every else {}
    same_texts = cache(material.repository.same_texts)
    cosines = {
        run_id: Cosines.of_rows(by_run[run_id], same_texts(run.plan.dataset_digest))
        for run_id, run in every.items()
        if run_id in by_run
    }
    texts = Texts(material.repository)
    alone = _alone(material, cosines, texts)
    for run in material.runs:
        if run.run_id in cosines:
            rivals = _rivals(run, material.baselines, cosines, alone)
            yield from of_run(run, cosines[run.run_id], texts, rivals)
    words = _against_words(material, cosines, alone)
    lexical = {run_id: baseline.compared for run_id, baseline in words.items()}
    yield from of_baselines(material.runs, material.baselines, cosines, lexical)
    for run in material.runs:
        if baseline := words.get(run.run_id):
            judged = words_alone.judged(cosines[run.run_id].subsets)
            yield from baseline.evidence(run, judged=judged, unit=str(cosines[run.run_id].dependence.unit))


def _alone(material: Material, cosines: Mapping[str, Cosines], texts: Texts) -> Mapping[str, words_alone.Alone]:
    """What words alone say about each dataset with a right order, by its digest."""
    first = {run.plan.dataset_digest: run for run in reversed(material.runs) if run.run_id in cosines}
    return {
        digest: words_alone.of_words(texts.of(run, cosines[run.run_id].subsets))
        for digest, run in first.items()
        if words_alone.is_scored(cosines[run.run_id].subsets)
    }


def _rivals(
    run: RunRecord,
    baselines: Sequence[RunRecord],
    cosines: Mapping[str, Cosines],
    alone: Mapping[str, words_alone.Alone],
) -> list[Cosines]:
    """Cosines that know only spelling and words, on a run's originals; empty if the run itself is a baseline."""
    digest = run.plan.dataset_digest
    if run.plan.variant.encoder in KNOW_NO_MEANING:
        return []
    baseline_cosines = [cosines[b.run_id] for b in baselines if b.plan.dataset_digest == digest and b.run_id in cosines]
    return [*baseline_cosines, *(alone[digest].cosines.values() if digest in alone else ())]


# --- one run


@dataclass
class Texts:
    """Sentences of the datasets, read when the first example is asked for."""

    repository: Repository
    _read: dict[str, Sentences] = field(default_factory=dict)

    def of(self, run: RunRecord, subsets: Sequence[str]) -> Sentences:
        digest = run.plan.dataset_digest
        if digest not in self._read:
            rows = self.repository.items(ENTRY, [run.run_id], texts=True)
            self._read[digest] = browsing.sentences(rows, subsets)
        return self._read[digest]


def of_run(
    run: RunRecord, cosines: Cosines, texts: Texts | None = None, rivals: Sequence[Cosines] = ()
) -> Iterator[Evidence]:
    """What a run's cosines say; without ``texts`` there are no examples.

    Args:
        rivals: cosines that know only spelling and words, on the same originals; a strength must beat them.
    """
    orderings = tested(cosines.subsets)
    for ordering in orderings:
        yield _missed(run, cosines, ordering, texts)
    if orderings:
        yield _kept_apart(run, cosines, orderings, rivals)
    if right_of(cosines.subsets):
        yield _below_guessing(run, cosines)


def _missed(run: RunRecord, cosines: Cosines, ordering: Ordering, texts: Texts | None) -> Evidence:
    """Whether the changed meaning is nearer in more than half of the originals."""
    outcomes = 1.0 - cosines.outcomes(ordering)
    n, dependence = len(outcomes), cosines.dependence
    wrong = sure_share(outcomes, dependence)
    decided = outcomes != HALF
    against = by_chance(HALF - wrong.value, _p_of_more(outcomes[decided], dependence.among(decided), HALF))
    examples, numbers = _examples(run, cosines, ordering, texts) if texts and against[0].p < ALPHA else ((), ())
    facts: dict[str, Fact] = {
        "changed": ordering.far,
        "kept": ordering.near,
        **_in_words(ordering),
        "units": _counted(dependence),
        "item": str(numbers[0]) if numbers else "",
    }
    return Evidence("{changed}-nearer-than-{kept}", (run,), wrong, n, against=against, facts=facts, examples=examples)


def _in_words(ordering: Ordering) -> dict[str, Fact]:
    return {"near": after_the(ordering.near), "far": after_the(ordering.far)}


def _examples(
    run: RunRecord, cosines: Cosines, ordering: Ordering, texts: Texts
) -> tuple[tuple[Example, ...], tuple[int, ...]]:
    """The originals with the largest wrong margins, and their numbers."""
    near, far = cosines.of(ordering.near), cosines.of(ordering.far)
    worst = np.argsort(near - far, kind="stable")[:MOST_EXAMPLES]
    worst = worst[far[worst] - near[worst] > TAU]
    sentences = texts.of(run, cosines.subsets)
    roles = [subset_in_words(subset) for subset in (ordering.near, ordering.far)]
    out = []
    for number in worst.tolist():
        original = sentences.originals[number]
        kept, changed = (sentences.rewrites[number][sentences.column(s)] for s in (ordering.near, ordering.far))
        removed, added = zip(*(changed_ranges(original, rewrite) for rewrite in (kept, changed)), strict=True)
        out.append(
            Example(
                (("original", original), (roles[0], kept), (roles[1], changed)),
                f"Cosine with the {roles[0]} {near[number]:.3f}, with the {roles[1]} {far[number]:.3f}.",
                (_merged([*removed[0], *removed[1]]), *added),
            )
        )
    return tuple(out), tuple(int(sentences.numbers[number]) for number in worst)


def _merged(ranges: Sequence[tuple[int, int]]) -> Ranges:
    """Ranges in order; ranges that touch are joined."""
    out: list[tuple[int, int]] = []
    for start, end in sorted(ranges):
        if out and start <= out[-1][1]:
            out[-1] = (out[-1][0], max(end, out[-1][1]))
        else:
            out.append((start, end))
    return tuple(out)


def _kept_apart(run: RunRecord, cosines: Cosines, orderings: Sequence[Ordering], rivals: Sequence[Cosines]) -> Evidence:
    """The orderings that hold in clearly more than half of the originals, and more often than by words, as one finding.

    Each is tested and has its interval at a level divided by their number (Bonferroni), so that the results may decide
    which ones are named. The p-value is the largest of the named ones.
    """
    n, many, dependence = cosines.originals, len(orderings), cosines.dependence
    right = {ordering: cosines.outcomes(ordering) for ordering in orderings}
    sure = {o: sure_share(outcomes, dependence, level_of_each(many)) for o, outcomes in right.items()}
    against = {
        o: (
            Compared(Rival.ASKED, sure[o].value - CLEARLY, min(1.0, many * _p_of_more(outcomes, dependence, CLEARLY))),
            *best_rival(outcomes, [rival.outcomes(o) for rival in rivals], dependence, of=many),
        )
        for o, outcomes in right.items()
    }
    p = {o: max(comparison.ahead for comparison in compared) for o, compared in against.items()}
    order = sorted(orderings, key=lambda o: -sure[o].value)
    named = [o for o in order if p[o] < ALPHA][:MOST_NAMED] or order[:1]
    best = named[0]
    orders: list[Mapping[str, Fact]] = [
        {**_in_words(o), "is_same": o.near == best.near, "share": sure[o]} for o in named
    ]
    facts: dict[str, Fact] = {
        **_in_words(best),
        "orders": orders,
        "units": _counted(dependence),
        "choices": many if many > 1 else 0,
        "rivals": len(rivals),
    }
    compared = tuple(comparison for o in named for comparison in against[o])
    return Evidence("meaning-kept-apart", (run,), sure[best], n, against=compared, facts=facts)


def _below_guessing(run: RunRecord, cosines: Cosines) -> Evidence:
    """Whether the right rewrite is found among the rewrites less often than by guessing."""
    values, k = cosines.values, len(cosines.subsets)
    right = right_of(cosines.subsets)
    picked = picks(values, cosines.subsets.index(right))
    n, chance, dependence = len(picked), 1.0 / k, cosines.dependence
    accuracy = sure_share(picked, dependence)
    missed = np.asarray(picked == 0.0, dtype=np.float64)  # a shared first place counts as found: toward chance
    against = by_chance(accuracy.value - chance, _p_of_more(missed, dependence, 1.0 - chance))
    facts: dict[str, Fact] = {
        "right": after_the(right),
        "rewrites": k,
        "chance": chance,
        "units": _counted(dependence),
    }
    return Evidence("paraphrase-below-guessing", (run,), accuracy, n, against=against, facts=facts)


# --- against a baseline


def of_baselines(
    runs: Sequence[RunRecord],
    baselines: Sequence[RunRecord],
    cosines: Mapping[str, Cosines],
    words: Mapping[str, Compared] = MappingProxyType({}),
) -> Iterator[Evidence]:
    """Runs against the best baseline on the same dataset: the share of right orderings, per original.

    Args:
        words: by run id, how the run compares with words alone.
    """
    for digest in dict.fromkeys(run.plan.dataset_digest for run in runs):
        runs_here, baselines_here = (
            [run for run in some if run.plan.dataset_digest == digest and run.run_id in cosines]
            for some in (runs, baselines)
        )
        if runs_here and baselines_here:
            yield from _of_dataset(runs_here, baselines_here, cosines, words)


def _of_dataset(
    runs: Sequence[RunRecord],
    baselines: Sequence[RunRecord],
    cosines: Mapping[str, Cosines],
    words: Mapping[str, Compared],
) -> Iterator[Evidence]:
    orderings, dependence = tested(cosines[baselines[0].run_id].subsets), cosines[baselines[0].run_id].dependence
    if not orderings:
        return
    right = {
        run.run_id: np.mean([cosines[run.run_id].outcomes(o) for o in orderings], axis=0) for run in (*runs, *baselines)
    }
    for comparison in against_baselines(runs, baselines, right, dependence, HALF):
        others = [words[comparison.run.run_id]] if comparison.run.run_id in words else []
        yield from comparison.evidence(others, units=_counted(dependence), orderings=len(orderings))


# --- against shared words alone


def _against_words(
    material: Material, cosines: Mapping[str, Cosines], alone: Mapping[str, words_alone.Alone]
) -> dict[str, AgainstWords]:
    """Each run, by id, against the best measure of shared words on its dataset, where that has a right order."""
    out: dict[str, AgainstWords] = {}
    for run in material.runs:
        cosines_of_run, digest = cosines.get(run.run_id), run.plan.dataset_digest
        if cosines_of_run is not None and run.plan.variant.encoder not in KNOW_NO_MEANING and digest in alone:
            every = np.ones(cosines_of_run.originals, dtype=np.bool_)
            out[run.run_id] = words_alone.against(words_alone.outcomes(cosines_of_run), alone[digest], ALL, every)
    return out


# --- words and tests


def _p_of_more(outcomes: Float64, dependence: Dependence, chance: float) -> float:
    """p of an exact binomial test of ``outcomes [m]`` against ``chance``, with the effective number of observations."""
    if not len(outcomes):
        return 1.0
    n = observations(outcomes, dependence)
    return p_of_more(float(outcomes.sum()) * n / len(outcomes), n, chance)


def _counted(dependence: Dependence) -> str:
    """``150 sentences``, or ``450 independent groups of sentences`` with their effective number."""
    return f"{dependence.units:,} {dependence.unit}" if dependence.is_of_singles else dependence.independent
