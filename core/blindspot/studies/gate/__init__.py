"""Regression gate: whether a new model may replace an old one on a golden set."""
