"""The page models."""

from core import ui
from core.workspace.models import adding as models_adding
from core.workspace.models import cache_size
from core.workspace.models import encoders as parts


def show() -> None:
    """The page."""
    picks = ui.page("Models", "Which encoders are here, what do they cost, and how do you add your own?")
    library = parts.library()
    parts.empty(library)
    parts.table(library)
    cache_size.note()
    with ui.errors_shown():
        if encoder := parts.chosen(library):
            parts.details(encoder, library, picks)
    models_adding.adding(library, picks)
