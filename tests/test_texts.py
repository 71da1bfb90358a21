"""Texts: equal ones, near-duplicates, names of columns, changed words; and shares written out."""

from __future__ import annotations

import itertools
import math
import unicodedata
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from blindspot.numerics.statistics.written import percent
from blindspot.texts import (
    Change,
    Segment,
    are_words,
    caseless,
    changed_ranges,
    column_key,
    containing,
    counted,
    first_upper,
    from_change,
    in_sentence,
    length,
    lexical_overlap,
    near_duplicate_key,
    one_form,
    same_text,
    word_changes,
    words,
)
from tests.support.tables import each

FORMS = ("NFC", "NFD")
KEYS = (one_form, caseless, same_text, near_duplicate_key, column_key)

# Texts with letters, marks, symbols and spaces of many scripts.
TEXT = st.text(st.one_of(st.characters(codec="utf-8"), st.sampled_from("aé\u0301क\u093f5-. #=!\u200d")), max_size=20)


@given(TEXT, st.sampled_from(FORMS), st.sampled_from(FORMS))
def test_no_key_depends_on_the_unicode_form(text: str, one: str, other: str) -> None:
    for key in KEYS:
        assert key(unicodedata.normalize(one, text)) == key(unicodedata.normalize(other, text))  # type: ignore[arg-type]


@given(TEXT)
def test_a_key_is_its_own_key(text: str) -> None:
    for key in (one_form, caseless, same_text):
        assert key(key(text)) == key(text)


@given(TEXT)
def test_the_same_text_is_a_near_duplicate(text: str) -> None:
    assert near_duplicate_key(same_text(text)) == near_duplicate_key(text)


def test_texts_are_the_same_but_for_case_white_space_and_unicode_form() -> None:
    assert same_text(" A\u00a0b\n C ") == same_text("a B c") == "a b c"
    assert same_text("STRASSE") == same_text("straße")
    assert same_text("Cafe\u0301") == same_text("CAF\u00c9") != same_text("cafe")
    assert same_text("\u1100\u1161") == same_text("\uac00")  # Hangul, in letters and as a syllable
    assert same_text("a-b") != same_text("a b")


# Of each row all texts are near-duplicates of each other, and of no text of another row.
NEAR_DUPLICATES = [
    ("A man, a plan.", "a man a plan", "A  MAN;\ta plan!", "“A man”, a plan…", "a man – a plan", "``a man'' a plan"),
    ("well-known", "well known", "Wellknown", "well\u00adknown", "well\u2011known", "well_known"),
    ("don't", "don’t", "dont", "don`t"),
    ("Straße", "STRASSE"),
    # accents
    ("caf\u00e9", "cafe\u0301", "CAF\u00c9!"),
    ("cafe",),
    ("a\u00f1o", "an\u0303o"),
    ("ano",),
    # programming and mathematics
    ("C", "c.", "(C)"),
    ("C++", "c ++"),
    ("C#", "c #"),
    (".NET", "net"),  # no rule tells it from a full stop that follows a space
    ("a=b", "a = b"),
    ("a≠b", "a \u003d\u0338 b"),
    ("a!=b", "a != b"),
    ("a:=b",),
    ("a->b", "a -> b"),
    ("a>b",),
    ("a<b",),
    ("x²",),
    ("x2", "x 2"),
    ("x^2",),
    # numbers
    ("5", "5.", "“5”"),
    ("-5", "−5", "(-5)", "–5"),
    ("+5",),
    (".5",),
    ("$5", "$ 5"),
    ("€5",),
    ("5%", "5 %.", "(5%)"),
    ("5‰",),
    ("5°",),
    ("5′",),
    ("5″",),
    ("§ 5", "§5"),
    ("#5",),
    ("15",),
    ("1.5",),
    ("1,5", "1, 5"),
    ("1 5", "1\u00a05"),
    ("1-5", "1 – 5", "1−5"),
    ("1/5",),
    ("1:5",),
    ("0.5",),
    ("temperature -3", "Temperature: −3"),
    ("temperature 3", "temperature - 3", "(temperature) 3"),
    ("F-16", "f16", "F 16"),
    ("AT&T",),
    ("att",),
    ("me@home",),
    ("me home",),
    ("good luck", "*Good luck*", "_good_ luck", "- good luck"),
    ("5*3",),
    ("53",),
    # Devanagari: "father" and "address" differ by a vowel sign; the danda ends a sentence
    ("पिता", "पिता।"),
    ("पता",),
    ("की",),
    ("कि",),
    # other scripts
    ("犬が走る。", "犬が走る", "「犬が走る」"),
    ("犬が走ろ",),
    ("かき",),
    ("かぎ", "かき\u3099"),  # a voiced sound in one character or in two
    ("מים", "מ-ים"),
    ("คน", "คน!"),
    ("คืน",),  # Thai: a vowel above
    ("தமிழ்",),
    ("தமிழ",),  # Tamil: a virama
    ("كتب", "كتب؟"),
    ("كَتَبَ",),  # Arabic with vowels
    ("می\u200cخواهم", "می خواهم"),  # Persian: a joiner that is none, in place of a space
    ("бог",),
    ("бо\u0433\u0301",),
    ("가", "\u1100\u1161"),
    # emoji
    ("great 👍", "Great! 👍"),
    ("great 👎",),
    ("great", "great!", "great :)"),  # of punctuation only
    ("👍🏽",),
    ("👍", "👍!"),
    ("❤", "❤\ufe0f"),
    ("👩\u200d💻",),
    ("👩💻", "👩 💻"),
    ("🏴\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f",),  # England
    ("🏴\U000e0067\U000e0062\U000e0073\U000e0063\U000e0074\U000e007f",),  # Scotland
]
EVERY = [(row, text) for row, texts in enumerate(NEAR_DUPLICATES) for text in texts]


@each(("row", "text"), EVERY, ids=[ascii(text) for _, text in EVERY])
def test_near_duplicates(row: int, text: str) -> None:
    alike = {other for other, candidate in EVERY if near_duplicate_key(candidate) == near_duplicate_key(text)}
    assert alike == {row}
    assert near_duplicate_key(text)


@each("text", ["", "?!...", " \n", "–", "「」", "\u200b", "-", "…\u00ad"])
def test_a_text_of_nothing_that_counts_has_no_near_duplicate(text: str) -> None:
    assert near_duplicate_key(text) == ""


def test_what_contains_a_text() -> None:
    texts = ["Un caf\u00e9", "UN CAFE\u0301 noir", "cafe", "caf"]
    for wanted in ("caf\u00e9", "CAFE\u0301", "un caf\u00e9"):
        assert containing(texts, wanted) == [True, True, False, False]
    assert containing(texts, "cafe") == [False, False, True, False]
    assert containing(texts, "") == [True] * 4
    assert containing([" a b"], "a ") == [True]


def test_names_of_columns_are_compared_by_letters_and_digits() -> None:
    assert column_key("Sentence_1 (%)") == column_key("sentence #1") == "sentence1"
    assert column_key("cafe\u0301") == column_key("CAF\u00c9") != column_key("cafe")


# --- shares


@each(
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


@each(
    ("texts", "are"),
    [
        (["dog", "ice-cream", "don't", " cat "], True),
        ([*"abcdefghi", "new york"], True),  # nine of ten
        ([*"abcdefgh", "new york"], False),
        ([*"abcdefgh", *["a"] * 50, "new york"], False),  # each text counts once
        (["a dog barks"], False),
        ([], False),
    ],
)
def test_words_and_sentences(texts: list[str], are: bool) -> None:
    assert are_words(texts) is are


# --- changed words


SIGNS = {Change.KEPT: "{}", Change.REMOVED: "[-{}-]", Change.ADDED: "[+{}+]"}
PARTS = ["a", "not", "big", "isn't", " ", "  ", "\t", ".", ",", "<b>", "*", "ü"]
EDITED = st.lists(st.sampled_from(PARTS)).map("".join)


def marked(before: str, after: str) -> str:
    return "".join(SIGNS[s.change].format(s.text) for s in word_changes(before, after))


@each(
    ("before", "after", "expected"),
    [
        ("He is angry now.", "He is furious now.", "He is [-angry-][+furious+] now."),
        ("He likes the car.", "He does not like the car.", "He [-likes-][+does not like+] the car."),
        ("She is not happy.", "She is happy.", "She is[- not-] happy."),
        ("It is easy.", "It is esay.", "It is [-easy-][+esay+]."),
        ("It arrived late.", "It didn't arrive late.", "It [-arrived-][+didn't arrive+] late."),
        ("the cat, the dog", "the cat, the dog", "the cat, the dog"),
        ("a b c", "x y z", "[-a b c-][+x y z+]"),
        ("", "new", "[+new+]"),
        ("Big dogs", "big dogs", "[-Big-][+big+] dogs"),
        ("It went \t", "It ran \t", "It [-went-][+ran+] \t"),
        ("a " * 1_000 + "b c", "a " * 1_000 + "d c", "a " * 1_000 + "[-b-][+d+] c"),  # a minute, word by word
        ("x " + "a b " * 500 + "y", "x " + "b a " * 500 + "y", f"x [-{'a b ' * 499}a b-][+{'b a ' * 499}b a+] y"),
        ("a " * 1_000, "a " * 999, "a " * 999 + "[-a -]"),
    ],
)
def test_the_words_that_changed_are_marked(before: str, after: str, expected: str) -> None:
    assert marked(before, after) == expected


@given(EDITED | st.text(), EDITED | st.text())
def test_the_segments_make_up_both_texts(before: str, after: str) -> None:
    segments = word_changes(before, after)
    assert "".join(segment.text for segment in segments if segment.change is not Change.ADDED) == before
    assert "".join(segment.text for segment in segments if segment.change is not Change.REMOVED) == after
    assert all(segment.text for segment in segments)
    assert all(one.change is not other.change for one, other in itertools.pairwise(segments))


@given(EDITED | st.text(), EDITED | st.text())
def test_ranges_of_changes_are_the_segments_without_spaces_and_without_them_the_texts_are_one(
    before: str, after: str
) -> None:
    rest = []
    ranges = zip((before, after), changed_ranges(before, after), (Change.REMOVED, Change.ADDED), strict=True)
    for text, places, change in ranges:
        found = [text[start:end] for start, end in places]
        assert found == [s.text.strip() for s in word_changes(before, after) if s.change is change and s.text.strip()]
        left = (text[i] for i in range(len(text)) if not any(start <= i < end for start, end in places))
        rest.append("".join(letter for letter in left if not letter.isspace()))
    assert rest[0] == rest[1]


def test_a_changed_word_has_no_space_at_its_end() -> None:
    assert changed_ranges("It did work.", "It did not work.") == ((), ((7, 10),))


@given(EDITED | st.text())
def test_a_text_is_its_own_unchanged_rewrite(text: str) -> None:
    assert word_changes(text, text) == ((Segment(text, Change.KEPT),) if text else ())


# --- words, lengths and overlap

WORDY = st.text(alphabet="abcC é'-., \t", max_size=24)


def test_a_word_stands_between_spaces() -> None:
    assert words("The  dog isn't — at HOME, 3 pm!") == ("the", "dog", "isnt", "at", "home", "3", "pm")
    assert words("... – !") == ()
    assert words("C++ + C, पिता।") == ("c++", "+", "c", "पिता")
    assert length("a a b") == 3
    assert length("") == 0


@each(
    ("query", "match", "overlap"),
    [
        ("a dog runs", "A dog, runs!", 1.0),
        ("a dog runs", "a cat runs", 0.5),
        ("dog dog cat", "dog", 0.5),
        ("dog", "cat", 0.0),
        ("dog", "!", 0.0),
        ("?", "!", math.nan),
    ],
)
def test_overlap_by_hand(query: str, match: str, overlap: float) -> None:
    np.testing.assert_equal(lexical_overlap([query], [match]), [overlap])


@given(st.lists(st.tuples(WORDY, WORDY), max_size=8))
def test_overlap_is_what_a_loop_counts(pairs: list[tuple[str, str]]) -> None:
    got = lexical_overlap([a for a, _ in pairs], [b for _, b in pairs])
    assert got.dtype == np.float64
    for value, (query, match) in zip(got, pairs, strict=True):
        both = either = 0
        for word in {*words(query), *words(match)}:
            either += 1
            both += word in words(query) and word in words(match)
        np.testing.assert_equal(value, both / either if either else math.nan)


def test_pairs_must_be_pairs() -> None:
    with pytest.raises(ValueError, match="shorter"):
        lexical_overlap(["a", "b"], ["a"])


def test_nouns_follow_their_numbers() -> None:
    assert counted(1, "file") == "1 file"
    assert counted(1200, "file") == "1,200 files"
    assert counted(0, "entry", "entries") == "0 entries"


@each(
    "title, within",
    [
        ("Paraphrase nearer than negated", "paraphrase nearer than negated"),
        ("Mean nDCG@10", "mean nDCG@10"),
        ("Accuracy, 10 examples", "accuracy, 10 examples"),
        *((name, name) for name in ("Spearman", "Spearman, weighted mean", "MRR", "Hits@1 filtered", "F1 of phrases")),
        ("NLI swap nearer than negated", "NLI swap nearer than negated"),
        ("", ""),
    ],
)
def test_a_title_in_a_sentence_begins_small_unless_it_is_a_name(title: str, within: str) -> None:
    assert in_sentence(title) == within
    assert first_upper(within) == title


def test_a_long_text_begins_shortly_before_what_differs() -> None:
    start, rest = "Since its renovation in the summer of last year the hotel", "rooms for guests with dogs"
    one, other = (from_change(f"{start} has {word} {rest}", f"{start} has {not_it} {rest}") for word, not_it in
                  (("roomy", "spacious"), ("spacious", "roomy")))  # fmt: skip
    assert (one, other) == tuple(f"… year the hotel has {word} {rest}" for word in ("roomy", "spacious"))
    assert from_change(f"{start} has {rest}", f"{start} has many {rest}").startswith("… year the hotel has")


@given(st.lists(st.text("ab ", max_size=9), max_size=30).map(" ".join), TEXT, st.integers(0, 40))
def test_what_differs_stays_in_sight(text: str, other: str, alike: int) -> None:
    text, other = (f"{'ab ' * alike}{ending}" for ending in (text, other))
    for shown in (from_change(text, other), from_change(text, text)):
        assert shown == text or text.endswith(shown.removeprefix("… "))
    assert from_change(text, text) == text
    added = changed_ranges(other, text)[1]
    if added and from_change(text, other) != text:
        assert len(from_change(text, other)) >= len(text) - added[0][0]
