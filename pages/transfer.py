"""Transfer: how well does a simple classifier do on an encoder's embeddings, and which examples decide between two?"""

from core import ui
from core.diagnostics import catalog as diagnostics
from core.ui.transfer_parts import gather
from core.ui.transfer_views import look_closer

ENTRY = diagnostics.find("transfer")
picks = ui.page(
    "Transfer",
    "How well does a simple classifier do on an encoder's embeddings, and which examples decide between two?",
)
with ui.errors_shown():
    if shown := gather(ENTRY, picks):
        look_closer(shown)
ui.how_computed(ENTRY)
