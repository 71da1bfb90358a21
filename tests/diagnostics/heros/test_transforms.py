"""HEROS's profile under each transform, and the command line's orderings, on small stored runs."""

from __future__ import annotations

import numpy as np
import pytest

from blindspot.datasets.published.minimal_pairs import minimal_pair_set
from blindspot.diagnostics.heros import transforms
from blindspot.diagnostics.heros.definition import ENTRY
from blindspot.diagnostics.heros.orderings import Cosines
from blindspot.settings import Settings
from blindspot.store.records import RunRecord
from blindspot.store.repository import Repository
from blindspot.transforms.chain import TransformChain
from tests.support.commands import Command
from tests.support.heros_world import run_heros, run_small
from tests.support.small_world import register_dataset

ORIGINALS = ["the cat is big", "a small dog runs", "it rains here", "one more of them", "nobody came"]
REWRITES = {
    "paraphrase": ["the cat is large", "a little dog runs", "it pours here", "another of them", "no one came"],
    "opposite_1": ["the cat is not big", "a big dog runs", "it is dry here", "one fewer of them", "everybody came"],
    "formal": ["the cat's size is big", "a small canine runs", "it rains here", "a further one", "nobody arrived"],
}


@pytest.fixture
def runs(environment: Settings, encoders: tuple[str, str], monkeypatch: pytest.MonkeyPatch) -> dict[str, RunRecord]:
    """Per chain its run, `zscore` first."""
    register_dataset(monkeypatch, minimal_pair_set("own", ORIGINALS, REWRITES))
    chains = ("zscore", "truncate:90", "center", "none")
    return {chain: run_heros(environment, "trigrams", "own", chain) for chain in chains}


def table(run: RunRecord, settings: Settings) -> Cosines:
    repository = Repository.at(settings.store)
    rows = repository.items(ENTRY, [run.run_id], texts=False)
    return Cosines.of_rows(rows, repository.same_texts(run.plan.dataset_digest))


def test_the_newest_run_of_each_chain_in_the_order_of_the_pickers(runs: dict[str, RunRecord]) -> None:
    newest_first = [runs["none"], runs["center"], runs["truncate:90"], runs["zscore"]]
    assert list(transforms.newest_by_chain(newest_first)) == ["none", "center", "zscore", "truncate:90"]
    older = runs["center"]
    assert transforms.newest_by_chain([runs["none"], older, older])["center"] is older
    assert transforms.not_yet_run(["none", "center"]) == ["zscore", "abtt:2", "whiten"]
    assert transforms.not_yet_run([*transforms.USUAL, "x"]) == []
    assert [str(TransformChain.parse(chain)) for chain in transforms.USUAL] == list(transforms.USUAL)


def test_a_chains_profile_is_what_its_run_stored(runs: dict[str, RunRecord], settings: Settings) -> None:
    for chain, run in runs.items():
        cosines = table(run, settings)
        profile = transforms.chain_profile(run, cosines)
        assert profile.chain == chain
        assert dict(profile.means) == {subset: run.metrics[subset] for subset in REWRITES}
        assert profile.kept is not None
        assert str(profile.kept.ordering) == "paraphrase>opposite_1"
        leads = cosines.of("paraphrase") - cosines.of("opposite_1")
        halves = sum(1 if abs(lead) <= 1e-6 else 2 * (lead > 0) for lead in leads)
        assert profile.kept.share.value == pytest.approx(halves / 10)
    alone = Cosines(("formal",), table(runs["none"], settings).of("formal")[:, None])
    assert transforms.chain_profile(runs["none"], alone).kept is None, "one subset has no ordering"


# --- the command line


def test_orderings_as_json(runs: dict[str, RunRecord], settings: Settings, blindspot: Command) -> None:
    run = runs["none"]
    said = blindspot("runs", "orderings", run.run_id[:8], "--json").json
    assert (said["run_id"], said["dataset"], said["originals"]) == (run.run_id, "own", 5)
    assert [o["ordering"] for o in said["orderings"]] == [
        "paraphrase>opposite_1",
        "paraphrase>formal",
        "opposite_1>formal",
    ]
    subsets, matrix = said["matrix"]["subsets"], said["matrix"]["row_nearer_than_column"]
    assert subsets == list(REWRITES)
    assert [matrix[i][i] for i in range(3)] == [None] * 3
    cosines = table(run, settings)
    for o in said["orderings"]:
        assert o["low"] <= o["rate"] <= o["high"]
        i, j = subsets.index(o["near"]), subsets.index(o["far"])
        assert matrix[i][j] == pytest.approx(o["rate"])
        assert matrix[i][j] + matrix[j][i] == pytest.approx(1)
        assert o["rate"] == pytest.approx(
            sum(np.sign(np.round(cosines.values[:, i] - cosines.values[:, j], 5)) + 1) / 10
        )
    assert said["headline"]["ordering"] == "opposite_1>paraphrase"
    assert said["headline"]["rate"] == pytest.approx(matrix[1][0])
    assert said["headline"]["text"].count("trigrams") == 1


def test_orderings_as_tables(runs: dict[str, RunRecord], blindspot: Command) -> None:
    said = blindspot("runs", "orderings", runs["none"].run_id)
    assert (said.code, said.err) == (0, "")
    assert "trigrams on own: share of 5 originals with this" in said.out
    assert "paraphrase>opposite_1" in said.out
    assert "pairs of subsets" not in said.out


def test_heros_orderings_are_in_a_runs_metrics_too(
    environment: Settings, monkeypatch: pytest.MonkeyPatch, blindspot: Command
) -> None:
    texts = {s: [f"{t} {s}" for t in ORIGINALS] for s in ("synonym", "antonym", "my own")}
    run = run_small(monkeypatch, environment, "some", ORIGINALS, texts, "trigrams")["trigrams"]
    (row,) = blindspot("runs", "orderings", run.run_id, "--json").json["orderings"]
    assert row["ordering"] == "synonym>antonym"
    assert [row[k] for k in ("rate", "low", "high")] == [
        run.metrics[f"synonym>antonym{end}"] for end in ("", "_low", "_high")
    ]
    assert "1 of 3 pairs of subsets" in blindspot("runs", "orderings", run.run_id).out


def test_what_is_no_run_of_the_diagnostic_is_refused(runs: dict[str, RunRecord], blindspot: Command) -> None:
    run_id = runs["none"].run_id
    said = blindspot("runs", "kinds", run_id)
    assert said.code == 2
    assert said.error == f"run {run_id} is a done run of heros; expected a finished run of evalrank or retrieval"
    said = blindspot("runs", "orderings", "zzz")
    assert said.code == 2
    assert said.error.startswith("no runs have an id")
