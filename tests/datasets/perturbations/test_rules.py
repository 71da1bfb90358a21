"""Rules that make minimal pairs: what each does with 100 sentences of our own, judged by hand, and with any text."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from blindspot.datasets.perturbations import names
from blindspot.datasets.perturbations.measured import MEASURED, SENTENCES, Measured
from blindspot.datasets.perturbations.rule import Changed, Meaning, Passed
from blindspot.datasets.perturbations.rules import KINDS, RULES, rules_of
from blindspot.diagnostics.heros import definition
from blindspot.errors import InputError
from tests.support.tables import each

HERE = Path(__file__).parent
TEXTS = (HERE / "sentences.txt").read_text("utf-8").splitlines()
VERDICTS = [line.split("\t") for line in (HERE / "verdicts.tsv").read_text("utf-8").splitlines()[1:]]
JUDGED = {"position": "position_5"}  # of rules that differ in a number alone


def test_every_rule_and_sentence_has_one_verdict() -> None:
    judged = [JUDGED.get(kind, kind) for kind in KINDS]
    assert len(TEXTS) == len(set(TEXTS)) == SENTENCES
    assert sorted((rule, int(number)) for rule, number, *_ in VERDICTS) == sorted(
        (rule, number) for rule in judged for number in range(1, SENTENCES + 1)
    )


@each("kind", KINDS)
def test_a_rule_does_what_was_judged(kind: str) -> None:
    rule, in_file = RULES[JUDGED.get(kind, kind)], names.in_texts(TEXTS)
    for name, number, verdict, result in VERDICTS:
        if name == rule.name:
            outcome = rule.apply(TEXTS[int(number) - 1], 0, in_file)
            found = outcome.why if isinstance(outcome, Passed) else outcome.text
            assert found == json.loads(result), (name, number)
            assert isinstance(outcome, Passed) is (verdict == "passed")


def test_the_shown_yields_and_precisions_are_those_of_the_verdicts() -> None:
    counts = Counter((rule, verdict) for rule, _, verdict, _ in VERDICTS)
    for kind, shown in MEASURED.items():
        rule = JUDGED.get(kind, kind)
        assert shown == Measured(counts[rule, "right"] + counts[rule, "wrong"], counts[rule, "right"])
    assert list(MEASURED) == list(KINDS)


def test_the_guide_shows_them() -> None:
    guide = (HERE.parents[2] / "docs" / "guides" / "make-minimal-pairs.md").read_text("utf-8")
    for kind, found in MEASURED.items():
        (row,) = [line for line in guide.splitlines() if line.startswith(f"| `{kind}` |")]
        cells = [cell.strip() for cell in row.strip("|").split("|")]
        assert cells[1] == next(iter(KINDS[kind])).meaning.value
        assert cells[-2:] == [str(found.changed), f"{found.precision:.0%}"], kind


def test_heros_reads_the_meaning_from_the_names_of_rewrites() -> None:
    from blindspot.datasets.perturbations import making

    for rule in RULES.values():
        kept = definition.meaning_of(making.column_of(rule)) is definition.Meaning.KEPT
        assert kept is (rule.meaning is Meaning.KEPT)
    assert definition.right_of([making.CHANGED_MEANING, making.KEPT_MEANING]) == making.KEPT_MEANING


# --- by hand


@each(
    ("kind", "text", "changed"),
    [
        ("negation_inserted", "She went home.", "She did not go home."),
        ("negation_inserted", "We have a car.", "We do not have a car."),
        ("negation_inserted", "He can swim.", "He cannot swim."),
        ("negation_removed", "He doesn't like tea.", "He likes tea."),
        ("negation_removed", "They won't wait.", "They will wait."),
        ("negation_removed", "She did not stop.", "She stopped."),
        ("role_swap", "She thanked the doctor.", "The doctor thanked her."),
        ("role_swap", "The doctor thanked him.", "He thanked the doctor."),
        ("before_after", "Before the war, it was a mill.", "After the war, it was a mill."),
        ("quantifier", "All the doors are open.", "Only some of the doors are open."),
        ("comparative", "At least ten came.", "At most ten came."),
        ("hedge", "It will probably rain.", "It will certainly rain."),
        ("truncation", "One two three four five six.", "One two three"),
        ("unit", "It takes 5 days.", "It takes 5 weeks."),
        ("unit", "I ran 5 km.", "I ran 5 mi."),
        ("number", "Only 60% of them came.", "Only 30% of them came."),
        ("quantifier", "She took some photos.", "She took all the photos."),
        ("unicode", "a na\u00efve plan", "a nai\u0308ve plan"),
    ],
)
def test_a_change_by_hand(kind: str, text: str, changed: str) -> None:
    outcome = RULES[kind].apply(text)
    assert isinstance(outcome, Changed)
    assert outcome.text == changed


@each(
    ("kind", "text"),
    [
        ("negation_inserted", "Is she here?"),
        ("negation_inserted", "It is not here."),
        ("negation_inserted", "They read it before they had left."),
        ("negation_removed", "Nobody saw nothing."),
        ("negation_removed", "It is not only red."),
        ("negation_removed", "I do not see any birds."),
        ("role_swap", "The bride married the groom."),
        ("role_swap", "The man painted the fence green."),
        ("role_swap", "The dog chases the cats."),
        ("before_after", "We look after the dog."),
        ("number", "It was built in 1932."),
        ("number", "Version 2.0.1 is out."),
        ("number", "The 2012 games were in London."),
        ("number", "They met on 9 / 11 again."),
        ("number", "We left on dec. 14."),
        ("number", "Call me at 5 pm, please."),
        ("unit", "I am not sure."),
        ("unit", "They charged me a pound."),
        ("before_after", "She had not seen it before."),
        ("quantifier", "He did not convince everyone."),
        ("quantifier", "It touches virtually every home."),
        ("quantifier", "That is all bad news."),
        ("comparative", "They stayed much too long, or longer."),
        ("comparative", "He will most certainly agree."),
        ("role_swap", "We had this problem."),
        ("role_swap", "A guide knows the difference between the two."),
        ("role_swap", "The tour took two hours."),
        ("entity", "She rides a tandem to Initech."),
        ("quantifier", "Most of times it works."),
        ("negation_inserted", "A view of several traffic signs on a pole."),
        ("unit", "It was a second attempt."),
        ("date", "May I sit here?"),
        ("comparative", "He no longer smokes."),
        ("entity", "Anna sleeps."),
        ("padding", "Cheap flights to Rome"),
        ("word_order", "No, thanks."),
        ("negation_inserted", "Das Haus ist alt und der Garten ist gro\u00df."),
        ("typo", "\u041c\u0430\u0433\u0430\u0437\u0438\u043d \u0437\u0430\u043a\u0440\u044b\u0442."),
        ("number", "Der Vertrag und die Rechnung sind vom 3. Mai."),
        ("number", "Il est parti le 14 mai 2019."),
        ("hedge", "\u6211\u6709 12 \u672c\u4e66"),
        ("number", "12 34"),
    ],
)
def test_a_text_is_passed_over_with_a_reason(kind: str, text: str) -> None:
    outcome = RULES[kind].apply(text)
    assert isinstance(outcome, Passed)
    assert outcome.why


def test_other_scripts_and_languages_are_named() -> None:
    assert "Cyrillic" in RULES["hedge"].apply(TEXTS[-1]).why  # type: ignore[union-attr]
    assert "German" in RULES["hedge"].apply(TEXTS[-2]).why  # type: ignore[union-attr]
    for text, number in (("Der Hund und die Katze haben 3 B\u00e4lle.", "3"), ("\u6211\u6709 12 \u672c\u4e66", "12")):
        changed = RULES["number"].apply(text)
        assert isinstance(changed, Changed), text
        before, after = text.split(number)
        assert changed.text.startswith(before)
        assert changed.text.endswith(after)
        assert int(changed.text.removeprefix(before).removesuffix(after)) % int(number) == 0


def test_names_are_those_whose_kind_is_clear() -> None:
    found = names.in_texts(
        [
            "I'd thought so, said I.",
            "On the way home we met Dr. Patel in Karachi.",
            "Maria lives in Iraqi territory.",
            "Buy a Frisbee at Initech.",
        ]
    )
    assert found == {"person": ("Patel", "Maria"), "place": ("Karachi",)}


# --- for any text


@given(st.text(max_size=80), st.integers(0, 3))
@settings(max_examples=150, deadline=None)
def test_any_text_has_an_outcome_which_the_seed_decides(text: str, seed: int) -> None:
    for rule in RULES.values():
        outcome = rule.apply(text, seed)
        assert outcome == rule.apply(text, seed)
        if isinstance(outcome, Changed):
            assert outcome.text != text
            assert outcome.said
        else:
            assert outcome.why


WORDS = st.sampled_from(
    "the a dog Anna did not is after 12 km in May more all perhaps cat! Paris, chased best never".split()
)


@given(st.lists(WORDS, min_size=1, max_size=12).map(" ".join))
@settings(max_examples=150, deadline=None)
def test_what_keeps_the_words_keeps_them(text: str) -> None:
    for kind in ("case", "spacing"):
        outcome = RULES[kind].apply(text)
        if isinstance(outcome, Changed):
            assert "".join(outcome.text.casefold().split()) == "".join(text.casefold().split())
    for rule in KINDS["position"]:
        outcome = rule.apply(f"{text}.")
        assert isinstance(outcome, Passed) or f"{text}." in outcome.text


def test_the_decisive_sentence_comes_at_ten_places_among_the_same_others() -> None:
    text = "The gate is open."
    others = set()
    for place, rule in enumerate(KINDS["position"], 1):
        outcome = rule.apply(text)
        assert isinstance(outcome, Changed)
        sentences = outcome.text.replace(". ", ".|").split("|")
        assert (len(sentences), sentences.index(text) + 1) == (10, place)
        others.add(tuple(s for s in sentences if s != text))
    assert len(others) == 1


def test_an_unknown_kind_suggests_the_nearest() -> None:
    with pytest.raises(InputError, match="'quantifier'"):
        rules_of(["quantifer"])
    assert rules_of([]) == tuple(RULES.values())
