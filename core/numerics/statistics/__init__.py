"""What was measured, how sure it is, and whether two differ: the one place for intervals and tests."""
