"""Human judgment: the intruder test and the comparative task of Schnabel et al. 2015, items, votes, scores."""
