"""Data: what encoders can be tested on, whether it is here, what it looks like, and texts of one's own."""

from core import ui
from core.ui import data_parts as parts
from core.ui import data_rows, upload_parts

picks = ui.page(
    "Data", "What can encoders be tested on, is it here, what does it look like, and how do you bring your own texts?"
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
