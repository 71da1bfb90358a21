"""Scored pairs, labeled pairs and labeled texts with runs and embeddings of toy models."""

from __future__ import annotations

import numpy as np

from blindspot.datasets.kinds.scored_pairs import ScoredPairs
from blindspot.datasets.published import scored_pairs
from tests.support import transfer_world
from tests.support.small_world import GramEncoder
from tests.support.world import World

SCORED = "toy-judged"
MARKED = "it *rains* on [x](http://a)"


def scored() -> ScoredPairs:
    """Two sets of pairs that share 0 to 5 of five words, scored by how many."""
    rng = np.random.default_rng(4)
    words = "red green blue dog cat bird runs sleeps sings mat house river".split()
    sets: dict[str, list[scored_pairs.Row]] = {"one": [], "two": []}
    for i in range(160):
        first = [str(word) for word in rng.choice(words, 5)]
        kept = int(rng.integers(6))
        second = first[:kept] + [str(word) for word in rng.choice(words, 5 - kept)]
        row = (f"{' '.join(first)} {i}", f"{' '.join(second)} {i}x", float(kept))
        sets["one" if i % 2 else "two"].append(row)
    sets["one"].append((MARKED, f"{MARKED} again", 5.0))
    return scored_pairs.scored_pairs(SCORED, sets)


def fill(world: World) -> None:
    """Three models, one of which lacks some texts; a fourth gives every text the same vector."""
    lacks = GramEncoder("lacks", lacks=lambda text: "river" in text)
    models = (GramEncoder(), GramEncoder("bigrams", size=2), lacks, GramEncoder("constant", constant=True))
    world.add(scored(), transfer_world.pairs(), transfer_world.split(), transfer_world.folds(), *models)
    for model in ("trigrams", "bigrams", "lacks"):
        world.run("similarity", model, SCORED)
    for dataset in (transfer_world.PAIRS, transfer_world.SPLIT):
        for model in ("trigrams", "bigrams"):
            world.encode(model, dataset)
    world.run("transfer", "constant", transfer_world.PAIRS)  # the store knows it then
    world.repository.database.close()
