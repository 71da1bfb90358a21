"""Training data from votes: by hand, against a loop, without texts that others evaluate on; command and page."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from blindspot.datasets.catalog import DatasetRef
from blindspot.datasets.published.pairs import pair_set
from blindspot.errors import InputError
from blindspot.runs.training_data.from_run import Wishes
from blindspot.runs.training_data.making import EVALUATED
from blindspot.settings import Settings
from blindspot.store.repository import Repository
from blindspot.studies.judgments.store import Judgments
from blindspot.studies.judgments.tallies import tally
from blindspot.studies.judgments.training_data import make, triplets
from blindspot.studies.judgments.types import NOT_ASKED, Ballot, Item, ItemSet, Query, Task
from tests.support.commands import Command
from tests.support.judgment_samples import A, B, C, comparative_set, intruder_set, random_tally, votes
from tests.support.small_world import register_dataset

WORDS = "harbor violin pepper lantern glacier orchard saddle anvil parrot quarry meadow compass thunder basket".split()


def word_set(queries: int = 12) -> ItemSet:
    """A question per word, with options that share nothing; A finds the first, B the second."""
    items = [
        Item(number, Query(WORDS[number]), "rare", 1, (f"{WORDS[number][::-1]}x", f"yy{WORDS[number]}yy"), (0, 1))
        for number in range(queries)
    ]
    made_at = datetime(2026, 1, 2, tzinfo=UTC)
    manifest = {"dataset": "vocab-wordfreq", "dataset_digest": "0"}
    return ItemSet(Task.COMPARATIVE, "Words", (A, B), tuple(items), manifest, made_at)


def test_the_most_chosen_is_nearer_than_what_fewer_chose() -> None:
    items = comparative_set(1)
    first, shared, third = items.items
    cast = [("ann", 0, first.own[1]), ("bob", 0, first.own[1]), ("cem", 0, first.own[2]), ("dan", 0, None)]
    cast += [("ann", 1, shared.own[0]), ("bob", 1, shared.own[2])]  # as many each
    found = list(triplets(tally(items, votes(cast))))
    winner, loser, none = (first.options[first.own[place]] for place in (1, 2, 0))
    assert [one.texts for one in found] == [("query0", winner, none), ("query0", winner, loser)]
    assert [one.lead for one in found] == pytest.approx([-2 / 3, -1 / 3])
    assert [one.kind for one in found] == [f"neighbor by {A.label}", f"neighbor by {C.label}"]
    assert third.item_no == 2, "without votes it says nothing"


def test_an_intruder_that_people_see_elsewhere_is_a_bad_neighbor() -> None:
    items = intruder_set(2)
    one = items.items[1]  # A's: near1a, next1a, odd1a and the query
    near, following, odd, query = (one.options.index(name) for name in ("near1a", "next1a", "odd1a", "query1"))
    for chosen, expected in (
        ([near, near, odd], [("query1", "next1a", "near1a", pytest.approx(-2 / 3))]),
        ([near, following, near], [("query1", "next1a", "near1a", pytest.approx(-1 / 3))]),
        ([odd, odd, near], []),  # people agree with the model
        ([query, query, near], []),
        ([near, odd], []),  # as many each
    ):
        cast = [(f"rater{i}", 1, option) for i, option in enumerate(chosen)]
        found = list(triplets(tally(items, votes(cast))))
        assert [(*t.texts, t.lead) for t in found] == expected
        assert {t.kind for t in found} <= {f"neighbor by {A.label}"}


@given(st.integers(0, 10_000))
@hypothesis_settings(max_examples=50, deadline=None)
def test_triplets_are_those_of_a_loop(seed: int) -> None:
    found = random_tally(seed)
    expected = set()
    for item, chosen in zip(found.items, found.chosen.tolist(), strict=True):
        counts = [chosen.count(option) for option in range(len(item.options))]
        for best, most in enumerate(counts):
            for other, fewer in enumerate(counts):
                if most and all(most > n for place, n in enumerate(counts) if place != best) and other != best:
                    assert fewer < most
                    expected.add((item.query.text, item.options[best], item.options[other]))
    assert {one.texts for one in triplets(found)} == expected
    assert all(-1 <= one.lead < 0 for one in triplets(found))
    assert NOT_ASKED not in np.unique(found.chosen[found.chosen >= 0])


def fill(store: Judgments, items: ItemSet) -> None:
    store.add_set(items)
    for item in items.items:
        store.vote(Ballot(items.set_id, "", "Ada"), item.item_no, 1)


def test_files_hold_out_and_leave_out_what_others_evaluate_on(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    items = word_set()
    counted = tally(items, votes([("ann", i.item_no, 1) for i in items.items]))
    repository = Repository.at(settings.store)
    made = make(items, counted, 0.0, Wishes(held_out=0.3), settings, repository)
    both = [*made.data.train, *made.data.held_out]
    assert {one.texts for one in both} == {(i.query.text, i.options[1], i.options[0]) for i in items.items}
    assert made.data.held_out
    assert not {t for one in made.data.train for t in one.texts} & {t for one in made.data.held_out for t in one.texts}
    about = json.loads(next(data for path, data in made.files.items() if path.name == "about.json"))
    assert (about["votes"], about["raters"], about["set"]) == (len(items.items), 1, items.set_id)
    planted = pair_set("planted", pairs=[(" HARBOR ", "Violin!")], background=[])
    register_dataset(monkeypatch, planted)
    less = make(items, counted, 0.0, Wishes(leave_out=(DatasetRef("planted"),)), settings, repository)
    assert less.data.left_out == {EVALUATED: 2}
    assert not {one.anchor for one in (*less.data.train, *less.data.held_out)} & {"harbor", "violin"}
    with pytest.raises(InputError, match="0 examples left"):
        make(items, tally(items, []), 0.0, Wishes(), settings, repository)
    with pytest.raises(InputError, match="left"):
        make(items, tally(items, votes([("ann", 0, 1), ("bob", 0, 0)])), 0.0, Wishes(), settings, repository)


def test_the_command_writes_the_folder(blindspot: Command, settings: Settings, tmp_path: Path) -> None:
    items = word_set()
    fill(Judgments.at(settings.store), items)
    out = tmp_path / "out"
    said = blindspot.json("judge", "training-data", items.set_id[:6], "--output", str(out))
    assert said["train"] + said["held_out"] == len(items.items)
    assert (out / "triplets" / "train.jsonl").is_file()
    assert (out / "train.py").is_file()
    again = blindspot("judge", "training-data", items.set_id, "--output", str(out))
    assert again.code == 2
    assert "new or empty" in again.err
