"""In which languages a model finds the translation."""

from blindspot.studies.languages.page import show

show()
