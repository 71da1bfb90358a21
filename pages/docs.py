"""Documentation: the guides, the diagnostics, the reference."""

from blindspot.documentation.page import show

show()
