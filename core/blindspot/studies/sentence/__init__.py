"""A sentence and its rewrites, or a few lines, as some models see them."""
