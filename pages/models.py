"""Models: the encoders that are here, what they cost, and how to add one's own."""

from blindspot.workspace.models import show

show()
