"""Classification: what a simple classifier reads from embeddings: labels of texts, and properties of a sentence."""

from blindspot import ui

part = ui.part("classification")
if part == "probing":
    from blindspot.diagnostics.probing.page import show
else:
    from blindspot.diagnostics.transfer.page import show

show()
