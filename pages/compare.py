"""Two models over everything that both have."""

from core.studies.compare.page import show

show()
