"""``blindspot judge results``, in this process."""

from __future__ import annotations

from dataclasses import replace

import pytest

from blindspot.datasets.published.pairs import pair_set
from blindspot.settings import Settings
from blindspot.studies.judgments.store import Judgments
from blindspot.studies.judgments.types import Ballot, ItemSet, Task
from blindspot.variants import Variant
from tests.support.commands import Command
from tests.support.judgment_samples import comparative_set, intruder_set
from tests.support.small_world import GramEncoder, register_dataset, register_encoder


@pytest.fixture
def items(monkeypatch: pytest.MonkeyPatch, settings: Settings) -> ItemSet:
    """A comparative set over a dataset that nobody has encoded; ann votes in the session one, bob outside of any."""
    made = comparative_set(3)
    texts = sorted({t for i in made.items for t in (i.query.text, *i.options)})
    register_dataset(monkeypatch, pair_set("judged", pairs=[(t, t) for t in texts], background=[]))
    register_encoder(monkeypatch, GramEncoder())
    made = replace(
        made, variants=(Variant("trigrams", "none"), *made.variants[1:]), manifest=made.manifest | {"dataset": "judged"}
    )
    store = Judgments.at(settings.store)
    store.add_set(made)
    for item in made.items:
        store.vote(Ballot(made.set_id, "one", "ann"), item.item_no, item.own[0])
        store.vote(Ballot(made.set_id, "", "bob"), item.item_no, None if item.item_no == 0 else item.own[2])
    return made


def test_votes_of_one_session(items: ItemSet, blindspot: Command) -> None:
    assert blindspot.json("judge", "results", items.set_id[:6], "--session", "one")["votes"] == 9
    outside = blindspot.json("judge", "results", items.set_id, "--session", "")
    assert (outside["votes"], outside["unknown"], outside["agreement"]) == (8, 1, None)


def test_the_automatic_rater_stands_beside(items: ItemSet, blindspot: Command) -> None:
    people = blindspot.json("judge", "results", items.set_id)
    said = blindspot.json("judge", "results", items.set_id, "--reference", "trigrams")
    automatic = said.pop("automatic")
    assert said | {"automatic": None} == people, "its answers are counted with nobody's"
    assert (automatic["reference"], automatic["is_judged"], automatic["unanswered"]) == ("trigrams~none", True, 0)
    assert [v["votes"] for v in automatic["variants"]] == [9, 9, 9]
    out = " ".join(blindspot.out("judge", "results", items.set_id, "--reference", "trigrams~center").split())
    assert "automatic" in out
    assert "17 votes of 2 raters on 9 of 9 items; 1 " in out
    assert "Automatic rater: trigrams + center; it could not answer 0 items." in out


def test_without_votes(settings: Settings, blindspot: Command) -> None:
    empty = intruder_set(2)
    Judgments.at(settings.store).add_set(empty)
    said = blindspot.json("judge", "results", empty.set_id)
    assert said["variants"][0]["precision"] == {"value": None, "interval": None, "why": ""}
    assert list(said["breakdown"]) == ["band", "part-of-speech", "concreteness"]
    assert "0 votes of 0 raters" in blindspot.out("judge", "results", empty.set_id)
    assert empty.task is Task.INTRUDER


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["xyz"], "'xyz'"),
        (["SET", "--session", "on"], "unknown session 'on'; expected one of one; did you mean 'one'?"),
        (["SET", "--reference", "trigram"], "did you mean 'trigrams'?"),
        (["SET", "--reference", "trigrams~centre"], "did you mean 'center'?"),
    ],
)
def test_what_is_wrong_is_said(items: ItemSet, blindspot: Command, arguments: list[str], message: str) -> None:
    assert message in blindspot.error("judge", "results", *(items.set_id if a == "SET" else a for a in arguments))
