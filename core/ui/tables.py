"""Tables of scores: the best value of a column is marked by a star and by bold type, not by colour alone."""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Mapping, Sequence

import pandas as pd
import streamlit as st
from pandas.io.formats.style import Styler

from core.datasets.catalog import DATASETS
from core.diagnostics.base import DiagnosticEntry
from core.store.records import RunRecord
from core.types import Variant

# Shown to the last digit that a tie or a change of batch size cannot move.
_DECIMALS = 4


def put_on_screen(table: str, key: str) -> None:
    """Note that ``table`` is drawn under ``key``, which changes with its rows."""
    st.session_state[f"_{table}_on_screen"] = key


def is_on_screen(table: str, key: str) -> bool:
    """Whether a choice of rows comes from the table that was drawn last.

    A browser that is asked again before it has taken an older one away sends that one's choice once more, as if it
    were new.
    """
    return bool(st.session_state.get(f"_{table}_on_screen") == key)


def dataset_title(dataset: str) -> str:
    """A heading in Markdown: the title from the catalog; a user's file, or what was in the catalog once, as code."""
    return DATASETS[dataset].title if dataset in DATASETS else f"`{dataset.replace('`', '´')}`"


def on_one_support(runs: Sequence[RunRecord], own: bool) -> list[RunRecord]:
    """One run per variant, the newest, such that scores can be compared (DESIGN 4.1, common support).

    Args:
        runs: of one dataset and one set of parameters, newest first.
        own: each encoder on the items that it covers itself; else those runs that ranked the very same items, of
            the support that most variants were run on, among equals the newest.
    """
    if own:
        found = [r for r in runs if r.plan.own_support]
    else:
        variants: dict[str, set[Variant]] = {}
        for run in runs:
            variants.setdefault(run.plan.support_digest, set()).add(run.plan.variant)
        widest = max(variants, key=lambda digest: len(variants[digest]), default="")
        found = [r for r in runs if r.plan.support_digest == widest]
    return list({r.plan.variant: r for r in reversed(found)}.values())


def score_table(runs: Sequence[RunRecord], columns: Mapping[str, str]) -> pd.DataFrame:
    """A row per run: its variant, then the metrics named by ``columns`` (metric name to heading)."""
    return pd.DataFrame(
        [{"variant": r.plan.variant.label} | {title: r.metrics[name] for name, title in columns.items()} for r in runs]
    )


def cost_table(runs: Sequence[RunRecord]) -> pd.DataFrame:
    """A row per run: what its variant costs."""
    return pd.DataFrame(
        [
            {
                "dimension": r.manifest.get("encoder", {}).get("dimension", r.dimension),
                "parameters": r.parameters,
                "memory, MB": None if r.memory_bytes is None else r.memory_bytes / 1e6,
                "texts/s": r.texts_per_second,
            }
            for r in runs
        ]
    )


def mark_best(
    frame: pd.DataFrame,
    entry: DiagnosticEntry,
    columns: Mapping[str, str],
    alike: Mapping[str, Collection[int]] | None = None,
    written: Mapping[tuple[int, str], str] | None = None,
) -> Styler:
    """``frame`` with the best value of every score marked; a tie for the best marks all of them.

    Args:
        alike: per metric the rows (from 0) that are not separable from the best: marked like it.
        written: how a cell (row, metric) is written, where it is not the bare number.
    """
    styler = frame.style.format(dict.fromkeys(columns.values(), f"{{:.{_DECIMALS}f}}"))
    marked: set[tuple[int, str]] = set()
    better = {m.name: m.higher_is_better for m in entry.metrics}
    for name, title in columns.items():
        higher = better[name]
        if higher is None or len(frame) < 2:
            continue
        shown = frame[title].round(_DECIMALS)
        best = frame.index[shown == (shown.max() if higher else shown.min())]
        best = best.union(frame.index[sorted((alike or {}).get(name, ()))])
        cells = pd.IndexSlice[best, [title]]
        styler = styler.format(f"★ {{:.{_DECIMALS}f}}", subset=cells).set_properties(
            subset=cells, **{"font-weight": "bold"}
        )
        marked |= {(int(row), name) for row in best}
    for (row, name), text in (written or {}).items():
        whole = f"★ {text}" if (row, name) in marked else text
        styler = styler.format(_constant(whole), subset=pd.IndexSlice[[row], [columns[name]]])
    counts: list[Hashable] = [c for c in ("dimension", "parameters", "memory, MB", "texts/s") if c in frame]
    return styler.format("{:,.0f}", subset=counts, na_rep="–") if counts else styler


def _constant(text: str) -> Callable[[object], str]:
    """A formatter that writes a cell in one way whatever is in it."""
    return lambda _: text
