"""Probing tasks: sentences labeled with a property of the sentence (Conneau et al. 2018)."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from blindspot.datasets.kinds.base import DatasetKind
from blindspot.datasets.kinds.labeled_texts import LabeledTexts


class Property(StrEnum):
    """What a task asks about: words as written, the grammar of the sentence, or its meaning."""

    SURFACE = "surface"
    SYNTAX = "syntax"
    MEANING = "meaning"


@dataclass(frozen=True)
class Probe:
    """One of SentEval's ten probing tasks.

    Attributes:
        id: name of its file, without the ending.
        question: what its classes answer about a sentence.
    """

    id: str
    title: str
    property: Property
    question: str


_SURFACE, _SYNTAX, _MEANING = Property
# In the order of Conneau et al. 2018, section 2.
PROBES = {
    probe.id: probe
    for probe in (
        Probe("sentence_length", "Sentence length", _SURFACE, "How many words does the sentence have, by range?"),
        Probe("word_content", "Word content", _SURFACE, "Which one of 1,000 words does the sentence contain?"),
        Probe("tree_depth", "Tree depth", _SYNTAX, "How deep is the sentence's parse tree?"),
        Probe(
            "top_constituents",
            "Top constituents",
            _SYNTAX,
            "Which constituents does the sentence consist of, at the top of its parse tree?",
        ),
        Probe("bigram_shift", "Bigram shift", _SYNTAX, "Have two neighboring words been swapped?"),
        Probe("past_present", "Tense", _MEANING, "Is the verb of the main clause in the past or the present tense?"),
        Probe("subj_number", "Subject number", _MEANING, "Is the subject of the main clause singular or plural?"),
        Probe("obj_number", "Object number", _MEANING, "Is the direct object of the main clause singular or plural?"),
        Probe("odd_man_out", "Odd man out", _MEANING, "Has a noun or verb been replaced by a random one?"),
        Probe(
            "coordination_inversion", "Coordination inversion", _MEANING, "Have two coordinated clauses been swapped?"
        ),
    )
}


def probe_of(name: str) -> Probe | None:
    """The task with a file's name, case and punctuation aside; None for a user's own task."""
    key = _letters(name)
    return next((probe for probe in PROBES.values() if _letters(probe.id) == key), None)


def _letters(name: str) -> str:
    return "".join(filter(str.isalpha, name.casefold()))


@dataclass(frozen=True, eq=False)
class ProbingTask(LabeledTexts):
    """Sentences labeled with one of their properties, and the part of the split that each is in.

    It is a separate kind, so that *Probing* runs on its files and not *Transfer*, which has practical tasks.

    Attributes:
        task: the id of one of ``PROBES``, or another name.
    """

    task: str

    kind = DatasetKind.PROBING

    @classmethod
    def of(cls, data: LabeledTexts, task: str) -> ProbingTask:
        """Labeled texts as the task of this name."""
        return cls(data.id, data.items, data.classes, data.firsts, data.seconds, data.labels, data.splits, task)
