"""Comparison of models over all their results."""
