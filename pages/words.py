"""Words: do word vectors hold relations and categories: related words, analogies, kinds of things?"""

from core import ui

picks = ui.page("Words", "Do word vectors hold relations and categories: related words, analogies, kinds of things?")
