"""Neighbors: nearest neighbors of a query in every model, and where models disagree."""

from blindspot.space.neighbors.page import show

show()
