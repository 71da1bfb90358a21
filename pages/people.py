"""People: they spot the intruder among neighbors, and vote blindly on which model is closer."""

from blindspot import ui

part = ui.part("people")
if part == "compare_votes":
    from blindspot.studies.judgments.page import show_compare_votes as show
else:
    from blindspot.studies.judgments.page import show_intruder as show

show()
