"""The view of a set's votes, counted by hand."""

from __future__ import annotations

import json

import pytest

from blindspot.studies.judgments.automatic import Automatic
from blindspot.studies.judgments.tallies import tally
from blindspot.studies.judgments.view import results_view, rows_of_tests, share_rows
from tests.support.judgment_samples import comparative_set, votes

ITEMS = comparative_set(3)
# ann votes for the first model's option everywhere; bob for the third's, but does not know the words of item 0
VOTES = votes(
    [("ann", item.item_no, item.own[0]) for item in ITEMS.items]
    + [("bob", item.item_no, None if item.item_no == 0 else item.own[2]) for item in ITEMS.items]
)
VIEW = results_view(tally(ITEMS, VOTES))


def test_json_has_scores_tests_agreement_and_breakdowns() -> None:
    said = json.loads(json.dumps(VIEW.as_json(ITEMS, None)))
    assert (said["set_id"], said["task"], said["session"]) == (ITEMS.set_id, "comparative", None)
    assert (said["items"], said["raters"], said["votes"], said["unknown"]) == (9, 2, 17, 1)
    first, second, third = said["variants"]
    assert first["win_ratio"]["value"] == pytest.approx((1 + 8 * 0.5) / 9)
    assert first["win_ratio"]["value"] == first["item_mean"]["value"]
    assert first["chance"] == pytest.approx((6 / 3 + 3 / 2) / 9)
    assert second["own"] == 3, "ann's votes at k = 5, where both return the same word"
    assert third["micro"]["value"] == pytest.approx(8 / 17)
    names = [str(variant) for variant in ITEMS.variants]
    assert [(t["first"], t["second"], t["compared"]) for t in said["tests"]] == [
        (names[0], names[1], 9),
        (names[0], names[2], 9),
        (names[1], names[2], 9),
    ]
    assert said["agreement"]["observed"] == 0.0
    assert list(said["breakdown"]) == ["band", "k", "part-of-speech", "concreteness"]
    assert list(said["breakdown"]["k"]) == ["1", "5", "50"]
    assert said["automatic"] is None


def test_rows_of_tests_are_the_differences_and_say_why_there_is_no_verdict() -> None:
    rows = rows_of_tests(VIEW.tests, str)
    for row, test in zip(rows, VIEW.tests, strict=True):
        assert (row["A"], row["compared"], row["left out"]) == (str(test.first), test.compared, test.left_out)
        assert row["A − B"] == test.difference
        assert row.get("no verdict", "") == test.refusal


def test_rows_have_the_automatic_rater_beside_people() -> None:
    alone = share_rows({"": VIEW.scores})
    assert [(row.variant, row.votes, row.automatic) for row in alone] == [(v, 17, None) for v in ITEMS.variants]
    assert [row.value for row in alone] == [score.value for score in VIEW.scores.variants]
    rater = Automatic(ITEMS.variants[0], True, 0, VIEW.scores)
    beside = share_rows({"": VIEW.scores, "rare": VIEW.scores}, rater)
    assert [row.group for row in beside] == ["", "", "", "rare", "rare", "rare"]
    assert all(row.automatic == row.value for row in beside)
