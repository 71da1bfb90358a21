"""Scored pairs that the pairs of datasets were taken from, several sets in one; no picker lists them.

They are fetched like other datasets, when they are asked for.
"""

from __future__ import annotations

from blindspot.datasets.entries import (
    COUNTER_FITTING_REPOSITORY,
    COUNTER_FITTING_REVISION,
    EVALRANK_REPOSITORY,
    EVALRANK_REVISION,
    DatasetEntry,
    lexicon_file,
)
from blindspot.datasets.kinds.base import DatasetKind
from blindspot.datasets.published import scored_pairs, simlex
from blindspot.datasets.published.scored_pairs.similarity_sets import STR, STSB, WORD_SETS

SOURCES = {
    entry.id: entry
    for entry in (
        DatasetEntry(
            id="evalrank-sent-sources",
            title="STS-Benchmark and STR",
            description="All scored pairs of STS-Benchmark and STR, whose most similar quarter evalrank-sent is.",
            kind=DatasetKind.SCORED_PAIRS,
            unit="sentence",
            size="14,128 scored pairs in 4 sets",
            pairs=14_128,
            licence="CC BY-SA 4.0 (scores of STS-Benchmark); its texts as in its LICENSE.txt; STR as published",
            citation="Cer et al. 2017, SemEval-2017 Task 1; Abdalla, Vishnubhotla and Mohammad 2023, What Makes "
            "Sentences Semantically Related?",
            url=f"https://github.com/{EVALRANK_REPOSITORY}",
            revision=EVALRANK_REVISION,
            files=(*STSB.values(), STR),
            load=lambda dataset_id, paths: scored_pairs.sentence_sources(dataset_id, *paths),
        ),
        DatasetEntry(
            id="evalrank-word-sources",
            title="Thirteen word similarity sets",
            description="All scored pairs of the thirteen word similarity sets whose most similar quarters "
            "evalrank-word is.",
            kind=DatasetKind.SCORED_PAIRS,
            unit="word",
            size="11,768 scored pairs in 13 sets",
            pairs=11_768,
            licence="each set as published by its authors; here as in the toolkit's repository (BSD-3-Clause)",
            citation="each set's own paper; chosen by Wang, Kuo and Li 2022, Just Rank, section 4.3",
            url=f"https://github.com/{EVALRANK_REPOSITORY}",
            revision=EVALRANK_REVISION,
            files=tuple(entry.files[0] for entry in WORD_SETS),
            load=scored_pairs.word_sources,
        ),
        DatasetEntry(
            id="simlex999-words",
            title="SimLex-999",
            description="999 pairs of adjectives, nouns and verbs, scored from 0 to 10 for how similar their meanings "
            "are, with ratings of how concrete each word is.",
            kind=DatasetKind.SCORED_PAIRS,
            unit="word",
            size="999 scored pairs",
            pairs=999,
            licence="as published by its authors; here as in the counter-fitting repository (Apache-2.0)",
            citation="Hill, Reichart and Korhonen 2015, SimLex-999",
            url=f"https://github.com/{COUNTER_FITTING_REPOSITORY}",
            revision=COUNTER_FITTING_REVISION,
            files=(lexicon_file("SimLex-999.txt"),),  # its own site was not reachable when this was written
            load=lambda dataset_id, paths: simlex.load(dataset_id, paths[0]),
        ),
    )
}
