"""Probing: which properties of a sentence can a classifier read from its embedding?"""

from blindspot.diagnostics.probing.page import show

show()
