"""Scores item by item, of every diagnostic that can be gated on, and the file they are recorded in."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from blindspot.datasets.kinds.base import DatasetKind
from blindspot.diagnostic import all_diagnostics, find_diagnostic
from blindspot.errors import InputError
from blindspot.numerics.statistics.correlations import spearman_influences
from blindspot.runs.comparison import declared
from blindspot.store.records import RunRecord
from blindspot.studies.gate import sides
from blindspot.types import Float32
from tests.conftest import make_settings
from tests.support.tables import each
from tests.support.world import World

RUNS = {
    "evalrank": "demo-pairs",
    "retrieval": "demo-retrieval",
    "similarity": "demo-scored",
    "heros": "demo-minimal",
    "transfer": "demo-negation",
    "probing": "demo-bigram-shift",
}


@pytest.fixture(scope="module")
def runs(module_world: World) -> dict[str, RunRecord]:
    return {name: module_world.run(name, "random-projection-64", dataset) for name, dataset in RUNS.items()}


def test_those_are_all_diagnostics_that_can_be_gated_on() -> None:
    assert {entry.id for entry in all_diagnostics().values() if entry.is_gate} == set(RUNS)


@pytest.mark.parametrize("diagnostic", list(RUNS))
def test_the_mean_over_the_items_is_the_stored_score(
    runs: dict[str, RunRecord], module_world: World, diagnostic: str
) -> None:
    run = runs[diagnostic]
    scores = sides.scores_of(run, module_world.repository)
    entry = find_diagnostic(diagnostic)
    assert entry.headline_of(run.metrics) in scores
    for name, found in scores.items():
        assert found.value == pytest.approx(run.metrics[name], abs=1e-9)
        assert len(found.parts) == len(found.numbers) == len(found.texts) == len(found.known.groups)
        assert (np.diff(found.numbers) > 0).all()
        assert declared(entry, name).higher_is_better
        assert found.parts.mean() == pytest.approx(found.value if found.is_mean else 0.0, abs=1e-9)


def test_a_correlation_has_the_influence_of_each_pair(runs: dict[str, RunRecord], module_world: World) -> None:
    rows = module_world.repository.items(find_diagnostic("similarity"), [runs["similarity"].run_id], texts=True)
    rows = rows.sort_values("item_no")
    expected = spearman_influences(rows["similarity"].to_numpy(), rows["gold"].to_numpy())
    found = sides.scores_of(runs["similarity"], module_world.repository)["spearman"]
    assert found.parts == pytest.approx(expected)
    assert not found.is_mean


def test_every_kind_has_a_diagnostic_or_a_reason() -> None:
    assert sides.diagnostic_of(DatasetKind.RETRIEVAL).id == "retrieval"
    assert sides.diagnostic_of(DatasetKind.PAIR_SET).id == "evalrank"
    with pytest.raises(InputError, match="cannot be gated on"):
        sides.diagnostic_of(DatasetKind.ANALOGIES)


# --- vectors


def test_a_run_has_a_sketch_where_its_vectors_are_kept_and_none_where_they_are_gone(
    runs: dict[str, RunRecord], module_world: World, tmp_path: Path
) -> None:
    run = runs["similarity"]
    scores = sides.scores_of(run, module_world.repository)
    assert len(sides.recorded(run, scores, module_world.settings).vectors) > 1
    assert sides.recorded(run, scores, make_settings(tmp_path / "emptied")).vectors == ()


@pytest.mark.parametrize("n", [5, 3 * sides.SKETCH + 1])
def test_a_sketch_tells_other_vectors_from_rounding(n: int) -> None:
    rng = np.random.default_rng(n)
    vectors, covered = rng.standard_normal((n, 8)).astype(np.float32), rng.random(n) < 0.9
    covered[:2] = True
    first = sides.sketch_of(vectors, covered)
    assert len(first) == min(int(covered.sum()), sides.SKETCH)

    def same(other: Float32) -> bool:
        old, new = (replace(NOTHING, vectors=tuple(v.tolist())) for v in (first, sides.sketch_of(other, covered)))
        return sides.have_same_vectors(old, new)

    assert same(vectors + 1e-7 * rng.standard_normal(vectors.shape).astype(np.float32))
    uncovered = vectors.copy()
    uncovered[~covered] = np.nan
    assert same(uncovered)
    changed, swapped = vectors.copy(), vectors.copy()
    changed[1] *= 1.001
    swapped[[0, 1]] = swapped[[1, 0]]
    assert not same(changed)
    assert not same(swapped)


NOTHING = sides.Recorded("", "", 1, {}, "", np.arange(1), {}, {})

# --- the recorded file


@pytest.fixture(scope="module")
def file(runs: dict[str, RunRecord], module_world: World, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("recorded") / "gate.json"
    run = runs["retrieval"]
    sides.write(path, run, sides.scores_of(run, module_world.repository), module_world.settings)
    return path


def test_what_was_recorded_is_read_back(runs: dict[str, RunRecord], module_world: World, file: Path) -> None:
    run = runs["retrieval"]
    expected = sides.recorded(run, sides.scores_of(run, module_world.repository), module_world.settings)
    found = sides.read(file)
    assert (found.name, found.diagnostic, found.version) == (expected.name, expected.diagnostic, expected.version)
    assert (found.params, found.dataset_digest) == (dict(expected.params), expected.dataset_digest)
    assert found.numbers.tolist() == expected.numbers.tolist()
    assert found.vectors == expected.vectors
    assert sides.have_same_vectors(found, expected)
    assert {name: parts.tolist() for name, parts in found.parts.items()} == {
        name: parts.tolist() for name, parts in expected.parts.items()
    }


def test_texts_are_recorded_only_if_asked_for(
    runs: dict[str, RunRecord], module_world: World, file: Path, tmp_path: Path
) -> None:
    run = runs["retrieval"]
    scores = sides.scores_of(run, module_world.repository)
    query = scores["ndcg@10"].texts[0]
    assert query not in file.read_text("utf-8")
    sides.write(tmp_path / "with.json", run, scores, module_world.settings, texts=True)
    assert query in json.loads((tmp_path / "with.json").read_bytes())["texts"]
    assert sides.read(tmp_path / "with.json").values == sides.read(file).values


def broken(**changes: Any) -> Any:
    return lambda content: content | changes


@each(
    "change",
    [
        lambda _: "no JSON",
        lambda _: [1, 2],
        broken(format="other"),
        broken(items=[2, 1]),
        broken(items=[]),
        broken(parts={}),
        broken(scores={"ndcg@10": None}),
        broken(version="one"),
        lambda content: {name: value for name, value in content.items() if name != "items"},
        lambda content: content | {"parts": {name: values[:-1] for name, values in content["parts"].items()}},
        lambda content: content | {"parts": {name: [float("nan")] * 80 for name in content["parts"]}},
        broken(vectors=[float("inf")]),
        broken(vectors=["one"]),
    ],
)
def test_a_damaged_file_is_refused_in_one_line(file: Path, tmp_path: Path, change: Any) -> None:
    path = tmp_path / "damaged.json"
    changed = change(json.loads(file.read_bytes()))
    path.write_text(changed if isinstance(changed, str) else json.dumps(changed), "utf-8")
    with pytest.raises(InputError) as caught:
        sides.read(path)
    assert str(path) in str(caught.value)
    assert "\n" not in str(caught.value)
    assert "record" in str(caught.value)


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"none\.json"):
        sides.read(tmp_path / "none.json")
