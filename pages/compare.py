"""Compare: what one model does better than another, several models on a dataset, a training step by step."""

from blindspot import ui

part = ui.part("compare")
if part == "overview":
    from blindspot.workspace.overview import show
elif part == "training":
    from blindspot.studies.training.page import show
else:
    from blindspot.studies.compare.page import show

show()
