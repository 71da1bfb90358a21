"""HEROS's published profiles, always marked as published and never mixed with measured ones.

``assets/reference/heros.csv`` has the 60 encoders of figures 1 and 2 of Chiang, Chuang, Glass and Lee 2023: their
mean normalized similarity per subset over HEROS's own 1,000 sentences. Sizes are from table 3. Of figure 2's models it
has only GloVe; appendix C.2 says that base models have roughly 110M parameters, large ones roughly 335M
(``approximate``), and gives no dimension. It does not say which of the two RankEncoder's are. Names that figure 1
prints twice are assigned by table 3's order.

**Training groups** are the kinds of sentence pairs that an encoder was trained on, as in section 3:

- ``QA``: question-answer pairs alone, blocks 1 and 2 of figure 1 (section 3.1 speaks of both as one).
- ``paraphrase/NLI``, ``QA+NLI`` and ``all``: blocks 3, 4 and 5.
- ``unsupervised``: no labeled pairs (*unsup* of figure 2). SNCSE's four (*unsup\\**) are among them: they have no
  labeled pairs either, but negations made by a parser, and the paper does not call them truly unsupervised.
- ``unsupervised then NLI``: *sup* of figure 2.
- ``word vectors``: GloVe alone; averaged word vectors are not trained on sentences.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache

from blindspot.files.reference import reference_rows

SUBSETS = ("synonym", "antonym", "negation_main", "negation_antonym", "random_mlm", "typo")  # that were published
# Training groups, in words.
GROUPS = {
    "QA": "questions and their answers",
    "paraphrase/NLI": "paraphrases, captions, duplicate questions and inference pairs",
    "QA+NLI": "questions and their answers, and inference pairs",
    "all": "a billion pairs of 32 datasets of every kind",
    "unsupervised": "sentences without labels",
    "unsupervised then NLI": "sentences without labels, then inference pairs",
    "word vectors": "words that occur near each other",
}
SOURCE = "Chiang et al. 2023, figures 1 and 2"
TEXTS = ("block", "model", "printed", "group", "family", "training_data", "note")  # columns without a conversion


@dataclass(frozen=True)
class PublishedProfile:
    """A row of figure 1 or 2.

    Attributes:
        block: its group of rows: by training data in figure 1, by method in figure 2.
        model: a unique name among the 60.
        printed: its label in the figure if that differs.
        group: training group, see the module's docstring.
        family: its line of models (GTR, MiniLM, SimCSE, ...), which share more than their training data.
        parameters, dimension: None if the paper does not say.
        is_approximate: whether ``parameters`` is appendix C.2's rough number.
        means: mean normalized similarity by the names of ``SUBSETS``.
        note: any doubt about the row.
    """

    figure: int
    block: str
    model: str
    printed: str
    group: str
    family: str
    training_data: str
    parameters: int | None
    is_approximate: bool
    dimension: int | None
    means: Mapping[str, float]
    note: str

    @property
    def size(self) -> str:
        """Parameters and dimension in words: ``22M parameters, 384 dimensions``."""
        if self.parameters is None:
            count = "parameters not stated"
        else:
            millions = self.parameters / 1e6
            number = f"{millions / 1e3:g}B" if millions >= 1_000 else f"{millions:g}M"
            count = f"{'about ' if self.is_approximate else ''}{number} parameters"
        dimension = "dimension not stated" if self.dimension is None else f"{self.dimension} dimensions"
        return f"{count}, {dimension}"


@lru_cache(maxsize=1)
def heros_profiles() -> tuple[PublishedProfile, ...]:
    """All published profiles, in the figures' order."""
    return tuple(
        PublishedProfile(
            figure=int(row["figure"]),
            parameters=int(row["parameters"]) if row["parameters"] else None,
            is_approximate=row["parameters_from"] == "approximate",
            dimension=int(row["dimension"]) if row["dimension"] else None,
            means={subset: float(row[subset]) for subset in SUBSETS},
            **{name: row[name] for name in TEXTS},
        )
        for row in reference_rows("heros.csv")
    )


def blocks() -> Mapping[str, tuple[PublishedProfile, ...]]:
    """The published profiles by block, in the figures' order."""
    names = dict.fromkeys(profile.block for profile in heros_profiles())
    return {name: tuple(p for p in heros_profiles() if p.block == name) for name in names}
