"""Lexical overlap of two sentences, as in table 1 of the HEROS paper (Chiang 2023, appendix B).

ROUGE F1 exactly as the package ``rouge`` 1.0.1 computes it, which is neither Google's nor the original Perl: a text is
split at every full stop, words at spaces (case and other punctuation count), n-grams are *sets*, and ROUGE-L counts the
distinct words of the union of the longest common subsequences. Levenshtein distance and length are over word pieces.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import astuple, dataclass
from itertools import pairwise
from math import fsum, nan
from typing import NamedTuple

from rapidfuzz.distance import Levenshtein

from blindspot.datasets.kinds.base import Dataset
from blindspot.datasets.kinds.minimal_pairs import MinimalPairSet
from blindspot.datasets.kinds.scored_pairs import ScoredPairs
from blindspot.errors import InputError
from blindspot.types import CancelToken, Progress, no_progress

PIECES_AT_ONCE = 1_000  # pairs of which word pieces are made together
_SMOOTHING = 1e-8  # of the package: F1 is 0 with nothing in common, a little below 1 with everything in common

Pieces = Callable[[Sequence[str]], Sequence[Sequence[int]]]


class Rouge(NamedTuple):
    """F1 of a pair, each from 0 to 1."""

    rouge_1: float
    rouge_2: float
    rouge_l: float


@dataclass(frozen=True)
class Overlap:
    """Means over pairs of sentences.

    Attributes:
        rouge_1, rouge_2, rouge_l: mean F1, from 0 to 1, over the pairs in which both texts have more than full stops;
            NaN if there are no such pairs.
        levenshtein: mean normalized distance over word pieces, from 0 (the same) to 1.
        length: mean number of word pieces of a sentence.
    """

    pairs: int
    rouge_1: float
    rouge_2: float
    rouge_l: float
    levenshtein: float
    length: float


# Table 1 of Chiang 2023; HEROS's own is averaged over its six subsets.
PUBLISHED: Mapping[str, Overlap] = {
    "STS-B": Overlap(1_379, 0.558, 0.325, 0.532, 0.54, 12.2),
    "SICK-R": Overlap(4_927, 0.612, 0.374, 0.562, 0.53, 10.0),
    "HEROS": Overlap(6_000, 0.929, 0.848, 0.929, 0.10, 13.8),
}


def rouge(hypothesis: str, reference: str) -> Rouge | None:
    """ROUGE-1, -2 and -L of two texts; None if one of them is nothing but full stops.

    Their order matters only to ROUGE-L, if there are several longest common subsequences.
    """
    sentences, references = _sentences(hypothesis), _sentences(reference)
    if not sentences or not references:
        return None
    first, second = ([word for sentence in s for word in sentence] for s in (sentences, references))
    words, other = set(first), set(second)
    pairs, other_pairs = set(pairwise(first)), set(pairwise(second))
    common: set[str] = set()
    for other_sentence in references:
        for sentence in sentences:
            common |= _subsequence(other_sentence, sentence)
    return Rouge(
        _f1(len(words & other), len(words), len(other)),
        _f1(len(pairs & other_pairs), len(pairs), len(other_pairs)),
        _f1(len(common), len(words), len(other)),
    )


def levenshtein(first: Sequence[int], second: Sequence[int]) -> float:
    """Edit distance of two sequences by the length of the longer one."""
    return float(Levenshtein.normalized_distance(first, second))


def overlap(
    firsts: Sequence[str],
    seconds: Sequence[str],
    pieces: Pieces,
    progress: Progress = no_progress,
    cancel: CancelToken | None = None,
) -> Overlap:
    """Mean overlap of ``firsts[i]`` and ``seconds[i]``.

    Args:
        firsts: the hypotheses (in minimal pairs, the originals).
        seconds: the references (the rewrites).
        pieces: gives the ids of each text's word pieces.

    Raises:
        ValueError: no pairs, or different numbers of texts.
    """
    if not firsts or len(firsts) != len(seconds):
        raise ValueError(f"{len(firsts)} and {len(seconds)} texts are no pairs")
    scores: list[Rouge] = []
    distances: list[float] = []
    total = 0
    for start in range(0, len(firsts), PIECES_AT_ONCE):
        progress("comparing words", start, len(firsts))
        some, others = firsts[start : start + PIECES_AT_ONCE], seconds[start : start + PIECES_AT_ONCE]
        for text, other, ids, other_ids in zip(some, others, pieces(some), pieces(others), strict=True):
            if cancel is not None:
                cancel.check()
            if (score := rouge(text, other)) is not None:
                scores.append(score)
            distances.append(levenshtein(ids, other_ids))
            total += len(ids) + len(other_ids)
    progress("comparing words", len(firsts), len(firsts))
    rouge_1, rouge_2, rouge_l = map(_mean, zip(*scores, strict=True)) if scores else (nan, nan, nan)
    return Overlap(len(firsts), rouge_1, rouge_2, rouge_l, _mean(distances), total / (2 * len(firsts)))


def of_subsets(dataset: MinimalPairSet, pieces: Pieces, progress: Progress = no_progress) -> dict[str, Overlap]:
    """Overlap of originals and rewrites per subset, in the dataset's order."""
    originals = [dataset.items[i] for i in dataset.originals]
    rewrites = {subset: [dataset.items[i] for i in numbers] for subset, numbers in dataset.rewrites.items()}
    return _of_all({subset: (originals, texts) for subset, texts in rewrites.items()}, pieces, progress)


def of_sets(dataset: ScoredPairs, pieces: Pieces, progress: Progress = no_progress) -> dict[str, Overlap]:
    """Overlap per set of scored pairs."""
    sets = {}
    for number, name in enumerate(dataset.sets):
        inside = dataset.set_numbers == number
        firsts, seconds = ([dataset.items[i] for i in side[inside]] for side in (dataset.firsts, dataset.seconds))
        sets[name] = (firsts, seconds)
    return _of_all(sets, pieces, progress)


def of_dataset(dataset: Dataset, pieces: Pieces, progress: Progress = no_progress) -> dict[str, Overlap]:
    """``of_subsets`` of minimal pairs, or ``of_sets`` of scored pairs; ``InputError`` for other datasets."""
    if isinstance(dataset, MinimalPairSet):
        return of_subsets(dataset, pieces, progress)
    if isinstance(dataset, ScoredPairs):
        return of_sets(dataset, pieces, progress)
    raise InputError(
        f"'{dataset.id}' is a {dataset.kind.in_words}",
        expected="minimal pairs or scored pairs, for example demo-minimal",
    )


def _of_all(sets: Mapping[str, tuple[list[str], list[str]]], pieces: Pieces, progress: Progress) -> dict[str, Overlap]:
    """``overlap`` of every set; the progress counts the pairs of all sets."""
    everything, before = sum(len(firsts) for firsts, _ in sets.values()), 0

    def of_all(stage: str, done: int, total: int, fraction: float | None = None) -> None:  # noqa: ARG001 - Progress
        progress(stage, before + done, everything)

    out = {}
    for name, (firsts, seconds) in sets.items():
        out[name] = overlap(firsts, seconds, pieces, of_all)
        before += len(firsts)
    return out


def mean_of(overlaps: Sequence[Overlap]) -> Overlap:
    """The mean over subsets of equal size, as in table 1 for HEROS; raises ``ValueError`` for others."""
    if not overlaps or len({o.pairs for o in overlaps}) > 1:
        raise ValueError("subsets of one size are expected")
    _, *columns = zip(*map(astuple, overlaps), strict=True)
    return Overlap(sum(o.pairs for o in overlaps), *map(_mean, columns))


def _sentences(text: str) -> list[list[str]]:
    """The words of each part between full stops; as in the package, a part with only spaces has one empty word."""
    return [" ".join(part.split()).split(" ") for part in text.split(".") if part]


def _f1(common: int, n: int, m: int) -> float:
    precision = common / n if n else 0.0
    recall = common / m if m else 0.0
    return 2.0 * ((precision * recall) / (precision + recall + _SMOOTHING))


def _subsequence(x: Sequence[str], y: Sequence[str]) -> set[str]:
    """The distinct words of a longest common subsequence; among several of one length, the one that the package takes.

    The common beginning and end are in all of them, so the table covers the middle only: a word or two in a minimal
    pair.
    """
    start, shorter = 0, min(len(x), len(y))
    while start < shorter and x[start] == y[start]:
        start += 1
    end = 0
    while end < shorter - start and x[-1 - end] == y[-1 - end]:
        end += 1
    words = {*x[:start], *x[len(x) - end :]}
    x, y = x[start : len(x) - end], y[start : len(y) - end]
    if not x or not y:
        return words
    table = [[0] * (len(y) + 1)]
    for word in x:
        above, row = table[-1], [0]
        for j, other in enumerate(y):
            row.append(above[j] + 1 if word == other else max(above[j + 1], row[j]))
        table.append(row)
    i, j = len(x), len(y)
    while i and j:
        if x[i - 1] == y[j - 1]:
            words.add(x[i - 1])
            i, j = i - 1, j - 1
        elif table[i - 1][j] > table[i][j - 1]:
            i -= 1
        else:
            j -= 1
    return words


def _mean(values: Sequence[float]) -> float:
    return fsum(values) / len(values)
