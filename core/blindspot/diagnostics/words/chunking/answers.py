"""Answers of stored chunking runs: tags and counts of phrases per tested sentence."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from blindspot.datasets.kinds.chunked import bracketed, chunks_of
from blindspot.diagnostics.words.chunking.definition import ENTRY
from blindspot.diagnostics.words.chunking.scoring import Counts
from blindspot.store.repository import Repository
from blindspot.types import Int64

SUMS = ["phrases_right", "phrases_found", "phrases_given"]


def answers(run_ids: Sequence[str], repository: Repository) -> dict[str, pd.DataFrame]:
    """By run id, a row per tested sentence, indexed by its number: ``sentence``, ``tags``, and the run's columns."""
    rows = repository.items(ENTRY, run_ids, texts=True)
    return {str(run_id): rows_of_run.set_index("item_no") for run_id, rows_of_run in rows.groupby("run_id", sort=False)}


def sums_of(rows: pd.DataFrame) -> Int64:
    """Phrases found right, found and given per sentence, ``[s, 3]``."""
    return rows[SUMS].to_numpy(dtype="int64")


def counts_of(rows: pd.DataFrame) -> Counts:
    """Phrases found right, found and given, by sentence and kind of phrase."""
    return Counts.of(rows["tags"].str.split().tolist(), rows["predicted"].str.split().tolist())


def sums_by_chance(rows: pd.DataFrame) -> Int64:
    """``sums_of`` by chance: each sentence has the answer of the next one, cut or filled to its length."""
    given, answered = (rows[name].str.split().tolist() for name in ("tags", "predicted"))
    others = [*answered[1:], *answered[:1]]
    dealt = [(other + ["O"] * len(tags))[: len(tags)] for tags, other in zip(given, others, strict=True)]
    return Counts.of(given, dealt).sentences


def as_found(rows: pd.DataFrame) -> pd.DataFrame:
    """A row per sentence: its phrases in brackets, as given and as found, and what is wrong.

    ``missed`` and ``wrong`` are phrases with their kinds: given and not found, and found and not given; ``kinds`` are
    the kinds of both, with a space between.
    """
    out = []
    for row in rows.itertuples():
        words, given, predicted = str(row.sentence).split(" "), str(row.tags).split(), str(row.predicted).split()
        ours, theirs = set(chunks_of(given)), set(chunks_of(predicted))
        missed, wrong = sorted(ours - theirs), sorted(theirs - ours)
        out.append(
            {
                "item_no": row.Index,
                "given": bracketed(words, given),
                "found": bracketed(words, predicted),
                "missed": "; ".join(_phrase(words, chunk) for chunk in missed),
                "wrong": "; ".join(_phrase(words, chunk) for chunk in wrong),
                "kinds": " ".join(sorted({kind for *_, kind in (*missed, *wrong)})),
                "errors": len(missed) + len(wrong),
            }
        )
    columns = ["item_no", "given", "found", "missed", "wrong", "kinds", "errors"]
    return pd.DataFrame(out, columns=columns)


def _phrase(words: Sequence[str], phrase: tuple[int, int, str]) -> str:
    start, end, kind = phrase
    return f"{kind} {' '.join(words[start:end])}"
