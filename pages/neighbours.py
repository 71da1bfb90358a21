"""Neighbours: what stands nearest to a query in every encoder, and where encoders disagree."""

from core.space.neighbours.page import show

show()
