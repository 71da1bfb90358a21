"""Train/test splits that never have one group on both sides.

A *group* is a number that examples share if they must stay together: equal ones (``LabeledTexts.same``), or pairs with
a common text. Folds hold whole groups, and about the same number of examples of every class. scikit-learn's
``StratifiedGroupKFold`` loops over all groups and takes seven seconds for ten thousand examples; this loops over groups
of several examples only.
"""

from __future__ import annotations

from dataclasses import dataclass
from heapq import heapify, heapreplace

import numpy as np

from blindspot.datasets.kinds.labeled_texts import DEV, TEST, TRAIN
from blindspot.types import Int8, Int32, Int64

FOLDS = 10


@dataclass(frozen=True, eq=False)
class Split:
    """Ascending numbers of examples: train on ``fit``, choose by ``dev``, test on ``test``.

    Attributes:
        is_prescribed: whether dev is the task's own dev part; then it is never trained on.
    """

    fit: Int64
    dev: Int64
    test: Int64
    is_prescribed: bool = False

    @property
    def training(self) -> Int64:
        """What the final model is trained on."""
        return self.fit if self.is_prescribed else np.union1d(self.fit, self.dev)


def grouped_folds(labels: Int32, groups: Int64, folds: int, seed: int) -> Int64:
    """The fold of each example, ``[m]`` from 0, for their classes ``labels [m]`` and ``groups [m]``.

    Groups of several examples come first, the largest first, each to the fold where the sum over folds and classes of
    the squared shares of a class grows least. Then single examples, class by class, go to the fold with the fewest of
    their class, among several to the smallest. The seed breaks ties.
    """
    rng = np.random.default_rng(seed)
    _, classes = np.unique(labels, return_inverse=True)
    _, group = np.unique(groups, return_inverse=True)
    sizes = np.bincount(group)
    fold_of_group = np.empty(len(sizes), dtype=np.int64)
    counts = np.zeros((folds, int(classes.max(initial=-1)) + 1))
    totals = np.bincount(classes)
    order = rng.permutation(folds)  # breaks ties

    several = rng.permutation(np.flatnonzero(sizes > 1))
    several = several[np.argsort(-sizes[several], kind="stable")]
    within = np.zeros((len(sizes), len(totals)) if len(several) else (0, 0))
    if len(several):
        np.add.at(within, (group, classes), 1.0)
    for g in several:
        added = within[g]
        growth = (2 * counts + added) @ (added / totals**2)
        fold = min(range(folds), key=lambda f: (round(growth[f], 12), counts[f].sum(), order[f]))
        counts[fold] += added
        fold_of_group[g] = fold

    single = sizes[group] == 1
    for k in rng.permutation(len(totals)):
        members = rng.permutation(np.flatnonzero(single & (classes == k)))
        heap = [(counts[f, k], counts[f].sum(), order[f], f) for f in range(folds)]
        heapify(heap)
        for example in members:
            of_class, total, index, fold = heap[0]
            fold_of_group[group[example]] = fold
            counts[fold, k] += 1
            heapreplace(heap, (of_class + 1, total + 1, index, fold))
    return fold_of_group[group]


def folds(labels: Int32, groups: Int64, seed: int, number: int = FOLDS) -> list[Split]:
    """One split per fold: it tests that fold and chooses by the next one. There are at most as many folds as groups.

    Raises:
        ValueError: fewer than three groups: one to train on, one to choose by and one to test.
    """
    number = min(number, len(np.unique(groups)))
    if number < 3:
        raise ValueError(f"{number} groups cannot be learned from, chosen by and asked for")
    fold = grouped_folds(labels, groups, number, seed)
    out = []
    for test in range(number):
        dev = (test + 1) % number
        is_test, is_dev = fold == test, fold == dev
        out.append(Split(np.flatnonzero(~is_test & ~is_dev), np.flatnonzero(is_dev), np.flatnonzero(is_test)))
    return out


def prescribed(parts: Int8, labels: Int32, groups: Int64, seed: int) -> Split:
    """A task's own split, from ``parts [m]``: ``TRAIN``, ``DEV`` or ``TEST``.

    Without a dev part, a tenth of the training part is used to choose by, and trained on afterwards.
    """
    train, dev, test = (np.flatnonzero(parts == part) for part in (TRAIN, DEV, TEST))
    if len(dev):
        return Split(train, dev, test, is_prescribed=True)
    inner = grouped_folds(labels[train], groups[train], FOLDS, seed) if len(train) else train
    return Split(train[inner != 0], train[inner == 0], test)
