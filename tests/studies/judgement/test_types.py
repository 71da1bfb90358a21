"""Names of sessions."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.errors import InputError
from core.studies.judgement.types import session_name

PLAIN = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"


@given(st.text(alphabet=PLAIN, min_size=1, max_size=40))
def test_plain_names_are_kept(name: str) -> None:
    assert session_name(f" {name}\n") == name


@given(st.text(max_size=45))
def test_only_plain_names_pass(text: str) -> None:
    name = text.strip()
    if 1 <= len(name) <= 40 and set(name) <= set(PLAIN):
        assert session_name(text) == name
    else:
        with pytest.raises(InputError):
            session_name(text)


@pytest.mark.parametrize("text", ["", "  ", "a b", "ä", "a/b", "x" * 41, "<b>", "a\nb"])
def test_other_names_are_refused_in_words(text: str) -> None:
    with pytest.raises(InputError, match="letters"):
        session_name(text)
    if len(text) > 40:
        with pytest.raises(InputError) as refused:
            session_name("x" * 500)
        assert len(str(refused.value)) < 200
