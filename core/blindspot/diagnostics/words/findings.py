"""Findings on analogies and categories: which relations and kinds of words does a model not know?

Questions of one section are built from few pairs of words, each of them in many: the pairs of words are independent,
and a share of questions is a U-statistic of them. In categories, words of one class fail together: the classes are
independent.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from blindspot.diagnostic import Diagnostic
from blindspot.diagnostics.words import analogy, categorization
from blindspot.diagnostics.words.versus import by_class
from blindspot.numerics.ranking.ranks import expected_hit
from blindspot.numerics.statistics.against import (
    bounded_against,
    change_against,
    difference_influence,
    of_ends,
    share_against,
)
from blindspot.numerics.statistics.estimate import Estimate, Unit
from blindspot.numerics.statistics.intervals import ALPHA, level_of_each
from blindspot.numerics.statistics.pairs import Dependence
from blindspot.numerics.statistics.written import ci, number
from blindspot.runs.findings import MOST_EXAMPLES, Compared, Example, Finding, Level, Material
from blindspot.runs.findings.baselines import AgainstBaseline, against_baselines, findings_of, share_and_chance
from blindspot.runs.findings.parts import (
    Rows,
    Together,
    clipped,
    coverage,
    finding,
    graded,
    kebab,
    lacking,
    less_than_asked,
    one_way,
    rows_of,
    together,
)
from blindspot.runs.findings.rule import Rival
from blindspot.store.records import RunRecord
from blindspot.texts import counted
from blindspot.types import Bool, Float64, Int64

LEAST = 0.1  # of the way from chance to all right: who does not get so far does not know it
KNOWN = 0.25  # share of a relation's questions; its pairs of words are too few for a test against less
COVERAGE = {"view": "coverage"}
MOST_NAMED = 3  # classes
FEW_LOST = 0.1  # share of the classes: fewer are not worth a word


def of_analogies(material: Material) -> list[Finding]:
    """See ``Diagnostic.findings``."""
    out = coverage(analogy.ENTRY, material.runs, COVERAGE)
    for found in together(material):
        out += _analogies(found, rows_of(analogy.ENTRY, found.every, material.repository))
    return out


def of_categories(material: Material) -> list[Finding]:
    """See ``Diagnostic.findings``."""
    out = coverage(categorization.ENTRY, material.runs, COVERAGE)
    for found in together(material):
        out += _categories(found, material)
    return out


# --- analogies


def _analogies(found: Together, rows: Rows) -> list[Finding]:
    about = rows.about
    every = np.concatenate([(about[x].astype(str) + "\t" + about[y].astype(str)).to_numpy() for x, y in ("ab", "cd")])
    left, right = np.split(pd.factorize(every)[0].astype(np.int64), 2)
    section = about["section"].to_numpy(dtype=object)
    hits = {
        run.run_id: expected_hit(rows.numbers(run.run_id, "greater"), rows.numbers(run.run_id, "ties"), 1)
        for run in found.every
        if run.run_id in rows.values
    }

    def asked(run: RunRecord, here: Bool) -> _Asked:
        return _Asked(run, rows, np.flatnonzero(here).astype(np.int64), hits[run.run_id][here], left[here], right[here])

    best = {run.run_id: base for run, base in found.against_best("accuracy") if base.run_id in hits}

    def rivals(run: RunRecord, here: Bool) -> list[Compared]:
        """The best baseline on the questions that both were asked among those ``here``; nothing without one."""
        if run.run_id not in best:
            return []
        base = best[run.run_id].run_id
        both = here & rows.has(base)
        if not both.any():
            return [Compared(Rival.BASELINE, np.nan, np.nan)]
        apart = hits[run.run_id][both] - hits[base][both]
        change, p = change_against(float(apart.mean()), *of_ends(apart, left[both], right[both]))
        return [Compared(Rival.BASELINE, change.value, min(1.0, p * len(found.baselines)))]

    out = []
    for run in found.runs:
        if run.run_id not in hits:
            continue
        here = rows.has(run.run_id)
        names = [str(name) for name in dict.fromkeys(section[here])]
        out += _all_questions(asked(run, here), rivals(run, here))
        for name in names:
            inside = here & (section == name)
            out += _section(asked(run, inside), name, rivals(run, inside))
        if len(names) > 1:
            out += _weakest(asked(run, here), section[here], names)
    here = np.logical_and.reduce([rows.has(run_id) for run_id in hits])
    if here.any():
        values = {run_id: own[here] for run_id, own in hits.items()}
        candidates = found.runs[0].metrics.get("candidates", 0.0) - 3  # without the words of the question
        chance = 1 / max(2.0, candidates)
        for compared in _by_pairs(found, values, left[here], right[here], chance):
            out += against_baseline(analogy.ENTRY, compared, "at analogies", "t test", _view(compared.run))
    return out


def _by_pairs(
    found: Together, values: dict[str, Float64], left: Int64, right: Int64, chance: float
) -> list[AgainstBaseline]:
    """As ``against_baselines``, of questions that share pairs of words."""
    out = []
    for run, best in found.against_best("accuracy"):
        if run.run_id not in values or best.run_id not in values:
            continue
        apart = values[run.run_id] - values[best.run_id]
        difference, p = change_against(float(apart.mean()), *of_ends(apart, left, right))
        if not np.isnan(p):
            own, low = (float(values[one.run_id].mean()) for one in (run, best))
            moved, known = of_ends(values[run.run_id], left, right)
            _, p_chance = bounded_against(own, moved, known, known.units, chance)
            of_chance = Compared(Rival.CHANCE, own - chance, p_chance)
            p = min(1.0, p * len(found.baselines))
            out.append(AgainstBaseline(run, best, own, low, difference, p, of_chance))
    return out


@dataclass(frozen=True, eq=False)
class _Asked:
    """Questions that a run was asked, ``[m]``.

    Attributes:
        places: their rows.
        hits: the share of the first place that the right word has.
        left, right: numbers of the two pairs of words of each.
    """

    run: RunRecord
    rows: Rows
    places: Int64
    hits: Float64
    left: Int64
    right: Int64

    @property
    def share(self) -> float:
        return float(self.hits.mean())

    def against(self, null: float) -> tuple[Estimate, float]:
        moved, known = of_ends(self.hits, self.left, self.right)
        return bounded_against(self.share, moved, known, known.units, null)

    def examples(self, among: Bool) -> tuple[Example, ...]:
        """Wrong answers, of as many different pairs of words as there are."""
        places = self.places[among & (self.hits < 1)]
        first = ~self.rows.about.iloc[places].duplicated(["c", "d"]).to_numpy()
        places = np.concatenate([places[first], places[~first]])[:MOST_EXAMPLES]
        asked, answers = self.rows.about.iloc[places], self.rows.words(self.run.run_id, "predicted")[places]
        words = [asked[name].astype(str) for name in "abcd"]
        return tuple(
            Example((("question", f"{a} is to {b} as {c} is to what?"), ("answer", str(answer)), ("right", d)))
            for a, b, c, d, answer in zip(*words, answers, strict=True)
        )


def _view(run: RunRecord, section: str = "") -> dict[str, str]:
    """The questions of one run."""
    address = {"view": "analogies", "analogies_of": run.plan.dataset, "analogies_by": str(run.plan.variant)}
    return address | ({"analogy_section": section} if section else {})


def units_of(found: Estimate) -> str:
    """What is independent, where texts are pairs of words."""
    return found.independent.replace(Unit.TEXTS, "pairs of words")


def _all_questions(asked: _Asked, baselines: Sequence[Compared]) -> list[Finding]:
    found, p = asked.against(LEAST)
    if np.isnan(p):
        return []
    weak = found.value < LEAST
    questions = counted(len(asked.hits), "analogy", "analogies")
    return graded(
        analogy.ENTRY,
        [asked.run],
        Compared(Rival.ASKED, found.value - LEAST, p),
        baselines,
        address=_view(asked.run),
        kind="analogies",
        sentence=f"{{A}} answers {'only ' if weak else ''}{found.value:.0%} of {questions} right{ci(found, '.0%')}.",
        found=found,
        test=f"score test against {LEAST:.0%}, {units_of(found)}",
        n=found.units,
        severity=clipped(1 - found.value),
    )


def _section(asked: _Asked, name: str, baselines: Sequence[Compared]) -> list[Finding]:
    """A section of which hardly a question is answered right; with too few pairs of words for a test, counted."""
    found, p = asked.against(KNOWN)
    tested = not np.isnan(p)
    if not tested and found.value >= LEAST:
        return []
    fewer = Compared(Rival.ASKED, found.value - KNOWN, p)
    right = f"only {found.value:.0%}" if found.value else "none"
    said: dict[str, Any] = {
        "address": _view(asked.run, name),
        "kind": f"relation-unknown-{kebab(name)}",
        "sentence": f"{{A}} barely knows the relation '{name}': it answers {right} of "
        f"{counted(len(asked.hits), 'question')} right{ci(found, '.0%')}.",
        "found": found,
        "n": found.units,
        "severity": clipped(1 - found.value),
        "examples": asked.examples(asked.hits < 1) if not tested or fewer.behind < ALPHA else (),
    }
    if tested:
        test = f"score test against {KNOWN:.0%}, {units_of(found)}"
        return less_than_asked(analogy.ENTRY, [asked.run], fewer, baselines, test=test, **said)
    few = f"counted; {counted(found.units, 'pair of words', 'pairs of words')} are too few for a test"
    return [finding(analogy.ENTRY, [asked.run], level=Level.CAUTION, test=few, **said)]


def _weakest(asked: _Asked, section: np.ndarray[Any, Any], names: Sequence[str]) -> list[Finding]:
    """The section that is furthest below the others, its p-value times the sections that were tried."""
    tried = []
    for name in names:
        value, moved = difference_influence(asked.hits, section == name)
        ends = of_ends(-moved, asked.left, asked.right)
        found, p = change_against(-value, *ends, level=level_of_each(len(names)))
        if not np.isnan(p):
            tried.append((one_way(p, is_news=value < 0), value, name, found))
    if not tried:
        return []
    p, value, name, found = min(tried, key=lambda one: one[:2])
    p, inside = min(1.0, len(tried) * p), section == name
    return [
        finding(
            analogy.ENTRY,
            [asked.run],
            address=_view(asked.run, name),
            kind="weakest-relation",
            level=Level.CAUTION,
            sentence=f"{{A}} is weakest at the relation '{name}': {float(asked.hits[inside].mean()):.0%} right, "
            f"{abs(100 * value):.0f} points below its other relations{ci(found, '.0f', 100)}.",
            found=found,
            p=p,
            test=f"t test of the difference, p times {len(tried)} relations, {units_of(found)}",
            n=found.units,
            severity=clipped(-value),
            examples=asked.examples(inside) if p < ALPHA else (),
        )
    ]


# --- categories


def _categories(found: Together, material: Material) -> list[Finding]:
    rows = material.repository.items(categorization.ENTRY, [run.run_id for run in found.every], texts=True)
    if rows.empty:
        return []
    class_no, classes = pd.factorize(rows["class"])
    right_here = (rows["class"] == rows["cluster_class"]).to_numpy()
    n = 1 + int(rows["item_no"].max())
    right, group = {}, np.full(n, -1, dtype=np.int64)
    item, of_run = rows["item_no"].to_numpy(dtype=np.int64), rows.groupby("run_id", sort=False).indices
    # A word of several classes is right by one of them, and counts with the first.
    group[item[::-1]] = class_no[::-1]
    for run_id, places in of_run.items():
        hits = np.full(n, np.nan)
        hits[item[places]] = 0.0
        hits[item[places[right_here[places]]]] = 1.0
        right[str(run_id)] = hits
    every = np.stack(list(right.values()))
    here = ~np.isnan(every).any(axis=0)
    compared: list[AgainstBaseline] = []
    if here.any():
        values = {run_id: own[here] for run_id, own in right.items()}
        known = by_class(group[here])
        runs, baselines = ([run for run in some if run.run_id in right] for some in (found.runs, found.baselines))
        compared = against_baselines(runs, baselines, values, known, found.runs[0].metrics["chance"])
    rivals, out = {one.run.run_id: one.compared for one in compared}, []
    for run in found.runs:
        if run.run_id in right:
            own = ~np.isnan(right[run.run_id])
            known, rival = by_class(group[own]), rivals.get(run.run_id)
            out += _purity(run, right[run.run_id][own], known, [rival] if rival else [])
            out += _lost(run, rows.iloc[of_run[run.run_id]], list(classes))
    for one in compared:
        at = "at sorting words by kind"
        out += against_baseline(categorization.ENTRY, one, at, "sign flips", _clusters(one.run))
    return out


def _clusters(run: RunRecord) -> dict[str, str]:
    """The clusters of one run."""
    return {"view": "categories", "categories_of": run.plan.dataset, "categories_by": str(run.plan.variant)}


def _purity(run: RunRecord, right: Float64, known: Dependence, baselines: Sequence[Compared]) -> list[Finding]:
    chance = run.metrics["chance"]
    least = chance + LEAST * (1 - chance)
    found, p = share_against(right, known, least)
    if np.isnan(p):
        return []
    weak = found.value < least
    said = "hardly sorts words by kind" if weak else "sorts words by kind"
    return graded(
        categorization.ENTRY,
        [run],
        Compared(Rival.ASKED, found.value - least, p),
        [share_and_chance(right, known, chance), *baselines],
        address=_clusters(run),
        kind="purity",
        sentence=f"{{A}} {said}: its clusters are {found.value:.0%} pure{ci(found, '.0%')}, against "
        f"{chance:.0%} for shuffled classes.",
        found=found,
        test=f"score test against {least:.0%}, a tenth of the way from chance to pure, {found.independent}",
        n=found.units,
        severity=clipped(lacking(found.value, chance)),
    )


def _lost(run: RunRecord, rows: pd.DataFrame, classes: Sequence[str]) -> list[Finding]:
    """Classes that no cluster is named for; counted, since a single class is a single case."""
    named = set(rows["cluster_class"])
    present = set(rows["class"])
    lost = sorted(present - named, key=lambda name: (-int((rows["class"] == name).sum()), classes.index(name)))
    if len(lost) < FEW_LOST * len(present):
        return []
    told = ", ".join(f"'{name}'" for name in lost[:MOST_NAMED])
    more = f" and {len(lost) - MOST_NAMED} more" if len(lost) > MOST_NAMED else ""
    examples = []
    for name in lost[:MOST_EXAMPLES]:
        own = rows[rows["class"] == name]
        words = ", ".join(own["word"].head(8))
        among = ", ".join(dict.fromkeys(own["cluster_class"]))
        examples.append(Example((("class", str(name)), ("words", words)), f"found among: {among}"))
    return [
        finding(
            categorization.ENTRY,
            [run],
            address=_clusters(run),
            kind="categories-lost",
            level=Level.CAUTION,
            sentence=f"{{A}} forms no cluster for {len(lost)} of {counted(len(present), 'category', 'categories')}: "
            f"{told}{more}.",
            value=len(lost) / len(present),
            test=f"counted over {counted(len(present), 'category', 'categories')}",
            n=len(present),
            severity=clipped(len(lost) / len(present)),
            examples=tuple(examples),
        )
    ]


# --- both


def against_baseline(
    entry: Diagnostic, found: AgainstBaseline, at: str, test: str, address: dict[str, str]
) -> list[Finding]:
    difference = found.difference
    said = f"{found.score:.0%} right against {found.reached:.0%}, {number(100 * difference.value, '+.0f')} points"
    said += ci(difference, "+.0f", 100)
    made = findings_of(entry, found, at, said, f"{test} of the paired difference, {units_of(difference)}", address)
    # With few classes the exact test may not see what the interval does: then nothing is said.
    return made[:1] if difference.interval is not None and difference.interval.low > 0 else made
