"""Choice of what to train on: filters with their counts, and a split by connected components.

Left out is what would spoil an evaluation: examples with a near-duplicate of a text that something else is evaluated
on. What is held out of the data themselves shares no text, near-duplicates included, with what is trained on.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from blindspot.errors import InputError
from blindspot.runs.training_data.examples import Triplet
from blindspot.runs.training_data.near_duplicates import groups, key_of, near
from blindspot.texts import counted
from blindspot.types import Bool, CancelToken, Int64

SEED = 28_003
HELD_OUT = 0.2  # share of the examples
FEWEST = 4  # examples that can be split
# In the order in which they are looked for.
SAME, TWICE, KIND, EVALUATED, ACROSS = (
    "two of its texts are the same",
    "repeats another example",
    "of another kind",
    "near-duplicate of a text to evaluate on",
    "negative on the other side of the split",
)


@dataclass(frozen=True)
class TrainingData:
    """Examples to train on, and examples of the same kind to test on.

    Attributes:
        left_out: how many examples, by reason; only reasons that occur.
        components: how many groups of examples that share a text there are, in both parts together.
        whole: whether examples that share a negative were kept together, too; otherwise only those that share an
            anchor or a positive, and an example whose negative is on the other side is left out.
    """

    train: tuple[Triplet, ...]
    held_out: tuple[Triplet, ...]
    left_out: Mapping[str, int]
    components: int
    whole: bool


def made(
    triplets: Iterable[Triplet],
    evaluated: Collection[str],
    *,
    kinds: Collection[str] = (),
    held_out: float = HELD_OUT,
    seed: int = SEED,
    cancel: CancelToken | None = None,
) -> TrainingData:
    """Filter examples and split them.

    Args:
        evaluated: texts of other evaluations.
        kinds: of negatives to take; none means all.
        held_out: share of the examples, approximately, since components stay whole.

    Raises:
        InputError: an unknown kind; too few examples are left; or all of them are connected.
        Cancelled: see ``cancel``.
    """
    given = list(triplets)
    kinds_present = sorted({example.kind for example in given})
    if missing := sorted(set(kinds) - set(kinds_present)):
        raise InputError(
            f"no example is of the kind '{missing[0]}'",
            expected=f"one of {', '.join(kinds_present)}" if kinds_present else "",
        )
    kept, left_out = _filtered(given, evaluated, frozenset(kinds), cancel)
    if len(kept) < FEWEST:
        why = "; ".join(f"{counted(count, 'example')}: {reason}" for reason, count in left_out.items())
        raise InputError(
            f"{counted(len(kept), 'example')} left to train on, of {len(given):,}" + (f" ({why})" if why else ""),
            expected=f"{FEWEST} or more",
            remedy="a larger margin or dataset gives more, and so does allowing texts of the datasets evaluated on",
        )
    sides = split([example.texts for example in kept], held_out, seed, cancel)
    if crossing := int(np.count_nonzero(sides.crossing)):
        left_out[ACROSS] = crossing
    rows = list(zip(kept, sides.is_held_out, sides.crossing, strict=True))
    return TrainingData(
        tuple(example for example, out, crosses in rows if not out and not crosses),
        tuple(example for example, out, crosses in rows if out and not crosses),
        left_out,
        sides.components,
        sides.whole,
    )


def _filtered(
    triplets: Sequence[Triplet], evaluated: Collection[str], kinds: Collection[str], cancel: CancelToken | None
) -> tuple[list[Triplet], dict[str, int]]:
    """Those to train on, and how many others for each reason."""
    texts = list(dict.fromkeys(text for triplet in triplets for text in triplet.texts))
    is_near = dict(zip(texts, near(texts, evaluated, cancel), strict=True))
    kept, seen, left_out = list[Triplet](), set[tuple[str, ...]](), dict.fromkeys((SAME, TWICE, KIND, EVALUATED), 0)
    for triplet in triplets:
        keys = tuple(map(key_of, triplet.texts))
        if kinds and triplet.kind not in kinds:
            left_out[KIND] += 1
        elif len(set(keys)) < len(keys):
            left_out[SAME] += 1
        elif keys in seen:
            left_out[TWICE] += 1
        elif any(is_near[text] for text in triplet.texts):
            left_out[EVALUATED] += 1
        else:
            kept.append(triplet)
        seen.add(keys)
    return kept, {reason: count for reason, count in left_out.items() if count}


@dataclass(frozen=True, eq=False)
class Split:
    """Sides of examples.

    Attributes:
        is_held_out: ``[m] bool``; components ``[m]`` are the groups of examples that share a text, from 0.
        crossing: ``[m] bool``, whether the negative is on the other side; none are where the split is ``whole``.
    """

    is_held_out: Bool
    component: Int64
    crossing: Bool
    whole: bool

    @property
    def components(self) -> int:
        return int(self.component.max(initial=-1)) + 1


def split(
    rows: Sequence[tuple[str, str, str]], share: float, seed: int = SEED, cancel: CancelToken | None = None
) -> Split:
    """Split examples (anchor, positive, negative) so that no text, near-duplicates included, is on both sides.

    Whole components of examples are held out, in a random order, until they are about ``share`` of all. If more than
    half of the examples are one component, since a few texts are the negative of many, only anchors and positives
    connect.

    Raises:
        InputError: these connect more than half of the examples, too.
        Cancelled: see ``cancel``.
    """
    group = groups([text for row in rows for text in row], cancel).reshape(len(rows), 3)
    for columns in (3, 2):
        component = _components(group[:, :columns])
        sizes = np.bincount(component)
        if 2 * int(sizes.max()) <= len(rows):
            out = _drawn(sizes, share, seed)[component]
            crossing = np.zeros(len(rows), dtype=np.bool_) if columns == 3 else _crossing(group, out)
            return Split(out, component, crossing, columns == 3)
    raise InputError(
        f"{int(sizes.max()):,} of {counted(len(rows), 'example')} are connected by texts that they share: nothing can "
        "be held out that was not trained on",
        expected="examples of many different texts",
    )


def components_of(rows: Sequence[tuple[str, str, str]], *, whole: bool) -> Int64:
    """A number for each example, ``[m]`` from 0, shared by those that are connected as in ``split``."""
    if not rows:
        return np.empty(0, dtype=np.int64)
    group = groups([text for row in rows for text in row]).reshape(len(rows), 3)
    return _components(group if whole else group[:, :2])


def _components(ends: Int64) -> Int64:
    """A number for each row ``[m, k]`` of nodes, from 0: rows that share a node, directly or by way of others."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    nodes = int(ends.max()) + 1
    first = np.repeat(ends[:, 0], ends.shape[1] - 1)
    joined = coo_array((np.ones(len(first)), (first, ends[:, 1:].ravel())), shape=(nodes, nodes))
    _, label = connected_components(joined, directed=False)
    _, component = np.unique(label[ends[:, 0]], return_inverse=True)
    return np.asarray(component, dtype=np.int64)


def _drawn(sizes: Int64, share: float, seed: int) -> Bool:
    """Which components are held out, ``[c] bool``: at least one of them, and not all."""
    order = np.random.default_rng(seed).permutation(len(sizes))
    wanted, taken = share * int(sizes.sum()), 0
    out = np.zeros(len(sizes), dtype=np.bool_)
    for group in order[:-1].tolist():
        # As near to the share as it comes: a large component may be too much.
        if abs(taken + sizes[group] - wanted) < abs(taken - wanted) or not taken:
            out[group] = True
            taken += int(sizes[group])
    return out


def _crossing(group: Int64, is_held_out: Bool) -> Bool:
    """Rows ``[m, 3]`` whose negative is an anchor or positive of the other side, or a negative of both sides.

    A negative that is no anchor or positive is on the side where it is met first.
    """
    side = np.full(int(group.max()) + 1, -1)
    side[group[:, :2].ravel()] = np.repeat(is_held_out, 2)
    out = np.zeros(len(group), dtype=np.bool_)
    for row, (negative, held) in enumerate(zip(group[:, 2].tolist(), is_held_out.tolist(), strict=True)):
        if side[negative] < 0:
            side[negative] = held
        out[row] = side[negative] != held
    return out
