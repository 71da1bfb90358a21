"""The EvalRank page's view of pairs: find one, and see what stands above its mate."""

from __future__ import annotations

from core.diagnostics.evalrank.page import pair_drill as evalrank_drill
from core.diagnostics.evalrank.page import pair_scatter as evalrank_scatter
from core.diagnostics.evalrank.page import pair_table as evalrank_pair_table
from core.diagnostics.evalrank.page.shown import Shown, described_pairs
from core.ui.boundary import fragment
from core.ui.widgets.two_variants import two_variants


@fragment  # what the reader does here draws nothing above again
def show(shown: Shown) -> None:
    """Which two are compared, their ranks against each other, the table of pairs, and what is behind the chosen
    one."""
    sides = two_variants(shown.runs, ("a", "b"))
    described = described_pairs(shown, sides)
    in_figure = evalrank_scatter.show(shown, sides, described)
    found = evalrank_pair_table.show(shown, sides, described, in_figure)
    selected = evalrank_pair_table.chosen(shown, found)
    if selected is not None:
        evalrank_drill.show(shown, sides, selected)
