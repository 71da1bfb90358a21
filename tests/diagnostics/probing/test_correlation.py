"""Correlations of probing with transfer scores, against SciPy; the published numbers."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import spearmanr

from blindspot.diagnostics.probing.correlation import FEWEST, OF_ALL, published, with_transfer
from blindspot.variants import Variant

MODELS = [Variant(f"model-{i}", "none") for i in range(8)]


def test_it_is_spearmans_over_the_models_that_have_both() -> None:
    rng = np.random.default_rng(1)
    values = rng.uniform(size=(5, 8)).round(2)
    values[1, 3] = values[1, 4]  # a tie
    probes = {name: dict(zip(MODELS, row, strict=True)) for name, row in zip("ab", values[:2], strict=True)}
    tasks = {name: dict(zip(MODELS, row, strict=True)) for name, row in zip("xyz", values[2:], strict=True)}
    del tasks["y"][MODELS[0]], tasks["y"][MODELS[5]]
    tasks["z"] = {model: tasks["z"][model] for model in MODELS[: FEWEST - 1]}
    found = with_transfer(probes, tasks)
    assert found.models.tolist() == [[8, 6, 3], [8, 6, 3]]
    for i, probe in enumerate("ab"):
        for j, task in enumerate("xy"):
            both = [model for model in MODELS if model in tasks[task]]
            expected = spearmanr([probes[probe][m] for m in both], [tasks[task][m] for m in both]).statistic
            assert found.rho[i, j] == pytest.approx(expected)
    assert np.isnan(found.rho[:, 2]).all(), "too few models"
    assert found.means == pytest.approx(found.rho[:, :2].mean(axis=1))
    assert found.mean == pytest.approx(found.rho[:, :2].mean())
    assert found.of([False, True]).mean == pytest.approx(found.rho[1, :2].mean())


def test_equal_orders_and_opposite_ones_and_none() -> None:
    up = {model: i / 10 for i, model in enumerate(MODELS)}
    down = {model: 1 - value for model, value in up.items()}
    flat = dict.fromkeys(MODELS, 0.5)
    found = with_transfer({"up": up, "flat": flat}, {"up": up, "down": down})
    assert found.rho[0].tolist() == pytest.approx([1.0, -1.0])
    assert np.isnan(found.rho[1]).all()
    assert np.isnan(found.means[1])
    assert found.mean == pytest.approx(0.0)
    assert np.isnan(with_transfer({}, {}).mean)


def test_what_the_paper_prints() -> None:
    printed = {one.task: one for one in published()}
    assert {task: one.spearman for task, one in printed.items()} == {
        OF_ALL: 0.64,
        "sentence_length": 0.83,
        "word_content": 0.04,
    }
    assert {(one.encoders, one.transfer_tasks) for one in printed.values()} == {(11, 9)}
