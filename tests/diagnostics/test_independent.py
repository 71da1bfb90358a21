"""What is independent in a dataset: the same rule for every diagnostic of it."""

from __future__ import annotations

import pytest

from blindspot.datasets.kinds.base import Dataset
from blindspot.datasets.published.minimal_pairs import minimal_pair_set
from blindspot.datasets.published.pairs import pair_set
from blindspot.datasets.published.scored_pairs import scored_pairs
from blindspot.diagnostic import find_diagnostic
from tests.support.small_world import GramEncoder
from tests.support.world import World

N = 12
ONCE = [f"text number {i}" for i in range(N)]
AGAIN = [text.title().replace(" ", "  ") for text in ONCE]  # the same but for case and spaces
OTHERS = [f"{i} is another" for i in range(2 * N)]


def datasets() -> list[Dataset]:
    """Each has a row per text, and one per text in its other form."""
    rows = list(zip([*ONCE, *AGAIN], OTHERS, strict=True))
    scored = [(first, second, float(i)) for i, (first, second) in enumerate(rows)]
    rewrites = {"synonym": OTHERS, "antonym": [f"not {text}" for text in OTHERS]}
    return [
        pair_set("pairs", rows, []),
        scored_pairs("scored", {"own": scored}),
        minimal_pair_set("minimal", [*ONCE, *AGAIN], rewrites),
    ]


@pytest.mark.parametrize(
    ("diagnostic", "dataset"),
    [("evalrank", "pairs"), ("geometry", "pairs"), ("similarity", "scored"), ("heros", "minimal")],
)
def test_texts_that_differ_by_case_and_spaces_are_one(world: World, diagnostic: str, dataset: str) -> None:
    world.add(GramEncoder("trigrams", 3), *datasets())
    run, entry = world.run(diagnostic, "trigrams", dataset), find_diagnostic(diagnostic)
    (scores,) = entry.item_scores([run], world.repository)
    assert {(one.known.units, len(one.known.groups)) for one in scores.values()} == {(N, 2 * N)}
