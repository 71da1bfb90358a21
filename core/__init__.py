"""Blindspot: what an encoder gets wrong, pair by pair."""

import csv

# A setting of the whole process: the csv module's default, 131,072 characters, is less than an embedding takes, and its
# error names neither cell nor remedy. Readers have limits of their own.
csv.field_size_limit(2**24)

__version__ = "0.1.0"
