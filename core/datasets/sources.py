"""Scored pairs: what the pairs of datasets were taken from, and what the data of others are compared with.

No diagnostic runs on these yet, so no picker has them; they are fetched like the others, where they are asked for.
"""

from __future__ import annotations

from core.datasets import scored_pairs, simlex
from core.datasets.entries import (
    EVALRANK_REPOSITORY,
    EVALRANK_REVISION,
    DatasetEntry,
    SourceFile,
    evalrank_file,
)
from core.types import DatasetKind

_COUNTER_FITTING = "nmrksic/counter-fitting"  # SimLex-999's own site was not reachable when this was written
_COUNTER_FITTING_REVISION = "8cf3cf4db1074f2f80ecf728e6af68347c3b3d02"
_STS_BENCHMARK = "data/sent_similarity/STS/STSBenchmark"
_STSB_TEST = evalrank_file(
    f"{_STS_BENCHMARK}/sts-test.csv", 206_733, "22ef3e10603b6655d7c7978c8eee26e7d5291dd5a71c5531b934fb025c108cbf"
)
_WORD_SETS = (
    ("WS-353-ALL", 7405, "ce12919b240af45bdf46d243601eaca2b6212b159b5e7e9b435ee7ee40c5619c"),
    ("WS-353-SIM", 4002, "f1da938998863c94e53f72f984a5c6e215f0b46c323aae8f0f4930703a339107"),
    ("WS-353-REL", 5134, "66a7c88100624d0a391605ff61ce84e11d11ee620d51ec0298da49592838f8fa"),
    ("MC-30", 543, "33ee05911496ff83d95cac351d0746c6f63b9181b605cb7d307f4daa8864511b"),
    ("RG-65", 1210, "c243f3a91c3f5d8cf67f21a67f6fb80bde8b6bb060851a6a48e6f2d68ec98c9f"),
    ("RW-STANFORD", 49851, "5108d54dfc746f44f9c3d7e31d2857c37cf71430bc1594175a61a3b89bb0ae1f"),
    ("MEN-TR-3k", 53593, "3df21751d8f69d51619ec62251c045da70815f3fad27736db7c1fc99ff3bfacf"),
    ("MTurk-287", 7218, "a9ae3a9decb75a9700fe0cf18b048c1344774d9f40e0196baf8e34d4cd9d1ce5"),
    ("MTurk-771", 19629, "a8cc04ed7b45a95a4b8915814c75c30ef99ab6001b534205529b07273022f569"),
    ("YP-130", 2614, "4b963f0771ba8cf1d378de8cd43387c31eae34a5e57e2de3685c53fc2cdd9a73"),
    ("SIMLEX-999", 18024, "405394ffb7d25f6d0e3c041f87c9f27d29dc6b047506769953e85c4523b11685"),
    ("VERB-143", 3320, "7259e19961c81912aa4c72de0102e480b2ad2bb9f4ce97d036fbde8e1a403001"),
    ("SimVerb-3500", 65315, "9d84274e7ad029fd3cf69dd0516e9ade624bbef9bd4e2050f6cc1fa01471e0f5"),
)

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
            files=(
                evalrank_file(
                    f"{_STS_BENCHMARK}/sts-train.csv",
                    896_257,
                    "4fc4924edd059a43e9c7c8927a72cb8061a87ef98afdf2026a0e0b540b458693",
                ),
                evalrank_file(
                    f"{_STS_BENCHMARK}/sts-dev.csv",
                    258_473,
                    "c558fa95fec006608f13e3d942f153b614beabccbf33e64f36418d406a895e37",
                ),
                _STSB_TEST,
                evalrank_file(
                    "data/sent_similarity/STR/sem_text_rel_ranked.csv",
                    1_009_609,
                    "2624f378bbd4793466c235720e6d6b386449c322f576667825bea3998dc66a9d",
                ),
            ),
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
            files=tuple(
                evalrank_file(f"data/word_similarity/EN-{name}.txt", size, sha256) for name, size, sha256 in _WORD_SETS
            ),
            load=scored_pairs.word_sources,
        ),
        DatasetEntry(
            id="stsb-test",
            title="STS-Benchmark, test",
            description="The test split of STS-Benchmark: sentence pairs, scored from 0 to 5 for how much their "
            "meanings have in common; tokenised and lower-cased, as encoders are usually tested on it.",
            kind=DatasetKind.SCORED_PAIRS,
            unit="sentence",
            size="1,379 scored pairs",
            pairs=1_379,
            licence="CC BY-SA 4.0 (scores of STS-Benchmark); its texts as in its LICENSE.txt",
            citation="Cer et al. 2017, SemEval-2017 Task 1",
            url=f"https://github.com/{EVALRANK_REPOSITORY}",
            revision=EVALRANK_REVISION,
            files=(_STSB_TEST,),
            load=lambda dataset_id, paths: scored_pairs.one_set(
                dataset_id, "STS-B test", scored_pairs.sts_benchmark(paths[0])
            ),
        ),
        DatasetEntry(
            id="sick-test",
            title="SICK-R, test",
            description="The test split of SICK: sentence pairs, scored from 1 to 5 for how related they are.",
            kind=DatasetKind.SCORED_PAIRS,
            unit="sentence",
            size="4,927 scored pairs",
            pairs=4_927,
            licence="CC BY-NC-SA 3.0 (SICK)",
            citation="Marelli et al. 2014, A SICK cure for the evaluation of compositional distributional semantic "
            "models",
            url=f"https://github.com/{EVALRANK_REPOSITORY}",
            revision=EVALRANK_REVISION,
            files=(
                evalrank_file(
                    "data/sent_similarity/SICK/SICK_test_annotated.txt",
                    560_514,
                    "d0362afe8304c8d08166b82d76da2a8c665d5b635ac1f3f1ee82054511749f97",
                ),
            ),
            load=lambda dataset_id, paths: scored_pairs.one_set(dataset_id, "SICK-R test", scored_pairs.sick(paths[0])),
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
