"""Transforms that keep queries as they are: what runs rank is each query's float vector against documents' codes."""

from __future__ import annotations

import numpy as np
import pytest

from blindspot.diagnostics.evalrank.definition import ENTRY
from blindspot.diagnostics.evalrank.pairs import around_match, rows_of_runs
from blindspot.errors import InputError
from blindspot.runs import sweeps
from blindspot.runs.embeddings import ComparedTwice, embedded_of, vectors_of
from blindspot.types import Float64
from tests.support.evalrank_reference import cosine
from tests.support.small_world import SMALL_PAIRS, GramEncoder
from tests.support.world import World


def signs(rows: Float64) -> Float64:
    return np.array([[1.0 if value > 0 else -1.0 for value in row] for row in rows])


def decoded(rows: Float64, fitted_on: Float64) -> Float64:
    out = np.zeros_like(rows)
    for j in range(rows.shape[1]):
        low, high = np.float32(min(fitted_on[:, j])), np.float32(max(fitted_on[:, j]))
        width = (high - low) / np.float32(255) or np.float32(1)
        for i in range(len(rows)):
            out[i, j] = np.floor((np.float32(rows[i, j]) - low) / width) * float(width) + float(low)
    return out


@pytest.mark.parametrize("step", ["int8-docs", "binary-docs"])
def test_queries_are_compared_with_codes(world: World, step: str) -> None:
    world.add(SMALL_PAIRS, GramEncoder())
    run = world.run("evalrank", f"trigrams~center+{step}", SMALL_PAIRS.id)
    matrix = embedded_of(run, world.settings).matrix
    queries = (matrix - matrix.astype(np.float64).mean(axis=0).astype(np.float32)).astype(np.float64)
    documents = signs(queries) if step == "binary-docs" else decoded(queries, queries)
    rows = rows_of_runs(ENTRY, [run.run_id], world.repository)[run.run_id]
    found = rows.raw.similarity.tolist()
    pairs = list(zip(SMALL_PAIRS.queries.tolist(), SMALL_PAIRS.matches.tolist(), strict=True))
    assert found == pytest.approx([cosine(queries[q], documents[m].tolist()) for q, m in pairs], abs=1e-5)
    of_run = vectors_of(run, world.settings, world.repository)
    places = of_run.places_of_queries(np.array([q for q, _ in pairs]))
    np.testing.assert_allclose(of_run.vectors[places], queries[[q for q, _ in pairs]], atol=1e-6)
    np.testing.assert_allclose(of_run.of_items, documents, atol=1e-5)


def test_a_diagnostic_of_texts_of_one_kind_refuses_them_in_one_line(world: World) -> None:
    world.add(SMALL_PAIRS, GramEncoder())
    with pytest.raises(InputError, match="queries otherwise than"):
        world.request("geometry", "trigrams~int8-docs", SMALL_PAIRS.id)
    sweep = sweeps.Sweep(("trigrams",), ("none", "int8-docs"), (SMALL_PAIRS.id,), ("geometry",))
    with pytest.raises(InputError, match="queries otherwise than"):
        sweeps.expand(sweep, world.settings)


@pytest.mark.parametrize("depth", [1, 2, 100])
def test_the_best_are_compared_again_with_what_the_codes_were_made_of(world: World, depth: int) -> None:
    world.add(SMALL_PAIRS, GramEncoder())
    run = world.run("evalrank", f"trigrams~center+binary+rescore:{depth}", SMALL_PAIRS.id)
    matrix = embedded_of(run, world.settings).matrix
    floats = (matrix - matrix.astype(np.float64).mean(axis=0).astype(np.float32)).astype(np.float64)
    bits = signs(floats)
    n = len(matrix)
    rows = rows_of_runs(ENTRY, [run.run_id], world.repository)[run.run_id].raw
    for pair, (q, m) in enumerate(zip(SMALL_PAIRS.queries.tolist(), SMALL_PAIRS.matches.tolist(), strict=True)):
        others = [i for i in range(n) if i != q]
        coarse = {i: cosine(bits[q], bits[i].tolist()) for i in others}
        last = sorted(coarse.values(), reverse=True)[min(depth, len(others)) - 1]
        place = {
            i: (1, cosine(floats[q], floats[i].tolist())) if coarse[i] >= last - 1e-6 else (0, coarse[i])
            for i in others
        }
        if q == m:  # no candidate of its own, and the first
            place[m] = (1, cosine(floats[q], floats[m].tolist()))
        above = sum(a > place[m][0] or (a == place[m][0] and b > place[m][1] + 1e-6) for a, b in place.values())
        assert rows.greater[pair] == above
        assert rows.similarity[pair] == pytest.approx(place[m][1], abs=1e-5)
        shown = around_match(run, q, m, world.settings, world.repository)
        (own,) = (item for item in shown if item.item_no == m)
        assert own.position == above + 1
        assert own.similarity == pytest.approx(place[m][1], abs=1e-5)
    if depth == 100:
        once = world.run("evalrank", "trigrams~center", SMALL_PAIRS.id).metrics
        assert {name: run.metrics[name] for name in once} == pytest.approx(once)
    with pytest.raises(ComparedTwice):
        vectors_of(run, world.settings, world.repository)


def test_rescoring_is_refused_in_one_line_where_nothing_is_ranked(world: World) -> None:
    world.add(SMALL_PAIRS, GramEncoder())
    for diagnostic, params, said in (("geometry", {}, "ranks nothing"), ("evalrank", {"protocol": "toolkit"}, "once")):
        with pytest.raises(InputError, match=said) as caught:
            world.request(diagnostic, "trigrams~binary+rescore:5", SMALL_PAIRS.id, **params)
        assert "\n" not in str(caught.value)
    with pytest.raises(InputError, match="a fusion compares once"):
        world.request("retrieval", "fuse:trigrams~binary%2Brescore:5+bm25", "demo-retrieval")


def test_symmetric_codes_are_ordinary_transforms(world: World) -> None:
    """Manifests say what was fitted."""
    world.add(SMALL_PAIRS, GramEncoder())
    held = world.run("geometry", "trigrams~int8", SMALL_PAIRS.id)
    (step,) = held.manifest["transform"]["steps"]
    assert step["step"] == "int8"
    assert step["d_out"] == step["d_in"]
    assert step["widest_range"] > 0
