"""Thresholds on similarities: precision and recall, the threshold for a wished precision, calibration."""
