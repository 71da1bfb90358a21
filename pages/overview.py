"""What is in the store: every variant's scores and what it costs."""

from blindspot.workspace.overview import show

show()
