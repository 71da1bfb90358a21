"""The built-in probing tasks: counts, the rules on cases by hand, and independent sentences in the test part."""

from __future__ import annotations

import numpy as np
import pytest

from blindspot.datasets import fetch
from blindspot.datasets.catalog import find_dataset
from blindspot.datasets.kinds.labeled_texts import TEST, TRAIN
from blindspot.datasets.kinds.probing import ProbingTask
from blindspot.datasets.published.probing_tasks import PROBING, sentence_length, swapped
from blindspot.settings import Settings
from tests.support.tables import each


@pytest.mark.parametrize("name", PROBING)
def test_counts_are_those_of_the_entry(name: str, settings: Settings) -> None:
    entry = find_dataset(name)
    data = fetch.load(entry, settings)
    assert isinstance(data, ProbingTask)
    assert name == f"demo-{data.task.replace('_', '-')}"
    assert (len(data.labels), len(data.items), len(data.classes)) == (entry.pairs, entry.texts, entry.classes)
    assert entry.size.startswith(f"{entry.pairs} examples")
    assert entry.is_split
    assert not data.overlaps.any()
    for part in (TRAIN, TEST):
        assert set(data.labels[data.splits == part].tolist()) == set(range(len(data.classes)))
    tested = [data.items[i] for i in data.firsts[data.splits == TEST]]
    minimal = fetch.load(find_dataset("demo-minimal"), settings)
    originals = {minimal.items[i] for i in minimal.originals.tolist()}
    from_ = originals | {swapped(text) for text in originals}
    assert len(tested) == 80
    assert set(tested) <= from_, "one sentence of each, without its rewrites"


def test_a_swap_changes_the_order_of_two_neighbors_and_no_more() -> None:
    text = "Nobody saw the small red boat leave the harbor."
    words, other = text.split(), swapped(text).split()
    assert sorted(words) == sorted(other)
    (first, second) = np.flatnonzero([a != b for a, b in zip(words, other, strict=True)]).tolist()
    assert second == first + 1
    assert (words[first], words[second]) == (other[second], other[first])
    assert (words[0], words[-1]) == (other[0], other[-1])
    assert swapped(text) == swapped(text)
    assert swapped("The very very old dog.") == "The very old very dog.", "not two equal words, not the ends"


@each(("words", "name"), [(1, "at most 12 words"), (12, "at most 12 words"), (13, "13 words or more")])
def test_ranges_of_length_by_hand(words: int, name: str) -> None:
    assert sentence_length(" ".join(["word"] * words)) == name
