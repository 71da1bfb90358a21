"""Long texts: the place of the answer in a passage, and how alike unrelated passages are by length."""
