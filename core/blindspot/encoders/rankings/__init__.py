"""Rankings of documents without vectors: keyword search, files of other search engines, fusions."""
