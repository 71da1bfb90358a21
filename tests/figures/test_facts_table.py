"""Names and values as HTML: escaped, in order, links only to the web."""

from __future__ import annotations

import re

import pytest

from core.figures.html_tables import facts_table
from core.figures.theme import Scheme


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
