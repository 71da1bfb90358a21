"""Benchmarks of encoding."""
