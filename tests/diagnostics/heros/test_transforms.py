"""HEROS's profile from transform to transform, and the command line's orderings, on small stored runs."""

from __future__ import annotations

import json
from collections.abc import Callable

import numpy as np
import pytest

from core import cli
from core import diagnostic as diagnostics
from core.datasets.published.minimal_pairs import minimal_pair_set
from core.diagnostics.heros import transforms as chain_profiles
from core.diagnostics.heros.orderings import Cosines
from core.runs import pipeline
from core.settings import Settings
from core.store.records import RunRecord
from core.store.repository import Repository
from core.transforms.chain import TransformChain
from tests.support.small_world import GramEncoder, register_dataset, register_encoder

ENTRY = diagnostics.find("heros")
ORIGINALS = ["the cat is big", "a small dog runs", "it rains here", "one more of them", "nobody came"]
REWRITES = {
    "paraphrase": ["the cat is large", "a little dog runs", "it pours here", "another of them", "no one came"],
    "opposite_1": ["the cat is not big", "a big dog runs", "it is dry here", "one fewer of them", "everybody came"],
    "formal": ["the cat's size is big", "a small canine runs", "it rains here", "a further one", "nobody arrived"],
}
Command = Callable[..., tuple[int, str, str]]


@pytest.fixture
def runs(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> dict[str, RunRecord]:
    """Per chain its run, `zscore` first."""
    monkeypatch.setenv("BLINDSPOT_CACHE", str(settings.cache))
    monkeypatch.setenv("BLINDSPOT_DEVICE", "cpu")
    register_encoder(monkeypatch, GramEncoder())
    register_dataset(monkeypatch, minimal_pair_set("own", ORIGINALS, REWRITES))
    repository = Repository.at(settings.store)
    out = {}
    for chain in ("zscore", "truncate:90", "center", "none"):
        request = pipeline.request("heros", "trigrams", chain, "own", {}, settings)
        out[chain] = pipeline.run(request, settings, repository).record
    return out


@pytest.fixture
def blindspot(capsys: pytest.CaptureFixture[str]) -> Command:
    def run(*arguments: str) -> tuple[int, str, str]:
        capsys.readouterr()
        code = cli.main(arguments)
        return code, *capsys.readouterr()

    return run


def table(run: RunRecord, settings: Settings) -> Cosines:
    return Cosines.of_rows(Repository.at(settings.store).items(ENTRY, [run.run_id], texts=False))


def test_chains_stand_in_the_pickers_order_the_newest_run_of_each(runs: dict[str, RunRecord]) -> None:
    newest_first = [runs["none"], runs["center"], runs["truncate:90"], runs["zscore"]]
    assert list(chain_profiles.newest_by_chain(newest_first)) == ["none", "center", "zscore", "truncate:90"]
    older = runs["center"]
    assert chain_profiles.newest_by_chain([runs["none"], older, older])["center"] is older
    assert chain_profiles.not_yet_run(["none", "center"]) == ["zscore", "abtt:2", "whiten"]
    assert chain_profiles.not_yet_run(["none", *chain_profiles.USUAL, "x"]) == []


def test_what_is_usual_can_be_run() -> None:
    for chain in chain_profiles.USUAL:
        assert str(TransformChain.parse(chain)) == chain


def test_a_chains_profile_is_what_its_run_stored(runs: dict[str, RunRecord], settings: Settings) -> None:
    for chain, run in runs.items():
        cosines = table(run, settings)
        profile = chain_profiles.chain_profile(run, cosines)
        assert profile.chain == chain
        assert dict(profile.means) == {subset: run.metrics[subset] for subset in REWRITES}
        assert profile.kept is not None
        assert str(profile.kept.ordering) == "paraphrase>opposite_1"
        first, second = (cosines.subsets.index(s) for s in ("paraphrase", "opposite_1"))
        leads = [row[first] - row[second] for row in cosines.values]
        halves = sum(1 if abs(lead) <= 1e-6 else 2 * (lead > 0) for lead in leads)
        assert profile.kept.value == pytest.approx(halves / 10)


def test_one_subset_has_no_ordering_to_follow(runs: dict[str, RunRecord], settings: Settings) -> None:
    alone = Cosines(("formal",), table(runs["none"], settings).of("formal")[:, None])
    assert chain_profiles.followed(["formal"]) is None
    assert chain_profiles.chain_profile(runs["none"], alone).kept is None


# --- the command line


def test_orderings_as_json(runs: dict[str, RunRecord], settings: Settings, blindspot: Command) -> None:
    run = runs["none"]
    code, out, err = blindspot("runs", "orderings", run.run_id[:8], "--json")
    assert (code, err) == (0, "")
    said = json.loads(out)
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
    code, out, err = blindspot("runs", "orderings", runs["none"].run_id)
    assert (code, err) == (0, "")
    assert "trigrams on own: share of 5 originals with this" in out
    assert "paraphrase>opposite_1" in out
    assert "pairs of subsets are listed" not in out


def test_heros_orderings_are_in_a_runs_metrics_too(
    settings: Settings, runs: dict[str, RunRecord], monkeypatch: pytest.MonkeyPatch, blindspot: Command
) -> None:
    texts = {s: [f"{t} {s}" for t in ORIGINALS] for s in ("synonym", "antonym", "my own")}
    register_dataset(monkeypatch, minimal_pair_set("some", ORIGINALS, texts))
    request = pipeline.request("heros", "trigrams", "none", "some", {}, settings)
    run = pipeline.run(request, settings, Repository.at(settings.store)).record
    (row,) = json.loads(blindspot("runs", "orderings", run.run_id, "--json")[1])["orderings"]
    assert row["ordering"] == "synonym>antonym"
    assert [row[k] for k in ("rate", "low", "high")] == [
        run.metrics[f"synonym>antonym{end}"] for end in ("", "_low", "_high")
    ]
    assert "1 of 3 pairs of subsets are listed" in blindspot("runs", "orderings", run.run_id)[1]


def test_what_is_no_run_of_the_diagnostic_is_refused(runs: dict[str, RunRecord], blindspot: Command) -> None:
    run_id = runs["none"].run_id
    code, out, err = blindspot("runs", "kinds", run_id)
    assert (code, out) == (2, "")
    assert err == f"error: run {run_id} is a done run of heros; expected a finished run of evalrank\n"
    code, out, err = blindspot("runs", "orderings", "zzz")
    assert (code, out) == (2, "")
    assert err.startswith("error: no runs have an id that begins with 'zzz'")
