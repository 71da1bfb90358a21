"""Which part of a dataset encoders cover: what is ranked, and the counts that are shown (DESIGN 4.1, coverage)."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from core.datasets.kinds.base import Dataset, Part
from core.datasets.kinds.labelled_texts import CoveredExamples, LabelledTexts
from core.datasets.kinds.pairs import PairSet, RankedPairs
from core.datasets.kinds.relations import Analogies, Categories, CoveredAnalogies, CoveredCategories
from core.datasets.kinds.scored_pairs import CoveredPairs, ScoredPairs
from core.datasets.kinds.vocabulary import CoveredWords, Vocabulary
from core.diagnostic import DiagnosticResult
from core.errors import InputError
from core.types import Bool


def part_of(dataset: Dataset, support: Bool, whose: str) -> Part:
    """The part of a dataset whose items have a vector, ``support [n] bool``.

    Args:
        whose: whose vectors these are, for the error.

    Raises:
        InputError: no pair, question or word is left.
    """
    if isinstance(dataset, Vocabulary | Categories):
        if not support.any():
            raise InputError(
                f"none of the {len(dataset.items):,} words of '{dataset.id}' has a vector from {whose}",
                expected=f"an encoder that knows the words of this {dataset.kind}",
            )
        if isinstance(dataset, Categories):
            return CoveredCategories.of(dataset, support)
        return CoveredWords.of(dataset, support)
    if isinstance(dataset, Analogies):
        asked = CoveredAnalogies.of(dataset, support)
        if not len(asked.questions):
            raise InputError(
                f"no question of '{dataset.id}' is left: none has vectors of all its four words from {whose}",
                expected="an encoder that knows the words of the questions",
            )
        return asked
    if isinstance(dataset, LabelledTexts):
        labelled = CoveredExamples.of(dataset, support)
        if not len(labelled.examples):
            raise InputError(
                f"no example of '{dataset.id}' is left: none has a vector for its text from {whose}",
                expected="an encoder that knows the dataset's texts",
            )
        return labelled
    if not isinstance(dataset, PairSet | ScoredPairs):
        raise TypeError(f"a {dataset.kind} has no parts")
    ranked = CoveredPairs.of(dataset, support) if isinstance(dataset, ScoredPairs) else RankedPairs.of(dataset, support)
    if not len(ranked.pairs):
        done = "compared" if isinstance(dataset, ScoredPairs) else "ranked"
        raise InputError(
            f"no pair of '{dataset.id}' can be {done}: {len(ranked.items):,} of {len(dataset.items):,} items have "
            f"a vector from {whose}, and no pair has both of its texts among them",
            expected="an encoder that knows the dataset's texts",
        )
    return ranked


def check_covers_all(encoder: str, dataset: Dataset, covered: Bool, diagnostic: str) -> None:
    """For a dataset of which no part can be left out.

    Raises:
        InputError: the encoder has no vector for some text.
    """
    if covered.all():
        return
    first = dataset.items[int(np.argmin(covered))]
    raise InputError(
        f"'{encoder}' has a vector for {np.count_nonzero(covered):,} of the {len(covered):,} texts "
        f"of '{dataset.id}', and none for '{first}'",
        expected=f"an encoder that has one for every text, since {diagnostic} compares each original with all "
        "its rewrites",
    )


def with_coverage(result: DiagnosticResult, dataset: Dataset, covered: Bool, ranked: Part | None) -> DiagnosticResult:
    """A result for part of a dataset, in the numbers and counts of the whole; any other as it is."""
    support = covered if ranked is None else ranked.support
    match dataset:
        case Vocabulary():
            result = replace(result, coverage=_items_covered(support))
        case Categories():
            result = replace(result, coverage=_items_covered(support), item_numbers=np.flatnonzero(support))
        case Analogies():
            result = _of_analogies(result, dataset, support)
        case LabelledTexts():
            result = _of_examples(result, dataset, support)
        case PairSet() | ScoredPairs() if isinstance(ranked, RankedPairs | CoveredPairs):
            result = replace(result, coverage=_coverage(dataset, support), item_numbers=ranked.pairs)
        case PairSet() | ScoredPairs():
            result = replace(result, coverage=_coverage(dataset, covered))
    return result


def _coverage(dataset: PairSet | ScoredPairs, covered: Bool) -> dict[str, int]:
    """How many pairs and items there are, and how many the encoder (with those it is compared with) covers."""
    ends = (dataset.firsts, dataset.seconds) if isinstance(dataset, ScoredPairs) else (dataset.queries, dataset.mates)
    return {
        "pairs": len(ends[0]),
        "pairs_covered": int(np.count_nonzero(covered[ends[0]] & covered[ends[1]])),
        **_items_covered(covered),
    }


def _of_analogies(result: DiagnosticResult, dataset: Analogies, support: Bool) -> DiagnosticResult:
    asked = CoveredAnalogies.of(dataset, support).questions
    counts = {"questions": len(dataset.answers), "questions_covered": len(asked)}
    return replace(result, coverage=counts | _items_covered(support), item_numbers=asked)


def _of_examples(result: DiagnosticResult, dataset: LabelledTexts, support: Bool) -> DiagnosticResult:
    """Rows are of the examples that were tested: their numbers among those covered become those of the whole."""
    covered = CoveredExamples.of(dataset, support).examples
    counts = {"examples": len(dataset.labels), "examples_covered": len(covered)}
    tested = covered if result.item_numbers is None else covered[result.item_numbers]
    return replace(result, coverage=counts | _items_covered(support), item_numbers=tested)


def _items_covered(covered: Bool) -> dict[str, int]:
    return {"items": len(covered), "items_covered": int(np.count_nonzero(covered))}
