"""Addresses that somebody made up: every page says what it does not know, or shows what it can; never an exception."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.support.pages import OpenApp

BAD = (
    *("../../etc/passwd", "<img src=x onerror=alert(1)>", "\u202e[x](javascript:alert(1))", "9" * 400, "1e999", "nan"),
    *("a\0b", "-1", "' OR 1=1"),
)
PARAMETERS = "data model metric protocol pair base shown session set facilitator item hub".split()
PAGES = {"evalrank": "item", "neighbors": "item", "models": "shown", "intruder": "session", "data": "data"}


@pytest.mark.matrix
@pytest.mark.parametrize("page", PAGES)
def test_a_page_survives_any_address(open_app: OpenApp, demo_cache: Path, page: str) -> None:
    for number, bad in enumerate(BAD[:: 2 if page == "evalrank" else 3]):
        query = dict.fromkeys(PARAMETERS, bad)
        if number % 2:  # with a dataset that is known, so that the page goes further
            query |= {"data": "demo-pairs", "model": "minilm~none"}
        app = open_app(demo_cache, page, **query)
        shown = [str(e.value) for e in [*app.markdown, *app.error, *app.warning, *app.info]]
        shown = [re.sub(r"`[^`]*`|\\\\<", "", text) for text in shown]  # as code, or escaped
        assert not any("<img src=x" in text for text in shown)
