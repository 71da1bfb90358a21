"""The pages of a hosted demo by AppTest: hostile addresses on every page, what is off, what is a visitor's alone."""

from __future__ import annotations

from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from blindspot.diagnostic import Picker
from blindspot.store.repository import Repository
from blindspot.ui.navigation import pickers_of, places
from blindspot.ui.resources import jobs
from tests.support.data_page import keep, listed, upload
from tests.support.pages import OpenApp, switch_page, written
from tests.support.run_history import choose_rows

PAGES = [place.stem for place in places()]
SECRET = "what only the host may read"
PAIRS = b"query,match\na secret cat,the secret cat\na dog,the dog\n"


@pytest.fixture
def demo(open_app: OpenApp, monkeypatch: pytest.MonkeyPatch) -> OpenApp:
    monkeypatch.setenv("BLINDSPOT_MODE", "demo")
    return open_app


def everything(app: AppTest) -> str:
    """All text on a page, tables included."""
    return written(app) + " ".join(str(frame.value.to_dict()) for frame in app.dataframe)


@pytest.mark.matrix
@pytest.mark.usefixtures("few_thresholds")
def test_no_address_of_any_page_is_a_way_out(demo: OpenApp, demo_copy: Path, tmp_path: Path) -> None:
    secret = tmp_path / "secret.csv"
    secret.write_text(f"query,match\n{SECRET},{SECRET}\nand,{SECRET}\n")
    hostile = {
        "data": f"file:{secret}",
        "model": f"table:{secret}~none",
        "shown": f"dir:{tmp_path}",
        "session": "../../etc/passwd",
        "facilitator": "' OR 1=1 --",
        "set": "../../../etc/passwd",
        "item": "1e999",
        "search": "<img src=x onerror=alert(1)>",
        "a": f"vectors:{secret}",
    }
    app = demo(demo_copy, "overview", data=hostile["data"], model=hostile["model"])
    assert "names what is not here" in written(app)
    for page in PAGES:
        switch_page(app, page)
        for name, value in hostile.items():
            app.query_params[name] = value
        app.run()
        said = everything(app)
        assert SECRET not in said, page
        assert "root:" not in said, page
        assert not any(box.allow_html for box in app.markdown if "onerror" in box.value), page
        if Picker.DATASET in pickers_of(page):
            assert app.selectbox(key="data").value == "demo-pairs", page
    assert jobs().jobs() == []
    assert not (demo_copy / "sessions").exists()


@pytest.mark.parametrize("reference", ["dir:/", "hf:a/b", "table:/etc/passwd", "vectors:../x"])
def test_a_reference_typed_on_the_page_run_is_refused(demo: OpenApp, tmp_path: Path, reference: str) -> None:
    app = demo(tmp_path, "run")
    app.multiselect(key="run_encoders").set_value(["minilm", reference]).run()
    (said,) = [error.value for error in app.error]
    assert "cannot be used on a hosted demo" in said
    assert not any(button.key == "run_all" for button in app.button)


@pytest.mark.matrix
def test_what_is_stored_is_read_and_not_changed(demo: OpenApp, demo_copy: Path) -> None:
    stored = Repository.at(demo_copy / "results.duckdb").runs()
    app = choose_rows(demo(demo_copy, "run"), stored[0].run_id)
    keys = {button.key for button in app.button}
    assert not keys & {"repeat", "delete", "delete_yes"}
    app.switch_page("pages/models.py").run()
    assert not {button.key for button in app.button} & {"check", "check_upload", "remove", "remove_yes"}
    assert not app.file_uploader
    switch_page(app, "intruder")
    app.run()
    assert not app.file_uploader
    assert Repository.at(demo_copy / "results.duckdb").runs() == stored


@pytest.mark.matrix
def test_an_upload_is_kept_apart_from_what_all_share(demo: OpenApp, demo_copy: Path) -> None:
    """All AppTests are one session to Streamlit: ``tests/browser`` has two visitors."""
    mine = demo(demo_copy, "data")
    keep(upload(mine, PAIRS))
    reference = mine.selectbox(key="data").value
    assert reference.startswith("file:")
    (name,) = [name for name in listed(mine) if name.startswith("my_pairs")]
    assert str(demo_copy) not in everything(mine), "a path of the server is shown"
    mine.switch_page("pages/run.py").run()
    assert name in mine.multiselect(key="run_datasets").options
    assert "No runs yet" in written(mine), "runs that all share are in the visitor's own store"

    mine.selectbox(key="data").set_value("demo-pairs").run()
    assert name not in mine.multiselect(key="run_datasets").options, "it would be computed for all to see"
    assert "2 runs" in written(mine)
    mine.switch_page("pages/data.py").run()
    assert name in listed(mine), "it is not offered any more"


@pytest.mark.process
def test_an_upload_that_is_too_large_says_so(demo: OpenApp, tmp_path: Path) -> None:
    app = demo(tmp_path, "data")
    upload(app, b"query,match\n" + b"".join(b"a%d,b%d\n" % (i, i) for i in range(2_001)))
    (said,) = [error.value for error in app.error]
    assert "2,001 rows" in said
    assert "at most 2,000 on this demo" in said
    assert not any(button.key == "upload_keep" for button in app.button)
    assert not (tmp_path / "sessions").exists()
