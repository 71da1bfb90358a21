"""Benchmarks of ``blindspot bench``."""
