"""Text of users in Markdown: what Streamlit would make signs of is kept apart by a character that is not seen."""

from __future__ import annotations

import re

from blindspot.ui.markdown import as_text, from_address
from tests.support.tables import each

JOINER = "\N{WORD JOINER}"


@each(
    ("text", "kept_apart"),
    [
        ("Ann :red Bob", f"Ann :{JOINER}red Bob"),
        ("a:blue-background[x]", rf"a:{JOINER}blue-background\[x\]"),
        (":small[x]", rf":{JOINER}small\[x\]"),
        (":smile:", f":{JOINER}smile:"),
        ("a -> b", rf"a -{JOINER}\> b"),
        ("<- --", rf"\<{JOINER}- -{JOINER}-"),
        ("a <= b ~= c", rf"a \<{JOINER}= b \~{JOINER}= c"),
    ],
)
def test_signs_are_kept_apart(text: str, kept_apart: str) -> None:
    assert as_text(text) == kept_apart


@each("text", ["hf:org/name", "abtt:2+truncate:64", "vectors:glove.txt", ":redish", "12:30", "a - b", "file:x.csv"])
def test_other_colons_stay(text: str) -> None:
    assert re.sub(r"\\(.)", r"\1", as_text(text)) == text


def test_a_value_of_an_address_is_one_line_that_links_nowhere() -> None:
    """It is of whoever made the link: no heading, no list, no address that the browser would open."""
    shown = from_address("a\n\n# You won\r\n- https://evil.example\twww.evil.example WWW.evil.example me@evil.example")
    assert "\n" not in shown
    assert "://" not in shown
    assert not re.search(r"www\.|\w@", shown, re.IGNORECASE)
    for start in ("# x", "- x", "1. x", "> x", "=== x", "| x"):
        assert from_address(start).startswith(JOINER)
    assert len(from_address("x" * 10_000)) < 100
    assert from_address("[x](javascript:alert(1))") == r"\[x\](javascript:alert(1))"
