"""Parts of pages that compare A with B."""
