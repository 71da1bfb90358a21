"""Evidence on geometry: each kind where it is there and where it is not, and false ones under the null."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from blindspot.diagnostics.geometry.definition import ENTRY
from blindspot.diagnostics.geometry.evidence import evidence
from blindspot.runs.findings import Level
from blindspot.types import Float64
from tests.support.made_up_store import MadeUp, shown

N = 120


def made_up(apart: Float64, **metrics: float) -> MadeUp:
    """A model with these squared distances of matches; two random texts are at a squared distance of 2."""
    n = len(apart)
    about = pd.DataFrame({"item_no": np.arange(n), "query_no": np.arange(n), "match_no": n + np.arange(n)})
    about["query"] = [f"query {i}" for i in range(n)]
    about["match"] = [f"match {i}" for i in range(n)]
    store = MadeUp(ENTRY, about)
    scores = {"anisotropy": 0.0, "background": 2.0 * n, "sampled_items": 2.0 * n, "hubness_cos_sample": 1.0}
    store.add("model", {"squared_distance": apart}, {**scores, "zero_vectors": 0.0, **metrics})
    return store


def test_matches_that_are_nearer_than_random_texts() -> None:
    apart = np.random.default_rng(0).uniform(0.2, 1.0, N)
    (found,) = shown(made_up(apart), evidence)
    assert (found.kind, found.level) == ("matches-nearer", Level.STRENGTH)
    assert found.value == pytest.approx(1 - apart.mean() / 2)
    assert found.interval is not None
    assert found.interval.low < found.value < found.interval.high


def test_matches_that_are_not() -> None:
    apart = np.random.default_rng(1).uniform(1.5, 2.5, N)
    found = {one.kind: one for one in shown(made_up(apart), evidence)}
    assert {one.level for one in found.values()} == {Level.CAUTION}, "no worse than chance"
    assert found["matches-nearer"].value == pytest.approx(1 - apart.mean() / 2)
    assert found["matches-far-apart"].value == pytest.approx((apart >= 2).mean())
    farthest = int(apart.argmax())
    assert found["matches-far-apart"].examples[0].texts[0] == ("query", f"query {farthest}")
    assert f"{apart[farthest] / 2 - 1:.0%} farther apart" in found["matches-far-apart"].examples[0].note


def test_matches_that_are_farther_apart_than_random_texts_or_than_a_baselines() -> None:
    rng = np.random.default_rng(6)
    farther = {one.kind: one.level for one in shown(made_up(rng.uniform(1.9, 2.5, N)), evidence)}
    assert farther == dict.fromkeys(("matches-nearer", "matches-far-apart"), Level.BLIND_SPOT)
    store = made_up(rng.uniform(1.5, 2.5, N))
    store.add("lsa", {"squared_distance": rng.uniform(0.5, 1.5, N)}, store.runs[0].metrics)
    own = [one for one in shown(store, evidence) if one.runs[0] == store.runs[0]]
    assert {one.kind: one.level for one in own} == farther
    store = made_up(rng.uniform(0.5, 1.5, N))
    store.add("lsa", {"squared_distance": rng.uniform(0.5, 1.5, N)}, store.runs[0].metrics)
    assert not [one for one in shown(store, evidence) if one.runs[0] == store.runs[0]], "no nearer than the baseline's"


def test_a_common_direction_counts_for_random_texts_too() -> None:
    apart = np.random.default_rng(2).uniform(0.3, 0.5, N)  # near; yet random texts are at 0.4
    found = {one.kind: one for one in shown(made_up(apart, anisotropy=0.8), evidence)}
    assert found["common-direction"].level is Level.CAUTION
    assert found["common-direction"].value == 0.8
    assert found["matches-nearer"].level is Level.CAUTION


def test_hubs_and_zero_vectors_are_counted() -> None:
    apart = np.random.default_rng(3).uniform(0.2, 1.0, N)
    found = {one.kind: one for one in shown(made_up(apart, hubness_cos_sample=6.0, zero_vectors=12.0), evidence)}
    assert found["hubs"].p is None
    assert found["hubs"].page == "frequency"
    assert found["zero-vectors"].value == pytest.approx(0.05)
    shown_at = {(one.page, one.address.get("scores")) for one in found.values() if one.kind != "hubs"}
    assert shown_at == {("overview", ENTRY.id)}  # it has no page of its own


def test_a_pair_and_its_reverse_are_one_example() -> None:
    apart = np.repeat(np.random.default_rng(4).uniform(1.8, 2.5, N), 2)
    store = made_up(apart)
    reverse = store.about.iloc[::2].rename(columns={"query": "match", "match": "query"})
    store.about.loc[1::2, ["query", "match"]] = reverse[["query", "match"]].to_numpy()
    for one in shown(store, evidence):
        texts = [frozenset(text for _, text in example.texts) for example in one.examples]
        assert len(set(texts)) == len(texts) == 3


@pytest.mark.slow
def test_false_blind_spots_are_rare() -> None:
    """As near as is asked for, or as often far apart."""
    wrong = 0
    for seed in range(200):
        rng = np.random.default_rng([5, seed])
        exact = 2 * (1 - rng.normal(0.1, 0.05, N)) if seed % 2 else np.where(rng.uniform(size=N) < 0.1, 2.2, 1.0)
        wrong += any(
            one.level is Level.BLIND_SPOT and (one.kind == "matches-nearer") == bool(seed % 2)
            for one in shown(made_up(exact), evidence)
        )
    assert wrong <= 10
