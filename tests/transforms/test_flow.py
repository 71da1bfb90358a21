"""The transform flow: trained to a higher likelihood, the same every time, kept and found again."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from blindspot.datasets import fetch
from blindspot.datasets.catalog import find_dataset
from blindspot.datasets.published import pairs as loaders
from blindspot.diagnostic import find_diagnostic
from blindspot.diagnostics.evalrank import pairs as explore
from blindspot.encoders.cache import EmbeddingCache
from blindspot.encoders.catalog import EncoderInfo, resolve_encoder
from blindspot.errors import BlindspotError, Cancelled, DataCorrupt, InputError
from blindspot.runs import pipeline, requesting, spaces
from blindspot.settings import Settings
from blindspot.store.repository import Repository
from blindspot.transforms import flow as network
from blindspot.transforms.chain import TransformChain
from blindspot.transforms.flow import Flow
from blindspot.transforms.trained_flows import NotTrained, StoredFlows, TrainedFlows, key_of
from blindspot.types import CancelToken, Float32, no_progress
from blindspot.variants import Variant
from tests.support.small_world import GramEncoder, register_dataset, register_encoder


def curved(n: int = 400) -> Float32:
    """Points that no linear map makes Gaussian, on very different scales; the last column is constant."""
    rng = np.random.default_rng(3)
    a, b, c = rng.standard_normal((3, n))
    return np.stack([a, np.abs(a) + 0.1 * b, 100 + 30 * c, 1e-3 * (b + c), np.full(n, 0.3)], axis=1).astype(np.float32)


@pytest.fixture(scope="module")
def trained(shared_settings: Settings) -> Iterator[tuple[Flow, list[tuple[str, int, int]]]]:
    told: list[tuple[str, int, int]] = []

    def progress(stage: str, done: int, total: int, fraction: float | None = None) -> None:
        told.append((stage, done, total))

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(network, "STEPS", 150)
        yield network.train(curved(), progress, CancelToken()), told


@pytest.mark.trains
def test_a_flow_is_what_its_couplings_say(trained: tuple[Flow, Any]) -> None:
    """By hand, in float64: every second coordinate is scaled and shifted by a network of the others."""
    flow, row = trained[0], curved()[7]
    z = [(float(x) - m) / s for x, m, s in zip(row, flow.mean, flow.scale, strict=True)]
    for layer in range(network.LAYERS):
        weights = [
            (
                flow.weights[f"transform.transforms.{layer}.hyper.{i}.weight"].astype(float),
                flow.weights[f"transform.transforms.{layer}.hyper.{i}.bias"].astype(float),
            )
            for i in (0, 2)
        ]
        kept = [i for i in range(5) if i % 2 == layer % 2]
        moved = [i for i in range(5) if i % 2 != layer % 2]
        hidden = [
            max(0.0, sum(w * z[i] for w, i in zip(ws, kept, strict=True)) + b)
            for ws, b in zip(*weights[0], strict=True)
        ]
        out = [sum(w * h for w, h in zip(ws, hidden, strict=True)) + b for ws, b in zip(*weights[1], strict=True)]
        for place, i in enumerate(moved):
            shift, scale = out[2 * place], out[2 * place + 1]
            z[i] = z[i] * math.exp(scale / (1 + abs(scale / math.log(network.SLOPE)))) + shift
    np.testing.assert_allclose(flow.apply(curved())[7], z, atol=1e-4)


@pytest.mark.trains
def test_training_raises_the_likelihood_and_tells_how_far_it_is(trained: tuple[Flow, Any]) -> None:
    flow, told = trained
    assert told == [("training the flow", step, 150) for step in range(151)]
    curve = flow.curve
    assert curve.steps.tolist() == [0, 20, 40, 60, 80, 100, 120, 140, 150]
    assert curve.held_out[0] < curve.train[-1]
    assert curve.held_out.max() - curve.held_out[0] > 0.1
    # Untrained it is the identity: the likelihood of standardised items under the standard Gaussian.
    assert curve.train[0] == pytest.approx(-0.5 * math.log(2 * math.pi) - 0.5 * 4 / 5, abs=0.1)
    facts = json.loads(json.dumps(dict(flow.facts)))
    told_curve = facts.pop("curve")
    assert told_curve["steps"] == curve.steps.tolist()
    assert told_curve["held_out"] == pytest.approx(curve.held_out, abs=1e-5)
    assert told_curve["train"] == pytest.approx(curve.train, abs=1e-5)
    assert facts == {
        "seed": network.SEED,
        "steps": 150,
        "kept_after_steps": int(curve.steps[curve.best]),
        "log_likelihood_train": curve.train[curve.best],
        "log_likelihood_held_out": curve.held_out.max(),
    }


@pytest.mark.trains
def test_training_again_gives_the_same_flow_whatever_was_drawn_before(monkeypatch: pytest.MonkeyPatch) -> None:
    import torch

    monkeypatch.setattr(network, "STEPS", 10)
    first = network.train(curved(), no_progress, CancelToken())
    torch.rand(7)
    second = network.train(curved(), no_progress, CancelToken())
    np.testing.assert_array_equal(first.apply(curved()), second.apply(curved()))


@pytest.mark.parametrize(
    ("shape", "message"),
    [
        ((5, 5), "cannot be trained on 5 items of 5 dimensions; expected more items than dimensions: 6"),
        ((9, 1), "one half"),
    ],
)
def test_too_few_items_or_dimensions_are_refused(tmp_path: Path, shape: tuple[int, int], message: str) -> None:
    corpus = np.random.default_rng(0).standard_normal(shape).astype(np.float32)
    for flows in (StoredFlows(tmp_path), TrainedFlows(tmp_path, no_progress, CancelToken())):
        with pytest.raises(InputError, match=message):
            TransformChain.parse("flow").fit(corpus, flows)


def test_items_that_do_not_vary_or_are_not_finite_are_refused() -> None:
    with pytest.raises(InputError, match="finds no variance"):
        network.train(np.full((9, 3), 0.1, dtype=np.float32), no_progress, CancelToken())
    corpus = curved()
    corpus[3, 3] = np.nan
    with pytest.raises(BlindspotError, match="NaN or infinite"):
        network.train(corpus, no_progress, CancelToken())


# --- where flows are kept


@pytest.mark.trains
def test_a_trained_flow_is_found_again_and_never_trained_by_a_reader(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(network, "STEPS", 10)
    chain, corpus = TransformChain.parse("truncate:3+flow+center"), curved()
    reader, folder = StoredFlows(tmp_path / "flows"), tmp_path / "flows"
    with pytest.raises(NotTrained, match="run a diagnostic with this transform on this dataset first"):
        chain.fit(corpus, reader)
    with pytest.raises(BlindspotError, match="is trained by a run"):
        chain.fit(corpus)
    assert not folder.exists()
    first = chain.fit(corpus, TrainedFlows(folder, no_progress, CancelToken()))
    assert [path.name for path in folder.iterdir()] == [f"{key_of(corpus, 'truncate:3')}.npz"]
    again = chain.fit(np.array(corpus), reader)
    np.testing.assert_array_equal(first.apply(corpus), again.apply(corpus))
    assert first.record() == again.record()
    assert [s["step"] for s in first.record()["steps"]] == ["truncate:3", "flow", "center"]
    for other, text in ((corpus[:-1], "truncate:3+flow"), (corpus, "truncate:4+flow"), (corpus, "flow")):
        with pytest.raises(NotTrained):
            TransformChain.parse(text).fit(other, reader)


@pytest.mark.trains
def test_a_cancelled_training_leaves_nothing(tmp_path: Path) -> None:
    cancel = CancelToken()

    def progress(stage: str, done: int, total: int, fraction: float | None = None) -> None:
        if done == 3:
            cancel.cancel()

    with pytest.raises(Cancelled):
        TransformChain.parse("flow").fit(curved(), TrainedFlows(tmp_path, progress, cancel))
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("damage", [b"", b"PK\x03\x04 half of it", b"not a flow"])
def test_a_damaged_file_is_named(tmp_path: Path, damage: bytes) -> None:
    path = tmp_path / f"{key_of(curved(), 'none')}.npz"
    path.write_bytes(damage)
    with pytest.raises(DataCorrupt, match="delete this file and run it again"):
        TransformChain.parse("flow").fit(curved(), StoredFlows(tmp_path))


# --- in runs


@pytest.fixture
def world(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> Settings:
    """Eight dimensions and a hundred sentences, so that a flow can be trained on them."""
    monkeypatch.setattr(network, "STEPS", 10)
    words = ["dog", "cat", "rain", "house", "green", "runs", "sleeps", "falls", "old", "tree"]
    texts = [f"{a} {b}" for a in words for b in words if a != b]
    register_dataset(
        monkeypatch, loaders.pair_set("many", list(zip(texts[:40], texts[40:80], strict=True)), texts[80:])
    )
    info = EncoderInfo("Character n-grams", 8, 0, 0, "", "", "")
    register_encoder(monkeypatch, GramEncoder(info=info))
    return settings


@pytest.mark.trains
def test_a_run_trains_the_flow_and_pages_find_it(world: Settings, repository: Repository) -> None:
    dataset = fetch.load(find_dataset("many"), world)
    request = requesting.request("evalrank", "trigrams", "center+flow", "many", {}, world)
    variant = Variant("trigrams", "center+flow")
    stages: list[str] = []
    outcome = pipeline.run(request, world, repository, lambda stage, *_: stages.append(stage))
    assert "training the flow" in stages
    embedded = EmbeddingCache(world.embeddings).read(outcome.record.plan.embedding_digest)
    assert embedded is not None
    chain = TransformChain.parse("center+flow").fit(embedded.matrix, StoredFlows(world.flows))
    (space,) = spaces.open_spaces([variant], dataset, world)
    np.testing.assert_array_equal(space.vectors, chain.apply(embedded.matrix))
    steps = outcome.record.manifest["transform"]["steps"]
    assert steps[1] == {"step": "flow", "d_in": 8, "d_out": 8, **chain.steps[1].facts}
    shown = explore.around_match(
        outcome.record,
        int(dataset.queries[0]),
        int(dataset.matches[0]),
        world,
        repository,  # type: ignore[attr-defined]
    )
    rows = repository.items(find_diagnostic("evalrank"), [outcome.record.run_id], texts=False)
    match = next(item for item in shown if item.relation is explore.Relation.MATCH)
    assert match.similarity == pytest.approx(rows["similarity"][0], abs=1e-5)
    assert not pipeline.run(request, world, repository).computed
    assert pipeline.run(request, world, repository, again=True).changed == {}


@pytest.mark.trains
def test_a_flow_that_was_deleted_is_trained_again_by_a_run_that_is_found(
    world: Settings, repository: Repository
) -> None:
    request = requesting.request("evalrank", "trigrams", "flow", "many", {}, world)
    pipeline.run(request, world, repository)
    (path,) = world.flows.iterdir()
    before = path.read_bytes()
    path.unlink()
    spaces._vectors.cache_clear()
    dataset = fetch.load(find_dataset("many"), world)
    with pytest.raises(NotTrained):
        spaces.open_spaces([Variant("trigrams", "flow")], dataset, world)
    assert not pipeline.run(request, world, repository).computed
    assert path.stat().st_size == len(before)
    assert len(spaces.open_spaces([Variant("trigrams", "flow")], dataset, world)[0].vectors) == len(dataset.items)


@pytest.mark.heavy
@pytest.mark.trains
def test_training_on_real_embeddings_raises_the_likelihood(
    shared_settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(network, "STEPS", 40)
    dataset = fetch.load(find_dataset("demo-pairs"), shared_settings)
    encoder = resolve_encoder("minilm", shared_settings)
    matrix = (
        EmbeddingCache(shared_settings.embeddings)
        .encode(encoder, dataset.items, dataset.texts_digest, no_progress, CancelToken())
        .matrix
    )
    flow = network.train(matrix, no_progress, CancelToken())
    assert flow.apply(matrix).shape == matrix.shape
    assert flow.curve.held_out[-1] > flow.curve.held_out[0]
