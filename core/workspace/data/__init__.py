"""The page data."""

from core import ui
from core.workspace.data import datasets as parts
from core.workspace.data import rows as data_rows
from core.workspace.data import upload as upload_parts


def show() -> None:
    """The page."""
    picks = ui.page(
        "Data",
        "What can encoders be tested on, is it here, what does it look like, and how do you bring your own texts?",
    )
    listed = parts.listed(picks.dataset)
    parts.choose(listed, picks.dataset)
    with ui.errors_shown():
        upload_parts.upload()
    with ui.errors_shown():
        entry = parts.details(next(row for row in listed if row.reference == picks.dataset))
        if entry is not None:
            data_rows.preview(entry)
    parts.how_to_add()
