"""Run: choose variants, datasets and diagnostics, watch the queue, look at past runs."""

from blindspot.workspace.run import show

show()
