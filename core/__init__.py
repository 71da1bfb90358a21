"""Blindspot: what an encoder gets wrong, pair by pair."""

__version__ = "0.1.0"
