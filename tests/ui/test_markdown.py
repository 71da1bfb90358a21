"""Text of users in Markdown: what Streamlit would make signs of is kept apart by a character that is not seen."""

from __future__ import annotations

import re

import pytest

from blindspot.ui.markdown import as_text

JOINER = "\N{WORD JOINER}"


@pytest.mark.parametrize(
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


@pytest.mark.parametrize(
    "text", ["hf:org/name", "abtt:2+truncate:64", "vectors:glove.txt", ":redish", "12:30", "a - b", "file:x.csv"]
)
def test_other_colons_stay(text: str) -> None:
    assert re.sub(r"\\(.)", r"\1", as_text(text)) == text
