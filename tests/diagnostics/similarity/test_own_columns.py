"""Own columns of a file of scored pairs: scores per value, and the pairs of one value."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
import pytest
from scipy import stats
from streamlit.testing.v1 import AppTest

from blindspot.datasets.kinds.own_columns import EMPTY
from blindspot.diagnostics.similarity.definition import ENTRY
from blindspot.diagnostics.similarity.pairs import scored_table
from tests.support.pages import OpenApp, chart_named, table, values, written
from tests.support.small_world import GramEncoder
from tests.support.world import World

HOSTILE = "<b>printer</b> {A} *x*"
M = 60


@pytest.fixture(scope="module")
def asked(module_world: World, tmp_path_factory: pytest.TempPathFactory) -> tuple[World, str]:
    """Runs on a file with the columns product and language; one encoder lacks some texts."""
    path: Path = tmp_path_factory.mktemp("own") / "desk.csv"
    rng = np.random.default_rng(3)
    with path.open("w", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(["text1", "text2", "score", "product", "language"])
        for i in range(M):
            second = f"number {i * 7919 + int(rng.integers(9)) * 10 ** int(rng.integers(5))}"
            rows.writerow([f"number {i * 7919}", second, i % 6, ["", "scanner", HOSTILE][i % 3], ["en", "de"][i % 2]])
    module_world.add(GramEncoder(), GramEncoder("lacks", lacks=lambda text: text.endswith("7")))
    for encoder in ("trigrams", "lacks"):
        module_world.run("similarity", encoder, f"file:{path}")
    return module_world, f"file:{path}"


def test_scores_per_value_are_those_of_a_loop(asked: tuple[World, str], open_app: OpenApp) -> None:
    world, dataset = asked
    app = open_app(world.cache, "similarity", data=dataset, sim_by="product")
    rows = table(app, "over")
    runs = {run.plan.variant.label: run for run in world.repository.runs(dataset=dataset)}
    scored = scored_table(ENTRY, [run.run_id for run in runs.values()], world.repository)
    numbers = scored.frame["item_no"].to_numpy()
    assert len(numbers) < M
    for label, run in runs.items():
        own = rows[rows["model"] == label].set_index("over")
        assert set(own.index) == {"all pairs", "weighted mean", EMPTY, "scanner", HOSTILE}
        mean = 0.0
        for i, value in enumerate([EMPTY, "scanner", HOSTILE]):
            here = numbers % 3 == i
            rho = stats.spearmanr(scored.similarity[run.run_id][here], scored.gold[here]).statistic
            assert own.loc[value, "pairs"] == here.sum()
            assert own.loc[value, "Spearman"] == pytest.approx(rho)
            mean += rho * here.sum() / len(numbers)
        assert own.loc["weighted mean", "Spearman"] == pytest.approx(mean)
    assert HOSTILE not in written(app, raw=False)


def drawn(app: AppTest) -> list[int]:
    """Numbers of the pairs in the scatter."""
    return [int(number) for number in values(chart_named(app, "sim_scatter_A")["data"][0]["customdata"])[::2]]


@pytest.mark.heavy
def test_pairs_of_one_value(asked: tuple[World, str], open_app: OpenApp) -> None:
    world, dataset = asked
    app = open_app(world.cache, "similarity", data=dataset, view="pairs", model=["trigrams~none"])
    assert drawn(app) == list(range(M))
    app.multiselect(key="own.language").set_value(["de"]).run()
    assert drawn(app) == list(range(1, M, 2))
    assert set(table(app, "residual in A")["pair"] % 2) == {1}
    app = open_app(world.cache, "similarity", data=dataset, view="pairs", **{"own.product": HOSTILE})
    assert set(table(app, "residual in A")["pair"] % 3) == {2}
    app = open_app(world.cache, "similarity", data=dataset, view="pairs", **{"own.language": "fr"})
    assert not app.multiselect(key="own.language").value
