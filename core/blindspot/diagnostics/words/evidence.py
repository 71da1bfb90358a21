"""Evidence on analogies and categories: which relations and kinds of words does a model not know?

Questions of one section are built from a few pairs of words, each of which is in many questions: the pairs of words are
independent, and a share of questions is a U-statistic of them. In categories, words of one class fail together: the
classes are independent.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from blindspot.diagnostics.words import analogy, categorization
from blindspot.diagnostics.words.item_scores import by_class, word_pairs
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
from blindspot.runs.findings import MOST_EXAMPLES, Compared, Example, Material
from blindspot.runs.findings.baselines import AgainstBaseline, against_baselines, for_choice, share_and_chance
from blindspot.runs.findings.evidence import Evidence, Fact
from blindspot.runs.findings.parts import Rows, Together, low_coverage, one_way, rows_of, together
from blindspot.runs.findings.rule import Rival
from blindspot.store.records import RunRecord
from blindspot.types import Bool, Float64, Int64

LEAST = 0.1  # of the way from chance to all right: a model that does not get so far does not know it
KNOWN = 0.25  # share of a relation's questions; its pairs of words are too few for a test against less
MOST_NAMED = 3  # classes
FEW_LOST = 0.1  # share of the classes: fewer are not worth mentioning


def of_analogies(material: Material) -> Iterator[Evidence]:
    """See ``Diagnostic.evidence``."""
    yield from low_coverage(material.runs)
    for group in together(material):
        yield from _analogies(group, rows_of(analogy.ENTRY, group.every, material.repository))


def of_categories(material: Material) -> Iterator[Evidence]:
    """See ``Diagnostic.evidence``."""
    yield from low_coverage(material.runs)
    for group in together(material):
        yield from _categories(group, material)


# --- analogies


def _analogies(group: Together, rows: Rows) -> Iterator[Evidence]:
    about = rows.about
    left, right = word_pairs(about)
    section = about["section"].to_numpy(dtype=object)
    hits = {
        run.run_id: expected_hit(rows.numbers(run.run_id, "greater"), rows.numbers(run.run_id, "ties"), 1)
        for run in group.every
        if run.run_id in rows.values
    }

    def asked(run: RunRecord, here: Bool) -> _Asked:
        return _Asked(run, rows, np.flatnonzero(here).astype(np.int64), hits[run.run_id][here], left[here], right[here])

    best = {run.run_id: base for run, base in group.against_best("accuracy") if base.run_id in hits}

    def rivals(run: RunRecord, here: Bool) -> list[Compared]:
        """The best baseline on the questions ``here`` that both were asked; empty without a baseline."""
        if run.run_id not in best:
            return []
        base = best[run.run_id].run_id
        both = here & rows.has(base)
        if not both.any():
            return [Compared(Rival.BASELINE, np.nan, np.nan)]
        apart = hits[run.run_id][both] - hits[base][both]
        change, p = change_against(float(apart.mean()), *of_ends(apart, left[both], right[both]))
        return [Compared(Rival.BASELINE, change.value, for_choice(p, len(group.baselines)))]

    for run in group.runs:
        if run.run_id not in hits:
            continue
        here = rows.has(run.run_id)
        names = [str(name) for name in dict.fromkeys(section[here])]
        yield from _all_questions(asked(run, here), rivals(run, here))
        for name in names:
            inside = here & (section == name)
            yield from _section(asked(run, inside), name, rivals(run, inside))
        if len(names) > 1:
            yield from _weakest(asked(run, here), section[here], names)
    here = np.logical_and.reduce([rows.has(run_id) for run_id in hits])
    if here.any():
        values = {run_id: is_right[here] for run_id, is_right in hits.items()}
        candidates = group.runs[0].metrics.get("candidates", 0.0) - 3  # without the words of the question
        chance = 1 / max(2.0, candidates)
        for compared in _by_pairs(group, values, left[here], right[here], chance):
            yield from against_baseline(compared, _pairs_of_words(compared.difference))


def _by_pairs(
    group: Together, values: dict[str, Float64], left: Int64, right: Int64, chance: float
) -> list[AgainstBaseline]:
    """As ``against_baselines``, but for questions that share pairs of words."""
    out = []
    for run, best in group.against_best("accuracy"):
        if run.run_id not in values or best.run_id not in values:
            continue
        apart = values[run.run_id] - values[best.run_id]
        difference, p = change_against(float(apart.mean()), *of_ends(apart, left, right))
        if not np.isnan(p):
            share, low = (float(values[each_run.run_id].mean()) for each_run in (run, best))
            moved, dependence = of_ends(values[run.run_id], left, right)
            _, p_chance = bounded_against(share, moved, dependence, dependence.units, chance)
            of_chance = Compared(Rival.CHANCE, share - chance, p_chance)
            p = for_choice(p, len(group.baselines))
            out.append(AgainstBaseline(share, low, difference, p, of_chance, run, best))
    return out


@dataclass(frozen=True, eq=False)
class _Asked:
    """Questions that a run was asked, ``[m]``.

    Attributes:
        places: their rows.
        hits: the share of the first place that the right word has.
        left, right: numbers of each question's two pairs of words.
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
        moved, dependence = of_ends(self.hits, self.left, self.right)
        return bounded_against(self.share, moved, dependence, dependence.units, null)

    def examples(self, among: Bool) -> tuple[Example, ...]:
        """Wrong answers, to questions about different pairs of words first."""
        places = self.places[among & (self.hits < 1)]
        first = ~self.rows.about.iloc[places].duplicated(["c", "d"]).to_numpy()
        places = np.concatenate([places[first], places[~first]])[:MOST_EXAMPLES]
        asked, answers = self.rows.about.iloc[places], self.rows.words(self.run.run_id, "predicted")[places]
        words = [asked[name].astype(str) for name in "abcd"]
        return tuple(
            Example((("question", f"{a} is to {b} as {c} is to what?"), ("answer", str(answer)), ("right", d)))
            for a, b, c, d, answer in zip(*words, answers, strict=True)
        )


def _pairs_of_words(estimate: Estimate) -> str:
    """The number of independent units in words, where texts are pairs of words."""
    return estimate.independent.replace(Unit.TEXTS, "pairs of words")


def _all_questions(asked: _Asked, baselines: Sequence[Compared]) -> Iterator[Evidence]:
    estimate, p = asked.against(LEAST)
    if np.isnan(p):
        return
    against = (Compared(Rival.ASKED, estimate.value - LEAST, p), *baselines)
    facts: dict[str, Fact] = {
        "questions": len(asked.hits),
        "asked": LEAST,
        "pairs_of_words": _pairs_of_words(estimate),
    }
    yield Evidence("analogies", (asked.run,), estimate, estimate.units, against=against, facts=facts)


def _section(asked: _Asked, name: str, baselines: Sequence[Compared]) -> Iterator[Evidence]:
    """A section with hardly a right answer; counted instead of tested if it has too few pairs of words for a test."""
    estimate, p = asked.against(KNOWN)
    is_tested = not np.isnan(p)
    if not is_tested and estimate.value >= LEAST:
        return
    fewer = Compared(Rival.ASKED, estimate.value - KNOWN, p)
    yield Evidence(
        "relation-unknown-{section}",
        (asked.run,),
        estimate,
        estimate.units,
        against=(fewer, *baselines) if is_tested else (),
        facts={
            "section": name,
            "questions": len(asked.hits),
            "asked": KNOWN,
            "is_tested": is_tested,
            "pairs_of_words": _pairs_of_words(estimate),
        },
        examples=asked.examples(asked.hits < 1) if not is_tested or fewer.behind < ALPHA else (),
    )


def _weakest(asked: _Asked, section: np.ndarray[Any, Any], names: Sequence[str]) -> Iterator[Evidence]:
    """The section that is furthest below the others; its p-value is multiplied by the number of sections tried."""
    tried = []
    for name in names:
        value, moved = difference_influence(asked.hits, section == name)
        ends = of_ends(-moved, asked.left, asked.right)
        estimate, p = change_against(-value, *ends, level=level_of_each(len(names)))
        if not np.isnan(p):
            tried.append((one_way(p, is_news=value < 0), value, name, estimate))
    if not tried:
        return
    p, value, name, estimate = min(tried, key=lambda candidate: candidate[:2])
    p, inside = min(1.0, len(tried) * p), section == name
    facts: dict[str, Fact] = {
        "section": name,
        "right": float(asked.hits[inside].mean()),
        "tried": len(tried),
        "pairs_of_words": _pairs_of_words(estimate),
    }
    examples = asked.examples(inside) if p < ALPHA else ()
    yield Evidence("weakest-relation", (asked.run,), estimate, estimate.units, p=p, facts=facts, examples=examples)


# --- categories


def _categories(comparable: Together, material: Material) -> Iterator[Evidence]:
    rows = material.repository.items(categorization.ENTRY, [run.run_id for run in comparable.every], texts=True)
    if rows.empty:
        return
    right_here = (rows["class"] == rows["cluster_class"]).to_numpy()
    n = 1 + int(rows["item_no"].max())
    right, group = {}, np.full(n, "", dtype=object)
    item, of_run = rows["item_no"].to_numpy(dtype=np.int64), rows.groupby("run_id", sort=False).indices
    # A word of several classes is right if one of them is, and counts in the first.
    group[item[::-1]] = rows["class"].to_numpy()[::-1]
    for run_id, places in of_run.items():
        hits = np.full(n, np.nan)
        hits[item[places]] = 0.0
        hits[item[places[right_here[places]]]] = 1.0
        right[str(run_id)] = hits
    every = np.stack(list(right.values()))
    here = ~np.isnan(every).any(axis=0)
    compared: list[AgainstBaseline] = []
    if here.any():
        values = {run_id: is_right[here] for run_id, is_right in right.items()}
        dependence = by_class(group[here])
        runs, baselines = (
            [run for run in some if run.run_id in right] for some in (comparable.runs, comparable.baselines)
        )
        compared = against_baselines(runs, baselines, values, dependence, comparable.runs[0].metrics["chance"])
    rivals = {comparison.run.run_id: comparison.compared for comparison in compared}
    for run in comparable.runs:
        if run.run_id in right:
            has_word = ~np.isnan(right[run.run_id])
            dependence, rival = by_class(group[has_word]), rivals.get(run.run_id)
            yield from _purity(run, right[run.run_id][has_word], dependence, [rival] if rival else [])
            yield from _lost(run, rows.iloc[of_run[run.run_id]], list(rows["class"].unique()))
    for comparison in compared:
        yield from against_baseline(comparison)


def _purity(
    run: RunRecord, right: Float64, dependence: Dependence, baselines: Sequence[Compared]
) -> Iterator[Evidence]:
    chance = run.metrics["chance"]
    least = chance + LEAST * (1 - chance)
    estimate, p = share_against(right, dependence, least)
    if np.isnan(p):
        return
    asked = Compared(Rival.ASKED, estimate.value - least, p)
    against = (asked, share_and_chance(right, dependence, chance), *baselines)
    yield Evidence(
        "purity", (run,), estimate, estimate.units, against=against, facts={"chance": chance, "least": least}
    )


def _lost(run: RunRecord, rows: pd.DataFrame, classes: Sequence[str]) -> Iterator[Evidence]:
    """Classes that no cluster is named for; counted, since a single class is a single case."""
    named = set(rows["cluster_class"])
    present = set(rows["class"])
    lost = sorted(present - named, key=lambda name: (-int((rows["class"] == name).sum()), classes.index(name)))
    if len(lost) < FEW_LOST * len(present):
        return
    examples = []
    for name in lost[:MOST_EXAMPLES]:
        words_of_class = rows[rows["class"] == name]
        words = ", ".join(words_of_class["word"].head(8))
        among = ", ".join(dict.fromkeys(words_of_class["cluster_class"]))
        examples.append(Example((("class", str(name)), ("words", words)), f"found among: {among}"))
    facts: dict[str, Fact] = {
        "lost": len(lost),
        "named": ", ".join(f"'{name}'" for name in lost[:MOST_NAMED]),
        "more": max(0, len(lost) - MOST_NAMED),
    }
    share = len(lost) / len(present)
    yield Evidence("categories-lost", (run,), share, len(present), facts=facts, examples=tuple(examples))


# --- both


def against_baseline(against: AgainstBaseline, pairs_of_words: str = "") -> list[Evidence]:
    made, interval = against.evidence(pairs_of_words=pairs_of_words), against.difference.interval
    # With few classes the exact test may not find what the interval shows: then nothing is said.
    return made[:1] if interval is not None and interval.low > 0 else made
