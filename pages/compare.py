"""Two models over everything that both have."""

from blindspot.studies.compare.page import show

show()
