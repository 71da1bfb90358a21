"""Map: the items in two dimensions, per variant, and how far the pictures can be believed."""

from core.space.maps.page import show

show()
