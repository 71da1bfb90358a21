"""Two built-in probing tasks, made from the built-in sentences by SentEval's rules (Conneau et al. 2018).

SentEval's ten tasks are not in the catalog: users name their own copies (``blindspot.datasets.user_data.probing``).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from zlib import crc32

from blindspot.datasets.entries import DatasetEntry
from blindspot.datasets.kinds.base import DatasetKind
from blindspot.datasets.kinds.labeled_texts import DEV, TEST, TRAIN
from blindspot.datasets.kinds.probing import PROBES, ProbingTask
from blindspot.datasets.published import pairs as loaders
from blindspot.datasets.published.labeled_texts import Example, labeled_texts
from blindspot.settings import ASSETS

_LENGTHS = {"at most 12 words": 12, "13 words or more": 99}
_ORDERS = ("original", "two words swapped")
_PARTS = (TRAIN, TEST, DEV, TEST, TRAIN)  # part of a sentence in the split, by its number


def sentence_length(sentence: str) -> str:
    """The range that contains a sentence's number of words."""
    return next(name for name, most in _LENGTHS.items() if len(sentence.split()) <= most)


def swapped(sentence: str) -> str:
    """The sentence with two different neighboring words swapped; the place depends on the sentence alone.

    The first and the last word stay, so that capital and full stop do not give it away.
    """
    words = sentence.split()
    places = [i for i in range(1, len(words) - 2) if words[i].casefold() != words[i + 1].casefold()]
    at = places[crc32(sentence.encode()) % len(places)]
    return " ".join([*words[:at], words[at + 1], words[at], *words[at + 2 :]])


def _of_length(number: int, sentence: str) -> Example:  # noqa: ARG001 - of all sentences alike
    return Example(sentence_length(sentence), sentence)


def _of_order(number: int, sentence: str) -> Example:
    """An example of word order: every other sentence is swapped."""
    return Example(_ORDERS[1], swapped(sentence)) if number % 2 else Example(_ORDERS[0], sentence)


def _task(dataset_id: str, task: str, classes: Sequence[str], example: Callable[[int, str], Example]) -> ProbingTask:
    """The built-in sentences; training also uses their rewrites, and tested sentences are independent of each other."""
    minimal = loaders.demo_minimal(dataset_id, ASSETS / "demo" / "minimal_pairs.tsv")
    examples = []
    for number, row in enumerate(zip(minimal.originals.tolist(), *minimal.rewrites.values(), strict=True)):
        part = _PARTS[number % len(_PARTS)]
        for k, item in enumerate(row[:1] if part == TEST else row):
            made = example(number + k, minimal.items[item])
            examples.append(Example(made.label, made.first, split=part))
    return ProbingTask.of(labeled_texts(dataset_id, classes, examples), task)


def _entry(task: str, classes: Sequence[str], example: Callable[[int, str], Example]) -> DatasetEntry:
    probe = PROBES[task]
    dataset_id = f"demo-{task.replace('_', '-')}"
    return DatasetEntry(
        id=dataset_id,
        title=f"Demo {probe.title.lower()}",
        description=f"The built-in sentences, in training with their rewrites: {probe.question[0].lower()}"
        f"{probe.question[1:]} Its own split.",
        kind=DatasetKind.PROBING,
        unit="sentence",
        size=f"920 examples of {len(classes)} classes",
        pairs=920,
        texts=920,
        is_split=True,
        classes=len(classes),
        licence="Apache-2.0",
        citation="Blindspot's own sentences",
        load=lambda dataset_id, _: _task(dataset_id, task, classes, example),
    )


PROBING = {
    entry.id: entry
    for entry in (
        _entry("sentence_length", tuple(_LENGTHS), _of_length),
        _entry("bigram_shift", _ORDERS, _of_order),
    )
}
