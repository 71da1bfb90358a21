"""``blindspot threshold``, in this process: the JSON file, scored and labeled pairs, what is wrong with a request."""

from __future__ import annotations

import numpy as np
import pytest

from blindspot.diagnostic import find_diagnostic
from blindspot.settings import Settings
from tests.studies.threshold.world import SCORED, fill
from tests.support import transfer_world
from tests.support.commands import Command
from tests.support.world import World


@pytest.fixture(scope="module")
def filled(module_world: World) -> World:
    fill(module_world)
    return module_world


@pytest.fixture
def settings(filled: World) -> Settings:
    return filled.settings


ASK = ["threshold", "--encoder", "trigrams", "--data"]


def test_threshold_and_calibration_are_those_of_the_pairs(blindspot: Command, filled: World) -> None:
    said = blindspot.json(*ASK, SCORED, "--precision", "0.8", "--also", "bigrams")
    run = filled.run("similarity", "trigrams", SCORED)
    rows = filled.repository.items(find_diagnostic("similarity"), [run.run_id], texts=True)
    called = rows[rows["similarity"] >= said["threshold"]]
    same = rows["gold"] >= 4
    assert said["at_threshold"]["precision"]["value"] == pytest.approx((called["gold"] >= 4).mean())
    assert said["at_threshold"]["recall"]["value"] == pytest.approx((called["gold"] >= 4).sum() / same.sum())
    assert said["at_threshold"]["precision"]["value"] >= 0.8
    assert (said["pairs"], said["pairs_same"]) == (len(rows), int(same.sum()))
    assert said["threshold_low"] <= said["threshold"] <= (said["threshold_high"] or np.inf)
    knots = said["calibration"]["isotonic"]
    assert knots["similarity"] == sorted(knots["similarity"])
    assert 0 <= min(knots["probability"]) <= max(knots["probability"]) <= 1
    assert said["calibration"]["logistic"]["slope"] > 0
    assert said["also"]["encoder"] == "bigrams"
    assert said["also"]["threshold"] == said["threshold"]


def test_labeled_pairs_and_sampled_ones(blindspot: Command) -> None:
    said = blindspot.json(*ASK, transfer_world.PAIRS, "--precision", "0.6")
    assert (said["pairs"], said["same_is"], said["is_sampled"]) == (60, "same", False)
    said = blindspot.json(*ASK, transfer_world.PAIRS, "--precision", "0.6", "--same", "other")
    assert (said["pairs_same"], said["same_is"]) == (30, "other")
    assert blindspot.json(*ASK, transfer_world.SPLIT, "--precision", "0.6")["is_sampled"]


def test_an_unreachable_wish_is_an_answer(blindspot: Command) -> None:
    said = blindspot.json(*ASK, transfer_world.PAIRS, "--precision", "0.999", "--same", "other")
    assert said["threshold"] is None
    assert said["at_threshold"] is None
    assert said["highest_precision"]["precision"]["value"] < 0.999
    assert "No threshold" in blindspot.out(*ASK, transfer_world.PAIRS, "--precision", "0.999", "--same", "other")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["demo-pairs"], "expected scored pairs"),
        ([SCORED, "--precision", "1"], "more than 0 and less than 1"),
        ([SCORED, "--cut", "99"], "are different"),
        ([SCORED, "--same", "yes"], "has no label 'yes'"),
        ([transfer_world.PAIRS, "--same", "yes"], "one of: other, same"),
        ([transfer_world.PAIRS, "--cut", "1"], "has no scores to cut"),
    ],
)
def test_what_is_wrong_is_one_line(blindspot: Command, arguments: list[str], message: str) -> None:
    assert message in blindspot.error(*ASK, *arguments)
