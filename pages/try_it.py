"""Try it: a sentence and its rewrites, or a few lines, as some models see them."""

from blindspot.studies.sentence.page import show

show()
