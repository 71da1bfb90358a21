"""HEROS: similarity of a sentence and its rewrites, by what was changed."""

from blindspot.diagnostics.heros.page import show

show()
