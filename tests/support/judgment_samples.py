"""Sets of items and votes for tests, made by hand: small, and with everything in them that scores go by."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime, timedelta

import numpy as np

from blindspot.studies.judgments.tallies import NO_VOTE, UNKNOWN, Tally
from blindspot.studies.judgments.types import NOT_ASKED, Item, ItemSet, Query, Task, Vote
from blindspot.variants import Variant

A, B, C = Variant("minilm", "none"), Variant("minilm-static", "none"), Variant("lsa", "center")
MADE_AT = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
MANIFEST = {
    "version": 1,
    "dataset": "vocab-wordfreq",
    "dataset_digest": "0" * 16,
    "metric": "cos",
    "inventory": "Words of our own",
    "rule": {"log10": 0.1},
    "seed": 7,
    "embeddings": {"minilm": "a" * 16, "minilm-static": "b" * 16},
    "skipped": {"no intruder": 2},
}
_ABOUT = (("noun", "concrete"), ("verb", "abstract"), ("adjective", "concrete"), ("adverb", "abstract"))
_BANDS = ("rare", "medium", "frequent")


def _query(number: int) -> Query:
    return Query(f"query{number}", *_ABOUT[number % 4], category=f"category {number % 4}")


def intruder_set(queries: int = 6, title: str = "Six words") -> ItemSet:
    """One item per query and variant, A and B; the first query's item is the same for both."""
    items: list[Item] = []
    for number in range(queries):
        query = _query(number)
        for place in range(1 if number == 0 else 2):
            options = tuple(sorted((query.text, *(f"{name}{number}{'ab'[place]}" for name in ("near", "next", "odd")))))
            own = [NOT_ASKED, NOT_ASKED]
            own[place] = options.index(f"odd{number}{'ab'[place]}")
            if number == 0:
                own[1] = own[0]
            items.append(Item(len(items), query, _BANDS[number % 3], None, options, tuple(own)))
    return ItemSet(Task.INTRUDER, title, (A, B), tuple(items), MANIFEST, MADE_AT)


def comparative_set(queries: int = 4, title: str = "Four words") -> ItemSet:
    """Three ranks per query, variants A, B and C; at k = 5 A and B return the same word."""
    items: list[Item] = []
    for number in range(queries):
        for k in (1, 5, 50):
            words = [f"{'ab' if k == 5 and v in 'ab' else v}{number}at{k}" for v in "abc"]
            options = tuple(sorted(set(words)))
            own = tuple(options.index(word) for word in words)
            items.append(Item(len(items), _query(number), _BANDS[number % 3], k, options, own))
    return ItemSet(Task.COMPARATIVE, title, (A, B, C), tuple(items), MANIFEST, MADE_AT)


def votes(chosen: Iterable[tuple[str, int, int | None]], session: str = "") -> list[Vote]:
    """Votes from (rater, item, option), a second apart; option None for "I don't know these words"."""
    return [
        Vote(session, rater, item, option, 2.5, MADE_AT + timedelta(seconds=number))
        for number, (rater, item, option) in enumerate(chosen)
    ]


def random_tally(seed: int, task: Task = Task.COMPARATIVE, items: int = 9, raters: int = 5) -> Tally:
    """Three variants, some items not about all, some cells empty, some unknown."""
    rng = np.random.default_rng(seed)
    made = []
    for no in range(items):
        options = int(rng.integers(2, 5))
        own = rng.integers(-1, options, size=3)
        own[rng.integers(3)] = 0
        made.append(Item(no, Query(f"q{no // 2}"), "rare", 1, tuple("abcd"[:options]), tuple(int(o) for o in own)))
    chosen = np.array(
        [rng.choice([NO_VOTE, UNKNOWN, *range(len(item.options))], size=raters) for item in made], dtype=np.int64
    )
    return Tally(task, (A, B, C), tuple(made), tuple(f"r{r}" for r in range(raters)), chosen)
