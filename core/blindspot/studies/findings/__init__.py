"""Findings of all diagnostics: collected, corrected for their number, sorted worst first."""
