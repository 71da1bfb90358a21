"""Blindspot in other projects' tests: a plugin for pytest, found by its entry point. Importing it loads only pytest."""
