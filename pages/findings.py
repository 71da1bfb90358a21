"""What a reader should know about the models that were run, worst first."""

from blindspot.studies.findings.page import show

show()
