"""The similarity from which on two texts are the same."""

from blindspot.studies.threshold.page import show

show()
