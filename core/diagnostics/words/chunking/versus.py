"""A against B: the paired difference of F1 over the same sentences, and the sentences that one of them tags better."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from blindspot.diagnostics.words.chunking.answers import address, answers, as_found, sums_of
from blindspot.diagnostics.words.chunking.definition import ENTRY
from blindspot.diagnostics.words.chunking.scoring import difference_of, estimate_of, of_sentences
from blindspot.runs.comparison import Change, Changes, Difference, largest
from blindspot.store.records import RunRecord
from blindspot.store.repository import Repository


def difference(pairs: Sequence[tuple[RunRecord, RunRecord]], repository: Repository) -> list[Difference]:
    """See ``blindspot.runs.comparison.DifferencesOf``."""
    rows = answers(list(dict.fromkeys(run.run_id for pair in pairs for run in pair)), repository)
    found = []
    for a, b in pairs:
        one, other = (sums_of(rows[run.run_id]) for run in (a, b))  # of the same tested sentences
        estimate, p = difference_of(one, other)
        apart = of_sentences(one) - of_sentences(other)
        found.append(
            Difference.of(
                ENTRY,
                ENTRY.headline,
                "F1 of phrases",
                estimate_of(one),
                estimate_of(other),
                estimate,
                p,
                "approximate randomization over sentences",
                wins=int(np.count_nonzero(apart > 0)),
                losses=int(np.count_nonzero(apart < 0)),
                address=address(a),
            )
        )
    return found


def changed(first: RunRecord, second: RunRecord, repository: Repository, most: int) -> Changes:
    """See ``blindspot.runs.comparison.ChangesOf``. An item is a sentence, its score its own F1."""
    rows = answers([first.run_id, second.run_id], repository)
    a, b = (rows[run.run_id] for run in (first, second))
    gain = of_sentences(sums_of(a)) - of_sentences(sums_of(b))
    places = np.concatenate(largest(gain, most))
    one, other = (as_found(side.iloc[places]) for side in (a, b))
    found = [
        Change(
            int(a.index[place]),
            (("sentence", str(a["sentence"].iloc[place])), ("phrases", str(one["given"].iloc[i]))),
            str(one["found"].iloc[i]),
            str(other["found"].iloc[i]),
            float(gain[place]),
            address(first),
        )
        for i, place in enumerate(places.tolist())
    ]
    won, lost = int(np.count_nonzero(gain > 0)), int(np.count_nonzero(gain < 0))
    return Changes("sentences", "finds phrases with the higher F1", won, lost, len(gain) - won - lost, tuple(found))
