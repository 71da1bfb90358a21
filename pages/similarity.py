"""Similarity: do an encoder's similarities go up and down with people's, and which pairs does it misjudge?"""

from blindspot.diagnostics.similarity.page import show

show()
