"""Rankings of documents without vectors: keyword search, other search engines' files, fusions."""
