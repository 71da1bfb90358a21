"""Retrieval: which model finds the relevant documents, and on which queries does one lose to another or to BM25?"""

from blindspot.diagnostics.retrieval.page import show

show()
