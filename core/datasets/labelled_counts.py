"""What a set of labelled texts holds, counted: classes, splits, texts that repeat, and what leaks into training."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from core.datasets.kinds.labelled_texts import DEV, TEST, TRAIN, LabelledTexts


@dataclass(frozen=True)
class ClassCount:
    """A class and how many examples it has: in all, and in each part of a prescribed split (else 0)."""

    name: str
    examples: int
    train: int
    dev: int
    test: int


@dataclass(frozen=True)
class LabelledCounts:
    """Counts of a set of labelled texts; examples are the same as ``same_examples`` says.

    Attributes:
        examples: examples, repeated ones included.
        classes: in the dataset's order.
        texts: distinct items, told apart to the letter.
        repeated: examples that stand in the dataset more than once, each copy counted.
        contradictory: texts (of pairs: pairs) that stand in it with more than one label.
        tested: examples of a prescribed test part; 0 without one.
        leaked: of these, those that stand in the training part too.
    """

    examples: int
    classes: tuple[ClassCount, ...]
    texts: int
    repeated: int
    contradictory: int
    tested: int
    leaked: int

    @classmethod
    def of(cls, dataset: LabelledTexts) -> LabelledCounts:
        """Count; takes a moment for 100,000 texts."""
        labels, same, splits = dataset.labels, dataset.same, dataset.splits
        k = len(dataset.classes)
        parts = [np.bincount(labels[splits == part], minlength=k).tolist() for part in (TRAIN, DEV, TEST)]
        every = np.bincount(labels, minlength=k).tolist()
        pairs = np.unique(np.stack([same, labels.astype(np.int64)]), axis=1)
        return cls(
            examples=len(labels),
            classes=tuple(ClassCount(*row) for row in zip(dataset.classes, every, *parts, strict=True)),
            texts=len(dataset.items),
            repeated=int((np.bincount(same)[same] > 1).sum()),
            contradictory=int((np.bincount(pairs[0]) > 1).sum()),
            tested=int((splits == TEST).sum()),
            leaked=int(dataset.overlaps.sum()) if dataset.is_split else 0,
        )

    @property
    def is_split(self) -> bool:
        """Whether a split is prescribed."""
        return self.tested > 0

    @property
    def majority(self) -> ClassCount:
        """The class with the most examples to train on, the first of those."""
        return max(self.classes, key=lambda c: c.train if self.is_split else c.examples)

    @property
    def baseline(self) -> float:
        """Share of the test part (without a prescribed split, of all examples) that is of the majority's class."""
        most = self.majority
        return most.test / self.tested if self.is_split else most.examples / self.examples

    @property
    def caution(self) -> tuple[str, ...]:
        """What makes scores too good, or a perfect one impossible: a phrase each; nothing where nothing does."""
        out = []
        if self.leaked:
            share = self.leaked / self.tested
            out.append(f"test examples that stand in training too: {self.leaked:,} of {self.tested:,} ({share:.1%})")
        if self.repeated:
            share = self.repeated / self.examples
            out.append(f"examples that stand in it more than once: {self.repeated:,} ({share:.1%})")
        if self.contradictory:
            out.append(f"texts with more than one label: {self.contradictory:,}")
        return tuple(out)
