"""The map of contributions and its sentences: what is in the table, in which colors, and what is left out."""

from __future__ import annotations

import re

import numpy as np
import pytest

from blindspot.encoders.tokens import Role, Token
from blindspot.figures.theme import DIVERGING, Scheme
from blindspot.figures.token_map import MOST_WORDS, left_out, sentences, three_digits, token_map
from blindspot.transforms.contributions import Contributions, Way

NAMES = ("query", "match")


def of(cells: list[list[float]], first: list[Token], second: list[Token], way: Way = Way.SUM) -> Contributions:
    values = np.array(cells, dtype=np.float64)
    return Contributions(
        way, (tuple(first), tuple(second)), values, (values.sum(1), values.sum(0)), float(values.sum())
    )


SMALL = of(
    [[0.5, -0.25], [0.125, 0.0]],
    [Token("<b>dog</b>"), Token("not")],
    [Token("dog"), Token("[SEP]", Role.ADDED)],
)


@pytest.mark.parametrize("scheme", list(Scheme))
def test_cells_are_colored_around_zero(scheme: Scheme) -> None:
    html = token_map(SMALL, scheme, 'a "label"')
    colors = re.findall(r"background:(#[0-9A-F]{6});text-align:center", html)
    ends = dict(DIVERGING[scheme])
    assert colors[0] == ends[1.0]
    assert colors[1] == ends[0.25]
    assert colors[3] == ends[0.5]
    assert "<b>dog</b>" not in html
    assert "&lt;b&gt;dog&lt;/b&gt;" in html
    assert "a &quot;label&quot;" in html
    assert "<b>0.375</b>" in html  # the sum
    assert "\N{MINUS SIGN}0.250" in html


def test_numbers_stand_in_few_cells_and_in_titles_always() -> None:
    wide = of([[0.1] * 20], [Token("a")], [Token(f"w{i}") for i in range(20)])
    assert token_map(wide, Scheme.LIGHT, "").count("font-size:0;") == 20
    assert token_map(wide, Scheme.LIGHT, "").count(": 0.100") == 20
    assert "font-size:0;" not in token_map(SMALL, Scheme.LIGHT, "", is_narrow=True)


def test_of_long_texts_the_words_that_contribute_most_are_shown() -> None:
    n = 200
    values = [[0.001 * (i % 7) - 0.002] for i in range(n)]
    found = of(values, [Token(f"w{i}") for i in range(n)], [Token("x")])
    html = token_map(found, Scheme.LIGHT, "")
    rows = [int(name) for name in re.findall(r">w([0-9]+)</th>", html)]
    assert len(rows) == MOST_WORDS
    assert rows == sorted(rows)
    assert [i for i in rows if i % 7 == 6] == list(range(6, n, 7))
    assert {i % 7 for i in rows} == {5, 6}
    said = left_out(found, NAMES)
    rest = sum(row[0] for i, row in enumerate(values) if i not in rows)
    assert said == [
        f"Shown: the 30 words of the query that contribute most, the other 170 add up to {three_digits(rest)}."
    ]


def test_what_is_cut_off_or_unknown_is_said() -> None:
    first = [Token("a"), Token("wug", Role.UNKNOWN), Token("b", Role.CUT), Token("c", Role.CUT)]
    found = of([[0.5], [0], [0], [0]], first, [Token("a")])
    html = token_map(found, Scheme.DARK, "")
    assert ">b</th>" not in html
    cut, unknown = left_out(found, NAMES)
    assert "the last 2 words" in cut
    assert "“wug”" in unknown
    assert left_out(SMALL, NAMES) == []


def test_sentences_say_what_each_word_contributes() -> None:
    found = of(
        [[0.5, 0.0, -0.001], [0.1, 0.2, -0.001]],
        [Token("dog"), Token("Runs")],
        [Token("dog"), Token("runs"), Token("not")],
    )
    assert sentences(found, NAMES) == [
        "“dog” with “dog” contributes 0.500",
        "“Runs” with “runs” contributes 0.200",
        "“Runs” with “dog” contributes 0.100",
        "“not”, only in the match, contributes \N{MINUS SIGN}0.0020",
    ]


def test_sentences_of_leaving_out() -> None:
    found = Contributions(
        Way.LEAVING_OUT,
        ((Token("dog"), Token("a"), Token("cat")), (Token("dog"), Token("not"), Token("cat"))),
        np.zeros((3, 3)),
        (np.array([0.25, np.nan, -0.05]), np.array([-0.125, -0.002, -0.3])),
        0.9,
    )
    assert sentences(found, NAMES) == [
        "Without “not”, only in the match, the similarity rises by 0.002",
        "Without “cat”, in the match, the similarity rises by 0.300",
        "Without “dog”, in the match, the similarity rises by 0.125",
        "Without “cat”, in the query, the similarity rises by 0.050",
    ]


def test_no_words_and_no_numbers() -> None:
    empty = Contributions(Way.SUM, ((), (Token("x"),)), np.zeros((0, 1)), (np.zeros(0), np.zeros(1)), 0.0)
    assert "<table" in token_map(empty, Scheme.LIGHT, "")
    assert sentences(empty, NAMES) == ["“x”, only in the match, contributes 0.0000"]
    assert three_digits(float("nan")) == "–"
    assert three_digits(-0.0001) == "0.000"
