"""Page *Languages*: how well a model finds translations in each language, and whether language wins over meaning."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

import streamlit as st

from blindspot import ui
from blindspot.datasets import fetch
from blindspot.datasets.catalog import DatasetRef
from blindspot.datasets.published.tatoeba import BOTH, PARALLEL, ParallelSets
from blindspot.datasets.published.tatoeba.languages import Language, name_of
from blindspot.diagnostics.evalrank.definition import CANDIDATES, ENTRY, MATCHES
from blindspot.errors import BlindspotError, InputError
from blindspot.numerics.similarity import Similarity
from blindspot.numerics.statistics.written import SCORE, interval, number, p_in_words, with_ci
from blindspot.policy import MOST_SEARCHED
from blindspot.references import ModelRef
from blindspot.runs.requests import RunRequest
from blindspot.store.records import RunRecord
from blindspot.studies.lab.grid import stored_runs
from blindspot.studies.lab.page.progress import offer
from blindspot.studies.languages import figures
from blindspot.studies.languages.pooled import PRODUCTS, Bias, best_of, biases, pool_of
from blindspot.studies.languages.scores import (
    DEFAULT,
    DIRECTIONS,
    FROM,
    USUAL,
    By,
    Cell,
    Score,
    answer,
    cells_of,
    grouped,
    scores_of,
)
from blindspot.studies.languages.view import languages_view
from blindspot.texts import counted
from blindspot.ui import headline
from blindspot.ui.markdown import as_text
from blindspot.ui.page_state import link, state_of
from blindspot.ui.resources import allowed, cached, explained, repository, scheme, settings
from blindspot.ui.widgets import tables
from blindspot.ui.widgets.addressed import begin_with, one_named, some_named, tab_named
from blindspot.ui.widgets.model_choice import choose_model

MOST_POOLED = 12
TITLE = "Languages"

HOW = r"""
- Per language and direction, each sentence is a query, its translation the match, and **all sentences of the match's
  language** are candidates: an ordinary run of EvalRank with `candidates=matches`. **Accuracy** is Hits@1, the share of
  queries whose nearest candidate is the translation: 1 less the error rate of Artetxe and Schwenk (2019, section 4.4).
  Ties share the first place. 95% intervals are Wilson's; pairs are independent, since no sentence is in two.
- No file has a sentence twice. Sentences that differ only in case or punctuation count as wrong in the accuracy, as
  in the paper; the filtered accuracy leaves them out of the candidates.
- **Do not compare languages closely.** The English sentences differ from language to language, have fewer words and
  vary less in some, and small languages have fewer than 1,000: fewer candidates make the task easier.
- **Pool**: all sentences of several languages and their English translations are candidates for each other. The
  nearest is a translation (into English, or into another language with the same English sentence), or of another
  meaning. *Expected* is the share of the wrong candidates that are in the query's language: without language bias, as
  many of the mistakes would be. The test is binomial; on this page evenly spaced queries are looked at where the pool
  is large, and `blindspot languages --pooled` takes all.
- Families are the top level of Glottolog, or a branch of Indo-European and Afro-Asiatic; scripts are those of the
  sentences.
"""


def show() -> None:
    """The page."""
    ui.page("Languages", "In which languages does a model find the translation, and does language win over meaning?")
    with ui.errors_shown():
        _study()
    ui.how(HOW)


def _study() -> None:
    top = st.container()
    sets, encoder, chosen = _form()
    try:
        cells = cells_of(sets, sets.languages(), encoder, settings())
    except InputError as error:
        st.info(as_text(explained(error)), icon=":material/info:")
        return
    runs = stored_runs([cell.request for cell in cells], repository())
    wanted = [cell.request for cell in cells if cell.language in chosen]
    if wanted:
        offer(wanted, {request: runs[request] for request in wanted if request in runs}, "languages", TITLE)
    ids = tuple(runs[cell.request].run_id for cell in cells if cell.request in runs)
    if not ids:
        if not wanted:  # else the offer above says so, with the button
            st.info("Choose languages to compute.", icon=":material/info:")
        return
    scores = _scores(ids, _cells=cells, _runs=runs)
    with top:
        headline.show(f"**{as_text(scores[0].run.plan.variant.label)}**: {as_text(answer(scores))}")
    _dots(scores)
    _one(scores)
    _pool(scores)


def _form() -> tuple[ParallelSets, str, tuple[Language, ...]]:
    """The sentences, the model, and the languages to compute."""
    left, middle = st.columns(2)
    offered = _offered()
    _begin_with_computed(offered)
    name = one_named(
        "Sentences",
        offered,
        index=0,
        key="lang_set",
        name=lambda family_id: PARALLEL[family_id].family.title,
        container=left,
    )
    sets = PARALLEL[name or offered[0]]
    members = {sets.member(code, way) for code in sets.codes for way in BOTH}
    encoder = choose_model("lang_enc", middle, lambda model: not members.isdisjoint(_tested_on(model)))
    left, right = st.columns([5, 1], vertical_alignment="bottom")
    codes = some_named(
        "Languages to compute",
        list(sets.codes),
        key=f"lang_{sets.prefix}",
        default=USUAL[sets.family.id],
        name=name_of,
        container=left,
        wrap=True,
        help="Languages that are computed already are shown in any case.",
    )
    every = right.toggle(f"All {len(sets.codes)}", key="lang_all", bind="query-params")
    return sets, encoder, sets.languages() if every else _languages(sets, codes)


def _tested_on(model: ModelRef) -> Iterable[DatasetRef]:
    return (run.plan.dataset for run in repository().finished(ENTRY, encoder=model, metrics=[]))


def _begin_with_computed(offered: Sequence[str]) -> None:
    """Choose sentences with results at first, if the first ones offered have none."""
    tested = set(repository().datasets())
    computed = [
        name
        for name in offered
        if any(PARALLEL[name].member(code, way) in tested for code in PARALLEL[name].codes for way in BOTH)
    ]
    if computed and computed[0] != offered[0]:
        begin_with("lang_set", lambda: computed[0])


def _languages(sets: ParallelSets, codes: Sequence[str]) -> tuple[Language, ...]:
    return sets.languages(codes) if codes else ()


def _offered() -> list[str]:
    """Families whose sentences are here, or can be downloaded."""
    if allowed().downloads or settings().mirror:
        return list(PARALLEL)
    stored = set(repository().datasets())
    available = []
    for name, sets in PARALLEL.items():
        members = [sets.member(code, FROM) for code in USUAL[name]]
        here = fetch.dataset_state(DatasetRef(members[0]).entry(), settings()) is not fetch.DataState.MISSING
        if here or not stored.isdisjoint(members):
            available.append(name)
    return available or [DEFAULT]


@cached(16, "Reading scores …")
def _scores(
    ids: tuple[str, ...],  # noqa: ARG001 - the key
    _cells: list[Cell],
    _runs: dict[RunRequest, RunRecord],
) -> list[Score]:
    return scores_of(_cells, _runs, repository())


# --- all languages


def _dots(scores: Sequence[Score]) -> None:
    with st.container(horizontal=True, vertical_alignment="bottom"):
        by = By(tab_named("Group by", [by.value for by in By], key="lang_by", name=str.capitalize))
        measure = tab_named(
            "Score", list(figures.MEASURES), key="lang_score", name=lambda value: figures.MEASURES.get(value, value)
        )
        search = st.text_input(
            "Search",
            key="lang_search",
            bind="query-params",
            max_chars=MOST_SEARCHED,
            placeholder="language, code, family, script",
            width=260,
        )
    shown = [score for score in scores if _matches(score.language, search)]
    if not shown:
        st.info("No language matches. Shorten the search.", icon=":material/search_off:")
        return
    st.plotly_chart(
        figures.language_dots(grouped(shown, by, measure), shown, measure, scheme()),
        key="lang_dots",
        config={"displayModeBar": False},
    )
    n = len({score.language.code for score in shown})
    st.caption(
        f"{counted(n, 'language')}, sorted by the mean of both directions. Bars: 95% intervals. Candidates are all "
        "sentences of the match's language, fewer in small languages: guessing finds 0.1% where there are 1,000, "
        "and 1% where there are 100."
    )
    with st.expander("All numbers", icon=":material/table:"):
        _table(shown)


def _matches(language: Language, search: str) -> bool:
    searched = f"{language.name} {language.code} {language.family} {language.branch} {language.script}".casefold()
    return all(word in searched for word in search.casefold().split())


def _table(scores: Sequence[Score]) -> None:
    rows = [
        {
            "language": score.language.name,
            "code": score.language.code,
            "family": score.language.family,
            "branch": score.language.branch or "–",
            "script": score.language.script,
            "direction": DIRECTIONS[score.direction],
            "accuracy": score.accuracy.value,
            "95% CI": interval(score.accuracy.interval, ".1%"),
            "MRR": score.mrr.value,
            "filtered": score.filtered,
            "pairs": score.covered,
            "left out": score.pairs - score.covered,
        }
        for score in scores
    ]
    number = st.column_config.NumberColumn
    tables.draw(
        rows,
        key="lang_table",
        column_config={
            "accuracy": number(format="percent", help="Hits@1"),
            "MRR": "%.3f",
            "filtered": number(format="percent", help="Accuracy without near-duplicates of query and match."),
            "pairs": "localized",
            "left out": number(format="localized", help="Pairs with a sentence that the model has no vector for."),
        },
    )


# --- one language


def _one(scores: Sequence[Score]) -> None:
    """A language's scores, and the way to its pairs."""
    st.subheader("Pairs of one language", anchor=False)
    worst = [language.code for group in grouped(scores, By.NONE) for language in reversed(group.languages)]
    code = one_named(
        "Language",
        worst,
        index=0,
        key="lang_one",
        name=name_of,
        width=320,
    )
    by_direction = {score.direction: score for score in scores if score.language.code == (code or worst[0])}
    for column, way in zip(st.columns(len(BOTH)), BOTH, strict=True):
        if (score := by_direction.get(way)) is None:
            continue
        column.markdown(
            as_text(
                f"{score.language.name} {DIRECTIONS[way]}: accuracy {with_ci(score.accuracy, '.1%')}, MRR "
                f"{number(score.mrr.value, SCORE)}, {score.covered:,} pairs."
            )
        )
        pairs = state_of(score.run.plan).with_(view="pairs", options={CANDIDATES.name: MATCHES}, is_visit=True)
        with column:
            link(ENTRY.place[0], pairs, label="See the pairs", icon=":material/arrow_forward:")


# --- pooled


def _pool(scores: Sequence[Score]) -> None:
    """Several languages as candidates at once."""
    st.subheader("Does language win over meaning?", anchor=False)
    ways = Counter(score.language.code for score in scores)
    whole = [code for code, n in ways.items() if n == len(BOTH)]
    if not whole:
        st.caption("This takes a language in both directions.")
        return
    on = st.toggle(
        "Pool several languages",
        key="lang_pool_on",
        bind="query-params",
        help="Their sentences and the English ones are candidates together. Uses stored embeddings; takes seconds.",
    )
    if not on:
        return
    codes = some_named(
        "Languages in the pool",
        whole,
        key="lang_pool",
        default=best_of([score.run for score in scores]),
        name=name_of,
        max_selections=MOST_POOLED,
    )
    pooled = [score for score in scores if score.language.code in codes[:MOST_POOLED]]
    if not pooled:
        st.info("Choose at least one language.", icon=":material/info:")
        return
    try:
        language_biases = _biases(tuple(score.run.run_id for score in pooled), _scores=pooled)
    except BlindspotError as error:
        st.info(as_text(explained(error)), icon=":material/info:")
        return
    st.plotly_chart(
        figures.nearest_bars(language_biases, scheme()), key="lang_nearest", config={"displayModeBar": False}
    )
    looked = sum(bias.queries for bias in language_biases)
    st.caption(f"{looked:,} of {sum(bias.of for bias in language_biases):,} sentences as queries.")
    for finding in languages_view(pooled, biases=language_biases).worst_first[:3]:
        tested = f"{finding.test}, {p_in_words(finding.p)}" if finding.p is not None else finding.test
        st.markdown(as_text(finding.said()))
        st.caption(as_text(f"{tested}."))
    examples = [
        {
            "queries in": name_of(bias.language),
            "query": query,
            "nearest": nearest,
            "a translation": match,
        }
        for bias in language_biases
        for query, nearest, match in bias.examples
    ]
    if examples:
        tables.draw(examples, key="lang_examples")


@cached(8, "Looking for the nearest sentences …", shared=True)
def _biases(ids: tuple[str, ...], _scores: list[Score]) -> list[Bias]:  # noqa: ARG001 - the key
    return biases(pool_of(_scores, settings(), repository()), Similarity.COS, most_products=PRODUCTS)
