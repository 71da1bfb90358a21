"""Words: relations and categories in word vectors."""

from blindspot.diagnostics.words.page import show

show()
