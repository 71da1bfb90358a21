"""Every dataset that has a name. To add one: a loader if its format is new, and an entry here."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from core.datasets import loaders, minimal_pairs, own, scored_pairs, vocabularies
from core.datasets.own_columns import OwnFile, size_in_words
from core.errors import unknown
from core.settings import ASSETS
from core.types import Dataset, DatasetKind


@dataclass(frozen=True)
class SourceFile:
    """A file of a public source, pinned by its checksum.

    ``source`` names the folder in the cache and in a mirror, ``path`` is the path inside the source,
    ``url`` is where it comes from without a mirror; ``size`` is in bytes. Where checksum and size could not be learnt
    when the entry was written, they are "" and 0: then ``fetch`` records the checksum of the first file that its
    loader accepts, and holds later ones against that.
    """

    source: str
    path: str
    url: str
    size: int
    sha256: str

    @property
    def is_pinned(self) -> bool:
        return bool(self.sha256)


@dataclass(frozen=True)
class DatasetEntry:
    """A named dataset.

    Attributes:
        files: what is downloaded; empty for built-in data.
        load: makes the dataset from the paths of ``files``, in their order (for built-in data: from none).
        unit: what one item is, for labels ("sentence", "word").
        size: counts, for pickers and ``data list`` (the loader's tests check them).
        own: the user's file that it is made of and how that was read, for ``file:`` references.
        pairs, texts: the counts as numbers, for estimates (of a user's minimal pairs: its originals); 0 where they are
            not known before it is loaded.
        sources: id of the scored pairs in ``SOURCES`` that its pairs were taken from; "" where there are none.
        core_texts: how many of its texts, the first ones, belong to those; the rest are frequent words, added so that
            mates have more to compete with. 0 where nothing was added.
    """

    id: str
    title: str
    description: str
    kind: DatasetKind
    unit: str
    size: str
    licence: str
    citation: str
    url: str
    revision: str
    files: tuple[SourceFile, ...]
    load: Callable[[str, tuple[Path, ...]], Dataset]
    own: OwnFile | None = None
    pairs: int = 0
    texts: int = 0
    sources: str = ""
    core_texts: int = 0


OWN_PREFIX = own.PREFIX  # how the reference of a user's file begins
OWN_FILE = f"{own.PREFIX}PATH"  # as help texts name it
OWN_FORMS = (
    "a .csv, .tsv, .jsonl or .parquet of pairs (columns query and mate), of words (columns word and count) or of "
    f"minimal pairs (a column original and any of {', '.join(minimal_pairs.SUBSETS)})"
)
_DEMO_SENTENCES = ASSETS / "demo" / "minimal_pairs.tsv"
_EVALRANK_REPOSITORY = "BinWang28/EvalRank-Embedding-Evaluation"
_SIF_REPOSITORY = "PrincetonML/SIF"
_SIF_REVISION = "84b5b4c1c1ca20b6af19fc78cae005a1818ec571"
_HEROS_REPOSITORY = "dcml0714/Heros"
_EVALRANK_REVISION = "c6422dbf8a357b206234ab81639b24bd3428914f"


def _evalrank_file(path: str, size: int, sha256: str) -> SourceFile:
    url = f"https://raw.githubusercontent.com/{_EVALRANK_REPOSITORY}/{_EVALRANK_REVISION}/{path}"
    return SourceFile("evalrank", path, url, size, sha256)


DATASETS = {
    entry.id: entry
    for entry in (
        DatasetEntry(
            id="demo-pairs",
            title="Demo pairs",
            description="200 original sentences and their synonym rewrites, both ways, "
            "among all 1,400 sentences of the built-in demo; needs no download.",
            kind=DatasetKind.PAIR_SET,
            unit="sentence",
            size="400 pairs, 1,400 sentences",
            pairs=400,
            texts=1400,
            licence="Apache-2.0",
            citation="Blindspot's own sentences, after the rules of Chiang et al. 2023 (HEROS), section 2.2",
            url="",
            revision="1",
            files=(),
            load=lambda dataset_id, _: loaders.demo_pairs(dataset_id, _DEMO_SENTENCES),
        ),
        DatasetEntry(
            id="demo-minimal",
            title="Demo minimal pairs",
            description="200 sentences, each with a synonym, an antonym, a random word, a typo and two negations in "
            "it; needs no download.",
            kind=DatasetKind.MINIMAL_PAIR_SET,
            unit="sentence",
            size="200 originals with 6 rewrites each, 1,400 sentences",
            pairs=1200,
            texts=1400,
            licence="Apache-2.0",
            citation="Blindspot's own sentences, after the rules of Chiang et al. 2023 (HEROS), section 2.2",
            url="",
            revision="1",
            files=(),
            load=lambda dataset_id, _: loaders.demo_minimal(dataset_id, _DEMO_SENTENCES),
        ),
        DatasetEntry(
            id="demo-words",
            title="Demo words",
            description="The most similar quarter of WordSim-353 and of SimLex-999, both ways, among all their words "
            "and the 20,000 most frequent English words; needs no download.",
            kind=DatasetKind.PAIR_SET,
            unit="word",
            size="664 pairs, 20,029 words",
            pairs=664,
            texts=20_029,
            licence="WordSim-353 and SimLex-999 as in gensim (LGPL-2.1); word frequencies CC BY-SA 4.0 (wordfreq)",
            citation="Finkelstein et al. 2002, WordSim-353; Hill, Reichart and Korhonen 2015, SimLex-999; "
            "Speer 2022, wordfreq; the recipe of Wang, Kuo and Li 2022, 4.3",
            url="",
            revision="gensim 4.4.0, wordfreq 3.1.1",
            files=(),
            load=lambda dataset_id, _: loaders.demo_words(dataset_id),
            core_texts=1_341,
        ),
        DatasetEntry(
            id="evalrank-sent",
            title="EvalRank sentences",
            description="The most similar quarter of STS-Benchmark and STR, both ways, "
            "among all the sentences of both.",
            kind=DatasetKind.PAIR_SET,
            unit="sentence",
            size="6,989 pairs, 24,957 sentences",
            pairs=6_989,
            texts=24_957,
            licence="BSD-3-Clause (repository); sentences from STS-Benchmark and STR",
            citation="Wang, Kuo and Li 2022, Just Rank: Rethinking Evaluation with Word and Sentence Similarities, 4.3",
            url=f"https://github.com/{_EVALRANK_REPOSITORY}",
            revision=_EVALRANK_REVISION,
            files=(
                _evalrank_file(
                    "data/sent_evalrank/pos_pair.txt",
                    884_824,
                    "a12bd6f408a9259e9674d591067665985d31abba7b2e561ffb345e90f00c16a2",
                ),
                _evalrank_file(
                    "data/sent_evalrank/background_sent.txt",
                    1_627_520,
                    "711466d3a0b35a80ded70f1ae78f2b083677264cc6273e573d190706e4e5c445",
                ),
            ),
            load=lambda dataset_id, paths: loaders.evalrank(dataset_id, pairs=paths[0], background=paths[1:]),
            sources="evalrank-sent-sources",
        ),
        DatasetEntry(
            id="evalrank-word",
            title="EvalRank words",
            description="The most similar quarter of thirteen word similarity sets, both ways, among their words "
            "and the 20,000 most frequent words of Wikipedia.",
            kind=DatasetKind.PAIR_SET,
            unit="word",
            size="5,514 pairs, 22,207 words",
            pairs=5_514,
            texts=22_207,
            licence="BSD-3-Clause (repository); words from public similarity sets and Wikipedia",
            citation="Wang, Kuo and Li 2022, Just Rank: Rethinking Evaluation with Word and Sentence Similarities, 4.3",
            url=f"https://github.com/{_EVALRANK_REPOSITORY}",
            revision=_EVALRANK_REVISION,
            files=(
                _evalrank_file(
                    "data/word_evalrank/pos_pair_5514.txt",
                    81_414,
                    "f3dce0865c50c075a81cbe022322048421ba68581855caaf019c00acf2de8016",
                ),
                _evalrank_file(
                    "data/word_evalrank/basic_vocab.txt",
                    50_171,
                    "b30c502822749d56d0f3fad0151a6b711d584fa8eac944d1473fed413a7c0844",
                ),
                _evalrank_file(
                    "data/word_evalrank/wiki_vocab.txt",
                    157_940,
                    "ab2c76b26cc8ca09f352d4bb70fa4b34b2e8a3a7a520a2506d664bbc75203c75",
                ),
            ),
            load=lambda dataset_id, paths: loaders.evalrank(dataset_id, pairs=paths[0], background=paths[1:]),
            sources="evalrank-word-sources",
            core_texts=5_846,
        ),
        DatasetEntry(
            id="heros",
            title="HEROS",
            description="1,000 sentences of Reddit comments, each with a synonym, an antonym, a random word, a typo "
            "and two negations in it.",
            kind=DatasetKind.MINIMAL_PAIR_SET,
            unit="sentence",
            size="1,000 originals with 6 rewrites each",
            pairs=6000,
            texts=7000,
            licence="Apache-2.0",
            citation="Chiang, Chuang, Glass and Lee 2023, Revealing the Blind Spot of Sentence Encoder Evaluation by "
            "HEROS",
            url=f"https://huggingface.co/datasets/{_HEROS_REPOSITORY}",
            revision="main",
            # Neither its checksum nor its revision could be looked up when this was written.
            files=(
                SourceFile(
                    "heros",
                    "heros.tsv",
                    f"https://huggingface.co/datasets/{_HEROS_REPOSITORY}/resolve/main/heros.tsv",
                    size=0,
                    sha256="",
                ),
            ),
            load=lambda dataset_id, paths: minimal_pairs.load_table(dataset_id, paths[0], rows=1_000),
        ),
        DatasetEntry(
            id="vocab-wordfreq",
            title="Frequent English words",
            description="The 20,000 most frequent English words of wordfreq; a word's count is how often wordfreq "
            "expects it in a billion words, from several corpora. Needs no download.",
            kind=DatasetKind.VOCABULARY,
            unit="word",
            size="20,000 words with their counts",
            texts=20_000,
            licence="CC BY-SA 4.0 (wordfreq's data)",
            citation="Speer 2022, wordfreq",
            url="https://github.com/rspeer/wordfreq",
            revision="wordfreq 3.1.1",
            files=(),
            load=lambda dataset_id, _: vocabularies.wordfreq(dataset_id),
        ),
        DatasetEntry(
            id="vocab-wiki",
            title="Words of Wikipedia",
            description="The 50,000 most frequent of 188,033 counted words of the English Wikipedia, 3.48 billion "
            "tokens in all; the rest would take a transformer too long. Digits were spelled out, so number words are "
            "inflated: one, zero and two follow on the.",
            kind=DatasetKind.VOCABULARY,
            unit="word",
            size="50,000 words with their counts",
            texts=50_000,
            licence="MIT (repository); counts of Wikipedia's words",
            citation="Arora, Liang and Ma 2017, A Simple but Tough-to-Beat Baseline for Sentence Embeddings",
            url=f"https://github.com/{_SIF_REPOSITORY}",
            revision=_SIF_REVISION,
            files=(
                SourceFile(
                    "sif_wiki_freq",
                    "enwiki_vocab_min200.txt",
                    f"https://raw.githubusercontent.com/{_SIF_REPOSITORY}/{_SIF_REVISION}"
                    "/auxiliary_data/enwiki_vocab_min200.txt",
                    2_398_218,
                    "472326d0b31161ecd316f10fdb548f4cd812b6ff0b7c030b6cc0cbaf5de8b7cd",
                ),
            ),
            load=lambda dataset_id, paths: vocabularies.counted(dataset_id, paths[0], vocabularies.WIKI_WORDS),
        ),
    )
}

_STS_BENCHMARK = "data/sent_similarity/STS/STSBenchmark"
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

# What the pairs of a dataset were taken from, with the scores that people gave them. Nothing is run on these, so no
# picker has them; they are fetched like the others, where they are asked for.
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
            url=f"https://github.com/{_EVALRANK_REPOSITORY}",
            revision=_EVALRANK_REVISION,
            files=(
                _evalrank_file(
                    f"{_STS_BENCHMARK}/sts-train.csv",
                    896_257,
                    "4fc4924edd059a43e9c7c8927a72cb8061a87ef98afdf2026a0e0b540b458693",
                ),
                _evalrank_file(
                    f"{_STS_BENCHMARK}/sts-dev.csv",
                    258_473,
                    "c558fa95fec006608f13e3d942f153b614beabccbf33e64f36418d406a895e37",
                ),
                _evalrank_file(
                    f"{_STS_BENCHMARK}/sts-test.csv",
                    206_733,
                    "22ef3e10603b6655d7c7978c8eee26e7d5291dd5a71c5531b934fb025c108cbf",
                ),
                _evalrank_file(
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
            url=f"https://github.com/{_EVALRANK_REPOSITORY}",
            revision=_EVALRANK_REVISION,
            files=tuple(
                _evalrank_file(f"data/word_similarity/EN-{name}.txt", size, sha256) for name, size, sha256 in _WORD_SETS
            ),
            load=scored_pairs.word_sources,
        ),
    )
}


def find(reference: str) -> DatasetEntry:
    """The entry of a dataset: of the catalog or its sources, or made of a user's file, which is read for it.

    Raises:
        InputError: no such dataset (the nearest id is suggested), or what is wrong with the file.
    """
    if own.is_own(reference):
        return _own_entry(own.find(reference))
    entry = DATASETS.get(reference) or SOURCES.get(reference)
    if entry is None:
        raise unknown("dataset", reference, [*DATASETS, OWN_FILE])
    return entry


def canonical(reference: str) -> str:
    """The id under which the store has a dataset; a user's file need not exist any more.

    Raises:
        InputError: no such dataset.
    """
    return f"{own.PREFIX}{own.path_of(reference)}" if own.is_own(reference) else find(reference).id


def _own_entry(file: OwnFile) -> DatasetEntry:
    """The entry of a user's file. It holds what was read, so that revision and content are of the same bytes."""
    return DatasetEntry(
        id=f"{own.PREFIX}{file.path}",
        title=file.path.name,
        description=file.description,
        kind=file.kind,
        unit="text",
        size=size_in_words(file.kind, file.rows, len(file.used) - 1, file.distinct_texts),
        licence="yours",
        citation="your own file",
        url="",
        revision=file.sha256,
        files=(),
        load=lambda dataset_id, _: file.dataset(dataset_id),
        own=file,
        pairs=file.rows,
        texts=file.distinct_texts,
    )
