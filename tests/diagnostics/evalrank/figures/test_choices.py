"""The table of choices: numbers as they are, texts escaped."""

from __future__ import annotations

import pytest

from core.diagnostics.evalrank.figures.choices import ChoiceRow, choices_table, difference
from core.figures.theme import Scheme


def test_numbers_stand_in_it_and_texts_are_escaped() -> None:
    rows = [
        ChoiceRow("as shown", "raw", "The <b>score</b>.", 0.5, None, 0.25, None, 1234, is_shown=True),
        ChoiceRow("ties", "optimistic", "All & sundry.", 0.625, 0.125, 0.2, -0.05, 1234),
    ]
    html = choices_table(rows, Scheme.LIGHT, 'a "label"')
    for part in (
        "&lt;b&gt;score",
        "All &amp; sundry",
        ">0.5000<",
        ">+0.1250<",
        ">-0.0500<",
        ">1,234<",
        "a &quot;label",
    ):
        assert part in html
    assert html.count("<tr style") == 1, "the shown row alone is tinted"
    assert choices_table(rows, Scheme.DARK, "x") != html


@pytest.mark.parametrize(("value", "shown"), [(None, ""), (-0.00001, "0.0000"), (0.0, "0.0000"), (-0.1, "-0.1000")])
def test_a_difference_has_a_sign_unless_it_is_none(value: float | None, shown: str) -> None:
    assert difference(value) == shown
