"""``blindspot evidence``, in this process."""

from __future__ import annotations

import pytest

from blindspot.store.repository import Repository
from tests.support.commands import Command
from tests.support.evidence_world import many_models, store


@pytest.fixture
def made(repository: Repository) -> None:
    """Twelve models with three transforms each; commands find them."""
    store(repository, many_models(12))


def test_the_table_as_json_and_as_text(made: None, blindspot: Command) -> None:
    found = blindspot.json("evidence")
    cells = {(c["evaluator"], c["task"]): c for c in found["cells"]}
    assert {task for _, task in cells} == {"mr", "cr", "trec"}
    strong, weak = (cells[i, "cr"] for i in ("evalrank:evalrank-sent:mrr", "similarity:stsb-test:spearman"))
    assert strong["rho"] > 0.8 > weak["rho"]
    assert (strong["variants"], strong["families"], strong["why"]) == (36, 12, "")
    assert strong["low"] < strong["rho"] < strong["high"]
    assert len({v["family"] for v in found["variants"]}) == 12
    text = blindspot.out("evidence", "--with-pairs", "--untransformed")
    assert "12 models of 12 families" in text
    assert "MRPC" in text
    assert "alignment ↓" in text.casefold(), "lower is better: marked"


def test_too_little_says_what_to_run(blindspot: Command) -> None:
    assert "blindspot sweep evidence" in blindspot.error("evidence", code=1)
    assert "logreg" in blindspot.error("evidence", "--classifier", "svm")
