"""Transforms fitted on another dataset (held out): numbers, identity, refusals."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from blindspot.datasets.published import pairs as loaders
from blindspot.diagnostic import find_diagnostic, in_words
from blindspot.diagnostics.evalrank import pairs as explore
from blindspot.doctor.results import command
from blindspot.encoders.cache import EmbeddingCache
from blindspot.encoders.catalog import resolve_encoder
from blindspot.errors import BlindspotError, InputError
from blindspot.runs import pipeline, requesting, sweeps
from blindspot.runs.requests import RunRequest
from blindspot.settings import Settings
from blindspot.store.repository import Repository
from blindspot.transforms.chain import TransformChain
from blindspot.types import CancelToken
from tests.support.commands import Command
from tests.support.small_world import SMALL_PAIRS, GramEncoder, register_dataset, register_encoder

OTHER = loaders.pair_set(
    "other-pairs",
    pairs=[("A bird sings.", "The bird is singing."), ("Snow covers it all.", "All is covered by snow.")],
    background=["Seven old ships", "Some green apples", "He reads a long letter", "A dog runs in the park."],
)

GOLDEN = ["65439ea6025d3524", "9cfea470bb8353b2"]  # of the transforms none and abtt:1, by version 2 of EvalRank


@pytest.fixture
def world(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> Settings:
    register_dataset(monkeypatch, SMALL_PAIRS)
    register_dataset(monkeypatch, OTHER)
    register_encoder(monkeypatch, GramEncoder())
    return settings


def asked(settings: Settings, fit_on: str = "", transform: str = "abtt:1", **params: str) -> RunRequest:
    return requesting.request("evalrank", "trigrams", transform, "small-pairs", params, settings, fit_on=fit_on)


def test_it_is_the_transform_fitted_there_by_hand(world: Settings, repository: Repository) -> None:
    record = pipeline.run(asked(world, "other-pairs"), world, repository).record
    encoder = resolve_encoder("trigrams", world)
    there, here = (encoder.encode(d.items, CancelToken()) for d in (OTHER, SMALL_PAIRS))
    moved = TransformChain.parse("abtt:1").fit(there).apply(here).astype(np.float64)
    unit = moved / np.linalg.norm(moved, axis=1, keepdims=True)
    expected = [float(unit[q] @ unit[m]) for q, m in zip(SMALL_PAIRS.queries, SMALL_PAIRS.matches, strict=True)]
    rows = repository.items(find_diagnostic("evalrank"), [record.run_id], texts=False).sort_values("item_no")
    np.testing.assert_allclose(rows["similarity"], expected, atol=1e-5)
    own = pipeline.run(asked(world), world, repository).record
    similarities = repository.items(find_diagnostic("evalrank"), [own.run_id], texts=False).sort_values("item_no")
    assert np.abs(similarities["similarity"].to_numpy() - expected).max() > 0.01


def test_it_is_a_run_of_its_own_that_says_so(world: Settings, repository: Repository) -> None:
    held_out, own = asked(world, "other-pairs"), asked(world)
    assert held_out != own
    assert (held_out.fit_on, own.fit_on) == ("other-pairs", None)
    assert held_out.label == "EvalRank of trigrams + abtt:1 on small-pairs, fitted on other-pairs"
    assert pipeline.find(held_out, world, repository) is None
    records = [pipeline.run(request, world, repository).record for request in (own, held_out)]
    assert records[0].run_id != records[1].run_id
    plan, manifest = records[1].plan, records[1].manifest
    assert plan.params == {"fit_on": "other-pairs", "metric": "cos", "protocol": "definition"}
    assert in_words(plan.params) == "cos, definition, fitted on other-pairs"
    assert manifest["transform"]["fitted_on"] == f"{len(OTHER.items)} items of other-pairs"
    assert manifest["transform"]["n"] == len(OTHER.items)
    there = EmbeddingCache(world.embeddings).read(manifest["transform"]["held_out"]["embeddings"])
    assert there is not None
    assert len(there.matrix) == len(OTHER.items)
    assert manifest["transform"]["held_out"]["digest"] == OTHER.content_digest
    assert records[0].manifest["transform"]["fitted_on"] == f"{len(SMALL_PAIRS.items)} items of small-pairs"
    assert "held_out" not in records[0].manifest["transform"]
    found = pipeline.find(held_out, world, repository)
    assert found is not None
    assert found.run_id == plan.run_id
    assert requesting.request_of(found, world) == held_out
    assert not pipeline.run(held_out, world, repository).computed
    assert pipeline.run(held_out, world, repository, again=True).changed == {}
    # Pages ask for runs by their exact parameters.
    same = repository.runs(diagnostic="evalrank", params=records[0].plan.params)
    assert [run.run_id for run in same] == [records[0].run_id]
    assert "--fit-on other-pairs" in command(plan)


def test_other_texts_to_fit_on_are_another_run(
    world: Settings, repository: Repository, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = pipeline.run(asked(world, "other-pairs"), world, repository).record
    register_dataset(monkeypatch, loaders.pair_set("other-pairs", [("one", "two")], ["three", "four", "five six"]))
    assert pipeline.run(asked(world, "other-pairs"), world, repository).record.run_id != first.run_id


def test_runs_fitted_on_their_own_items_keep_their_ids(world: Settings, repository: Repository) -> None:
    """Ids that the version before there was a choice gave."""
    ids = [pipeline.run(asked(world, transform=t), world, repository).record.run_id for t in ("none", "abtt:1")]
    assert ids == GOLDEN


@pytest.mark.parametrize(
    ("transform", "fit_on"),
    [("none", "other-pairs"), ("normalize+truncate:9", "other-pairs"), ("center", "small-pairs")],
)
def test_where_it_makes_no_difference_it_is_the_same_run(world: Settings, transform: str, fit_on: str) -> None:
    assert asked(world, fit_on, transform) == asked(world, "", transform)


def test_what_cannot_be_fitted_elsewhere_is_refused(world: Settings) -> None:
    with pytest.raises(InputError, match=r"unknown dataset 'other-pair'.*did you mean 'other-pairs'"):
        asked(world, "other-pair")
    with pytest.raises(InputError, match="under the protocol toolkit"):
        asked(world, "other-pairs", protocol="toolkit")
    for transform in ("center", "none"):
        with pytest.raises(InputError, match="learns from the very texts that it encodes"):
            requesting.request("evalrank", "lsa", transform, "small-pairs", {}, world, fit_on="other-pairs")


def test_an_encoder_that_knows_none_of_those_texts_is_refused(
    world: Settings, repository: Repository, tmp_path: Path
) -> None:
    np.save(
        tmp_path / "t.npy", np.random.default_rng(0).standard_normal((len(SMALL_PAIRS.items), 5)).astype(np.float32)
    )
    (tmp_path / "t.txt").write_text("\n".join(json.dumps(t)[1:-1] for t in SMALL_PAIRS.items), "utf-8")
    reference = f"table:{tmp_path / 't.npy'}"
    only = [text for text in OTHER.items if text not in SMALL_PAIRS.items]
    assert len(only) < len(OTHER.items)  # it knows one
    request = requesting.request("evalrank", reference, "center", "small-pairs", {}, world, fit_on="demo-minimal")
    with pytest.raises(InputError, match="has a vector for none of the items of 'demo-minimal'"):
        pipeline.run(request, world, repository)
    known = requesting.request("evalrank", reference, "center", "small-pairs", {}, world, fit_on="other-pairs")
    assert pipeline.run(known, world, repository).record.manifest["transform"]["fitted_on"] == "1 items of other-pairs"


def test_its_space_is_not_computed_as_if_it_were_fitted_on_its_items(world: Settings, repository: Repository) -> None:
    record = pipeline.run(asked(world, "other-pairs"), world, repository).record
    with pytest.raises(BlindspotError, match="was fitted on 'other-pairs'; only its stored results"):
        explore.around_match(record, 0, 1, world, repository)


def test_a_sweep_can_say_it(world: Settings, tmp_path: Path) -> None:
    file = tmp_path / "sweep.toml"
    text = """encoders = "trigrams"
transforms = ["none", "center", "truncate:4", "abtt:1"]
datasets = ["small-pairs", "other-pairs"]
diagnostics = "evalrank"
"""
    file.write_text(f'{text}fit_on = "other-pairs"', "utf-8")
    requests = sweeps.expand(sweeps.read_toml(file), world).requests
    assert set(requests) == {
        requesting.request("evalrank", "trigrams", t, d, {}, world, fit_on="other-pairs")
        for t in ("none", "center", "truncate:4", "abtt:1")
        for d in ("small-pairs", "other-pairs")
    }
    assert {(r.variant.transform, r.dataset) for r in requests if r.fit_on} == {
        ("center", "small-pairs"),
        ("abtt:1", "small-pairs"),
    }
    file.write_text(f"{text}fit_on = 3", "utf-8")
    with pytest.raises(InputError, match="'fit_on' is 3; expected the id of one dataset"):
        sweeps.read_toml(file)


@pytest.mark.usefixtures("world")
def test_the_command_line_says_it(blindspot: Command) -> None:
    words = "run evalrank --encoder trigrams --transform center --dataset small-pairs --fit-on".split()
    assert "fitted on other-pairs" in blindspot.out(*words, "other-pairs")
    (run,) = blindspot.json(*words, "other-pairs")["runs"]
    assert run["params"]["fit_on"] == "other-pairs"
    assert "fitted on other-pairs" in blindspot.out("runs")
    shown = blindspot("runs", "show", run["run_id"]).json
    assert shown["manifest"]["transform"]["fitted_on"].endswith("items of other-pairs")
    assert "unknown dataset 'no-such-pairs'" in blindspot.error(*words, "no-such-pairs")
    options = "sweep --encoder trigrams --transform center --dataset small-pairs --diagnostic evalrank --dry-run"
    assert f"run {run['run_id']}" in blindspot.out(*options.split(), "--fit-on", "other-pairs")
