"""The page Findings by AppTest, and the command."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from blindspot import cli
from blindspot.runs.findings import Example, Finding, Level, Material
from blindspot.runs.findings.rule import by_chance
from blindspot.store.records import RunState
from blindspot.store.repository import Repository
from blindspot.studies.findings import collection, page
from blindspot.studies.findings.collection import Collected
from blindspot.studies.findings.page import SHOWN, at_first
from blindspot.variants import Variant
from tests.conftest import make_settings
from tests.support.pages import OpenApp, written
from tests.support.tables import each

NASTY = "<b>x</b> *not* $a$ :smile:"


def many(material: Material) -> list[Finding]:
    run = material.runs[0]
    example = Example((("query", NASTY), ("match", "a dog")), "note", (((0, 3),), ()))
    return [
        Finding(
            f"kind-{number}", Level.BLIND_SPOT, f"{{A}} fails at {number} {NASTY}.", "evalrank", run.plan.dataset,
            (run,), 0.1, "a test", 40, 1 - number / 20, "evalrank",
            against=by_chance(-0.4, 1e-5), address={"view": "pairs"}, examples=(example,),
        )
        for number in range(10)
    ]  # fmt: skip


@pytest.fixture
def planted(monkeypatch: pytest.MonkeyPatch) -> None:
    """EvalRank has ten findings, other diagnostics none."""
    monkeypatch.setattr(
        collection,
        "make",
        lambda runs, repository, settings: (
            many(Material(runs.chosen, (), repository, settings)) if runs.entry.id == "evalrank" else []
        ),
    )


def cards(app: AppTest) -> list[str]:
    return [str(element.value) for element in app.markdown if " fails at " in str(element.value)]


@pytest.mark.heavy
@pytest.mark.usefixtures("planted")
def test_some_are_shown_before_more(open_app: OpenApp, demo_cache: Path) -> None:
    app = open_app(demo_cache, "findings")
    assert [text.split(" fails at ")[1][0] for text in cards(app)] == list("0123456"), "and a caution"
    assert "10 hypotheses" in written(app)
    app.toggle(key="findings_more").set_value(True).run()
    assert len(cards(app)) == 10
    assert len(cards(open_app(demo_cache, "findings", findings_more="true"))) == 10


@each(
    ("levels", "expected"),
    [
        ("b" * 10, [0, 1, 2, 3, 4, 5, 6, 7]),
        ("ss", [0, 1]),
        ("b" * 9 + "csss", [0, 1, 2, 3, 4, 9, 10, 11]),
        ("bccccccccccss", [0, 1, 2, 3, 4, 5, 11, 12]),
    ],
)
def test_every_level_is_in_sight(levels: str, expected: Sequence[int]) -> None:
    of = {"b": Level.BLIND_SPOT, "c": Level.CAUTION, "s": Level.STRENGTH}
    groups: list[Any] = [(SimpleNamespace(finding=SimpleNamespace(level=of[c])), i) for i, c in enumerate(levels)]
    assert [group[1] for group in at_first(groups)] == expected


@pytest.mark.matrix
@pytest.mark.usefixtures("planted")
def test_with_many_rows_only_the_models_run_last_are_read(
    open_app: OpenApp, demo_cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A store of 1,200 runs with 25,000 pairs each took minutes."""
    repository = Repository.at(demo_cache / "results.duckdb")
    pairs = sum(run.metrics["pairs"] for run in repository.runs(diagnostic="evalrank", state=RunState.DONE))
    assert repository.item_rows() == pairs
    repository.database.close()
    whole = read_by(monkeypatch)
    open_app(demo_cache, "findings", post="true")
    every = whole[-1]
    assert len(every) == 2
    monkeypatch.setattr(page, "MOST_ROWS", 1)
    few = read_by(monkeypatch)
    app = open_app(demo_cache, "findings", post="true")
    assert few[-1] == every[-1:]
    assert f"{len(every)} models with many results" in written(app)


def read_by(monkeypatch: pytest.MonkeyPatch) -> list[tuple[Variant, ...]]:
    """The models of every call from now on."""
    asked: list[tuple[Variant, ...]] = []
    collected = page.collected

    def noted(variants: Sequence[Variant], metric: str, dataset: str) -> Collected:
        asked.append(tuple(variants))
        return collected(variants, metric, dataset)

    monkeypatch.setattr(page, "collected", noted)
    return asked


@pytest.mark.usefixtures("planted")
def test_texts_of_users_are_texts(open_app: OpenApp, demo_cache: Path) -> None:
    app = open_app(demo_cache, "findings")
    assert "\\<b\\>" in cards(app)[0]
    table = next(element.proto.body for element in app.get("html") if "query" in element.proto.body)
    assert "<b>x</b>" not in table
    assert "&lt;b&gt;</mark>x" in table.replace("<mark", "\n<mark") or "&lt;b&gt;" in table


@pytest.mark.usefixtures("planted")
def test_a_link_to_a_finding_shows_it_first_or_says_that_it_is_gone(open_app: OpenApp, demo_cache: Path) -> None:
    app = open_app(demo_cache, "findings", finding="evalrank-kind-3-00000000")
    assert any("gone" in str(warning.value) for warning in app.warning)
    assert len(cards(app)) == SHOWN - 1
    (found,) = [one for one in collected(demo_cache).discoveries if one.finding.kind == "kind-9"]
    app = open_app(demo_cache, "findings", finding=found.finding.id)
    assert not app.warning
    assert [text.split(" fails at ")[1][0] for text in cards(app)] == list("90123456")


def collected(cache: Path) -> collection.Collected:
    settings = make_settings(cache)
    return collection.collect(Repository.at(settings.store), settings)


def test_an_empty_store_has_doors(open_app: OpenApp, tmp_path: Path) -> None:
    app = open_app(tmp_path, "findings")
    assert any(button.key == "run_demo" and not button.disabled for button in app.button)
    assert not (tmp_path / "results.duckdb").exists()


@pytest.mark.usefixtures("planted")
def test_the_command_gives_the_same_list(
    demo_cache: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("BLINDSPOT_CACHE", str(demo_cache))
    assert cli.main(["findings", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["hypotheses"] == 10
    kinds = [one["kind"] for one in found["findings"]]
    assert kinds[:10] == [f"kind-{number}" for number in range(10)]
    assert found["findings"][0]["examples"][0]["texts"][0] == {"role": "query", "text": NASTY, "marked": [[0, 3]]}
    assert cli.main(["findings"]) == 0
    assert "minilm" in capsys.readouterr().out
    assert cli.main(["findings", "nosuchrun"]) == 2
    assert "nosuchrun" in capsys.readouterr().err
    assert cli.main(["findings", "--variant", "minilm", "--json"]) == 0
    only = json.loads(capsys.readouterr().out)
    assert 0 < len(only["runs"]) < len(found["runs"])
    assert {one["encoder"] for finding in only["findings"] for one in finding["variants"]} <= {"minilm"}
    assert cli.main(["findings", "--variant", "minilm-cls"]) == 2
    assert "minilm-cls" in capsys.readouterr().err
