"""Documentation: the guides, the diagnostics, the reference."""

from core.documentation.page import show

show()
