"""HEROS: how similar an encoder finds a sentence and its rewrites, by what was changed."""

from core import ui
from core.diagnostics import catalog as diagnostics
from core.ui import heros_parts as parts
from core.ui import heros_profile
from core.ui.heros_view import Shown
from core.ui.heros_views import look_closer

ENTRY = diagnostics.find("heros")
picks = ui.page("HEROS", ENTRY.question)
dataset = parts.dataset_of(ENTRY, picks)
runs = parts.finished_runs(ENTRY, dataset, picks)
with ui.errors_shown():
    parts.offer(ENTRY, dataset, runs)
if runs:
    rows = parts.rows(ENTRY, runs)
    subsets = parts.subsets_of(ENTRY, runs, rows)
    shown = Shown(
        ENTRY, picks, dataset, runs, subsets, rows, ui.variant_styles(run.plan.variant for run in runs), ui.scheme()
    )
    heros_profile.show(shown)
    look_closer(shown)
ui.how_computed(ENTRY)
