"""AppTest: the app in this process, with a store of its own. No run of a page may end in Streamlit's error box."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import streamlit as st
from streamlit.components.v2 import manifest_scanner
from streamlit.runtime.pages_manager import PagesManager
from streamlit.runtime.scriptrunner.script_cache import ScriptCache
from streamlit.testing.v1 import AppTest, local_script_runner
from streamlit.testing.v1.element_tree import ElementTree
from streamlit.testing.v1.local_script_runner import LocalScriptRunner

from blindspot.diagnostics.evalrank.figures.scores import SHOWN
from blindspot.settings import ROOT
from blindspot.ui.navigation import place_of

OpenApp = Callable[..., AppTest]

TIMEOUT_SECONDS = 180
_run = AppTest._run


def _run_whole(app: AppTest, *args: Any, **kwargs: Any) -> AppTest:
    _run(app, *args, **kwargs)
    errors = [(error.value, error.stack_trace) for error in app.exception]
    assert errors == []
    return app


AppTest._run = _run_whole  # type: ignore[method-assign]
# AppTest does in every run what a server does once: it reads the metadata of all installed packages for components,
# compiles the scripts, and runs a page's file without app.py, which then begins anew.
manifest_scanner.scan_component_manifests = cache(manifest_scanner.scan_component_manifests)
local_script_runner.ScriptCache = cache(ScriptCache)  # type: ignore[attr-defined, assignment, misc]
first_run = LocalScriptRunner.run


def _later_run(runner: LocalScriptRunner, *args: Any, **kwargs: Any) -> ElementTree:
    PagesManager.uses_pages_directory = False
    return first_run(runner, *args, **kwargs)


LocalScriptRunner.run = _later_run  # type: ignore[method-assign]


def written(app: AppTest, *, raw: bool = True) -> str:
    """Everything written on the page, but for tables and what is in charts; not raw: what is read as Markdown."""
    kinds = [app.title, app.subheader, app.markdown, app.caption, app.info, app.warning, app.error, app.success]
    return "\n".join(str(element.value) for kind in [*kinds, app.toast, *[app.text] * raw] for element in kind)


def table(app: AppTest, *columns: str) -> pd.DataFrame:
    """The first table on the page that has these columns."""
    return next(frame.value for frame in app.dataframe if set(columns) <= set(frame.value.columns))


def charts(app: AppTest) -> list[dict[str, Any]]:
    """The specifications of the page's charts."""
    return [json.loads(element.proto.spec) for element in app.get("plotly_chart")]


def chart(app: AppTest, number: int = 0) -> dict[str, Any]:
    return charts(app)[number]


def chart_named(app: AppTest, name: str) -> dict[str, Any]:
    """A chart by its key, which ends its id."""
    (found,) = (element for element in app.get("plotly_chart") if name in element.proto.id)
    return dict(json.loads(found.proto.spec))


def dots_of_evalrank(app: AppTest) -> dict[str, dict[str, Any]]:
    """The dots of EvalRank's first figure, by score."""
    traces = {trace["name"]: trace for trace in chart_named(app, "scores")["data"] if trace["mode"] == "markers"}
    return {name: traces[title] for name, title in SHOWN.items()}


def values(axis: list[float] | dict[str, str]) -> list[float]:
    """Numbers of a trace: a list, or an array that plotly packed."""
    if isinstance(axis, list):
        return axis
    return list(np.frombuffer(base64.b64decode(axis["bdata"]), dtype=axis["dtype"]))


def switch_page(app: AppTest, stem: str) -> None:
    """Switch to a page, or to a part of one, without running it."""
    page, of_part = place_of(stem)
    app.switch_page(f"pages/{page.stem}.py")
    for name, value in of_part.items():
        app.query_params[name] = value


def forget() -> None:
    """Empty what pages keep, the server's settings and store among it."""
    st.cache_resource.clear()
    st.cache_data.clear()


@pytest.fixture(autouse=True)
def nothing_kept() -> Iterator[None]:
    """A test finds nothing that pages kept in the process's earlier tests: settings would be those of another test."""
    forget()
    yield
    forget()


@pytest.fixture
def open_app(monkeypatch: pytest.MonkeyPatch) -> OpenApp:
    """Open a page of the app on a cache folder, with query parameters."""

    def opened(cache: Path, page: str, **query: str | list[str]) -> AppTest:
        monkeypatch.setenv("BLINDSPOT_CACHE", str(cache))
        monkeypatch.setenv("BLINDSPOT_DEVICE", "cpu")
        forget()
        app = AppTest.from_file(str(ROOT / "app.py"), default_timeout=TIMEOUT_SECONDS)
        switch_page(app, page)  # a cold link: no other page runs before
        for name, value in query.items():
            app.query_params[name] = value
        return app.run()

    return opened
