"""Transfer: how well does a simple classifier do on an encoder's embeddings, and which examples decide between two?"""

from blindspot.diagnostics.transfer.page import show

show()
