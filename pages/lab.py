"""Lab: how similarity, post-processing and size change scores and rankings."""

from blindspot.studies.lab.page import show

show()
