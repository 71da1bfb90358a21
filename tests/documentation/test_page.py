"""The documentation inside the app: every page is there, every link and picture leads somewhere."""

from __future__ import annotations

import re
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest

from blindspot.diagnostic import all_diagnostics
from blindspot.documentation import contents
from blindspot.documentation.page import parts
from blindspot.settings import ASSETS
from blindspot.ui.navigation import DOCUMENTATION, places
from tests.support.pages import OpenApp
from tests.support.tables import each

EVERY = list(contents.titles())
HEADING = re.compile(r"^#+ (.+)$", re.MULTILINE)
LINK = re.compile(rf"\]\(({DOCUMENTATION}\?[^)]+)\)")
FENCED = re.compile(r"```.*?```", re.DOTALL)


def slugs(markdown: str) -> set[str]:
    """Anchors of headings, as MkDocs and Streamlit make them."""
    plain = (re.sub(r"[^\w\s-]", "", title.lower()).strip() for title in HEADING.findall(FENCED.sub("", markdown)))
    return {re.sub(r"[\s-]+", "-", title) for title in plain}


def test_all_files_and_diagnostics_are_in_the_contents_once() -> None:
    files = {path.relative_to(contents.DOCS).as_posix() for path in contents.DOCS.rglob("*.md")}
    assert files <= set(EVERY)
    assert {f"diagnostics/{name}.md" for name in all_diagnostics()} <= set(EVERY)
    assert len(EVERY) == sum(len(pages) for pages in contents.CONTENTS.values())


@each("path", EVERY)
def test_links_and_pictures_of_a_page_lead_somewhere(path: str) -> None:
    shown = list(parts(contents.markdown(path), path))
    for part in shown:
        if not isinstance(part, str):
            assert (ASSETS / part[1]).is_file()
            continue
        for link in LINK.findall(part):
            address = urlsplit(link)
            other = parse_qs(address.query)["topic"][0] + ".md"
            assert other in EVERY
            assert not address.fragment or address.fragment in slugs(contents.markdown(other))


def test_every_page_of_the_app_has_its_documentation() -> None:
    assert [place.stem for place in places() if f"{place.documentation}.md" not in EVERY] == []


@pytest.mark.heavy
def test_the_address_opens_a_page_and_an_unknown_one_says_so(open_app: OpenApp, tmp_path: Path) -> None:
    app = open_app(tmp_path, DOCUMENTATION, topic="diagnostics/heros")
    assert app.header[0].value == "HEROS"
    assert not app.warning
    app.button(key="docs_guides/data").click().run()
    assert app.header[0].value == contents.titles()["guides/data.md"]
    for odd in ("../README", "nowhere", "<b>"):
        app = open_app(tmp_path, DOCUMENTATION, topic=odd)
        assert app.header[0].value == contents.titles()[contents.HOME]
        assert odd in app.warning[0].value.replace("\\", "")


def test_a_link_out_of_the_documentation_is_named_and_not_linked() -> None:
    (text,) = parts("See [the tree](../../core/store/README.md), [data](data.md#a) and `[x](y.md)`.", "guides/run.md")
    assert (
        text == f"See the tree (`core/store/README.md`), [data]({DOCUMENTATION}?topic=guides/data#a) and `[x](y.md)`."
    )
