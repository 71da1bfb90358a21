"""Picking the paraphrase among the rewrites: the accuracy below the profile of the HEROS page, where there is one."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd
import streamlit as st

from core.store.records import RunRecord

ACCURACY = "accuracy"  # as the diagnostic calls it


def show(runs: Sequence[RunRecord]) -> None:
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
