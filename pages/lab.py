"""Lab: how much of a score is the similarity, the post-processing, the size? Turn a knob, and see what moves."""

from core.studies.lab.page import show

show()
