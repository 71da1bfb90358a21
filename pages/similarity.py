"""Similarity: do an encoder's similarities go up and down with people's, and which pairs does it misjudge?"""

from core import ui

picks = ui.page(
    "Similarity", "Do an encoder's similarities go up and down with people's, and which pairs does it misjudge?"
)
