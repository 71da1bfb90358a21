"""Words alone beside a model: outcomes by hand, the paired test, corrections, and the real sets by a slow loop."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest

from blindspot.datasets import fetch
from blindspot.datasets.catalog import find_dataset
from blindspot.datasets.kinds.own_columns import OwnColumn
from blindspot.diagnostics.heros import words_alone
from blindspot.diagnostics.heros.browsing import Sentences
from blindspot.diagnostics.heros.dependence import of_singles
from blindspot.diagnostics.heros.orderings import Cosines
from blindspot.diagnostics.heros.words_alone import Alone, score_in_words
from blindspot.numerics.statistics.compare import Verdict
from blindspot.numerics.statistics.estimate import Unit
from blindspot.numerics.statistics.pairs import Dependence
from blindspot.numerics.statistics.written import interval
from blindspot.numerics.words_alone import Words
from blindspot.runs.findings.baselines import ALL, corrected, in_words
from blindspot.settings import Settings

RIGHT = ("paraphrase", "foil")


def sentences(rows: list[tuple[str, ...]], subsets: tuple[str, ...] = RIGHT) -> Sentences:
    n = len(rows)
    rewrites = [list(row[1:]) for row in rows]
    items = list(dict.fromkeys(text for row in rows for text in row))
    numbers = np.array([[items.index(text) for text in row] for row in rows])
    return Sentences(np.arange(n), [row[0] for row in rows], numbers[:, 0], subsets, rewrites, numbers[:, 1:], {}, {})


def alone_of(outcomes: list[float], groups: list[int] | None = None) -> Alone:
    values = np.array(outcomes)
    known = Dependence.of_groups(np.array(groups or range(len(values)), dtype=np.int64), Unit.SENTENCES)
    return Alone(dict.fromkeys(Words, values), known, 0.5, {})


def test_the_right_rewrite_must_share_more_words() -> None:
    found = words_alone.of_words(
        sentences(
            [
                ("a red dog", "a dog that is red", "a blue dog"),  # 3 of 5 against 2 of 4; F1 6/8 against 4/6
                ("a red dog", "one crimson hound", "a blue dog"),
                ("a red dog", "red dog a", "dog a red"),  # a tie
            ]
        )
    )
    for words in (Words.JACCARD, Words.ROUGE_1):
        assert found.outcomes[words].tolist() == [1, 0, 0.5]
    assert found.dependence.groups.tolist() == [0, 0, 0]


def test_without_a_right_rewrite_it_is_the_orderings_that_meaning_demands() -> None:
    cosines = Cosines(("synonym", "antonym", "typo"), np.array([[0.9, 0.5, 0.1], [0.5, 0.9, 0.1], [0.5, 0.5, 0.9]]))
    assert words_alone.outcomes(cosines).tolist() == [1.0, 0.0, 0.5]
    assert not words_alone.is_scored(("formal", "short"))
    with pytest.raises(ValueError, match="no subset"):
        words_alone.outcomes(Cosines(("formal", "short"), np.ones((2, 2))))


def test_exact_p_of_few_sentences() -> None:
    """Ten sentences that the model gets right and words do not: 2 of 1,024 sign flips are as far, times 3 measures."""
    inside = np.ones(10, dtype=np.bool_)
    found = words_alone.against(np.ones(10), alone_of([0.0] * 10), ALL, inside)
    assert found.p == pytest.approx(3 * 2 / 2**10)
    assert (found.difference.value, found.verdict) == (1.0, Verdict.BETTER)
    assert words_alone.against(np.zeros(10), alone_of([1.0] * 10), ALL, inside).verdict is Verdict.WORSE
    assert words_alone.against(np.ones(10), alone_of([1.0] * 10), ALL, inside).verdict is Verdict.ALIKE
    assert words_alone.against(np.ones(3), alone_of([0.0] * 3), ALL, np.ones(3, dtype=np.bool_)).verdict is (
        Verdict.UNTESTED
    )


def test_sentences_of_the_same_original_are_flipped_together() -> None:
    groups = [0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6, 7, 7, 8, 8, 9, 9]
    model, zero = np.ones(20), alone_of([0.0] * 20, groups)
    differences = [2.0] * 10  # per group
    far = sum(abs(np.dot(signs, differences)) >= 20 for signs in product((-1, 1), repeat=10))
    assert words_alone.against(model, zero, ALL, np.ones(20, dtype=np.bool_)).p == pytest.approx(3 * far / 2**10)


def test_the_best_measure_is_chosen_and_p_of_kinds_corrected() -> None:
    alone = Alone(
        {Words.JACCARD: np.zeros(40), Words.ROUGE_1: np.tile([1.0, 0.0], 20), Words.BAG: np.zeros(40)},
        of_singles(40),
        0.5,
        {},
    )
    codes = np.repeat([0, 1], 20).astype(np.uint8)
    kinds = words_alone.kinds_of(np.arange(40), OwnColumn("kind", ("x", "y"), codes))
    assert [(name, int(inside.sum())) for name, inside in kinds] == [(ALL, 40), ("x", 20), ("y", 20)]
    model = np.concatenate([np.ones(20), np.tile([1.0, 0.0], 10)])
    raw = [words_alone.against(model, alone, name, inside) for name, inside in kinds]
    assert {one.best for one in raw} == {Words.ROUGE_1}
    assert raw[1].p == pytest.approx(3 * 2 / 2**10)
    whole, x, y = corrected(raw)
    assert (whole.p, x.p, y.p) == (raw[0].p, pytest.approx(2 * raw[1].p), 1.0)


@pytest.mark.parametrize("model", [0.0, 1.0])
def test_a_sentence_names_the_verdict(model: float) -> None:
    found = words_alone.against(np.full(20, model), alone_of([0.0] * 20), ALL, np.ones(20, dtype=np.bool_))
    said = in_words(found, "M", score_in_words(RIGHT))
    assert str(found.best) in said
    assert f"M {100 * model:.1f}%" in said
    shown = in_words(found, "M", score_in_words(RIGHT), is_in_headline=False)
    own = f"M {100 * model:.1f}% (95% CI {interval(found.score.interval, '.1%')})"
    assert own in shown, "the interval of the finding about the same score"
    assert own not in said, "of a page whose headline has it"
    assert "\n" not in said


# --- the real sets: what words alone get right, counted slowly


def slowly(dataset: Any, jaccard: bool) -> float:
    """Mean over originals of the share of the first place that the first rewrite has."""
    total = 0.0
    for place, original in enumerate(dataset.originals):
        values = []
        for numbers in dataset.rewrites.values():
            a, b = (words_alone_tokens(dataset.items[i]) for i in (original, numbers[place]))
            shared = len(set(a) & set(b))
            clipped = sum(min(a.count(word), b.count(word)) for word in set(a))
            values.append(shared / len(set(a) | set(b)) if jaccard else 2 * clipped / (len(a) + len(b)))
        best = [value >= max(values) - 1e-6 for value in values]
        total += best[0] / sum(best)
    return total / len(dataset.originals)


def words_alone_tokens(text: str) -> list[str]:
    from blindspot.numerics.words_alone import tokens

    return list(tokens(text))


@pytest.mark.realdata
@pytest.mark.parametrize("name", ["sugarcrepe-pp", "events-adapt", "xnli-negation-en", "xnli-negation-zh"])
def test_words_of_the_real_sets(shared_settings: Settings, name: str) -> None:
    dataset: Any = fetch.load(find_dataset(name), shared_settings)
    texts = [
        (dataset.items[original], *(dataset.items[numbers[place]] for numbers in dataset.rewrites.values()))
        for place, original in enumerate(dataset.originals)
    ]
    found = words_alone.of_words(sentences(texts, dataset.subsets))
    assert found.outcomes[Words.JACCARD].mean() == pytest.approx(slowly(dataset, jaccard=True), abs=1e-12)
    assert found.outcomes[Words.ROUGE_1].mean() == pytest.approx(slowly(dataset, jaccard=False), abs=1e-12)
    if name == "events-adapt":  # the swap has the same words, the passive two more
        assert found.outcomes[Words.JACCARD].mean() == 0
