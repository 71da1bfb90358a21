"""Words: do word vectors hold relations and categories: related words, analogies, kinds of things?"""

from core import ui
from core.diagnostics import catalog as diagnostics
from core.ui import words_parts as parts
from core.ui.words_views import look_closer

picks = ui.page("Words", "Do word vectors hold relations and categories: related words, analogies, kinds of things?")
shown = parts.gather(picks)
parts.show_table(shown)
with ui.errors_shown():
    parts.offer(shown)
if shown.runs:
    look_closer(shown)
for name in ("similarity", "analogy", "categorization"):
    parts.heading(diagnostics.find(name))
    ui.how_computed(diagnostics.find(name))
