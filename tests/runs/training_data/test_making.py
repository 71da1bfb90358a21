"""Training data: nothing of an evaluation is in it, nothing is on both sides, and every example is accounted for."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from blindspot.errors import Cancelled, InputError
from blindspot.runs.training_data.examples import Triplet
from blindspot.runs.training_data.making import EVALUATED, KIND, SAME, TWICE, made, split
from blindspot.runs.training_data.near_duplicates import near
from blindspot.types import CancelToken
from tests.support.tables import each

THINGS = "river kitchen engine garden window letter mountain teacher harbor blanket candle orchard".split()


def triplet(thing: str, kind: str = "antonym", *, how: str = "big") -> Triplet:
    sentence = f"The {thing} of the {thing[::-1]} in town is {{}}, a {thing} says."
    return Triplet(sentence.format(how), sentence.format("enormous"), sentence.format("tiny little"), kind, -0.1)


TRIPLETS = [triplet(thing) for thing in THINGS]


def disguised(text: str) -> str:
    return f"  {text.swapcase().replace(' ', '  ')} "


def test_planted_duplicates_of_evaluated_texts_are_left_out() -> None:
    evaluated = [
        disguised(getattr(TRIPLETS[place], role)) for place, role in ((0, "anchor"), (1, "positive"), (2, "negative"))
    ]
    found = made(TRIPLETS, evaluated)
    kept = [*found.train, *found.held_out]
    assert found.left_out == {EVALUATED: 3}
    assert set(kept) == set(TRIPLETS[3:])
    assert not any(near([text for one in kept for text in one.texts], evaluated))


def test_planted_duplicates_are_never_on_both_sides() -> None:
    planted = [
        Triplet(
            disguised(one.anchor), one.positive.replace("town", "toun"), f"Nothing like {one.anchor[-20:]}", "b", 0.0
        )
        for one in TRIPLETS
    ]
    for seed in range(5):
        found = made([*TRIPLETS, *planted], [], held_out=0.4, seed=seed)
        sides = [[text for one in part for text in one.texts] for part in (found.train, found.held_out)]
        assert all(sides)
        assert not any(near(*sides))


def test_every_example_is_counted() -> None:
    same = Triplet("a cat on a mat", "A CAT on a mat!", "no dog anywhere", "antonym", -1.0)
    given_ = [*TRIPLETS, TRIPLETS[5], same, triplet("harp", "typo")]
    found = made(given_, [TRIPLETS[0].anchor], kinds=["antonym"])
    assert found.left_out == {SAME: 1, TWICE: 1, KIND: 1, EVALUATED: 1}
    assert len(found.train) + len(found.held_out) + 4 == len(given_)


def test_the_seed_decides() -> None:
    one, same, other = (made(TRIPLETS, [], seed=seed) for seed in (1, 1, 2))
    assert one == same
    assert set(one.held_out) != set(other.held_out)


@each(
    ("triplets", "kinds"),
    [
        (TRIPLETS[:3], []),
        ([], []),
        (TRIPLETS, ["typo"]),
        ([Triplet("one and the same anchor", f"{t} is a word", f"{t * 3}", "x", 0.0) for t in THINGS], []),
    ],
    ids=["few", "none", "kind", "connected"],
)
def test_what_cannot_be_split_is_one_line(triplets: list[Triplet], kinds: list[str]) -> None:
    with pytest.raises(InputError) as error:
        made(triplets, [], kinds=kinds)
    assert "\n" not in str(error.value)


LETTER = st.sampled_from("abcdefghijklmnopqrst").map(lambda c: c * 3)


@settings(max_examples=60)
@given(st.lists(st.tuples(LETTER, LETTER, LETTER), min_size=4, max_size=25), st.integers(0, 9))
def test_a_split_separates_texts(rows: list[tuple[str, str, str]], seed: int) -> None:
    try:
        found = split(rows, 0.3, seed)
    except InputError:
        ends = Counter[str]()  # a reference: spread the smallest label along anchors and positives
        label = {text: number for number, text in enumerate(dict.fromkeys(t for row in rows for t in row[:2]))}
        for _ in rows:
            for a, b, _n in rows:
                label[a] = label[b] = min(label[a], label[b])
        ends.update(str(label[a]) for a, _, _ in rows)
        assert 2 * max(ends.values()) > len(rows)
        return
    texts = [
        {
            t
            for row, held, cross in zip(rows, found.is_held_out, found.crossing, strict=True)
            if held == side and not cross
            for t in row
        }
        for side in (False, True)
    ]
    assert not texts[0] & texts[1]
    assert found.is_held_out.any()
    assert not found.is_held_out.all()
    assert not (found.whole and found.crossing.any())


def test_it_is_cancelled_among_the_texts_rather_than_after_them() -> None:
    class Impatient(CancelToken):
        asked = 0

        def check(self) -> None:
            self.asked += 1
            if self.asked > limit:
                self.cancel()
            super().check()

    limit, patient = 10_000, Impatient()
    assert made(TRIPLETS, ["another text"], cancel=patient) == made(TRIPLETS, ["another text"])
    assert patient.asked > 6 * len(TRIPLETS)  # near-duplicates are looked for twice: of others, and of each other
    for limit in range(0, patient.asked, 7):
        token = Impatient()
        with pytest.raises(Cancelled):
            made(TRIPLETS, ["another text"], cancel=token)
        assert token.asked == limit + 1
