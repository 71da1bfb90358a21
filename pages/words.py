"""Words: do word vectors hold relations and categories: related words, analogies, kinds of things?"""

from core.diagnostics.words.page import show

show()
