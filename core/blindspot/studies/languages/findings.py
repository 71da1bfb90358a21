"""Findings of language bias: a query's nearest sentence is in its own language rather than a translation."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from blindspot.datasets.published.tatoeba import place_of
from blindspot.datasets.published.tatoeba.languages import ENGLISH, languages
from blindspot.numerics.similarity import Similarity
from blindspot.numerics.statistics.intervals import ALPHA
from blindspot.numerics.statistics.written import ci, with_ci
from blindspot.runs.findings import Example, Finding, Level
from blindspot.runs.findings.rule import by_chance
from blindspot.settings import Settings
from blindspot.store.records import RunRecord
from blindspot.store.repository import Repository
from blindspot.studies.languages.pooled import PRODUCTS, Bias, best_of, biases, pool_of
from blindspot.studies.languages.scores import FROM, TO, Score, scores_of_runs
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
        name = _name(bias.language)
        own = bias.own_share()
        value = own.value
        is_bias = bias.p < ALPHA
        out.append(
            Finding(
                kind=f"own-language-first-{bias.language}",
                level=Level.BLIND_SPOT if is_bias else Level.CAUTION,
                sentence=f"{{A}} puts another {name} sentence nearest for {value:.1%} of {name} queries"
                f"{ci(own, '.1%')}, rather than a translation: {value * bias.queries / bias.wrong:.0%} of its "
                f"mistakes, where {bias.expected:.0%} of the wrong candidates are in that language.",
                diagnostic="evalrank",
                dataset=runs[0].plan.dataset,
                runs=(runs[0],),
                value=own.value,
                interval=own.interval,
                test=f"exact binomial test over {bias.wrong:,} mistakes among {bias.queries:,} queries, in a pool of "
                f"{counted(pooled, 'language')} and English",
                p=bias.p,
                against=by_chance(bias.expected - value * bias.queries / bias.wrong, bias.p) if is_bias else (),
                n=bias.wrong,
                severity=value,
                page="languages",
                address=_address(runs[0]),
                examples=tuple(
                    Example((("query", query), ("ranked above", nearest), ("match", match)))
                    for query, nearest, match in bias.examples
                ),
            )
        )
    return out


def _name(code: str) -> str:
    return "English" if code == ENGLISH else languages()[code].name


def _address(run: RunRecord) -> Mapping[str, str]:
    place = place_of(run.plan.dataset)
    sets = {"lang_set": place[0].family.id} if place else {}
    return {**sets, "lang_enc": run.plan.variant.encoder, "lang_pool_on": "true"}


# --- one finding per model, for the page of all findings


def pools_of(runs: Iterable[RunRecord]) -> list[tuple[RunRecord, ...]]:
    """Runs on parallel sentences that make a pool, those of the languages that the page takes at first: per model
    without post-processing, family of datasets and similarity.

    Args:
        runs: with their Hits@1, the newest first; of other datasets too.
    """
    newest: dict[tuple[str, ...], dict[str, RunRecord]] = {}
    for run in runs:
        variant, place = run.plan.variant, place_of(run.plan.dataset)
        if place and variant.transform == "none" and variant.model.has_vectors:
            key = (str(variant), place[0].family.id, *(f"{k}={v}" for k, v in sorted(run.plan.params.items())))
            newest.setdefault(key, {}).setdefault(run.plan.dataset, run)
    found = []
    for own in newest.values():
        codes = best_of(list(own.values()))
        found.append(tuple(run for name, run in own.items() if (at := place_of(name)) and at[1].code in codes))
    return [pool for pool in found if pool]


def of_pool(runs: Sequence[RunRecord], repository: Repository, settings: Settings) -> list[Finding]:
    """The worst of a pool's languages as one finding, with the number of queries that the page looks at.

    Raises:
        EmbeddingsGone: the cache no longer has the embeddings of a run.
    """
    scores = scores_of_runs(runs, repository)
    metric = Similarity(runs[0].plan.params["metric"])
    found = biases(pool_of(scores, settings, repository), metric, most_products=PRODUCTS)
    tested = [one for one in findings(found, scores) if one.p is not None]
    if not tested:
        return []
    least, worst = min(tested, key=lambda one: one.value), max(tested, key=lambda one: one.value)
    p = min(1.0, len(tested) * min(one.p for one in tested if one.p is not None))
    of_kind = {f"own-language-first-{bias.language}": bias for bias in found}
    lowest, highest = (of_kind[one.kind].own_share(len(tested)) for one in (least, worst))
    name, other = (_name(of_kind[one.kind].language) for one in (worst, least))
    span = f"; the least in {other}, {with_ci(lowest, '.1%')}" if len(tested) > 1 else ""
    return [
        replace(
            worst,
            kind="own-language-first",
            level=Level.BLIND_SPOT if p < ALPHA else Level.CAUTION,
            sentence=f"In a pool of {counted(len(found), 'language')}, {{A}} puts another {name} sentence nearest for "
            f"{highest.value:.1%} of {name} queries{ci(highest, '.1%')}, rather than a translation{span}.",
            value=highest.value,
            interval=highest.interval,
            test=f"exact binomial test over {counted(worst.n, 'mistake')}, the smallest p of "
            f"{counted(len(tested), 'language')}, corrected for their number",
            p=p,
            against=by_chance(-worst.value, p),
        )
    ]
