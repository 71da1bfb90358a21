"""Chunked sentences: CoNLL-2000 in NLTK's archive, and built-in ones."""

from __future__ import annotations

import re
import zipfile
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from blindspot.datasets.entries import DatasetEntry, github_file
from blindspot.datasets.kinds.base import DatasetKind
from blindspot.datasets.kinds.chunked import ChunkedSentences
from blindspot.datasets.kinds.labeled_texts import TEST, TRAIN
from blindspot.datasets.published.text_lines import lines
from blindspot.errors import DataCorrupt
from blindspot.settings import ASSETS

Tagged = list[tuple[str, str]]  # a sentence: words with their tags

_REPOSITORY, _REVISION = "nltk/nltk_data", "5db857e6f7df11eabb5e5665836db9ec8df07e28"
_MEMBERS = {"conll2000/train.txt": TRAIN, "conll2000/test.txt": TEST}
_TAG = re.compile(r"O|[BI]-[A-Z]+")
_DEMO = ASSETS / "demo" / "chunks.tsv"
_PHRASE = re.compile(r"\[([A-Z]+) ([^\[\]]+) \]|(\S+)")


def chunked_sentences(dataset_id: str, parts: Sequence[tuple[int, Sequence[Tagged]]]) -> ChunkedSentences:
    """Sentences by split; words in order of appearance, tags in the order of their names, ``O`` last.

    Raises:
        DataCorrupt: a split without sentences.
    """
    sentences = [(split, sentence) for split, some in parts for sentence in some]
    if not all(some for _, some in parts):
        raise DataCorrupt(f"'{dataset_id}' has a part without sentences", expected="sentences to train and to test on")
    tokens = [token for _, sentence in sentences for token in sentence]
    words = {word: i for i, word in enumerate(dict.fromkeys(word for word, _ in tokens))}
    names = sorted({tag for _, tag in tokens}, key=lambda tag: (tag == "O", tag))
    number = {name: i for i, name in enumerate(names)}
    return ChunkedSentences(
        dataset_id,
        tuple(words),
        tuple(names),
        np.array([words[word] for word, _ in tokens], dtype=np.int32),
        np.array([number[tag] for _, tag in tokens], dtype=np.int32),
        np.cumsum([0, *(len(sentence) for _, sentence in sentences)], dtype=np.int64),
        np.array([split for split, _ in sentences], dtype=np.int8),
    )


def conll2000(dataset_id: str, path: Path) -> ChunkedSentences:
    """NLTK's archive: ``word part-of-speech tag`` per line, an empty line after each sentence.

    Raises:
        DataCorrupt: it is not such an archive, or a line has another form.
    """
    parts = []
    try:
        with zipfile.ZipFile(path) as archive:
            for member, split in _MEMBERS.items():
                parts.append((split, _sentences(f"{path}, {member}", archive.read(member).decode("ascii"))))
    except (zipfile.BadZipFile, KeyError, UnicodeDecodeError) as error:
        raise DataCorrupt(f"{path} is no archive of CoNLL-2000: {error}", expected=", ".join(_MEMBERS)) from error
    return chunked_sentences(dataset_id, parts)


def _sentences(where: str, text: str) -> list[Tagged]:
    sentences: list[Tagged] = [[]]
    for number, line in enumerate(text.split("\n"), 1):
        fields = line.split()
        if not fields:
            sentences.append([])
            continue
        if len(fields) != 3 or not _TAG.fullmatch(fields[2]):
            raise DataCorrupt(f"{where}, line {number}: '{line[:60]}'", expected="a word, its part of speech, a tag")
        sentences[-1].append((fields[0], fields[2]))
    return [sentence for sentence in sentences if sentence]


def demo_chunks(dataset_id: str, path: Path = _DEMO) -> ChunkedSentences:
    """The built-in sentences: ``split TAB [NP The dog ] [VP barked ] .`` per line."""
    parts: dict[str, list[Tagged]] = {"train": [], "test": []}
    for number, line in lines(path):
        split, _, text = line.partition("\t")
        sentence = [token for kind, inside, other in _PHRASE.findall(text) for token in _tagged(kind, inside, other)]
        if split not in parts or not sentence:
            raise DataCorrupt(f"{path}, line {number}: '{line[:60]}'", expected="train or test, a tab, a sentence")
        parts[split].append(sentence)
    return chunked_sentences(dataset_id, [(TRAIN, parts["train"]), (TEST, parts["test"])])


def _tagged(kind: str, inside: str, other: str) -> Tagged:
    if not kind:
        return [(other, "O")]
    return [(word, f"{'I' if position else 'B'}-{kind}") for position, word in enumerate(inside.split())]


CHUNKED = {
    entry.id: entry
    for entry in (
        DatasetEntry(
            id="demo-chunks",
            title="Demo chunks",
            description="Short sentences of everyday life with their phrases (noun, verb, prepositional, ...): 90 to "
            "train on, 40 to test.",
            kind=DatasetKind.CHUNKED,
            unit="word",
            size="130 sentences, 1,067 tokens, 483 words",
            pairs=130,
            texts=483,
            is_split=True,
            licence="Apache-2.0",
            citation="Written and tagged by Blindspot's authors, in the manner of Tjong Kim Sang and Buchholz 2000",
            load=lambda dataset_id, _: demo_chunks(dataset_id),
        ),
        DatasetEntry(
            id="conll2000",
            title="CoNLL-2000 chunking",
            description="Sentences of the Wall Street Journal with their phrases (noun, verb, prepositional, ...): "
            "8,936 to train on (sections 15 to 18), 2,012 to test (section 20). Its own split.",
            kind=DatasetKind.CHUNKED,
            unit="word",
            size="10,948 sentences, 259,104 tokens, 21,589 words",
            pairs=10_948,
            texts=21_589,
            is_split=True,
            licence="none stated (NLTK's data; text from the Penn Treebank)",
            citation="Tjong Kim Sang and Buchholz 2000, Introduction to the CoNLL-2000 Shared Task: Chunking",
            url="https://www.clips.uantwerpen.be/conll2000/chunking/",
            revision=_REVISION,
            files=(github_file("conll2000", _REPOSITORY, _REVISION, "packages/corpora/conll2000.zip"),),
            load=lambda dataset_id, paths: conll2000(dataset_id, paths[0]),
        ),
    )
}
