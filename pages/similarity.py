"""Similarity: do an encoder's similarities go up and down with people's, and which pairs does it misjudge?"""

from core import ui
from core.diagnostics import catalog as diagnostics
from core.ui.similarity_parts import gather
from core.ui.similarity_views import look_closer

ENTRY = diagnostics.find("similarity")
picks = ui.page(
    "Similarity", "Do an encoder's similarities go up and down with people's, and which pairs does it misjudge?"
)
with ui.errors_shown():
    if shown := gather(ENTRY, picks):
        look_closer(shown)
ui.how_computed(ENTRY)
