"""Map: to be written."""

from core import ui

picks = ui.page("Map", "How do the items lie, and how far can the picture be believed?")
