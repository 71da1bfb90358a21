"""Similarity by shared words: hand-computed pairs, a slow reference, and texts in scripts without spaces."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from blindspot.numerics.words_alone import Words, similarities, tokens
from tests.support.tables import each

TEXTS = st.lists(st.sampled_from(["a", "b", "c", "d", "我", "的"]), max_size=8).map(" ".join)


def of(first: str, second: str) -> tuple[float, float, float]:
    found = similarities([first], [second])
    return float(found[Words.JACCARD][0]), float(found[Words.ROUGE_1][0]), float(found[Words.BAG][0])


def test_by_hand() -> None:
    # 4 and 3 words; the, cat shared, "the" twice in one: 2 of 4 distinct; F1 2*2/7; 1*2 + 1*1 over sqrt(6 * 3)
    assert of("The cat, the dog.", "the cat ran") == pytest.approx((2 / 4, 4 / 7, 3 / math.sqrt(6 * 3)))


def test_order_does_not_count() -> None:
    assert of("The cat saw the dog.", "The dog saw the cat.") == pytest.approx((1, 1, 1))


@each("other", ["", "...", "a dog"])
def test_a_text_without_words_shares_none(other: str) -> None:
    assert of("!?", other) == (0, 0, 0)


@each(
    ("text", "expected"),
    [
        ("我 没有 GPS 。", ("我", "没", "有", "gps")),
        ("ฉันไป", tuple("ฉันไป")),
        ("カタカナ2つ", ("カ", "タ", "カ", "ナ", "2", "つ")),
        ("Я никогда не шёл", ("я", "никогда", "не", "шёл")),
        ("It isn't l'été", ("it", "isnt", "lété")),
    ],
)
def test_a_character_is_a_word_in_scripts_without_spaces(text: str, expected: tuple[str, ...]) -> None:
    assert tokens(text) == expected


def test_chinese_is_the_same_with_and_without_spaces() -> None:
    assert of("我没有想过", "我 没有 想 过") == pytest.approx((1, 1, 1))


@given(TEXTS, TEXTS)
def test_the_slow_way(first: str, second: str) -> None:
    a, b = first.split(), second.split()
    either = sorted({*a, *b})
    if not a or not b:
        expected: tuple[float, float, float] = (0, 0, 0)
    else:
        shared = [w for w in either if w in a and w in b]
        clipped, left = 0, list(b)
        for word in a:
            if word in left:
                left.remove(word)
                clipped += 1
        product = sum(a.count(w) * b.count(w) for w in either)
        norms = [math.sqrt(sum(t.count(w) ** 2 for w in either)) for t in (a, b)]
        precision, recall = clipped / len(a), clipped / len(b)
        f1 = 2 * precision * recall / (precision + recall) if clipped else 0.0
        expected = (len(shared) / len(either), f1, product / (norms[0] * norms[1]))
    assert of(first, second) == pytest.approx(expected, abs=1e-12)
