"""Own columns of a file: as groups of pairs, on the page, and where one of two models gains and loses most."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from blindspot.datasets.kinds.own_columns import EMPTY, OwnColumn
from blindspot.diagnostics.evalrank.definition import ENTRY
from blindspot.diagnostics.evalrank.evidence import axes_of, of_run, read
from blindspot.diagnostics.evalrank.kinds import choices_of
from blindspot.diagnostics.evalrank.pairs import rows_of_runs
from blindspot.diagnostics.evalrank.uncertainty import scores_of
from blindspot.numerics.statistics import pairs as statistics
from blindspot.numerics.statistics.groups import FEW, Gains, by_value, gains
from blindspot.numerics.statistics.intervals import ALPHA
from blindspot.numerics.statistics.pairs import Dependence
from blindspot.runs.findings import Material
from blindspot.studies.findings import wording
from blindspot.types import Float64, Int64
from tests.support.commands import Command
from tests.support.pages import OpenApp, chart, values, written
from tests.support.small_world import GramEncoder
from tests.support.tables import each
from tests.support.world import World

HOSTILE = "<b>printer</b> {A} *x*"
M = 160


def column(name: str, cells: list[str]) -> OwnColumn:
    found = tuple(dict.fromkeys(cells))
    return OwnColumn(name, found, np.array([found.index(cell) for cell in cells], dtype=np.uint8))


def test_groups_are_the_values_the_largest_first_and_the_empty_last() -> None:
    cells = [EMPTY, "b", "a", EMPTY, "a", EMPTY, "c"]
    numbers = np.array([6, 0, 1, 2, 4, 5])  # pair 3 was not ranked
    groups = by_value("pair", "product", column("product", cells).groups(numbers))
    assert [g.label for g in groups.groups] == ["a", "b", "c", EMPTY]
    for group in groups.groups:
        assert group.inside.tolist() == [cells[number] == group.label for number in numbers.tolist()]


def test_a_column_that_is_called_as_a_kind_is_chosen_by_another_name() -> None:
    both = [column("length", ["x", "y"]), column("product", ["x", "y"]), column("product", ["y", "x"])]
    assert list(choices_of(both)) == ["length (column)", "product", "product (column)"]


def sides(seed: int, better: str = "", worse: str = "") -> tuple[list[OwnColumn], Float64, Float64]:
    """Two columns, and 1/rank in A and in B: B finds all of one value that A misses, and misses all of another."""
    rng = np.random.default_rng(seed)
    product = column("product", [("printer", "scanner", "phone", "few")[i % 3 if i > 10 else 3] for i in range(M)])
    language = column("language", [("en", "de")[i // 2 % 2] for i in range(M)])
    a, b = (rng.choice([0.1, 0.5, 1.0], M) for _ in range(2))
    for value, one, other in ((better, 0.1, 1.0), (worse, 1.0, 0.1)):
        if value:
            inside = product.inside(value) & (rng.random(M) < 0.8)
            a[inside], b[inside] = one, other
    return [product, language], a, b


def gains_of(own: Sequence[OwnColumn], a: Float64, b: Float64, queries: Int64, matches: Int64) -> Gains:
    """Of the pairs for which A has a value."""
    numbers = np.arange(M)
    found = scores_of({"A": {"mrr": a}, "B": {"mrr": b}}, Dependence.of(queries, matches), numbers, [("", "")] * M)
    ranked = found["A"]["mrr"].among(np.flatnonzero(~np.isnan(a)))
    return gains({c.name: by_value("pair", c.name, c.groups(numbers)) for c in own}, numbers, ranked, found["B"]["mrr"])


@each(("better", "worse"), [("printer", "scanner"), ("phone", ""), ("", "phone")])
def test_the_largest_gain_and_loss_are_those_of_a_loop(better: str, worse: str) -> None:
    own, a, b = sides(1, better, worse)
    a[3] = np.nan
    numbers = np.arange(M)
    queries, matches = numbers // 2, numbers + M
    found = gains_of(own, a, b, queries, matches)
    slow = []
    for c in own:
        for value in set(c.cells):
            inside = [i for i in range(M) if c.cells[i] == value and not np.isnan(a[i])]
            if len(inside) >= FEW:
                lead = np.array([b[i] - a[i] for i in inside])
                known = Dependence.of(queries[inside], matches[inside])
                p = float(statistics.p_values(lead[:, np.newaxis], known)[0])
                slow.append((p, c.name, value, sum(lead) / len(lead), len(inside)))
    assert {(g.by, g.group.label, g.rows) for g in found.tested} == {(by, v, n) for _, by, v, _, n in slow}
    corrected, highest = {}, 0.0
    for place, (p, by, value, lead, _) in enumerate(sorted(slow)):  # Holm
        highest = max(highest, min(1.0, p * (len(slow) - place)))
        corrected[by, value] = highest, lead
    for one in found.tested:
        p, lead = corrected[one.by, one.group.label]
        assert one.test.p_corrected == pytest.approx(p)
        assert one.test.value == pytest.approx(lead)
    sure = {key: lead for key, (p, lead) in corrected.items() if p < ALPHA}
    for one, name, sign in ((found.gain, better, 1), (found.loss, worse, -1)):
        if name:
            assert one is not None
            assert (one.by, one.group.label) == ("product", name)
            assert max(sure, key=lambda key: sign * sure[key]) == ("product", name)
        else:
            assert one is None


def test_where_two_models_are_alike_no_gain_is_named() -> None:
    wrong = 0
    for seed in range(100):
        own, a, b = sides(seed)
        numbers = np.arange(M)
        found = gains_of(own, a, b, numbers, numbers + M)
        wrong += found.gain is not None or found.loss is not None
    assert wrong <= 10  # 5, and what 100 simulations leave open


# --- through the app


@pytest.fixture(scope="module")
def asked(module_world: World, tmp_path_factory: pytest.TempPathFactory) -> tuple[World, str]:
    """Runs on a file with the columns product (whose scanner pairs share no letters) and language."""
    path: Path = tmp_path_factory.mktemp("own") / "desk.csv"
    with path.open("w", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(["query", "match", "product", "language", "ticket"])
        for i in range(M):
            scanner = i % 4 == 1
            match = f"{'zzz' if scanner else 'number'} {i * 7919 if not scanner else 'q' * (i + 1)}"
            product = ["", "scanner", HOSTILE, HOSTILE][i % 4]
            rows.writerow([f"number {i * 7919}!", match, product, ["en", "de"][i % 2], i])
    module_world.add(GramEncoder(), GramEncoder("constant", constant=True))
    for encoder in ("constant", "trigrams"):
        module_world.run("evalrank", encoder, f"file:{path}")
    return module_world, f"file:{path}"


@pytest.mark.heavy
def test_the_page_groups_by_a_column_and_says_where_b_gains_most(asked: tuple[World, str], open_app: OpenApp) -> None:
    world, dataset = asked
    app = open_app(
        world.cache, "evalrank", data=dataset, view="kinds of pair", by="product", a="constant", b="trigrams"
    )
    assert app.segmented_control(key="by").value == "product"
    assert {"product", "language"} < set(app.segmented_control(key="by").options)
    runs = {run.plan.variant.encoder: run for run in world.repository.runs(dataset=dataset)}
    rows = rows_of_runs(ENTRY, [run.run_id for run in runs.values()], world.repository)
    drawn = {trace["name"]: trace for trace in chart(app, -1)["data"] if trace.get("showlegend") is False}
    leads = {}
    for value, inside in ((HOSTILE, [2, 3]), ("scanner", [1]), (EMPTY, [0])):
        means = {}
        for encoder, run in runs.items():
            ranks = rows[run.run_id].reciprocal_ranks(False)
            mean = sum(ranks[i] for i in range(M) if i % 4 in inside) / sum(i % 4 in inside for i in range(M))
            place = [HOSTILE, "scanner", EMPTY].index(value)
            assert values(drawn[encoder]["y"])[place] == pytest.approx(mean)
            means[encoder] = mean
        leads[value] = means["trigrams"] - means["constant"]
    assert drawn["trigrams"]["customdata"][0][0] == "&lt;b&gt;printer&lt;/b&gt; {A} *x*"
    (tested,) = [shown.value for shown in app.dataframe if "p (Holm)" in shown.value]
    assert any(p.startswith("≤ ") for p in tested["p (Holm)"]), "no p-value of flips is below 0.0001"
    most = max(leads.values())
    assert f"{most:+.3f}" in written(app)


def test_the_command_groups_by_a_column(
    asked: tuple[World, str], blindspot: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    world, dataset = asked
    monkeypatch.setenv("BLINDSPOT_CACHE", str(world.cache))
    run = next(run for run in world.repository.runs(dataset=dataset) if run.plan.variant.encoder == "trigrams")
    ranks = rows_of_runs(ENTRY, [run.run_id], world.repository)[run.run_id].reciprocal_ranks(False)
    printed = {row["label"]: row for row in blindspot.json("runs", "kinds", run.run_id, "--by", "product")["kinds"]}
    assert list(printed) == [HOSTILE, "scanner", EMPTY]
    assert printed["scanner"]["mrr"] == pytest.approx(ranks[1::4].mean())


def test_the_worst_kind_of_pair_may_be_that_of_a_column(asked: tuple[World, str]) -> None:
    world, dataset = asked
    runs = tuple(run for run in world.repository.runs(dataset=dataset) if run.plan.variant.encoder == "trigrams")
    (ranked,) = read(Material(runs, (), world.repository, world.settings))
    own = {axis.by: axis for axis in ranked.axes if axis.kind is None}
    assert list(own) == ["product", "language"]
    assert [one.group.label for one in own["product"].groups] == [HOSTILE, "scanner", EMPTY]

    found = {finding.kind: finding for finding in wording.findings(of_run(runs[0], ranked))}
    one = found["worst-by-own-column-1"]
    assert "product is scanner" in one.sentence
    assert one.p is not None
    assert one.p < 0.01
    assert one.address["by"] == "product"
    assert all(axis.kind is not None for axis in axes_of(ranked.pairs))


@pytest.mark.matrix
def test_the_table_is_filtered_by_columns(asked: tuple[World, str], open_app: OpenApp) -> None:
    world, dataset = asked
    query = {"own.product": HOSTILE, "own.language": "en", "order": "pair", "direction": "low to high"}
    app = open_app(world.cache, "evalrank", data=dataset, cols=["own: product"], **query)
    assert app.multiselect(key="own.product").value == [HOSTILE], "by its link"
    expected = [i for i in range(M) if i % 4 == 2]  # of that product, in the first language
    rows = next(frame.value for frame in app.dataframe if "query" in frame.value)
    assert rows["pair"].tolist() == expected[: len(rows)]
    assert set(rows["own: product"]) == {HOSTILE}
    assert f"{len(expected)} pairs." in written(app)
    app.multiselect(key="own.language").set_value(["de"]).run()
    rows = next(frame.value for frame in app.dataframe if "query" in frame.value)
    assert rows["pair"].tolist() == [i for i in range(M) if i % 4 == 3][: len(rows)]
    app.multiselect(key="own.product").set_value([]).run()
    rows = next(frame.value for frame in app.dataframe if "query" in frame.value)
    assert rows["pair"].tolist() == [i for i in range(M) if i % 2 == 1][: len(rows)]
