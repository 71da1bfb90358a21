"""Published tables beside made-up runs: counted by hand, by command and in Python, on both pages."""

from __future__ import annotations

from pathlib import Path

import pytest

import blindspot as bs
from blindspot.diagnostics.words import schnabel_table
from blindspot.errors import InputError
from blindspot.store.repository import Repository
from blindspot.studies.evidence.beside import TABLES, Beside, beside
from blindspot.studies.evidence.page.published import BESIDE
from blindspot.studies.evidence.scores import score_table
from blindspot.variants import Variant
from tests.conftest import make_settings
from tests.support.commands import Command
from tests.support.evidence_world import Made, models, store
from tests.support.pages import OpenApp, written
from tests.support.tables import each

TWELVE = models(12)
PLAIN = [Variant(name, "none") for name in TWELVE]
# Of twelve models, by post-processing: one is the same, seven of the others gain.
GAINS = [0.0, *(0.1,) * 7, *(-0.1,) * 4]
SWAPPED = [0, 1, 2, 3, 5, 4, 6, 7, 8, 9, 10, 11]  # the order by one task is nearly that by EvalRank


def runs() -> list[Made]:
    made = [
        Made("transfer", Variant(name, chain), "mr", {"accuracy": 0.5 + 0.01 * i + (gain if chain != "none" else 0)})
        for i, (name, gain) in enumerate(zip(TWELVE, GAINS, strict=True))
        for chain in ("none", "abtt:2")
    ]
    for i, variant in enumerate(PLAIN):
        made += [
            Made("transfer", variant, "sst2", {"accuracy": 0.9 - 0.01 * SWAPPED[i]}),
            Made("similarity", variant, "stsb-test", {"spearman": 0.3 + 0.01 * i, "pearson": 0.2}),
            Made("similarity", variant, "stsb-test", {"spearman": 0.9 - 0.01 * i}, {"metric": "l2"}),
            Made("evalrank", variant, "evalrank-word-ppdb", {"mrr": 0.1 + 0.01 * (i // 2)}),
            Made("evalrank", variant, "evalrank-word", {"mrr": 0.1 + 0.01 * i}),
            Made("evalrank", variant, "evalrank-word", {"mrr": 0.5 - 0.01 * i}, {"metric": "l2"}),
        ]
    law = {"neighbor_exponent": 0.1, "neighbor_r2": 0.9, "words": 20_000.0}
    ends = {"neighbor_exponent_low": 0.05, "neighbor_exponent_high": 0.15}
    return [
        *made,
        Made("similarity", Variant(TWELVE[0], "zscore"), "stsb-test", {"spearman": 0.4, "pearson": 0.55}),
        Made("analogy", PLAIN[0], "analogy-google", {"accuracy": 0.5, "accuracy_syntactic": 0.25}),
        Made("frequency", PLAIN[0], "vocab-wordfreq", law | ends),
        Made("frequency", PLAIN[1], "vocab-wordfreq", law),  # as stored before there were intervals
    ]


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    settings = make_settings(tmp_path_factory.mktemp("beside"))
    store(Repository.at(settings.store), runs())
    return settings.cache


def of(cache: Path, table: str) -> Beside:
    return beside(table, Repository.at(cache / "results.duckdb"))


@each("table", TABLES)
def test_without_runs_all_is_published(repository: Repository, table: str) -> None:
    found = beside(table, repository)
    assert not found.is_measured
    names = [name for row in found.in_words() for name in (row[found.head], *list(row)[1:])]
    assert any(name.endswith(", published") for name in names)
    assert found.source.startswith(("Wang, Kuo and Li 2022", "Schnabel et al. 2015", "Eger et al. 2019"))


def test_the_share_of_models_that_gain_is_counted_over_families(cache: Path) -> None:
    cell, of_one = (c for c in of(cache, "wang-10").cells if not c.is_published)
    assert (of_one.column, of_one.value, of_one.models, of_one.interval) == ("zscore", 1, 1, None)
    assert (cell.name, cell.column, cell.models) == ("MR", "abtt:2", 11)
    assert cell.value == pytest.approx(7 / 11)
    assert cell.interval is not None
    assert cell.interval.low < 7 / 11 < cell.interval.high
    published = {(c.name, c.column): c.value for c in of(cache, "wang-10").cells if c.is_published}
    assert published["MPQA", "words"] == pytest.approx(0.053)
    assert "MR" in of(cache, "wang-10").in_words()[1].values()


def test_ranks_are_among_their_own_kind(cache: Path) -> None:
    measured = {(c.row, c.column): c for c in of(cache, "wang-1b").cells if not c.is_published}
    assert [measured[PLAIN[0], metric].value for metric in ("cos", "l2")] == [12, 1]
    assert len(measured) == 24
    found = of(cache, "wang-1a").cells
    ranks = {(c.name, c.column): c.rank for c in found if c.is_published}
    assert ranks["GloVe", "STS-B"] == 4
    first = {c.column: (c.value, c.rank) for c in found if c.row == PLAIN[0]}
    assert first == {"STS-B": (pytest.approx(30), 12), "SST2": (pytest.approx(90), 1), "MR": (pytest.approx(50), 12)}


def test_each_part_of_the_ablation_has_its_own_runs(cache: Path) -> None:
    measured = {(c.name, c.column): c for c in of(cache, "wang-4").cells if not c.is_published}
    rho = {key: cell.value for key, cell in measured.items()}
    assert rho["EvalRank", "SST2"] == pytest.approx(-1 + 12 / (12 * (12**2 - 1)))
    assert rho["with Euclidean distance", "SST2"] == pytest.approx(-rho["EvalRank", "SST2"])
    assert rho["EvalRank", "SST2"] != rho["with PPDB synonyms", "SST2"] < -0.9
    assert {cell.models for cell in measured.values()} == {12}
    assert all(cell.interval for cell in measured.values())
    assert {name for name, _ in rho} == {"EvalRank", "with PPDB synonyms", "with Euclidean distance"}
    rows = {row["EvalRank on words"]: row for row in of(cache, "wang-4").in_words()}
    assert rows["with WordNet synonyms"]["SST2, here"] == "–"
    assert rows["with PPDB synonyms"]["SST2, published"] == "–"


def test_the_other_tables_have_their_models(cache: Path) -> None:
    normalized = {c.column: c.value for c in of(cache, "eger-2").cells if not c.is_published}
    assert normalized == {"standard": 0.2, "normalized": 0.55, "difference": pytest.approx(0.35)}
    words = {c.column: c.value for c in of(cache, "schnabel-1").cells if not c.is_published}
    assert words == {"an": 50, "ansyn": 25}
    known = {c.column for c in of(cache, "schnabel-1").cells if c.is_published}
    assert known == schnabel_table.published()["CBOW"].keys()
    law = [row for row in of(cache, "schnabel-figure-4").in_words() if not row["model"].endswith("published")]
    assert [row["exponent"] for row in law] == ["0.100 (0.050 to 0.150)", "0.100"]
    assert {(row["k up to"], row["words"]) for row in law} == {("200", "20,000")}


def test_a_column_more_is_of_the_variants_that_are_there(cache: Path) -> None:
    table = score_table(Repository.at(cache / "results.duckdb"))
    measure = table.measures[0]
    more = table.columns([measure]).with_column(table.measures[1], {PLAIN[1]: 3.0, Variant("x", "none"): 1.0})
    column = dict(zip(more.variants, more.of(table.measures[1]).tolist(), strict=True))
    assert column[PLAIN[1]] == 3.0
    assert len(column) == len(table.variants)


@pytest.mark.heavy
def test_the_same_by_command_and_in_python(cache: Path, blindspot: Command, repository: Repository) -> None:
    store(repository, runs())
    facts = blindspot.json("published", "wang-10")
    here = bs.published("wang-10", store=cache)
    assert facts == here.facts == of(cache, "wang-10").as_json()
    assert len(here.table()) == len(facts["cells"])
    assert facts in blindspot.json("published")["tables"]
    printed = blindspot.out("published")
    assert all(f"{name}: " in printed for name in TABLES)
    assert "wang-10" in blindspot.error("published", "wang-11", code=2)
    with pytest.raises(InputError, match="unknown published table"):
        bs.published("wang-11")


@each("table", BESIDE)
def test_evidence_shows_it(open_app: OpenApp, cache: Path, table: str) -> None:
    app = open_app(cache, "evidence", view="published", ev_published=table)
    assert of(cache, BESIDE[table]).source in written(app)
    assert len(app.dataframe) == 1
