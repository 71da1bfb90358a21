"""Findings over all diagnostics: collected, corrected for their number, and shown worst first."""
