"""Run: choose variants, datasets and diagnostics, watch the queue, look at past runs."""

from core.workspace.run import show

show()
