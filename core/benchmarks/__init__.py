"""Benchmarks of ``python -m core bench``."""
