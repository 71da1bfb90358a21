"""Comparing texts: what makes two of them twins."""

from __future__ import annotations

import pytest

from core.texts import twin_key


@pytest.mark.parametrize(
    ("text", "key"),
    [
        ("A man, a plan.", "amanaplan"),
        ("Two  dogs\trun", "twodogsrun"),
        ("Straße", "strasse"),
        ("ÉTÉ 2019", "été2019"),
        ("犬が走る。", "犬が走る"),
        ("well-known", "wellknown"),
        ("can't", "cant"),
        ("?!...", ""),
        ("", ""),
    ],
)
def test_twin_key_keeps_letters_and_digits(text: str, key: str) -> None:
    assert twin_key(text) == key
