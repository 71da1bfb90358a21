"""Page *Data*."""

from blindspot import ui
from blindspot.workspace.data import datasets, make_minimal, rows, upload


def show() -> None:
    picks = ui.page("Data", "Which texts can you test models on? Browse and download datasets, or add your own.")
    with ui.errors_shown():
        upload.upload()
        make_minimal.make()
    listed = datasets.listed(picks.dataset)
    datasets.choose(listed, picks.dataset)
    with ui.errors_shown():
        entry = datasets.details(next(row for row in listed if row.reference == picks.dataset))
        if entry is not None:
            rows.preview(entry)
    datasets.how_to_add()
