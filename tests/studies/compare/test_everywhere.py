"""One verdict: what pages say of two models, and of which runs; every other surface is walked for each diagnostic in
``tests.diagnostics.test_contract``."""

from __future__ import annotations

import re
from typing import Any

import pytest

from blindspot.api.place import Place
from blindspot.api.results import Run
from blindspot.datasets.catalog import DatasetRef, find_dataset, limits_of, title_of
from blindspot.diagnostic import all_diagnostics
from blindspot.numerics.statistics.compare import MAIN, PairedTest, Verdict, corrected_together
from blindspot.runs.comparison import headline_tests, in_words, paired_tests
from blindspot.studies.findings.collection import Selection, collect, knows_no_meaning
from blindspot.studies.report.content import gather, summary
from blindspot.ui.pickers import Picks
from tests.studies.compare.conftest import COMPUTED, A, B
from tests.support.commands import Command
from tests.support.pages import OpenApp, written
from tests.support.world import World


@pytest.fixture(scope="module")
def tests_of(filled: World) -> dict[tuple[str, str], tuple[PairedTest, Any, Any]]:
    out = {}
    for diagnostic, dataset in COMPUTED:
        a, b = (filled.run(diagnostic, str(variant), dataset) for variant in (A, B))
        (test,) = headline_tests(all_diagnostics()[diagnostic], [(a, b)], filled.repository)
        out[diagnostic, dataset] = (test, a, b)
    return out


Tests = dict[tuple[str, str], tuple[PairedTest, Any, Any]]


def test_over_how_many_tests_a_p_is_corrected_is_said_as_it_is(filled: World, tests_of: Tests) -> None:
    """The real size of a family is what Holm's method multiplies its smallest p by."""
    for (diagnostic, _), (_, a, b) in tests_of.items():
        entry = all_diagnostics()[diagnostic]
        (tests,) = paired_tests(entry, [(a, b)], filled.repository, every=True)
        sizes = {}
        for family in {test.family for test in tests}:
            own = [test for test in tests if test.family == family and test.p is not None]
            least = min(own, key=lambda test: test.p or 0.0)
            assert least.p is not None
            assert least.p_corrected == pytest.approx(min(1.0, len(own) * least.p))
            assert corrected_together(tests, least) == len(own)
            sizes[family] = {test.score for test in own}
        said = re.search(r"corrected after Holm for (\d+) scores", " ".join(in_words(tests, "A", "B")))
        assert (int(said[1]) if said else 1) == len(sizes[tests[0].family])
        if diagnostic == "evalrank":  # whose page says so
            assert sizes[MAIN] == {"mrr", "hits@1"}


def test_no_score_has_a_capital_within_a_sentence(filled: World, tests_of: Tests) -> None:
    """Seen with HEROS: "significantly better in Paraphrase nearer than negated"."""
    for (diagnostic, _), (_, a, b) in tests_of.items():
        (tests,) = paired_tests(all_diagnostics()[diagnostic], [(a, b)], filled.repository, every=True)
        first = in_words(tests, "A", "B")[0]
        assert not re.search(r"(?<=[a-z,;] )(?!Spearman|Hits|Recall)[A-Z][a-z]+\b", first.removeprefix("A vs B: ")), (
            first
        )


@pytest.mark.heavy
def test_what_scores_on_the_data_do_not_say_is_said_with_them(filled: World, blindspot: Command) -> None:
    run = filled.run("geometry", str(A), "demo-pairs")
    (limits,) = limits_of(["demo-pairs", "file:own.csv", "demo-words", "demo-pairs"])
    assert limits == f"{title_of('demo-pairs')}: {find_dataset('demo-pairs').limits}"
    assert limits in blindspot.out("run", "geometry", "--encoder", A.encoder, "--dataset", "demo-pairs")
    assert limits in blindspot.out("compare", str(A), str(B))
    ranked = filled.run("evalrank", str(A), "demo-pairs").run_id
    for command in ("scores", "trust", "kinds"):
        assert limits in blindspot.out("runs", command, ranked), command
    assert limits in blindspot.out("findings", "--all")
    assert limits in summary(gather(filled.repository, filled.settings, Selection()))
    assert limits in Run.of(run, Place(filled.settings, is_kept=True)).notes


@pytest.mark.matrix
def test_the_pages(filled: World, tests_of: Tests, open_app: OpenApp) -> None:
    address = {"model": [str(A), str(B)]}
    page = open_app(filled.cache, "compare", view="numbers", **address)
    assert find_dataset("demo-pairs").limits in written(page)
    (table,) = (frame.value for frame in page.dataframe if f"{A.label} is" in frame.value)
    shown = {row["diagnostic"]: row for row in table.to_dict("records")}
    for (diagnostic, _), (test, _, _) in tests_of.items():
        row = shown[all_diagnostics()[diagnostic].title]
        assert row["independent observations"] == f"{test.n:,} {test.unit}"
    said = written(open_app(filled.cache, "evalrank", data="demo-pairs", base=str(B), **address))
    _, hits = _both(filled, tests_of)
    words = {Verdict.ALIKE: "no significant difference", Verdict.BETTER: "significantly more"}
    headline = said.partition("ranks the right match first")[2].partition("\n")[0]
    assert words.get(hits.verdict, "significantly fewer") in headline


def _both(filled: World, tests_of: Tests) -> tuple[PairedTest, ...]:
    _, a, b = tests_of["evalrank", "demo-pairs"]
    (found,) = paired_tests(all_diagnostics()["evalrank"], [(a, b)], filled.repository)
    return found


@pytest.mark.heavy
def test_what_is_meant_where_no_model_is_named(filled: World, blindspot: Command) -> None:
    """No post-processed model, and none that knows no meaning: on the page, in the report and on the command line."""
    extra = [filled.run("evalrank", model, "demo-pairs") for model in ("trigrams~center", "random-projection")]
    known = filled.repository.variants()
    assert {run.plan.variant for run in extra} <= set(known)
    try:
        printed = set(blindspot.json("findings")["runs"])
        reported = {run.run_id for run in gather(filled.repository, filled.settings, Selection()).every_run}
        picks = Picks(DatasetRef("demo-pairs"), "cos", "definition", (), known=tuple(known))
        on_page = picks.asked_for([variant for variant in known if not knows_no_meaning(variant)])
        of_page = set(collect(filled.repository, filled.settings, Selection(tuple(on_page))).runs)
        assert printed == reported == of_page
        assert not printed & {run.run_id for run in extra}
        more = set(blindspot.json("findings", "--with-post-processing")["runs"])
        assert more - printed == {extra[0].run_id}
    finally:
        for run in extra:
            filled.repository.delete(filled.repository.run(run.run_id))
