"""Evidence on similarity: each kind where it is there and where it is not, and how often there is a false one."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from blindspot.diagnostics.similarity.definition import ENTRY
from blindspot.diagnostics.similarity.evidence import evidence
from blindspot.numerics.words_alone import Words, similarities
from blindspot.runs.findings import Finding, Level
from blindspot.types import Float64
from tests.support.made_up_store import MadeUp, false_alarms, shown

N = 200
NEGATED = 40  # pairs with a negation in their first text


def made_up(
    rng: np.random.Generator, models: dict[str, float], *, gap: float = 0.0, texts: int = 150
) -> tuple[MadeUp, Float64]:
    """A store with pairs of ``texts``, scored 0 to 5, and models by how much of the score they see.

    Args:
        gap: what a negation adds to the similarities of "model".
    """
    first = rng.integers(0, texts, N)
    second = (first + rng.integers(1, texts, N)) % texts
    true = rng.uniform(0, 1, N)
    negated = np.zeros(N, dtype=bool)
    negated[rng.permutation(N)[:NEGATED]] = True
    about = pd.DataFrame(
        {
            "item_no": np.arange(N),
            "set_name": "all",
            "gold": 5 * true,
            "first_no": first,
            "second_no": second,
            "first": [f"text {i} is {'not ' if n else ''}here" for i, n in zip(first, negated, strict=True)],
            "second": [f"text {i} is here" for i in second],
        }
    )
    store = MadeUp(ENTRY, about)
    for name, seen in models.items():
        similarity = 0.5 + 0.1 * (seen * (true - 0.5) / true.std() + np.sqrt(1 - seen**2) * rng.normal(size=N))
        similarity += gap * negated * (name == "model")
        add(store, name, similarity)
    return store, true


def add(store: MadeUp, name: str, similarity: Float64) -> None:
    gold = store.about["gold"].to_numpy()[: len(similarity)]
    rho = float(pd.Series(similarity).corr(pd.Series(gold), method="spearman"))
    counts = {"pairs": N, "pairs_covered": len(similarity), "items": 300, "items_covered": 100 + len(similarity)}
    store.add(name, {"similarity": similarity}, {"spearman": rho}, counts)


def of_model(store: MadeUp, kind: str) -> list[Finding]:
    return [one for one in shown(store, evidence, kind) if one.variants[0].encoder == "model"]


def test_a_model_that_follows_people_is_a_strength_and_one_that_does_not_a_caution() -> None:
    rng = np.random.default_rng(1)
    store, _ = made_up(rng, {"model": 0.9})
    (good,) = of_model(store, "order-of-people")
    assert good.level is Level.STRENGTH
    assert good.interval is not None
    assert good.interval.low < good.value < good.interval.high
    (bad,) = of_model(made_up(rng, {"model": 0.0})[0], "order-of-people")
    assert bad.level is Level.CAUTION, "no worse than chance"
    (worse,) = of_model(made_up(rng, {"model": -0.2, "lsa": 0.8})[0], "order-of-people")
    assert worse.level is Level.BLIND_SPOT, "a baseline does better"
    (against,) = of_model(made_up(rng, {"model": -0.6})[0], "order-of-people")
    assert against.level is Level.BLIND_SPOT, "worse than chance"
    assert not of_model(made_up(rng, {"model": 0.7, "lsa": 0.7})[0], "order-of-people"), "no better than a baseline"
    assert bad.severity > good.severity
    assert len(bad.examples) == 3
    assert bad.address["a"] == "model~none"
    assert int(bad.address["item"]) in range(N)


def test_the_examples_are_the_pairs_that_are_judged_most_differently() -> None:
    store, true = made_up(np.random.default_rng(2), {"model": 0.0})
    (bad,) = of_model(store, "order-of-people")
    similarity = store.rows[store.runs[0].run_id]["similarity"]
    worst = (similarity.rank() - pd.Series(true).rank()).abs().idxmax()
    assert bad.address["item"] == str(worst)
    assert bad.examples[0].texts[0] == ("first text", store.about["first"][worst])


@pytest.mark.parametrize(
    ("seen", "level"), [(0.3, Level.BLIND_SPOT), (0.98, Level.STRENGTH)], ids=["below the baseline", "above it"]
)
def test_a_baseline_that_is_better_is_a_blind_spot(seen: float, level: Level) -> None:
    store, _ = made_up(np.random.default_rng(3), {"model": seen, "lsa": 0.8, "random-projection": 0.1})
    (found,) = [f for f in of_model(store, "") if f.kind in {"worse-than-baseline", "better-than-baseline"}]
    assert found.level is level
    assert not [f for f in shown(store, evidence) if "baseline" in f.kind and f.variants[0].encoder == "lsa"]
    if level is Level.BLIND_SPOT:
        assert found.address["b"] == "lsa~none"
        assert len(found.examples) == 3
    assert "model" in found.said()
    assert "lsa" in found.said()


def test_a_model_as_good_as_a_baseline_is_a_caution() -> None:
    store, _ = made_up(np.random.default_rng(4), {"model": 0.6, "lsa": 0.6})
    assert [f.level for f in of_model(store, "no-better")] == [Level.CAUTION]
    assert not of_model(made_up(np.random.default_rng(4), {"model": 0.95, "lsa": 0.3})[0], "no-better")


def test_unrelated_pairs_above_equivalent_ones() -> None:
    rng = np.random.default_rng(5)
    store, true = made_up(rng, {})
    similarity = np.where(np.abs(true - 0.5) < 0.3, true, rng.uniform(size=N))
    add(store, "model", similarity)
    gold = store.about["gold"].to_numpy()
    low, high = similarity[gold <= gold.min() + np.ptp(gold) / 5], similarity[gold >= gold.max() - np.ptp(gold) / 5]
    (found,) = of_model(store, "unrelated-above")
    assert found.value == pytest.approx(np.mean(low[:, None] > high))
    assert not of_model(made_up(np.random.default_rng(5), {"model": 0.95})[0], "unrelated-above")


def test_high_cosines_of_unrelated_pairs_and_a_narrow_range() -> None:
    store, true = made_up(np.random.default_rng(6), {})
    add(store, "model", 0.9 + 0.05 * true + 0.01 * np.random.default_rng(6).normal(size=N))
    (high,) = of_model(store, "unrelated-rated-high")
    unrelated = store.rows[store.runs[0].run_id]["similarity"][true <= true.min() + np.ptp(true) / 5]
    assert high.value == pytest.approx(unrelated.mean())
    assert high.level is Level.CAUTION
    assert len(of_model(store, "narrow-range")) == 1
    wide, _ = made_up(np.random.default_rng(6), {})
    add(wide, "model", true + 0.1 * np.random.default_rng(6).normal(size=N))
    assert not of_model(wide, "unrelated-rated-high")
    assert not of_model(wide, "narrow-range")


def test_a_fifth_of_the_scale_that_is_off_the_line() -> None:
    rng = np.random.default_rng(7)
    store, true = made_up(rng, {})
    add(store, "model", np.maximum(true, 0.55) + 0.02 * rng.normal(size=N))
    (found,) = of_model(store, "band-off")
    assert found.p is not None
    straight, true = made_up(rng, {})
    add(straight, "model", true + 0.1 * rng.normal(size=N))
    assert not of_model(straight, "band-off")


def test_negated_texts_that_are_found_too_similar() -> None:
    (found,) = of_model(made_up(np.random.default_rng(8), {"model": 0.8}, gap=0.1)[0], "negation")
    assert found.level is Level.BLIND_SPOT
    assert found.value == pytest.approx(0.1, abs=0.03)
    assert all(" not " in example.texts[0][1] for example in found.examples)
    assert not of_model(made_up(np.random.default_rng(8), {"model": 0.8}, gap=-0.1)[0], "negation")
    assert not of_model(made_up(np.random.default_rng(8), {"model": 0.8})[0], "negation")


def test_pairs_that_are_left_out() -> None:
    store, true = made_up(np.random.default_rng(9), {})
    add(store, "model", true[:150])
    (found,) = of_model(store, "low-coverage")
    assert found.value == 0.75
    assert "50 of 200" in found.sentence
    assert not of_model(made_up(np.random.default_rng(9), {"model": 0.9})[0], "low-coverage")


def test_too_few_pairs_have_nothing_tested() -> None:
    about = pd.DataFrame({"item_no": [0, 1], "set_name": "a", "gold": [1.0, 2.0], "first_no": [0, 0]})
    store = MadeUp(ENTRY, about.assign(second_no=[1, 2], first="a", second="b"))
    store.add("model", {"similarity": [0.1, 0.2]}, {"spearman": 1.0})
    assert not [one for one in evidence(store.material()) if one.p is not None]


def test_reversed_scores_are_one_question_and_no_other_finding() -> None:
    """Distances called scores: all that takes them at their word would be misleading."""
    rng = np.random.default_rng(11)
    store, _ = made_up(rng, {})
    shared = rng.integers(0, 5, N)
    second = [
        f"{' '.join(text.split()[:n])} else {i}"
        for i, (text, n) in enumerate(zip(store.about["first"], shared, strict=True))
    ]

    def kinds(sign: float, *, other: Float64 | None = None) -> list[str]:
        found = MadeUp(ENTRY, store.about.assign(gold=sign * shared + rng.normal(scale=0.1, size=N), second=second))
        add(found, "model", shared + rng.normal(size=N))
        add(found, "other", shared + rng.normal(size=N) if other is None else other)
        return [one.kind for one in shown(found, evidence)]

    assert kinds(-1.0) == ["scores-reversed"]
    assert set(kinds(1.0)) == {"worse-than-words"}
    assert "order-of-people" in kinds(-1.0, other=rng.normal(size=N)), "one model does not contradict them"


@pytest.mark.slow
def test_false_blind_spots_are_rare() -> None:
    """Models as good as the baselines, better than asked, and blind to nothing; texts are shared by pairs."""

    def null(seed: int) -> MadeUp:
        return made_up(np.random.default_rng([20, seed]), dict.fromkeys(("model", "lsa"), 0.5))[0]

    assert false_alarms(null, evidence) <= 10


def test_a_model_against_the_shared_words_of_the_pairs() -> None:
    """What people score by shared words, words find best; what they score otherwise, a model that sees it."""
    rng = np.random.default_rng(5)
    store, _ = made_up(rng, {"model": 0.9})
    (better,) = of_model(store, "better-than-words")
    alone = similarities(store.about["first"].tolist(), store.about["second"].tolist())
    gold = store.about["gold"]
    reached = max(float(pd.Series(values).corr(gold, method="spearman")) for values in alone.values())
    assert better.level is Level.STRENGTH
    assert better.p is not None
    assert better.value == pytest.approx(store.runs[0].metrics["spearman"] - reached)
    words = alone[Words.JACCARD] + rng.normal(scale=0.01, size=N)
    by_words = MadeUp(ENTRY, store.about.assign(gold=words))
    add(by_words, "model", rng.normal(size=N))
    (worse,) = of_model(by_words, "worse-than-words")
    assert worse.level is Level.BLIND_SPOT
    assert worse.value < 0
