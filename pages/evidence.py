"""Evidence: correlations of benchmark scores with downstream performance."""

from core.studies.evidence.page import show

show()
