"""Lines of a table's text, which are made in blocks."""

from __future__ import annotations

import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from blindspot.files import tables

ENDS = ("\n", "\r", "\r\n", "\x0b", "\u2028")  # of lines, and what ends none


@given(st.lists(st.sampled_from(["a", '"', *ENDS]), max_size=40).map("".join), st.integers(1, 8))
def test_lines_in_blocks_are_those_of_the_whole_text(text: str, block: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tables, "_BLOCK", block)
        assert list(tables._lines(text)) == list(io.StringIO(text, newline=""))
