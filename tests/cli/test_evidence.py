"""``python -m core evidence``, in this process."""

from __future__ import annotations

import json

import pytest

from core import cli
from core.settings import Settings
from core.store.repository import Repository
from tests.support.evidence_world import many_models, store


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch, settings: Settings) -> Settings:
    """Twelve models with three transforms each; commands find them."""
    monkeypatch.setenv("BLINDSPOT_CACHE", str(settings.cache))
    store(Repository.at(settings.store), many_models(12))
    return settings


def test_the_table_as_json_and_as_text(made: Settings, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["evidence", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    cells = {(c["evaluator"], c["task"]): c for c in found["cells"]}
    assert {task for _, task in cells} == {"mr", "cr", "trec"}
    strong, weak = (cells[i, "cr"] for i in ("evalrank:evalrank-sent:mrr", "similarity:stsb-test:spearman"))
    assert strong["rho"] > 0.8 > weak["rho"]
    assert (strong["variants"], strong["families"], strong["why"]) == (36, 12, "")
    assert strong["low"] < strong["rho"] < strong["high"]
    assert len({v["family"] for v in found["variants"]}) == 12
    assert cli.main(["evidence", "--with-pairs", "--untransformed"]) == 0
    text = capsys.readouterr().out
    assert "12 variants of 12 families" in text
    assert "MRPC" in text
    assert "alignment ↓, evalrank-sent" in text


def test_too_little_says_what_to_run(
    monkeypatch: pytest.MonkeyPatch, settings: Settings, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("BLINDSPOT_CACHE", str(settings.cache))
    assert cli.main(["evidence"]) == 1
    assert "python -m core sweep evidence" in capsys.readouterr().err
    assert cli.main(["evidence", "--classifier", "svm"]) == 2
    assert "logreg" in capsys.readouterr().err
