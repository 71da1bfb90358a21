"""The view of two models: counts, rows, costs, and what is missing."""

from __future__ import annotations

import json

from blindspot.studies.compare.costs import Cost
from blindspot.studies.compare.rows import Comparison
from blindspot.studies.compare.view import TwoModels, compare_view
from tests.studies.compare.conftest import A, B, C
from tests.support.world import World

COS = {"metric": "cos"}


def test_costs_are_in_a_row_each_with_their_ratio() -> None:
    view = TwoModels(Comparison(A, B, (), ()), (Cost(96, 1_000), Cost(48, None)))
    assert [(row.title, row.a, row.b, row.ratio) for row in view.cost_rows] == [
        ("dimension", "96", "48", "2"),
        ("parameters", "1,000", "–", "–"),
        ("MB per million texts", "384", "192", "2"),
    ]
    said = view.as_json(COS)
    assert (said["metric"], said["rows"], said["better"]) == ("cos", [], 0)
    assert (said["a"]["megabytes_per_million"], said["b"]["parameters"]) == (384.0, None)


def test_rows_and_counts_agree_and_what_is_missing_is_named(filled: World) -> None:
    view = compare_view(A, B, filled.repository, COS)
    said = json.loads(json.dumps(view.as_json(COS)))
    assert said["said"] == view.headline
    assert [row["runs"] for row in said["rows"]] == [[r.a.run_id, r.b.run_id] for r in view.comparison.rows]
    counted = [said[name] for name in ("better", "worse", "no_significant_difference", "not_tested")]
    assert sum(counted) == sum(row["decides"] for row in said["rows"])
    assert said["missing"] == []
    (first, second) = compare_view(A, C, filled.repository, COS).as_json(COS)["missing"]
    assert (first["diagnostic"], first["lacking"]) == ("heros", [str(C)])
    assert (second["diagnostic"], second["params"], second["why"]) == ("geometry", {}, "computed for one of the two")
