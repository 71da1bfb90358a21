"""Names of sessions."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from blindspot.errors import InputError
from blindspot.studies.judgments.types import session_name
from tests.support.tables import each

PLAIN = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"


@given(st.text(alphabet=PLAIN, max_size=42) | st.text(max_size=45))
def test_plain_names_pass_and_no_others(text: str) -> None:
    name = text.strip()
    if 1 <= len(name) <= 40 and set(name) <= set(PLAIN):
        assert session_name(f" {text}\n") == name
    else:
        with pytest.raises(InputError):
            session_name(text)


@each("text", ["", "  ", "a b", "ä", "a/b", "x" * 500, "<b>", "a\nb"])
def test_other_names_are_refused_in_a_few_words(text: str) -> None:
    with pytest.raises(InputError, match="letters") as refused:
        session_name(text)
    assert len(str(refused.value)) < 200
