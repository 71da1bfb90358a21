"""Tables of scores: the best value of a column is marked by a star and by bold type, not by colour alone."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence

import pandas as pd
from pandas.io.formats.style import Styler

from core.datasets.catalog import DATASETS
from core.diagnostics.base import DiagnosticEntry
from core.store.repository import RunRecord

# Shown to the last digit that a tie or a change of batch size cannot move.
_DECIMALS = 4


def dataset_title(dataset: str) -> str:
    """A heading in Markdown: the title from the catalog; a user's file, or what was in the catalog once, as code."""
    return DATASETS[dataset].title if dataset in DATASETS else f"`{dataset.replace('`', '´')}`"


def of_newest_content(runs: Sequence[RunRecord]) -> list[RunRecord]:
    """Those over the newest content of each dataset: a user's file may have changed, and its old pairs with it."""
    newest: dict[str, str] = {}
    for run in sorted(runs, key=lambda r: r.run_seq):
        newest[run.plan.dataset] = run.plan.dataset_digest
    return [r for r in runs if r.plan.dataset_digest == newest[r.plan.dataset]]


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


def mark_best(frame: pd.DataFrame, entry: DiagnosticEntry, columns: Mapping[str, str]) -> Styler:
    """``frame`` with the best value of every score marked; a tie for the best marks all of them."""
    styler = frame.style.format(dict.fromkeys(columns.values(), f"{{:.{_DECIMALS}f}}"))
    better = {m.name: m.higher_is_better for m in entry.metrics}
    for name, title in columns.items():
        higher = better[name]
        if higher is None or len(frame) < 2:
            continue
        shown = frame[title].round(_DECIMALS)
        best = frame.index[shown == (shown.max() if higher else shown.min())]
        cells = pd.IndexSlice[best, [title]]
        styler = styler.format(f"★ {{:.{_DECIMALS}f}}", subset=cells).set_properties(
            subset=cells, **{"font-weight": "bold"}
        )
    counts: list[Hashable] = [c for c in ("dimension", "parameters", "memory, MB", "texts/s") if c in frame]
    return styler.format("{:,.0f}", subset=counts, na_rep="–") if counts else styler
