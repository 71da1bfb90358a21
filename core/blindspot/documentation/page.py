"""Page *Documentation*: the pages of ``docs/`` and those made from the code, inside the app, so they work offline."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator

import streamlit as st

from blindspot import ui
from blindspot.figures.theme import Scheme
from blindspot.settings import ASSETS
from blindspot.ui.markdown import from_address
from blindspot.ui.navigation import DOCUMENTATION, TOPIC

TITLE = "Documentation"
QUESTION = "How do I use this, and what exactly is computed?"
_UNKNOWN = "There is no documentation page “{name}”. Here is the first one."
_CODE = re.compile(r"(```.*?```|`[^`\n]*`)", re.DOTALL)
_LINK = re.compile(r"(?<!!)\[([^\]]+)\]\(([^)\s]+)\)")
_PICTURE = re.compile(r"!\[([^\]]*)\]\((?:\.\./)*images/([^)\s]+)\)")
_ELSEWHERE = re.compile(r"[a-z]+:")
_TITLE = re.compile(r"\A\s*# [^\n]+\n")


def show() -> None:
    """Draw the page that the address names."""
    from blindspot.documentation import contents  # imports every part that is documented

    ui.page(TITLE, QUESTION, show_jobs=False)
    titles = contents.titles()
    name = st.query_params.get(TOPIC, "")
    path = f"{name}.md"
    if path not in titles:
        if name:
            st.warning(_UNKNOWN.format(name=from_address(name)))
        path = contents.HOME
    menu, text = st.columns([1, 3.2], gap="large")
    with menu, st.container(key="docs_menu"):
        for section, pages in contents.CONTENTS.items():
            with st.expander(section, expanded=path in pages.values()), st.container(gap=None):
                for title, other in pages.items():
                    _entry(title, other, chosen=other == path)
    with text, st.container(key="docs_text"):
        st.header(titles[path], anchor=False)
        for part in parts(_TITLE.sub("", contents.markdown(path)), path):
            if isinstance(part, str):
                st.markdown(part)
            else:
                caption, picture = part
                dark = ASSETS / picture.replace(".png", "-dark.png")
                st.image(
                    str(dark if ui.scheme() is Scheme.DARK and dark.is_file() else ASSETS / picture), caption=caption
                )


def _entry(title: str, path: str, *, chosen: bool) -> None:
    """A button, for Streamlit marks every link to the page that is open as the current one."""
    name = path.removesuffix(".md")
    label = f"**{title}**" if chosen else title
    st.button(label, key=f"docs_{name}", type="tertiary", on_click=_open, args=(name,))


def _open(name: str) -> None:
    st.query_params[TOPIC] = name


def _address(path: str) -> str:
    return f"{DOCUMENTATION}?{TOPIC}={path.removesuffix('.md')}"


def parts(markdown: str, path: str) -> Iterator[str | tuple[str, str]]:
    """Markdown with links to other pages of the app, and pictures as caption and path in ``assets``.

    Args:
        path: of the page that the Markdown is of, for its links are relative.
    """
    pieces = _CODE.split(markdown)
    whole = "".join(piece if i % 2 else _LINK.sub(lambda m: _in_app(m, path), piece) for i, piece in enumerate(pieces))
    end = 0
    for picture_match in _PICTURE.finditer(whole):
        yield whole[end : picture_match.start()]
        picture = f"screenshots/{picture_match[2]}"
        yield picture_match[1], picture if (ASSETS / picture).is_file() else picture_match[2]
        end = picture_match.end()
    yield whole[end:]


def _in_app(link: re.Match[str], path: str) -> str:
    """A link as the app's page has it; a file of the repository is named, since the app does not serve it."""
    text, target = link[1], link[2]
    file, _, anchor = target.partition("#")
    if _ELSEWHERE.match(target) or not file:
        return link[0]
    other = posixpath.normpath(posixpath.join(posixpath.dirname(path), file))
    if other.startswith("..") or not other.endswith(".md"):
        return f"{text} (`{other.lstrip('./')}`)"
    return f"[{text}]({_address(other)}{'#' + anchor if anchor else ''})"
