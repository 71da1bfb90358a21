"""Scored pairs that the pairs of datasets were taken from, several sets in one; no picker has them.

They are fetched like the others, where they are asked for.
"""

from __future__ import annotations

from blindspot.datasets.entries import EVALRANK_REPOSITORY, EVALRANK_REVISION, DatasetEntry, SourceFile
from blindspot.datasets.kinds.base import DatasetKind
from blindspot.datasets.published import scored_pairs, simlex
from blindspot.datasets.published.scored_pairs.similarity_sets import STR, STSB, WORD_SETS

_COUNTER_FITTING = "nmrksic/counter-fitting"  # SimLex-999's own site was not reachable when this was written
_COUNTER_FITTING_REVISION = "8cf3cf4db1074f2f80ecf728e6af68347c3b3d02"

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
            url=f"https://github.com/{_COUNTER_FITTING}",
            revision=_COUNTER_FITTING_REVISION,
            files=(
                SourceFile(
                    "counter_fitting_lexicons",
                    "SimLex-999.txt",
                    f"https://raw.githubusercontent.com/{_COUNTER_FITTING}/{_COUNTER_FITTING_REVISION}"
                    "/linguistic_constraints/SimLex-999.txt",
                    44_050,
                    "ca00ff8515a36cde32d13c2b83def23f5a167b67db93ebfcfb7dae039ba22c0b",
                ),
            ),
            load=lambda dataset_id, paths: simlex.load(dataset_id, paths[0]),
        ),
    )
}
