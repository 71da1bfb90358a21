"""Lab: how similarity, post-processing and size change scores and rankings."""

from core.studies.lab.page import show

show()
