"""Transfer tasks: ten from the EvalRank paper (Wang 2022, section 5.1), intents, and negation in our sentences."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from blindspot.datasets.entries import (
    EVALRANK_REPOSITORY,
    EVALRANK_REVISION,
    DatasetEntry,
    evalrank_file,
    github_file,
)
from blindspot.datasets.kinds.base import DatasetKind
from blindspot.datasets.kinds.labeled_texts import DEV, TEST, TRAIN
from blindspot.datasets.published import labeled_texts as read
from blindspot.datasets.published import pairs as loaders
from blindspot.datasets.published.labeled_texts import Example
from blindspot.settings import ASSETS

_FOLDER = "data/sent_classification"
_OWN_SPLITS = "No train/test split: ten folds."
_LICENCE = "as published by its authors; here as in the toolkit's repository (BSD-3-Clause)"


def _entry(
    dataset_id: str,
    title: str,
    description: str,
    counts: tuple[int, int],
    citation: str,
    files: Sequence[str],
    examples: Callable[..., list[Example]],
    classes: Sequence[str],
    licence: str = _LICENCE,
    is_split: bool = True,
) -> DatasetEntry:
    """An entry of labeled texts; ``counts`` are examples and distinct texts, ``examples`` reads the files."""
    return DatasetEntry(
        id=dataset_id,
        title=title,
        description=description,
        kind=DatasetKind.LABELED_TEXTS,
        unit="sentence",
        size=f"{counts[0]:,} examples of {len(classes)} classes",
        pairs=counts[0],
        texts=counts[1],
        is_split=is_split,
        licence=licence,
        citation=citation,
        url=f"https://github.com/{EVALRANK_REPOSITORY}",
        revision=EVALRANK_REVISION,
        files=tuple(evalrank_file(f"{_FOLDER}/{path}") for path in files),
        load=lambda dataset_id, paths: read.labeled_texts(dataset_id, classes, examples(*paths)),
    )


def _two_files(classes: Sequence[str]) -> Callable[[Path, Path], list[Example]]:
    return lambda path, other: read.one_per_line(path, classes[0]) + read.one_per_line(other, classes[1])


def _parts(of: Callable[[Path, int], list[Example]], splits: Sequence[int]) -> Callable[..., list[Example]]:
    return lambda *paths: [e for path, split in zip(paths, splits, strict=True) for e in of(path, split)]


_POLARITY = ("negative", "positive")
_SUBJECTIVITY = ("objective", "subjective")
_THREE = (TRAIN, DEV, TEST)

_ENTRIES = (
    _entry(
        "mr",
        "MR",
        f"Sentences of film reviews: negative or positive. {_OWN_SPLITS}",
        (10_662, 10_662),
        "Pang and Lee 2005, Seeing stars",
        ("MR/rt-polarity.neg", "MR/rt-polarity.pos"),
        _two_files(_POLARITY),
        _POLARITY,
        is_split=False,
    ),
    _entry(
        "cr",
        "CR",
        f"Sentences of customers' reviews of products: negative or positive. {_OWN_SPLITS}",
        (3_771, 3_765),
        "Hu and Liu 2004, Mining and summarizing customer reviews",
        ("CR/custrev.neg", "CR/custrev.pos"),
        _two_files(_POLARITY),
        _POLARITY,
        is_split=False,
    ),
    _entry(
        "mpqa",
        "MPQA",
        "Phrases of news: negative or positive opinions. 31% of its phrases are repeated, 98 of them "
        f"with both labels. {_OWN_SPLITS}",
        (10_603, 8_240),
        "Wiebe, Wilson and Cardie 2005, Annotating expressions of opinions and emotions in language",
        ("MPQA/mpqa.neg", "MPQA/mpqa.pos"),
        _two_files(_POLARITY),
        _POLARITY,
        is_split=False,
    ),
    _entry(
        "subj",
        "SUBJ",
        f"Sentences of plots and of reviews of films: objective or subjective. {_OWN_SPLITS}",
        (10_000, 10_000),
        "Pang and Lee 2004, A sentimental education",
        ("SUBJ/subj.objective", "SUBJ/subj.subjective"),
        _two_files(_SUBJECTIVITY),
        _SUBJECTIVITY,
        is_split=False,
    ),
    _entry(
        "sst2",
        "SST2",
        "Sentences of film reviews, and in training phrases of them too: negative or positive. Its own split.",
        (70_042, 69_669),
        "Socher et al. 2013, Recursive deep models for semantic compositionality",
        ("SST/binary/sentiment-train", "SST/binary/sentiment-dev", "SST/binary/sentiment-test"),
        _parts(read.sst2, _THREE),
        _POLARITY,
    ),
    _entry(
        "sst5",
        "SST5",
        "Sentences of film reviews in five classes, from very negative to very positive. Its own split.",
        (11_855, 11_841),
        "Socher et al. 2013, Recursive deep models for semantic compositionality",
        ("SST/fine/sentiment-train", "SST/fine/sentiment-dev", "SST/fine/sentiment-test"),
        _parts(read.sst5, _THREE),
        read.SST5_CLASSES,
    ),
    _entry(
        "trec",
        "TREC",
        "Questions by what they ask for: an abbreviation, a description, an entity, a person, a place or a number. "
        "Its own split.",
        (5_952, 5_871),
        "Li and Roth 2002, Learning question classifiers",
        ("TREC/train_5500.label", "TREC/TREC_10.label"),
        _parts(read.trec, (TRAIN, TEST)),
        ("ABBR", "DESC", "ENTY", "HUM", "LOC", "NUM"),
    ),
    _entry(
        "mrpc",
        "MRPC",
        "Pairs of sentences of news: is one a paraphrase of the other? Its own split.",
        (5_801, 10_944),
        "Dolan, Quirk and Brockett 2004, Unsupervised construction of large paraphrase corpora",
        ("MRPC/msr_paraphrase_train.txt", "MRPC/msr_paraphrase_test.txt"),
        _parts(read.mrpc, (TRAIN, TEST)),
        read.MRPC_CLASSES,
    ),
    _entry(
        "sick-e",
        "SICK-E",
        "Pairs of sentences: does the first entail the second, contradict it, or neither? Its own split.",
        (9_927, 6_077),
        "Marelli et al. 2014, A SICK cure for the evaluation of compositional distributional semantic models",
        ("SICK/SICK_train.txt", "SICK/SICK_trial.txt", "SICK/SICK_test_annotated.txt"),
        _parts(read.sick, _THREE),
        read.SICK_CLASSES,
        licence="CC BY-NC-SA 3.0 (SICK)",
    ),
    _entry(
        "scicite",
        "SciCite",
        "Sentences of papers that cite others: for background, for a method, or to compare results. Its own split.",
        (10_097, 10_093),
        "Cohan et al. 2019, Structural scaffolds for citation intent classification in scientific publications",
        ("SCICITE/train.txt", "SCICITE/dev.txt", "SCICITE/test.txt"),
        _parts(read.scicite, _THREE),
        ("background", "method", "result"),
    ),
)


def _demo(dataset_id: str) -> list[Example]:
    """The built-in sentences, labeled by whether they are negated."""
    minimal = loaders.demo_minimal(dataset_id, ASSETS / "demo" / "minimal_pairs.tsv")
    negated = {int(i) for subset, numbers in minimal.rewrites.items() if "negation" in subset for i in numbers}
    return [Example("negated" if i in negated else "affirmed", text) for i, text in enumerate(minimal.items)]


_DEMO_CLASSES = ("affirmed", "negated")

LABELED = {
    entry.id: entry
    for entry in (
        DatasetEntry(
            id="demo-negation",
            title="Demo negation",
            description=f"The built-in sentences and their rewrites: is a sentence negated? {_OWN_SPLITS}",
            kind=DatasetKind.LABELED_TEXTS,
            unit="sentence",
            size="1,400 examples of 2 classes",
            pairs=1_400,
            texts=1_400,
            licence="Apache-2.0",
            citation="Blindspot's own sentences",
            load=lambda dataset_id, _: read.labeled_texts(dataset_id, _DEMO_CLASSES, _demo(dataset_id)),
        ),
        *_ENTRIES,
    )
}

_INTENTS = ("banking77", "PolyAI-LDN/task-specific-datasets", "57ec275d8078af65b7731c2a98be812d844a6d6b")

INTENTS = {
    "banking77": DatasetEntry(
        id="banking77",
        title="BANKING77",
        description="Questions of a bank's customers in 77 intents, its own split; Threshold draws up to 4,000 "
        "pairs of the same and of different intents from them, seeded and without a text in two pairs.",
        kind=DatasetKind.LABELED_TEXTS,
        unit="sentence",
        size="13,083 examples of 77 classes",
        pairs=13_083,
        texts=13_071,
        is_split=True,
        licence="CC BY 4.0",
        citation="Casanueva et al. 2020, Efficient Intent Detection with Dual Sentence Encoders",
        url=f"https://github.com/{_INTENTS[1]}",
        revision=_INTENTS[2],
        files=tuple(
            github_file(*_INTENTS, f"banking_data/{name}") for name in ("categories.json", "train.csv", "test.csv")
        ),
        load=lambda dataset_id, paths: read.labeled_texts(dataset_id, *read.intents(*paths)),
    )
}
