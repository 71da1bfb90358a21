"""Published preferences of dense retrievers for one form of a document over another (ColDeR, Fayyaz et al. 2025).

Six tables of the authors' repository: the score of a query with one form of a document minus that with another form,
over 250 queries. Its texts are not here, so nothing is measured: these are rows to read beside one's own.
Differences are divided by their standard deviation, since dot products of models are on different scales.
"""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from pathlib import Path

from blindspot.datasets import fetch
from blindspot.datasets.entries import SourceFile, github_file
from blindspot.datasets.published.text_lines import text_of
from blindspot.errors import DataCorrupt
from blindspot.numerics.statistics.intervals import Interval, quantile
from blindspot.settings import Settings

SOURCE = (
    "Fayyaz, Modarressi, Schütze and Peng 2025, Collapse of Dense Retrievers: Short, Early, and Literal Biases "
    "Outranking Factual Evidence"
)
LICENCE = "none stated"
_REPOSITORY = "mohsenfayyaz/ColDeR"
_REVISION = "4d497b37b88d327712f09fabf27bf6771253075d"
URL = f"https://github.com/{_REPOSITORY}"
ABOUT = "Published: what dense retrievers prefer"
# By table, which form of a document is compared with which, after the names of its columns.
BIASES = {
    "brevity": "the evidence sentence alone over a document with it",
    "literal": "the name as in the query over another form of it",
    "position": "the evidence at the beginning over the evidence at the end",
    "repetition": "more mentions of the entity over fewer",
    "tail": "a complete document with its beginning over one without",
    "relation": "the original sentences over foils",
}
FILES: dict[str, SourceFile] = {
    bias: github_file("colder_results", _REPOSITORY, _REVISION, f"src/notebooks/results/{bias}_df.json")
    for bias in BIASES
}


@dataclass(frozen=True)
class Preference:
    """A model's published preference.

    Attributes:
        mean, sd: of the differences of two scores, over ``n`` queries; ``p`` of a paired t-test.
        share: of the queries with a positive difference; None where the table has none.
    """

    bias: str
    model: str
    mean: float
    sd: float
    n: int
    p: float
    share: float | None

    @property
    def effect(self) -> float:
        """The mean difference in standard deviations of the differences."""
        return self.mean / self.sd

    @property
    def interval(self) -> Interval:
        """The 95% interval of the mean difference (Student's t), in the same standard deviations."""
        reach = float(quantile(self.n - 1)) / math.sqrt(self.n)
        return Interval(self.effect - reach, self.effect + reach)


def is_here(settings: Settings) -> bool:
    """Whether all tables are on this machine and sound."""
    return all(fetch.file_state(file, settings).state is fetch.DataState.DOWNLOADED for file in FILES.values())


def bring(settings: Settings) -> None:
    """Download the missing tables, some 16 kB; raises as ``fetch.fetch_file``."""
    for file in FILES.values():
        fetch.fetch_file(file, settings)


def load(settings: Settings) -> tuple[Preference, ...]:
    """All tables, which must be here; raises ``DataCorrupt`` for one of another form."""
    return tuple(row for bias, file in FILES.items() for row in read(bias, fetch.local_path(file, settings)))


def read(bias: str, path: Path) -> list[Preference]:
    """One table: a JSON array with an object per model."""
    try:
        return [
            Preference(
                bias,
                row["Model"].strip(),
                float(row["mean_diff"]),
                float(row["std_diff"]),
                int(row["n"]),
                float(row["ttest_pvalue"]),
                float(row["acc"]) if "acc" in row else None,
            )
            for row in json.loads(text_of(path))
        ]
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise DataCorrupt(f"{path} is no table of ColDeR: {error!r}", expected="a row per model") from error
