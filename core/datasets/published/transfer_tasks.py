"""The transfer tasks: ten of the EvalRank paper, and a probing task of our own (Wang 2022, section 5.1)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from core.datasets.entries import (
    EVALRANK_REPOSITORY,
    EVALRANK_REVISION,
    DatasetEntry,
    SourceFile,
    evalrank_file,
)
from core.datasets.kinds.base import DatasetKind
from core.datasets.kinds.labelled_texts import DEV, TEST, TRAIN
from core.datasets.published import labelled_texts as read
from core.datasets.published import pairs as loaders
from core.datasets.published.labelled_texts import Example
from core.settings import ASSETS

_FOLDER = "data/sent_classification"
_OWN_SPLITS = "It has no split of its own: ten folds."
_LICENCE = "as published by its authors; here as in the toolkit's repository (BSD-3-Clause)"


def _file(path: str, size: int, sha256: str) -> SourceFile:
    return evalrank_file(f"{_FOLDER}/{path}", size, sha256)


def _entry(
    dataset_id: str,
    title: str,
    description: str,
    counts: tuple[int, int],
    citation: str,
    files: Sequence[SourceFile],
    examples: Callable[..., list[Example]],
    classes: Sequence[str],
    licence: str = _LICENCE,
    is_split: bool = True,
) -> DatasetEntry:
    """An entry of labelled texts; ``counts`` are of examples and distinct texts, ``examples`` reads its files."""
    return DatasetEntry(
        id=dataset_id,
        title=title,
        description=description,
        kind=DatasetKind.LABELLED_TEXTS,
        unit="sentence",
        size=f"{counts[0]:,} examples of {len(classes)} classes",
        pairs=counts[0],
        texts=counts[1],
        is_split=is_split,
        licence=licence,
        citation=citation,
        url=f"https://github.com/{EVALRANK_REPOSITORY}",
        revision=EVALRANK_REVISION,
        files=tuple(files),
        load=lambda dataset_id, paths: read.labelled_texts(dataset_id, classes, examples(*paths)),
    )


def _two_files(classes: Sequence[str]) -> Callable[[Path, Path], list[Example]]:
    """What reads a file of each of two classes."""
    return lambda one, other: read.one_per_line(one, classes[0]) + read.one_per_line(other, classes[1])


def _parts(of: Callable[[Path, int], list[Example]], splits: Sequence[int]) -> Callable[..., list[Example]]:
    """What reads a file per split."""
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
        (
            _file("MR/rt-polarity.neg", 616_109, "c4ac36eaa8adc8ee31c31f69594bfbe68d83ef5b6db53f1f19b28c0be52f3999"),
            _file("MR/rt-polarity.pos", 629_795, "34e5b0da2d491e46b700b00afe735aaae0962bcfe4f7f22b2d8077e714fa370f"),
        ),
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
        (
            _file("CR/custrev.neg", 142_650, "ec94532766f6f962094841ab3bee2ad6f232f996c3756825a91e78bcc294750f"),
            _file("CR/custrev.pos", 228_014, "91a20a4ffeb5d38a39a4087bb247e16538aff21e7d621ae59738379f39f21732"),
        ),
        _two_files(_POLARITY),
        _POLARITY,
        is_split=False,
    ),
    _entry(
        "mpqa",
        "MPQA",
        "Phrases of news: negative or positive opinions. 31% of its phrases stand in it more than once, 98 of them "
        f"with both labels. {_OWN_SPLITS}",
        (10_603, 8_240),
        "Wiebe, Wilson and Cardie 2005, Annotating expressions of opinions and emotions in language",
        (
            _file("MPQA/mpqa.neg", 158_902, "8da6e035fa4cea02f0555091096b29a6b3995ff0adf41fad25008dcee066b79e"),
            _file("MPQA/mpqa.pos", 60_581, "7487dbb74c77383e60b292845495163a9e21fb70a4fdacdda933413e43163f0d"),
        ),
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
        (
            _file("SUBJ/subj.objective", 672_430, "d8ccd43f1674f1c17e4ab717564e3561cfb719b0db4cfb19e5677427c68ff8a1"),
            _file("SUBJ/subj.subjective", 634_654, "274c2ffe59c204dc4df779848561786f59a98cc20dda3cfdd7d9f76a4f730710"),
        ),
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
        (
            _file(
                "SST/binary/sentiment-train",
                3_806_066,
                "10a92a297ec38e262386e5a2713b4bc70e5d18ced88b7f54bd171a26e5b34ab5",
            ),
            _file(
                "SST/binary/sentiment-dev", 94_916, "9a6c7403b71a9b762158387afe4431253ae10cdfb2319b5275289f3766f48291"
            ),
            _file(
                "SST/binary/sentiment-test", 194_788, "4fefd1cd67526cf87ebc7fafc3afc21cc7cfa6ae53b45e74f77f9456e3c62752"
            ),
        ),
        _parts(read.sst2, _THREE),
        _POLARITY,
    ),
    _entry(
        "sst5",
        "SST5",
        "Sentences of film reviews in five classes, from very negative to very positive. Its own split.",
        (11_855, 11_841),
        "Socher et al. 2013, Recursive deep models for semantic compositionality",
        (
            _file(
                "SST/fine/sentiment-train", 902_818, "9b52b5f686ed438d4d0274c385369251b3d579b578fddd340ba8a9bae2ca4bee"
            ),
            _file(
                "SST/fine/sentiment-dev", 117_239, "b2f76c62b960f9fda5c6d751edb125abab4f878eb94a8754239b7f4af647f4c3"
            ),
            _file(
                "SST/fine/sentiment-test", 233_634, "0e2ebb450c231f7b3d67fc932066e7bb26ae7bad8c88488f45ed44ef02eb3c73"
            ),
        ),
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
        (
            _file("TREC/train_5500.label", 333_379, "8bd6e79493f43bbd22c364587366a1dced54e1e31259eaa92721a0f526031116"),
            _file("TREC/TREC_10.label", 23_269, "86ad53c8fc9d397ab2f4be7c967d8efb470b260140557d3e57afad69d1b88b76"),
        ),
        _parts(read.trec, (TRAIN, TEST)),
        ("ABBR", "DESC", "ENTY", "HUM", "LOC", "NUM"),
    ),
    _entry(
        "mrpc",
        "MRPC",
        "Pairs of sentences of news: is one a paraphrase of the other? Its own split.",
        (5_801, 10_944),
        "Dolan, Quirk and Brockett 2004, Unsupervised construction of large paraphrase corpora",
        (
            _file(
                "MRPC/msr_paraphrase_train.txt",
                1_047_044,
                "60a9b09084528f0673eedee2b69cb941920f0b8cd0eeccefc464a98768457f89",
            ),
            _file(
                "MRPC/msr_paraphrase_test.txt",
                441_275,
                "a04e271090879aaba6423d65b94950c089298587d9c084bf9cd7439bd785f784",
            ),
        ),
        _parts(read.mrpc, (TRAIN, TEST)),
        read.MRPC_CLASSES,
    ),
    _entry(
        "sick-e",
        "SICK-E",
        "Pairs of sentences: does the first entail the second, contradict it, or neither? Its own split.",
        (9_927, 6_077),
        "Marelli et al. 2014, A SICK cure for the evaluation of compositional distributional semantic models",
        (
            _file("SICK/SICK_train.txt", 506_719, "e02bd30f17ab87358f80ef079a6ef797acd244c3c7515de454301c7c257e410c"),
            _file("SICK/SICK_trial.txt", 57_293, "0d0786bd8671a0a70614f2f890b8ab24b3c24d1ccb624bcca87618091fbe4f11"),
            _file(
                "SICK/SICK_test_annotated.txt",
                560_514,
                "d0362afe8304c8d08166b82d76da2a8c665d5b635ac1f3f1ee82054511749f97",
            ),
        ),
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
        (
            _file("SCICITE/train.txt", 1_991_975, "3046a7288579c797052f82b55ec1b243231a7d80653462d052ebbbb2a6bd322b"),
            _file("SCICITE/dev.txt", 251_936, "1dc52ca86748d6638642a204eff94714ca6cd6202e73fbe64eab09e3581cad02"),
            _file("SCICITE/test.txt", 511_173, "ac76196975f15d3a4317ccd702da9fc774f9a29caa962f87bbd5d1f9b810f1ab"),
        ),
        _parts(read.scicite, _THREE),
        ("background", "method", "result"),
    ),
)


def _demo(dataset_id: str) -> list[Example]:
    """The built-in sentences: is one negated?"""
    minimal = loaders.demo_minimal(dataset_id, ASSETS / "demo" / "minimal_pairs.tsv")
    negated = {int(i) for subset, numbers in minimal.rewrites.items() if "negation" in subset for i in numbers}
    return [Example("negated" if i in negated else "affirmed", text) for i, text in enumerate(minimal.items)]


_DEMO_CLASSES = ("affirmed", "negated")

LABELLED = {
    entry.id: entry
    for entry in (
        DatasetEntry(
            id="demo-negation",
            title="Demo negation",
            description="The built-in sentences and their rewrites: does a sentence hold a negation? A probing task; "
            f"needs no download. {_OWN_SPLITS}",
            kind=DatasetKind.LABELLED_TEXTS,
            unit="sentence",
            size="1,400 examples of 2 classes",
            pairs=1_400,
            texts=1_400,
            licence="Apache-2.0",
            citation="Blindspot's own sentences",
            url="",
            revision="1",
            files=(),
            load=lambda dataset_id, _: read.labelled_texts(dataset_id, _DEMO_CLASSES, _demo(dataset_id)),
        ),
        *_ENTRIES,
    )
}
