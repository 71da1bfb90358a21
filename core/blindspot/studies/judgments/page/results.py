"""Results: share of votes for each model, with intervals, tests and agreement, live while votes come in."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

import pandas as pd
import streamlit as st

from blindspot import ui
from blindspot.datasets.catalog import DATASETS, title_of
from blindspot.diagnostic import find_diagnostic
from blindspot.errors import BlindspotError
from blindspot.numerics.statistics.intervals import ALPHA
from blindspot.numerics.statistics.votes import FEWEST_QUERIES, FEWEST_VOTES
from blindspot.runs.default_models import place_of
from blindspot.store.records import RunRecord
from blindspot.studies.judgments import figures, scoring, verdict
from blindspot.studies.judgments.automatic import Automatic
from blindspot.studies.judgments.page import missed, reference, training
from blindspot.studies.judgments.page import votes as judgment_votes
from blindspot.studies.judgments.page.judged_set import Judged
from blindspot.studies.judgments.page.votes import Votes
from blindspot.studies.judgments.scoring import By, PairTest, Scores
from blindspot.studies.judgments.tallies import Tally
from blindspot.studies.judgments.types import Task
from blindspot.studies.judgments.view import Results, rows_of_tests, share_rows
from blindspot.texts import counted
from blindspot.ui.boundary import fragment, repeated
from blindspot.ui.markdown import as_text
from blindspot.ui.page_state import link
from blindspot.ui.resources import explained, repository, scheme
from blindspot.ui.variant_looks import variant_styles
from blindspot.ui.widgets import shown_runs, tables
from blindspot.ui.widgets.choices import one_of
from blindspot.variants import Variant

REFRESH_SECONDS = 3.0
_SHOWN = "_votes_shown"  # the votes on the page
OVERALL = "overall"
OUTLIERS = "outliers"
_SHARES = ("value", "low", "high", "chance", "item_mean", "normalised", "micro", "automatic")
_BY = {By.BAND: "frequency band", By.K: "rank k", By.PART_OF_SPEECH: "part of speech", By.CONCRETENESS: "concreteness"}


def show(judged: Judged) -> None:
    """Show the results and refresh them as votes come in."""
    _results(judged)
    _watch()
    _how(judged.task)


@repeated(every=REFRESH_SECONDS)
def _watch() -> None:
    """Show the results again when a vote came in, or a session was revealed or hidden; the check takes milliseconds."""
    votes: Votes | None = st.session_state.get(_SHOWN)
    try:
        same = votes is None or votes.are_current
    except BlindspotError as error:  # the store is busy: the next refresh tries again
        st.caption(as_text(f"Not up to date: {explained(error)}"))
        return
    if not same:
        st.rerun()


@fragment  # the reader's choices here redraw nothing above
def _results(judged: Judged) -> None:
    if judged.session and not judged.sees_votes:  # hidden since the page was drawn
        st.session_state.pop(_SHOWN, None)
        judgment_votes.wait_for_reveal(judged.session.name)
        return
    votes = judgment_votes.leave_out(judged, judgment_votes.choose(judged))
    st.session_state[_SHOWN] = votes
    tally = judgment_votes.tally_of(judged, votes)
    names = _names(judged.items.variants)
    if not tally.votes:
        _nothing_yet(tally)
    else:
        results = judgment_votes.results(judged, votes)
        _said(results, names)
    top = st.container()
    automatic = reference.choose(judged)
    if not tally.votes:
        if automatic is not None:
            rows = _rows({"": automatic.scores}, names, automatic)
            rows[["value", "low", "high"]] = float("nan")  # of people, who have not voted
            with top:
                _figure(rows, judged.task, legend=False)
        return
    with top:
        rows = _rows({"": results.scores}, names, automatic)
        _figure(rows, judged.task, legend=False)
        st.caption(f"{verdict.intervals(results.scores)} Dotted: guessing.")
        with st.expander("The numbers", icon=":material/table:"):
            _table(rows, judged.task, key="judged_numbers")
        if judged.task is Task.INTRUDER:
            _without_people(results.scores, names)
    if len(tally.variants) > 1:
        st.subheader("Do the models differ?", anchor=False)
        _tests(results.tests, judged.task, names)
    _broken_down(judged, tally, votes, names)
    st.subheader("Most often missed", anchor=False)
    missed.show(tally, names)
    training.offer(judged.items, votes, tally)


def _names(variants: Sequence[Variant]) -> dict[Variant, str]:
    """Labels, or ids if two share a label."""
    labels = Counter(v.label for v in variants)
    return {v: v.label if labels[v.label] == 1 else str(v) for v in variants}


def _nothing_yet(tally: Tally) -> None:
    if tally.unknown:
        st.info(
            f'All {tally.unknown:,} answers so far are "I don\'t know these words", which no score counts. Try '
            "questions "
            "with more common words.",
            icon=":material/info:",
        )
        return
    st.info(
        "No votes yet. Be the first: choose *answer* above. Results appear here as votes come in.",
        icon=":material/how_to_vote:",
    )


def _said(results: Results, names: Mapping[Variant, str]) -> None:
    scores, tally = results.scores, results.tally
    st.markdown(verdict.headline(scores, results.tests, lambda v: f"**{as_text(names[v])}**"))
    parts = [
        counted(scores.votes, "vote"),
        counted(scores.raters, "rater"),
        f"{scores.items:,} of {len(tally.items):,} questions",
    ]
    if scores.unknown:
        parts.append(f'{scores.unknown:,} × "I don\'t know these words", left out')
    if tally.repeated:
        parts.append(f"{tally.repeated:,} repeated answers of a rater in another session, left out")
    st.caption(" · ".join(parts))
    st.markdown(verdict.agreement_in_words(results.agreement))


# --- figures


def _rows(
    groups: Mapping[str, Scores], names: Mapping[Variant, str], automatic: Automatic | None = None
) -> pd.DataFrame:
    """All numbers per group and variant, own models first; the figure's rows of the group "" are named after them."""
    order = list(groups)
    rows = sorted(
        share_rows(groups, automatic), key=lambda row: (order.index(row.group), place_of(row.variant.encoder))
    )
    frame = pd.DataFrame(map(vars, rows)).astype(dict.fromkeys(_SHARES, "float64"))
    called = [names[row.variant] for row in rows]
    return frame.assign(name=called, row=[row.group or name for row, name in zip(rows, called, strict=True)])


def _figure(rows: pd.DataFrame, task: Task, *, legend: bool, key: str = "own_votes") -> None:
    styles = variant_styles(rows["variant"])
    st.plotly_chart(figures.own_votes(rows, styles, scheme(), task, legend=legend), key=key)


def _table(rows: pd.DataFrame, task: Task, *, key: str) -> None:
    more = (
        {"item_mean": "mean of questions"}
        if task is Task.INTRUDER
        else {"normalised": "normalized", "micro": "all votes"}
    )
    shares = {"value": verdict.MEASURE[task], "low": "from", "high": "to", "chance": "guessing", **more}
    titles = {"group": "group", "name": "model", **shares, "own": "for its own", "votes": "votes", "items": "questions"}
    if not rows["group"].any():
        del titles["group"]
    if rows["automatic"].notna().any():
        titles["automatic"] = shares["automatic"] = "automatic"
    frame = rows[list(titles)].assign(**{name: 100 * rows[name] for name in shares}).rename(columns=titles)
    percent = "%.1f%%"
    tables.draw(frame, placeholder="–", key=key, column_config=dict.fromkeys(shares.values(), percent))


# --- tests


def _tests(tests: Sequence[PairTest], task: Task, names: Mapping[Variant, str]) -> None:
    rows = rows_of_tests(tests, lambda variant: names[variant])
    unit = "queries" if task is Task.INTRUDER else "questions"
    column = st.column_config.NumberColumn
    tables.draw(
        rows,
        placeholder="–",
        key="judged_tests",
        column_config={
            "A − B": column(format="points", help="Difference of the mean shares of votes, in percentage points"),
            "from": column(format="points", help="95% interval of the difference"),
            "to": column(format="points"),
            "p, Holm": st.column_config.TextColumn(help="Corrected for the number of pairs"),
            "p": st.column_config.TextColumn(help="Of the difference over its standard error by queries and raters"),
            "compared": column(help=f"{unit.capitalize()} with votes for both"),
            "left out": column(help=f"{unit.capitalize()} with votes for one of the two only"),
        },
    )
    made = [t.p_corrected for t in tests if t.p_corrected is not None]
    apart = sum(p < ALPHA for p in made)
    if made:
        st.caption(
            f"{_apart_in_words(apart, len(made))} (p after Holm below {ALPHA:g}). An option that both models returned "
            "counts as difference 0."
        )


def _apart_in_words(apart: int, tested: int) -> str:
    if tested == 1:
        return f"{'A' if apart else 'No'} significant difference"
    return f"{apart or 'None'} of {tested:,} pairs of models differ{'s' * (apart < 2)} significantly"


# --- by kind of query


def _broken_down(judged: Judged, tally: Tally, votes: Votes, names: Mapping[Variant, str]) -> None:
    choices = [by for by in By if scoring.groups(tally.items, by)]
    if not choices:
        return
    st.subheader("By kind of query", anchor=False)
    about = "; ".join(f"**{by.value}**: {_BY[by]}" for by in choices)
    chosen = one_of("Broken down by", [OVERALL, *choices], "judged_by", about)
    if chosen == OVERALL:
        return
    groups = judgment_votes.groups(judged, votes, By(chosen))
    named = {f"k = {group.name}" if group.name.isdecimal() else group.name: group.scores for group in groups}
    rows = _rows(named, names)
    _figure(rows, tally.task, legend=True, key="own_votes_by")
    if any(score.refusal for scores in named.values() for score in scores.variants):
        st.caption(f"No interval for groups of fewer than {FEWEST_QUERIES} queries or {FEWEST_VOTES} votes.")
    with st.expander("The numbers of the groups", icon=":material/table:"):
        _table(rows, tally.task, key="judged_numbers_by")


# --- how


def _how(task: Task) -> None:
    ui.how(
        _HOW[task] + _HOW_BOTH,
        source="Schnabel, Labutov, Mimno and Joachims 2015, Evaluation methods for unsupervised word embeddings, "
        f"section{' 4' if task is Task.INTRUDER else 's 3.3 and 3.4'}.",
    )


_HOW = {
    Task.INTRUDER: """
- **Precision** of a model, micro-averaged: $\\sum_i h_i / \\sum_i n_i$ over its questions, where $n_i$ raters chose
  an option of question $i$ and $h_i$ of them chose the intruder (section 4). *Mean of questions* is the mean of
  $h_i/n_i$. Guessing finds one of four: 25%.
""",
    Task.COMPARATIVE: """
- **Win ratio** of a model: the mean over questions of $h_i / n_i$, where $n_i$ raters chose a candidate of question $i$
  and $h_i$ of them chose the model's own (section 3.3). A candidate that several models returned is shown once, and a
  vote for it counts for each of them, so win ratios can add up to more than 1; *normalized*, they add up to 1. Guessing
  gives the mean of 1 / number of candidates.
""",
}
_HOW_BOTH = """
- "I don't know these words" is left out of every score.
- **Intervals** treat neither the questions of one query nor the votes of one rater as independent: the variance is
  that of single votes plus what queries and raters add (two-way clustering: Cameron, Gelbach and Miller 2011), each
  estimated by leaving one out, with Satterthwaite's degrees of freedom. The interval is Wilson's with that variance and
  Student's t. With five or more raters, none of whom gave most of the votes, it covers **raters in general**; close to
  0 or 1 that takes more raters (raters times the distance to 1, or to 0, at least 1.5). Otherwise only queries vary,
  and it covers **these raters** only. With fewer than ten queries or twenty votes there is no interval.
- **Tests** compare two models by the mean over queries (comparative: and ranks) of the difference of $h_i/n_i$, over
  its standard error from the same variance. Two-sided; corrected after Holm over all pairs.
- **Agreement**: $\\kappa = (P_o - P_e)/(1 - P_e)$, where $P_o$ is the mean over questions of the share of pairs of
  raters that chose the same option, and $P_e$ the mean of 1 / number of options (free-marginal kappa: Brennan and
  Prediger 1981, Randolph 2005). Cards are shuffled for every rater, so agreement is about texts, not places.
- The **automatic rater** chooses the option that is on average least similar to the others, or the candidate most
  similar to the query; options within 1e-6 share its vote. It answers every question and is never counted with people.
"""


def _without_people(scores: Scores, names: Mapping[Variant, str]) -> None:
    """Outlier detection beside people's precision, a row per judged model; nothing if no set of outliers was run."""
    entry = find_diagnostic(OUTLIERS)
    runs_of: dict[str, list[RunRecord]] = {}
    for run in repository().finished(entry, params=entry.check_params({})):
        runs_of.setdefault(run.plan.dataset, []).append(run)
    runs = shown_runs.by_variant(runs_of, own=False)
    runs = {dataset: of_set for dataset, of_set in runs.items() if any(v in of_set for v in names)}
    if not runs:
        return
    st.markdown("**Without people: outlier detection**")
    columns: dict[str, Sequence[object]] = {
        "model": list(names.values()),
        "people": _of_people(scores, list(names)),
    }
    for dataset in sorted(runs, key=_order):
        of_set = runs[dataset]
        columns[dataset] = [100 * of_set[v].metrics["accuracy"] if v in of_set else float("nan") for v in names]
    percent = {dataset: st.column_config.NumberColumn(title_of(dataset), format="%.1f%%") for dataset in runs}
    people = st.column_config.NumberColumn("precision of people", format="%.1f%%", help="Guessing: 25%")
    tables.draw(columns, placeholder="–", key="judged_outliers", column_config={"people": people, **percent})
    st.caption(
        "People look for an intruder among a model's neighbors; outlier detection lets the model look for the word "
        "that does not belong to a published group, of nine or so: guessing finds 11%. Higher is better in both."
    )
    link("words", label="Outliers on Words", icon=":material/spellcheck:")


def _of_people(scores: Scores, variants: Sequence[Variant]) -> list[float]:
    """Precision in percent; NaN without votes."""
    precision = {score.variant: score.value for score in scores.variants if score.value is not None}
    return [100 * precision[v] if v in precision else float("nan") for v in variants]


def _order(dataset: str) -> tuple[int, str]:
    names = list(DATASETS)
    return (names.index(dataset) if dataset in names else len(names), dataset)
