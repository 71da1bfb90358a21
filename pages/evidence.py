"""Evidence: correlations of benchmark scores with downstream performance."""

from blindspot.studies.evidence.page import show

show()
