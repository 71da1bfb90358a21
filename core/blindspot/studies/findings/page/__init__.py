"""Page *Findings*, the first of the app: findings in the stored runs, worst first."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

import streamlit as st

from blindspot import ui
from blindspot.datasets.catalog import title_of
from blindspot.datasets.user_data.files import is_own
from blindspot.numerics.statistics.intervals import ALPHA
from blindspot.numerics.statistics.written import percent
from blindspot.runs.default_models import KNOW_NO_MEANING, place_of
from blindspot.runs.findings import Finding, Level
from blindspot.settings import Settings
from blindspot.store.repository import Repository
from blindspot.studies.findings import collection
from blindspot.studies.findings import own as own_models
from blindspot.studies.findings.among import NOT_TOLD_APART
from blindspot.studies.findings.collection import Collected, Discovery, RunsOf, Selection, knows_no_meaning
from blindspot.studies.findings.page import cards, own
from blindspot.studies.report.page import report_buttons
from blindspot.texts import counted, listed
from blindspot.ui.markdown import as_text, from_address
from blindspot.ui.options import asked_for, options, row
from blindspot.ui.page_state import ON
from blindspot.ui.pickers import Picks
from blindspot.ui.resources import cached, repository, settings
from blindspot.ui.widgets.addressed import one_named
from blindspot.ui.widgets.choices import one_of
from blindspot.ui.widgets.doors import doors
from blindspot.ui.widgets.tables import dataset_title, show_limits
from blindspot.variants import Variant

SHOWN = 8  # cards at first
OF_EACH = 2  # of these, of every level
OPEN = 3  # cards with an example in sight
MODELS_NAMED = 4  # in the headline
MOST_ROWS = 2_000_000  # of items that are read without picked models: some seconds
ALL = "all"
EVERYWHERE = ""  # in place of a dataset

Group = tuple[Discovery, ...]  # of one kind: a card

PLURALS = {Level.BLIND_SPOT: "blind spots", Level.CAUTION: "cautions", Level.STRENGTH: "strengths"}

HOW = r"""
- Each diagnostic runs a fixed set of tests and returns one result per hypothesis, significant or not. For each model
  and dataset, it uses the newest run with default parameters and the picked similarity.
- **False discoveries** are controlled over all of these tests (Benjamini and Hochberg 1995), within each level and over
  strengths and blind spots together: at most 5% of those shown are expected to be false. *Corrected p* is p after that
  correction. Facts that are counted rather than tested, such as truncated texts, have no p and are always shown. Where
  things of one test depend on each other, *independent groups* are counted, and *effective n* is how many independent
  ones they are worth.
- A **blind spot**: the model is worse than chance, or worse than words alone or a random or word-counting model, which
  win where single words give the answer away. A **strength**: it is better than chance *and* than all of these that
  were run. A **caution** limits what a score can tell you, or says that less is reached than is asked for. All that a
  level takes is tested; its p is the largest.
- **Order**: by level; what is about baselines that nobody would deploy comes last; then by how far the value is from
  where it should be, relative to the largest possible distance. Above all of them, the newest of your own models is
  compared with others, as on *Compare*.
"""


def show() -> None:
    picks = ui.page("Findings", "What should you know about these models before you use them?")
    with ui.errors_shown():
        if not doors(are_open=not any(count.finished for count in ui.repository().counts())):
            _list(picks)
    ui.how(HOW)


def _list(picks: Picks) -> None:
    linked = st.container()
    dataset = _dataset()
    with options():
        asked = _variants(picks)
        variants = asked if picks.variants else run_last(asked)
        collected_now = collected(variants, picks.metric, dataset)
        there = [level for level in Level if collected_now.at(level)]
        level = one_of("Show", (ALL, *map(str, there)), "findings_level")
    if collected_now.runs:
        with row():
            report_buttons(picks, variants, collected_now.runs, datasets=(dataset,) if dataset else ())
    most = own_models.MOST if len(variants) == len(asked) else 1  # of a large store, which takes long
    own.comparisons(picks, asked, dataset, most)
    headline = st.container()
    with linked:
        if finding_id := st.query_params.get("finding", ""):
            hidden = picks.variants if len(variants) == len(asked) else variants
            discovery = collected_now.find(finding_id) or collected(hidden, picks.metric, "").find(finding_id)
            _linked(discovery, finding_id)  # also of a model that is hidden here
        for line in collected_now.failures:
            st.warning(as_text(line), icon=":material/report:")
    if not collected_now.runs:
        st.info("No results for these models with this dataset and similarity.", icon=":material/info:")
        return
    collected_now, alike = _apart(collected_now)
    wanted = [_own_first(group) for group in collected_now.groups(None if level == ALL else Level(level))]
    headline.markdown(_headline(collected_now) + _narrowed(dataset, level))
    if len(variants) < len(asked):
        headline.caption(
            f"{len(asked):,} models with many results; showing findings of the "
            f"{counted(len(variants), 'model')} run last. Pick others in the sidebar.",
        )
    headline.caption(_grouped(wanted))
    first = at_first(wanted)
    cards_place, more_place = st.container(), st.container()
    with more_place:
        is_long = len(wanted) > len(first) and st.toggle(
            f"Show all {len(wanted)} cards", key="findings_more", bind="query-params"
        )
    with cards_place:
        _cards(wanted, wanted if is_long else first, collected_now)
    if alike and level in {ALL, Level.CAUTION}:
        scores = counted(len(alike), "score")
        with st.expander(f"No significant difference from the best model: {scores}", icon=":material/drag_handle:"):
            st.markdown(
                "\n".join(
                    f"- {dataset_title(discovery.finding.dataset)}: {as_text(discovery.finding.said())}"
                    for discovery in alike
                )
            )
    st.caption(_tested(collected_now, is_picked=bool(picks.variants)))
    show_limits(group[0].finding.dataset for group in wanted)


def _dataset() -> str:
    """The dataset that findings are wanted of; "" for all."""
    datasets = sorted(ui.repository().datasets(), key=lambda dataset: not is_own(dataset))
    with row():
        chosen = one_named(
            "Dataset",
            [EVERYWHERE, *datasets],
            key=ON,
            name=lambda dataset: title_of(dataset) if dataset else "All datasets",
            index=0,
            label_visibility="collapsed",
            width=240,
        )
    return chosen or EVERYWHERE


def _variants(picks: Picks) -> tuple[Variant, ...]:
    """The picked models; if none are picked, those that know meaning, post-processed ones only on request."""
    if picks.variants:
        return picks.variants
    return tuple(asked_for(picks, [variant for variant in picks.known if not knows_no_meaning(variant)]))


def run_last(variants: Sequence[Variant]) -> tuple[Variant, ...]:
    """The newest of the models, as many as can be read in some seconds, at least one.

    The findings of sixty models on twenty datasets of 25,000 pairs read 30 million rows, which took minutes and
    gigabytes.
    """
    every = len(ui.repository().variants())
    most = MOST_ROWS * every // max(ui.repository().item_rows(), 1)
    return tuple(variants[-max(most, 1) :])


def _apart(collected_now: Collected) -> tuple[Collected, list[Discovery]]:
    """All other findings, and those that only say that models do not differ significantly from the best."""
    alike = [discovery for discovery in collected_now.discoveries if discovery.finding.kind == NOT_TOLD_APART]
    rest = tuple(discovery for discovery in collected_now.discoveries if discovery.finding.kind != NOT_TOLD_APART)
    return replace(collected_now, discoveries=rest), alike


def _own_first(group: Group) -> Group:
    """The group with findings about the reader's own models in front, since a card is about the first."""
    return tuple(
        sorted(group, key=lambda discovery: min(place_of(variant.encoder) for variant in discovery.finding.variants))
    )


def at_first(wanted: Sequence[Group]) -> list[Group]:
    """The worst ``SHOWN`` groups, with up to ``OF_EACH`` of every level among them, in the given order."""
    places: dict[Level, list[int]] = {}
    for number, group in enumerate(wanted):
        places.setdefault(group[0].finding.level, []).append(number)
    kept = {number for of_level in places.values() for number in of_level[:OF_EACH]}
    for number in range(len(wanted)):
        if len(kept) >= SHOWN:
            break
        kept.add(number)
    return [wanted[number] for number in sorted(kept)]


def _cards(wanted: Sequence[Group], shown: Sequence[Group], collected_now: Collected) -> None:
    """Draw cards below a heading per level, which says how many of its cards and findings there are."""
    number = 0
    for level in Level:
        of_level = [group for group in shown if group[0].finding.level is level]
        if not of_level:
            continue
        every = sum(group[0].finding.level is level for group in wanted)
        here = counted(every, "card") if len(of_level) == every else f"{len(of_level)} of {every} cards"
        many = counted(len(collected_now.at(level)), level, PLURALS[level]).capitalize()
        st.markdown(f"**{many}**, {here}")
        for first, *others in of_level:
            cards.card(first, key=f"finding_{number}", others=others, is_open=number < OPEN)
            number += 1


def _tested(collected_now: Collected, *, is_picked: bool) -> str:
    tested = counted(collected_now.hypotheses, "hypothesis", "hypotheses")
    of = f"{counted(len(collected_now.runs), 'run')} of {counted(len(collected_now.variants), 'model')}"
    without = (
        ""
        if is_picked
        else f" Random and word-counting models ({', '.join(KNOW_NO_MEANING)}: they know spelling and words, but no "
        "meaning) are included only if you pick them."
    )
    return (
        f"{tested} tested in {of}. Of the tested findings listed here, at most {percent(ALPHA)} are expected to be "
        f"false (Benjamini-Hochberg).{without}"
    )


def _linked(discovery: Discovery | None, finding_id: str) -> None:
    """Draw the finding in the address above all others, or a line that it is gone."""
    if discovery:
        cards.card(discovery, key="finding_linked")
        st.divider()
    else:
        st.warning(
            f"The linked finding is gone: its runs were deleted or are not picked ({from_address(finding_id)}).",
            icon=":material/link_off:",
        )


def _headline(collected_now: Collected) -> str:
    parts = [f"**{counted(len(collected_now.at(level)), level, PLURALS[level])}**" for level in Level]
    named = sorted(collected_now.variants, key=lambda variant: place_of(variant.encoder))
    models = listed([as_text(variant.label) for variant in named[:MODELS_NAMED]])
    if len(collected_now.variants) > MODELS_NAMED:
        models = counted(len(collected_now.variants), "model")
    datasets = {discovery.finding.dataset for discovery in collected_now.discoveries}
    return f"{', '.join(parts[:-1])}, and {parts[-1]} in {models} on {counted(len(datasets), 'dataset')}."


def _grouped(wanted: Sequence[Sequence[Discovery]]) -> str:
    """How findings become cards, so that the counts add up."""
    n = sum(map(len, wanted))
    cards_ = counted(len(wanted), "card")
    same = f"{counted(n, 'finding')} on {cards_}: the same finding about several models shares one. " if n else ""
    return f"{same}Most severe first; narrow them down by dataset, with *Options*, or by the models in the sidebar."


def _narrowed(dataset: str, level: str) -> str:
    """The limits set in the options, which are behind a button."""
    only = [f"on {dataset_title(dataset)}"] if dataset else []
    only += [PLURALS[Level(level)]] if level != ALL else []
    return f" Shown: only {' and '.join(only)}." if only else ""


def collected(variants: Sequence[Variant], metric: str, dataset: str) -> Collected:
    """The findings of picked variants; see ``Selection``."""
    store = repository()
    store_path = str(settings().store)
    return _collected(
        store.digest(), tuple(variants), metric, dataset, store_path, _repository=store, _settings=settings()
    )


@cached(32, "Computing findings …", shared=True)
def _collected(
    digest: str,  # noqa: ARG001 - decides, with the rest, what there is
    variants: tuple[Variant, ...],
    metric: str,
    dataset: str,
    store: str,
    _repository: Repository,
    _settings: Settings,
) -> Collected:
    selection = Selection(variants, metric, (dataset,) if dataset else ())
    return collection.collect(_repository, _settings, selection, making=partial(_making, store))


def _making(store: str, runs: RunsOf, repository: Repository, settings: Settings) -> Sequence[Finding]:
    return _made(runs, store, _repository=repository, _settings=settings)


def _identity(runs: RunsOf) -> object:
    of_runs = ([run.run_id for run in kind] for kind in (runs.chosen, runs.baselines))
    return runs.entry.id, runs.entry.version, runs.pooled, *of_runs


# Runs do not change: where others are added, as during a demo, only their diagnostics are looked at anew.
@cached(256, shared=True, keys={RunsOf: _identity})
def _made(
    runs: RunsOf,
    store: str,  # noqa: ARG001 - visitors of a demo have their own
    _repository: Repository,
    _settings: Settings,
) -> Sequence[Finding]:
    return collection.make(runs, _repository, _settings)
