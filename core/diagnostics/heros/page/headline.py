"""The headline of the HEROS page: the order most against meaning, and where variants differ most in it."""

from __future__ import annotations

from collections.abc import Mapping

import streamlit as st

from core.diagnostics.heros import orderings
from core.diagnostics.heros.figures.profile import label
from core.diagnostics.heros.meaning import MEANINGS, Meaning
from core.diagnostics.heros.orderings import Cosines, Headline, Reading
from core.diagnostics.heros.page.shown import BY_RUNS, Shown
from core.errors import BlindspotError
from core.store.records import RunRecord
from core.ui.markdown import as_text
from core.ui.resources import cached

MARKS = {
    Reading.SURPRISING: ":material/error_outline:",
    Reading.UNCLEAR: ":material/help_outline:",
    Reading.AS_HOPED: ":material/check_circle:",
}


def headline(shown: Shown) -> None:
    """In a sentence or two: the first variant's worst order, and where the variants differ most. Above the profile.

    Nothing where no names of subsets tell which rewrites keep the meaning; ``findings`` says so.
    """
    try:
        found, _ = _of_runs(shown)
    except BlindspotError as error:
        st.warning(as_text(str(error)))
        return
    if found is None:
        return
    names = [_named(run) for run in shown.runs]
    said = orderings.finding_in_words(found.worst, names[0], subset_in_words)
    with st.container(border=True, key="headline"):
        st.markdown(f"{MARKS[found.worst.reading]} {said}")
        if found.contrast:
            st.markdown(orderings.contrast_in_words(found.contrast, names, subset_in_words))


def findings(shown: Shown) -> None:
    """The same of the other variants, in short: a line each."""
    tables = cosines(shown)
    found = [(run, orderings.worst(tables[run.run_id])) for run in shown.runs]
    if not any(worst for _, worst in found):
        kept, changed = (", ".join(f"`{p}`" for p in MEANINGS[m]) for m in _TELLING)
        st.caption(
            "No headline: the subsets' names do not tell which rewrites keep the meaning and which change it. Names "
            f"that do: {kept} keep it, {changed} change it (* is any ending)."
        )
    lines = [
        f"- {MARKS[worst.reading]} {_named(run)}: {orderings.share_in_words(worst.rate, subset_in_words)}"
        for run, worst in found[1:]
        if worst
    ]
    if lines:
        st.markdown("\n".join(["The same for the other variants:", "", *lines]))


_TELLING = (Meaning.KEPT, Meaning.CHANGED)


def subset_in_words(subset: str) -> str:
    """A subset for a sentence in Markdown; a user's name of it is shown as it is."""
    return as_text(label(subset))


def _named(run: RunRecord) -> str:
    return f"**{as_text(run.plan.variant.label)}**"


def cosines(shown: Shown) -> Mapping[str, Cosines]:
    """Per run id its cosines over the subsets shown.

    Raises:
        BlindspotError: what a run stored is not complete.
    """
    return _of_runs(shown)[1]


@cached(16, "Laying rewrites beside each other …", keys=BY_RUNS)
def _of_runs(shown: Shown) -> tuple[Headline | None, Mapping[str, Cosines]]:
    own = dict(tuple(shown.rows.groupby("run_id")))
    tables = {run.run_id: Cosines.of_rows(own[run.run_id], shown.subsets) for run in shown.runs}
    return orderings.headline(list(tables.values())), tables
