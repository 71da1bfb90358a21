"""Blindspot: what an encoder gets wrong, pair by pair."""

import csv

# Of the process, so set once and for every reader: the csv module's own 131,072 characters are fewer than an embedding
# has, and its complaint names neither cell nor remedy. Readers say what is too long for them.
csv.field_size_limit(2**24)

__version__ = "0.1.0"
