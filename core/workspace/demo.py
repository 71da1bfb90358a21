"""The demo as a whole: its runs, and what pages show beside runs (a map, items for raters)."""

from __future__ import annotations

from core.jobs.queue import Task
from core.runs import demo
from core.settings import Settings
from core.space.maps.maps import MapRequest
from core.studies.judgement.making import ItemsRequest
from core.studies.judgement.types import Task as Judging

VOCABULARY = "demo-vocabulary"
QUERIES = 40  # a rater's quarter of an hour
JUDGED = demo.UNTRANSFORMED[:2]


def tasks(settings: Settings) -> list[Task]:
    """All work of the demo; what takes a process of its own, UMAP, comes last."""
    items = [
        ItemsRequest(task, JUDGED, VOCABULARY, queries=QUERIES) for task in (Judging.INTRUDER, Judging.COMPARATIVE)
    ]
    return [*demo.requests(settings), *items, MapRequest(demo.FIRST, "demo-pairs")]
