"""Files behind datasets and encoders that are gone, or hold something else now: every page works for the rest."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack

import pytest
from streamlit.testing.v1 import AppTest

from blindspot.datasets import fetch
from blindspot.datasets.catalog import find_dataset
from blindspot.diagnostic import find_diagnostic
from blindspot.doctor import results
from blindspot.errors import InputError
from blindspot.names import in_address
from blindspot.settings import Settings
from blindspot.ui import gone
from blindspot.ui.navigation import places
from blindspot.variants import Variant
from tests.support.gone_world import ENCODERS, HERE, LOSSES, OWN, GoneWorld, variant, world
from tests.support.pages import OpenApp, switch_page

PAGES = [place.stem for place in places()]
DATASETS = (*OWN, "upload")
VIEWS = {"evalrank": "view", "heros": "view", "similarity": "view"}
VIEWS |= dict.fromkeys(("transfer", "probing"), "view")


@pytest.fixture(scope="module")
def stored(tmp_path_factory: pytest.TempPathFactory) -> Iterator[GoneWorld]:
    with world(tmp_path_factory.mktemp("gone")) as found:
        yield found


@pytest.fixture(scope="module")
def whole(stored: GoneWorld) -> dict[str, set[str]]:
    """Per page what it shows of a dataset that stays, while everything is there; filled by the first test."""
    return {}


def page(app: AppTest, stem: str) -> AppTest:
    switch_page(app, stem)
    app.run()
    return app


def shown(app: AppTest) -> set[str]:
    parts = {"chart": app.get("plotly_chart"), "table": app.dataframe}
    keys = {str(widget.key) for widget in (*app.selectbox, *app.multiselect, *app.segmented_control)}
    return {name for name, found in parts.items() if found} | keys


def on_screen(app: AppTest) -> str:
    return "\n".join(str(e.value) for e in (*app.error, *app.warning, *app.info, *app.text, *app.caption))


@pytest.mark.heavy
@pytest.mark.parametrize("loss", LOSSES)
def test_with_everything_lost_every_page_shows_what_is_there(
    open_app: OpenApp, stored: GoneWorld, whole: dict[str, set[str]], loss: str
) -> None:
    """A dataset and an encoder that stay are picked: nobody has to hear of the others, and nothing is missing."""
    if not whole:
        app = open_app(stored.settings.cache, "overview", data=HERE)
        whole |= {stem: shown(page(app, stem)) for stem in PAGES}
    with ExitStack() as lost:
        for path in stored.paths.values():
            lost.enter_context(LOSSES[loss](path))
        app = open_app(stored.settings.cache, "overview", data=HERE)
        for stem in PAGES:
            found = shown(page(app, stem))
            assert not app.error, (stem, [error.value for error in app.error])
            # A page whose kind of data is another shows what was run, which is lost: nothing more can be run on it.
            # Lab begins with own models, and with those of the catalog where the files of own ones are lost.
            of_own = {"chart", "table", "view", "lab_decimals", "lab_score"} if stem in {"lab", "evidence"} else set()
            assert whole[stem] - found <= {"new_encoder", "new_transform", *of_own}, stem
        page(app, "lab")
        assert "my evalrank.csv" in on_screen(app), "what is not offered is named"
        for stem in ("neighbors", "map", "frequency"):
            captions = [caption.value for caption in page(app, stem).caption]
            assert any(all(name in caption for name in ("words", "table", "model")) for caption in captions), (
                stem,
                "own models that are not shown are named",
                captions,
            )


@pytest.mark.heavy
@pytest.mark.parametrize("loss", ["gone", pytest.param("changed", marks=pytest.mark.slow)])
@pytest.mark.parametrize("thing", [*DATASETS, *ENCODERS])
def test_with_what_is_lost_picked_every_page_says_so_and_shows_what_is_stored(
    open_app: OpenApp, stored: GoneWorld, thing: str, loss: str
) -> None:
    picks: dict[str, str | list[str]] = {"data": HERE}
    if thing in DATASETS:
        picks["data"] = in_address(stored.datasets[thing])
    else:
        picks["model"] = [variant(stored.encoders[thing])]
    own = find_diagnostic(thing).page if thing in OWN else None
    home = own.stem if own else "evalrank"
    with LOSSES[loss](stored.paths[thing]):
        app = open_app(stored.settings.cache, home, **picks)
        if thing != "frequency" and (thing in ENCODERS or loss == "gone"):
            assert app.get("plotly_chart") or app.dataframe, "scores are stored, whatever became of the file"
        if key := VIEWS.get(home):
            for view in app.segmented_control(key=key).options:
                app.segmented_control(key=key).set_value(view).run()
        # Where one thing is lost after another, each opens another sixth of the pages; make trust opens all.
        turn, parts = [*DATASETS, *ENCODERS].index(thing), 6 if loss == "gone" else 1
        for stem in PAGES[turn % parts :: parts]:
            page(app, stem)
        said = on_screen(page(app, "neighbors"))
        name = stored.paths[thing].name
        assert name in said or (thing in ENCODERS and variant(stored.encoders[thing]).split("~")[0] in said)


@pytest.mark.heavy
def test_the_doctor_says_what_is_gone_and_what_was_changed(stored: GoneWorld) -> None:
    with LOSSES["gone"](stored.paths["evalrank"]), LOSSES["changed"](stored.paths["vectors"]):
        stored.repository.database.close()
        found = [f for f in results.store(stored.settings, stored.repository) if f.name == "files"]
    assert len(found) == 2
    assert all(finding.remedy for finding in found)
    assert any(stored.datasets["evalrank"] in finding.what for finding in found)
    assert any(stored.encoders["vectors"] in finding.what and "binary" in finding.what for finding in found)


def test_steps_of_a_training_that_is_over_are_not_called_gone(
    monkeypatch: pytest.MonkeyPatch, settings: Settings
) -> None:
    def gone_files(*_: object) -> None:
        raise InputError("its files are gone")

    dataset, named = fetch.load(find_dataset("demo-categories"), settings), list[str]()
    monkeypatch.setattr(gone.spaces, "lacking", gone_files)
    monkeypatch.setattr(gone, "_named", lambda models, *_: named.extend(models))
    variants = [Variant.parse(f"{name}~none") for name in ("python:training/step-4", "dir:/models/mine", "minilm")]
    assert gone.encoded(variants, dataset, are_picked=False) == {}
    assert named == ["mine"]
