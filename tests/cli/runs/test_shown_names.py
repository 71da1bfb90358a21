"""Names in tables of the command line: those of the store, as on the pages. JSON keeps references."""

from __future__ import annotations

import pytest

from blindspot.names import Kind
from blindspot.store.repository import Repository
from tests.support.commands import Command
from tests.support.small_world import SMALL_PAIRS, GramEncoder, register_dataset, register_encoder
from tests.support.store_samples import pair_set, store_run

ALIKE = ("dir:/x/one/m", "dir:/x/two/m")
SMALL = ("--encoder", "trigrams", "--dataset", "small-pairs")


def test_models_in_folders_of_one_name_are_told_apart(repository: Repository, blindspot: Command) -> None:
    for seed, encoder in enumerate(ALIKE):
        store_run(repository, f"{seed}{'0' * 15}", pair_set(), seed, encoder=encoder)
    for command in (["runs"], ["compare", *ALIKE]):
        out = blindspot.out(*command)
        assert "m (one)" in out, command
        assert "m (two)" in out, command
        assert "/x/" not in out, command
    assert {run["encoder"] for run in blindspot.json("runs")["runs"]} == set(ALIKE)
    assert "m (one)" not in str(blindspot.json("compare", *ALIKE)), "what scripts read does not depend on names"


@pytest.mark.parametrize("command", [("run", "evalrank"), ("sweep", "--diagnostic", "evalrank")])
def test_a_chosen_name_heads_the_tables_of_new_runs(
    repository: Repository, blindspot: Command, monkeypatch: pytest.MonkeyPatch, command: tuple[str, ...]
) -> None:
    register_encoder(monkeypatch, GramEncoder("trigrams", 3))
    register_dataset(monkeypatch, SMALL_PAIRS)
    repository.give_name(Kind.MODEL, "trigrams", "Letters in threes")
    assert "Letters in threes" in blindspot.out(*command, *SMALL)
    assert "Letters in threes" in blindspot.out("findings")
    assert [run["encoder"] for run in blindspot.json(*command, *SMALL)["runs"]] == ["trigrams"]
