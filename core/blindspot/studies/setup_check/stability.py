"""Checks that need no reference: does a text always get its own vector, the same one?

A vector *moves* by 1 - cosine. Measured on MiniLM: between a text alone and in a padded batch, float32 moves a vector
by at most 4e-13, float16 by 6e-7, bfloat16 by 4e-5; weights in int8 add nothing, but activations quantized per batch
move it by 0.03 in the median (at most 0.08), and a mean that counts padding by far more. ``MOVED`` is eight times the
noise of bfloat16, ``FAR`` a tenth of the weaker fault.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from blindspot.studies.setup_check.models import cosines, unit
from blindspot.studies.setup_check.probes import Kind, Probe
from blindspot.studies.setup_check.results import Result, State
from blindspot.types import Bool, Float32, Float64, Int64

MOVED, FAR = 3e-4, 3e-3
SAME = 1e-9  # 1 - cosine of vectors that are copies: two texts that differ in a word are at least 1e-4 apart
OWN = 0.02  # by which another text's vector must fit better for an order to be called wrong
EXCHANGED = 0.8  # share of vectors elsewhere that are in each other's places
PLACES_SHOWN = 5
WHOLE = 0.7  # of the limit in frequent words: sentences have punctuation, and rarer words of several tokens


def finite(vectors: Float32, probes: Sequence[Probe], *, is_partial: bool) -> Result:
    """NaN and infinity in ``vectors [n, d]``, and zero vectors; a partial encoder may have no vector for a text."""
    whole = np.isfinite(vectors).all(axis=1)
    zero = whole & (vectors == 0).all(axis=1)
    missing = int((~whole).sum())
    figures = {"not_finite": missing, "zero": int(zero.sum()), "texts": len(probes)}
    if missing and not is_partial:
        row = int(np.flatnonzero(~whole)[0])
        text = f"{missing} of {len(probes)} vectors have NaN or infinity, the first for {probes[row].text[:40]!r}."
        return Result(
            "finite", State.WRONG, text, "Use a wider precision (bfloat16 or float32) on the server.", figures
        )
    if zero.any():
        row = int(np.flatnonzero(zero)[0])
        text = f"{int(zero.sum())} of {len(probes)} vectors are all zero, the first for {probes[row].text[:40]!r}."
        return Result("finite", State.LOOK, text, "Texts without a vector have no cosine: leave them out.", figures)
    text = f"{len(probes) - missing} vectors of {vectors.shape[1]:,} numbers."
    return Result("finite", State.OK, text + (f" {missing} texts have no vector." if missing else ""), "", figures)


def repeat(first: Float32, again: Float32, vectors: Float32, requests: Sequence[int], text: str) -> Result:
    """Texts encoded alone more than once.

    Args:
        first, again: the same texts twice, ``[n, d]``.
        vectors: one text many times, ``[k, d]``; ``requests``: the number of each of its requests, ascending.
    """
    moved = np.concatenate([1 - cosines(first, again), 1 - cosines(vectors, vectors[:1].repeat(len(vectors), axis=0))])
    groups = _groups(vectors)
    sizes = np.bincount(groups)
    figures: dict[str, object] = {
        "texts": len(first),
        "asked": len(vectors),
        "most": float(moved.max()),
        "median": float(np.median(moved)),
        "vectors": len(sizes),
    }
    sentence = (
        f"{len(first)} texts encoded twice, and one {len(vectors)} times at uneven intervals, moved by at most "
        f"{moved.max():.1e} (1 - cosine)."
    )
    verdict = _graded(float(moved.max()))
    if verdict is State.OK:
        return Result("repeat", verdict, sentence, "", figures)
    if 1 < len(sizes) <= len(vectors) // 3:
        times = ", ".join(f"{size}" for size in sorted(sizes.tolist(), reverse=True))
        rare = np.array(requests)[groups == int(sizes.argmin())]
        every = int(np.gcd.reduce(np.diff(rare))) if len(rare) > 3 else 1
        figures |= {"times": sorted(sizes.tolist(), reverse=True), "every": every}
        sentence += (
            f" {text!r} got {len(sizes)} different vectors ({times} times each)"
            f"{f', one of them once in {every} requests' if every > 1 else ''}: several replicas answer, and not all "
            "have the same model or settings."
        )
        return Result(
            "repeat", verdict, sentence, "Ask each replica by its own address, and replace the odd one.", figures
        )
    advice = (
        "The same text gets different vectors: look for dropout left on, several replicas with different models, or a "
        "cache that returns other texts' vectors."
    )
    return Result("repeat", verdict, sentence, advice, figures)


def _groups(vectors: Float32) -> Int64:
    """Numbers of groups of the same vectors, ``[k]``."""
    out = np.zeros(len(vectors), dtype=np.int64)
    firsts: list[int] = []
    for row in range(len(vectors)):
        near = [i for i, other in enumerate(firsts) if 1 - cosines(vectors[[row]], vectors[[other]])[0] <= MOVED]
        if not near:
            firsts.append(row)
        out[row] = near[0] if near else len(firsts) - 1
    return out


@dataclass(frozen=True)
class Matched:
    """Which row of a batch belongs to which text.

    Attributes:
        rows: ``[n]``, the row of each text's vector.
        moved: ``[n] bool``: it is another row than the text's own.
    """

    rows: Int64
    moved: Bool

    @property
    def count(self) -> int:
        return int(self.moved.sum())


def matched(batch: Float32, vectors: Float32) -> Matched:
    """The rows of a batch ``[n, d]`` matched with the vectors ``own [n, d]`` that its texts should have.

    A text's vector is elsewhere only if that fits better by ``OWN``, and if the best assignment of all rows says so.
    """
    from scipy.optimize import linear_sum_assignment

    similarity = unit(vectors) @ unit(batch).T
    _, rows = linear_sum_assignment(-similarity)
    places = np.arange(len(vectors))
    moved = (rows != places) & (similarity[places, rows] > similarity[places, places] + OWN)
    # Rows exchange places: one that moves alone is no other order.
    back = np.isin(rows[moved], np.flatnonzero(moved))
    if moved.sum() < 2 or back.mean() < EXCHANGED:
        return Matched(places, np.zeros(len(vectors), dtype=np.bool_))
    return Matched(rows.astype(np.int64), moved)


def order(elsewhere: Matched, texts: Sequence[str], against: str) -> Result:
    """Order of the vectors in a batch; ``against``: what the batch was compared with."""
    figures = {"texts": len(texts), "elsewhere": elsewhere.count}
    if not elsewhere.count:
        text = f"Each of {len(texts)} texts in a batch is most like its own vector, by {against}."
        return Result("order", State.OK, text, "", figures)
    places = [
        f"{row + 1} → {int(elsewhere.rows[row]) + 1}" for row in np.flatnonzero(elsewhere.moved)[:PLACES_SHOWN].tolist()
    ]
    more = " …" if elsewhere.count > PLACES_SHOWN else ""
    text = (
        f"{elsewhere.count} of {len(texts)} vectors of a batch belong to another text, by {against} "
        f"(text → place: {', '.join(places)}{more})."
    )
    advice = (
        "Vectors come back in another order than the texts: order them by the reply's index, or send one at a time."
    )
    return Result("order", State.WRONG, text, advice, figures)


def batch(alone: Float32, together: Float32, texts: Sequence[str]) -> Result:
    """Texts alone and in one batch of different lengths, each ``[n, d]``, in the same order."""
    moved: Float64 = 1 - cosines(alone, together)
    most, row = float(moved.max()), int(moved.argmax())
    figures = {"texts": len(texts), "most": most, "median": float(np.median(moved)), "worst": texts[row]}
    text = (
        f"In a batch of {len(texts)} texts, vectors moved by {np.median(moved):.1e} in the median and at most "
        f"{most:.1e} (1 - cosine)."
    )
    advice = "" if most <= MOVED else (
        "A text's vector depends on what else is in its batch. The usual causes: padding that is not masked in the "
        "layers or counted in the mean, and activations quantized per batch. Until that is fixed, send texts alone."
    )  # fmt: skip
    return Result("batch", _graded(most), text, advice, figures)


def asked(changes: Float64, texts: Sequence[str], number: int, elsewhere: int, how: str, cure: str) -> Result:
    """Texts asked for as a run asks, twice; some of them, ``texts``, against their vectors alone.

    Args:
        changes: ``[n]``, the larger 1 - cosine of each text's two answers.
        number: of all texts that were asked for.
        elsewhere: how many answers are another text's vector.
        how: it was asked, in words; ``cure``: what other way of asking mends it, "" for none.
    """
    most, row = float(changes.max()), int(changes.argmax())
    changed = int((changes > MOVED).sum())
    figures = {"texts": len(texts), "changed": changed, "elsewhere": elsewhere, "most": most, "worst": texts[row]}
    text = (
        f"{number:,} texts asked for twice, {how}: the {len(texts)} that were also asked for alone moved by at most "
        f"{most:.1e} (1 - cosine)."
    )
    if most <= MOVED:
        return Result("asked", State.OK, text, "", figures)
    others = f", {elsewhere:,} answers of them are other texts' vectors" if elsewhere else ""
    text = f"{text[:-1]}; {changed} have another vector than alone{others}."
    advice = "Runs ask so, and their scores are wrong. "
    advice += f"Until the server is mended, {cure} helps: write it into the reference." if cure else (
        "Neither smaller requests nor one at a time help: ask for each text alone (batch=1), and look at the server."
    )  # fmt: skip
    return Result("asked", _graded(most), text, advice, figures)


def moved(a: Float32, b: Float32) -> Float64:
    """1 - cosine of each row of ``a`` with that of ``b``, ``[n]``; 0 for two zero vectors."""
    return np.where((a == b).all(axis=1), 0.0, 1 - cosines(a, b))


def _graded(moved: float) -> State:
    return State.OK if moved <= MOVED else State.LOOK if moved <= FAR else State.WRONG


def distinct(vectors: Float32, probes: Sequence[Probe], limit: int | None, reference: Float32 | None) -> Result:
    """Different texts with the same vector, among ``vectors [n, d]``.

    Without a reference only texts that differ in frequent words count, and that are read as a whole. With a reference
    (``[n, d]``) all texts count whose vectors differ there.

    Two texts that differ in case, accents, spaces ... alone do not count: ``reading.sensitivity`` compares those.

    Args:
        limit: words after which a text is cut off; None for never.
    """
    units = unit(vectors)
    close = units @ units.T > 1 - SAME
    np.fill_diagonal(close, val=False)
    plain = {Kind.PLAIN, Kind.TWIN, Kind.SENTENCE}
    counts = np.array([p.kind in plain and (limit is None or p.words < WHOLE * limit) for p in probes])
    if reference is not None:
        others = unit(reference)
        close &= others @ others.T < 1 - 1e-5
        counts = np.array([limit is None or p.words < WHOLE * limit for p in probes])
    pairs = [
        (i, j)
        for i, j in np.argwhere(close).tolist()
        if i < j and counts[i] and counts[j] and not _differ_in_spelling(probes[i], probes[j])
    ]
    figures: dict[str, object] = {"texts": int(counts.sum()), "pairs": len(pairs)}
    if not pairs:
        text = f"Of {int(counts.sum())} texts, no two that should differ have the same vector."
        return Result("distinct", State.OK, text, "", figures)
    twins = [(i, j) for i, j in pairs if probes[i].pair == probes[j].pair != -1 and probes[i].kind is Kind.TWIN]
    if len(twins) == sum(p.kind is Kind.TWIN for p in probes) // 2:
        text = f"All {len(twins)} pairs of texts that differ in their last word alone have exactly the same vector."
        advice = "The last word is not read: compare the tokenizer's settings, or what the client cuts off."
        return Result("distinct", State.WRONG, text, advice, figures)
    i, j = pairs[0]
    figures["example"] = [probes[i].text, probes[j].text]
    cause = _cause(probes[i], probes[j])
    text = (
        f"{len(pairs)} pairs of different texts have exactly the same vector, for example {_ends(probes[i].text)} and "
        f"{_ends(probes[j].text)}{cause}."
    )
    advice = (
        "The usual cause is a cache that mistakes one text for another (a key made of a text's beginning, length or "
        "lower-cased letters). Turn the cache off, and check again."
    )
    return Result("distinct", State.WRONG, text, advice, figures)


def _differ_in_spelling(a: Probe, b: Probe) -> bool:
    """Whether that they have the same vector is for another check to say, or no fault: a model of words alone knows
    neither their order nor their number."""
    same_words = {*a.text.split()} == {*b.text.split()}
    return same_words or (a.pair == b.pair != -1 and a.kind is not Kind.TWIN)


def _cause(a: Probe, b: Probe) -> str:
    if a.text.casefold() == b.text.casefold():
        return ", which differ in case alone"
    alike = next((k for k, (x, y) in enumerate(zip(a.text, b.text, strict=False)) if x != y), 0)
    return f", which share their first {alike} characters" if alike > 8 else ""


def _ends(text: str) -> str:
    return repr(text if len(text) <= 50 else f"{text[:20]} … {text[-25:]}")
