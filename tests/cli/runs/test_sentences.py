"""``runs sentences``: its rows are those of a loop over what is stored."""

from __future__ import annotations

import pytest

from blindspot.datasets.published.minimal_pairs import minimal_pair_set
from blindspot.diagnostics.heros.definition import ENTRY
from blindspot.numerics.ranking.problem import TAU
from blindspot.settings import Settings
from blindspot.store.records import RunRecord
from blindspot.store.repository import Repository
from tests.support.commands import Command
from tests.support.small_world import SMALL_PAIRS, GramEncoder
from tests.support.world import World

ORIGINALS = [f"{name} has a large cat in town {i}." for i, name in enumerate(["Ann", "Bo", "Cy", "Di", "Ed", "Flo"])]
REWRITES = {
    "synonym": [o.replace("large", "enormous" if i % 2 else "large big") for i, o in enumerate(ORIGINALS)],
    "antonym": [o.replace("large", "largish") for o in ORIGINALS],
}
COMMAND = ("runs", "sentences")
RUNS = {"heros 3": ("heros", "3-grams", "mine"), "heros 1": ("heros", "1-grams", "mine")}
RUNS["evalrank 3"] = ("evalrank", "3-grams", SMALL_PAIRS.id)


@pytest.fixture(scope="module")
def runs(module_world: World) -> dict[str, RunRecord]:
    grams = (GramEncoder(f"{size}-grams", size) for size in (1, 3))
    module_world.add(minimal_pair_set("mine", ORIGINALS, REWRITES), SMALL_PAIRS, *grams)
    return {name: module_world.run(*asked) for name, asked in RUNS.items()}


@pytest.fixture
def settings(module_world: World) -> Settings:
    return module_world.settings


def stored(run: RunRecord, repository: Repository, name: str) -> dict[tuple[int, str], float]:
    rows = repository.items(ENTRY, [run.run_id], texts=True)
    return {(r["item_no"], r["subset"]): r[name] for r in rows.to_dict("records")}


def test_originals_whose_order_is_wrong_come_by_how_wrong(
    runs: dict[str, RunRecord], repository: Repository, blindspot: Command
) -> None:
    run_id = runs["heros 3"].run_id
    cosine, similarity = (stored(runs["heros 3"], repository, name) for name in ("cosine", "similarity"))
    expected = [n for n in range(6) if cosine[n, "synonym"] - cosine[n, "antonym"] > TAU]
    expected.sort(key=lambda n: similarity[n, "antonym"] - similarity[n, "synonym"])
    assert 0 < len(expected) < 6
    wrong = ("--nearer", "synonym", "--than", "antonym")
    found = blindspot.json(*COMMAND, run_id[:6], *wrong, "--top", "2")
    assert (found["run_id"], found["against"], found["dataset"]) == (run_id, None, "mine")
    assert (found["nearer"], found["than"]) == ("synonym", "antonym")
    assert (found["originals"], found["found"]) == (6, len(expected))
    assert [s["item_no"] for s in found["sentences"]] == expected[:2]
    for sentence in found["sentences"]:
        assert sentence["original"] == ORIGINALS[sentence["item_no"]]
        for subset, rewrite in sentence["rewrites"].items():
            assert rewrite == {
                "text": REWRITES[subset][sentence["item_no"]],
                "similarity": similarity[sentence["item_no"], subset],
            }
    out = blindspot.out(*COMMAND, run_id, *wrong, "--top", "1")
    assert f"{len(expected)} of 6 originals ({len(expected) / 6:.1%}): synonym above antonym in 3-grams" in out
    assert ORIGINALS[expected[0]] in out


def test_two_runs_are_laid_side_by_side_by_their_disagreement(
    runs: dict[str, RunRecord], repository: Repository, blindspot: Command
) -> None:
    ids = [runs[f"heros {size}"].run_id for size in (3, 1)]
    one, other = (stored(runs[f"heros {size}"], repository, "similarity") for size in (3, 1))
    sizes = {n: {s: abs(one[n, s] - other[n, s]) for s in REWRITES} for n in range(6)}
    found = blindspot.json(*COMMAND, ids[0], "--against", ids[1])
    assert found["against"] == ids[1]
    order = sorted(range(6), key=lambda n: -max(sizes[n].values()))
    assert [s["item_no"] for s in found["sentences"]] == order
    for sentence in found["sentences"]:
        n = sentence["item_no"]
        assert sentence["largest_difference"] == max(sizes[n].values())
        assert sizes[n][sentence["differs_most_in"]] == max(sizes[n].values())
        assert sentence["rewrites"]["antonym"]["similarity_against"] == other[n, "antonym"]
    cosines = [stored(runs[f"heros {size}"], repository, "cosine") for size in (3, 1)]
    only = [
        n
        for n in range(6)
        if cosines[0][n, "synonym"] - cosines[0][n, "antonym"] > TAU
        and not cosines[1][n, "synonym"] - cosines[1][n, "antonym"] > TAU
    ]
    out = blindspot.out(*COMMAND, ids[0], "--against", ids[1], "--nearer", "synonym", "--than", "antonym")
    assert f"{len(only)} of 6 originals ({len(only) / 6:.1%}): synonym above antonym in 3-grams, not in 1-grams" in out


def test_all_originals_come_in_the_order_of_the_dataset(
    runs: dict[str, RunRecord], repository: Repository, blindspot: Command
) -> None:
    out = blindspot.out(*COMMAND, runs["heros 3"].run_id, "--top", "4")
    assert out.startswith("6 originals\n")
    assert [original in out for original in ORIGINALS] == [True] * 4 + [False] * 2
    assert "4 of 6; --top N" in out


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("heros 3", "--nearer", "antonym"), "--nearer and --than need each other"),
        (("heros 3", "--nearer", "antonm", "--than", "synonym"), "did you mean 'antonym'?"),
        (("heros 3", "--nearer", "antonym", "--than", "antonym"), "two different subsets"),
        (("evalrank 3",), "expected a finished run of heros"),
        (("heros 3", "--against", "heros 3"), "expected two different runs"),
        (("heros 3", "--against", "evalrank 3"), "expected two runs of one diagnostic"),
    ],
)
def test_what_cannot_be_is_said_in_a_line(
    runs: dict[str, RunRecord], blindspot: Command, arguments: tuple[str, ...], said: str
) -> None:
    ids = {name: run.run_id for name, run in runs.items()}
    assert said in blindspot.error(*COMMAND, *(ids.get(argument, argument) for argument in arguments))
