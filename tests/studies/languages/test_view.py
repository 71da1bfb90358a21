"""The view of a model's languages, without a page and without a command."""

from __future__ import annotations

import json

from blindspot.datasets.published.tatoeba import BOTH, PARALLEL
from blindspot.numerics.similarity import Similarity
from blindspot.studies.languages.pooled import biases, pool_of
from blindspot.studies.languages.scores import By, cells_of, scores_of
from blindspot.studies.languages.view import languages_view
from tests.support.world import World

DEMO = PARALLEL["demo-languages"]
ENCODER = "random-projection"


def test_scores_groups_and_the_pool(world: World) -> None:
    cells = cells_of(DEMO, DEMO.languages(("deu", "rus")), ENCODER, world.settings)
    runs = {c.request: world.run("evalrank", ENCODER, c.request.dataset, candidates="matches") for c in cells}
    scores = scores_of(cells, runs, world.repository)
    alone = languages_view(scores).as_json({"fra": "no vectors"})
    assert (alone["pooled"], alone["findings"]) == ([], [])
    assert alone["left_out"] == [{"language": "fra", "error": "no vectors"}]
    found = biases(pool_of(scores, world.settings, world.repository), Similarity.COS)
    view = languages_view(scores, By.SCRIPT, found)
    said = json.loads(json.dumps(view.as_json({})))
    assert [(one["language"], one["direction"]) for one in said["scores"]] == [
        (code, direction) for code in ("deu", "rus") for direction in ("into English", "from English")
    ]
    for one, score in zip(said["scores"], scores, strict=True):
        assert one["accuracy"] == score.run.metrics["hits@1"]
        assert one["accuracy_low"] <= one["accuracy"] <= one["accuracy_high"]
    assert {group["group"]: group["languages"] for group in said["groups"]} == {"Latin": ["deu"], "Cyrillic": ["rus"]}
    assert len(scores) == 2 * len(BOTH)
    assert all(abs(sum(pool["nearest"].values()) - 1) < 1e-9 for pool in said["pooled"])
    severities = [finding.severity for finding in view.worst_first]
    assert severities == sorted(severities, reverse=True)
    assert {one["id"] for one in said["findings"]} == {finding.id for finding in view.worst_first}
