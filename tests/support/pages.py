"""AppTest: the app in this process, with a store of its own."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from core.settings import ROOT

TIMEOUT_SECONDS = 180
SHARED = {"data", "enc", "metric", "protocol"}


def chart(app: AppTest, number: int) -> dict[str, Any]:
    """The specification of a chart of the page."""
    return json.loads(app.get("plotly_chart")[number].proto.spec)


def values(axis: list[float] | dict[str, str]) -> list[float]:
    """Numbers of a trace: a list, or an array that plotly packed."""
    if isinstance(axis, list):
        return axis
    return list(np.frombuffer(base64.b64decode(axis["bdata"]), dtype=axis["dtype"]))


@pytest.fixture
def open_app(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., AppTest]]:
    """Open a page of the app on a cache folder, with query parameters."""

    def opened(cache: Path, page: str, **query: str | list[str]) -> AppTest:
        monkeypatch.setenv("BLINDSPOT_CACHE", str(cache))
        monkeypatch.setenv("BLINDSPOT_DEVICE", "cpu")
        st.cache_resource.clear()
        st.cache_data.clear()
        app = AppTest.from_file(str(ROOT / "app.py"), default_timeout=TIMEOUT_SECONDS)
        # The shared pickers read the address when app.py first runs, a page's own widgets when the page does.
        shared = {name: value for name, value in query.items() if name in SHARED}
        for name, value in shared.items():
            app.query_params[name] = value
        app.run()
        app.switch_page(f"pages/{page}.py")
        for name in query.keys() - shared:
            app.query_params[name] = query[name]
        return app.run()

    yield opened
    st.cache_resource.clear()
    st.cache_data.clear()
