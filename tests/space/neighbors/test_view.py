"""The view of a query's neighbors: an item, another text, and what has no vector."""

from __future__ import annotations

import pytest

from blindspot.errors import InputError
from blindspot.numerics.similarity import Similarity
from blindspot.runs.spaces import Space, open_spaces
from blindspot.space.neighbors.view import view_of_item, view_of_text
from blindspot.variants import Variant
from tests.support.small_world import DOG, SMALL_PAIRS, GramEncoder
from tests.support.world import World

WITHOUT = SMALL_PAIRS.items[-1]


@pytest.fixture(scope="module")
def spaces(module_world: World) -> tuple[Space, ...]:
    lacks = GramEncoder("herbivore", lacks=lambda text: text == WITHOUT or "zebra" in text)
    module_world.add(SMALL_PAIRS, GramEncoder(), lacks)
    for encoder in ("trigrams", "herbivore"):
        module_world.encode(encoder, SMALL_PAIRS.id)
    return open_spaces(
        [Variant("trigrams", "none"), Variant("herbivore", "center")], SMALL_PAIRS, module_world.settings
    )


def test_an_item_is_not_its_own_neighbor(spaces: tuple[Space, ...]) -> None:
    number = SMALL_PAIRS.items.index(DOG)
    view = view_of_item(number, spaces, Similarity.COS, k=3)
    said = view.as_json()
    assert said["query"] == {"text": DOG, "item": number}
    assert said["items"] == len(SMALL_PAIRS.items) - 1, "those that both models cover"
    for variant in said["variants"]:
        assert [near["rank"] for near in variant["neighbors"]] == [1, 2, 3]
        assert number not in [near["item"] for near in variant["neighbors"]]
    (overlap,) = said["overlap"]
    assert (overlap["a"], overlap["b"], overlap["k"]) == ("trigrams~none", "herbivore~center", 3)
    assert (said["notes"], said["without_vector"]) == ([], [])
    assert view_of_item(number, spaces, Similarity.COS).k == len(SMALL_PAIRS.items) - 2
    last = len(SMALL_PAIRS.items) - 1
    with pytest.raises(InputError, match="not all encoders have a vector"):
        view_of_item(last, spaces, Similarity.COS)
    with pytest.raises(InputError, match="the model has no vector"):
        view_of_item(last, spaces[1:], Similarity.COS)


def test_models_without_a_vector_for_a_text_are_named(spaces: tuple[Space, ...], module_world: World) -> None:
    view = view_of_text("a zebra sleeps", spaces, Similarity.L2, module_world.settings, k=2)
    said = view.as_json()
    assert [one["encoder"] for one in said["variants"]] == ["trigrams"]
    assert said["without_vector"] == [{"encoder": "herbivore", "transform": "center"}]
    assert said["notes"] == ["herbivore + center has no vector for the text"]
    assert (said["query"]["item"], said["overlap"]) == (None, [])
