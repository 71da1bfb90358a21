"""The page Evidence by AppTest: made-up runs of twelve models, its views, and the states with nothing to show."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest
from streamlit.testing.v1 import AppTest

from core.runs import sweeps
from core.runs.sweeps import Sweep
from core.store.repository import Repository
from core.studies.evidence.correlation import compare, correlations, in_words
from core.studies.evidence.page import cell as evidence_cell
from core.studies.evidence.scores import Level, ScoreTable, score_table
from core.ui.markdown import as_text
from tests.conftest import make_settings
from tests.support.evidence_world import many_models, store
from tests.support.pages import OpenApp, written

MRR, STSB = "evalrank:evalrank-sent:mrr", "similarity:stsb-test:spearman"


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    settings = make_settings(tmp_path_factory.mktemp("evidence"))
    store(Repository.at(settings.store), many_models(12))
    return settings.cache


@pytest.fixture(scope="module")
def table(cache: Path) -> ScoreTable:
    return score_table(Repository.at(cache / "results.duckdb")).at(Level.SENTENCE)


def numbers_of(app: AppTest, column: str) -> pd.DataFrame:
    return next(frame.value for frame in app.dataframe if column in frame.value)


def test_the_map_and_its_numbers(open_app: OpenApp, cache: Path, table: ScoreTable) -> None:
    app = open_app(cache, "evidence")
    assert not app.exception
    assert "36 variants of 12 families; 6 evaluators, 3 tasks" in written(app)
    numbers = numbers_of(app, "evaluator")
    cells = correlations(table)
    assert numbers["rho"].tolist() == [round(c.rho, 3) for c in cells if c.rho is not None]
    assert numbers["from"].notna().all()
    assert set(numbers["task"]) == {"MR", "CR", "TREC"}
    assert "change" not in numbers
    app.pills(key="ev_kind").set_value(["similarity"]).run()
    assert set(numbers_of(app, "evaluator")["evaluator"]) == {"similarity, stsb-test"}


def test_leaving_variants_out_moves_it(open_app: OpenApp, cache: Path, table: ScoreTable) -> None:
    app = open_app(cache, "evidence", ev_keep="untransformed", ev_family_out="made/model-3")
    assert not app.exception
    assert "11 of 36 variants of 11 families" in written(app)
    kept = table.rows(
        v.transform == "none" and f != "made/model-3" for v, f in zip(table.variants, table.families, strict=True)
    )
    before, after = correlations(table), correlations(kept)
    change = numbers_of(app, "evaluator")["change"].tolist()
    assert change == [round(b.rho - a.rho, 3) for a, b in zip(before, after, strict=True) if a.rho and b.rho]
    app.multiselect(key="ev_family_out").set_value([f"made/model-{i}" for i in range(9)]).run()
    assert "3 variants left" in written(app)
    app.multiselect(key="ev_family_out").set_value([f"made/model-{i}" for i in range(4)]).run()
    assert "No cell has an interval" in written(app)


def test_a_cell(open_app: OpenApp, cache: Path, table: ScoreTable) -> None:
    app = open_app(cache, "evidence", evidence_view="cell", ev_evaluator=STSB, ev_task="trec", ev_ranks="true")
    assert not app.exception
    wanted = [table.find(STSB), table.find("trec")]
    (cell,) = correlations(table.columns([m for m in wanted if m]))
    assert as_text(evidence_cell.in_words(cell)) in written(app)
    assert len(numbers_of(app, "left out")) == 12


def test_two_evaluators(open_app: OpenApp, cache: Path, table: ScoreTable) -> None:
    app = open_app(cache, "evidence", evidence_view="compare", ev_task="cr")
    assert not app.exception
    first, second, task = (table.find(i) for i in (MRR, STSB, "cr"))
    assert first is not None
    assert second is not None
    assert task is not None
    found = compare(table, first, second, task)
    assert as_text(in_words(found)) in written(app)
    assert "leaves 0 out" in written(app)
    assert numbers_of(app, "difference")["variants"].tolist() == [36, 36, 36]


def test_words_have_evaluators_of_their_own_and_all_tasks(open_app: OpenApp, cache: Path) -> None:
    app = open_app(cache, "evidence", ev_level="word")
    assert not app.exception
    numbers = numbers_of(app, "evaluator")
    assert set(numbers["evaluator"]) == {"similarity, ws353"}
    assert "MRPC" in set(numbers["task"])
    app.segmented_control(key="evidence_view").set_value("compare").run()
    assert "one evaluator only" in written(app)


def test_with_too_little_the_sweep_is_offered(open_app: OpenApp, tmp_path: Path) -> None:
    app = open_app(make_settings(tmp_path).cache, "evidence")
    assert not app.exception
    assert "python -m core sweep evidence" in [code.value for code in app.code]
    assert "In the store are 0 variants" in written(app)


def test_what_the_sweep_takes_is_said_before_it_runs(
    open_app: OpenApp, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    small = Sweep(("random-projection",), ("none", "center"), ("demo-pairs", "demo-negation"), ("evalrank", "transfer"))
    monkeypatch.setattr(sweeps, "evidence", lambda *_: small)
    app = open_app(make_settings(tmp_path).cache, "evidence")
    app.button(key="evidence_cost").click().run()
    assert not app.exception
    assert "4 of 4 runs are to be computed: about" in written(app)
    assert app.button(key="evidence_sweep").label == "Compute 4"
