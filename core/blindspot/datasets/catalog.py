"""Catalog of datasets. To add one: a loader if its format is new, and an entry here."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import PurePath

from blindspot import names
from blindspot.datasets.entries import (
    EVALRANK_REPOSITORY,
    EVALRANK_REVISION,
    DatasetEntry,
    Family,
    SourceFile,
    evalrank_file,
    github_file,
)
from blindspot.datasets.kinds import KINDS
from blindspot.datasets.kinds.base import DatasetKind
from blindspot.datasets.published import minimal_pairs, retrieval, scored_pairs, semantoneg, vocabularies
from blindspot.datasets.published import pairs as loaders
from blindspot.datasets.published.chunked import CHUNKED
from blindspot.datasets.published.evalrank_sources import SOURCES
from blindspot.datasets.published.evalrank_words import EVALRANK_WORDS
from blindspot.datasets.published.meaning_changes import MEANING_CHANGES
from blindspot.datasets.published.probing_tasks import PROBING
from blindspot.datasets.published.scored_pairs.similarity_sets import SIMILARITY
from blindspot.datasets.published.tatoeba import PARALLEL
from blindspot.datasets.published.transfer_tasks import INTENTS, LABELED
from blindspot.datasets.published.word_relations import RELATIONS
from blindspot.datasets.user_data import files as own
from blindspot.datasets.user_data import retrieval_folder
from blindspot.datasets.user_data.columns import OwnSource
from blindspot.datasets.user_data.kinds import OWN_KINDS
from blindspot.datasets.user_data.reference import ROLES, OwnReference
from blindspot.errors import InputError, unknown
from blindspot.settings import ASSETS

__all__ = [
    "DATASETS",
    "FAMILIES",
    "OWN_FILE",
    "OWN_FOLDER",
    "OWN_FOLDER_FORMS",
    "OWN_FORMS",
    "OWN_PREFIX",
    "SOURCES",
    "DatasetEntry",
    "DatasetRef",
    "Family",
    "SourceFile",
    "catalogued",
    "family_of",
    "find_dataset",
    "find_datasets",
    "title_of",
]


OWN_PREFIX = own.PREFIX  # the beginning of a reference to a user's file
OWN_FILE = f"{own.PREFIX}PATH"  # as help texts name it
OWN_FOLDER = f"{own.FOLDER_PREFIX}PATH"
OWN_FORMS = (
    f"a .csv, .tsv, .jsonl or .parquet of {', of '.join(kind.form for kind in OWN_KINDS.values())}. "
    f"Columns of other names: {OWN_FILE}?query=NAME&match=NAME, with {', '.join(ROLES)} for the roles"
)
OWN_FOLDER_FORMS = (
    "a folder of queries, documents and judgments in the format of BEIR (corpus.jsonl, queries.jsonl, qrels/*.tsv) or "
    f"TREC. Other judgments than those in test: {OWN_FOLDER}?split=NAME. To leave out what is not judged or not there: "
    f"{OWN_FOLDER}?missing=skip. Files and columns of other names: "
    f"{OWN_FOLDER}?documents=FILE&queries=FILE&judgments=FILE&queries.text=COLUMN"
)
_DEMO_SENTENCES = ASSETS / "demo" / "minimal_pairs.tsv"
_DEMO_SCORED = ASSETS / "demo" / "scored_pairs.tsv"
_DEMO_RETRIEVAL = ASSETS / "demo" / "retrieval"
_SIF_REPOSITORY = "PrincetonML/SIF"
_SIF_REVISION = "84b5b4c1c1ca20b6af19fc78cae005a1818ec571"
_HEROS_REPOSITORY = "dcml0714/Heros"
_HEROS_REVISION = "0929565636acc37c329ad0fe0d44c5a715351427"
_CRANFIELD_REPOSITORY = "Chetan-Prasad/IR-Lucene_Cran"
_CRANFIELD_REVISION = "ff1bd825c1781e908fdcb8a20609ef779abb3d2a"
_LIMIT_REPOSITORY = "google-deepmind/limit"
_LIMIT_REVISION = "90c5dd3a7c3c0d68bc6cc7a0c5b0f4ca124dfdcb"
_CANNOT_REPOSITORY = "dmlls/cannot-dataset"
_CANNOT_REVISION = "3b94fb51fcf8e642ea28cdc065805d1d3da3247f"


DATASETS = {
    entry.id: entry
    for entry in (
        DatasetEntry(
            id="demo-pairs",
            title="Demo pairs",
            description="200 sentences with six rewrites each make 1,400 texts. A pair is a sentence and its synonym "
            "rewrite, in both directions: 400 pairs. The other five rewrites, wrong or misspelled on purpose, are in "
            "no pair.",
            kind=DatasetKind.PAIR_SET,
            unit="sentence",
            size="400 pairs, 1,400 sentences",
            pairs=400,
            texts=1400,
            licence="Apache-2.0",
            citation="Blindspot's own sentences, after the rules of Chiang et al. 2023 (HEROS), section 2.2",
            load=lambda dataset_id, _: loaders.demo_pairs(dataset_id, _DEMO_SENTENCES),
            rewrites="demo-minimal",
            limits="Made for a first look: other sentences, or a real search among millions of texts, may order models "
            "otherwise.",
        ),
        DatasetEntry(
            id="demo-minimal",
            title="Demo minimal pairs",
            description="200 sentences, each with six rewrites: a synonym, an antonym, a random word, a typo and two "
            "negations.",
            kind=DatasetKind.MINIMAL_PAIR_SET,
            unit="sentence",
            size="200 originals with 6 rewrites each, 1,400 sentences",
            pairs=1200,
            texts=1400,
            licence="Apache-2.0",
            citation="Blindspot's own sentences, after the rules of Chiang et al. 2023 (HEROS), section 2.2",
            load=lambda dataset_id, _: loaders.demo_minimal(dataset_id, _DEMO_SENTENCES),
            limits="Its scores are not those of HEROS: on HEROS' own 1,000 sentences MiniLM puts the negated clause "
            "(0.955) before the synonym (0.901), here the other way round. To quote HEROS, run heros.",
        ),
        DatasetEntry(
            id="demo-words",
            title="Demo words",
            description="The most similar quarter of WordSim-353 and of SimLex-999, in both directions, among all "
            "their words and the 20,000 most frequent English words.",
            kind=DatasetKind.PAIR_SET,
            unit="word",
            size="664 pairs, 20,029 words",
            pairs=664,
            texts=20_029,
            licence="WordSim-353, SimLex-999 as in gensim (LGPL-2.1); frequencies CC BY-SA 4.0 (wordfreq)",
            citation="Finkelstein et al. 2002, WordSim-353; Hill, Reichart and Korhonen 2015, SimLex-999; "
            "Speer 2022, wordfreq; the recipe of Wang, Kuo and Li 2022, 4.3",
            revision="gensim 4.4.0, wordfreq 3.1.1",
            load=lambda dataset_id, _: loaders.demo_words(dataset_id),
            core_texts=1_341,
        ),
        DatasetEntry(
            id="demo-scored",
            title="Demo scored pairs",
            description="Sentence pairs on fifteen topics, scored from 0 to 5 for how much their meanings have in "
            "common, by one judgment each; paraphrases in other words, and sentences that differ in a negation, a "
            "number or who does what to whom.",
            kind=DatasetKind.SCORED_PAIRS,
            unit="sentence",
            size="202 scored pairs",
            pairs=202,
            texts=328,
            licence="Apache-2.0",
            citation="Written and scored by Blindspot's authors, on the scale of Agirre et al. 2012 (SemEval, task 6)",
            load=lambda dataset_id, _: scored_pairs.demo_scored(dataset_id, _DEMO_SCORED),
            limits="One judgment each: how far people agree on these pairs is not known.",
        ),
        DatasetEntry(
            id="demo-retrieval",
            title="Demo retrieval",
            description="80 queries and 60 short documents of everyday life in groups of three that differ in a "
            "negation, a number, a name, or who does what to whom, each graded from 0 to 2; needs no download.",
            kind=DatasetKind.RETRIEVAL,
            unit="text",
            size="80 queries, 60 documents, 240 judgments",
            pairs=80,
            texts=140,
            licence="Apache-2.0",
            citation="Written and judged by Blindspot's authors, in the format of Thakur et al. 2021 (BEIR)",
            load=lambda dataset_id, _: retrieval_folder.read(_DEMO_RETRIEVAL).loaded(dataset_id),
            limits="Among 60 documents most are found by chance sooner than among thousands: scores are high.",
        ),
        DatasetEntry(
            id="demo-vocabulary",
            title="Demo vocabulary",
            description="The 5,000 most frequent English words of wordfreq, with their counts in a billion words.",
            kind=DatasetKind.VOCABULARY,
            unit="word",
            size="5,000 words with their counts",
            texts=5_000,
            licence="CC BY-SA 4.0 (wordfreq's data)",
            citation="Speer 2022, wordfreq",
            url="https://github.com/rspeer/wordfreq",
            revision="wordfreq 3.1.1",
            load=lambda dataset_id, _: vocabularies.wordfreq(dataset_id, 5_000),
        ),
        DatasetEntry(
            id="evalrank-sent",
            title="EvalRank sentences",
            description="The most similar quarter of STS-Benchmark and STR, in both directions, among all the "
            "sentences of both.",
            kind=DatasetKind.PAIR_SET,
            unit="sentence",
            size="6,989 pairs, 24,957 sentences",
            pairs=6_989,
            texts=24_957,
            licence="BSD-3-Clause (repository); sentences from STS-Benchmark and STR",
            citation="Wang, Kuo and Li 2022, Just Rank: Rethinking Evaluation with Word and Sentence Similarities, 4.3",
            url=f"https://github.com/{EVALRANK_REPOSITORY}",
            revision=EVALRANK_REVISION,
            files=(
                evalrank_file("data/sent_evalrank/pos_pair.txt"),
                evalrank_file("data/sent_evalrank/background_sent.txt"),
            ),
            load=lambda dataset_id, paths: loaders.evalrank(dataset_id, pairs=paths[0], background=paths[1:]),
            sources="evalrank-sent-sources",
        ),
        *EVALRANK_WORDS.values(),
        DatasetEntry(
            id="heros",
            title="HEROS",
            description="1,000 sentences of Reddit comments, each with six rewrites: a synonym, an antonym, a random "
            "word, a typo and two negations.",
            kind=DatasetKind.MINIMAL_PAIR_SET,
            unit="sentence",
            size="1,000 originals with 6 rewrites each",
            pairs=6000,
            texts=7000,
            licence="Apache-2.0",
            citation="Chiang, Chuang, Glass and Lee 2023, Revealing the Blind Spot of Sentence Encoder Evaluation by "
            "HEROS",
            url=f"https://huggingface.co/datasets/{_HEROS_REPOSITORY}",
            revision=_HEROS_REVISION,
            # Its checksum and exact size were not available when this was written.
            files=(
                SourceFile(
                    "heros",
                    "heros.tsv",
                    f"https://huggingface.co/datasets/{_HEROS_REPOSITORY}/resolve/{_HEROS_REVISION}/heros.tsv",
                    size=0,
                    sha256="",
                    about=461_000,
                ),
            ),
            load=lambda dataset_id, paths: minimal_pairs.load_table(dataset_id, paths[0], rows=1_000),
        ),
        DatasetEntry(
            id="vocab-wordfreq",
            title="Frequent English words",
            description="The 20,000 most frequent English words of wordfreq; a word's count is how often wordfreq "
            "expects it in a billion words, from several corpora.",
            kind=DatasetKind.VOCABULARY,
            unit="word",
            size="20,000 words with their counts",
            texts=20_000,
            licence="CC BY-SA 4.0 (wordfreq's data)",
            citation="Speer 2022, wordfreq",
            url="https://github.com/rspeer/wordfreq",
            revision="wordfreq 3.1.1",
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
        DatasetEntry(
            id="semantoneg",
            title="SemAntoNeg",
            description="3,152 short sentences, each with a paraphrase, in which a word is replaced by its opposite "
            "and a negation put in or taken out, and with the two sentences that have only one of these changes and so "
            "say the opposite.",
            kind=DatasetKind.MINIMAL_PAIR_SET,
            unit="sentence",
            size="3,152 originals with 3 rewrites each, 2,435 sentences",
            pairs=9_456,
            texts=2_435,
            licence="CC BY-SA 4.0 (the repository that it is taken from)",
            citation="Vahtola, Creutz and Tiedemann 2022, It Is Not Easy To Detect Paraphrases: Analysing Semantic "
            "Similarity With Antonyms and Negation Using the New SemAntoNeg Benchmark",
            url=f"https://github.com/{_CANNOT_REPOSITORY}",
            revision=_CANNOT_REVISION,
            files=(
                github_file(
                    "cannot_negation",
                    _CANNOT_REPOSITORY,
                    _CANNOT_REVISION,
                    "datasets/antonym-substitution/original/SemAntoNeg_v1.0.json",
                ),
            ),
            load=lambda dataset_id, paths: semantoneg.load(dataset_id, paths[0]),
        ),
        *MEANING_CHANGES.values(),
        DatasetEntry(
            id="cranfield",
            title="Cranfield",
            description="Questions of aerodynamicists and abstracts of their field, judged by them. Judged relevant or "
            "not, since its grades are documented with either end as the best. Two of the 1,400 abstracts are empty "
            "and left out.",
            kind=DatasetKind.RETRIEVAL,
            unit="text",
            size="225 queries, 1,398 documents, 1,836 judgments",
            pairs=225,
            texts=1_623,
            licence="none stated",
            citation="Cleverdon 1967, The Cranfield tests on index language devices",
            url=f"https://github.com/{_CRANFIELD_REPOSITORY}",
            revision=_CRANFIELD_REVISION,
            files=tuple(
                github_file("cranfield", _CRANFIELD_REPOSITORY, _CRANFIELD_REVISION, name)
                for name in ("cran.all.1400", "cran.qry", "cranqrel")
            ),
            load=lambda dataset_id, paths: retrieval.cranfield(dataset_id, *paths),
        ),
        DatasetEntry(
            id="limit-small",
            title="LIMIT, small",
            description="Questions who likes a thing, and what each of 46 people likes: every two people are the "
            "answer to one question, which vectors of few dimensions cannot express.",
            kind=DatasetKind.RETRIEVAL,
            unit="text",
            size="1,000 queries, 46 documents, 2,000 judgments",
            pairs=1_000,
            texts=1_046,
            licence="CC BY 4.0 (data), Apache-2.0 (repository)",
            citation="Weller, Boratko, Naim and Lee 2025, On the Theoretical Limitations of Embedding-Based Retrieval",
            url=f"https://github.com/{_LIMIT_REPOSITORY}",
            revision=_LIMIT_REVISION,
            files=tuple(
                github_file("limit", _LIMIT_REPOSITORY, _LIMIT_REVISION, f"data/limit-small/{name}.jsonl")
                for name in ("corpus", "queries", "qrels")
            ),
            load=lambda dataset_id, paths: retrieval.limit(dataset_id, *paths),
        ),
        *SIMILARITY.values(),
        *RELATIONS.values(),
        *CHUNKED.values(),
        *LABELED.values(),
        *INTENTS.values(),
        *PROBING.values(),
    )
}


FAMILIES: dict[str, Family] = {sets.family.id: sets.family for sets in PARALLEL.values()}


def family_of(reference: str) -> Family | None:
    """The family that a dataset belongs to."""
    return next((family for family in FAMILIES.values() if reference in family.members), None)


def catalogued(reference: str) -> DatasetEntry | None:
    """The entry of a dataset in the catalog, also of a family's member; not for sources or a user's file."""
    family = family_of(reference)
    return family.members[reference] if family else DATASETS.get(reference)


def find_datasets(references: Iterable[str]) -> list[DatasetEntry]:
    """The entries of datasets, and of all members of families.

    Raises:
        InputError: as ``find_dataset``.
    """
    entries: list[DatasetEntry] = []
    for reference in references:
        family = FAMILIES.get(reference)
        entries += family.members.values() if family else [find_dataset(reference)]
    return entries


class DatasetRef(str):
    """A dataset by its reference, as stores, addresses and JSON have it: ``demo-pairs``, ``file:PATH``.

    It is a ``str``, so that it equals what these have. ``entry`` tells whether there is such a dataset.
    """

    __slots__ = ()

    @classmethod
    def parse(cls, text: str) -> DatasetRef:
        """The dataset that somebody names, under the store's name; a user's file need not exist any more.

        Raises:
            InputError: no such dataset.
        """
        return cls(OwnReference.parse(text) if own.is_own(text) else cls(text).entry().id)

    def of_kind(self, kind: DatasetKind) -> DatasetRef:
        """The dataset read as a kind, if a user's file can be read as several kinds; else itself.

        Raises:
            InputError: the file cannot be read.
        """
        return DatasetRef(own.fitting(self, kind)) if own.is_own(self) else self

    def entry(self) -> DatasetEntry:
        """The entry from the catalog, its sources, or a user's file, which is read once as long as it does not change.

        Raises:
            InputError: an unknown dataset (the nearest id is suggested), or an unusable file.
        """
        if own.is_own(self):
            return _own_entry(own.find(self), DatasetRef.parse(self))
        entry = catalogued(self) or SOURCES.get(self)
        if entry is not None:
            return entry
        if family := FAMILIES.get(self):
            raise InputError(
                f"'{self}' is {len(family.members)} datasets, {family.naming}",
                expected=f"one of them, such as {family.example}",
                remedy=f"list them with: blindspot data list {self}",
            )
        for family in FAMILIES.values():
            if self.startswith(family.id):
                nearest = unknown("dataset", self, family.members)
                expected = f"{family.naming}, such as {family.example}"
                raise InputError(nearest.what, expected=expected, remedy=nearest.remedy)
        path = PurePath(self)
        if ":" not in self and (path.suffix or len(path.parts) > 1):
            raise InputError(
                f"there is no file {self}", expected="data of your own, or a dataset id", remedy="check the path"
            )
        ids, own_names = [*DATASETS, *FAMILIES, OWN_FILE], names.own_names(names.Kind.DATASET)
        raise unknown("dataset", self, ids, own_names, "blindspot data list")


def find_dataset(reference: str) -> DatasetEntry:
    """``DatasetRef.entry`` of a reference that somebody gives."""
    return DatasetRef(reference).entry()


def title_of(reference: str) -> str:
    """Name of a dataset on screen, even if it no longer exists; see ``blindspot.names``."""
    entry = catalogued(reference)
    return names.current().dataset(reference, entry.title if entry else "")


def limits_of(references: Iterable[str]) -> tuple[str, ...]:
    """What scores on these datasets do not say: a sentence or two for each dataset that has limits, after its title."""
    entries = filter(None, map(catalogued, dict.fromkeys(references)))
    return tuple(f"{title_of(entry.id)}: {entry.limits}" for entry in entries if entry.limits)


def _own_entry(file: OwnSource, reference: DatasetRef) -> DatasetEntry:
    """The entry of a user's file or folder. It keeps the content as read, so that it agrees with the revision."""
    return DatasetEntry(
        id=reference,
        title=names.current().dataset(reference),
        description=file.description,
        kind=file.kind,
        unit="text",
        size=KINDS[file.kind].size(file.rows, file.subsets, file.distinct_texts),
        licence="yours",
        citation="your own file",
        revision=file.sha256,
        load=lambda dataset_id, _: file.loaded(dataset_id),
        own=file,
        pairs=file.rows,
        texts=file.distinct_texts,
        is_split=file.is_split,
        classes=file.number_of_classes,
    )
