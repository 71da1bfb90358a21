"""The profile of every variant, on top of the HEROS page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pandas as pd
import streamlit as st

from core.diagnostics.heros.figures import profile as figures
from core.diagnostics.heros.figures.published import profile_beside_published
from core.diagnostics.heros.page import headline as heros_headline
from core.diagnostics.heros.page import published as heros_published
from core.diagnostics.heros.page.shown import Shown
from core.store.records import RunRecord
from core.types import Variant
from core.ui.markdown import as_text

# Picking the paraphrase among the rewrites: the accuracy below the profile of the HEROS page, where there is one.

ACCURACY = "accuracy"  # as the diagnostic calls it


def show_accuracy(runs: Sequence[RunRecord]) -> None:
    """A row per variant that has an accuracy, the best first; nothing where none has."""
    found = sorted((r for r in runs if ACCURACY in r.metrics), key=lambda r: -r.metrics[ACCURACY])
    if not found:
        return
    chance = found[0].metrics[f"{ACCURACY}_chance"]
    st.markdown(
        "**Does it find the paraphrase?** In how many sentences the paraphrase is more similar than every other "
        f"rewrite. Guessing finds {chance:.0%}{_verdict(found, chance)}"
    )
    percent = {name: f"{ACCURACY}{end}" for name, end in (("accuracy", ""), ("from", "_low"), ("to", "_high"))}
    frame = pd.DataFrame(
        [
            {"variant": r.plan.variant.label} | {name: 100 * r.metrics[metric] for name, metric in percent.items()}
            for r in found
        ]
    )
    st.dataframe(
        frame,
        hide_index=True,
        key="heros_accuracy",
        column_config={
            "accuracy": st.column_config.NumberColumn(
                format="%.1f%%", help="Those that share the first place share it"
            ),
            "from": st.column_config.NumberColumn(format="%.1f%%", help="Lower end of the 95% interval (Wilson)"),
            "to": st.column_config.NumberColumn(format="%.1f%%", help="Upper end of the 95% interval (Wilson)"),
        },
    )


def _verdict(found: Sequence[RunRecord], chance: float) -> str:
    """What the intervals say of the variants, as the end of a sentence."""
    below = sum(r.metrics[f"{ACCURACY}_high"] < chance for r in found)
    if not below:
        return "."
    who = "this variant" if len(found) == 1 else "all of these variants" if below == len(found) else f"{below} of these"
    return f"; {who} {'does' if below == 1 else 'do'} worse: another rewrite is systematically nearer."


def show(shown: Shown) -> None:
    """The heat map, its intervals on demand, and what to look for."""
    heros_headline.headline(shown)
    st.markdown("**How similar are a sentence and its rewrite?** 1: the same; 0: like two unrelated sentences.")
    ends = intervals(shown.runs, shown.subsets)
    values = means(shown.runs, shown.subsets)
    published = heros_published.rows(shown)
    if published:
        span = heros_published.span([value for row in values.values() for value in row.values()])
        figure = profile_beside_published(values, published, span, shown.scheme, ends)
    else:
        figure = figures.profile(values, shown.scheme, ends)
    st.plotly_chart(figure, key="profile")
    profile_note(shown.runs)
    show_accuracy(shown.runs)


def means(runs: Sequence[RunRecord], subsets: Sequence[str]) -> dict[Variant, dict[str, float]]:
    """For ``figures.profile``."""
    return {r.plan.variant: {subset: r.metrics[subset] for subset in subsets} for r in runs}


def intervals(
    runs: Sequence[RunRecord], subsets: Sequence[str]
) -> Mapping[Variant, Mapping[str, tuple[float, float]]] | None:
    """For ``figures.profile``, if the reader wants them; where a run cannot have them, it has none."""
    wanted = st.toggle(
        "Show 95% intervals",
        key="heros_intervals",
        persist_state="session",
        help="Below each value: how far it moves when the sentences are drawn anew, 2,000 times (bootstrap).",
    )
    if not wanted:
        return None
    found = {
        r.plan.variant: {s: (r.metrics[f"{s}_low"], r.metrics[f"{s}_high"]) for s in subsets if f"{s}_low" in r.metrics}
        for r in runs
    }
    if lacking := [as_text(variant.label) for variant, ends in found.items() if not ends]:
        st.caption(
            f"No interval for {', '.join(lacking)}: so many originals have one vector there that some draws of them "
            "cannot be normalised."
        )
    return found


def profile_note(runs: Sequence[RunRecord]) -> None:
    """What the numbers are of, and what to look for."""
    originals = runs[0].metrics["originals"]
    st.caption(
        f"Mean normalised similarity over {originals:,.0f} sentences. An encoder that reads for meaning puts synonym "
        "and typo above antonym and negation; how high a number is in itself matters less than their order. "
        "HEROS compares by cosine: the similarity and the protocol in the sidebar change nothing here."
    )
