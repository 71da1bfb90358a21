"""Verdict of a gate: a new model's drop against the tolerance, and the items that got worse."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from enum import StrEnum
from typing import Any

import numpy as np

from blindspot.diagnostic import find_diagnostic
from blindspot.errors import InputError
from blindspot.numerics.statistics.compare import ItemScores
from blindspot.numerics.statistics.tolerance import Decision, Drop, drop
from blindspot.numerics.statistics.written import SCORE, number, percent
from blindspot.runs.comparison import declared
from blindspot.studies.gate.sides import Recorded, have_same_vectors
from blindspot.texts import counted

DROP = ".4f"  # a digit more than scores: a bound just above the tolerance must not look like it
SHOWN = 20  # items that got worse
ROUNDING = 1e-9  # of an item's score: the same vectors in another batch or order of rows differ by no more
EASY_REMEDY = "Add harder items, choose a stricter score, or accept it (--allow-easy, allow_easy=True)."
MOST_TOLERATED = 1.0
LEAST_ALPHA, MOST_ALPHA = 0.0001, 0.4


class Outcome(StrEnum):
    PASSED = "passed"
    FAILED = "failed"
    UNDECIDED = "undecided"


_OUTCOMES: Mapping[Decision, Outcome] = {
    Decision.WITHIN: Outcome.PASSED,
    Decision.BEYOND: Outcome.FAILED,
    Decision.UNDECIDED: Outcome.UNDECIDED,
}


@dataclass(frozen=True)
class Worse:
    """An item that got worse: its value for the old and the new model (its contribution to a correlation)."""

    text: str
    old: float
    new: float


@dataclass(frozen=True)
class Verdict:
    """The new model against the old one, in one score.

    Attributes:
        is_same: both models gave the same vectors.
        easy: why a pass says little (``audit.why_easy``); "" if it says more, or if this was not asked.
        items: number of items; ``independent``: in words, what is independent among them.
        worse: items that got worse, the largest loss first, at most ``SHOWN``; ``losses`` and ``gains`` count all.
        form: a sentence on how the golden set differs from the baseline's without changing a score; "" if it does not.
        doubts: questions about the golden set (``Diagnostic.doubts``).
    """

    score: str
    old_name: str
    new_name: str
    old: float
    new: float
    drop: Drop
    items: int
    independent: str
    losses: int
    gains: int
    worse: tuple[Worse, ...]
    form: str = ""
    is_same: bool = False
    easy: str = ""
    doubts: tuple[str, ...] = ()

    @property
    def outcome(self) -> Outcome:
        """By the first rule that applies: a drop beyond the tolerance fails, the same vectors pass, an easy set is
        undecided, scores that are equal item by item pass, and otherwise the bounds of the drop decide."""
        if self.drop.decision is Decision.BEYOND:
            return Outcome.FAILED
        if self.is_same:
            return Outcome.PASSED
        if self.easy:
            return Outcome.UNDECIDED
        return Outcome.PASSED if self.is_equal else _OUTCOMES[self.drop.decision]

    @property
    def is_equal(self) -> bool:
        """Whether no item got worse or better."""
        return not self.losses and not self.gains

    @property
    def sentences(self) -> tuple[str, ...]:
        """What was measured, what follows, and what would decide."""
        d, least = self.drop, 1 - self.drop.alpha
        measured = (
            f"{self.score} is {number(self.old, SCORE)} with {self.old_name} and {number(self.new, SCORE)} with "
            f"{self.new_name}: {_change(d.value)} on {self.items:,} items ({self.losses:,} worse, {self.gains:,} "
            "better)."
        )
        ends = " and ".join(
            part
            for part in (
                "" if d.low is None else f"at least {number(d.low, DROP)}",
                "" if d.high is None else f"at most {number(d.high, DROP)}",
            )
            if part
        )
        if self.is_same:
            return (
                measured,
                "Both models give the same vectors, or the same ranking.",
                *([self.form] if self.form else []),
                *self.doubts,
            )
        bounds = f"With {percent(least)} confidence each, the drop is {ends}." if ends else "The drop has no bounds."
        is_undecided = self.outcome is Outcome.UNDECIDED
        sentences = {
            Decision.BEYOND: f"It is beyond the tolerance of {d.tolerance:g}.",
            Decision.WITHIN: f"It is within the tolerance of {d.tolerance:g}.",
            Decision.UNDECIDED: "" if self.is_equal else f"That does not decide about a tolerance of {d.tolerance:g}.",
        }[d.decision]
        out = [measured, f"{bounds} {sentences}".strip()]
        if is_undecided and d.decision is Decision.UNDECIDED and not self.is_equal:
            out.append(self._what_would_decide)
        if is_undecided and self.easy:
            out.append(f"The golden set is too easy to say that the new model is no worse: {self.easy}. {EASY_REMEDY}")
        elif not is_undecided and d.decision is Decision.UNDECIDED:
            out.append("Every item has the same score with both, which passes, whatever the size of the set.")
        return (*out, f"From {self.independent}.", *([self.form] if self.form else []), *self.doubts)

    def as_json(self) -> dict[str, Any]:
        named = ("outcome", "score", "items", "independent", "losses", "gains", "easy", "doubts")
        return {name: getattr(self, name) for name in named} | {
            "old": {"model": self.old_name, "value": self.old},
            "new": {"model": self.new_name, "value": self.new},
            "drop": asdict(self.drop),
            "same_vectors": self.is_same,
            "worse": [asdict(item) for item in self.worse],
            "said": list(self.sentences),
        }

    @property
    def _what_would_decide(self) -> str:
        d = self.drop
        seen = (
            "No drop is large enough for these items to find it beyond the tolerance."
            if d.visible is None
            else f"The smallest drop that these items find, in four cases of five, is {number(d.visible, SCORE)}."
        )
        if not self.losses:
            seen = f"No item got worse here, but so few do not rule out that others do. {seen}"
        if d.needed is None:
            return f"{seen} The drop is too near the tolerance to say how many items would decide."
        return f"{seen} About {d.needed:,} items would decide if the true drop is as measured."


def _change(drop: float) -> str:
    if drop == 0:
        return "no change"
    return f"a {'drop' if drop > 0 else 'gain'} of {number(abs(drop), DROP)}"


def check_limits(tolerance: Any, alpha: Any) -> None:
    """Raise ``InputError`` if ``judge`` does not take these values."""
    for name, value, least, most in (
        ("largest drop", tolerance, 0, MOST_TOLERATED),
        ("alpha", alpha, LEAST_ALPHA, MOST_ALPHA),
    ):
        if not isinstance(value, int | float) or not least <= value <= most:
            raise InputError(f"the {name} is {value!r}", expected=f"a number from {least:g} to {most:g}")


def judge(
    old: Recorded,
    new: Recorded,
    scores: Mapping[str, ItemScores],
    score: str,
    tolerance: float,
    alpha: float,
    easy: Callable[[float], str] = lambda _: "",
    doubts: Sequence[str] = (),
) -> Verdict:
    """The new model against the old one.

    Args:
        scores: of the new model, with texts and what is independent.
        score: one of ``scores``.
        tolerance: the largest drop that is accepted, 0 or more.
        alpha: probability of a false alarm, over 0 and under 0.5.
        easy: returns, for the old model's score, why a pass would say little, or "". Called only if that can matter.
        doubts: of the golden set.

    Raises:
        InputError: the sides are of different data, diagnostics, parameters or items, or too few to say anything.
    """
    old, form = _alike(old, new, score, next(iter(scores.values())).texts)
    now = scores[score]
    lost = old.parts[score] - now.parts
    value = old.values[score] - now.value
    is_same = have_same_vectors(old, new)
    if now.known.refusal and not is_same:
        raise InputError(
            f"the golden set is too small to gate on: {now.known.refusal}",
            expected="at least eight independent items",
            remedy="add items; audit says how many are worth having",
        )
    low, high = declared(find_diagnostic(new.diagnostic), score).range
    lost = np.where(np.abs(lost) <= ROUNDING * (high - low), 0.0, lost)
    if now.known.refusal:
        dropped = Drop(value, tolerance, alpha, None, None, None, None)
    else:
        dropped = drop(value, lost, now.known, tolerance, alpha, high - low, now.is_mean)
    order = np.argsort(-lost, kind="stable")[: min(SHOWN, int(np.count_nonzero(lost > 0)))]
    worse = [Worse(str(now.texts[i]), float(old.parts[score][i]), float(now.parts[i])) for i in order.tolist()]
    verdict = Verdict(
        score,
        old.name,
        new.name,
        old.values[score],
        now.value,
        dropped,
        len(lost),
        now.known.independent,
        int(np.count_nonzero(lost > 0)),
        int(np.count_nonzero(lost < 0)),
        tuple(worse),
        form,
        is_same,
        doubts=tuple(doubts),
    )
    if is_same or verdict.outcome is Outcome.FAILED:
        return verdict
    return replace(verdict, easy=easy(old.values[score]))


def _alike(old: Recorded, new: Recorded, score: str, texts: Sequence[str]) -> tuple[Recorded, str]:
    """The baseline with its items in the golden set's order, and how the two differ without changing a score."""
    form = ""
    if (old.diagnostic, old.version) != (new.diagnostic, new.version):
        raise InputError(
            f"the baseline is of {old.diagnostic}, version {old.version}",
            expected=f"{new.diagnostic}, version {new.version}",
            remedy="record the baseline again",
        )
    if old.dataset_digest == new.dataset_digest:
        pass
    elif old.form and old.form == new.form:
        form = "Line ends, the Unicode form or the file's name differ from the baseline's, which changes nothing."
    elif old.rows and old.rows == new.rows and (in_order := old.in_order_of(new)):
        old, form = in_order, "The rows are in another order than the baseline's, which changes nothing."
    else:
        raise InputError(
            _what_differs(old, new, texts),
            expected="the same golden set",
            remedy="record the baseline again",
        )
    if dict(old.params) != dict(new.params):
        raise InputError(
            f"the baseline was recorded with {_in_words(old.params)}",
            expected=_in_words(new.params),
            remedy="give the same parameters, or record the baseline again",
        )
    if not np.array_equal(old.numbers, new.numbers):
        raise InputError(
            f"the old model covers {len(old.numbers):,} items and the new one {len(new.numbers):,}, or other ones",
            expected="models that have a vector for the same texts",
        )
    if score not in old.parts:
        raise InputError(f"the baseline has no {score}", expected=f"one of {', '.join(sorted(old.parts))}")
    return old, form


def _what_differs(old: Recorded, new: Recorded, texts: Sequence[str]) -> str:
    """How two golden sets differ; ``texts`` are the new one's items."""
    if not old.texts or not new.texts:
        return "the baseline was recorded on other texts or other judgments than the golden set now has"
    texts_left, left = Counter(old.texts), list[str]()
    for digest, text in zip(new.texts, texts, strict=True):
        if texts_left[digest]:
            texts_left[digest] -= 1
        else:
            left.append(text)
    if left:
        of = counted(len(new.texts), "item")
        return f"{len(left):,} of {of} of the golden set differ from the baseline's, the first: '{left[0][:60]}'"
    if len(new.texts) < len(old.texts):
        return f"the golden set has {len(new.texts):,} of the baseline's {len(old.texts):,} items"
    if old.texts != new.texts:
        return (
            "the golden set has the items that the baseline was recorded on in another order, which decides this score "
            "or is not known of the baseline"
        )
    return "the golden set has the same items as the baseline, and other texts or judgments beside them"


def _in_words(params: Mapping[str, str]) -> str:
    return ", ".join(f"{name} {value}" for name, value in sorted(params.items())) or "no parameters"
