"""Lab: how similarity, post-processing and size change scores and rankings, and whether scores predict tasks."""

from blindspot import ui

part = ui.part("lab")
if part == "evidence":
    from blindspot.studies.evidence.page import show
else:
    from blindspot.studies.lab.page import show

show()
