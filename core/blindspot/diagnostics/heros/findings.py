"""Findings of HEROS: changes of meaning that a run misses, those that it sees, and what a lexical baseline gets right.

What is tested of a run is fixed before its rows are read, so that the p-values can be corrected for all that was looked
at (``blindspot.runs.findings``): of every listed ordering of a kept and a changed meaning, whether the changed one is
nearer in more than half of the originals; of all of them at once, which hold in more than three of four; the share of
them that are right against the best baseline's; and the score against that of the best measure of shared words.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType

import numpy as np

from blindspot.datasets.kinds.minimal_pairs import subset_in_words
from blindspot.diagnostics.heros import browsing, words_alone
from blindspot.diagnostics.heros.browsing import Above, Sentences
from blindspot.diagnostics.heros.definition import ENTRY, picks, right_of
from blindspot.diagnostics.heros.orderings import HALF, Cosines, Ordering, tested
from blindspot.numerics.ranking.problem import TAU
from blindspot.numerics.statistics import pairs as statistics
from blindspot.numerics.statistics.intervals import ALPHA, level_of_each, p_of_more
from blindspot.numerics.statistics.pairs import Dependence, observations, sure_share
from blindspot.numerics.statistics.written import ci, number, percent
from blindspot.runs.against_words import ALL, Against, findings_of_words
from blindspot.runs.findings import MOST_EXAMPLES, Compared, Example, Finding, Level, Material
from blindspot.runs.findings.baselines import BASELINES, against_baselines, findings_of
from blindspot.runs.findings.parts import finding, kebab
from blindspot.runs.findings.rule import Rival, by_chance
from blindspot.store.records import RunRecord
from blindspot.store.repository import Repository
from blindspot.texts import Ranges, changed_ranges, counted, listed
from blindspot.types import Float64

CLEARLY = 0.75  # of the originals: what holds in more of them is a strength
MOST_NAMED = 3  # orderings in one sentence


def findings(material: Material) -> list[Finding]:
    """See ``Diagnostic.findings``; raises ``BlindspotError`` if a run's stored rows are incomplete."""
    every = {run.run_id: run for run in (*material.runs, *material.baselines)}
    rows = material.repository.items(ENTRY, list(every), texts=False)
    own = dict(tuple(rows.groupby("run_id"))) if every else {}
    cosines = {run_id: Cosines.of_rows(own[run_id]) for run_id in every if run_id in own}
    texts = Texts(material.repository)
    alone = _alone(material, cosines, texts)
    out: list[Finding] = []
    for run in material.runs:
        if run.run_id in cosines:
            rivals = _rivals(run, material.baselines, cosines, alone)
            out += of_run(run, cosines[run.run_id], texts, rivals)
    words = _against_words(material, cosines, alone)
    lexical = {run_id: found.compared for run_id, found in words.items()}
    out += of_baselines(material.runs, material.baselines, cosines, lexical)
    return out + of_words(material.runs, cosines, words)


def _alone(material: Material, cosines: Mapping[str, Cosines], texts: Texts) -> Mapping[str, words_alone.Alone]:
    """By digest of a dataset where there is a right order, what words alone say about it."""
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
    """What knows only spelling and words, on the originals of a run; nothing for such a run itself."""
    digest = run.plan.dataset_digest
    if run.plan.variant.encoder in BASELINES:
        return []
    own = [cosines[b.run_id] for b in baselines if b.plan.dataset_digest == digest and b.run_id in cosines]
    return [*own, *(alone[digest].cosines.values() if digest in alone else ())]


def noun(subset: str) -> str:
    """A subset's rewrite within a sentence: ``the antonym``."""
    return f"the {subset_in_words(subset)}"


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
) -> list[Finding]:
    """What a run's cosines say; without ``texts`` there are no examples.

    Args:
        rivals: what knows only spelling and words, on the same originals; a strength must be better.
    """
    orderings = tested(cosines.subsets)
    out = [_missed(run, cosines, ordering, texts) for ordering in orderings]
    if orderings:
        out.append(_kept_apart(run, cosines, orderings, rivals))
    if right_of(cosines.subsets):
        out.append(_below_guessing(run, cosines))
    return out


def _missed(run: RunRecord, cosines: Cosines, ordering: Ordering, texts: Texts | None) -> Finding:
    """Whether the changed meaning is nearer in more than half of the originals."""
    outcomes = 1.0 - cosines.outcomes(ordering)
    n, known = len(outcomes), cosines.dependence
    wrong = sure_share(outcomes, known)
    decided = outcomes != HALF
    p = _p_of_more(outcomes[decided], known.among(decided), HALF)
    changed, kept = noun(ordering.far), noun(ordering.near)
    above = Above(ordering.far, ordering.near)
    examples, numbers = _examples(run, cosines, ordering, texts) if texts and p < ALPHA else ((), ())
    return finding(
        ENTRY,
        [run],
        kind=f"{kebab(ordering.far)}-nearer-than-{kebab(ordering.near)}",
        level=Level.BLIND_SPOT,
        sentence=f"{{A}} finds {changed} closer to the original than {kept} in {percent(wrong.value)} of the sentences"
        f"{ci(wrong, '.0%')}.",
        value=wrong.value,
        interval=wrong.interval,
        test=f"exact sign test against 50%, {_counted(known)}, ties excluded",
        against=by_chance(HALF - wrong.value, p),
        n=n,
        severity=wrong.value,
        address={
            "view": "sentences",
            "a": str(run.plan.variant),
            "sent_above": str(above),
            "sent_order": browsing.lead("A"),
            "sent_direction": "high to low",
            **({"item": str(numbers[0])} if numbers else {}),
        },
        examples=examples,
    )


def _examples(
    run: RunRecord, cosines: Cosines, ordering: Ordering, texts: Texts
) -> tuple[tuple[Example, ...], tuple[int, ...]]:
    """The originals with the largest wrong margins, and their numbers."""
    near, far = cosines.of(ordering.near), cosines.of(ordering.far)
    worst = np.argsort(near - far, kind="stable")[:MOST_EXAMPLES]
    worst = worst[far[worst] - near[worst] > TAU]
    found = texts.of(run, cosines.subsets)
    out = []
    for place in worst.tolist():
        original = found.originals[place]
        kept, changed = (found.rewrites[place][found.column(s)] for s in (ordering.near, ordering.far))
        removed, added = zip(*(changed_ranges(original, rewrite) for rewrite in (kept, changed)), strict=True)
        out.append(
            Example(
                (("original", original), (_role(ordering.near), kept), (_role(ordering.far), changed)),
                f"Cosine with {noun(ordering.near)} {near[place]:.3f}, with {noun(ordering.far)} {far[place]:.3f}.",
                (_merged([*removed[0], *removed[1]]), *added),
            )
        )
    return tuple(out), tuple(int(found.numbers[place]) for place in worst)


def _merged(ranges: Sequence[tuple[int, int]]) -> Ranges:
    """Ranges in order, those that touch as one."""
    out: list[tuple[int, int]] = []
    for start, end in sorted(ranges):
        if out and start <= out[-1][1]:
            out[-1] = (out[-1][0], max(end, out[-1][1]))
        else:
            out.append((start, end))
    return tuple(out)


def _kept_apart(run: RunRecord, cosines: Cosines, orderings: Sequence[Ordering], rivals: Sequence[Cosines]) -> Finding:
    """The orderings that hold in clearly more than half of the originals, and in more than by words, as one finding.

    Each is tested and has its interval at a level divided by their number (Bonferroni), so that which ones are named
    may depend on what came out: p is that of the least sure one.
    """
    n, many, known = cosines.originals, len(orderings), cosines.dependence
    right = {ordering: cosines.outcomes(ordering) for ordering in orderings}
    sure = {o: sure_share(outcomes, known, level_of_each(many)) for o, outcomes in right.items()}
    against = {
        o: (
            Compared(Rival.ASKED, sure[o].value - CLEARLY, min(1.0, many * _p_of_more(outcomes, known, CLEARLY))),
            *_best_rival(outcomes, [rival.outcomes(o) for rival in rivals], known, many),
        )
        for o, outcomes in right.items()
    }
    p = {o: max(one.ahead for one in compared) for o, compared in against.items()}
    order = sorted(orderings, key=lambda o: -sure[o].value)
    named = [o for o in order if p[o] < ALPHA][:MOST_NAMED] or order[:1]
    best = named[0]
    parts = [
        f"than {noun(o.far)} in {percent(sure[o].value)} of the sentences{ci(sure[o], '.0%')}"
        if o.near == best.near
        else f"{noun(o.near)} than {noun(o.far)} in {percent(sure[o].value)}{ci(sure[o], '.0%')}"
        for o in named
    ]
    corrected = f", corrected for {many} comparisons" if many > 1 else ""
    return finding(
        ENTRY,
        [run],
        kind="meaning-kept-apart",
        level=Level.STRENGTH,
        sentence=f"{{A}} keeps {noun(best.near)} closer to the original {listed(parts)}.",
        value=sure[best].value,
        interval=sure[best].interval,
        test=f"exact binomial test against 75%, {_counted(known)}{corrected}"
        + ("; in more than by words and spelling alone too" if rivals else ""),
        against=tuple(one for o in named for one in against[o]),
        n=n,
        severity=max(0.0, 2 * sure[best].value - 1),
        address={"view": "orderings"},
    )


def _best_rival(own: Float64, rivals: Sequence[Float64], known: Dependence, many: int) -> list[Compared]:
    """The best of some rivals, by outcomes ``[n]``; p is corrected for its choice and for ``many`` orderings."""
    if not rivals:
        return []
    apart = own - max(rivals, key=lambda rival: float(rival.mean()))
    p = float(statistics.p_values(apart[:, np.newaxis], known)[0])
    return [Compared(Rival.BASELINE, float(apart.mean()), min(1.0, p * len(rivals) * many))]


def _below_guessing(run: RunRecord, cosines: Cosines) -> Finding:
    """Whether the right rewrite is found among the rewrites less often than by guessing."""
    values, k = cosines.values, len(cosines.subsets)
    right = right_of(cosines.subsets)
    found = picks(values, cosines.subsets.index(right))
    n, chance, known = len(found), 1.0 / k, cosines.dependence
    accuracy = sure_share(found, known)
    missed = np.asarray(found == 0.0, dtype=np.float64)  # a shared first place counts as found: toward chance
    return finding(
        ENTRY,
        [run],
        kind="paraphrase-below-guessing",
        level=Level.BLIND_SPOT,
        sentence=f"{{A}} finds {noun(right)} among {k} rewrites in {percent(accuracy.value)} of the sentences"
        f"{ci(accuracy, '.0%')}; guessing finds it in {percent(chance)}.",
        value=accuracy.value,
        interval=accuracy.interval,
        test=f"exact binomial test against {percent(chance)}, {_counted(known)}",
        against=by_chance(accuracy.value - chance, _p_of_more(missed, known, 1.0 - chance)),
        n=n,
        severity=1.0 - accuracy.value,
        address={"view": "orderings"},
    )


# --- against a baseline


def of_baselines(
    runs: Sequence[RunRecord],
    baselines: Sequence[RunRecord],
    cosines: Mapping[str, Cosines],
    words: Mapping[str, Compared] = MappingProxyType({}),
) -> list[Finding]:
    """Runs against the best baseline on the same dataset: the share of the orderings that is right, per original.

    Args:
        words: by run id, how it compares with words alone.
    """
    out: list[Finding] = []
    for digest in dict.fromkeys(run.plan.dataset_digest for run in runs):
        own, known = (
            [run for run in some if run.plan.dataset_digest == digest and run.run_id in cosines]
            for some in (runs, baselines)
        )
        if own and known:
            out += _of_dataset(own, known, cosines, words)
    return out


def _of_dataset(
    runs: Sequence[RunRecord],
    baselines: Sequence[RunRecord],
    cosines: Mapping[str, Cosines],
    words: Mapping[str, Compared],
) -> list[Finding]:
    orderings, known = tested(cosines[baselines[0].run_id].subsets), cosines[baselines[0].run_id].dependence
    if not orderings:
        return []
    right = {
        run.run_id: np.mean([cosines[run.run_id].outcomes(o) for o in orderings], axis=0) for run in (*runs, *baselines)
    }
    out: list[Finding] = []
    for found in against_baselines(runs, baselines, right, known, HALF):
        points = number(100 * found.difference.value, "+.0f") + " points" + ci(found.difference, "+.0f", 100)
        out += findings_of(
            ENTRY,
            found,
            "at telling rewrites that keep the meaning from rewrites that change it",
            f"{percent(found.score)} of the comparisons right against {percent(found.reached)}, {points}",
            f"sign-flip test over {_counted(known)}, {counted(len(orderings), 'comparison')} each",
            {"view": "orderings"},
            [words[found.run.run_id]] if found.run.run_id in words else [],
        )
    return out


# --- against shared words alone


def _against_words(
    material: Material, cosines: Mapping[str, Cosines], alone: Mapping[str, words_alone.Alone]
) -> dict[str, Against]:
    """By run id, runs against the best measure of shared words on the same dataset, where there is a right order."""
    out: dict[str, Against] = {}
    for run in material.runs:
        own, digest = cosines.get(run.run_id), run.plan.dataset_digest
        if own is not None and run.plan.variant.encoder not in BASELINES and digest in alone:
            every = np.ones(own.originals, dtype=np.bool_)
            out[run.run_id] = words_alone.against(words_alone.outcomes(own), alone[digest], ALL, every)
    return out


def of_words(
    runs: Sequence[RunRecord], cosines: Mapping[str, Cosines], against: Mapping[str, Against]
) -> list[Finding]:
    """Runs against the best measure of shared words."""
    out: list[Finding] = []
    for run in runs:
        if (found := against.get(run.run_id)) is None:
            continue
        own = cosines[run.run_id]
        scores = f"{percent(found.reached.value)} of the {words_alone.judged(own.subsets)} right by {found.best}"
        scores += f" against {percent(found.score.value)}"
        out += findings_of_words(
            ENTRY, run, found, scores, f"sign flips of {own.dependence.unit}", {"view": "words alone"}, 100
        )
    return out


# --- words and tests


def _p_of_more(outcomes: Float64, known: Dependence, chance: float) -> float:
    """Exact binomial test of ``outcomes [m]`` against ``chance``, for the effective number of independent ones."""
    if not len(outcomes):
        return 1.0
    n = observations(outcomes, known)
    return p_of_more(float(outcomes.sum()) * n / len(outcomes), n, chance)


def _counted(known: Dependence) -> str:
    """``150 sentences``, or ``450 independent groups of sentences`` with what they are worth."""
    return f"{known.units:,} {known.unit}" if known.is_of_singles else known.independent


def _role(subset: str) -> str:
    return subset_in_words(subset)
