"""Finding of language bias: a query's nearest sentence is in its own language rather than a translation."""

from __future__ import annotations

from collections.abc import Sequence

from blindspot.datasets.published.tatoeba.languages import ENGLISH, languages
from blindspot.numerics.statistics.intervals import ALPHA
from blindspot.runs.findings import Example, Finding, Level
from blindspot.studies.languages.pooled import Bias, Nearest
from blindspot.studies.languages.scores import FROM, TO, Score
from blindspot.texts import counted

LEAST = 8  # wrong nearest candidates that a test takes


def findings(found: Sequence[Bias], scores: Sequence[Score]) -> list[Finding]:
    """One per language of a pool with enough mistakes: how often its own language wins over the meaning.

    Tested is whether wrong nearest candidates are in the query's language more often than the wrong candidates are.
    """
    out = []
    pooled = len({score.language.code for score in scores})
    for bias in found:
        way = TO if bias.language == ENGLISH else FROM
        runs = [s.run for s in scores if s.direction == way and bias.language in (ENGLISH, s.language.code)]
        if bias.wrong < LEAST or not runs:
            continue
        name = "English" if bias.language == ENGLISH else languages()[bias.language].name
        value = bias.shares[Nearest.OWN]
        is_bias = bias.p < ALPHA
        out.append(
            Finding(
                kind=f"own-language-first-{bias.language}",
                level=Level.BLIND_SPOT if is_bias else Level.CAUTION,
                sentence=f"{{A}} puts another {name} sentence nearest for {value:.1%} of {name} queries, rather than a "
                f"translation: {bias.own_among_wrong:.0%} of its mistakes, where {bias.expected:.0%} of the wrong "
                "candidates are in that language.",
                diagnostic="evalrank",
                dataset=runs[0].plan.dataset,
                runs=(runs[0],),
                value=value,
                interval=bias.own,
                test=f"exact binomial test over {bias.wrong:,} mistakes among {bias.queries:,} queries, in a pool of "
                f"{counted(pooled, 'language')} and English",
                p=bias.p,
                n=bias.wrong,
                severity=value,
                page="languages",
                address={"lang_pool_on": "true"},
                examples=tuple(
                    Example((("query", query), ("ranked above", nearest), ("match", match)))
                    for query, nearest, match in bias.examples
                ),
            )
        )
    return out
