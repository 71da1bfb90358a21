"""HTML tables: every text is escaped, new words are marked, links go only to the web."""

from __future__ import annotations

import re
from html.parser import HTMLParser

import pytest
from hypothesis import given
from hypothesis import strategies as st

from blindspot.figures.html_tables import LONG, SHOWN, TableRow, facts_table, folded, is_long, ranking_table
from blindspot.figures.theme import Scheme

OURS = {"div", "table", "thead", "tbody", "tr", "th", "td", "span", "b", "u"}


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
    return TableRow(rank=1, mark="▲", similarity=0.5, text=text, note=note, is_match=False)


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


@pytest.mark.parametrize("scheme", list(Scheme))
def test_names_and_values_stand_in_order_and_are_escaped(scheme: Scheme) -> None:
    html = facts_table({"prompt": '<b>x</b>\n"q"', "<i>": "1 & 2"}, scheme, 'of "it"')
    assert re.findall(r"<td[^>]*>(.*?)</td>", html, re.DOTALL) == [
        "&lt;b&gt;x&lt;/b&gt;\n&quot;q&quot;",
        "1 &amp; 2",
    ]
    assert re.findall(r"<th[^>]*>(.*?)</th>", html) == ["prompt", "&lt;i&gt;"]
    assert 'aria-label="of &quot;it&quot;"' in html


def test_only_addresses_of_the_web_become_links() -> None:
    html = facts_table({"a": 'https://x.org/"y', "b": "javascript:alert(1)", "c": "file:///etc"}, Scheme.LIGHT, "")
    assert re.findall(r'<a href="(.*?)"', html) == ["https://x.org/&quot;y"]


def test_long_texts_are_folded_and_whole() -> None:
    short, long = " ".join(["<b>"] * LONG), " ".join(f"<w{i}>" for i in range(LONG + 140))
    assert not is_long(short)
    assert "<details" not in folded(short)
    html = folded(long)
    assert html.count("<details") == 1
    assert html.count("&lt;w") == LONG + 140
    assert "<w" not in html
    assert html.index("<details") > html.index(f"&lt;w{SHOWN - 1}&gt;")
    assert html.index("<details") < html.index(f"&lt;w{SHOWN}&gt;")
    assert "more (160 words)" in html
