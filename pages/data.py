"""Data: what encoders can be tested on, whether it is here, what it looks like, and texts of one's own."""

from blindspot.workspace.data import show

show()
