"""``runs sentences``: its rows are those of a loop over what is stored."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator

import pytest

from core import cli
from core.datasets.published.minimal_pairs import minimal_pair_set
from core.diagnostics.heros.definition import ENTRY
from core.numerics.ranking.problem import TAU
from core.runs import pipeline
from core.settings import Settings
from core.store.records import RunRecord
from core.store.repository import Repository
from tests.conftest import make_settings
from tests.support.small_world import SMALL_PAIRS, GramEncoder, register_dataset, register_encoder

ORIGINALS = [f"{name} has a large cat in town {i}." for i, name in enumerate(["Ann", "Bo", "Cy", "Di", "Ed", "Flo"])]
REWRITES = {
    "synonym": [o.replace("large", "enormous" if i % 2 else "large big") for i, o in enumerate(ORIGINALS)],
    "antonym": [o.replace("large", "largish") for o in ORIGINALS],
}
World = tuple[Settings, dict[str, RunRecord], Repository]
Command = Callable[..., tuple[int, str, str]]


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    with pytest.MonkeyPatch.context() as patch:
        register_dataset(patch, minimal_pair_set("mine", ORIGINALS, REWRITES))
        register_dataset(patch, SMALL_PAIRS)
        settings = make_settings(tmp_path_factory.mktemp("cli") / "cache")
        repository = Repository.at(settings.store)
        runs = {}
        for size, diagnostic, dataset in ((3, "heros", "mine"), (1, "heros", "mine"), (3, "evalrank", SMALL_PAIRS.id)):
            name = register_encoder(patch, GramEncoder(f"{size}-grams", size)).reference
            request = pipeline.request(diagnostic, name, "none", dataset, {}, settings)
            runs[f"{diagnostic} {size}"] = pipeline.run(request, settings, repository).record
        yield settings, runs, repository
        repository.database.close()


@pytest.fixture
def blindspot(world: World, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Command:
    monkeypatch.setenv("BLINDSPOT_CACHE", str(world[0].cache))
    monkeypatch.setenv("BLINDSPOT_DEVICE", "cpu")

    def run(*arguments: str) -> tuple[int, str, str]:
        capsys.readouterr()
        code = cli.main(["runs", "sentences", *arguments])
        return code, *capsys.readouterr()

    return run


def stored(world: World, run: str, name: str) -> dict[tuple[int, str], float]:
    rows = world[2].items(ENTRY, [world[1][run].run_id], texts=True)
    return {(r["item_no"], r["subset"]): r[name] for r in rows.to_dict("records")}


def test_originals_whose_order_is_wrong_come_by_how_wrong(world: World, blindspot: Command) -> None:
    run_id = world[1]["heros 3"].run_id
    cosine, similarity = (stored(world, "heros 3", name) for name in ("cosine", "similarity"))
    expected = [n for n in range(6) if cosine[n, "synonym"] - cosine[n, "antonym"] > TAU]
    expected.sort(key=lambda n: similarity[n, "antonym"] - similarity[n, "synonym"])
    assert 0 < len(expected) < 6
    code, out, err = blindspot(run_id[:6], "--nearer", "synonym", "--than", "antonym", "--top", "2", "--json")
    assert (code, err) == (0, "")
    found = json.loads(out)
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
    code, out, _ = blindspot(run_id, "--nearer", "synonym", "--than", "antonym", "--top", "1")
    assert code == 0
    assert f"{len(expected)} of 6 originals ({len(expected) / 6:.1%}): synonym above antonym in 3-grams" in out
    assert ORIGINALS[expected[0]] in out


def test_two_runs_are_laid_side_by_side_by_their_disagreement(world: World, blindspot: Command) -> None:
    ids = [world[1][f"heros {size}"].run_id for size in (3, 1)]
    one, other = (stored(world, f"heros {size}", "similarity") for size in (3, 1))
    sizes = {n: {s: abs(one[n, s] - other[n, s]) for s in REWRITES} for n in range(6)}
    code, out, _ = blindspot(ids[0], "--against", ids[1], "--json")
    assert code == 0
    found = json.loads(out)
    assert found["against"] == ids[1]
    order = sorted(range(6), key=lambda n: -max(sizes[n].values()))
    assert [s["item_no"] for s in found["sentences"]] == order
    for sentence in found["sentences"]:
        n = sentence["item_no"]
        assert sentence["largest_difference"] == max(sizes[n].values())
        assert sizes[n][sentence["differs_most_in"]] == max(sizes[n].values())
        assert sentence["rewrites"]["antonym"]["similarity_against"] == other[n, "antonym"]
    cosines = [stored(world, f"heros {size}", "cosine") for size in (3, 1)]
    only = [
        n
        for n in range(6)
        if cosines[0][n, "synonym"] - cosines[0][n, "antonym"] > TAU
        and not cosines[1][n, "synonym"] - cosines[1][n, "antonym"] > TAU
    ]
    code, out, _ = blindspot(ids[0], "--against", ids[1], "--nearer", "synonym", "--than", "antonym")
    assert code == 0
    assert f"{len(only)} of 6 originals ({len(only) / 6:.1%}): synonym above antonym in 3-grams, not in 1-grams" in out


def test_all_originals_come_in_the_order_of_the_dataset(world: World, blindspot: Command) -> None:
    code, out, _ = blindspot(world[1]["heros 3"].run_id, "--top", "4")
    assert code == 0
    assert out.startswith("6 originals\n")
    assert [original in out for original in ORIGINALS] == [True] * 4 + [False] * 2
    assert "The first 4 of 6; --top N prints more." in out


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
    world: World, blindspot: Command, arguments: tuple[str, ...], said: str
) -> None:
    ids = {name: run.run_id for name, run in world[1].items()}
    code, out, err = blindspot(*(ids.get(argument, argument) for argument in arguments))
    assert (code, out) == (2, "")
    assert said in err
    assert err.count("\n") == 1
