"""The README's first insights, computed anew from the demo's runs."""

from __future__ import annotations

import csv
import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from blindspot.diagnostic import find_diagnostic
from blindspot.diagnostics.evalrank.pairs import Relation, around_mate
from blindspot.runs import pipeline
from blindspot.settings import ASSETS, ROOT, Settings
from blindspot.store.repository import Repository
from blindspot.texts import percent
from blindspot.workspace import demo


def is_said(*words: str) -> bool:
    """Whether README and tutorial say just this, wherever lines break: figures are written as they are measured."""
    texts = [" ".join((ROOT / name).read_text("utf-8").split()) for name in ("README.md", "docs/start.md")]
    return all(each in text for each in words for text in texts)


@pytest.mark.heavy
def test_what_stands_first_above_the_paraphrase_is_most_often_a_negation(demo_cache: Path, settings: Settings) -> None:
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
    assert is_said(f"(Hits@1 {run.metrics['hits@1']:.2f})")
    pairs = repository.items(find_diagnostic("evalrank"), [run.run_id], texts=True)
    found: dict[bool, list[bool]] = {True: [], False: []}  # by whether the query is an original
    for pair in pairs.itertuples():
        nearest = around_mate(run, pair.query_no, pair.mate_no, encoded, repository, limit=1)
        if nearest and nearest[0].relation is Relation.ABOVE:
            found[pair.item_no < len(rows)].append(nearest[0].text in negations)
    everywhere = found[True] + found[False]
    assert is_said(f"In {len(everywhere)} of the {len(pairs)} pairs")
    shares = percent(np.mean(everywhere)), percent(np.mean(found[True]))
    assert is_said(
        f"in {shares[0]} of these the first of it is a *negation*", f"(in {shares[1]} where the query is the original"
    )


def test_a_negated_word_is_as_near_as_a_synonym(demo_cache: Path, settings: Settings) -> None:
    shutil.copytree(demo_cache / "embeddings", settings.embeddings)
    request = next(r for r in demo.first_requests(settings) if r.diagnostic == "heros")
    metrics = pipeline.run(request, settings, Repository.at(settings.store)).record.metrics
    assert is_said(f"the similarity is {metrics['negation_antonym']:.3f}, with a synonym {metrics['synonym']:.3f}.")
    name = "synonym>negation_antonym"
    share, low, high = (percent(metrics[f"{name}{end}"]) for end in ("", "_low", "_high"))
    assert is_said(f"in {share} of the sentences (95% interval {low} to {high})")
    assert metrics[f"{name}_low"] < 0.5 < metrics[f"{name}_high"]  # not significantly different from a coin
