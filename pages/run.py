"""Run: choose variants, datasets and diagnostics, watch the queue, look at what was computed before."""

from core.workspace.run import show

show()
