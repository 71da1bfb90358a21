"""EvalRank: scores, the distribution of ranks, every pair, and what ranks above a match."""

from blindspot.diagnostics.evalrank.page import show

show()
