"""What every diagnostic of the registry keeps, whatever it measures; a new one is tested here by being registered.

Each is computed on the built-in data of its kind with an encoder that takes no time.
"""

from __future__ import annotations

import json
import math
import re
import shutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from streamlit.testing.v1 import AppTest

from benchmarks import app_store
from blindspot import api, cli
from blindspot.api.place import Place
from blindspot.api.results import Run
from blindspot.datasets import fetch
from blindspot.datasets.catalog import find_dataset
from blindspot.datasets.kinds.base import DatasetKind
from blindspot.diagnostic import Diagnostic, DiagnosticResult, all_diagnostics
from blindspot.encoders.catalog import resolve_encoder
from blindspot.errors import Cancelled
from blindspot.names import in_address
from blindspot.numerics.statistics.compare import Verdict
from blindspot.runs import pipeline, requesting
from blindspot.runs.comparison import changes, headline_tests
from blindspot.runs.findings import Finding, Material
from blindspot.runs.requests import RunRequest
from blindspot.settings import Settings
from blindspot.store.records import RunRecord, RunState
from blindspot.store.repository import Repository
from blindspot.studies.compare import rows
from blindspot.studies.findings import among, wording
from blindspot.studies.findings.collection import Selection
from blindspot.studies.report.content import gather
from blindspot.types import CancelToken, Float32, Int64, no_progress
from blindspot.ui.navigation import places
from blindspot.workspace.overview.best import best_of
from tests.support import sources
from tests.support.pages import table, written
from tests.support.run_history import choose_rows

ENCODER = "random-projection-64"
SLACK = 1e-9  # by which rounding may put a score outside its range

OpenApp = Callable[..., AppTest]


@dataclass(frozen=True)
class Case:
    """A diagnostic in a cache of its own, with two finished runs: of the encoder, and of it centred."""

    entry: Diagnostic
    settings: Settings
    runs: tuple[RunRecord, RunRecord]

    @property
    def dataset(self) -> Any:
        return fetch.load(find_dataset(self.runs[0].plan.dataset), self.settings)

    @property
    def request(self) -> RunRequest:
        """That of the first run."""
        plan = self.runs[0].plan
        return requesting.request(
            self.entry.id, plan.variant.encoder, plan.variant.transform, plan.dataset, {}, self.settings
        )

    def compute(self, dataset: Any, embeddings: Float32) -> DiagnosticResult:
        params = self.entry.check_params({})
        return self.entry.compute(embeddings, dataset, params, no_progress, CancelToken())


TRAINED = {"transfer", "learning_curve", "frequency"}  # hundreds of classifiers, for any store


@pytest.fixture(
    scope="module",
    params=[pytest.param(name, marks=[pytest.mark.heavy] * (name in TRAINED)) for name in all_diagnostics()],
)
def case(few_thresholds: None, request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Case:
    entry = all_diagnostics()[request.param]
    folder = tmp_path_factory.mktemp(entry.id)
    filled = app_store.fill(folder, no_progress, (ENCODER,), (entry.id,))
    settings = app_store.settings_of(filled.cache)
    repository = Repository.at(settings.store)
    first, second = sorted(repository.runs(), key=lambda run: run.plan.variant.transform != "none")
    repository.database.close()
    return Case(entry, settings, (first, second))


@pytest.fixture(scope="module")
def embedded(case: Case) -> tuple[Any, Float32]:
    """The dataset of the case, as the diagnostic reads it, and the vectors of its texts."""
    encoder = resolve_encoder(ENCODER, case.settings)
    encoder.load()
    dataset = case.entry.as_read(case.dataset, encoder)
    return dataset, encoder.encode(list(dataset.encoded), CancelToken())


def test_what_it_declares_fits_together(case: Case) -> None:
    entry = case.entry
    names = [metric.name for metric in entry.metrics]
    assert len(set(names)) == len(names)
    assert len({column.name for column in entry.columns}) == len(entry.columns) > 0
    assert {entry.headline, *entry.overview.columns} <= set(names)
    assert entry.overview.counted[0] in names
    assert {reading.metric for reading in entry.readings} <= set(names)
    assert all(reading.sign in {1, -1} for reading in entry.readings)
    assert all(metric.bounds[0] < metric.bounds[1] for metric in (*entry.metrics, *entry.families))
    assert all(parameter.default in parameter.choices for parameter in entry.parameters)
    assert entry.cost.way in {"", *(parameter.name for parameter in entry.parameters)}
    assert entry.deeper in {place.stem for place in places()}
    assert entry.question.endswith("?")
    assert entry.how.strip()
    assert entry.citation


def test_every_score_is_declared_and_within_its_range(case: Case) -> None:
    for run in case.runs:
        assert run.state is RunState.DONE
        assert case.entry.headline_of(run.metrics)
        for name, value in run.metrics.items():
            metric = case.entry.declared(name)
            assert metric is not None, f"{name} is computed and not declared"
            low, high = metric.bounds
            assert math.isfinite(value), name
            assert low - SLACK <= value <= high + SLACK, f"{name} = {value}, declared from {low} to {high}"
            assert metric.is_end == ("95% interval" in metric.description), name
            measured, end = case.entry.measured(run.metrics, name), case.entry.declared(f"{name}_low")
            assert measured is not None
            assert (measured.interval is not None) == (end is not None and end.is_end and end.name in run.metrics)


def test_coverage_adds_up(case: Case) -> None:
    for run in case.runs:
        wholes = {name for name in run.coverage if not name.endswith("_covered")}
        assert wholes
        assert "items" in wholes, "of the items that the run's encoder was asked for"
        assert {f"{name}_covered" for name in wholes} == set(run.coverage) - wholes
        for name in wholes:
            assert 0 < run.coverage[f"{name}_covered"] <= run.coverage[name]
        assert run.coverage["items"] == len(case.dataset.items)


def test_two_runs_differ_by_their_headline_scores(case: Case) -> None:
    entry, (first, second) = case.entry, case.runs
    repository = Repository.at(case.settings.store)
    one, back, itself = headline_tests(entry, [(first, second), (second, first), (first, first)], repository)
    repository.database.close()
    assert one.score == entry.headline_of(first.metrics)
    assert one.label[0].isupper()
    assert (one.a, one.b) == pytest.approx((first.metrics[one.score], second.metrics[one.score]), abs=1e-12)
    assert one.n >= 1
    assert -1.0 <= (one.advantage or 0.0) <= 1.0
    assert (one.p is None) <= bool(one.refusal)
    if one.interval:
        assert one.interval.low <= one.value <= one.interval.high
        assert (back.interval.low, back.interval.high) == pytest.approx((-one.interval.high, -one.interval.low))
    assert (back.value, back.p, back.n) == (-one.value, one.p, one.n)
    assert (back.wins, back.losses) == (one.losses, one.wins)
    assert (itself.value, itself.wins, itself.losses) == (0.0, 0, 0)
    assert itself.p in {None, 1.0}


def test_every_surface_says_of_two_models_what_their_test_says(
    case: Case, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The page, its matrix, the report, the commands, the API, Overview and Findings."""
    entry, (a, b) = case.entry, case.runs
    variants = [run.plan.variant for run in case.runs]
    repository, place = Repository.at(case.settings.store), Place(case.settings, is_kept=True)
    (test,) = headline_tests(entry, [(a, b)], repository)
    (row,) = rows.compare(*variants, repository, {}).rows
    (in_matrix,) = rows.compare_all(variants, repository, {}).values()
    assert row.difference == in_matrix[0].difference == test
    assert (row.a.run_id, row.b.run_id) == (a.run_id, b.run_id)
    (table,) = gather(repository, case.settings, Selection(tuple(variants))).comparison_tables
    in_report = dict(zip(table.columns, table.rows[0], strict=True))
    assert (in_report["n"], in_report["A is"]) == (f"{test.n:,}", row.in_words)
    monkeypatch.setenv("BLINDSPOT_CACHE", str(case.settings.cache))
    programs = [api.compare(Run.of(a, place), Run.of(b, place)).scores[0]]
    for command, name in (
        (("compare", *map(str, variants)), "rows"),
        (("runs", "compare", a.run_id, b.run_id), "scores"),
    ):
        assert cli.main([*command, "--json"]) == 0
        programs.append(json.loads(capsys.readouterr().out)[name][0])
    for said in programs:
        assert (said["verdict"], said["n"], said["unit"]) == (test.verdict, test.n, test.unit)
        assert (said["p"], said["p_corrected"], said["difference"]) == (test.p, test.p_corrected, test.value)
    better_first = sorted(case.runs, key=lambda run: -run.metrics[test.score] * test.sign)
    assert (best_of(entry, better_first, repository).alike == (better_first[1],)) == (test.verdict is Verdict.ALIKE)
    told = {one.kind for one in wording.findings(among.evidence(entry, case.runs, repository))}
    assert ("not-told-apart" in told) == (row.decides and test.verdict is Verdict.ALIKE)
    repository.database.close()


def test_what_changed_between_two_runs_is_what_either_wins(case: Case) -> None:
    entry, (first, second) = case.entry, case.runs
    if not all(entry.won):
        pytest.skip("its items are not judged one by one")
    repository = Repository.at(case.settings.store)
    one, back, few = (
        changes(entry, a, b, repository, n)
        for a, b, n in [(*case.runs, 10_000), (second, first, 10_000), (*case.runs, 1)]
    )
    test = headline_tests(entry, [(first, second)], repository)[0]
    repository.database.close()
    assert (one.won, one.lost, one.alike) == (test.wins, test.losses, test.alike)
    gains = [row.gain for row in one.rows]
    assert (
        (sum(gain > 0 for gain in gains), sum(gain < 0 for gain in gains))
        == (one.won, one.lost)
        == (back.lost, back.won)
    )
    assert all(0 < abs(gain) <= 1 for gain in gains)
    assert sorted(gains) == pytest.approx(sorted(-row.gain for row in back.rows))
    assert [row.gain for row in few.rows] == [*gains[: one.won][:1], *gains[one.won :][:1]]
    assert all(text and role for row in one.rows for role, text in row.texts)


@pytest.mark.heavy
def test_computing_it_again_gives_what_is_stored(case: Case, embedded: tuple[Any, Float32]) -> None:
    dataset, vectors = embedded
    untouched = vectors.copy()
    result, run = case.compute(dataset, vectors), case.runs[0]
    assert np.array_equal(vectors, untouched), "it wrote into the embeddings"
    assert result.items.schema == case.entry.schema
    assert dict(run.metrics) == dict(result.metrics)
    assert {name: run.coverage[name] for name in result.coverage} == dict(result.coverage)
    stored = _rows(case.entry, run, case.settings)
    numbers = np.arange(len(stored)) if result.item_numbers is None else result.item_numbers
    computed = result.items.to_pandas().assign(item_no=numbers)
    columns = ["item_no", *case.entry.schema.names]
    pd.testing.assert_frame_equal(
        _sorted(stored[columns]), _sorted(computed[columns]), check_dtype=False, rtol=0, atol=0
    )


def _rows(entry: Diagnostic, run: RunRecord, settings: Settings) -> pd.DataFrame:
    repository = Repository.at(settings.store)
    try:
        return repository.items(entry, [run.run_id], texts=False)
    finally:
        repository.database.close()


def _sorted(rows: pd.DataFrame) -> pd.DataFrame:
    return rows.sort_values(list(rows.columns)).reset_index(drop=True)


@pytest.mark.heavy
def test_a_run_is_found_again_and_computed_again_to_the_same(case: Case, tmp_path: Path) -> None:
    settings = replace(case.settings, cache=_copy(case, tmp_path))
    repository = Repository.at(settings.store)
    run = case.runs[0]
    found = pipeline.run(case.request, settings, repository, no_progress)
    assert (found.computed, found.record.run_id) == (False, run.run_id)
    if case.entry.id in TRAINED:  # computed again by test_computing_it_again_gives_what_is_stored, and stored as others
        repository.database.close()
        return
    before = repository.items(case.entry, [run.run_id], texts=False)
    repository.delete(found.record)
    again = pipeline.run(case.request, settings, repository, no_progress)
    assert again.computed
    assert (again.record.metrics, again.record.coverage) == (run.metrics, run.coverage)
    after = repository.items(case.entry, [again.record.run_id], texts=False)
    columns = ["item_no", *case.entry.schema.names]
    pd.testing.assert_frame_equal(_sorted(before[columns]), _sorted(after[columns]), rtol=0, atol=0)
    repository.database.close()


def _copy(case: Case, folder: Path) -> Path:
    """The case's cache, for a test that changes it."""
    return Path(shutil.copytree(case.settings.cache, folder / "cache"))


# Of each kind, the fields that hold numbers of items, and how many items may change places.
NUMBERS: Mapping[DatasetKind, tuple[str, ...]] = {
    DatasetKind.PAIR_SET: ("queries", "matches"),
    DatasetKind.SCORED_PAIRS: ("firsts", "seconds"),
    DatasetKind.ANALOGIES: ("questions", "answers"),
    DatasetKind.RETRIEVAL: ("queries", "documents"),
}


def test_the_order_of_items_does_not_matter_where_it_says_so(case: Case, embedded: tuple[Any, Float32]) -> None:
    if not case.entry.ignores_order:
        pytest.skip("the order of its items matters")
    dataset, vectors = embedded
    expected = case.compute(dataset, vectors).metrics
    for seed in (1, 2):
        order = _shuffled(dataset, seed)
        place = np.argsort(order)
        moved = {name: place[getattr(dataset, name)].astype(np.int32) for name in NUMBERS[case.entry.dataset_kind]}
        turned = replace(dataset, items=tuple(dataset.items[i] for i in order), **moved)
        assert case.compute(turned, vectors[order]).metrics == pytest.approx(dict(expected), rel=1e-12)


def _shuffled(dataset: Any, seed: int) -> Int64:
    """A new order of the items; of analogies the words of the questions stay before the frequent ones."""
    rng, n = np.random.default_rng(seed), len(dataset.items)
    own = getattr(dataset, "own_words", n)
    return np.concatenate([rng.permutation(own), own + rng.permutation(n - own)])


@pytest.mark.heavy
@pytest.mark.parametrize("runs", [0, 1])
def test_its_page_renders(open_app: OpenApp, case: Case, tmp_path: Path, runs: int) -> None:
    cache = _copy(case, tmp_path)
    repository = Repository.at(cache / case.settings.store.name)
    for run in case.runs[runs:]:
        repository.delete(run)
    repository.database.close()
    dataset = in_address(case.runs[0].plan.dataset)
    app = open_app(cache, case.entry.deeper, data=dataset)
    assert not app.error
    if runs and case.entry.page is not None:
        assert [*app.get("plotly_chart"), *app.dataframe]


@pytest.mark.heavy
def test_its_page_and_compare_say_of_two_models_what_their_test_says(open_app: OpenApp, case: Case) -> None:
    """In words: the numbers are those of ``test_every_surface_says_of_two_models_what_their_test_says``."""
    entry, models = case.entry, [str(run.plan.variant) for run in case.runs]
    repository = Repository.at(case.settings.store)
    (row,) = rows.compare(*(run.plan.variant for run in case.runs), repository, {}).rows
    repository.database.close()
    compare = table(open_app(case.settings.cache, "compare", view="numbers", model=models), "independent observations")
    shown, test = compare.to_dict("records")[0], row.difference
    assert shown["independent observations"] == f"{test.n:,} {test.unit}"
    assert shown[f"{case.runs[0].plan.variant.label} is"] == row.in_words
    app = open_app(case.settings.cache, entry.deeper, data=in_address(case.runs[0].plan.dataset), model=models)
    assert not app.error
    if entry.page is None:  # findings and *Compare* are all there is
        return
    assert [*app.get("plotly_chart"), *app.dataframe]
    if test.verdict is Verdict.ALIKE:
        assert str(Verdict.ALIKE) in written(app).lower()


def test_its_run_can_be_looked_at_in_the_history(open_app: OpenApp, case: Case) -> None:
    app = choose_rows(open_app(case.settings.cache, "run"), case.runs[0].run_id)
    assert any(case.entry.headline in frame.value.to_string() for frame in app.dataframe)


def test_the_command_line_prints_and_exports_it(
    case: Case, capsys: pytest.CaptureFixture[str], monkeypatch: Any, tmp_path: Path
) -> None:
    monkeypatch.setenv("BLINDSPOT_CACHE", str(case.settings.cache))
    monkeypatch.delenv("BLINDSPOT_MIRROR", raising=False)
    run = case.runs[0]
    command = ["run", case.entry.id, "--encoder", ENCODER, "--dataset", run.plan.dataset]
    assert cli.main([*command, "--json"]) == 0
    (printed,) = json.loads(capsys.readouterr().out)["runs"]
    assert (printed["run_id"], printed["computed"]) == (run.run_id, False)
    assert printed["metrics"] == dict(run.metrics)
    defaults = [word for p in case.entry.parameters for word in (f"--{p.name.replace('_', '-')}", p.default)]
    assert cli.main([*command, *defaults]) == 0
    assert case.entry.headline_of(run.metrics) in capsys.readouterr().out
    swept = ["sweep", "--diagnostic", *command[1:], *defaults, "--dry-run", "--json"]
    assert cli.main(swept) == 0
    (planned,) = json.loads(capsys.readouterr().out)["planned"]
    assert planned["run_id"] == run.run_id
    assert cli.main(["export", run.run_id, "--output", str(tmp_path / "rows.parquet")]) == 0
    exported = pd.read_parquet(tmp_path / "rows.parquet")
    assert set(case.entry.schema.names) <= set(exported)
    assert len(exported) == len(_rows(case.entry, run, case.settings))
    capsys.readouterr()
    assert cli.main(["list", "diagnostics", "--json"]) == 0
    assert case.entry.id in {row["id"] for row in json.loads(capsys.readouterr().out)["diagnostics"]}


def test_it_can_be_cancelled(case: Case, embedded: tuple[Any, Float32]) -> None:
    dataset, vectors = embedded
    token = CancelToken()
    token.cancel()
    with pytest.raises(Cancelled):
        case.entry.compute(vectors, dataset, case.entry.check_params({}), no_progress, token)


def says_its_own_interval(finding: Finding) -> bool:
    """Whether the first interval of a sentence is the finding's, and its value is said before, with the same digits."""
    assert finding.interval is not None
    found = re.search(r"95% CI ([+−]?[\d.]+)(?: to )([+−]?[\d.]+)(%?)", finding.sentence)
    if found is None:  # of scores whose difference is tested
        return "95% CI" not in finding.sentence
    low, high, percent = found.groups()
    within = 0.5 * 10.0 ** -len(low.partition(".")[2]) + 1e-9  # of rounding
    numbers = re.findall(r"[+−]?\d+(?:\.\d+)?", finding.sentence[: found.start()])
    for scale in (1, 100):
        ends = zip((low, high), (finding.interval.low, finding.interval.high), strict=True)
        if (scale == 100 or not percent) and all(abs(as_number(said) - scale * end) <= within for said, end in ends):
            return any(abs(abs(as_number(one)) - abs(scale * finding.value)) <= within for one in numbers)
    return False


def as_number(said: str) -> float:
    return float(said.replace("−", "-"))


def test_findings_are_complete_sentences_that_open_a_view(case: Case) -> None:
    repository = Repository.at(case.settings.store)
    material = Material(case.runs, case.runs, repository, case.settings)
    found = wording.findings(case.entry.evidence(material))
    repository.database.close()
    code = "".join(map(sources.text, sources.package()))
    ids = [(finding.level, finding.id) for finding in found]  # of a caution and a blind spot, one is shown
    assert len(set(ids)) == len(ids)
    for finding in found:
        assert re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", finding.kind)
        assert finding.diagnostic == case.entry.id
        assert finding.dataset == case.runs[0].plan.dataset
        assert {run.run_id for run in finding.runs} <= {run.run_id for run in case.runs}
        said = finding.said(lambda variant: f"<{variant}>")
        assert "{" not in said
        assert said.endswith(".")
        assert f"<{finding.variants[0]}>" in said
        assert finding.test
        assert finding.n > 0
        assert math.isfinite(finding.value)
        if finding.interval:
            assert finding.interval.low <= finding.value <= finding.interval.high
            assert says_its_own_interval(finding), said
        assert finding.page in {place.stem for place in places()}
        for name, value in finding.address.items():
            assert f'"{name}"' in code, "a widget or a page reads it"
            assert isinstance(value, str)
        for example in finding.examples:
            assert example.texts
            assert not example.marked or len(example.marked) == len(example.texts)
            for (_, text), parts in zip(example.texts, example.marked, strict=False):
                assert all(0 <= start < end <= len(text) for start, end in parts)
