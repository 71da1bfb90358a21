"""Names on every page: its pickers, no path of the server, a rename that links survive, names that are refused."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from blindspot.names import Kind, in_address
from blindspot.settings import ASSETS
from blindspot.store.repository import Repository
from blindspot.ui.navigation import pickers_of, places
from tests.support.pages import OpenApp, charts, written
from tests.support.world import World

PAGES = [place.stem for place in places()]
FOLDER = "xqzsecretfolder"  # of model and dataset: it may stand nowhere


@pytest.fixture(scope="module")
def stored(module_world: World, tmp_path_factory: pytest.TempPathFactory) -> tuple[World, str, str]:
    """A world with runs of a user's vectors on a user's pairs, both in a folder with a telling name."""
    folder = tmp_path_factory.mktemp("names") / FOLDER
    folder.mkdir()
    data = Path(shutil.copy(ASSETS / "demo" / "own_pairs.csv", folder / "customer-pairs.csv"))
    words = sorted({word for word in data.read_text("utf-8").lower().replace(",", " ").split() if word.isalpha()})
    rng = np.random.default_rng(0)
    lines = [f"{word} {' '.join(f'{x:.4f}' for x in rng.normal(size=4))}" for word in words]
    (folder / "house-vectors.txt").write_text("\n".join(lines), "utf-8")
    model, dataset = f"vectors:{folder / 'house-vectors.txt'}", f"file:{data}"
    for transform in ("none", "center"):
        module_world.run("evalrank", f"{model}~{transform}", dataset)
    return module_world, model, dataset


def shown(app: AppTest) -> str:
    """All that a reader sees: texts, tables, charts, labels and options of widgets, names of files."""
    parts = [written(app), *(frame.value.to_json() for frame in app.dataframe)]
    parts += [element.proto.spec for element in app.get("plotly_chart")]
    for kind in ("selectbox", "multiselect", "radio", "button_group", "download_button", "button", "page_link"):
        for element in app.get(kind):
            parts.append(getattr(element.proto, "label", ""))
            parts.append(getattr(element.proto, "placeholder", ""))
            parts += [str(option) for option in getattr(element.proto, "options", ())]
            parts.append(getattr(element.proto, "url", ""))
    return "\n".join(parts)


@pytest.mark.parametrize("page", PAGES)
def test_a_page_has_its_pickers_and_says_nowhere_where_on_the_server_a_model_or_dataset_is(
    open_app: OpenApp, stored: tuple[World, str, str], page: str
) -> None:
    world, _, dataset = stored
    app = open_app(world.cache, page, data=dataset, post="true")
    kinds = ("selectbox", "multiselect", "toggle", "button_group")
    assert {widget.key for kind in kinds for widget in app.sidebar.get(kind)} == pickers_of(page)
    said = shown(app)
    if page == "data":  # its reference is in its details, for the command line
        said = said.replace(f"`{dataset}`", "")
    assert FOLDER not in said, [line[:200] for line in said.split("\n") if FOLDER in line]


@pytest.mark.matrix
def test_a_rename_is_on_every_page_and_links_survive_it(open_app: OpenApp, stored: tuple[World, str, str]) -> None:
    world, model, dataset = stored
    link = {"data": dataset, "model": [f"{model}~none", f"{model}~center"]}
    app = open_app(world.cache, "models", shown=model)
    (field,) = (box for box in app.text_input if str(box.key).startswith("name_model"))
    assert field.value == "house-vectors"
    field.set_value("Our <b>words</b>").run()
    assert [error.value for error in app.error], "refused, and said"
    (field,) = (box for box in app.text_input if str(box.key).startswith("name_model"))
    field.set_value("minilm").run()
    assert "minilm" in app.error[0].value, "another has this name"
    (field,) = (box for box in app.text_input if str(box.key).startswith("name_model"))
    field.set_value("KB מודל").run()
    assert not app.error
    app = open_app(world.cache, "evalrank", **link)
    assert app.multiselect(key="model").value == link["model"]
    assert any("KB מודל + center" in option for option in app.multiselect(key="model").options)
    assert any("KB מודל" in json.dumps(spec, ensure_ascii=False) for spec in charts(app))
    assert "house-vectors" not in shown(app)
    assert app.query_params["model"] == [in_address(name) for name in link["model"]], "a new name changes no address"
    world.repository.give_name(Kind.MODEL, model, "")
    assert "house-vectors" in shown(open_app(world.cache, "evalrank", **link))


def test_visitors_of_a_demo_cannot_rename(
    open_app: OpenApp, stored: tuple[World, str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BLINDSPOT_MODE", "demo")
    app = open_app(stored[0].cache, "models", shown="minilm")
    assert not [box for box in app.text_input if str(box.key).startswith("name_")]
    assert Repository.at(stored[0].settings.store).names()
