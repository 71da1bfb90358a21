"""Parts that pages share: the frame, pickers, background work, empty states."""

from blindspot.ui.boundary import errors_shown, failed_before_page
from blindspot.ui.frame import how, how_computed, page, part
from blindspot.ui.naming import use_names
from blindspot.ui.navigation import navigate, set_up
from blindspot.ui.options import options
from blindspot.ui.pickers import Picks, known_datasets, pick_dataset, shared_pickers
from blindspot.ui.resources import jobs, repository, scheme, settings
from blindspot.ui.stale_links import note_dropped
from blindspot.ui.variant_looks import variant_styles
from blindspot.ui.widgets.work import (
    being_computed,
    demo_button,
    encode_button,
    fetch_button,
    job_panel,
    rerun_button,
    run_button,
)

__all__ = [
    "Picks",
    "being_computed",
    "demo_button",
    "encode_button",
    "errors_shown",
    "failed_before_page",
    "fetch_button",
    "how",
    "how_computed",
    "job_panel",
    "jobs",
    "known_datasets",
    "navigate",
    "note_dropped",
    "options",
    "page",
    "part",
    "pick_dataset",
    "repository",
    "rerun_button",
    "run_button",
    "scheme",
    "set_up",
    "settings",
    "shared_pickers",
    "use_names",
    "variant_styles",
]
