"""Comparison of variants over everything that was computed for them."""
