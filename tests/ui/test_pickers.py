"""The shared pickers: what a page shows where none are picked, the baseline, and pickers that change nothing."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest

from blindspot.datasets.catalog import DatasetRef, find_dataset
from blindspot.names import in_address
from blindspot.store.repository import Repository
from blindspot.studies.compare.rows import compare
from blindspot.studies.findings.own import in_words
from blindspot.ui import pickers
from blindspot.ui.page_state import PageState
from blindspot.ui.pickers import DEFAULT_DATASET, Picks
from blindspot.variants import Variant
from tests.support.own_files import write
from tests.support.pages import OpenApp, switch_page, written
from tests.support.small_world import GramEncoder
from tests.support.store_samples import pair_set, store_run
from tests.support.world import World

MINILM, LSA, CENTERED = Variant("minilm", "none"), Variant("lsa", "none"), Variant("minilm", "center")
ALL = [CENTERED, MINILM, LSA]


def picks(*variants: Variant, baseline: Variant | None = None, postprocessed: bool = False) -> Picks:
    return Picks(DatasetRef("demo-pairs"), "cos", "definition", variants, baseline, postprocessed)


def test_of_a_training_the_last_step_is_shown_until_steps_are_picked() -> None:
    steps = [Variant(f"python:mine/step-{number}", "none") for number in (20, 40, 60)]
    stored = (MINILM, *steps, LSA)
    of_all = Picks(DatasetRef("demo-pairs"), "cos", "definition", (), known=stored)
    assert of_all.asked_for(stored) == [MINILM, steps[-1], LSA]
    assert of_all.asked_for(reversed(stored)) == [LSA, steps[-1], MINILM]
    assert replace(of_all, baseline=steps[0]).asked_for(stored) == [MINILM, steps[0], steps[-1], LSA]
    assert replace(of_all, variants=(steps[0],)).asked_for(stored) == [steps[0]]
    assert replace(of_all, known=tuple(steps)).asked_for(steps) == steps, "one model is nothing to compare"


def test_post_processed_models_are_shown_where_asked_for() -> None:
    assert picks().asked_for(ALL) == [MINILM, LSA]
    assert picks(CENTERED).asked_for(ALL) == [CENTERED]
    assert picks(postprocessed=True).asked_for(ALL) == ALL
    assert picks(baseline=CENTERED).asked_for(ALL) == ALL
    assert picks().asked_for([CENTERED, LSA]) == [LSA, CENTERED], "one model is nothing to compare"
    assert picks().asked_for([CENTERED]) == [CENTERED]
    assert picks(LSA).asked_for([CENTERED]) == []


def test_sentences_are_about_the_newest_own_model_unless_a_baseline_is_chosen() -> None:
    older, newer = Variant("python:mine/a", "none"), Variant("dir:/models/b", "none")
    of_all = replace(picks(baseline=MINILM), known=(MINILM, older, newer, LSA))
    assert of_all.subject_first([MINILM, older, newer, LSA]) == [newer, MINILM, older, LSA]
    assert of_all.subject_first([LSA, MINILM, older]) == [older, LSA, MINILM]
    small = Variant("dir:/models/b", "truncate:32+binary")
    with_small = replace(of_all, known=(MINILM, newer, small))
    assert with_small.subject_first([small, newer])[0] == newer, "not a small size of it, though that is newer"
    assert replace(of_all, known=(MINILM, small)).subject_first([MINILM, small])[0] == small
    assert of_all.subject_first([LSA, MINILM]) == [MINILM, LSA]
    chosen = replace(of_all, subject=MINILM)
    assert chosen.subject_first([older, LSA, MINILM]) == [MINILM, older, LSA]
    assert chosen.subject_first([LSA, older]) == [older, LSA], "it was not run on this dataset"


def test_a_page_has_one_subject_the_first_one_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its figure and its views may be of different runs."""
    older, newer = Variant("python:mine/a", "none"), Variant("python:mine/b", "none")
    address: dict[str, str] = {}
    monkeypatch.setattr(pickers.st, "query_params", address)
    of_page = replace(picks(baseline=MINILM), known=(MINILM, older, newer))
    assert of_page.subject_first([MINILM, older])[0] == older
    assert of_page.subject_first([MINILM, older, newer])[0] == older, "as above it on the same page"
    assert of_page.subject_first([MINILM, newer])[0] == newer
    assert address == {"about": str(older)}


def test_layers_and_prompts_of_a_model_that_is_shown_are_left_out() -> None:
    layers = [Variant(f"minilm?layer={number}", "none") for number in range(3)]
    prompted = Variant("minilm?pooling=cls&prompt=query%3A%20", "none")
    assert picks().asked_for([MINILM, LSA, *layers]) == [MINILM, LSA]
    assert picks().asked_for([MINILM, *layers]) == [MINILM, *layers], "one model is nothing to compare"
    assert picks().asked_for([MINILM, LSA, prompted]) == [MINILM, LSA, prompted], "of another model"
    pooled = Variant("minilm?pooling=cls", "none")
    assert picks().asked_for([MINILM, pooled, prompted]) == [MINILM, pooled], "a pooling is a model of its own"
    assert picks(baseline=layers[0]).asked_for([MINILM, LSA, *layers]) == [MINILM, LSA, layers[0]]


@pytest.fixture
def three(tmp_path: Path) -> Path:
    """A cache with runs of a centered model, then the plain one, then another."""
    repository = Repository.at(tmp_path / "results.duckdb")
    for variant in (CENTERED, LSA, MINILM):
        name = str(variant).replace("~", "-")
        store_run(repository, name, pair_set(), encoder=variant.encoder, transform=variant.transform)
    repository.database.close()
    return tmp_path


@pytest.mark.matrix
def test_the_baseline_is_minilm_unless_another_is_picked(open_app: OpenApp, three: Path) -> None:
    app = open_app(three, "evalrank")
    assert app.selectbox(key="base").value is None
    assert app.session_state["_picks"].baseline == MINILM
    assert "base" not in app.query_params
    app.selectbox(key="base").set_value("lsa~none").run()
    assert app.session_state["_picks"].baseline == LSA
    app = open_app(three, "evalrank", base="minilm~center")
    assert app.session_state["_picks"].baseline == CENTERED


def test_without_minilm_the_oldest_untransformed_model_is_the_baseline(open_app: OpenApp, tmp_path: Path) -> None:
    repository = Repository.at(tmp_path / "results.duckdb")
    for name, encoder, transform in (("a", "x", "center"), ("b", "y", "none"), ("c", "z", "none")):
        store_run(repository, name, pair_set(), encoder=encoder, transform=transform)
    repository.database.close()
    assert open_app(tmp_path, "evalrank").session_state["_picks"].baseline == Variant("y", "none")


@pytest.mark.matrix
def test_a_baseline_that_is_picked_is_shown_among_picked_models(open_app: OpenApp, three: Path) -> None:
    app = open_app(three, "evalrank", model="lsa~none")
    assert app.session_state["_picks"].variants == (LSA,)
    app = open_app(three, "evalrank", model="lsa~none", base="minilm~none")
    assert app.session_state["_picks"].variants == (MINILM, LSA)
    assert app.multiselect(key="model").value == ["lsa~none"]
    switch_page(app, "overview")
    app.run()
    assert app.session_state["_picks"].variants == (LSA,), "nothing is compared with a baseline there"


@pytest.mark.matrix
def test_a_copied_link_is_about_the_same_model_when_there_is_a_newer_one(
    open_app: OpenApp, world: World, tmp_path: Path
) -> None:
    world.add(pair_set())

    def run(name: str) -> None:
        path = tmp_path / f"{name}.txt"
        path.write_text("".join(f"{number} {number} {number**2 % 7}\n" for number in range(1, 40)))
        world.run("evalrank", f"vectors:{path}", "sample")

    def subject(**address: str) -> tuple[str, str]:
        app = open_app(world.cache, "evalrank", data="sample", **address)
        named = re.search(r"\*\*(older|newer|newest)\*\*", written(app))
        assert named
        return app.query_params["about"], named[1]

    run("older")
    run("newer")
    copied, model = subject()
    assert model == "newer"
    run("newest")
    assert subject()[1] == "newest"
    assert subject(about=copied) == (copied, "newer")


@pytest.mark.matrix
def test_doors_leave_nothing_behind_once_there_are_results(open_app: OpenApp, three: Path) -> None:
    """An element in their place: of a container, Streamlit keeps what was in it, faded, until the page is whole."""
    for page in ("findings", "compare", "overview"):
        app = open_app(three, page)
        assert "No results yet" not in written(app)
        assert app.get("empty"), page


def test_sizes_are_left_out_without_a_word(open_app: OpenApp, tmp_path: Path) -> None:
    repository = Repository.at(tmp_path / "results.duckdb")
    for encoder in ("minilm", "minilm-cls"):
        for transform in ("none", "center", "truncate:2", "truncate:2+int8", "binary", "pca:2+binary"):
            store_run(repository, f"{encoder}{transform}", pair_set(), encoder=encoder, transform=transform)
    repository.database.close()
    assert "2 post-processed models hidden" in written(open_app(tmp_path, "findings"))
    assert len(open_app(tmp_path, "compare").selectbox(key="b").options) == 2


@pytest.fixture(scope="module")
def own(module_world: World, tmp_path_factory: pytest.TempPathFactory) -> tuple[World, str, str]:
    """A world in which only a user's own pairs were run, with a model of the user's and two others; both references."""
    folder = tmp_path_factory.mktemp("own")
    words = [f"w{number}" for number in range(60)]
    rows = [{"query": f"{a} {b}", "match": f"{b} {c}"} for a, b, c in zip(words, words[1:], words[2:], strict=False)]
    dataset = find_dataset(f"file:{write(folder, 'csv', rows)}").id
    (folder / "mine.txt").write_text(
        "".join(f"{w} {n % 7} {n % 5} {n % 3 + 1}\n" for n, w in enumerate(words)), "utf-8"
    )
    model = f"vectors:{folder / 'mine.txt'}"
    module_world.add(GramEncoder())
    for encoder in (model, "trigrams", "random-projection"):
        module_world.run("evalrank", encoder, dataset)
    return module_world, dataset, model


@pytest.mark.heavy
def test_own_material_comes_first(open_app: OpenApp, own: tuple[World, str, str]) -> None:
    world, dataset, model = own
    for page in ("evalrank", "neighbors", "threshold"):
        app = open_app(world.cache, page)
        assert app.session_state["_picks"].dataset == dataset, page
        assert app.query_params["data"] == in_address(dataset), "a link is to what is on screen"
        assert app.selectbox(key="data").options[0] == "pairs"
    assert open_app(world.cache, "evalrank", data="demo-pairs").session_state["_picks"].dataset == "demo-pairs"
    app = open_app(world.cache, "compare", base="trigrams~none")
    assert app.multiselect(key="model").options == ["mine", "trigrams", "random-projection"]
    assert [app.selectbox(key=side).value for side in "ab"] == ["trigrams~none", f"{model}~none"]
    for page, key in (("size", "size_enc"), ("repair", "repair_enc"), ("languages", "lang_enc")):
        assert open_app(world.cache, page).selectbox(key=key).value == model
    for page, key in (("lab", "lab_enc"), ("intruder", "make_intruder_variants"), ("try_it", "try_models")):
        first, second = open_app(world.cache, page).multiselect(key=key).value
        assert [first.removesuffix("~none"), second.removesuffix("~none")] == [model, "minilm"], page
    for page, of_another_kind in (("size", "demo-categories"), ("repair", "cr")):
        app = open_app(world.cache, page, data=of_another_kind)
        assert "(sidebar) is not a" in written(app)
        assert "Shown: pairs" in written(app), "a page that needs another kind shows the dataset of its newest run"
    assert open_app(world.cache, "heros").button(key="run_first").label == "Compare mine and minilm"
    assert "**mine** ranks the right match first" in written(open_app(world.cache, "evalrank"))
    app = open_app(world.cache, "run")
    chosen = [app.multiselect(key=f"run_{what}").value for what in ("encoders", "transforms", "datasets")]
    assert chosen == [[model, "minilm"], ["none"], [dataset]]


@pytest.mark.heavy
def test_a_page_begins_with_own_data_of_its_kind(
    open_app: OpenApp, own: tuple[World, str, str], tmp_path: Path
) -> None:
    world, pairs, model = own
    rows = [{"text1": f"w{n}", "text2": f"w{n + 1}", "score": str(n % 5)} for n in range(40)]
    rated = find_dataset(f"file:{write(tmp_path, 'csv', rows)}?text1=text1&text2=text2&score=score").id
    later = [world.run("similarity", model, rated)]
    try:
        begun = {"neighbors": rated, "heros": rated, "size": rated, "threshold": rated}
        begun |= {"evalrank": pairs, "similarity": rated, "repair": pairs}
        for page, dataset in begun.items():
            assert open_app(world.cache, page).session_state["_picks"].dataset == dataset, page
        later.append(world.run("evalrank", "random-projection", "demo-pairs"))
        app = open_app(world.cache, "repair", data=in_address(rated))
        assert "Shown: pairs" in written(app), "own data of a kind that fits, though the demo's was run later"
        later += [
            world.run("evalrank", f"{model}~truncate:2", pairs),
            world.run("similarity", "random-projection", rated),
        ]
        begun = {"size": pairs, "lab": pairs, "threshold": rated, "similarity": rated}
        for page, dataset in begun.items():
            assert open_app(world.cache, page).session_state["_picks"].dataset == dataset, f"{page} opens on results"
    finally:
        for run in later:
            world.repository.delete(run)


@pytest.mark.heavy
def test_findings_begin_with_comparisons_of_own_models(open_app: OpenApp, own: tuple[World, str, str]) -> None:
    """A difference has a card; what has none shares one line."""
    world, dataset, model = own
    path = Path(model.removeprefix("vectors:"))
    (copy := path.with_name("copy.txt")).write_text(path.read_text("utf-8"), "utf-8")
    newest = f"vectors:{copy}"
    again = world.run("evalrank", newest, dataset)
    a, trigrams = Variant(newest, "none"), Variant("trigrams", "none")
    (row,) = compare(a, trigrams, world.repository, {}).rows
    try:
        app = open_app(world.cache, "findings")
        for page, key in (("lab", "lab_enc"), ("run", "run_encoders")):
            assert open_app(world.cache, page).multiselect(key=key).value == [newest, model, "minilm"], page
    finally:
        world.repository.delete(again)
    (line,) = [part.value for part in app.markdown if "no significant difference" in part.value]
    assert line.startswith("**copy** ")
    assert "against mine: no significant difference on 1 score" in line
    links = {one.proto.label: one.proto.query_string for one in app.get("page_link") if "Compare" in one.proto.label}
    if row.is_significant:
        assert f"**copy is {row.verdict} than trigrams** on {in_words(row)}" in written(app).replace("\\", "")
        assert "b=trigrams" in links["Compare them"]
        assert "b=mine" in links["Compare"]
    else:
        assert "; against trigrams: no significant difference on 1 score." in line
        assert "b=trigrams" in links["Compare with trigrams"]
    assert all("a=copy" in link for link in links.values() if link)
    none = open_app(world.cache, "findings", model=["trigrams~none", "random-projection~none"])
    assert not [one for one in none.get("page_link") if one.proto.label.startswith("Compare ")]


def test_hidden_picks_are_kept_for_the_next_page(open_app: OpenApp, three: Path) -> None:
    app = open_app(three, "evalrank", metric="l2", base="lsa~none")
    switch_page(app, "evidence")
    app.run()
    assert not {"metric", "base"} & set(app.query_params)
    app.switch_page("pages/evalrank.py").run()
    assert app.segmented_control(key="metric").value == "l2"
    assert app.selectbox(key="base").value == "lsa~none"


def test_a_visit_leaves_the_picks_as_they_were(open_app: OpenApp, three: Path) -> None:
    app = open_app(three, "findings")
    app.switch_page("pages/heros.py")
    for name, value in PageState("demo-minimal", "cos", [LSA], is_visit=True).address.items():
        app.query_params[name] = value
    app.run()
    assert app.session_state["_picks"].dataset == "demo-minimal"
    assert app.session_state["_picks"].variants == (LSA,)
    app.switch_page("pages/evalrank.py").run()
    assert app.session_state["_picks"].dataset == DEFAULT_DATASET
    assert app.session_state["_picks"].variants == ()


def test_what_is_picked_during_a_visit_is_kept(open_app: OpenApp, three: Path) -> None:
    app = open_app(three, "findings")
    app.switch_page("pages/heros.py")
    for name, value in PageState("demo-minimal", "cos", [LSA], is_visit=True).address.items():
        app.query_params[name] = value
    app.run()
    app.multiselect(key="model").set_value([]).run()
    app.selectbox(key="data").set_value("demo-words").run()
    app.switch_page("pages/evalrank.py").run()
    assert app.session_state["_picks"].dataset == "demo-words"
    assert app.session_state["_picks"].variants == ()


def test_an_address_has_no_path_and_texts_as_they_are(tmp_path: Path) -> None:
    """Models and datasets are files of this machine; what a reader typed may look like one."""
    data, model = f"file:{tmp_path}/kb.csv", Variant(f"dir:{tmp_path}/tuned", "center")
    state = PageState(data, "cos", [model, LSA], is_visit=True, options={"q": data})
    address = state.at({"a": str(model), "item": "3"}, {"item": "7", "fit_on": data, "view": "pairs"}).address
    assert address.pop("q") == data
    assert str(tmp_path) not in str(address)
    assert address["data"] == address["fit_on"]
    assert address["model"] == [address["a"], "lsa~none"]
    assert (address["item"], address["view"], address["via"]) == ("7", "pairs", "visit")
    assert PageState().with_(view="queries").address == {"view": "queries"}
    assert PageState(metric="cos").address["model"] == [], "all models, where the link brings its picks"


def test_a_followed_link_brings_all_its_picks(open_app: OpenApp, three: Path) -> None:
    link = PageState("demo-pairs", "l2", [CENTERED]).address
    app = open_app(three, "evalrank", **link)
    assert app.session_state["_picks"].metric == "l2"
    assert app.session_state["_picks"].variants == (CENTERED,)
    assert "link names what is not here" not in written(app)
