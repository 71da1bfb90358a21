"""``blindspot neighbors``, in this process: an item, a text of one's own, and what is wrong with a query."""

from __future__ import annotations

import pytest

from blindspot import policy
from tests.support.commands import Command
from tests.support.small_world import DOG, SMALL_PAIRS, GramEncoder
from tests.support.world import World


@pytest.fixture(autouse=True)
def small(world: World) -> None:
    world.add(SMALL_PAIRS, GramEncoder(), GramEncoder("bigrams", size=2))


ON_SMALL = ["--dataset", "small-pairs", "--encoder", "trigrams", "--encoder", "bigrams"]


def test_an_item_is_encoded_and_looked_up(blindspot: Command) -> None:
    said = blindspot.json("neighbors", DOG, *ON_SMALL, "--transform", "none", "--transform", "center")
    number = SMALL_PAIRS.items.index(DOG)
    assert said["query"] == {"text": DOG, "item": number}
    assert [(v["encoder"], v["transform"]) for v in said["variants"]] == [
        (encoder, transform) for encoder in ("trigrams", "bigrams") for transform in ("none", "center")
    ]
    for variant in said["variants"]:
        assert [one["rank"] for one in variant["neighbors"]] == list(range(1, 11))
        assert number not in [one["item"] for one in variant["neighbors"]]
        for one in variant["neighbors"]:
            assert SMALL_PAIRS.items[one["item"]] == one["text"]
    assert len(said["overlap"]) == 6
    assert all(o["k"] == 10 and 0 <= o["jaccard"] <= 1 and 0 <= o["rbo"] <= 1 for o in said["overlap"])


def test_a_text_of_ones_own(blindspot: Command) -> None:
    out = " ".join(
        blindspot.out("neighbors", "A dog rests in a [b]park[/b].", *ON_SMALL, "-k", "3", "--metric", "l2").split()
    )
    assert "'A dog rests in a [b]park[/b].'" in out
    assert "rests" in out.partition("rank")[2]
    assert "trigrams / bigrams" in out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([" ", *ON_SMALL], "the text is empty"),
        (["x" * (policy.LOCAL.text + 1), *ON_SMALL], "the text has 20,001 characters"),
        (["dog", *ON_SMALL, "-k", "51"], "-k is 51; expected 1 to 50"),
        (["dog", "--dataset", "small-pears", "--encoder", "trigrams"], "did you mean 'small-pairs'"),
        (["dog", *ON_SMALL, "--transform", "centre"], "did you mean 'center'"),
    ],
)
def test_what_is_wrong_is_said(blindspot: Command, arguments: list[str], message: str) -> None:
    assert message in blindspot.error("neighbors", *arguments)
