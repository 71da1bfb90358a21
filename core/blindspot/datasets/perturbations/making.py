"""Minimal pairs made by rules: proposals, texts passed over and why, and the rows of a dataset of accepted proposals.

A row of ``pairs`` has an original, a rewrite that changes its meaning and one that keeps it, and says which rules made
them. So every row gives an order (the kept one should be nearer), however few texts a rule can change. A row of
``columns`` has a rewrite per rule; only texts that all of the rules can change have a row.
"""

from __future__ import annotations

import json
import random
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from typing import Any

from blindspot.datasets.perturbations import names
from blindspot.datasets.perturbations.rule import Changed, Passed, Rule
from blindspot.datasets.perturbations.rules import rules_of
from blindspot.datasets.user_data.attributes import PREFIX
from blindspot.datasets.user_data.minimal_pairs import MARK
from blindspot.errors import InputError
from blindspot.texts import counted
from blindspot.types import digest_of_strings

KEPT, CHANGED = "kept", "changed"  # beginnings of the names of rewrites: HEROS reads the meaning from them
KEPT_MEANING, CHANGED_MEANING = f"{KEPT}_meaning", f"{CHANGED}_meaning"
KIND, KEPT_BY = "kind", "kept by"
SEED = 0
FEWEST_ROWS = 2
MAX_ROWS = 200_000


class Form(StrEnum):
    """How rewrites become rows."""

    PAIRS = "pairs"
    COLUMNS = "columns"


@dataclass(frozen=True)
class Proposal:
    """A rewrite that a rule proposes.

    Attributes:
        number: number of the text, from 0.
        said: the change in words.
    """

    rule: Rule
    number: int
    original: str
    rewrite: str
    said: str

    @cached_property
    def id(self) -> str:
        """The same for the same rule, text and rewrite, so that what a reader rejects stays rejected."""
        return digest_of_strings([self.rule.name, self.original, self.rewrite])[:10]


@dataclass(frozen=True)
class Skipped:
    """A text that a rule passed over, and why."""

    rule: Rule
    number: int
    why: str


@dataclass(frozen=True)
class KindCounts:
    """Counts for a kind of rules: rewrites, and texts passed over by reason, the most frequent reason first."""

    kind: str
    meaning: str
    rewrites: int
    reasons: tuple[tuple[str, int], ...]

    @property
    def passed_over(self) -> int:
        return sum(count for _, count in self.reasons)


@dataclass(frozen=True)
class Made:
    """What rules make of texts.

    Attributes:
        proposals: by text, then by rule.
    """

    texts: tuple[str, ...]
    rules: tuple[Rule, ...]
    seed: int
    proposals: tuple[Proposal, ...]
    skipped: tuple[Skipped, ...]

    def counts(self, rejected: Collection[str] = ()) -> dict[Rule, int]:
        """Accepted rewrites per rule."""
        counter = Counter(p.rule.name for p in self.proposals if p.id not in rejected)
        return {rule: counter[rule.name] for rule in self.rules}

    def reasons(self, rule: Rule) -> list[tuple[str, int]]:
        """The reasons why a rule passed over texts, with their counts, the most frequent first."""
        return Counter(skip.why for skip in self.skipped if skip.rule is rule).most_common()

    def by_kind(self, rejected: Collection[str] = ()) -> list[KindCounts]:
        """Accepted rewrites and reasons per kind."""
        counts, kinds = self.counts(rejected), dict[str, list[Rule]]()
        for rule in self.rules:
            kinds.setdefault(rule.kind, []).append(rule)
        out = []
        for kind, rules in kinds.items():
            reasons = Counter[str]()
            for rule in rules:
                reasons.update(dict(self.reasons(rule)))
            rewrites = sum(counts[rule] for rule in rules)
            out.append(KindCounts(kind, rules[0].meaning.value, rewrites, tuple(reasons.most_common())))
        return out

    def as_json(self, rejected: Collection[str] = ()) -> dict[str, Any]:
        """Counts by rule."""
        counts = self.counts(rejected)
        return {
            "texts": len(self.texts),
            "seed": self.seed,
            "rejected": sum(proposal.id in rejected for proposal in self.proposals),
            "kinds": {
                rule.name: {
                    "meaning": rule.meaning,
                    "rewrites": counts[rule],
                    "passed_over": dict(self.reasons(rule)),
                }
                for rule in self.rules
            },
        }


def propose(
    texts: Sequence[str],
    kinds: Sequence[str] = (),
    seed: int = SEED,
    progress: Callable[[str, int, int], None] | None = None,
) -> Made:
    """All rewrites of these texts by the rules of these kinds (of all kinds if none are named).

    Raises:
        InputError: an unknown kind, or no rule can change any text.
    """
    made = rewrites(texts, kinds, seed, progress)
    if not made.proposals:
        whys = {rule.kind: made.reasons(rule)[0][0] for rule in made.rules}
        said_so = "; ".join(f"{kind}: {why}" for kind, why in list(whys.items())[:3])
        raise InputError(
            f"no rule can change any of these {counted(len(texts), 'text')} ({said_so})",
            expected="English sentences with something that the rules of these kinds change",
        )
    return made


def rewrites(
    texts: Sequence[str],
    kinds: Sequence[str] = (),
    seed: int = SEED,
    progress: Callable[[str, int, int], None] | None = None,
) -> Made:
    """As ``propose``, but there may be no rewrite at all; raises ``InputError`` for an unknown kind."""
    rules = rules_of(kinds)
    in_file = names.in_texts(texts) if any(rule.kind == "entity" for rule in rules) else {}
    proposals: list[Proposal] = []
    skipped: list[Skipped] = []
    for number, text in enumerate(texts):
        if progress is not None:
            progress("rewriting", number, len(texts))
        for rule in rules:
            match rule.apply(text, seed, in_file):
                case Changed(rewrite, change):
                    proposals.append(Proposal(rule, number, text, rewrite, change))
                case Passed(why):
                    skipped.append(Skipped(rule, number, why))
    return Made(tuple(texts), rules, seed, tuple(proposals), tuple(skipped))


def form_of(rules: Sequence[Rule]) -> Form:
    """``pairs`` if some rules keep the meaning and others change it, else ``columns``."""
    return Form.PAIRS if len({rule.keeps for rule in rules}) == 2 else Form.COLUMNS


def rows(made: Made, rejected: Collection[str] = (), form: Form | None = None) -> list[dict[str, str]]:
    """The rows of the dataset, by the names of their columns.

    Raises:
        InputError: too few or too many rows for a dataset; or ``pairs`` if all rules keep or all change the meaning.
    """
    accepted = [proposal for proposal in made.proposals if proposal.id not in rejected]
    form = form or form_of(made.rules)
    if form is Form.PAIRS and len({rule.keeps for rule in made.rules}) < 2:
        raise InputError(
            "these kinds all change the meaning, or all keep it, so no row can tell an order",
            expected="kinds of both",
            remedy="add one, or ask for a column per kind (--form columns)",
        )
    rows_of_form = (_pairs if form is Form.PAIRS else _columns)(made, accepted)
    if len(rows_of_form) < FEWEST_ROWS:
        counts = Counter(proposal.rule.kind for proposal in accepted)
        fewest = min(dict.fromkeys(rule.kind for rule in made.rules), key=lambda kind: counts[kind])
        pairs = " or --form pairs" if form is Form.COLUMNS and form_of(made.rules) is Form.PAIRS else ""
        raise InputError(
            f"only {counted(len(rows_of_form), 'row')} would be made",
            expected=f"at least {FEWEST_ROWS}",
            remedy=f"take more texts, or other kinds (fewest rewrites: {fewest}, {counts[fewest]:,}){pairs}",
        )
    if len(rows_of_form) > MAX_ROWS:
        raise InputError(
            f"{len(rows_of_form):,} rows", expected=f"at most {MAX_ROWS:,}", remedy="take fewer kinds or texts"
        )
    return rows_of_form


def _by_text(accepted: Sequence[Proposal]) -> Mapping[int, list[Proposal]]:
    out: dict[int, list[Proposal]] = {}
    for proposal in accepted:
        out.setdefault(proposal.number, []).append(proposal)
    return out


def _pairs(made: Made, accepted: Sequence[Proposal]) -> list[dict[str, str]]:
    """A row per rewrite that changes the meaning, with a rewrite that keeps it, drawn by kind, then within the kind."""
    out = []
    for proposals in _by_text(accepted).values():
        kept: dict[str, list[Proposal]] = {}
        for proposal in proposals:
            if proposal.rule.keeps:
                kept.setdefault(proposal.rule.kind, []).append(proposal)
        for changed in (p for p in proposals if not p.rule.keeps and kept):
            drawn = random.Random(  # noqa: S311 - no secret
                f"{made.seed} {changed.rule.name} {changed.original}"
            )
            other = drawn.choice(kept[drawn.choice(sorted(kept))])
            out.append(
                {
                    "original": changed.original,
                    f"{MARK}{KEPT_MEANING}": other.rewrite,
                    f"{MARK}{CHANGED_MEANING}": changed.rewrite,
                    f"{PREFIX}{KIND}": changed.rule.kind.replace("_", " "),
                    f"{PREFIX}{KEPT_BY}": other.rule.name.replace("_", " "),
                }
            )
    return out


def _columns(made: Made, accepted: Sequence[Proposal]) -> list[dict[str, str]]:
    """A row per text that all rules with any rewrite change."""
    have = {proposal.rule.name for proposal in accepted}
    rules = [rule for rule in made.rules if rule.name in have]
    out = []
    for proposals in _by_text(accepted).values():
        by_rule = {proposal.rule.name: proposal for proposal in proposals}
        if len(by_rule) == len(rules):
            rewrites = {f"{MARK}{column_of(rule)}": by_rule[rule.name].rewrite for rule in rules}
            out.append({"original": proposals[0].original, **rewrites})
    return out


def column_of(rule: Rule) -> str:
    """The name of the column with a rule's rewrites."""
    return f"{KEPT if rule.keeps else CHANGED}_{rule.name}"


def as_jsonl(all_rows: Sequence[Mapping[str, str]]) -> bytes:
    """The content of a file that loads as ``file:``; texts stay exactly as they are."""
    return "".join(f"{json.dumps(row, ensure_ascii=False)}\n" for row in all_rows).encode()
