"""Words alone beside a model on scored pairs: correlations and p-values by a slow reference."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from blindspot.diagnostics.similarity import view, words_alone
from blindspot.diagnostics.similarity.pairs import ScoredTable
from blindspot.numerics.statistics.compare import Verdict
from blindspot.numerics.words_alone import Words
from blindspot.runs.findings.baselines import in_words
from blindspot.texts import lexical_overlap

WORDS = "red dog cat house tree runs sleeps big small old".split()


def table(n: int = 60) -> ScoredTable:
    rng = np.random.default_rng(0)
    firsts = [f"{n} " + " ".join(rng.choice(WORDS, 4)) for n in range(n)]
    seconds = [f"{-n} " + " ".join(rng.choice(WORDS, 4)) for n in range(n)]
    gold = lexical_overlap(firsts, seconds) + rng.normal(0, 0.02, n)
    frame = pd.DataFrame({"item_no": range(n), "set_name": "s", "gold": gold, "first": firsts, "second": seconds})
    return ScoredTable(frame, {"noise": rng.normal(size=n), "gold": gold.copy()})


def test_correlations_are_scipys() -> None:
    scored = table()
    alone = words_alone.of_table(scored)
    assert list(alone) == list(Words)
    found = words_alone.against(scored.similarity["noise"], alone, scored)
    assert found is not None
    rho = {words: stats.spearmanr(values, scored.gold).statistic for words, values in alone.items()}
    assert found.best == max(rho, key=lambda words: rho[words])
    assert found.reached.value == pytest.approx(rho[found.best])
    assert found.score.value == pytest.approx(stats.spearmanr(scored.similarity["noise"], scored.gold).statistic)
    assert found.difference.value == pytest.approx(found.score.value - found.reached.value)
    assert (found.verdict, found.items) == (Verdict.WORSE, 60)
    assert f"{found.reached.value:.3f}" in in_words(found, "M", words_alone.SCORE, ".3f")


def test_what_is_as_good_is_not_called_different() -> None:
    scored = table()
    alone = words_alone.of_table(scored)
    found = words_alone.against(alone[Words.JACCARD], {Words.JACCARD: alone[Words.JACCARD]}, scored)
    assert found is not None
    assert (found.verdict, found.p) == (Verdict.ALIKE, 1.0)


def test_no_baseline_of_words_or_of_constants() -> None:
    scored = table(8)
    single = ScoredTable(scored.frame.assign(first=WORDS[:8], second=WORDS[2:10]), scored.similarity)
    assert words_alone.of_table(single) == {}
    assert words_alone.against(scored.similarity["noise"], {}, scored) is None
    assert words_alone.against(np.ones(8), words_alone.of_table(scored), scored) is None


def test_spearman_alone_is_the_same_as_among_all() -> None:
    scored = table()
    sets = ["a"] * 30 + ["b"] * 30
    every = view.rows_of(scored.similarity["noise"], scored.gold, sets, scored.ends)
    one = view.rows_of(scored.similarity["noise"], scored.gold, sets, scored.ends, only_spearman=True)
    assert [row.estimates["spearman"] for row in every] == [row.estimates["spearman"] for row in one]
    assert {kind for row in one for kind in row.estimates} == {"spearman"}
