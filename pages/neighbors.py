"""Neighbors: nearest texts of a query in every model and where models disagree, and a map of the space."""

from blindspot import ui

part = ui.part("neighbors")
if part == "map":
    from blindspot.space.maps.page import show
else:
    from blindspot.space.neighbors.page import show

show()
