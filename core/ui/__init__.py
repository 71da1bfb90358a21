"""What pages are made of: scaffolding, pickers, background work, empty states. The only part of core with streamlit."""

from core.ui.navigation import pages, set_up
from core.ui.pickers import Picks, shared_pickers
from core.ui.resources import jobs, repository, scheme, settings, variant_styles
from core.ui.scaffold import how_computed, page
from core.ui.work import job_panel, run_button

__all__ = [
    "Picks",
    "how_computed",
    "job_panel",
    "jobs",
    "page",
    "pages",
    "repository",
    "run_button",
    "scheme",
    "set_up",
    "settings",
    "shared_pickers",
    "variant_styles",
]
