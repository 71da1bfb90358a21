"""Probing: which properties of a sentence a classifier reads from its embedding (Conneau et al. 2018; Eger 2019)."""
