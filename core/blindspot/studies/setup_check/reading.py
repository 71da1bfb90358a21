"""Checks of what a model reads of a text: how much of it, and which differences in spelling it sees."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from blindspot.errors import InputError
from blindspot.studies.setup_check.models import Model, apart, cosines
from blindspot.studies.setup_check.probes import LONGEST, Kind, Probe, words
from blindspot.studies.setup_check.results import Result, State
from blindspot.types import Float32

ADDED = 16  # words added to a text of full length to see whether they are read
UNREAD = (
    1e-4  # relative change of a vector below which added words were not read; one token of 2,000 changes it by more
)
FEWEST = 8  # words: no model reads fewer
USUAL = 100  # words: fewer are rarely meant
SHORT = 0.9  # share of the declared or the reference's limit below which texts are cut off too early
COMPARED = 3  # long texts compared with their beginnings
TOPIC = "bread milk cheese butter soup rice sugar fruit apple dinner kitchen meat fish salt cake wine cook"
BEGINNING, END, ENDS = "beginning", "end", "ends"
OTHER_PART = "Texts are cut off at another side than usual: set the truncation side on the server as published."
CUT = "Longer texts are cut off without a word: raise the limit on the server (maximum length, truncation)."
TOKENS_PER_WORD = 1.1  # of the frequent words here, special tokens included, at most
SAME, OTHER = 1e-6, 1e-4  # 1 - cosine below which a model does not see a difference, above which its reference does


@dataclass(frozen=True)
class Limit:
    """The longest text that is read.

    Attributes:
        words: that are read of a longer text; None if a text of ``tried`` words is read as a whole.
        tried: words of the longest text that was accepted.
        refused: the error for the shortest text that was refused; "" for none.
        part: which is read of a longer text: "beginning", "end", or "ends" without what is between.
        is_stale: more words do not change the vector, but it is not that of the words before them either.
    """

    words: int | None
    tried: int
    refused: str = ""
    is_stale: bool = False
    part: str = BEGINNING

    @property
    def reads(self) -> int:
        """Words that are certainly read."""
        return self.tried if self.words is None else self.words


def limit_of(model: Model, longest: int, noise: float = 0.0) -> Limit:
    """Find the limit by bisection, with texts of at most ``longest`` frequent words, each encoded alone.

    Args:
        noise: by how much a vector changes when its text is encoded again, relative.

    Raises:
        Cancelled: between two texts.
        BlindspotError: texts of ``FEWEST`` words are refused, too.
    """
    text = words(longest).split()

    def vector(n: int) -> Float32:
        return model.encode([" ".join(text[:n])])

    refused = ""
    top = longest
    try:
        whole = vector(top)
    except InputError as error:  # too long, a server says
        refused = str(error)
        low, high = FEWEST, top
        vector(low)
        while high - low > max(1, low // 50):
            middle = (low + high) // 2
            try:
                vector(middle)
                low = middle
            except InputError as again:
                refused, high = str(again), middle
        top = low
        whole = vector(top)
    bound = max(UNREAD, 3 * noise)

    def is_cut(n: int) -> bool:
        return float(apart(vector(n), whole)[0]) <= bound

    if top <= FEWEST or not is_cut(max(FEWEST, top - ADDED)):
        return _other_part(model, text, top, bound) or Limit(None, top, refused)
    low, high = FEWEST - 1, max(FEWEST, top - ADDED)  # a text of `high` words is like the whole
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if is_cut(middle) else (middle, high)
    return Limit(high, top, refused, _is_stale(model, high, top))


def _other_part(model: Model, text: Sequence[str], top: int, bound: float) -> Limit | None:
    """The limit of a model that reads the end of long texts, or both ends; None if it reads a text of ``top`` words."""
    others = (TOPIC.split() * (ADDED // len(TOPIC.split()) + 1))[:ADDED]

    def is_unread(n: int, part: str) -> bool:
        """Of a text of ``n`` words, whether its beginning or its middle can be replaced without a trace."""
        start = 0 if part == END else (n - ADDED) // 2
        replaced = [*text[:start], *others, *text[start + ADDED : n]]
        a, b = model.encode([" ".join(text[:n])]), model.encode([" ".join(replaced)])
        return float(apart(a, b)[0]) <= bound

    if top < FEWEST + 2 * ADDED:
        return None
    part = next((part for part in (END, ENDS) if is_unread(top, part)), "")
    if not part:
        return None
    low, high = FEWEST + ADDED, top
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if is_unread(middle, part) else (middle, high)
    return Limit(high - ADDED, top, part=part)


def _is_stale(model: Model, words_read: int, top: int) -> bool:
    """Whether a long text's vector depends on its end although changes of the end do not change it.

    That is so if a cache takes a text for another one with the same beginning. Texts here are new, and their first
    words differ, so that no cache knows them: one that is cut off is as close to its neighbor as two short texts are.
    """
    moved = []
    topic = " ".join([TOPIC] * (top // len(TOPIC.split()) + 1)).split()
    for seed in range(COMPARED):
        rest = words(words_read, seed=10_000 + seed).split()[1:]
        long, short, other = (
            " ".join([first, *rest, *end])
            for first, end in (("north", topic[: top - words_read]), ("east", []), ("west", []))
        )
        a, b, c = model.encode_each([long, short, other])
        moved.append([1 - float(cosines(a[None], b[None])[0]), 1 - float(cosines(c[None], b[None])[0])])
    by_end, by_start = np.median(moved, axis=0)
    return bool(by_end > 2 * by_start + 0.02)


def longest_of(*max_lengths: int) -> int:
    """Words to try for models with these declared limits in tokens, 0 for unknown."""
    return min(LONGEST, max([2 * n for n in max_lengths if n] or [2 * 512]))


def limit(own_limit: Limit, declared: int, theirs: Limit | None) -> Result:
    """The limit, compared with the reference's, or with the declared one in tokens (0: unknown)."""
    figures = {
        "words": own_limit.words,
        "tried": own_limit.tried,
        "refused": own_limit.refused or None,
        "part": own_limit.part,
        "declared_tokens": declared or None,
        "reference_words": theirs.words if theirs else None,
    }
    if own_limit.is_stale:
        why = (
            f"After {own_limit.words:,} words, adding more does not change the vector, but the end of a text counts "
            "when it is new: the vector is that of another text with the same beginning."
        )
        return Result("limit", State.UNCHECKED, why, "", figures)
    if own_limit.refused:
        text = f"Texts of more than {own_limit.tried:,} frequent words are refused: {own_limit.refused}"
    elif own_limit.part != BEGINNING:
        text = f"Of longer texts, about {own_limit.words:,} words are read, at their {own_limit.part}."
    elif own_limit.words is None:
        text = f"Adding words still changes the vector at {own_limit.tried:,} words."
    else:
        text = f"After {own_limit.words:,} frequent words, adding more does not change the vector."
    verdict, compared = _compared(own_limit, declared, theirs)
    if own_limit.part != BEGINNING and verdict in {State.WRONG, State.LOOK}:
        return Result("limit", verdict, f"{text} {compared}".strip(), OTHER_PART, figures)
    advice = {State.WRONG: CUT, State.LOOK: f"Compare with the model's card. {CUT}"}.get(verdict, "")
    return Result("limit", verdict, f"{text} {compared}".strip(), advice, figures)


def _by_part(theirs: Limit | None) -> tuple[State, str]:
    if theirs is None:
        return State.LOOK, "Most models read the beginning."
    return State.WRONG, f"The reference reads {'all of ' if theirs.words is None else ''}the {theirs.part}."


def _compared(own_limit: Limit, declared: int, theirs: Limit | None) -> tuple[State, str]:
    """The verdict, and what the limit was compared with."""
    reads = own_limit.reads
    if own_limit.part != (theirs.part if theirs else BEGINNING):
        return _by_part(theirs)
    if theirs is None:
        is_cut = bool(declared) and reads < min(SHORT * declared / TOKENS_PER_WORD, own_limit.tried)
        if declared:
            return State.WRONG if is_cut else State.OK, f"The model declares {declared:,} tokens."
        return (State.LOOK, "That is little.") if reads < USUAL else (State.OK, "")
    if reads < SHORT * theirs.reads:
        return State.WRONG, f"The reference reads {'all of ' if theirs.words is None else ''}{theirs.reads:,}."
    if own_limit.words is not None and theirs.words is not None and own_limit.words > theirs.words / SHORT:
        return State.LOOK, f"The reference reads {theirs.words:,}: long texts get other vectors."
    return State.OK, f"The reference reads {'as much' if own_limit.words == theirs.words else f'{theirs.reads:,}'}."


KINDS = {
    "case": (Kind.CASE, "upper and lower case", "lower-cases texts"),
    "accents": (Kind.ACCENT, "accents", "removes accents"),
    "newlines": (Kind.NEWLINE, "newlines and spaces", "replaces newlines"),
    "spaces": (Kind.SPACE, "single and other spaces", "changes spaces"),
    "composition": (Kind.COMPOSITION, "composed and decomposed characters", "normalizes Unicode"),
}


def sensitivity(check: str, vectors: Float32, probes: Sequence[Probe], reference: Float32 | None) -> Result:
    """Whether pairs of texts that differ in case, accents, ... have different vectors, as the reference's do.

    ``vectors [n, d]`` and ``reference [n, D]`` are of all probes. It is wrong if one of the two tells most
    pairs apart and the other does not. Without a reference this is a description.
    """
    kind, what, does = KINDS[check]
    pairs: dict[int, list[int]] = {}
    for row, probe in enumerate(probes):
        if probe.kind is kind:
            pairs.setdefault(probe.pair, []).append(row)
    both = np.array([rows for rows in pairs.values() if np.isfinite(vectors[rows]).all()], dtype=np.int64).reshape(
        -1, 2
    )
    if not len(both):
        return Result(check, State.UNCHECKED, "The model has no vectors for these texts.")
    moves = 1 - cosines(vectors[both[:, 0]], vectors[both[:, 1]])
    seen = int((moves > SAME).sum())
    figures = {"pairs": len(both), "told_apart": seen, "median": float(np.median(moves))}
    text = f"{seen} of {len(both)} pairs of texts that differ in {what} have different vectors."
    if reference is None:
        return Result(check, State.OK, text, "", figures)
    theirs = 1 - cosines(reference[both[:, 0]], reference[both[:, 1]])
    figures["reference_told_apart"] = int((theirs > SAME).sum())
    lost, gained = (moves <= SAME) & (theirs > OTHER), (moves > OTHER) & (theirs <= SAME)
    text += f" By the reference {int((theirs > SAME).sum())}."
    if lost.sum() * 2 > len(both):
        advice = f"The server {does} before the model sees them. Turn that off, or use the published tokenizer."
        return Result(check, State.WRONG, text, advice, figures)
    if gained.sum() * 2 > len(both):
        advice = "The reference does not see this difference: compare the tokenizer's settings on the server."
        return Result(check, State.WRONG, text, advice, figures)
    differing = int((lost | gained).sum())
    return Result(check, State.LOOK if differing > 1 else State.OK, text, "", figures)
