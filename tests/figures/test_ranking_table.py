"""The table around a mate: texts are escaped, new words marked, the mate told apart."""

from __future__ import annotations

from html.parser import HTMLParser

from hypothesis import given
from hypothesis import strategies as st

from core.figures.html_tables import TableRow, ranking_table
from core.figures.theme import Scheme

OURS = {"table", "thead", "tbody", "tr", "th", "td", "span", "b", "u"}


class Seen(HTMLParser):
    """Tags and text of a piece of HTML, as a browser would read it."""

    def __init__(self, html: str) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: list[str] = []
        self.text = ""
        self.underlined: list[str] = []
        self._in_u = False
        self.feed(html)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self._in_u |= tag == "u"

    def handle_endtag(self, tag: str) -> None:
        self._in_u &= tag != "u"

    def handle_data(self, data: str) -> None:
        self.text += data
        if self._in_u:
            self.underlined.append(data)


def row(text: str, note: str = "") -> TableRow:
    return TableRow(rank=1, mark="▲", similarity=0.5, text=text, note=note, is_mate=False)


def test_words_that_the_query_has_not_are_underlined() -> None:
    seen = Seen(ranking_table("A wild horse.", [row("A not wild horse!")], Scheme.LIGHT, "x"))
    assert seen.underlined == ["not"]


def test_html_and_markdown_in_texts_stay_text() -> None:
    nasty = '<script>alert(1)</script> <img src=x onerror="alert(2)"> **bold** &lt; "quote"'
    seen = Seen(ranking_table("q", [row(nasty, note="<i>note</i>")], Scheme.DARK, '"><b>label'))
    assert set(seen.tags) <= OURS
    assert nasty in seen.text
    assert "<i>note</i>" in seen.text


@given(st.text(max_size=80), st.text(max_size=80))
def test_any_text_comes_through_unchanged(query: str, text: str) -> None:
    seen = Seen(ranking_table(query, [row(text)], Scheme.LIGHT, text))
    assert set(seen.tags) <= OURS
    assert text.replace("\r", "\n").replace("\0", "\ufffd") in seen.text.replace("\r", "\n").replace("\0", "\ufffd")
