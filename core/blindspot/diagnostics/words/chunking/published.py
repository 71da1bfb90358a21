"""Table 4 of Schnabel, Labutov, Mimno and Joachims 2015: published F1 of chunking on CoNLL-2000.

``assets/reference/schnabel_tasks.csv`` has the rows as printed (times 100), of dev and test. Their CRF has words, parts
of speech and their combinations as features too (Turian, Ratinov and Bengio 2010): the baseline has these alone. p is
the paper's, against the best row, by randomization over sentences.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from blindspot.files.reference import reference_rows

SOURCE = "Schnabel et al. 2015, table 4"


@dataclass(frozen=True)
class Published:
    """F1 as fractions; ``p`` is None for the best row."""

    model: str
    dev: float
    test: float
    p: float | None


@lru_cache(maxsize=1)
def table_4() -> tuple[Published, ...]:
    """The rows in the table's order."""
    rows = {(row["model"], row["part"]): row for row in reference_rows("schnabel_tasks.csv") if row["table"] == "4"}
    table = []
    for model in dict.fromkeys(model for model, _ in rows):
        dev, test = rows[model, "dev"], rows[model, "test"]
        p = float(test["p_value"]) if test["p_value"] else None
        table.append(Published(model, float(dev["f1_100"]) / 100, float(test["f1_100"]) / 100, p))
    return tuple(table)
