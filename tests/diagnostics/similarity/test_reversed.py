"""Distances that a file calls scores: each surface with a score or a verdict asks, and none where models agree."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from blindspot.api.place import Place
from blindspot.api.results import Run
from blindspot.api.thresholds import threshold
from blindspot.diagnostics.similarity.view import TURN
from blindspot.names import in_address
from blindspot.studies.findings.collection import Selection
from blindspot.studies.report.content import gather
from blindspot.studies.report.html import render
from tests.support.commands import Command
from tests.support.pages import OpenApp, written
from tests.support.small_world import GramEncoder
from tests.support.world import World

MODELS = ("trigrams", "bigrams")


def mine(folder: Path, sign: int) -> str:
    """A file of pairs that share 0 to 5 words; ``sign`` times that many is their score, plus a little."""
    rng = np.random.default_rng(4)
    rows = []
    for i in range(60):
        first, other = ([f"{letter}{rng.integers(1_000, 10_000)}" for letter in "abcde"] for _ in range(2))
        n = i % 6
        rows.append((" ".join(first), " ".join([*first[:n], *other[n:]]), 5 + sign * n + rng.uniform(0, 0.5)))
    path = folder / "mine.csv"
    pd.DataFrame(rows, columns=["left", "right", "score"]).to_csv(path, index=False)
    return f"file:{path}"


def ask(blindspot: Command, open_app: OpenApp, world: World, dataset: str) -> dict[str, str]:
    """What each surface says of two models on a dataset."""
    world.add(GramEncoder(), GramEncoder("bigrams", size=2))
    encoders = [word for model in MODELS for word in ("--encoder", model)]
    command = blindspot("run", "similarity", *encoders, "--dataset", dataset)
    records = [world.run("similarity", model, dataset) for model in MODELS]
    runs = [Run.of(record, Place(world.settings, is_kept=True)) for record in records]
    ids = [record.run_id for record in records]
    world.run("similarity", MODELS[0], "demo-scored")
    report = gather(world.repository, world.settings, Selection(datasets=(dataset,)))
    golden = ("gate", "--encoder", MODELS[0], "--baseline", MODELS[1], "--data", dataset)
    name = in_address(dataset)
    pages: dict[str, dict[str, str | list[str]]] = {
        "overview": {"scores": "similarity"},
        "compare": {},
        "similarity": {},
        "threshold": {},
        "size": {"size_enc": MODELS[0]},
        "lab": {"lab_enc": list(MODELS), "lab_chain": ["none"], "lab_task": f"similarity@{name}"},
    }
    said = {f"page {page}": written(open_app(world.cache, page, data=name, **of)) for page, of in pages.items()}
    below = written(open_app(world.cache, "overview", data="demo-scored", scores="similarity"))
    return said | {
        "overview, another dataset first": below,
        "run": command.err,
        "run --json": " ".join(blindspot.json("run", "similarity", *encoders, "--dataset", dataset)["doubts"]),
        "notes": " ".join(runs[0].notes),
        "threshold": threshold(runs[0]).said,
        "threshold --json": " ".join(blindspot.json("threshold", "--encoder", MODELS[0], "--data", dataset)["doubts"]),
        "runs compare": blindspot.out("runs", "compare", *ids),
        "compare": blindspot.out("compare", *MODELS),
        "findings": blindspot.out("findings", "--all"),
        "report": render(report),
        "gate": blindspot(*golden).out,
    }


@pytest.mark.heavy
def test_each_surface_asks_about_scores_that_are_distances(
    blindspot: Command, open_app: OpenApp, world: World, tmp_path: Path
) -> None:
    said = ask(blindspot, open_app, world, mine(tmp_path, -1))
    assert [name for name, text in said.items() if "minus the score" not in " ".join(text.split())] == []
    assert "minus the score" in TURN


@pytest.mark.heavy
def test_no_surface_asks_about_scores(blindspot: Command, open_app: OpenApp, world: World, tmp_path: Path) -> None:
    said = ask(blindspot, open_app, world, mine(tmp_path, 1))
    assert [name for name, text in said.items() if "minus the score" in " ".join(text.split())] == []
