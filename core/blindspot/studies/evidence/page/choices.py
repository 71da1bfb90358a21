"""Options of the page Evidence: its scores and models, and an offer to compute some if there are too few."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import streamlit as st

from blindspot.diagnostics.transfer.definition import CLASSIFIERS
from blindspot.errors import BlindspotError
from blindspot.figures.theme import Scheme, Style
from blindspot.numerics.statistics.families import FEWEST_FAMILIES
from blindspot.runs import estimates, sweeps
from blindspot.runs.sweeps import Sweep
from blindspot.store.repository import Repository
from blindspot.studies.evidence.correlation import FEWEST_VARIANTS
from blindspot.studies.evidence.scores import (
    LIKE_SIMILARITY,
    Downstream,
    Level,
    Measure,
    Outcome,
    ScoreTable,
    score_table,
)
from blindspot.texts import counted
from blindspot.ui.markdown import as_text
from blindspot.ui.options import options
from blindspot.ui.pickers import Picks
from blindspot.ui.resources import cached, explained, repository, scheme, settings
from blindspot.ui.variant_looks import variant_styles
from blindspot.ui.widgets.addressed import names_of_variants, some_named
from blindspot.ui.widgets.choices import one_of
from blindspot.ui.widgets.missing_runs import runs_to_compute
from blindspot.ui.widgets.work import run_button
from blindspot.variants import Variant

LISTED = 6  # families
NAMED = 4  # models of a family
TITLE = "Sweep for: do scores predict tasks?"
_ASKED = "_evidence_asked"  # whether the cost of the ready sweep was asked for
_SWEEP = "_evidence_sweep"


@dataclass(frozen=True, eq=False)
class EvidenceView:
    """The chosen scores: ``every`` of all comparable variants, ``table`` of those that the reader keeps."""

    picks: Picks
    level: Level
    downstream: Downstream
    every: ScoreTable
    table: ScoreTable
    styles: Mapping[Variant, Style]
    scheme: Scheme


def selected(picks: Picks) -> EvidenceView | None:
    """The chosen scores; with too few to compare, an offer and None."""
    with options():
        level = one_of(
            "Benchmarks of",
            Level,
            "ev_level",
            "Texts of the benchmarks. Those of words need runs on words. Tasks are of sentences in both cases (the "
            "paper's tables 3 and 6).",
        )
        downstream = _downstream()
        like_similarity = level is Level.WORD or st.toggle(
            "Include MRPC and SICK-E",
            key="ev_pairs",
            bind="query-params",
            help="Two tasks on sentence pairs that resemble similarity benchmarks; the paper leaves them out for "
            "sentences (section 6.1).",
        )
    whole = _scores(repository(), downstream)
    every = whole.at(level, like_similarity=like_similarity).comparable
    if len(every.variants) < FEWEST_VARIANTS:
        _offer(whole, every, level)
        return None
    table = _kept(every, picks)
    _counts(every, table, level, like_similarity=like_similarity)
    if len(table.variants) < FEWEST_VARIANTS:
        st.info(
            f"{counted(len(table.variants), 'model')} left; a correlation needs {FEWEST_VARIANTS}. Keep more under "
            "Options.",
            icon=":material/info:",
        )
        return None
    return EvidenceView(picks, level, downstream, every, table, variant_styles(table.variants), scheme())


@cached(8, "Reading scores …", keys={Repository: lambda store: store.digest()})
def _scores(store: Repository, downstream: Downstream) -> ScoreTable:
    return score_table(store, downstream)


def _downstream() -> Downstream:
    classifier = st.selectbox(
        "Classifier",
        CLASSIFIERS,
        key="ev_classifier",
        bind="query-params",
        width=160,
        help="Classifier trained on a task's embeddings: logistic regression or a small multilayer perceptron, with or "
        "without z-normalization. Only runs with the first seed count.",
    )
    outcome = one_of("Score on a task", Outcome, "ev_outcome")
    without = st.toggle(
        "Without overlap",
        key="ev_clean",
        bind="query-params",
        help="Leave out test examples whose text is also in the training data, or repeated.",
    )
    return Downstream(str(classifier), outcome, bool(without))


def _kept(every: ScoreTable, picks: Picks) -> ScoreTable:
    plain = left = right = options()
    about = "untransformed: without post-processed models, as in the paper's table 11."
    quick = one_of("Keep", ["all", "untransformed"], "ev_keep", about, container=plain)
    families = left.multiselect(
        "Leave families out",
        every.family_list,
        key="ev_family_out",
        bind="query-params",
        wrap=True,
        placeholder="None",
        help="All variants of a model at once, to see whether a correlation depends on one family.",
    )
    ids = [str(v) for v in every.variants]
    variants = some_named(
        "Leave models out",
        ids,
        key="ev_out",
        name=names_of_variants(ids),
        container=right,
        wrap=True,
        placeholder="None",
        help="To keep only a few, pick them under Models.",
    )
    return every.rows(
        picks.keeps(variant)
        and not (quick == "untransformed" and variant.transform != "none")
        and family not in families
        and str(variant) not in variants
        for variant, family in zip(every.variants, every.families, strict=True)
    )


def _counts(every: ScoreTable, table: ScoreTable, level: Level, *, like_similarity: bool) -> None:
    kept = "" if len(table.variants) == len(every.variants) else f" of {len(every.variants)}"
    parts = [f"{len(table.variants)}{kept} models of {counted(len(table.family_list), 'family', 'families')}"]
    parts.append(f"{counted(len(table.evaluators), 'benchmark score')}, {counted(len(table.tasks), 'task')}")
    if level is Level.SENTENCE and not like_similarity and len(table.tasks) > 1:
        parts.append(f"without {' and '.join(name.upper() for name in LIKE_SIMILARITY)} (see Options)")
    names = [f"{family}{_models(table, family)}" for family in table.family_list]
    names = names if len(names) <= LISTED else [*names[:LISTED], f"and {len(names) - LISTED} more"]
    st.caption(as_text(f"{'; '.join(parts)}. Families: {'; '.join(names)}."))


def _models(table: ScoreTable, family: str) -> str:
    """The models of a family, by name if they are few; "" if the only model has the family's name."""
    labels = [v.label for v, family_of in zip(table.variants, table.families, strict=True) if family_of == family]
    if labels == [family]:
        return ""
    return f" ({', '.join(labels)})" if len(labels) <= NAMED else f" ({len(labels)} models)"


# --- nothing to show


def _offer(whole: ScoreTable, every: ScoreTable, level: Level) -> None:
    with st.container(border=True, key="empty"):
        st.subheader("Not enough to compare yet", anchor=False)
        st.markdown(
            f"Not enough results yet: {counted(len(every.variants), 'model')} with both kinds of score (level "
            f"*{level}*, this classifier); at least {FEWEST_VARIANTS} are needed for a correlation, {FEWEST_FAMILIES} "
            f"model families for an interval. Stored: {counted(len(whole.evaluators), 'benchmark score')} and "
            f"{counted(len(whole.tasks), 'task score')}."
        )
        if level is Level.WORD:
            st.markdown(
                "Benchmarks of words are EvalRank, Similarity or the diagnostics of *Words* on a dataset of words, "
                "with the same models that were run on tasks. Start them on *Run*."
            )
        st.markdown(
            "A ready-made sweep computes enough for a first look: all models of the catalog, each also post-processed, "
            "on EvalRank, similarity benchmarks and two transfer tasks. It may take an hour on two cores; finished "
            "runs are kept, so you can interrupt it. Start it here or on the command line:"
        )
        st.code("blindspot sweep evidence", language="bash")
        if not st.session_state.get(_ASKED):
            st.button(
                "Estimate the time",
                key="evidence_cost",
                type="primary",
                icon=":material/calculate:",
                on_click=lambda: st.session_state.update({_ASKED: True}),
                help="Downloads small files of word vectors where available, and counts the runs.",
            )
            return
        _price()


def _price() -> None:
    bar = st.progress(0.0, text="Counting the runs …")

    def say(stage: str, done: int, total: int, fraction: float | None = None) -> None:
        bar.progress(min(max(done / max(total, 1) if fraction is None else fraction, 0.0), 1.0), text=as_text(stage))

    try:
        sweep: Sweep = st.session_state.get(_SWEEP) or sweeps.evidence(settings(), say)
        st.session_state[_SWEEP] = sweep  # fetching the files that it needs takes a moment
        requests = sweeps.expand(sweep, settings()).requests
        cost = estimates.estimate(requests, settings(), repository())
    except BlindspotError as error:
        st.error(as_text(explained(error)), icon=":material/error:")
        return
    finally:
        bar.empty()
    for note in sweep.notes:
        st.caption(as_text(note))
    st.markdown(as_text(runs_to_compute(len(cost.wanted), len(requests), cost)))
    run_button(f"Compute {len(cost.wanted):,}", TITLE, cost.wanted, key="evidence_sweep")


def fullest(table: ScoreTable, measures: Sequence[Measure]) -> Measure:
    """The measure that most variants have; the first one if several tie."""
    return max(measures, key=lambda m: np.count_nonzero(~np.isnan(table.of(m))))


def choose(label: str, measures: Sequence[Measure], key: str, usual: Measure) -> Measure:
    """One measure, by its id in the address, with its name below."""
    by_id = {m.id: m for m in measures}
    chosen = st.selectbox(label, list(by_id), index=None, key=key, bind="query-params", placeholder=usual.id)
    evaluator = by_id.get(str(chosen), usual)
    st.caption(as_text(evaluator.label))
    return evaluator
