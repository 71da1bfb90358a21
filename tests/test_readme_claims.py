"""The README's first insights, computed anew from the demo's runs."""

from __future__ import annotations

import csv
import math
import shutil
from dataclasses import replace
from pathlib import Path

from core import explore, pipeline
from core.diagnostics import catalog as diagnostics
from core.explore import Relation
from core.settings import ASSETS, Settings
from core.store.repository import Repository


def test_what_stands_first_above_the_paraphrase_is_mostly_a_negation(demo_cache: Path, settings: Settings) -> None:
    encoded = replace(settings, cache=demo_cache)
    with (ASSETS / "demo" / "minimal_pairs.tsv").open(encoding="utf-8", newline="") as f:
        rows = list(csv.DictReader(f, delimiter="\t", quoting=csv.QUOTE_NONE))
    negations = {row[column] for row in rows for column in ("negation_main", "negation_antonym")}
    repository = Repository.at(demo_cache / "results.duckdb")
    (run,) = (
        r
        for r in repository.runs(dataset="demo-pairs")
        if r.plan.variant.transform == "none" and r.plan.params["metric"] == "cos"
    )
    assert round(run.metrics["hits@1"], 2) == 0.51
    pairs = repository.items(diagnostics.find("evalrank"), [run.run_id], texts=True)
    first = [
        items[0].text
        for pair in pairs[pairs["item_no"] < len(rows)].itertuples()
        if (items := explore.around_mate(run, pair.query_no, pair.mate_no, encoded, repository, limit=1))
        and items[0].relation is Relation.ABOVE
    ]
    assert 0.75 < sum(text in negations for text in first) / len(first) < 0.85


def test_a_negated_word_is_nearer_than_a_synonym_in_most_sentences(demo_cache: Path, settings: Settings) -> None:
    shutil.copytree(demo_cache / "embeddings", settings.embeddings)
    request = next(
        r for r in pipeline.demo_requests(settings) if r.diagnostic == "heros" and r.variant.transform == "none"
    )
    metrics = pipeline.run(request, settings, Repository.at(settings.store)).record.metrics
    assert round(metrics["negation_antonym"], 2) == 0.96
    assert math.floor(100 * metrics["synonym"]) == 95
    assert 45 <= 100 * metrics["synonym>negation_antonym"] <= 46
