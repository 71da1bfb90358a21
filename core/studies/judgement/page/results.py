"""Results: how often people chose a variant's own, with intervals, tests and agreement. Live while votes come in."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

import pandas as pd
import streamlit as st

from core.errors import BlindspotError
from core.numerics.statistics.votes import FEWEST_QUERIES
from core.studies.judgement import figures, scoring, verdict
from core.studies.judgement.automatic import Automatic
from core.studies.judgement.page import missed as judgement_missed
from core.studies.judgement.page import reference as judgement_reference
from core.studies.judgement.page import votes as judgement_votes
from core.studies.judgement.page.shown import Judged
from core.studies.judgement.page.votes import Findings, Votes
from core.studies.judgement.scoring import ALPHA, By, PairTest, Scores, VariantScore
from core.studies.judgement.tallies import Tally
from core.studies.judgement.types import Task
from core.types import Variant
from core.ui.boundary import fragment, repeated
from core.ui.markdown import as_text
from core.ui.resources import scheme
from core.ui.variant_looks import variant_styles

REFRESH_SECONDS = 3.0
_SHOWN = "_votes_shown"  # of the votes that the page shows; the watch compares
OVERALL = "overall"
_BY = {By.BAND: "frequency band", By.K: "rank k", By.PART_OF_SPEECH: "part of speech", By.CONCRETENESS: "concreteness"}


def show(judged: Judged) -> None:
    """What people said of the set's variants; follows the votes as they come in."""
    _results(judged)
    _watch()
    _how(judged.task)


@repeated(every=REFRESH_SECONDS)
def _watch() -> None:
    """Show the results anew when a vote came in, or a session was revealed or hidden; that costs milliseconds."""
    votes: Votes | None = st.session_state.get(_SHOWN)
    try:
        same = votes is None or votes.are_current
    except BlindspotError as error:  # the store is busy: asked again in a moment
        st.caption(as_text(f"Not up to date: {error}"))
        return
    if not same:
        st.rerun()


@fragment  # what the reader does here draws nothing above again
def _results(judged: Judged) -> None:
    if judged.session and not judged.sees_votes:  # hidden since the page was drawn
        st.session_state.pop(_SHOWN, None)
        judgement_votes.wait_for_reveal(judged.session.name)
        return
    votes = judgement_votes.leave_out(judged, judgement_votes.choose(judged))
    st.session_state[_SHOWN] = votes
    tally = judgement_votes.tally_of(judged, votes)
    names = _names(judged.items.variants)
    if not tally.votes:
        _nothing_yet(tally)
    else:
        found = judgement_votes.findings(judged, votes)
        _said(found, tally, names)
    top = st.container()
    automatic = judgement_reference.choose(judged)
    if not tally.votes:
        if automatic is not None:
            rows = _rows([(None, automatic.scores)], names, automatic)
            rows[["value", "low", "high"]] = float("nan")  # these are people's, who have not voted
            with top:
                _figure(rows, judged.task, legend=False)
        return
    with top:
        _overall(found, judged.task, names, automatic)
    if len(tally.variants) > 1:
        st.subheader("Do they differ?", anchor=False)
        _tests(found.tests, judged.task, names)
    _broken_down(judged, tally, votes, names)
    st.subheader("Most often missed", anchor=False)
    judgement_missed.show(tally, names)


def _names(variants: Sequence[Variant]) -> dict[Variant, str]:
    """Labels, or ids where two share one."""
    labels = Counter(v.label for v in variants)
    return {v: v.label if labels[v.label] == 1 else str(v) for v in variants}


def _nothing_yet(tally: Tally) -> None:
    if tally.unknown:
        st.info(
            f'All {tally.unknown:,} answers so far are "I don\'t know these words": they are counted, and left out of '
            "every score. Items with commoner words would get votes.",
            icon=":material/info:",
        )
        return
    st.info(
        "Nobody has voted on these items yet. Choose the view *answer* above and be the first; results appear here "
        "as votes come in.",
        icon=":material/how_to_vote:",
    )


def _said(found: Findings, tally: Tally, names: Mapping[Variant, str]) -> None:
    scores = found.scores
    st.markdown(verdict.headline(scores, found.tests, lambda v: f"**{as_text(names[v])}**"))
    parts = [
        f"{scores.votes:,} vote{'' if scores.votes == 1 else 's'}",
        f"{scores.raters:,} rater{'' if scores.raters == 1 else 's'}",
        f"{scores.items:,} of {len(tally.items):,} items",
        f'{scores.unknown:,} × "I don\'t know these words", left out',
    ]
    if tally.repeated:
        parts.append(f"{tally.repeated:,} second answers of a rater to an item, in another session, left out")
    st.caption(" · ".join(parts))
    st.markdown(verdict.agreement_in_words(found.agreement))


# --- figures


def _rows(
    groups: Sequence[tuple[str | None, Scores]], names: Mapping[Variant, str], automatic: Automatic | None
) -> pd.DataFrame:
    """For the figure: per group and variant; a group None has rows named after the variants."""
    beside = {s.variant: s.headline.value for s in automatic.scores.variants} if automatic else {}
    rows = []
    for group, scores in groups:
        for score in scores.variants:
            interval = score.headline.interval
            rows.append(
                {
                    "row": names[score.variant] if group is None else group,
                    "variant": score.variant,
                    "value": score.headline.value,
                    "low": interval.low if interval else None,
                    "high": interval.high if interval else None,
                    "chance": score.chance,
                    "automatic": beside.get(score.variant),
                    "votes": score.votes,
                }
            )
    numbers = ["value", "low", "high", "chance", "automatic"]
    return pd.DataFrame(rows).astype(dict.fromkeys(numbers, "float64"))


def _figure(rows: pd.DataFrame, task: Task, *, legend: bool, key: str = "own_votes") -> None:
    styles = variant_styles(rows["variant"])
    st.plotly_chart(figures.own_votes(rows, styles, scheme(), task, legend=legend), key=key)


def _overall(found: Findings, task: Task, names: Mapping[Variant, str], automatic: Automatic | None) -> None:
    _figure(_rows([(None, found.scores)], names, automatic), task, legend=False)
    st.caption(f"{verdict.intervals(found.scores)} Dotted: what guessing gives.")
    with st.expander("The numbers", icon=":material/table:"):
        _table([(None, found.scores)], task, names, automatic)


def _table(
    groups: Sequence[tuple[str | None, Scores]], task: Task, names: Mapping[Variant, str], automatic: Automatic | None
) -> None:
    beside = {s.variant: s.headline.value for s in automatic.scores.variants} if automatic else {}
    rows = [
        {
            "group": group,
            **_numbers(score, task, names[score.variant]),
            "automatic": _percent(beside.get(score.variant)),
        }
        for group, scores in groups
        for score in scores.variants
    ]
    frame = pd.DataFrame(rows)
    if not automatic:
        frame = frame.drop(columns="automatic")
    is_overall = groups[0][0] is None
    if is_overall:
        frame = frame.drop(columns="group")
    percent = st.column_config.NumberColumn(format="%.1f%%")
    shares = [verdict.MEASURE[task], "from", "to", "guessing", "normalised", "all votes", "mean of items", "automatic"]
    st.dataframe(
        frame,
        hide_index=True,
        placeholder="–",
        key="judged_numbers" if is_overall else "judged_numbers_by",
        column_config=dict.fromkeys(shares, percent),
    )


def _numbers(score: VariantScore, task: Task, name: str) -> dict[str, object]:
    interval = score.headline.interval
    other = (
        {"mean of items": _percent(score.item_mean.value)}
        if task is Task.INTRUDER
        else {"normalised": _percent(score.normalised.value), "all votes": _percent(score.micro.value)}
    )
    return {
        "variant": name,
        verdict.MEASURE[task]: _percent(score.headline.value),
        "from": _percent(interval.low if interval else None),
        "to": _percent(interval.high if interval else None),
        "guessing": _percent(score.chance),
        **other,
        "for its own": score.own,
        "votes": score.votes,
        "items": score.items,
    }


def _percent(share: float | None) -> float | None:
    return None if share is None else 100 * share


# --- tests


def _tests(tests: Sequence[PairTest], task: Task, names: Mapping[Variant, str]) -> None:
    frame = pd.DataFrame(
        [
            {
                "A": names[t.first],
                "B": names[t.second],
                "A − B": _percent(t.difference),
                "from": _percent(t.interval.low if t.interval else None),
                "to": _percent(t.interval.high if t.interval else None),
                "p, Holm": t.p_corrected,
                "p": t.p_value,
                "compared": t.compared,
                "left out": t.left_out,
                "no verdict": t.refusal,
            }
            for t in tests
        ]
    )
    if not any(t.refusal for t in tests):
        frame = frame.drop(columns="no verdict")
    unit = "queries" if task is Task.INTRUDER else "items"
    column = st.column_config.NumberColumn
    st.dataframe(
        frame,
        hide_index=True,
        placeholder="–",
        key="judged_tests",
        column_config={
            "A − B": column(format="%+.1f", help="Difference of the mean shares of votes, in percentage points"),
            "from": column(format="%+.1f", help="95% interval of the difference"),
            "to": column(format="%+.1f"),
            "p, Holm": column(format="%.2g", help="Corrected for the number of pairs"),
            "p": column(format="%.2g", help="Of the difference over its standard error by queries and raters"),
            "compared": column(help=f"{unit.capitalize()} with votes for both"),
            "left out": column(help=f"{unit.capitalize()} with votes for one of the two only"),
        },
    )
    made = [t.p_corrected for t in tests if t.p_corrected is not None]
    apart = sum(p < ALPHA for p in made)
    if made:
        st.caption(
            f"{apart} of {len(made)} pair{'s' if len(made) > 1 else ''} differ by more than chance (p after Holm below "
            f"{ALPHA:g}). What both share has difference 0."
        )


# --- by what the queries are


def _broken_down(judged: Judged, tally: Tally, votes: Votes, names: Mapping[Variant, str]) -> None:
    choices = [by for by in By if scoring.groups(tally.items, by)]
    if not choices:
        return
    st.subheader("By what the query is", anchor=False)
    chosen = st.segmented_control(
        "Broken down by",
        [OVERALL, *(by.value for by in choices)],
        default=OVERALL,
        required=True,
        key="judged_by",
        bind="query-params",
        help="; ".join(f"**{by.value}**: {_BY[by]}" for by in choices),
    )
    if chosen == OVERALL:
        return
    groups = [(group.name, group.scores) for group in judgement_votes.groups(judged, votes, By(str(chosen)))]
    named: list[tuple[str | None, Scores]] = [
        (f"k = {name}" if name.isdecimal() else name, scores) for name, scores in groups
    ]
    _figure(_rows(named, names, None), tally.task, legend=True, key="own_votes_by")
    if any(score.headline.refusal for _, scores in named for score in scores.variants):
        st.caption(f"No interval where a group has votes on fewer than {FEWEST_QUERIES} queries.")
    with st.expander("The numbers of the groups", icon=":material/table:"):
        _table(named, tally.task, names, None)


# --- how


def _how(task: Task) -> None:
    with st.expander("How is this computed?", icon=":material/function:"):
        st.markdown(_HOW[task] + _HOW_BOTH)
        st.caption(
            "Source: Schnabel, Labutov, Mimno and Joachims 2015, Evaluation methods for unsupervised word embeddings, "
            f"section{' 4' if task is Task.INTRUDER else 's 3.3 and 3.4'}."
        )


_HOW = {
    Task.INTRUDER: """
- **Precision** of a variant, micro-averaged: $\\sum_i h_i / \\sum_i n_i$ over its items, where $n_i$ raters chose an
  option of item $i$ and $h_i$ of them its intruder (section 4). *Mean of items* is the mean of $h_i/n_i$. Guessing
  finds one of four: 25%.
""",
    Task.COMPARATIVE: """
- **Win ratio** of a variant: the mean over items of $h_i / n_i$, where $n_i$ raters chose a candidate of item $i$ and
  $h_i$ of them the variant's own (section 3.3). A candidate that several variants returned is shown once, and a vote
  for it counts for each of them, so that win ratios can add up to more than 1; *normalised*, they add up to 1. Guessing
  gives the mean of 1 / number of candidates.
""",
}
_HOW_BOTH = """
- "I don't know these words" is counted and left out.
- **Intervals** count neither the items of one query nor the votes of one rater as independent: the variance is that
  over queries plus that over raters, less what both count (two-way clustering: Cameron, Gelbach and Miller 2011), each
  by leaving one out, with Satterthwaite's degrees of freedom. The interval is Wilson's with that variance and Student's
  t. From five raters on, none of whom gave most of the votes, it speaks of **raters in general**; else the raters are
  taken as they are, only queries vary, and it speaks of **these raters**. Below ten queries there is none.
- **Tests**: of two variants, the mean over queries (comparative: and ranks) of the difference of $h_i/n_i$, over its
  standard error from the same variance. Two-sided; corrected after Holm over all pairs.
- **Agreement**: $\\kappa = (P_o - P_e)/(1 - P_e)$, where $P_o$ is the mean over items of the share of pairs of raters
  that chose the same option, and $P_e$ the mean of 1 / number of options (free-marginal kappa: Brennan and Prediger
  1981, Randolph 2005). Cards are shuffled for every rater, so it is over what they say, not where it stands.
- The **automatic rater** chooses the option that is on average least similar to the others, or the candidate most
  similar to the query; options within 1e-6 share its vote. It answers all items and is counted with nobody.
"""
