"""Own columns of a file of labeled texts: the examples of one value, and both models' scores on them."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from blindspot.diagnostics.transfer.definition import ENTRY
from blindspot.diagnostics.transfer.outcomes import outcomes
from tests.support.pages import OpenApp, table
from tests.support.small_world import GramEncoder
from tests.support.world import World

PRODUCTS = ("", "scanner", "<b>printer</b>")


@pytest.fixture(scope="module")
def asked(module_world: World, tmp_path_factory: pytest.TempPathFactory) -> tuple[World, str]:
    """Runs on a file with the column product."""
    path: Path = tmp_path_factory.mktemp("own") / "desk.csv"
    with path.open("w", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(["text", "class", "product"])
        for i in range(90):
            text = f"{['paper jam', 'login fails'][i % 2]} {i * 7919} {'jam fails' if i % 5 == 0 else ''}"
            rows.writerow([text, ["paper", "login"][i % 2], PRODUCTS[i % 3]])
    module_world.add(GramEncoder(), GramEncoder("bigrams", size=2))
    for encoder in ("trigrams", "bigrams"):
        module_world.run("transfer", encoder, f"file:{path}")
    return module_world, f"file:{path}"


@pytest.mark.heavy
@pytest.mark.parametrize("product", range(3))
def test_scores_of_one_value_are_those_of_a_loop(asked: tuple[World, str], open_app: OpenApp, product: int) -> None:
    world, dataset = asked
    run = next(r for r in world.repository.runs(dataset=dataset) if r.plan.variant.encoder == "trigrams")
    found = outcomes(ENTRY, [run.run_id], world.repository)
    right = {int(n): bool(ok) for n, ok in zip(found.numbers, found.right(run.run_id), strict=True)}
    here = [number for number in right if number % 3 == product]
    value = PRODUCTS[product] or "(empty)"
    wanted = {"own.product": value}
    asked_for = {"data": dataset, "model": ["trigrams~none", "bigrams~none"], "a": "trigrams~none"}
    app = open_app(world.cache, "transfer", view="confusion", **wanted, **asked_for)
    classes = table(app, "class", "precision A").set_index("class")
    assert classes["examples"].sum() == len(here)
    for i, name in enumerate(("paper", "login")):
        own = [number for number in here if number % 2 == i]
        assert classes.loc[name, "examples"] == len(own)
        assert classes.loc[name, "recall A"] == pytest.approx(sum(right[n] for n in own) / len(own))
    app = open_app(world.cache, "transfer", view="items", **wanted, **asked_for)
    assert set(table(app, "gold")["no"] % 3) == {product}


def test_a_value_that_is_gone_gives_way_to_all(asked: tuple[World, str], open_app: OpenApp) -> None:
    world, dataset = asked
    app = open_app(world.cache, "transfer", data=dataset, view="confusion", **{"own.product": "gone"})
    assert not app.multiselect(key="own.product").value
    assert table(app, "class", "precision A")["examples"].sum() == 90
