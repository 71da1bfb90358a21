"""Words: relations and categories in word vectors."""

from core.diagnostics.words.page import show

show()
