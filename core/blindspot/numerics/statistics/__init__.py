"""Statistics: estimates with intervals, and tests of differences; the one place for both."""
