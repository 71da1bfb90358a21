"""Texts: what makes two of them twins, and shares written out."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.texts import percent, twin_key


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


# --- shares


@pytest.mark.parametrize(
    ("share", "decimals", "written"),
    [
        (0.455, 0, "46%"),
        (0.545, 0, "54%"),
        (0.4549, 0, "45%"),
        (0.5, 0, "50%"),
        (0.005, 0, "1%"),
        (0.995, 0, "99%"),
        (0.0, 0, "0%"),
        (1.0, 0, "100%"),
        (0.4525, 1, "45.3%"),
        (0.5475, 1, "54.7%"),
        (2 / 3, 1, "66.7%"),
    ],
)
def test_a_share_in_percent(share: float, decimals: int, written: str) -> None:
    assert percent(share, decimals) == written


@given(st.integers(1, 5_000), st.data(), st.sampled_from([0, 1, 2]))
def test_a_share_and_the_rest_add_up_as_they_are_written(n: int, data: st.DataObject, decimals: int) -> None:
    share = Fraction(data.draw(st.integers(0, 2 * n)), 2 * n)
    one, rest = (Decimal(percent(float(s), decimals).removesuffix("%")) for s in (share, 1 - share))
    assert one + rest == 100
    assert abs(Fraction(one) - 100 * share) <= Fraction(1, 2 * 10**decimals), "rounded to the nearest"
