"""Map: the items in two dimensions, per variant, and how far the pictures can be believed."""

from core import ui
from core.ui import map_state, map_view

picks = ui.page("Map", "How do the items lie, and how far can the picture be believed?")
with ui.errors_shown():
    ground = map_state.gather(picks)
    if ground is not None:
        map_view.show(ground)
map_view.how_computed()
