"""Top of the HEROS page: the headline, the profile of every model, and how often it finds the paraphrase."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import streamlit as st

from blindspot.datasets.kinds.minimal_pairs import after_the
from blindspot.diagnostics.heros import orderings
from blindspot.diagnostics.heros.definition import ACCURACY, ENTRY, Meaning, meaning_of, right_of
from blindspot.diagnostics.heros.figures import profile as figures
from blindspot.diagnostics.heros.orderings import Contrast, Finding
from blindspot.diagnostics.heros.page import published, words_alone
from blindspot.diagnostics.heros.page.heros_view import (
    BY_RUNS,
    HerosView,
    cosines,
    named,
    orderings_of,
    shared_texts,
    subset_in_words,
)
from blindspot.errors import BlindspotError
from blindspot.numerics.statistics.estimate import Measured
from blindspot.numerics.statistics.written import percent
from blindspot.runs.default_models import to_deploy
from blindspot.store.records import RunRecord
from blindspot.ui import headline
from blindspot.ui.markdown import as_text
from blindspot.ui.options import options
from blindspot.ui.resources import cached, explained
from blindspot.ui.widgets import tables
from blindspot.variants import Variant

EXAMPLES, LONGEST_EXAMPLE = 6, 200  # rewrites, and characters of a text


def show(shown: HerosView) -> None:
    """The headline, the heat map with intervals on demand, and the accuracy where runs have one."""
    further = _headline(shown)
    st.markdown("**Similarity of a sentence and its rewrite** (1: same, 0: as unrelated sentences)")
    ends = _intervals(shown.runs, shown.subsets)
    values = {r.plan.variant: {subset: r.metrics[subset] for subset in shown.subsets} for r in shown.runs}
    if rows := published.rows(shown):
        span = published.span([value for row in values.values() for value in row.values()])
        figure = figures.profile_with_published(values, rows, span, shown.scheme, ends)
    else:
        figure = figures.profile(values, shown.scheme, ends)
    st.plotly_chart(figure, key="profile")
    st.caption(
        f"Mean normalized cosine over {shown.runs[0].metrics['originals']:,.0f} sentences. {_expected(shown.subsets)}"
        f"Compare the values of one row; their order matters more than their size.{_shared_texts(shown)}"
    )
    for sentence in further:
        st.markdown(sentence)
    if about := tables.about_dataset(shown.dataset):
        st.caption(about)
    _example(shown)
    _accuracies(shown.runs, right_of(shown.subsets))


def _shared_texts(shown: HerosView) -> str:
    try:
        return shared_texts(shown)
    except BlindspotError:  # the headline has said it
        return ""


def _expected(subsets: Sequence[str]) -> str:
    """Which rewrites should score above which, as far as their names tell."""
    kept, changed = (
        [subset_in_words(s) for s in subsets if meaning_of(s) is m] for m in (Meaning.KEPT, Meaning.CHANGED)
    )
    return f"Expected: {' and '.join(kept)} above {', '.join(changed)}. " if kept and changed else ""


def _example(shown: HerosView) -> None:
    """The shortest original that every kind of rewrite changes, with its rewrites."""
    run_rows = shown.rows[shown.rows["run_id"] == shown.runs[0].run_id]
    changed = run_rows[run_rows["original"] != run_rows["rewrite"]]
    complete = changed[changed.groupby("item_no")["subset"].transform("nunique") == len(shown.subsets)]
    if complete.empty:
        return
    shortest = complete["original"].str.len().to_numpy().argmin()
    rows = complete[complete["item_no"] == complete["item_no"].iloc[shortest]]
    rewrites = dict(zip(rows["subset"], rows["rewrite"], strict=True))
    examples = [
        f"{subset_in_words(subset)}: “{as_text(_cut(rewrites[subset]))}”" for subset in shown.subsets[:EXAMPLES]
    ]
    more = f"; and {len(shown.subsets) - EXAMPLES} more" if len(shown.subsets) > EXAMPLES else ""
    st.caption(f"**Example** “{as_text(_cut(rows['original'].iloc[0]))}” – {'; '.join(examples)}{more}")


def _cut(text: str) -> str:
    return text if len(text) <= LONGEST_EXAMPLE else f"{text[:LONGEST_EXAMPLE]}…"


def _headline(shown: HerosView) -> list[str]:
    """The first model's worst ordering, if the subsets' names tell the meaning. Returns the sentences below the figure:
    where the models differ most, and what words alone get right."""
    try:
        worst, contrast = _worst_and_contrast(shown)
    except BlindspotError as error:
        st.warning(as_text(explained(error)))
        return []
    if worst is None:
        return []
    headline.show(orderings.finding_in_words(worst, named(shown.runs[0]), _after_the))
    compared = [named(run) for run in _compared(shown)]
    further = [orderings.contrast_in_words(contrast, compared, _after_the)] if contrast else []
    return [*further, words_alone.said(shown)]


def _compared(shown: HerosView) -> list[RunRecord]:
    """The runs among which the widest difference is named."""
    runs = to_deploy(shown.runs)
    return runs if len(runs) > 1 else list(shown.runs)


def _after_the(subset: str) -> str:
    return as_text(after_the(subset))


@cached(16, keys=BY_RUNS)
def _worst_and_contrast(shown: HerosView) -> tuple[Finding | None, Contrast | None]:
    tables = [cosines(shown)[run.run_id] for run in _compared(shown)]
    return orderings_of(shown)[shown.runs[0].run_id].worst, orderings.contrast(tables)


def _intervals(runs: Sequence[RunRecord], subsets: Sequence[str]) -> Mapping[Variant, Mapping[str, Measured]] | None:
    """Means with their intervals per model and subset, if the reader wants them; those without one are left out."""
    wanted = options().toggle(
        "Show 95% intervals",
        key="heros_intervals",
        persist_state="session",
        help="Below each value, over sentences.",
    )
    if not wanted:
        return None
    by_variant = {
        r.plan.variant: {
            s: measured for s in subsets if (measured := ENTRY.measured(r.metrics, s)) and measured.interval
        }
        for r in runs
    }
    if lacking := [as_text(variant.label) for variant, ends in by_variant.items() if not ends]:
        st.caption(
            f"No interval for {', '.join(lacking)}: fewer than eight sentences that share no text do not say how sure "
            "a mean is."
        )
    return by_variant


def _accuracies(runs: Sequence[RunRecord], right: str) -> None:
    """How often each model picks the right one among the rewrites, the best first."""
    ranked_runs = sorted((r for r in runs if ACCURACY in r.metrics), key=lambda r: -r.metrics[ACCURACY])
    if not ranked_runs:
        return
    chance = ranked_runs[0].metrics[f"{ACCURACY}_chance"]
    st.markdown(
        f"**Does it find the {_after_the(right)}?** Share of sentences for which it is more similar than "
        f"every other. Chance: {percent(chance)}{_verdict(ranked_runs, chance)}"
    )
    columns = {
        "accuracy": ("", "Ties for the first place share the point"),
        "from": ("_low", "Lower end of the 95% interval (Wilson)"),
        "to": ("_high", "Upper end of the 95% interval (Wilson)"),
    }
    percents = [{name: 100 * r.metrics[ACCURACY + end] for name, (end, _) in columns.items()} for r in ranked_runs]
    tables.draw(
        [{"model": r.plan.variant.label} | row for r, row in zip(ranked_runs, percents, strict=True)],
        key="heros_accuracy",
        column_config={
            name: st.column_config.NumberColumn(format="%.1f%%", help=text) for name, (_, text) in columns.items()
        },
    )


def _verdict(runs: Sequence[RunRecord], chance: float) -> str:
    """The end of a sentence: how many models are significantly worse than chance."""
    below = sum(r.metrics[f"{ACCURACY}_high"] < chance for r in runs)
    if not below:
        return "."
    who = "this model" if len(runs) == 1 else "all of these models" if below == len(runs) else f"{below} of these"
    return f"; {who} {'does' if below == 1 else 'do'} worse: another rewrite is systematically closer."
