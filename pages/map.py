"""Map: the embedding space in two dimensions, per model, and how reliable the picture is."""

from blindspot.space.maps.page import show

show()
