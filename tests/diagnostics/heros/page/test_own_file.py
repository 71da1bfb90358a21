"""The page HEROS on a user's own minimal pairs, which may have only some of the subsets."""

from __future__ import annotations

from pathlib import Path

import pytest

from core.runs import pipeline
from core.settings import Settings
from core.store.repository import Repository
from tests.support.heros_table import FIRST_ROWS, demo_file
from tests.support.pages import OpenApp, chart
from tests.support.small_world import GramEncoder, register_encoder


@pytest.mark.parametrize("subsets", [("typo",), ("antonym", "negation_main"), ("synonym", "negation_antonym", "typo")])
def test_a_file_with_some_of_the_subsets_is_shown(
    open_app: OpenApp,
    settings: Settings,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    subsets: tuple[str, ...],
) -> None:
    path = demo_file(tmp_path, subsets)
    repository, runs = Repository.at(settings.store), {}
    for encoder, size in (("trigrams", 3), ("bigrams", 2)):
        register_encoder(monkeypatch, GramEncoder(encoder, size))
        request = pipeline.request("heros", encoder, "none", f"file:{path}", {}, settings)
        runs[encoder] = pipeline.run(request, settings, repository).record
    repository.database.close()
    app = open_app(settings.cache, "heros", data=f"file:{path}")
    assert not app.exception
    assert not app.error
    heat = chart(app, 0)["data"][0]
    assert set(heat["y"]) == set(runs)
    for name, row in zip(heat["y"], heat["text"], strict=True):
        assert [cell[:5] for cell in row] == [f"{runs[name].metrics[subset]:.3f}" for subset in subsets]
    app.segmented_control(key="heros_view").set_value("sentences").run()
    assert not app.exception
    (table,) = (f.value for f in app.dataframe if "original" in f.value)
    assert table["original"].tolist() == [row["original"] for row in FIRST_ROWS]
    assert list(table.columns) == ["no", "original", *(f"A: {subset}" for subset in subsets)]
    app.switch_page("pages/evalrank.py").run()
    assert not app.exception
    assert "is a minimal-pair set. Pick another dataset" in app.info[0].value
    app.switch_page("pages/overview.py").run()
    assert not app.exception
