"""EvalRank: scores, the distribution of ranks, every pair, and what stands above a match."""

from blindspot.diagnostics.evalrank.page import show

show()
