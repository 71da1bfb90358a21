"""Training data of runs: EvalRank, HEROS and retrieval against loops over the vectors, and the command."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from scipy.spatial.distance import cdist

from blindspot.datasets import fetch
from blindspot.datasets.catalog import DatasetRef, find_dataset
from blindspot.datasets.kinds.minimal_pairs import MinimalPairSet
from blindspot.datasets.kinds.pairs import PairSet
from blindspot.datasets.kinds.retrieval import RELEVANT, RetrievalDataset
from blindspot.diagnostics.heros.training import all_triplets
from blindspot.errors import Cancelled, InputError
from blindspot.numerics.ranking.problem import TAU
from blindspot.runs.training_data.examples import triplets_of
from blindspot.runs.training_data.from_run import Wishes, make
from blindspot.runs.training_data.making import EVALUATED
from blindspot.runs.training_data.near_duplicates import near
from blindspot.texts import near_duplicate_key
from blindspot.types import CancelToken
from tests.support.commands import Command
from tests.support.small_world import GramEncoder
from tests.support.world import World


@pytest.fixture(scope="module")
def trained(module_world: World) -> World:
    module_world.add(GramEncoder())
    for diagnostic, dataset in (("heros", "demo-minimal"), ("evalrank", "demo-pairs"), ("retrieval", "demo-retrieval")):
        module_world.run(diagnostic, "trigrams", dataset)
    return module_world


@pytest.fixture(scope="module")
def settings(trained: World):  # type: ignore[no-untyped-def]
    return trained.settings


def loaded(world: World, dataset: str):  # type: ignore[no-untyped-def]
    return fetch.load(find_dataset(dataset), world.settings)


def unit(texts: tuple[str, ...]) -> np.ndarray:

    vectors = GramEncoder().encode(texts, CancelToken()).astype(np.float64)
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


@pytest.mark.parametrize("margin", [0.0, 0.1])
def test_heros(trained: World, margin: float) -> None:
    run = trained.run("heros", "trigrams", "demo-minimal")
    dataset = loaded(trained, "demo-minimal")
    assert isinstance(dataset, MinimalPairSet)
    vectors, expected = unit(dataset.items), {}
    for row, original in enumerate(dataset.originals):
        for kept in ("synonym", "typo"):
            for changed in ("antonym", "negation_main", "negation_antonym", "random_mlm"):
                near_, far = dataset.rewrites[kept][row], dataset.rewrites[changed][row]
                lead = float(vectors[original] @ vectors[near_] - vectors[original] @ vectors[far])
                if lead <= margin + TAU:
                    expected[dataset.items[original], dataset.items[near_], dataset.items[far], changed] = lead
    found = triplets_of(run, trained.settings, trained.repository, margin=margin)
    assert {(*one.texts, one.kind): one.lead for one in found} == pytest.approx(expected)
    assert len(list(all_triplets(dataset))) == 8 * len(dataset.originals)
    cancelled = CancelToken()
    cancelled.cancel()
    with pytest.raises(Cancelled):
        triplets_of(run, trained.settings, trained.repository, margin=margin, cancel=cancelled)


@pytest.mark.parametrize(("metric", "margin"), [("cos", 0.0), ("l2", 0.02)])
def test_evalrank(trained: World, metric: str, margin: float) -> None:
    run = trained.run("evalrank", "trigrams", "demo-pairs", metric=metric)
    dataset = loaded(trained, "demo-pairs")
    assert isinstance(dataset, PairSet)
    if metric == "cos":
        vectors = unit(dataset.items)
        similarity = vectors @ vectors.T
    else:
        vectors = GramEncoder().encode(dataset.items, CancelToken()).astype(np.float64)
        similarity = 1 / (1 + cdist(vectors, vectors))
    keys = [near_duplicate_key(text) for text in dataset.items]
    pairs = list(zip(dataset.queries.tolist(), dataset.matches.tolist(), strict=True))
    known = set(pairs)
    found: dict[tuple[str, str], list[float]] = {}
    for one in triplets_of(run, trained.settings, trained.repository, most=3, margin=margin):
        found.setdefault((one.anchor, one.positive), []).append(one.lead)
    for query, match in pairs[::4]:
        leads = sorted(
            similarity[query, match] - similarity[query, other]
            for other in range(len(dataset.items))
            if other != query and (query, other) not in known and keys[other] not in {keys[query], keys[match]}
        )
        expected = [lead for lead in leads if lead <= margin + TAU][:3]
        own = found.get((dataset.items[query], dataset.items[match]), [])
        assert own == pytest.approx(expected, abs=1e-6)


def test_retrieval(trained: World) -> None:
    run = trained.run("retrieval", "trigrams", "demo-retrieval")
    dataset = loaded(trained, "demo-retrieval")
    assert isinstance(dataset, RetrievalDataset)
    vectors, place = unit(dataset.items), {text: number for number, text in enumerate(dataset.items)}
    found: dict[str, list[tuple[str, str]]] = {}
    for one in triplets_of(run, trained.settings, trained.repository):
        found.setdefault(one.anchor, []).append((one.positive, one.negative))
    for number, query in enumerate(dataset.query_texts):
        documents, grades = dataset.judgments_of(number)
        relevant = {dataset.document_texts[d] for d, g in zip(documents, grades, strict=True) if g >= RELEVANT}
        score = {text: float(vectors[place[query]] @ vectors[place[text]]) for text in dataset.document_texts}
        best = max(score[text] for text in relevant)
        above = sorted((-s for text, s in score.items() if s > best + 1e-6 and text not in relevant))[:5]
        own = [-score[negative] for _, negative in found.get(query, [])]
        assert [s for s in own if -s > best + 1e-6] == pytest.approx(above, abs=1e-5)
        assert all(positive in relevant for positive, _ in found.get(query, []))


@pytest.mark.heavy
def test_texts_evaluated_on_are_left_out_but_not_the_source(trained: World) -> None:
    """The demo's pairs and its minimal pairs are the same sentences; an own file in disguise is another evaluation."""
    run = trained.run("heros", "trigrams", "demo-minimal")
    whole = make(run, Wishes(), trained.settings, trained.repository).data
    assert not whole.left_out.get(EVALUATED)
    planted = [one.anchor for one in (*whole.train[:5], *whole.held_out[:2])]
    path = trained.cache / "planted.csv"
    rows = [f'"{text.upper().replace(" ", "  ")}","something else {n}"' for n, text in enumerate(planted)]
    path.write_text("\n".join(["query,match", *rows]), "utf-8")
    wishes = Wishes(leave_out=(DatasetRef(f"file:{path}"),))
    clean = make(run, wishes, trained.settings, trained.repository).data
    assert clean.left_out[EVALUATED] >= len(planted)
    assert not any(
        near([text for part in (clean.train, clean.held_out) for one in part for text in one.texts], planted)
    )
    trained.run("evalrank", "trigrams", f"file:{path}")  # now it is an evaluation, without being named
    assert make(run, Wishes(), trained.settings, trained.repository).data == clean
    assert make(run, Wishes(allow=(DatasetRef(f"file:{path}"),)), trained.settings, trained.repository).data == whole


def test_other_runs_have_none(trained: World) -> None:
    run = trained.run("geometry", "trigrams", "demo-pairs")
    with pytest.raises(InputError, match="geometry"):
        triplets_of(run, trained.settings, trained.repository)


@pytest.mark.heavy
def test_command(trained: World, blindspot: Command, tmp_path: Path) -> None:
    run = trained.run("heros", "trigrams", "demo-minimal")
    out = tmp_path / "made"
    said = blindspot.json("training-data", run.run_id, "--output", str(out), "--kind", "antonym")
    lines = (out / "triplets" / "train.jsonl").read_text("utf-8").splitlines()
    assert len(lines) == said["train"]
    assert json.loads((out / "about.json").read_text("utf-8"))["run_id"] == run.run_id
    fresh = str(tmp_path / "b")
    for arguments in (
        ["--output", str(out)],
        ["--output", str(tmp_path / "no" / "folder")],
        ["--output", fresh, "--kind", "synonymous"],
        ["--output", fresh, "--leave-out", "nothing-here"],
        ["--output", fresh, "--negatives", "30"],
    ):
        assert blindspot.error("training-data", run.run_id, *arguments)
        assert not (tmp_path / "b").exists()
