"""Errors: one line that says what was wrong, what was expected and what to do; the exit code of each kind."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from blindspot import errors
from blindspot.errors import BlindspotError, Cancelled, InputError, unknown


def test_the_three_parts_stand_on_one_line() -> None:
    error = InputError("BLINDSPOT_DEVICE is 'gpu'", expected="cpu or cuda", remedy="unset it")
    assert str(error) == "BLINDSPOT_DEVICE is 'gpu'; expected cpu or cuda; unset it"
    assert error.args == (str(error),)


def test_parts_that_are_empty_leave_no_trace() -> None:
    assert str(BlindspotError("the disk is full")) == "the disk is full"
    assert str(BlindspotError("the disk is full", remedy="free some space")) == "the disk is full; free some space"


@given(st.text(), st.text(), st.text())
def test_no_text_breaks_the_line(what: str, expected: str, remedy: str) -> None:
    message = str(BlindspotError(what, expected=expected, remedy=remedy))
    assert len(message.splitlines()) <= 1
    assert "\t" not in message


def test_exit_codes() -> None:
    """2 where the input was wrong, 1 where the world was; every kind of error says which."""
    kinds = [kind for kind in vars(errors).values() if isinstance(kind, type) and issubclass(kind, BlindspotError)]
    assert len(kinds) >= 6
    assert {kind.__name__ for kind in kinds if kind.exit_code == 2} == {"InputError"}
    assert {kind.exit_code for kind in kinds} == {1, 2}


def test_cancelled_says_that_nothing_is_lost() -> None:
    assert "run it again" in str(Cancelled())


@pytest.mark.parametrize(
    ("value", "suggestion"),
    [
        ("evalrnak", "evalrank"),  # neighbours swapped
        ("evalrnk", "evalrank"),
        ("evalrankk", "evalrank"),
        ("hreos", "heros"),
        ("Heros", "heros"),
    ],
)
def test_the_nearest_id_is_suggested(value: str, suggestion: str) -> None:
    error = unknown("diagnostic", value, ["heros", "evalrank", "similarity"])
    assert isinstance(error, InputError)
    assert str(error) == (
        f"unknown diagnostic '{value}'; expected one of evalrank, heros, similarity; did you mean '{suggestion}'?"
    )


@pytest.mark.parametrize("value", ["", "xyz", "something else entirely"])
def test_nothing_is_suggested_where_nothing_is_near(value: str) -> None:
    assert "did you mean" not in str(unknown("diagnostic", value, ["evalrank", "heros"]))


def test_known_ids_may_be_any_iterable() -> None:
    assert "expected one of a, b" in str(unknown("letter", "q", iter(["b", "a"])))
    assert "expected one of a, b" in str(unknown("letter", "q", {"b": 1, "a": 2}))
