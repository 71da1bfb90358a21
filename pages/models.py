"""Models: the encoders that are here, what they cost, and how to add one's own."""

from core import ui
from core.ui import cache_size, models_adding
from core.ui import models_parts as parts

picks = ui.page("Models", "Which encoders are here, what do they cost, and how do you add your own?")
library = parts.library()
parts.empty(library)
parts.table(library)
cache_size.note()
with ui.errors_shown():
    if encoder := parts.chosen(library):
        parts.details(encoder, library, picks)
models_adding.adding(library, picks)
