"""HEROS from dataset to stored result: pipeline, store and command line, on the built-in sentences and small ones."""

from __future__ import annotations

import csv
import math
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from pyarrow import parquet
from statsmodels.stats.contingency_tables import mcnemar as statsmodels_mcnemar
from statsmodels.stats.multitest import multipletests

from blindspot.datasets import fetch
from blindspot.datasets.catalog import find_dataset
from blindspot.datasets.kinds.minimal_pairs import MinimalPairSet
from blindspot.datasets.published.minimal_pairs import SUBSETS, minimal_pair_set
from blindspot.diagnostics.heros.definition import ENTRY, ORDERINGS
from blindspot.encoders.cache import EmbeddingCache
from blindspot.errors import InputError
from blindspot.runs import pipeline, requesting
from blindspot.runs.comparison import entry_of_both
from blindspot.settings import Settings
from blindspot.store.records import RunState
from blindspot.store.repository import Repository
from tests.support.commands import Command
from tests.support.heros_world import run_heros
from tests.support.small_world import SMALL_PAIRS, register_dataset

DEMO = ("run", "heros", "--encoder", "minilm", "--dataset", "demo-minimal", "--transform", "none")
ORIGINALS = ["the cat is big", 'a "small" dog,\nruns', "it rains", "one more"]
OWN = minimal_pair_set(
    "own",
    ORIGINALS,
    {
        "synonym": ["the cat is large", 'a "little" dog,\nruns', "it pours", "one more"],
        "typo": ["the cat is bgi", "x", "it rians", "oen"],
    },
)


@pytest.fixture
def own(monkeypatch: pytest.MonkeyPatch, environment: Settings, encoders: tuple[str, str]) -> MinimalPairSet:
    return register_dataset(monkeypatch, OWN)


# --- the built-in sentences


def test_minilm_on_the_built_in_sentences(encoded: Settings, blindspot: Command) -> None:
    """The scores are those of a loop over the stored embeddings, which EvalRank's demo has made already."""
    (run,) = blindspot(*DEMO, "--json").json["runs"]
    assert run["manifest"]["embeddings"]["encoded_now"] == 0
    assert run["coverage"] == {"pairs": 1200, "pairs_covered": 1200, "items": 1400, "items_covered": 1400}
    without_paraphrase = {m.name for m in ENTRY.metrics if not m.name.startswith("accuracy")}
    assert set(run["metrics"]) == without_paraphrase

    dataset = fetch.load(find_dataset("demo-minimal"), encoded)
    embedded = EmbeddingCache(encoded.embeddings).read(run["manifest"]["embeddings"]["digest"])
    rows = np.asarray(embedded.matrix, dtype=np.float64)
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    first, second = dataset.originals[:100], dataset.originals[100:]
    cos_avg = math.fsum(float(rows[i] @ rows[j]) for i in first for j in second) / 10_000
    assert run["metrics"]["cos_avg"] == pytest.approx(cos_avg, abs=1e-12)
    for subset in SUBSETS:
        pairs = zip(dataset.originals, dataset.rewrites[subset], strict=True)
        expected = math.fsum((float(rows[i] @ rows[j]) - cos_avg) / (1 - cos_avg) for i, j in pairs) / 200
        assert run["metrics"][subset] == pytest.approx(expected, abs=1e-12)
        assert run["metrics"][f"{subset}_low"] < expected < run["metrics"][f"{subset}_high"]
    assert run["metrics"]["synonym"] > run["metrics"]["random_mlm"]
    assert run["manifest"]["seeds"] == {}

    blindspot("run", "evalrank", "--encoder", "minilm", "--dataset", "demo-pairs", "--json")
    said = blindspot(*DEMO)
    assert said.code == 0
    assert said.out.splitlines()[0].strip() == "HEROS"
    cells = dict(re.findall(r"│ (\S+) +│ (\S+) +│", said.out))
    assert set(cells) == set(run["metrics"])
    assert cells["originals"] == "200"
    assert cells["synonym"] == f"{run['metrics']['synonym']:.3f}"
    assert f"run {run['run_id']}: found in the store\n" in said.out
    listed = blindspot("runs").out
    assert f"synonym>antonym {run['metrics']['synonym>antonym']:.3f}" in listed
    assert "mrr 0." in listed
    of_heros = blindspot("runs", "--diagnostic", "heros", "--json").json["runs"]
    assert [r["run_id"] for r in of_heros] == [run["run_id"]]


# --- what is refused


@pytest.mark.parametrize(
    ("arguments", "parts"),
    [
        ([*DEMO, "--metric", "cos"], ["heros has no parameters, but 'metric' is given", "leave metric out"]),
        ([*DEMO, "--protocol", "toolkit"], ["'protocol' is given"]),
        (
            ["run", "heros", "--encoder", "minilm", "--dataset", "demo-pairs"],
            ["heros does not run on 'demo-pairs', a pair set", "expected a minimal-pair set"],
        ),
        (
            ["run", "evalrank", "--encoder", "minilm", "--dataset", "demo-minimal"],
            ["evalrank does not run on 'demo-minimal', a minimal-pair set", "expected a pair set"],
        ),
    ],
)
def test_what_does_not_go_together(
    environment: Settings, blindspot: Command, arguments: list[str], parts: list[str]
) -> None:
    said = blindspot(*arguments)
    assert said.code == 2
    for part in parts:
        assert part in said.error
    assert not environment.store.exists()


def test_an_encoder_that_lacks_texts_is_refused_with_counts(
    own: MinimalPairSet, environment: Settings, tmp_path: Path
) -> None:
    path, words = tmp_path / "vectors.txt", "the cat is big large it rains one more".split()
    path.write_text("".join(f"{w} {i}.5 1.0 0.25\n" for i, w in enumerate(words)))
    covered = sum(any(w in text.split() for w in words) for text in own.items)
    assert covered < len(own.items)
    with pytest.raises(InputError, match=f"has a vector for {covered} of the {len(own.items)} texts of 'own'"):
        run_heros(environment, f"vectors:{path}", own.id)
    assert Repository.at(environment.store).runs() == []


def test_a_partial_encoder_that_covers_all_is_computed_and_needs_no_coverage_of_others(
    own: MinimalPairSet, environment: Settings, tmp_path: Path
) -> None:
    words = sorted({word for text in own.items for word in text.split()})
    rng = np.random.default_rng(0)
    references = []
    for name in ("one", "two"):
        lines = [f"{w} {' '.join(f'{x:.3f}' for x in rng.standard_normal(3))}\n" for w in words]
        (tmp_path / f"{name}.txt").write_text("".join(lines))
        references.append(f"vectors:{tmp_path / name}.txt")
    request = requesting.request("heros", references[0], "none", own.id, {}, environment, references)
    assert request.covered_by == ()
    record = pipeline.run(request, environment, Repository.at(environment.store)).record
    assert record.plan.own_covered
    assert record.plan.covered_digest == ""
    assert record.metrics["originals"] == 4


# --- the store


def test_rows_and_texts_are_stored_and_exported(
    own: MinimalPairSet, environment: Settings, blindspot: Command, tmp_path: Path
) -> None:
    first, second = (run_heros(environment, encoder, own.id) for encoder in ("trigrams", "bigrams"))
    repository = Repository.at(environment.store)
    frame = repository.items(ENTRY, [second.run_id, first.run_id], texts=True)
    one = frame[frame.run_id == first.run_id]
    assert one.item_no.tolist() == [0, 0, 1, 1, 2, 2, 3, 3]
    assert one.subset.tolist() == ["synonym", "typo"] * 4  # in the dataset's order
    assert one.original.tolist() == [t for t in ORIGINALS for _ in range(2)]
    assert one.rewrite.tolist() == [own.items[own.rewrites[s][i]] for i in range(4) for s in own.subsets]
    assert one.original_no.tolist() == [int(own.originals[i]) for i in one.item_no]
    for subset in own.subsets:
        assert one[one.subset == subset].similarity.mean() == pytest.approx(first.metrics[subset])
    assert len(frame) == 16
    bare = repository.items(ENTRY, [first.run_id], texts=False)
    assert list(bare.columns) == ["run_id", "item_no", "original_no", "rewrite_no", "subset", "cosine", "similarity"]
    for name in ("cosine", "original_no", "rewrite_no"):
        assert bare[name].tolist() == one[name].tolist()

    said = blindspot("export", first.run_id, "--output", str(tmp_path / "rows.csv"))
    assert (said.code, said.out) == (0, f"8 rows written to {tmp_path / 'rows.csv'}\n")
    with (tmp_path / "rows.csv").open(encoding="utf-8", newline="") as f:
        rows = list(csv.DictReader(f))
    assert list(rows[0]) == "run_id item_no original_no rewrite_no original rewrite subset cosine similarity".split()
    assert [(r["original"], r["rewrite"], float(r["similarity"])) for r in rows] == list(
        zip(one.original, one.rewrite, one.similarity, strict=True)
    )
    blindspot("export", first.run_id, "--output", str(tmp_path / "rows.parquet"))
    assert parquet.read_table(tmp_path / "rows.parquet").num_rows == 8

    rows_of = {"dataset": 1, "dataset_text": 11, "dataset_pair": 0, "dataset_minimal_pair": 8, "result_heros_v5": 16}
    with repository.database.cursor() as connection:
        count = {t: connection.execute(f"SELECT count(*) FROM {t}").fetchone()[0] for t in rows_of}
        assert count == rows_of
        assert connection.execute("SELECT kind FROM dataset").fetchall() == [("minimal-pair set",)]
    assert blindspot("runs", "delete", first.run_id).code == 0
    assert repository.items(ENTRY, [first.run_id], texts=True).empty
    assert len(repository.items(ENTRY, [second.run_id], texts=True)) == 8


def test_a_stored_run_can_be_asked_for_again(own: MinimalPairSet, environment: Settings) -> None:
    record = run_heros(environment, "trigrams", own.id, "center")
    request = requesting.request("heros", "trigrams", "center", own.id, {}, environment)
    assert requesting.request_of(record, environment) == request
    assert record.manifest["transform"]["fitted_on"] == f"{len(own.items)} items of {request.dataset}"
    assert record.manifest["params"] == {}


# --- two runs


@pytest.mark.heavy
def test_two_poolings_of_minilm_compared(encoded: Settings, blindspot: Command) -> None:
    """Against loops over the stored cosines, and statsmodels."""
    one, other = (run_heros(encoded, encoder, "demo-minimal") for encoder in ("minilm", "minilm-cls"))
    said = blindspot("runs", "compare", one.run_id[:6], other.run_id, "--json").json
    assert (said["diagnostic"], said["dataset"]) == ("heros", "demo-minimal")
    assert said["a"] == {"run_id": one.run_id, "encoder": "minilm", "transform": "none"}
    assert said["b"]["run_id"] == other.run_id
    assert [row["score"] for row in said["scores"]] == [f"{a}>{b}" for a, b in ORDERINGS]

    rows = Repository.at(encoded.store).items(ENTRY, [one.run_id, other.run_id], texts=False)
    cosines = {(r.run_id, r.item_no, r.subset): r.cosine for r in rows.itertuples()}
    for row in said["scores"]:
        near, far = row["score"].split(">")
        first, second, alike, halves = 0, 0, 0, 0
        for i in range(200):
            leads = [cosines[run.run_id, i, near] - cosines[run.run_id, i, far] for run in (one, other)]
            held, other_held = (1 if abs(lead) <= 1e-6 else 2 * (lead > 0) for lead in leads)  # in halves
            first, second = first + (held > other_held), second + (held < other_held)
            alike, halves = alike + (held == other_held), halves + held - other_held
        assert (row["wins"], row["losses"], row["alike"]) == (first, second, alike)
        expected = statsmodels_mcnemar([[alike, first], [second, 0]], exact=True).pvalue
        assert row["p"] == pytest.approx(expected, rel=1e-9)
        assert row["difference"] == pytest.approx(halves / 400)
        assert row["a"] == one.metrics[row["score"]]
        assert row["b"] == other.metrics[row["score"]]
    corrected = multipletests([row["p"] for row in said["scores"]], method="holm")[1]
    assert [row["p_corrected"] for row in said["scores"]] == pytest.approx(list(corrected), rel=1e-9)
    apart = {row["verdict"] for row in said["scores"] if row["p_corrected"] < 0.05}
    assert apart
    assert apart <= {"better", "worse", "higher", "lower"}
    neither = [row["score"] for row in said["scores"] if row["higher_is_better"] is None]
    assert neither == ["synonym>typo"], "both keep the meaning"
    out = blindspot("runs", "compare", one.run_id, other.run_id).out
    assert out.startswith("HEROS on demo-minimal: A is minilm, B is minilm-cls")
    assert out.endswith("\n".join(said["said"]) + "\n")


@pytest.mark.parametrize(
    ("subsets", "orderings"),
    [(("synonym", "typo"), ["synonym>typo"]), (("antonym", "typo"), ["typo>antonym"]), (("of my own",), [])],
)
@pytest.mark.usefixtures("encoders")
def test_with_some_of_the_subsets_only(
    environment: Settings,
    blindspot: Command,
    monkeypatch: pytest.MonkeyPatch,
    subsets: tuple[str, ...],
    orderings: list[str],
) -> None:
    texts = {subset: [f"{text} {subset}" for text in ORIGINALS] for subset in subsets}
    register_dataset(monkeypatch, minimal_pair_set("some", ORIGINALS, texts))
    one, other = (run_heros(environment, encoder, "some") for encoder in ("trigrams", "bigrams"))
    if not orderings:
        assert (
            "no score that says which model is better" in blindspot("runs", "compare", one.run_id, other.run_id).error
        )
        return
    said = blindspot("runs", "compare", one.run_id, other.run_id, "--json").json
    assert [row["score"] for row in said["scores"]] == orderings


def test_what_cannot_be_compared(
    own: MinimalPairSet, environment: Settings, blindspot: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    register_dataset(monkeypatch, SMALL_PAIRS)
    encoders = ("trigrams", "bigrams")
    one, other = (run_heros(environment, encoder, own.id) for encoder in encoders)
    ranked = [run_heros(environment, encoder, SMALL_PAIRS.id, diagnostic="evalrank") for encoder in encoders]
    changed = minimal_pair_set(own.id, ORIGINALS[:3], {"synonym": ["a", "b", "c"], "typo": ["d", "e", "f"]})
    register_dataset(monkeypatch, changed)
    after = run_heros(environment, "bigrams", own.id)
    register_dataset(monkeypatch, minimal_pair_set("another", ORIGINALS[:2], {"synonym": ["x", "y"]}))
    elsewhere = run_heros(environment, "bigrams", "another")
    for first, second, part in [
        (one, one, f"both runs are {one.run_id}; expected two different runs"),
        (one, ranked[0], f"run {one.run_id} is of heros, run {ranked[0].run_id} of evalrank"),
        (one, after, f"run {one.run_id} is on 'own', run {after.run_id} on 'own' as it was at another time"),
        (one, elsewhere, f"run {one.run_id} is on 'own', run {elsewhere.run_id} on 'another'; expected two runs over"),
    ]:
        said = blindspot("runs", "compare", first.run_id, second.run_id)
        assert said.code == 2
        assert said.error.startswith(part)
    older = replace(other, plan=replace(other.plan, diagnostic_version=1))
    with pytest.raises(InputError, match="was computed by version 1 of heros; expected version 5; run it again"):
        entry_of_both(one, older)
    with pytest.raises(InputError, match=f"run {other.run_id} is interrupted; expected two finished runs"):
        entry_of_both(one, replace(other, state=RunState.INTERRUPTED))
