"""The EvalRank page's scores with intervals and its view of A against B: the numbers of the read side."""

from __future__ import annotations

from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from blindspot.datasets.published.pairs import pair_set
from blindspot.diagnostic import find_diagnostic
from blindspot.diagnostics.evalrank import uncertainty as numbers
from blindspot.diagnostics.evalrank.pairs import pair_table
from blindspot.numerics.statistics.compare import FILTERED, MAIN
from blindspot.runs.comparison import cells, in_words, paired_tests
from blindspot.store.records import RunRecord
from blindspot.store.repository import Repository
from blindspot.variants import Variant
from tests.support.pages import OpenApp, chart, dots_of_evalrank, written
from tests.support.small_world import GramEncoder
from tests.support.world import World

ENTRY = find_diagnostic("evalrank")
VIEW = "A against B"


@pytest.fixture(scope="module")
def stored(demo_cache: Path) -> tuple[list[RunRecord], numbers.Estimated]:
    """The demo's runs, best first, and their pairs."""
    repository = Repository.at(demo_cache / "results.duckdb")
    runs = repository.runs(dataset="demo-pairs", params={"metric": "cos", "protocol": "definition"})
    runs = sorted(runs, key=lambda run: -run.metrics["mrr"])
    ids = [run.run_id for run in runs]
    return runs, numbers.Estimated.of(numbers.one_group(pair_table(ENTRY, ids, repository), ids))


def cells_of(app: AppTest, column: str) -> bytes:
    """What stands in the cells of the first styled table that has a column."""
    table = next(frame for frame in app.dataframe if column in frame.value)
    return bytes(table.proto.arrow_data.styler.display_values)


def test_scores_carry_their_intervals(open_app: OpenApp, demo_cache: Path, stored) -> None:
    runs, found = stored
    app = open_app(demo_cache, "evalrank")
    assert found.method in written(app)
    for name, dots in dots_of_evalrank(app).items():
        estimates = [found.estimates[run.run_id][name] for run in runs]
        assert dots["error_x"]["array"] == pytest.approx([each.interval.high - each.value for each in estimates])
    shown = cells_of(app, "MRR optimistic")
    for run in runs:
        interval = found.estimates[run.run_id]["mrr"].interval
        assert f"{run.metrics['mrr']:.3f} ({interval.low:.3f} to {interval.high:.3f})".encode() in shown


def test_where_no_match_is_first_the_headline_is_about_mrr(open_app: OpenApp, world: World) -> None:
    """Each query has a double in another case among the texts, which every model puts first."""
    pairs = [(f"number {n} of them", f"the {n}th one") for n in range(12)]
    data = pair_set("doubled", pairs=pairs, background=[query.title() for query, _ in pairs])
    world.add(data, GramEncoder(), GramEncoder("bigrams", size=2))
    runs = [world.run("evalrank", encoder, data.id) for encoder in ("trigrams", "bigrams")]
    world.repository.database.close()
    assert {run.metrics["hits@1"] for run in runs} == {0}
    app = open_app(world.cache, "evalrank", data=data.id, base="bigrams~none")
    assert "first for none of 12 pairs" in written(app)
    assert f"**bigrams** has an MRR of **{runs[1].metrics['mrr']:.3f}**" in written(app)
    assert f"**trigrams** {runs[0].metrics['mrr']:.3f}" in written(app)


@pytest.mark.heavy
def test_what_is_not_separable_from_the_best_is_marked_here_and_on_the_overview(
    open_app: OpenApp, demo_cache: Path, stored
) -> None:
    runs, found = stored
    alike = found.alike["mrr"]
    assert len(alike) == 2, "centering changes next to nothing"
    for page, column in (("evalrank", "MRR optimistic"), ("overview", "Hits@1 filtered")):
        app = open_app(demo_cache, page)
        assert "★" in written(app), "the sign is explained"
        shown = cells_of(app, column).decode("utf-8", "replace")
        for run in runs:
            assert f"★ {run.metrics['mrr']:.3f}" in shown


@pytest.mark.parametrize("ranks", ["raw", "filtered"])
def test_the_view_shows_the_differences_to_the_baseline_of_the_link(
    open_app: OpenApp, demo_cache: Path, stored, ranks: str
) -> None:
    runs, _ = stored
    baseline = next(run for run in runs if run.plan.variant == Variant("minilm", "center"))
    app = open_app(demo_cache, "evalrank", view=VIEW, base="minilm~center", ranks=ranks)
    assert app.selectbox(key="base").value == "minilm~center"
    others = [(run, baseline) for run in runs if run is not baseline]
    family = FILTERED if ranks == "filtered" else MAIN
    repository = Repository.at(demo_cache / "results.duckdb")
    expected = [test for own in paired_tests(ENTRY, others, repository, family, every=True) for test in own]
    (table,) = (frame.value for frame in app.dataframe if "verdict" in frame.value)
    assert len(table) == len(expected)
    for row, test in zip(table.to_dict("records"), expected, strict=True):
        shown = cells(test)
        assert (row["score"], row["difference"]) == (test.label, shown["A - B"])
        assert [row[name] for name in ("p", "p (Holm)", "detectable")] == [
            shown[name] for name in ("p", "p (Holm)", "detectable")
        ]
        assert row["95% interval"] == shown["95% interval"]
        assert (row["better"], row["equal"], row["worse"]) == (test.wins, test.alike, test.losses)
        assert row["verdict"].endswith(test.verdict)
    forest = chart(app, -1)["data"]
    assert [trace["name"] for trace in forest] == ["minilm"]
    assert forest[0]["x"] == pytest.approx([test.value for test in expected[:4]])
    assert in_words(expected, "**minilm**", "**minilm + center**")[0] in written(app)


def test_a_baseline_that_is_not_there_is_said(open_app: OpenApp, demo_cache: Path) -> None:
    app = open_app(demo_cache, "evalrank", view=VIEW, base="gone~none")
    assert "'gone'" in written(app)
    assert app.selectbox(key="base").value is None
    assert "vs **minilm**" in written(app)


def test_one_variant_has_nothing_to_be_compared_with(open_app: OpenApp, demo_cache: Path) -> None:
    app = open_app(demo_cache, "evalrank", view=VIEW, model="minilm~none")
    assert "Only one model" in written(app)


@pytest.mark.heavy
def test_the_overview_goes_without_marks_where_rows_are_gone(open_app: OpenApp, demo_copy: Path) -> None:
    """Of one run, of all of them, and with their table."""
    repository = Repository.at(demo_copy / "results.duckdb")
    run = repository.runs(dataset="demo-pairs", params={"metric": "cos", "protocol": "definition"}, limit=1)[0]
    for statement in (f"DELETE FROM {ENTRY.table} WHERE run_seq = {run.run_seq}", f"DROP TABLE {ENTRY.table}"):
        with repository.database.transaction() as cursor:
            cursor.execute(statement)
        repository.database.close()
        app = open_app(demo_copy, "overview")
        assert "★" not in written(app), "nothing was tested"
        assert "↑" in written(app)
        assert app.dataframe[0].value["MRR"].notna().all()
