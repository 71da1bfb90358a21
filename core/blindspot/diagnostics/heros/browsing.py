"""Filters and orders of HEROS's originals, from the stored similarities.

*A* and *B* are two runs that a reader compares. A rewrite is *above* another one if its cosine with the original is
higher by more than TAU, as in the ordering rates. A missing value is NaN: it passes no filter, and comes last in every
order.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

import numpy as np
import pandas as pd

from blindspot import texts
from blindspot.numerics.ranking.problem import TAU
from blindspot.numerics.statistics.outcomes import Outcomes
from blindspot.types import Bool, Float64, Int64
from blindspot.variants import Variant

NUMBER, ORIGINAL = "no", "original"
DIFFERENCES = LARGEST, DIFFERS_IN, TURNED = "largest difference", "differs most in", "orders that differ"  # with B


@dataclass(frozen=True, eq=False)
class Sentences:
    """Originals with their rewrites, and the similarities of several runs.

    Attributes:
        numbers: ``[n] int64``, the originals' numbers in the dataset, ascending.
        originals: their ``n`` texts; ``original_items [n] int64`` are their numbers among the dataset's items.
        rewrites: ``[n, k]`` texts; ``rewrite_items [n, k] int64`` likewise. Equal texts share an item number.
        cosine, similarity: per run id ``[n, k] float64``; the latter is normalized by ``cos_avg``.
    """

    numbers: Int64
    originals: Sequence[str]
    original_items: Int64
    subsets: tuple[str, ...]
    rewrites: Sequence[Sequence[str]]
    rewrite_items: Int64
    cosine: Mapping[str, Float64]
    similarity: Mapping[str, Float64]

    def place(self, number: int) -> int | None:
        """The row of an original, by its number."""
        places = np.flatnonzero(self.numbers == number)
        return int(places[0]) if len(places) else None

    def column(self, subset: str) -> int:
        return self.subsets.index(subset)


def sentences(rows: pd.DataFrame, subsets: Sequence[str]) -> Sentences:
    """The stored rows of runs over one dataset, side by side.

    Args:
        rows: a row per run, original and subset (``Repository.items`` with texts).
        subsets: the columns, in this order.
    """
    rows = rows[rows["subset"].isin(list(subsets))]
    numbers, at = np.unique(rows["item_no"].to_numpy(dtype=np.int64), return_inverse=True)
    column = pd.Categorical(rows["subset"], categories=list(subsets)).codes
    run, run_ids = pd.factorize(rows["run_id"])
    shape = (len(numbers), len(subsets))

    def table(values: pd.Series, chosen: Bool) -> Float64:
        out = np.full(shape, np.nan)
        out[at[chosen], column[chosen]] = values.to_numpy(dtype=np.float64)[chosen]
        return out

    # The texts are the same for every run: a pair's first row has them.
    _, first = np.unique(at.astype(np.int64) * len(subsets) + column, return_index=True)
    texts = np.full(shape, "", dtype=object)
    texts[at[first], column[first]] = rows["rewrite"].to_numpy(dtype=object)[first]
    items = np.full(shape, -1, dtype=np.int64)
    items[at[first], column[first]] = rows["rewrite_no"].to_numpy(dtype=np.int64)[first]
    _, of_original = np.unique(at, return_index=True)
    chosen = [(str(run_id), run == i) for i, run_id in enumerate(run_ids)]
    return Sentences(
        numbers=numbers,
        originals=rows["original"].to_numpy(dtype=object)[of_original].tolist(),
        original_items=rows["original_no"].to_numpy(dtype=np.int64)[of_original],
        subsets=tuple(subsets),
        rewrites=texts.tolist(),
        rewrite_items=items,
        cosine={run_id: table(rows["cosine"], mask) for run_id, mask in chosen},
        similarity={run_id: table(rows["similarity"], mask) for run_id, mask in chosen},
    )


# --- filters


class Where(StrEnum):
    """The runs, of two, in which an order of rewrites must hold; the values are also in addresses."""

    A = "in A"
    B = "in B"
    BOTH = "in A and in B"
    ONLY_A = "in A, not in B"
    ONLY_B = "in B, not in A"


@dataclass(frozen=True)
class Above:
    """The order of two subsets' rewrites in which the first is nearer to the original."""

    nearer: str
    farther: str

    def __str__(self) -> str:
        return f"{self.nearer} above {self.farther}"


@dataclass(frozen=True)
class Filter:
    """Conditions that an original must all meet to be shown.

    Attributes:
        wanted: text of the original or of one of its rewrites, in any case.
        above: orders that must all hold, in the runs of ``where``.
        subset: the rewrite that ``low``, ``high`` and ``apart`` are about; None for any one of them.
        low, high: bounds of its normalized similarity in A.
        apart: least difference of its similarities in A and B.
    """

    wanted: str = ""
    above: tuple[Above, ...] = ()
    where: Where = Where.A
    subset: str | None = None
    low: float | None = None
    high: float | None = None
    apart: float | None = None


def kept(triples: Sentences, wish: Filter, a: str, b: str | None) -> Bool:
    """Which originals a filter keeps, ``[n] bool``; without ``b``, conditions on B are ignored."""
    mask = np.ones(len(triples.numbers), dtype=np.bool_)
    if wish.wanted:
        rows = zip(triples.originals, triples.rewrites, strict=True)
        mask &= [any(texts.containing([original, *rest], wish.wanted)) for original, rest in rows]
    if wish.above:
        in_a, in_b = (_all_above(triples, wish.above, run_id) for run_id in (a, b or a))
        holds = {
            Where.A: in_a,
            Where.B: in_b,
            Where.BOTH: in_a & in_b,
            Where.ONLY_A: in_a & ~in_b,
            Where.ONLY_B: in_b & ~in_a,
        }
        mask &= holds[wish.where if b is not None else Where.A]
    columns = slice(None) if wish.subset is None else [triples.column(wish.subset)]
    similar = triples.similarity[a][:, columns]
    bounds: list[Bool] = []
    if wish.low is not None:
        bounds.append(similar >= wish.low)
    if wish.high is not None:
        bounds.append(similar <= wish.high)
    if wish.apart is not None and b is not None:
        bounds.append(np.abs(similar - triples.similarity[b][:, columns]) >= wish.apart)
    if bounds:  # one rewrite must be within all of them
        mask &= np.logical_and.reduce(bounds).any(axis=1)
    return mask


def _all_above(triples: Sentences, above: Sequence[Above], run_id: str) -> Bool:
    """In which originals all of the orders hold in one run, ``[n] bool``; a tie is no order."""
    cosine = triples.cosine[run_id]
    leads = [cosine[:, triples.column(order.nearer)] - cosine[:, triples.column(order.farther)] for order in above]
    return np.asarray((np.array(leads) > TAU).all(axis=0))


def orders_right(triples: Sentences, run_id: str, demanded: Sequence[Above]) -> Float64:
    """How many of the demanded orders a run has in each original, ``[n]``: a tie counts half; NaN without a cosine."""
    cosine = triples.cosine[run_id]
    leads = np.array([cosine[:, triples.column(o.nearer)] - cosine[:, triples.column(o.farther)] for o in demanded])
    right = np.where(leads > TAU, 1.0, np.where(leads < -TAU, 0.0, 0.5))
    return np.asarray(np.where(np.isnan(leads), np.nan, right).sum(axis=0), dtype=np.float64)


def became(a: Float64, b: Float64, demanded: int) -> Outcomes:
    """Who wins each original, by ``orders_right``; a run is right if it has all of the demanded orders."""
    return Outcomes.of_gains(a - b, a == demanded)


# --- a description of every original, and orders


def in_run(side: str, subset: str) -> str:
    """The column of a subset's similarity in A or B, or, with ``A − B``, of their difference."""
    return f"{side}: {subset}"


def lead(side: str) -> str:
    """The column of a rewrite's lead over another one in A or B."""
    return f"lead in {side}"


def described(
    triples: Sentences, a: str, b: str | None, above: Sequence[Above] = (), subset: str | None = None
) -> pd.DataFrame:
    """A row per original: ``no``, ``original``, and per subset ``A: <subset>``, its normalized similarity.

    B adds ``B: <subset>`` and ``A − B: <subset>``; ``largest difference`` (absolute, over the subsets or of
    ``subset``), ``differs most in`` (its subset) and ``orders that differ`` (``turned``). Orders of a filter add
    ``lead in A`` and ``lead in B``: the smallest lead of a rewrite that should be nearer, negative if it is farther.
    """
    out: dict[str, object] = {NUMBER: triples.numbers, ORIGINAL: list(triples.originals)}
    sides = {"A": a} | ({} if b is None else {"B": b})
    for side, run_id in sides.items():
        similarity = triples.similarity[run_id]
        if above:
            leads = [similarity[:, triples.column(o.nearer)] - similarity[:, triples.column(o.farther)] for o in above]
            out[lead(side)] = np.min(leads, axis=0)
        out |= {in_run(side, subset): similarity[:, i] for i, subset in enumerate(triples.subsets)}
    if b is not None:
        difference = triples.similarity[a] - triples.similarity[b]
        out |= {in_run("A − B", subset): difference[:, i] for i, subset in enumerate(triples.subsets)}
        size = np.abs(difference)
        if subset is not None:
            size = np.where(np.arange(len(triples.subsets)) == triples.column(subset), size, np.nan)
        at = np.where(np.isnan(size), -1.0, size).argmax(axis=1)
        largest = out[LARGEST] = size[np.arange(len(size)), at]  # NaN if all are
        out[DIFFERS_IN] = ["" if np.isnan(value) else triples.subsets[i] for i, value in zip(at, largest, strict=True)]
        out[TURNED] = turned(triples.cosine[a], triples.cosine[b])
    return pd.DataFrame(out)


def turned(a: Float64, b: Float64) -> Float64:
    """How many pairs of an original's rewrites two runs order differently, ``[n] float64`` (Kendall's distance).

    A pair that is tied (within TAU) in only one of them counts half; one with NaN is left out.

    Args:
        a, b: ``[n, k]`` cosines.
    """
    out = np.zeros(len(a))
    for i in range(a.shape[1]):
        for j in range(i):
            signs = []
            for cosine in (a, b):
                lead = cosine[:, i] - cosine[:, j]
                signs.append(np.where(np.abs(lead) <= TAU, 0.0, np.sign(lead)))
            out += np.nan_to_num(np.abs(signs[0] - signs[1]) / 2, nan=0.0)
    return out


def orders(described: pd.DataFrame) -> list[str]:
    """The columns to sort originals by, their number first."""
    return [str(name) for name in described.columns if name != DIFFERS_IN]


def in_order(described: pd.DataFrame, order: str, *, descending: bool) -> pd.DataFrame:
    """The rows sorted by a column; equal ones in the dataset's order, missing values last."""
    key = (lambda column: column.str.casefold()) if order == ORIGINAL else None
    return described.sort_values(order, ascending=not descending, kind="stable", na_position="last", key=key)


def same_texts(triples: Sentences, index: int) -> list[str]:
    """For each rewrite of the original in row ``index``: ``unchanged``, an earlier subset with the same text, or ""."""
    items = triples.rewrite_items[index].tolist()
    original = int(triples.original_items[index])
    return [
        "unchanged" if item == original else triples.subsets[items.index(item)] if items.index(item) < i else ""
        for i, item in enumerate(items)
    ]


def roles(triples: Sentences, items: Collection[int], name_of: Callable[[str], str]) -> dict[int, str]:
    """The first role of some of the dataset's items, in words: ``original 12``, ``synonym of 12``."""
    out: dict[int, str] = {}
    at = np.flatnonzero(np.isin(triples.original_items, list(items)))
    for i in at:
        out.setdefault(int(triples.original_items[i]), f"original {triples.numbers[i]}")
    for i, j in np.argwhere(np.isin(triples.rewrite_items, list(items))):
        out.setdefault(int(triples.rewrite_items[i, j]), f"{name_of(triples.subsets[j])} of {triples.numbers[i]}")
    return out


def for_export(triples: Sentences, numbers: Sequence[int], variants: Mapping[str, Variant]) -> pd.DataFrame:
    """A row per original and rewrite, in the order of the originals' ``numbers``: item_no, original, subset, rewrite,
    and per run ``similarity <variant>`` and ``cosine <variant>``.

    Args:
        variants: by run id.
    """
    places = np.searchsorted(triples.numbers, np.asarray(numbers, dtype=np.int64))
    k = len(triples.subsets)
    out: dict[str, object] = {
        "item_no": np.repeat(triples.numbers[places], k),
        "original": [triples.originals[i] for i in places for _ in range(k)],
        "subset": list(triples.subsets) * len(places),
        "rewrite": [text for i in places for text in triples.rewrites[i]],
    }
    for run_id, variant in variants.items():
        out[f"similarity {variant}"] = triples.similarity[run_id][places].ravel()
        out[f"cosine {variant}"] = triples.cosine[run_id][places].ravel()
    return pd.DataFrame(out)
