"""Evidence of language bias: a query's nearest sentence is in its own language rather than a translation."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from blindspot.datasets.published.tatoeba import place_of
from blindspot.datasets.published.tatoeba.languages import ENGLISH, name_of
from blindspot.numerics.similarity import Similarity
from blindspot.runs.findings import Example
from blindspot.runs.findings.evidence import Evidence, Fact
from blindspot.runs.findings.rule import by_chance
from blindspot.settings import Settings
from blindspot.store.records import RunRecord
from blindspot.store.repository import Repository
from blindspot.studies.languages.pooled import PRODUCTS, Bias, best_of, biases, pool_of
from blindspot.studies.languages.scores import FROM, TO, Score, scores_of_runs

LEAST = 8  # wrong nearest candidates that a test takes


def evidence(language_biases: Sequence[Bias], scores: Sequence[Score]) -> list[Evidence]:
    """Evidence per language of a pool with enough mistakes: how often its own language wins over the meaning.

    The test is whether wrong nearest candidates are in the query's language more often than all wrong candidates.
    """
    out = []
    pooled = len({score.language.code for score in scores})
    for bias in language_biases:
        way = TO if bias.language == ENGLISH else FROM
        runs = [s.run for s in scores if s.direction == way and bias.language in (ENGLISH, s.language.code)]
        if bias.wrong < LEAST or not runs:
            continue
        share = bias.own_share()
        of_mistakes = share.value * bias.queries / bias.wrong
        languages = place_of(runs[0].plan.dataset)
        facts: dict[str, Fact] = {
            "code": bias.language,
            "language": name_of(bias.language),
            "of_mistakes": of_mistakes,
            "expected": bias.expected,
            "queries": bias.queries,
            "pooled": pooled,
            "set": languages[0].family.id if languages else "",
            "encoder": runs[0].plan.variant.encoder,
        }
        out.append(
            Evidence(
                "own-language-first-{code}",
                (runs[0],),
                share,
                bias.wrong,
                p=bias.p,
                against=by_chance(bias.expected - of_mistakes, bias.p),
                facts=facts,
                examples=tuple(
                    Example((("query", query), ("ranked above", nearest), ("match", match)))
                    for query, nearest, match in bias.examples
                ),
            )
        )
    return out


# --- one finding per model, for the page of all findings


def pools_of(runs: Iterable[RunRecord]) -> list[tuple[RunRecord, ...]]:
    """Runs on parallel sentences that make a pool, in the languages that the page takes at first: a pool per model
    without post-processing, per family of datasets and per similarity.

    Args:
        runs: with their Hits@1, the newest first; runs on other datasets are ignored.
    """
    newest: dict[tuple[str, ...], dict[str, RunRecord]] = {}
    for run in runs:
        variant, member = run.plan.variant, place_of(run.plan.dataset)
        if member and variant.transform == "none" and variant.encoder.has_vectors:
            key = (str(variant), member[0].family.id, *(f"{k}={v}" for k, v in sorted(run.plan.params.items())))
            newest.setdefault(key, {}).setdefault(run.plan.dataset, run)
    pools = []
    for ways in newest.values():
        codes = best_of(list(ways.values()))
        pools.append(tuple(run for name, run in ways.items() if (at := place_of(name)) and at[1].code in codes))
    return [pool for pool in pools if pool]


def of_pool(runs: Sequence[RunRecord], repository: Repository, settings: Settings) -> list[Evidence]:
    """The worst of a pool's languages, with the number of queries that the page looks at.

    Raises:
        EmbeddingsGone: the cache no longer has the embeddings of a run.
    """
    scores = scores_of_runs(runs, repository)
    metric = Similarity(runs[0].plan.params["metric"])
    language_biases = biases(pool_of(scores, settings, repository), metric, most_products=PRODUCTS)
    tested = evidence(language_biases, scores)
    if not tested:
        return []
    least, worst = min(tested, key=lambda fact: fact["value"]), max(tested, key=lambda fact: fact["value"])
    p = min(1.0, len(tested) * min(finding.p for finding in tested if finding.p is not None))
    shares = {bias.language: bias.own_share(len(tested)) for bias in language_biases}
    highest, lowest = (shares[str(evidence_item.facts["code"])] for evidence_item in (worst, least))
    facts = {
        **worst.facts,
        "pooled": len(language_biases),
        "tested": len(tested),
        "other": least.facts["language"] if len(tested) > 1 else "",
        "least": lowest,
    }
    against = by_chance(-worst["value"], p)
    return [replace(worst, kind="own-language-first", value=highest, p=p, against=against, facts=facts)]
