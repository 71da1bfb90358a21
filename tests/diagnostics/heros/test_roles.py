"""HEROS by role: originals are queries, rewrites documents, and unrelated sentences one of each."""

from __future__ import annotations

import math

import numpy as np
import pytest

from blindspot.datasets.published.minimal_pairs import minimal_pair_set
from blindspot.diagnostics.heros.definition import ENTRY
from blindspot.diagnostics.heros.retrieval import cosines_to_all
from blindspot.types import CancelToken, Float32
from tests.support.asking import ASK, TELL, AskingEncoder
from tests.support.heros_world import ORIGINALS, SIX
from tests.support.world import World

TWICE = [*ORIGINALS[1:], ORIGINALS[0]]  # each rewrite is another original: every text has both roles
DATA = minimal_pair_set("by-role", ORIGINALS, {**SIX, "other": TWICE})


def cosine(x: Float32, y: Float32) -> float:
    a, b = ([float(value) for value in row] for row in (x, y))
    lengths = math.sqrt(math.fsum(v * v for v in a)) * math.sqrt(math.fsum(v * v for v in b))
    return math.fsum(v * w for v, w in zip(a, b, strict=True)) / lengths if lengths else 0.0


@pytest.mark.parametrize("transform", ["none", "center"])
def test_scores_by_role_equal_the_loop(world: World, transform: str) -> None:
    world.add(DATA, AskingEncoder())
    run = world.run("heros", f"asking~{transform}", DATA.id)
    assert run.manifest["encoder"]["prompts"] == {"query": ASK, "document": TELL}
    encoder, items = AskingEncoder(), DATA.items
    documents = encoder.prompted(TELL).encode(items, CancelToken())
    asking = sorted(set(DATA.originals.tolist()))
    queries = encoder.prompted(ASK).encode([items[i] for i in asking], CancelToken())
    if transform == "center":
        mean = np.concatenate([documents, queries]).astype(np.float64).mean(axis=0)
        documents, queries = (np.float32(rows - mean) for rows in (documents, queries))
    originals = DATA.originals.tolist()
    asked = [queries[asking.index(original)] for original in originals]
    half = len(originals) // 2
    unrelated = [cosine(x, documents[y]) for x in asked[:half] for y in originals[half:]]
    cos_avg = math.fsum(unrelated) / len(unrelated)
    assert run.metrics["cos_avg"] == pytest.approx(cos_avg, abs=1e-6)
    for subset, rewrites in DATA.rewrites.items():
        cosines = [cosine(x, documents[y]) for x, y in zip(asked, rewrites.tolist(), strict=True)]
        normalized = (math.fsum(cosines) / len(cosines) - cos_avg) / (1 - cos_avg)
        assert run.metrics[subset] == pytest.approx(normalized, abs=1e-5)
        assert f"{subset}_low" not in run.metrics  # all originals share texts: one group says nothing of the mean
    rows = world.repository.items(ENTRY, [run.run_id], texts=True)
    for number in originals[:3]:
        found = cosines_to_all(run, number, world.settings, world.repository)
        assert len(found) == len(items)
        own = rows[rows["original_no"] == number]
        np.testing.assert_allclose(found[own["rewrite_no"].to_numpy()], own["cosine"], atol=1e-6)
